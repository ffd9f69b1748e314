//! What the hooks of a probe's sessions left in its scratch stores: which events came, how fast, and how turns ended.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use serde::Serialize;

use super::error::ProbeError;
use crate::live::journal;
use crate::live::key::SessionKey;
use crate::live::root::HookRoot;
use crate::live::session::Session;
use crate::log::data_dir::DataDir;
use crate::log::view::{SessionView, TurnView};

/// How a turn ended, as the log has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnEnd {
    /// `in_progress`, `completed` or `failed`.
    pub status: &'static str,
    /// Why it failed: the host's kind, or one of ours.
    pub code: Option<String>,
    /// The end was only inferred.
    pub presumed: bool,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// For each event the microseconds of its hooks; an event whose hook could not take it in has none.
    pub events: BTreeMap<String, Vec<Option<u32>>>,
    /// Faults of ours, as fragments that fit after "failed to".
    pub faults: Vec<String>,
    turns: Vec<TurnView>,
}

impl Seen {
    /// Reads both stores; one that is not there holds nothing.
    pub(super) fn read(hook_root: &Path, data_dir: &Path) -> Result<Self, ProbeError> {
        let mut seen = Self::default();
        let root = HookRoot::existing(hook_root).map_err(|why| ProbeError::Look(why.to_string()))?;
        if let Some(root) = root {
            seen.live(&root)?;
        }
        let data = DataDir::existing(&Ok(data_dir.to_owned())).map_err(failed)?;
        if let Some(data) = data {
            seen.log(&data)?;
        }
        Ok(seen)
    }

    /// How the turn of that prompt ended.
    pub(super) fn end_of(&self, prompt: &str) -> Option<TurnEnd> {
        let turn = self
            .turns
            .iter()
            .find(|turn| turn.query_title.as_str() == prompt)?;
        Some(TurnEnd {
            status: turn.status,
            code: turn.failure.as_ref().map(|failure| failure.code.to_string()),
            presumed: turn.presumed,
        })
    }

    fn live(&mut self, root: &HookRoot) -> Result<(), ProbeError> {
        let entries = root.dir().entries().map_err(failed)?;
        for key in entries
            .iter()
            .filter(|entry| entry.is_dir)
            .filter_map(|entry| SessionKey::from_name(&entry.name))
        {
            let Some(dir) = root.dir().sub(key.as_str()).map_err(failed)? else {
                continue;
            };
            for entry in journal::entries(&dir).map_err(failed)? {
                self.events
                    .entry(entry.event.name)
                    .or_default()
                    .push(Some(entry.us));
                self.faults.extend(entry.faults.iter().map(ToString::to_string));
            }
            // Of a hook that could not get the lock; it fired all the same.
            let waiting = match Session::try_lock(root, &key) {
                Ok(Some(mut session)) => session.pending().map_err(failed)?,
                _ => Vec::new(),
            };
            for (_, event) in waiting {
                self.events.entry(event.name).or_default().push(None);
            }
        }
        Ok(())
    }

    fn log(&mut self, data: &DataDir) -> Result<(), ProbeError> {
        let noted = data.faults();
        self.faults
            .extend(noted.iter().map(|fault| fault.what.to_string()));
        for id in data.sessions().map_err(failed)? {
            if let Some(view) = SessionView::read(data, &id).map_err(failed)? {
                self.turns.extend(view.turns);
            }
        }
        Ok(())
    }
}

fn failed(why: impl Display) -> ProbeError {
    ProbeError::Look(format!("read what the hooks kept: {why}"))
}

/// The middle one, of an even number the lower of the two.
pub(super) fn median(mut values: Vec<u32>) -> Option<u32> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        for (values, middle) in [
            (vec![], None),
            (vec![7], Some(7)),
            (vec![9, 1], Some(1)),
            (vec![9, 1, 5], Some(5)),
        ] {
            assert_eq!(median(values), middle);
        }
    }

    #[test]
    fn stores_that_are_not_there_hold_nothing() {
        let nowhere = Path::new("/no/such/folder");
        let seen = Seen::read(nowhere, nowhere).unwrap();
        assert!(seen.events.is_empty() && seen.faults.is_empty() && seen.end_of("").is_none());
    }
}
