//! `bookend install`: places the executables, registers the hooks with every host that is found, and says what
//! to do next. A host that cannot be installed into does not keep the others from it.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::args::Install;
use super::machine::Machine;
use super::out::Out;
use super::span::{Line, Style};
use super::{Failed, Run, diff, text};
use crate::config;
use crate::host::Host;
use crate::install::{
    Executables, Goal, HOSTS, Hindrance, InstallError, Lock, Means, Place, Plan, Program, apply, backup,
    plan, plan_unplaced, trust, trust_state,
};

/// What became of one host.
struct Outcome {
    host: Host,
    version: Option<String>,
    plan: Plan,
    changed: bool,
    trust: Option<Trust>,
}

/// Whether Codex will run the hooks.
enum Trust {
    Trusted,
    Untrusted,
    Unknown(String),
}

impl Run for Install {
    fn run(&self, _: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let place = place()?;
        let _lock = (!self.dry_run)
            .then(|| Lock::make(&place))
            .transpose()
            .map_err(Failed::to)?;
        let mut executables = Executables::look(&place).map_err(Failed::to)?;
        if !self.dry_run {
            executables.place(&place).map_err(Failed::to)?;
        }
        let hosts = self.hosts(&place, &executables)?;
        let mut outcomes = Vec::new();
        if !self.json {
            said_of_executables(&executables, &place, self.dry_run, out);
        }
        for host in hosts {
            out.progress(&format!("{} ...", host.title()));
            let outcome = self.one(host, &place, &executables, out);
            if !self.json {
                self.print(host, &outcome, &place, out);
            }
            outcomes.push((host, outcome));
        }
        if self.json {
            out.json(&self.document(&outcomes, &executables, &place))?;
        } else if outcomes.is_empty() {
            none_found(&place, out);
        }
        let failed = outcomes.iter().filter(|(_, outcome)| outcome.is_err()).count();
        match failed {
            0 => Ok(()),
            1 if outcomes.len() == 1 => Err(first_error(outcomes)),
            n => Err(Failed::new(format!(
                "{} could not be installed into: see above",
                text::count(n, "host")
            ))),
        }
    }
}

/// Where things are.
pub(super) fn place() -> Result<Place, Failed> {
    Place::from_env(&config::Config::from_env()).map_err(Failed::to)
}

fn first_error(outcomes: Vec<(Host, Result<Outcome, InstallError>)>) -> Failed {
    let error = outcomes.into_iter().find_map(|(_, outcome)| outcome.err());
    error.map_or_else(|| Failed::new("it failed"), Failed::to)
}

impl Install {
    fn hosts(&self, place: &Place, executables: &Executables) -> Result<Vec<Host>, Failed> {
        let missing = crate::hook::Hook::ALL
            .iter()
            .find(|hook| !crate::install::is_executable(&place.executable(**hook)));
        if let Some(hook) = missing
            && executables.names.is_empty()
        {
            return Err(Failed::to(format!(
                "find the executable {}: run ./install.sh, which builds and places it",
                text::home(&place.executable(*hook).to_string_lossy())
            )));
        }
        if !self.hosts.is_empty() {
            return Ok(self.hosts.clone());
        }
        let mut found = Vec::new();
        for host in HOSTS {
            // One whose settings cannot be known (no HOME) is not found.
            if place.find(host).is_ok_and(|found| found.is_here()) {
                found.push(host);
            }
        }
        Ok(found)
    }

    fn one(
        &self,
        host: Host,
        place: &Place,
        executables: &Executables,
        out: &mut Out,
    ) -> Result<Outcome, InstallError> {
        if self.uninstall_first && !self.dry_run {
            apply(&mut plan(place, host, Goal::Removed)?, place)?;
        }
        // What will be placed cannot be missed by a plan that only shows.
        let mut planned = if self.dry_run && !executables.names.is_empty() {
            plan_unplaced(place, host, Goal::Installed)?
        } else {
            plan(place, host, Goal::Installed)?
        };
        let version = Program::of(&planned.survey.found, place).and_then(|program| program.version());
        let changed = !planned.is_done();
        if !self.dry_run {
            apply(&mut planned, place)?;
        }
        let trust = self.trust_of(&planned, place, out)?;
        Ok(Outcome {
            host,
            version,
            plan: planned,
            changed,
            trust,
        })
    }

