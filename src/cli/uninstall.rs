//! `bookend uninstall`: takes the hooks out of the hosts, and then, when nothing refers to them any more, the
//! executables away.

use std::io::IsTerminal;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::args::Uninstall;
use super::install::{files_document, lines, place, show_plan, yes};
use super::machine::Machine;
use super::out::Out;
use super::span::{Line, Style};
use super::{Failed, Run, live, purge, text};
use crate::host::Host;
use crate::install::{Goal, HOSTS, InstallError, Lock, Place, Plan, apply, plan, remove_executables};

impl Run for Uninstall {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let place = place()?;
        if self.purge && !self.dry_run && !self.yes && !asked(machine, out)? {
            return Ok(());
        }
        let _lock = (!self.dry_run)
            .then(|| Lock::of(&place))
            .transpose()
            .map_err(Failed::to)?;
        let all = self.hosts.is_empty();
        let mut outcomes = Vec::new();
        for host in if all { HOSTS.to_vec() } else { self.hosts.clone() } {
            out.progress(&format!("{} ...", host.title()));
            let outcome = self.one(host, &place);
            if !self.json {
                self.print(host, &outcome, &place, out);
            }
            outcomes.push((host, outcome));
        }
        let failed: Vec<String> = outcomes
            .iter()
            .filter_map(|(host, outcome)| {
                Some(format!("{}: failed to {}", host.title(), outcome.as_ref().err()?))
            })
            .collect();
        let mut removed = Vec::new();
        if all && failed.is_empty() && !self.dry_run {
            removed = remove_executables(&place).map_err(Failed::to)?;
            if !self.json {
                said_of_executables(&removed, machine, out);
            }
            if self.purge {
                let became = purge::purge(machine, &place, out)?;
                if !self.json {
                    out.line(became);
                }
            }
        }
        if self.json {
            let purged = self.purge && failed.is_empty() && !self.dry_run;
            out.json(&self.document(&outcomes, &removed, purged, &place))?;
        } else if all && failed.is_empty() && !self.dry_run && !self.purge && place.data.join("log").exists()
        {
            let data = text::home(&place.data.to_string_lossy());
            out.line(format!(
                "What was kept stays in {data}: bookend uninstall --purge removes it."
            ));
        }
        match failed.as_slice() {
            [] => Ok(()),
            [one] if !all => Err(Failed::new(one.clone())),
            more => Err(Failed::new(format!(
                "{}; the executables stay, since a host may still refer to them",
                more.join("; ")
            ))),
        }
    }
}

impl Uninstall {
    fn one(&self, host: Host, place: &Place) -> Result<Plan, InstallError> {
        let mut plan = plan(place, host, Goal::Removed)?;
        if !self.dry_run {
            apply(&mut plan, place)?;
        }
        Ok(plan)
    }

    fn print(&self, host: Host, outcome: &Result<Plan, InstallError>, place: &Place, out: &mut Out) {
        let title = host.title();
        match outcome {
            Err(error) => {
                out.line(Line::from(format!("{title}: ")).and(Style::Bad, &format!("failed to {error}.")))
            }
            Ok(plan) if !plan.had_any() => out.line(format!("{title}: nothing of Bookend is in it.")),
            Ok(plan) if self.dry_run => {
                out.heading(title);
                show_plan(plan, place, out);
            }
            Ok(_) => out.line(
                Line::from(format!("{title}: "))
                    .and(Style::Good, "removed")
                    .then("."),
            ),
        }
    }

    fn document(
        &self,
        outcomes: &[(Host, Result<Plan, InstallError>)],
        removed: &[PathBuf],
        purged: bool,
        place: &Place,
    ) -> Value {
        let hosts: Vec<Value> = outcomes
            .iter()
            .map(|(host, outcome)| match outcome {
                Ok(plan) => json!({
                    "host": host,
                    "config": plan.survey.found.config,
                    "changed": plan.had_any(),
                    "files": files_document(plan, place, self.dry_run),
                    "commands": lines(plan, place),
                    "error": null,
                }),
                Err(error) => json!({"host": host, "changed": false, "error": error.to_string()}),
            })
            .collect();
        json!({
            "dryRun": self.dry_run,
            "hosts": hosts,
            "removed": removed,
            "purged": purged,
        })
    }
}

/// Whether everything that was kept may go.
fn asked(machine: &Machine, out: &mut Out) -> Result<bool, Failed> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Failed::new(
            "--purge removes the whole log for good and asks before; without a terminal say --yes",
        ));
    }
    let sessions = machine
        .data
        .as_ref()
        .and_then(|data| data.sessions().ok())
        .map_or(0, |s| s.len());
    out.line(format!(
        "This removes the hooks, and {} of the log for good. Go on? [y/N] ",
        text::count(sessions, "session")
    ));
    Ok(yes(out))
}

fn said_of_executables(removed: &[PathBuf], machine: &Machine, out: &mut Out) {
    if !removed.is_empty() {
        out.line("The executables and the link to the command are removed.");
    }
    let running = live::all(machine, out)
        .iter()
        .filter(|session| session.alive)
        .count();
    if running > 0 {
        let sessions = text::count(running, "session");
        out.line(format!(
            "{sessions} still run with the hooks loaded: start them again, or they will say that a command is missing."
        ));
    }
}
