//! The sessions of the log, newest first, at a cost that stays usable at ten thousand of them: a log's last
//! line says when it was updated, its first one which project it is of, its last turn how it stands. Only
//! what is shown is read whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::data_dir::DataDir;
use super::id::SessionId;
use super::ledger::FILE;
use super::record::{Body, Record};
use super::view::SessionView;

/// How much is read at first from either end.
const BLOCK: u64 = 4 * 1024;
/// A first line longer than this is taken for none of ours.
const MAX_LINE: u64 = 1024 * 1024;

/// One session of the log, by its ends.
#[derive(Debug)]
pub struct Known {
    /// Its id.
    pub id: SessionId,
    /// When its last record was written.
    pub updated: Option<DateTime<Utc>>,
    file: File,
    len: u64,
}

/// All sessions of the log that are `wanted` by their id, newest first, and those that could not be read.
///
/// # Errors
/// When the directory of the logs cannot be read.
pub fn all(data: &DataDir, wanted: impl Fn(&SessionId) -> bool) -> io::Result<(Vec<Known>, Vec<String>)> {
    let (mut known, mut problems) = (Vec::new(), Vec::new());
    for id in data.sessions()?.into_iter().filter(wanted) {
        match Known::of(data, &id) {
            Ok(found) => known.extend(found),
            Err(e) => problems.push(format!("read the log of {id}: {e}")),
        }
    }
    known.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| b.id.cmp(&a.id)));
    Ok((known, problems))
}

impl Known {
    fn of(data: &DataDir, id: &SessionId) -> io::Result<Option<Self>> {
        let Some(dir) = data.session(id)? else {
            return Ok(None);
        };
        let Some((file, len)) = dir.open_read(FILE)? else {
            return Ok(None);
        };
        let mut known = Self {
            id: id.clone(),
            updated: None,
            file,
            len,
        };
        known.updated = known.last_time()?;
        Ok(Some(known))
    }

    /// The time of the last whole line that has one; of the file, if none has.
    fn last_time(&self) -> io::Result<Option<DateTime<Utc>>> {
        #[derive(Deserialize)]
        struct Time {
            at: DateTime<Utc>,
        }
        let found = self.last_that(|line| serde_json::from_slice::<Time>(line).ok().map(|t| t.at))?;
        if found.is_some() {
            return Ok(found);
        }
        Ok(self.file.metadata()?.modified().ok().map(DateTime::from))
    }

    /// The project root, from the first line.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn project(&self) -> io::Result<Option<String>> {
        let mut want = BLOCK;
        loop {
            let bytes = self.read(0, want.min(self.len))?;
            if let Some(end) = bytes.iter().position(|b| *b == b'\n') {
                let line = bytes.get(..end).unwrap_or_default();
                let body = serde_json::from_slice::<Record>(line).map(|r| r.body);
                return Ok(match body {
                    Ok(Body::SessionOpen { project_root, .. }) => project_root.map(|p| p.into_string()),
                    _ => None,
                });
            }
            if want >= self.len.min(MAX_LINE) {
                return Ok(None);
            }
            want *= 4;
        }
    }

    /// Where it stands: what begins with its last turn decides it, and of that only ends.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn status(&self) -> io::Result<&'static str> {
        let mut want = 4 * BLOCK;
        loop {
            let from = self.len.saturating_sub(want);
            let bytes = self.read(from, self.len)?;
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
            if from > 0 {
                lines.drain(..1);
            }
            lines.retain(|line| decides(line));
            let last = lines.iter().rposition(|line| begins(line));
            if last.is_some() || from == 0 {
                let deciding = lines.get(last.unwrap_or(0)..).unwrap_or_default().concat();
                return Ok(SessionView::fold(self.id.clone(), &deciding).status);
            }
            want *= 4;
        }
    }

    /// The whole of it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn view(&self) -> io::Result<SessionView> {
        Ok(SessionView::fold(self.id.clone(), &self.read(0, self.len)?))
    }

    /// What `pick` makes of the last whole line of which it makes anything.
    fn last_that<T>(&self, pick: impl Fn(&[u8]) -> Option<T>) -> io::Result<Option<T>> {
        let mut want = BLOCK;
        loop {
            let from = self.len.saturating_sub(want);
            let bytes = self.read(from, self.len)?;
            let mut lines = bytes.split(|b| *b == b'\n').rev();
            // Behind the last newline stands nothing, or a torn line.
            lines.next();
            let mut lines: Vec<&[u8]> = lines.collect();
            if from > 0 {
                lines.pop();
            }
            if let Some(found) = lines.into_iter().find_map(&pick) {
                return Ok(Some(found));
            }
            if from == 0 {
                return Ok(None);
            }
            want *= 4;
        }
    }

    fn read(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(0)];
        self.file.read_exact_at(&mut bytes, from)?;
        Ok(bytes)
    }
}

const BEGIN: &[u8] = b"turn.begin";
/// The kind of a record stands behind its numbers and times, in this many bytes.
const HEAD: usize = 256;

/// The kind of a record, as our writers spell it.
fn kind_of(line: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"\"kind\":\"";
    let head = line.get(..HEAD.min(line.len()))?;
    let at = head.windows(KEY.len()).position(|w| w == KEY)? + KEY.len();
    head.get(at..)?.split(|b| *b == b'"').next()
}

/// Whether a line begins a turn of the root; a subagent's own decides nothing.
fn begins(line: &[u8]) -> bool {
    let own = |line| {
        matches!(
            serde_json::from_slice(line),
            Ok(Record {
                body: Body::TurnBegin { agent: None, .. },
                ..
            })
        )
    };
    kind_of(line) == Some(BEGIN) && own(line)
}

/// Whether a line can change where its session stands; one that we cannot tell can.
fn decides(line: &[u8]) -> bool {
    !matches!(
        kind_of(line),
        Some(
            b"session.title"
                | b"turn.action"
                | b"turn.update"
                | b"turn.dialog"
                | b"task"
                | b"todos"
                | b"limit"
                | b"late"
                | b"note"
        )
    )
}
