//! Reading a state file, and replacing it under a lock.
//!
//! The lock is `flock` on the directory that holds the file: nothing is left behind, and it keeps our own
//! processes apart. Models and editors know nothing of it, so the file is looked at again right before
//! the new one takes its name, and if it is not what was read, all is done anew.

use std::io;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rustix::fs::Stat;

use super::json::{Broken, Document};
use super::news::News;
use super::place::{Place, is_file, judge};
use super::said::Said;
use super::{Agent, builder, planner};
use crate::files::{self, Busy};
use crate::redact::Redacted;

/// How often a file that somebody else writes to is tried.
const TRIES: usize = 3;
/// A session's file is to stay below this.
pub(super) const MAX_SESSION: usize = 5 * 1024;

/// Why a state file cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// It cannot be read or replaced, or is not to be touched.
    Io(io::Error),
    /// It is none that we understand.
    Broken(Broken),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(e) => e.fmt(f),
            Self::Broken(broken) => broken.fmt(f),
        }
    }
}

impl From<io::Error> for Unusable {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

/// The content, and what the file was when it was read.
fn bytes(place: &Place) -> io::Result<(Vec<u8>, Stat)> {
    is_file(&place.stat)?;
    let read = place.dir.read_judged(place.name, judge)?;
    read.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Reads the text as the file of that agent.
fn understand(agent: Agent, bytes: &[u8]) -> Result<Document<'_>, Unusable> {
    let doc = Document::parse(bytes).map_err(Unusable::Broken)?;
    let (is_one, whose) = match agent {
        Agent::Planner => (planner::is_one(&doc), "a planner's state"),
        Agent::Toolkit => (planner::is_one(&doc), "a toolkit's state"),
        Agent::Builder => (builder::is_one(&doc), "a builder's session"),
    };
    if is_one {
        return Ok(doc);
    }
    Err(Unusable::Broken(Broken {
        line: 1,
        why: format!("it is not {whose}: none of its keys is there"),
    }))
}

impl Place {
    /// What it says.
    ///
    /// # Errors
    /// [`Unusable`].
    pub fn read(&self) -> Result<Said, Unusable> {
        let (bytes, stat) = bytes(self)?;
        let doc = understand(self.agent, &bytes)?;
        let modified = DateTime::<Utc>::from_timestamp(stat.st_mtime, 0).unwrap_or_default();
        let mut said = match self.agent {
            Agent::Planner | Agent::Toolkit => planner::read(&doc, modified),
            Agent::Builder => builder::read(&doc, modified),
        };
        said.size = bytes.len();
        Ok(said)
    }

    /// Takes its lock, waiting at most `wait`.
    ///
    /// # Errors
    /// When somebody holds it for so long, or the file system has none.
    pub fn lock(&self, wait: Duration) -> io::Result<()> {
        match files::acquire(self.dir.file(), wait) {
            Ok(()) => Ok(()),
            Err(Busy::Held) => Err(io::Error::new(
                io::ErrorKind::WouldBlock,
                "another hook holds its lock",
            )),
            Err(Busy::Io(e)) => Err(e),
        }
    }

    /// Writes what is new, if anything is; the caller holds the lock. What people are to be told, if anything.
    ///
    /// # Errors
    /// [`Unusable`]; the file is then as it was.
    pub fn write(&self, news: &News, others: &dyn Fn(&Redacted) -> bool) -> Result<Option<String>, Unusable> {
        for _ in 0..TRIES {
            let (bytes, stat) = bytes(self)?;
            let doc = understand(self.agent, &bytes)?;
            let new = match self.agent {
                Agent::Planner | Agent::Toolkit => planner::write(&doc, news, others),
                Agent::Builder => builder::write(&doc, news, others),
            };
            let temp = format!(".{}.bookend", self.name);
            let Some(new) = new else {
                // What a killed hook has left; the lock says that nobody is at it.
                drop(self.dir.remove(&temp));
                return Ok(None);
            };
            if stat.st_mode & 0o200 == 0 {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only").into());
            }
            if self.dir.replace_unchanged(self.name, &temp, &new, &stat)? {
                let grown = bytes.len() < MAX_SESSION && new.len() >= MAX_SESSION;
                return Ok((grown && self.agent == Agent::Builder)
                    .then(|| "it has grown past 5 KB: its summaries want shortening".to_owned()));
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "somebody else keeps changing it").into())
    }
}
