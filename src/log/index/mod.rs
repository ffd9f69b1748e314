//! The index of the history, `<data dir>/index.sqlite`: made of the logs by the command, never by a hook. Delete it
//! and it comes back.
//!
//! ```text
//! <data dir>/index.sqlite (-wal, -shm)   0600; sessions, turns, and the full text of the turns (FTS5)
//!            grown/                      its lock; in it the logs that grew since they were read (see `log::grown`)
//! ```
//!
//! [`ask`] opens it, reads what the logs grew by, and answers one question from a state that no other command
//! changes meanwhile. A file that is damaged, of another version or none of ours is thrown away and made again; where
//! none can be kept (a read-only or full data directory) the answer comes from a temporary one.
//!
//! | file | is about |
//! | --- | --- |
//! | `file.rs`, `schema.rs` | the database's file; its tables |
//! | `refresh.rs` | which logs are to be read: marked as grown, new, gone, changed |
//! | `rows.rs`, `write.rs` | what a log says to the index; how that gets in |
//! | `filter.rs`, `words.rs` | which sessions are wanted; what a person types to search |
//! | `sessions.rs`, `search.rs`, `stats.rs` | the answers |

mod file;
mod filter;
mod refresh;
mod rows;
mod schema;
mod search;
mod sessions;
mod stats;
mod words;
mod write;

use std::fmt;
use std::io;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use super::data_dir::DataDir;
use super::grown::GROWN;
use crate::files::{self, Busy, Dir};

pub use filter::Filters;
pub use search::{Match, Matches};
pub use sessions::{Page, Summary};
pub use stats::{Count, Stats};
pub use words::Words;

/// How long a command waits for another one that brings the index up to date.
const WAIT: Duration = Duration::from_secs(20);

/// How much is looked at before a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What writers say has grown, and once a day every log.
    Grown,
    /// Every log.
    All,
    /// Every log, into a new index.
    Anew,
}

/// How far the reading of the logs has come.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Logs that were read.
    pub done: usize,
    /// Logs that are to be read.
    pub of: usize,
    /// Bytes of them.
    pub bytes: u64,
}

/// Who is told how far it has come.
pub type Tell<'t> = &'t mut dyn FnMut(Progress);

/// The index, up to date, for one question.
#[derive(Debug)]
pub struct Index<'d> {
    conn: Connection,
    data: &'d DataDir,
    /// What of the logs could not be read, and where the answer comes from, as sentences.
    pub warnings: Vec<String>,
    /// What was read to bring it up to date.
    pub read: Progress,
    /// Logs were marked that are not what was read.
    suspects: bool,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Error {
    /// Files could not be read or written.
    Io(String, io::Error),
    /// The database refused.
    Database(rusqlite::Error),
    /// Another command is making the index, and there is none yet to answer from.
    Busy,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(what, e) => write!(f, "{what}: {e}"),
            Self::Database(e) => write!(f, "ask the index of the history: {e}"),
            Self::Busy => f.write_str("ask the index of the history: another command is making it"),
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(e: rusqlite::Error) -> Self {
        Self::Database(e)
    }
}

impl Error {
    fn io(what: &str) -> impl Fn(io::Error) -> Self {
        move |e| Self::Io(what.to_owned(), e)
    }

    /// Whether a new file would do better.
    fn is_of_the_file(&self) -> bool {
        let Self::Database(e) = self else { return false };
        match e.sqlite_error_code() {
            Some(code) => matches!(
                code,
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown
            ),
            // A column of another type than ours.
            None => true,
        }
    }

    /// Whether a file elsewhere would do better.
    fn is_of_the_place(&self) -> bool {
        match self {
            Self::Io(..) | Self::Busy => true,
            Self::Database(e) => !matches!(e.sqlite_error_code(), Some(ErrorCode::OperationInterrupted)),
        }
    }
}

/// Bytes of the index's files.
#[must_use]
pub fn size(data: &DataDir) -> u64 {
    let sizes = file::FILES
        .iter()
        .filter_map(|name| data.dir().stat(name).ok().flatten());
    sizes.map(|s| u64::try_from(s.st_size).unwrap_or(0)).sum()
}

