//! Which logs are to be read, and the reading: in batches, each of them a transaction, so that an interruption
//! loses one at most.
//!
//! A log is read when a writer has marked it as grown; when it is new, which the time of `log/` says; and when every
//! log is looked at (the first time, on request, once a day) and its file is not what was read. The mark goes only
//! under the log's lock, if the log is as long as what was read.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use chrono::DateTime;
use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::rows::{Logged, Stamp, read};
use super::{Error, Index, Tell, write};
use crate::clock;
use crate::files::{self, Dir};
use crate::log::grown;
use crate::log::id::SessionId;
use crate::log::ledger::FILE;

/// Most logs in a transaction, and most bytes of them.
const BATCH: (usize, i64) = (1_000, 16 * 1024 * 1024);
/// How long a log's lock is waited for.
const WAIT: Duration = Duration::from_millis(20);
/// Every log is looked at when that is longer ago.
const CHECKED: Duration = Duration::from_secs(24 * 60 * 60);
/// A directory that changed within this time may change again without another time, in nanoseconds.
const SETTLED: i64 = 2_000_000_000;

/// What is to be done.
#[derive(Debug, Default)]
struct Due {
    read: BTreeSet<SessionId>,
    gone: BTreeSet<SessionId>,
    /// The time of `log/`, if its names were read.
    listed: Option<i64>,
}

impl Index<'_> {
    /// Reads what the logs grew by. `locked`: no mark was left yet by who writes at this moment.
    pub(super) fn refresh(
        &mut self,
        grown: Option<&Dir>,
        all: bool,
        locked: bool,
        tell: Tell<'_>,
    ) -> Result<(), Error> {
        let failed = Error::io("read the session logs");
        let now = clock::now();
        let log = self.data.dir().sub("log").map_err(&failed)?;
        let marked = marks(grown).map_err(&failed)?;
        let checked = self.meta("checked")?.and_then(DateTime::from_timestamp_micros);
        // A clock that went back is no reason to wait.
        let recent = checked.is_some_and(|at| at <= now && clock::age(at, now) < CHECKED);
        let all = all || self.meta("complete")?.is_none() || !recent;
        let mut due = Due::default();
        if let Some(log) = &log {
            if all {
                due = self
                    .changed(log, grown.filter(|_| locked))
                    .map_err(into(&failed))?;
            } else if Some(modified(log).map_err(&failed)?) != self.meta("listed")? {
                due = self.listed(log)?;
            }
        } else {
            due.gone = self.known()?.into_keys().collect();
        }
        due.read.extend(marked.iter().cloned());
        self.take(&due, log.as_ref(), grown, &marked, tell)?;
        self.set_meta("complete", 1)?;
        if all {
            self.set_meta("checked", now.timestamp_micros())?;
        }
        let listed = due
            .listed
            .filter(|at| at + SETTLED < now.timestamp_nanos_opt().unwrap_or(0));
        if let Some(at) = listed {
            self.set_meta("listed", at)?;
        }
        Ok(())
    }

    /// Reads, writes, unmarks, batch by batch; the oldest first, as the full text likes it best.
    fn take(
        &mut self,
        due: &Due,
        log: Option<&Dir>,
        grown: Option<&Dir>,
        marked: &BTreeSet<SessionId>,
        tell: Tell<'_>,
    ) -> Result<(), Error> {
        let mut gone: Vec<SessionId> = due.gone.iter().cloned().collect();
        let mut ids: Vec<&SessionId> = due.read.iter().collect();
        ids.sort_by_key(|id| began(id));
        self.read.of = ids.len();
        let (mut batch, mut bytes): (Vec<Logged>, i64) = (Vec::new(), 0);
        for id in ids {
            match log.map_or(Ok(None), |log| read(log, id)) {
                Ok(Some(logged)) => {
                    bytes += logged.stamp.length;
                    batch.push(logged);
                }
                Ok(None) => gone.push(id.clone()),
                Err(e) => {
                    let what = format!("failed to read the log of {id}: {e}; it is left out");
                    self.warnings.push(what);
                }
            }
            self.read.done += 1;
            if batch.len() >= BATCH.0 || bytes >= BATCH.1 {
                self.put(&batch, &gone, log, grown, marked)?;
                self.read.bytes += bytes.cast_unsigned();
                (batch, bytes) = (Vec::new(), 0);
                gone.clear();
                tell(self.read);
            }
        }
        self.read.bytes += bytes.cast_unsigned();
        if batch.is_empty() && gone.is_empty() {
            return Ok(());
        }
        self.put(&batch, &gone, log, grown, marked)
    }

    fn put(
        &mut self,
        batch: &[Logged],
        gone: &[SessionId],
        log: Option<&Dir>,
        grown: Option<&Dir>,
        marked: &BTreeSet<SessionId>,
    ) -> Result<(), Error> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        write::put(&tx, batch, gone)?;
        tx.commit()?;
        let Some(grown) = grown else { return Ok(()) };
        // A mark that stays is no harm: its log is read again.
        for logged in batch.iter().filter(|l| marked.contains(&l.view.session_id)) {
            drop(unmark(grown, log, &logged.view.session_id, Some(logged.stamp)));
        }
        for id in gone.iter().filter(|id| marked.contains(*id)) {
            drop(unmark(grown, log, id, None));
        }
        Ok(())
    }

    /// The logs that are not what was read, and those that are no more. With `mark` each is looked at under its
    /// lock, and one whose lock is held is marked.
    fn changed(&self, log: &Dir, mark: Option<&Dir>) -> Result<Due, Failure> {
        let mut known = self.known()?;
        let mut due = Due {
            listed: Some(modified(log)?),
            ..Due::default()
        };
        for id in names(log)? {
            let before = known.remove(&id);
            let now = match mark {
                Some(mark) => locked(log, &id, mark)?,
                None => stamp(log, &id)?,
            };
            match (before, now) {
                (before, Some(now)) if before != Some(now) => drop(due.read.insert(id)),
                (Some(_), None) => drop(due.gone.insert(id)),
                _ => {}
            }
        }
        due.gone.extend(known.into_keys());
        Ok(due)
    }

    /// The logs that are new by their name, and those that are no more.
    fn listed(&self, log: &Dir) -> Result<Due, Error> {
        let failed = Error::io("read the session logs");
        let listed = modified(log).map_err(&failed)?;
        let mut due = Due {
            listed: Some(listed),
            ..Due::default()
        };
        // Of a long history almost every name is known: only the others are looked at closely.
        let mut select = self.conn.prepare("SELECT session FROM sessions")?;
        let known = select.query_map([], |row| row.get(0))?;
        let mut known: HashSet<String> = known.collect::<Result<_, _>>()?;
        for entry in log.entries().map_err(&failed)? {
            if entry.is_dir && !known.remove(&entry.name) {
                due.read.extend(SessionId::try_from(entry.name).ok());
            }
        }
        due.gone = known
            .into_iter()
            .filter_map(|id| SessionId::try_from(id).ok())
            .collect();
        Ok(due)
    }

    fn known(&self) -> Result<HashMap<SessionId, Stamp>, Error> {
        let mut select = self
            .conn
            .prepare("SELECT session, length, inode, modified FROM sessions")?;
        let mut rows = select.query([])?;
        let mut known = HashMap::new();
        while let Some(row) = rows.next()? {
            let stamp = Stamp {
                length: row.get(1)?,
                inode: row.get(2)?,
                modified: row.get(3)?,
            };
            if let Ok(id) = SessionId::try_from(row.get::<_, String>(0)?) {
                known.insert(id, stamp);
            }
        }
        Ok(known)
    }

    fn meta(&self, name: &str) -> Result<Option<i64>, Error> {
        let mut select = self
            .conn
            .prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
        Ok(select.query_row([name], |row| row.get(0)).optional()?)
    }

    /// Writes only what changes: a question that reads nothing new writes nothing.
    fn set_meta(&self, name: &str, value: i64) -> Result<(), Error> {
        if self.meta(name)? != Some(value) {
            self.conn.execute(
                "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)",
                params![name, value],
            )?;
        }
        Ok(())
    }
}

