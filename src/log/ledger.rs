//! The log file of one session, locked, as a writer holds it: read what it grew by, then append.
//!
//! The live state caches the turns up to a byte offset; [`Ledger::since`] reads what was written behind
//! that: by a model, by a settlement, or by a hook that was killed between log and journal.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::data_dir::DataDir;
use super::id::SessionId;
use super::record::{Body, By, Record, VERSION};
use super::turns::Mark;
use crate::files::{self, Busy, Tail};

/// The file's name in the session's directory.
pub const FILE: &str = "log.jsonl";
/// Most of an unread tail that a writer takes in, in bytes; the rest is history that only views need.
const MAX_CATCH_UP: u64 = 8 * 1024 * 1024;

/// A session's log, locked for writing.
#[derive(Debug)]
pub struct Ledger {
    file: File,
    tail: Tail,
    by: By,
    must_last: bool,
}

/// What a writer finds that it did not know: written by a model, by a settlement, or by a hook that was
/// killed between log and journal.
#[derive(Debug, Default)]
pub struct Caught {
    /// Changes of the turns.
    pub marks: Vec<Mark>,
    /// Changes of the task, the todos, a limit.
    pub bodies: Vec<Body>,
    /// The latest of the tool calls that hooks have recorded, see [`Body::logged_call`].
    pub calls: Vec<String>,
}

/// So many tool calls are remembered of what is found at once.
const CALLS: usize = 64;

impl Caught {
    /// What records mean for the live state.
    #[must_use]
    pub fn of(records: &[Record]) -> Self {
        let wanted = |b: &&Body| matches!(b, Body::Task { .. } | Body::Todos { .. } | Body::Limit { .. });
        let by_hooks = records.iter().rev().filter(|r| r.by == By::Hook);
        let calls = by_hooks.filter_map(|r| r.body.logged_call());
        Self {
            calls: calls.take(CALLS).collect(),
            marks: records.iter().filter_map(|r| r.body.mark(r.at)).collect(),
            bodies: records.iter().map(|r| &r.body).filter(wanted).cloned().collect(),
        }
    }

    /// Adds what was found later.
    pub fn extend(&mut self, later: Self) {
        self.marks.extend(later.marks);
        self.bodies.extend(later.bodies);
        self.calls.extend(later.calls);
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.bodies.is_empty() && self.calls.is_empty()
    }
}

/// Why a log cannot be written now.
#[derive(Debug)]
pub enum NoLedger {
    /// Somebody else held the lock for the whole wait: try again later.
    Busy,
    /// It cannot be used.
    Io(io::Error),
}

impl fmt::Display for NoLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("lock the session log in time"),
            Self::Io(e) => write!(f, "open the session log: {e}"),
        }
    }
}

impl From<io::Error> for NoLedger {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

impl Ledger {
    /// Opens and locks the log of `id`; with `make` a missing one is begun.
    ///
    /// # Errors
    /// [`NoLedger`]; a missing log without `make` is `Ok(None)`.
    pub fn open(
        data: &DataDir,
        id: &SessionId,
        by: By,
        make: bool,
        wait: Duration,
    ) -> Result<Option<Self>, NoLedger> {
        let dir = if make {
            Some(data.session_or_make(id)?)
        } else {
            data.session(id)?
        };
        let Some(dir) = dir else { return Ok(None) };
        let opened = if make {
            Some(dir.open_append_or_make(FILE)?)
        } else {
            dir.open_append(FILE)?
        };
        let Some((file, _)) = opened else { return Ok(None) };
        files::acquire(&file, wait).map_err(|busy| match busy {
            Busy::Held => NoLedger::Busy,
            Busy::Io(e) => NoLedger::Io(e),
        })?;
        let len = file.metadata()?.len();
        let tail = files::tail(&file, len)?;
        Ok(Some(Self {
            file,
            tail,
            by,
            must_last: false,
        }))
    }

    /// Whether it has no record yet; a torn one is none.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.tail.end == 0
    }

    /// Where the next record will stand.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.tail.end
    }

    /// The records behind `offset`. A log that is shorter than that was begun anew: all of it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn since(&self, offset: u64) -> io::Result<Vec<Record>> {
        let from = if offset > self.tail.end { 0 } else { offset };
        let from = from.max(self.tail.end.saturating_sub(MAX_CATCH_UP));
        let mut bytes = vec![0; usize::try_from(self.tail.end - from).unwrap_or(0)];
        self.file.read_exact_at(&mut bytes, from)?;
        Ok(bytes
            .split(|b| *b == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect())
    }

    /// Appends the records in one write. A final end is on the disk only after [`Ledger::sync`].
    ///
    /// # Errors
    /// When they are not there whole; the log is then as it was.
    pub fn append(&mut self, bodies: Vec<Body>, at: DateTime<Utc>) -> io::Result<u64> {
        self.owe(&bodies);
        let mut lines = Vec::with_capacity(512 * bodies.len());
        for body in bodies {
            let seq = self.tail.end + lines.len() as u64;
            let record = Record {
                v: VERSION,
                id: Uuid::now_v7().to_string(),
                seq,
                at,
                by: self.by,
                body,
            };
            serde_json::to_writer(&mut lines, &record)?;
            lines.push(b'\n');
        }
        self.tail = Tail {
            end: files::append(&self.file, self.tail, &lines)?,
            torn: 0,
        };
        Ok(self.tail.end)
    }

    /// Remembers that these records, which are in the log, must outlive a power cut if one is a final end.
    pub fn owe(&mut self, bodies: &[Body]) {
        self.must_last |= bodies.iter().any(Body::is_final);
    }

    /// Puts a final end on the disk: it outlives a power cut from here on.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn sync(&self) -> io::Result<()> {
        if self.must_last {
            self.file.sync_data()
        } else {
            Ok(())
        }
    }
}

/// The records of a log behind `offset`, for readers: without its lock, so that nobody waits for them. A
/// line that is not whole yet is left out.
///
/// # Errors
/// When the log is there and cannot be read.
pub fn behind(data: &DataDir, id: &SessionId, offset: u64) -> io::Result<Vec<Record>> {
    let Some(dir) = data.session(id)? else {
        return Ok(Vec::new());
    };
    let Some((file, len)) = dir.open_read(FILE)? else {
        return Ok(Vec::new());
    };
    // A log that is shorter than that was begun anew: all of it.
    let from = if offset > len { 0 } else { offset };
    let mut bytes = vec![0; usize::try_from(len - from).unwrap_or(0)];
    file.read_exact_at(&mut bytes, from)?;
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    Ok(bytes
        .get(..whole)
        .unwrap_or_default()
        .split(|b| *b == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}