    fn trust_of(&self, plan: &Plan, place: &Place, out: &mut Out) -> Result<Option<Trust>, InstallError> {
        if plan.host() != Host::Codex {
            return Ok(None);
        }
        if self.dry_run {
            return Ok(self.trust.then_some(Trust::Trusted));
        }
        let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let found = &plan.survey.found;
        if found.program.is_none() {
            let why = "codex is not on PATH, so it cannot be asked".to_owned();
            return Ok(Some(Trust::Unknown(why)));
        }
        for hindrance in trust_state(place, found, &folder) {
            match hindrance {
                Hindrance::NotTrusted { untrusted, modified } => {
                    let wanted = self.trust || self.may_ask() && wants_trust(untrusted + modified, out);
                    if !wanted {
                        return Ok(Some(Trust::Untrusted));
                    }
                    trust(place, found, &folder)?;
                }
                Hindrance::TrustUnknown { why } => return Ok(Some(Trust::Unknown(why))),
                Hindrance::NotSeen { seen: 0 } => {
                    let why = "Codex does not see them: `bookend doctor` says what keeps it from it";
                    return Ok(Some(Trust::Unknown(why.to_owned())));
                }
                _ => {}
            }
        }
        Ok(Some(Trust::Trusted))
    }

    fn may_ask(&self) -> bool {
        !self.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
    }

    fn print(&self, host: Host, outcome: &Result<Outcome, InstallError>, place: &Place, out: &mut Out) {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                out.heading(host.title());
                out.line(Line::from("  ").and(Style::Bad, &format!("Failed to {error}.")));
                return;
            }
        };
        let plan = &outcome.plan;
        let version = outcome
            .version
            .as_deref()
            .map_or(String::new(), |v| format!(" {v}"));
        out.heading(&format!("{}{version}", host.title()));
        if !outcome.changed {
            out.line(format!("  Installed already, {}.", means(plan)));
        } else if self.dry_run {
            self.print_plan(plan, place, out);
        } else {
            out.line(
                Line::from("  ")
                    .and(Style::Good, "Installed")
                    .then(&format!(", {}.", means(plan))),
            );
            for edit in plan.edits.iter() {
                if let Some(kept) = backup(place, host, &edit.file.path) {
                    let (file, kept) = (
                        edit.file.path.to_string_lossy(),
                        kept.to_string_lossy().into_owned(),
                    );
                    out.line(format!(
                        "  {} as it was: {}",
                        text::home(&file),
                        text::home(&kept)
                    ));
                }
            }
        }
        for next in nexts(outcome, self.dry_run) {
            out.line(format!("  {next}"));
        }
    }

    fn print_plan(&self, plan: &Plan, place: &Place, out: &mut Out) {
        show_plan(plan, place, out);
        let can_ask = plan.survey.found.program.is_some();
        if plan.host() == Host::Codex && can_ask && !self.trust {
            out.line("  Then you would be asked whether Codex may trust the hooks (--trust says yes).");
        }
    }

    fn document(
        &self,
        outcomes: &[(Host, Result<Outcome, InstallError>)],
        executables: &Executables,
        place: &Place,
    ) -> Value {
        let hosts: Vec<Value> = outcomes
            .iter()
            .map(|(host, outcome)| match outcome {
                Ok(outcome) => host_document(outcome, place, self.dry_run),
                Err(error) => json!({"host": host, "changed": false, "error": error.to_string()}),
            })
            .collect();
        json!({
            "dryRun": self.dry_run,
            "placed": executables.names.iter().map(|name| place.bin().join(name)).collect::<Vec<_>>(),
            "link": executables.link,
            "hosts": hosts,
        })
    }
}

fn host_document(outcome: &Outcome, place: &Place, dry_run: bool) -> Value {
    let plan = &outcome.plan;
    let found = &plan.survey.found;
    json!({
        "host": outcome.host,
        "program": found.program,
        "version": outcome.version,
        "config": found.config,
        "means": plan.means,
        "changed": outcome.changed,
        "files": files_document(plan, place, dry_run),
        "commands": lines(plan, place),
        "trust": outcome.trust.as_ref().map(|t| match t {
            Trust::Trusted => "trusted",
            Trust::Untrusted => "untrusted",
            Trust::Unknown(_) => "unknown",
        }),
        "next": nexts(outcome, dry_run),
        "error": null,
    })
}

/// The user's files that change, each with its diff.
pub(super) fn files_document(plan: &Plan, place: &Place, dry_run: bool) -> Vec<Value> {
    let changes = plan.edits.iter().filter(|edit| edit.was_change());
    changes
        .map(|edit| {
            json!({
                "path": edit.file.path,
                "diff": edit.diff(),
                "backup": backup(place, plan.host(), &edit.file.path).filter(|_| !dry_run),
            })
        })
        .collect()
}

/// The host's own commands, as one would type them.
pub(super) fn lines(plan: &Plan, place: &Place) -> Vec<String> {
    let program = Program::of(&plan.survey.found, place);
    let line = |words: &Vec<String>| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        program.as_ref().map(|program| program.line(&words))
    };
    plan.commands.iter().filter_map(line).collect()
}