/// What went wrong while all logs were looked at.
enum Failure {
    Index(Error),
    Io(io::Error),
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Self::Index(e)
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

fn into(failed: &impl Fn(io::Error) -> Error) -> impl Fn(Failure) -> Error {
    move |failure| match failure {
        Failure::Index(e) => e,
        Failure::Io(e) => failed(e),
    }
}

fn marks(grown: Option<&Dir>) -> io::Result<BTreeSet<SessionId>> {
    let entries = grown.map_or_else(|| Ok(Vec::new()), Dir::entries)?;
    let ids = entries
        .into_iter()
        .filter_map(|e| SessionId::try_from(e.name).ok());
    Ok(ids.collect())
}

fn names(log: &Dir) -> io::Result<impl Iterator<Item = SessionId>> {
    let entries = log.entries()?.into_iter().filter(|e| e.is_dir);
    Ok(entries.filter_map(|e| SessionId::try_from(e.name).ok()))
}

fn modified(dir: &Dir) -> io::Result<i64> {
    Ok(Stamp::of(&dir.file().metadata()?).modified)
}

/// When a session began, as its id says.
fn began(id: &SessionId) -> &str {
    id.as_str().split('-').nth(1).unwrap_or_default()
}

/// What the file of a log is now; `None` when there is none.
pub(super) fn stamp(log: &Dir, id: &SessionId) -> io::Result<Option<Stamp>> {
    let stat = log.stat(&format!("{id}/{FILE}"))?;
    Ok(stat.as_ref().map(Stamp::of_stat))
}

/// The same, after who writes at this moment has written.
fn locked(log: &Dir, id: &SessionId, mark: &Dir) -> io::Result<Option<Stamp>> {
    let Some(dir) = log.sub(id.as_str())? else {
        return Ok(None);
    };
    let Some((file, _)) = dir.open_read(FILE)? else {
        return Ok(None);
    };
    if files::acquire(&file, WAIT).is_err() {
        grown::mark(mark, id)?;
    }
    Ok(Some(Stamp::of(&file.metadata()?)))
}

/// Takes the mark away, unless the log is another one than was read.
fn unmark(grown: &Dir, log: Option<&Dir>, id: &SessionId, was: Option<Stamp>) -> io::Result<()> {
    let file = || -> io::Result<_> {
        let dir = log.map(|log| log.sub(id.as_str())).transpose()?.flatten();
        Ok(dir.map(|dir| dir.open_read(FILE)).transpose()?.flatten())
    };
    match (file()?, was) {
        (Some((file, _)), Some(was)) if files::acquire(&file, WAIT).is_ok() => {
            let meta = file.metadata()?;
            if meta.nlink() > 0 && Stamp::of(&meta) == was {
                grown.remove(id.as_str())?;
            }
            Ok(())
        }
        (None, None) => {
            grown.remove(id.as_str())?;
            // Whoever began it again meanwhile may have found the mark that is gone now.
            match file()? {
                Some(_) => grown::mark(grown, id),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}
