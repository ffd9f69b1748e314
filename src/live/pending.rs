//! Events whose hooks could not get the lock in time: each a file of its own, folded and removed by the
//! next hook or command. `pending-<uuid>.json` is whole when it has that name; its uuid is a time, so the
//! names sort in the order of the events.

use std::io;

use uuid::Uuid;

use super::key::SessionKey;
use super::names::is_pending;
use super::root::HookRoot;
use super::session::Session;
use crate::event::Event;
use crate::files::{self, Durability};

/// Largest pending event that is read.
const MAX_FILE: u64 = 8 * 1024 * 1024;
/// Pending events that are read at once.
const PENDING_AT_ONCE: usize = 64;

impl Session {
    /// The events whose hooks could not get the lock, oldest first, with their file names; not more than
    /// a hook folds at once.
    ///
    /// # Errors
    /// When the directory or one of them cannot be read now.
    pub fn pending(&mut self) -> io::Result<Vec<(String, Event)>> {
        let entries = self.dir.entries()?.into_iter();
        let mut names: Vec<String> = entries.map(|e| e.name).filter(|n| is_pending(n)).collect();
        names.sort_unstable();
        names.truncate(PENDING_AT_ONCE);
        let mut events = Vec::new();
        for name in names {
            match self.dir.read(&name, MAX_FILE) {
                Ok(Some(bytes)) => match serde_json::from_slice(&bytes) {
                    Ok(event) => events.push((name, event)),
                    // It was whole when it got this name: a disk fault, or a foreign hand.
                    Err(e) => {
                        self.problems.push(format!("read {name}: {e}; it was removed"));
                        self.dir.remove(&name)?;
                    }
                },
                Ok(None) => {}
                // What comes after it waits too: order is kept.
                Err(e) if files::may_pass(&e) => return Err(e),
                Err(e) => self.problems.push(format!("read {name}: {e}")),
            }
        }
        Ok(events)
    }

    /// Forgets a pending event that is folded in.
    ///
    /// # Errors
    /// When the file stays.
    pub fn remove_pending(&self, name: &str) -> io::Result<()> {
        self.dir.remove(name).map(|_| ())
    }
}

/// Leaves an event for the next hook: the lock was not to be had in time. It gets its name when it is
/// whole, since whoever holds the lock may read it at any moment.
///
/// # Errors
/// When it cannot be written.
pub fn leave(root: &HookRoot, key: &SessionKey, mut event: Event) -> io::Result<()> {
    let id = Uuid::now_v7();
    // Folded, then killed before the file was removed: it must not be folded twice.
    event.key.get_or_insert_with(|| format!("pending:{id}"));
    let bytes = serde_json::to_vec(&event)?;
    let (name, temp) = (format!("pending-{id}.json"), format!("pending-{id}.new"));
    for _ in 0..8 {
        let dir = root.dir().sub_or_make(key.as_str())?;
        let left = dir.replace(&name, &temp, &bytes, Durability::Process);
        // Whoever holds the lock may be a prune, which takes the directory away: then once more, in the
        // new one. A prune that has seen the file moves it there itself, under the same name.
        if dir.is_still(root.dir(), key.as_str())? {
            return left;
        }
    }
    Err(io::ErrorKind::NotFound.into())
}