/// Brings the index up to date and answers a question from it.
///
/// # Errors
/// [`Error`], when even a temporary index gives no answer.
pub fn ask<T>(
    data: &DataDir,
    depth: Depth,
    tell: Tell<'_>,
    question: impl Fn(&mut Index<'_>) -> Result<T, Error>,
) -> Result<(T, Vec<String>), Error> {
    let mut answer =
        |index: &mut Index<'_>| question(index).map(|t| (t, std::mem::take(&mut index.warnings)));
    let kept = |depth, tell: Tell<'_>, answer: &mut dyn FnMut(&mut Index<'_>) -> Result<_, Error>| {
        let mut index = Index::kept(data, depth, tell)?;
        let given = answer(&mut index)?;
        if !index.suspects {
            return Ok(given);
        }
        drop(index);
        answer(&mut Index::kept(data, Depth::Grown, tell)?)
    };
    let first = kept(depth, tell, &mut answer);
    let why = match first {
        Err(e) if e.is_of_the_file() => match kept(Depth::Anew, tell, &mut answer) {
            Err(e) => e,
            answered => return answered,
        },
        Err(e) => e,
        answered => return answered,
    };
    if matches!(why, Error::Busy) || !why.is_of_the_place() {
        return Err(why);
    }
    let mut index = Index::temporary(data, tell)?;
    index.warnings.insert(
        0,
        format!(
            "failed to {why}; this answer comes from a temporary index: make {} writable, with room in it",
            data.path().display()
        ),
    );
    answer(&mut index)
}

impl<'d> Index<'d> {
    /// The one in the data directory.
    fn kept(data: &'d DataDir, depth: Depth, tell: Tell<'_>) -> Result<Self, Error> {
        let (grown, is_new) = match data.grown().map_err(Error::io("open the index's lock"))? {
            Some(grown) => (grown, false),
            None => {
                let made = data.dir().sub_or_make(GROWN);
                (made.map_err(Error::io("make the index of the history"))?, true)
            }
        };
        let is_locked = lock(&grown)?;
        if !is_locked {
            return Self::behind(data);
        }
        if depth == Depth::Anew {
            file::discard(data)?;
        }
        let conn = match file::open(data) {
            Err(e) if e.is_of_the_file() => {
                file::discard(data)?;
                file::open(data)?
            }
            other => other?,
        };
        let mut index = Self::of(conn, data);
        let all = is_new || depth != Depth::Grown;
        index.refresh(Some(&grown), all, is_new, tell)?;
        // What others change from here on, this one does not see.
        index.conn.execute_batch("BEGIN; SELECT count(*) FROM meta;")?;
        Ok(index)
    }

    /// As it was before the command that is at it began; without one there is no answer.
    fn behind(data: &'d DataDir) -> Result<Self, Error> {
        let mut index = Self::of(file::open_made(data)?.ok_or(Error::Busy)?, data);
        index.conn.execute_batch("BEGIN; SELECT count(*) FROM meta;")?;
        index.warnings.push(
            "another command reads the logs into the index at this moment: what it has not read yet is left out"
                .to_owned(),
        );
        Ok(index)
    }

    /// One that goes with this process.
    fn temporary(data: &'d DataDir, tell: Tell<'_>) -> Result<Self, Error> {
        let mut index = Self::of(file::temporary()?, data);
        index.refresh(None, true, false, tell)?;
        Ok(index)
    }

    fn of(conn: Connection, data: &'d DataDir) -> Self {
        Self {
            conn,
            data,
            warnings: Vec::new(),
            read: Progress {
                done: 0,
                of: 0,
                bytes: 0,
            },
            suspects: false,
        }
    }
}

/// The lock of who brings the index up to date; whether it was to be had.
fn lock(grown: &Dir) -> Result<bool, Error> {
    match files::acquire(grown.file(), WAIT) {
        Ok(()) => Ok(true),
        Err(Busy::Held) => Ok(false),
        Err(Busy::Io(e)) => Err(Error::Io("lock the index of the history".to_owned(), e)),
    }
}
