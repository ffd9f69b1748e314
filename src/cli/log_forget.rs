//! `bookend log forget`: removes sessions for good.

use std::io::IsTerminal;

use serde_json::{Value, json};

use super::args::LogForget;
use super::install::yes;
use super::machine::Machine;
use super::out::Out;
use super::span::{Line, Style};
use super::{Failed, Run, history, text};
use crate::dispatch::forget::{Forgetter, Forgotten, Rule};
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::index::{Depth, Filters};

/// Most sessions that are named one by one.
const NAMED: usize = 20;

impl Run for LogForget {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let data = machine.data()?;
        let failed = |e: std::io::Error| Failed::to(format!("read the session logs: {e}"));
        let ids = self.which(data, machine, out)?;
        let forgetter = |dry_run, ids: Vec<SessionId>| {
            let mut forgetter = Forgetter::new(data, &machine.roots, machine.now, dry_run);
            forgetter.run(ids, Rule::Asked).map_err(failed)
        };
        if !self.dry_run && !self.yes {
            let would = forgetter(true, ids.clone())?;
            if !would.removed.is_empty() && !asked(&would, out)? {
                out.line("Nothing was removed.");
                return Ok(());
            }
        }
        let forgotten = forgetter(self.dry_run, ids)?;
        if !self.dry_run && !forgotten.removed.is_empty() {
            // Its words are to be gone as well.
            history::ask(data, Depth::Grown, out, |_| Ok(()))?;
        }
        // Whoever named one session meant that one.
        let stays = forgotten.kept.first().filter(|_| self.session.is_some());
        if self.json || stays.is_none() {
            tell(&forgotten, self.dry_run, None, self.json, out)?;
        }
        match stays {
            Some((id, why)) => Err(Failed::new(format!(
                "{id} stays: {why}; try again when that is over"
            ))),
            None => Ok(()),
        }
    }
}

impl LogForget {
    fn which(&self, data: &DataDir, machine: &Machine, out: &mut Out) -> Result<Vec<SessionId>, Failed> {
        if let Some(wanted) = &self.session {
            return Ok(vec![history::one(data, wanted, machine, out)?]);
        }
        if self.all {
            let mut ids = data
                .sessions()
                .map_err(|e| Failed::to(format!("read the session logs: {e}")))?;
            ids.sort();
            return Ok(ids);
        }
        let filters = Filters {
            projects: self.project.as_deref().map(history::spellings),
            ..Filters::default()
        };
        history::ask(data, Depth::Grown, out, |index| index.ids(&filters))
    }
}

fn asked(would: &Forgotten, out: &mut Out) -> Result<bool, Failed> {
    let sessions = text::count(would.removed.len(), "session");
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Failed::new(format!(
            "this removes {sessions} for good and asks before; without a terminal say --yes"
        )));
    }
    name(would, out);
    out.line(format!(
        "This removes {sessions} of the log for good. Go on? [y/N] "
    ));
    Ok(yes(out))
}

fn name(forgotten: &Forgotten, out: &mut Out) {
    for (id, _) in forgotten.removed.iter().take(NAMED) {
        out.line(format!("  {id}"));
    }
    if forgotten.removed.len() > NAMED {
        out.line(format!("  and {} more", forgotten.removed.len() - NAMED));
    }
}

/// What became of them.
pub(super) fn tell(
    forgotten: &Forgotten,
    dry_run: bool,
    days: Option<u32>,
    as_json: bool,
    out: &mut Out,
) -> Result<(), Failed> {
    let Forgotten { removed, kept } = forgotten;
    let bytes: u64 = removed.iter().map(|(_, bytes)| bytes).sum();
    if as_json {
        let removed: Vec<Value> = removed
            .iter()
            .map(|(id, bytes)| json!({"sessionId": id, "bytes": bytes}))
            .collect();
        let kept: Vec<Value> = kept
            .iter()
            .map(|(id, why)| json!({"sessionId": id, "why": why}))
            .collect();
        let mut document = json!({"dryRun": dry_run, "removed": removed, "bytes": bytes, "kept": kept});
        if let (Some(days), Some(document)) = (days, document.as_object_mut()) {
            document.insert("days".to_owned(), json!(days));
        }
        return out.json(&document);
    }
    let sessions = text::count(removed.len(), "session");
    let size = text::bytes(bytes);
    out.line(match (removed.len(), dry_run) {
        (0, _) => "Nothing to remove.".to_owned(),
        (_, true) => format!("{sessions} would be removed ({size}):"),
        (_, false) => format!("{sessions} removed ({size}):"),
    });
    name(forgotten, out);
    for (id, why) in kept.iter().take(NAMED) {
        out.line(Line::from(format!("  {id}  ")).and(Style::Notice, &format!("stays: {why}")));
    }
    if kept.len() > NAMED {
        out.line(format!("  and {} more stay", kept.len() - NAMED));
    }
    Ok(())
}
