//! `bookend prune`: removes what is stale, in every hook root in use, with the code of the hooks.

use serde_json::json;

use super::args::Prune;
use super::machine::{Machine, NOTHING_YET};
use super::out::Out;
use super::span::{Line, Style};
use super::{Failed, Run, text};
use crate::clock::{self, Stopwatch};
use crate::dispatch::{self, Stores};
use crate::doctor::leftovers;
use crate::live::prune::Options;

/// What was done in all roots.
#[derive(Default)]
struct Sum {
    roots: Vec<String>,
    removed: Vec<String>,
    left: Vec<(String, String)>,
    foreign: Vec<String>,
    settled: usize,
    leftovers: Vec<String>,
}

impl Run for Prune {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.warn_of_data(out);
        if !self.dry_run {
            machine.settle(out);
        }
        let leftovers = self.leftovers(machine, out);
        let sum = Sum {
            leftovers,
            ..self.prune(machine, out)
        };
        if self.json {
            let left: Vec<_> = sum
                .left
                .iter()
                .map(|(name, why)| json!({"name": name, "why": why}))
                .collect();
            return out.json(&json!({
                "removed": sum.removed,
                "left": left,
                "foreign": sum.foreign,
                "settled": sum.settled,
                "leftovers": sum.leftovers,
                "dryRun": self.dry_run,
                "roots": sum.roots,
            }));
        }
        if sum.roots.is_empty() {
            out.sentence(NOTHING_YET);
            return Ok(());
        }
        self.print(&sum, out);
        Ok(())
    }
}

impl Prune {
    /// What killed hooks left in the data directory: removed, or only found.
    fn leftovers(&self, machine: &Machine, out: &mut Out) -> Vec<String> {
        let Some(data) = &machine.data else {
            return Vec::new();
        };
        let mut gone = Vec::new();
        for path in leftovers::find(data.path(), machine.now) {
            let name = path.to_string_lossy().into_owned();
            match if self.dry_run {
                Ok(())
            } else {
                std::fs::remove_file(&path)
            } {
                Ok(()) => gone.push(name),
                Err(e) => out.warn(&format!("failed to remove {name}: {e}")),
            }
        }
        gone
    }

    fn prune(&self, machine: &mut Machine, out: &mut Out) -> Sum {
        let mut sum = Sum::default();
        let options = Options {
            own: None,
            limit: None,
            budget: None,
            older_than: self.older_than,
            dry_run: self.dry_run,
            now: machine.now,
        };
        let roots = std::mem::take(&mut machine.roots);
        let mut stores = Stores::of(machine.data.take(), None, "prune");
        stores.no_data_now.clone_from(&machine.unusable);
        for root in roots {
            let path = root.path().to_string_lossy().into_owned();
            stores.root = Some(root);
            let report = match dispatch::prune(&mut stores, &machine.config, options, Stopwatch::start()) {
                Some(Ok(report)) => report,
                Some(Err(e)) => {
                    out.warn(&format!(
                        "failed to read the hook root {path}: {e}; it is left out"
                    ));
                    continue;
                }
                None => continue,
            };
            let full = |name: String| format!("{path}/{name}");
            sum.removed.extend(report.removed.into_iter().map(full));
            sum.left
                .extend(report.left.into_iter().map(|(name, why)| (full(name), why)));
            sum.foreign.extend(report.foreign.into_iter().map(full));
            sum.settled += report.settled;
            sum.roots.push(path);
        }
        for fault in std::mem::take(&mut stores.faults) {
            out.warn(&format!("failed to {fault}"));
        }
        sum
    }

    fn print(&self, sum: &Sum, out: &mut Out) {
        let sessions = text::count(sum.removed.len(), "session");
        let age = clock::human(self.older_than);
        out.line(if sum.removed.is_empty() {
            format!("Nothing to remove: no session is without a change for more than {age}.")
        } else if self.dry_run {
            format!("{sessions} without a change for more than {age} would be removed:")
        } else {
            format!("{sessions} without a change for more than {age} removed:")
        });
        for name in &sum.removed {
            out.line(format!("  {}", text::home(name)));
        }
        if sum.settled > 0 {
            let turns = text::count(sum.settled, "turn");
            out.line(format!(
                "{turns} still open got the presumed end session_abandoned in the log."
            ));
        }
        if !sum.leftovers.is_empty() {
            let files = text::count(sum.leftovers.len(), "temporary file");
            let verb = if self.dry_run { "Would remove" } else { "Removed" };
            out.line(format!("{verb} {files} of killed hooks from the data directory."));
        }
        if !sum.left.is_empty() {
            out.line("Stale, but left:");
        }
        for (name, why) in &sum.left {
            out.line(Line::from(format!("  {}  ", text::home(name))).and(Style::Notice, why));
        }
        if !sum.foreign.is_empty() {
            out.line("None of Bookend's, never touched:");
        }
        for name in &sum.foreign {
            out.line(format!("  {}", text::home(name)));
        }
    }
}