/// What a plan would do.
pub(super) fn show_plan(plan: &Plan, place: &Place, out: &mut Out) {
    for file in &plan.differing {
        out.line(format!("  Would write {}", text::home(&file.to_string_lossy())));
    }
    for line in lines(plan, place) {
        out.line(Line::from("  Would run   ").and(Style::Strong, &line));
    }
    for edit in plan.edits.iter().filter(|edit| edit.was_change()) {
        out.gap();
        diff::print(out, &edit.diff());
    }
}

fn means(plan: &Plan) -> String {
    match plan.means {
        Means::Plugin => "as the plugin bookend@bookend".to_owned(),
        Means::Settings => format!(
            "as hooks in {}, since its program is not on PATH",
            text::home(&plan.survey.registrations.first().map_or_else(
                || plan.survey.found.config.to_string_lossy().into_owned(),
                |r| r.file.to_string_lossy().into_owned()
            ))
        ),
    }
}

/// What the user has to do now.
fn nexts(outcome: &Outcome, dry_run: bool) -> Vec<String> {
    let mut next = Vec::new();
    if dry_run {
        return next;
    }
    match &outcome.trust {
        Some(Trust::Untrusted) => {
            next.push(
                "Codex runs no hook that you have not trusted, and says nothing of it. Trust these:"
                    .to_owned(),
            );
            next.push("bookend install codex --trust, or start codex and choose \"Trust all\".".to_owned());
        }
        Some(Trust::Unknown(why)) => {
            next.push(format!("Whether Codex trusts the hooks is not known ({why})."));
            next.push("Start codex; if it asks about hooks, choose \"Trust all\".".to_owned());
        }
        Some(Trust::Trusted) => next.push("Codex trusts the hooks.".to_owned()),
        None => {}
    }
    if let Some((path, broken)) = outcome.plan.survey.broken.first() {
        next.push(format!(
            "{} has {} in line {}: Claude Code 2.1.332 reads nothing of such a file. Take it out; until then no hook fires.",
            text::home(&path.to_string_lossy()),
            broken.why,
            broken.line
        ));
    }
    if outcome.changed && outcome.plan.survey.broken.is_empty() {
        next.push(
            "The hooks fire from the next session on; sessions that run now have to be started again."
                .to_owned(),
        );
    }
    next
}

fn said_of_executables(executables: &Executables, place: &Place, dry_run: bool, out: &mut Out) {
    let bin = text::home(&place.bin().to_string_lossy());
    if !executables.names.is_empty() {
        let verb = if dry_run { "Would place" } else { "Placed" };
        out.line(format!(
            "{verb} {} in {bin}.",
            text::count(executables.names.len(), "executable")
        ));
    }
    if let Some(link) = &executables.link {
        let verb = if dry_run { "Would link" } else { "Linked" };
        out.line(format!(
            "{verb} {} to the command.",
            text::home(&link.to_string_lossy())
        ));
    }
    if let Some(why) = &executables.no_link {
        out.line(format!("{why}."));
    } else if let Some(dir) = place.link().as_deref().and_then(Path::parent)
        && !place.is_on_path(dir)
    {
        let dir = text::home(&dir.to_string_lossy());
        out.line(format!(
            "{dir} is not on your PATH: add it, or call {dir}/bookend by its path."
        ));
    }
    if config::var("BOOKEND_DATA_DIR").is_some() {
        out.line("BOOKEND_DATA_DIR is set: the hosts need it too, e.g. by a line in your shell's profile:");
        out.line(format!(
            "    export BOOKEND_DATA_DIR=\"{}\"",
            place.data.display()
        ));
    }
}

fn none_found(place: &Place, out: &mut Out) {
    out.gap();
    out.line("No host is found: no claude and no codex on PATH, no settings of theirs in your home.");
    let home = place
        .home
        .as_ref()
        .map_or_else(|| "HOME".to_owned(), |h| h.display().to_string());
    out.line(format!(
        "Once one is there, `bookend install` registers the hooks: as its plugin, or in its settings below {home}."
    ));
    out.line("Meanwhile `bookend demo` shows what the hooks do.");
}

/// Asks on the terminal.
fn wants_trust(count: usize, out: &mut Out) -> bool {
    out.line(format!(
        "Codex runs no hook that you have not trusted. Let it trust the {count} hooks of Bookend? [y/N] "
    ));
    yes(out)
}

/// Whether the answer on the terminal is yes.
pub(super) fn yes(out: &mut Out) -> bool {
    out.flush();
    drop(std::io::stderr().flush());
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
