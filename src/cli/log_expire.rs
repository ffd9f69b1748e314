//! `bookend log expire`: removes the sessions that are older than they are to be kept; and what the command does of it
//! by itself.

use super::args::LogExpire;
use super::log_forget::tell;
use super::machine::Machine;
use super::out::Out;
use super::{Failed, Run};
use crate::dispatch::forget::{Forgetter, Rule};
use crate::log::retention::{self, Run as Due};

/// Most sessions that the command removes by itself in one run.
const MOST: usize = 2_000;

impl Run for LogExpire {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let days = self.older_than.unwrap_or(machine.config.log_days);
        let data = machine.data()?;
        let Some(cut) = retention::cut(days, machine.now) else {
            if self.json {
                return out.json(&serde_json::json!({
                    "days": 0, "dryRun": self.dry_run, "removed": [], "bytes": 0, "kept": [],
                }));
            }
            out.line(
                "The log is kept for ever (BOOKEND_LOG_DAYS=0): --older-than DAYS removes all the same.",
            );
            return Ok(());
        };
        let failed = |e: std::io::Error| Failed::to(format!("read the session logs: {e}"));
        let ids = data.unchanged_since(cut, false).map_err(failed)?;
        let mut forgetter = Forgetter::new(data, &machine.roots, machine.now, self.dry_run);
        let forgotten = forgetter.run(ids, Rule::Before(cut)).map_err(failed)?;
        tell(&forgotten, self.dry_run, Some(days), self.json, out)
    }
}

/// Once a day, of what nobody asked to keep longer. That it fails stops no command: the next day is as good.
pub(super) fn by_itself(machine: &Machine) {
    let Some(data) = &machine.data else { return };
    let days = machine.config.log_days;
    let cut = match retention::due(data.retained_at(), days, machine.now) {
        Due::No => return,
        Due::Note => None,
        Due::Before(cut) => Some(cut),
    };
    // Noted first: where that is not possible, nothing is removed either.
    if data.set_retained_at(machine.now).is_err() {
        return;
    }
    let Some(cut) = cut else { return };
    if let Ok(ids) = data.unchanged_since(cut, true) {
        let mut forgetter = Forgetter::new(data, &machine.roots, machine.now, false);
        drop(forgetter.run(ids.into_iter().take(MOST), Rule::Before(cut)));
    }
}
