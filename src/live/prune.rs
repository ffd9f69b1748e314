//! Removing what is stale: a session's directory of which no known file changed for more than two hours.
//!
//! [`stale`] is the pure rule, [`run`] applies it. A run of a hook looks at all of a root of at most 64
//! entries, at 16 of a larger one, from where the last one stopped (`.prune`); the command looks at all. Before a directory goes, its log is settled:
//! a turn still open gets the presumed end `session_abandoned`, so a prune never loses a turn. Only known
//! names are unlinked, then the directory itself: unknown files and foreign directories are left and told.

use std::io;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rustix::fs::Stat;

use super::key::SessionKey;
use super::names::{is_known, is_pending};
use super::root::HookRoot;
use super::session::Session;
use crate::clock::Stopwatch;
use crate::files::{Dir, Entry};

/// After this long without a change a session's directory is stale; exactly this long is kept.
pub const STALE: Duration = Duration::from_secs(2 * 60 * 60);
/// Entries that a hook's run looks at.
pub const ENTRIES_PER_RUN: usize = 64;
/// Of a root that is larger than that, this many at once: each look is a walk to a file that nothing has
/// touched for long, and a hook is to cost the same in any root (measured: 64 cost as much as the hook).
const ENTRIES_OF_A_LARGE_ROOT: usize = 16;
const CURSOR: &str = ".prune";
const DEAD: &str = ".dead-";

/// What a run found.
#[derive(Debug, Default)]
pub struct Report {
    /// Directories that were removed, or would be.
    pub removed: Vec<String>,
    /// Directories that are stale and stay, with why.
    pub left: Vec<(String, String)>,
    /// Names in the root that are none of ours.
    pub foreign: Vec<String>,
    /// Turns that got a presumed end.
    pub settled: usize,
}

/// How a run is made.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The caller's own session: never removed.
    pub own: Option<&'a SessionKey>,
    /// Entries looked at; `None`: all.
    pub limit: Option<usize>,
    /// After this long no further directory is removed: a turn's presumed end waits for the disk. The next run
    /// goes on with them.
    pub budget: Option<Duration>,
    /// How old is stale.
    pub older_than: Duration,
    /// Only say what would be removed.
    pub dry_run: bool,
    /// Now.
    pub now: DateTime<Utc>,
}

/// Whether a directory whose newest known file changed at `newest` is stale. A time in the future counts
/// as now; exactly the limit is kept; a directory with no known file is none of ours.
#[must_use]
pub fn stale(newest: Option<DateTime<Utc>>, now: DateTime<Utc>, older_than: Duration) -> bool {
    newest.is_some_and(|at| crate::clock::age(at, now) > older_than)
}

/// Brings what a stale session still holds into its log, before the state that knows of it goes; whether a
/// turn got its presumed end. An error keeps the directory.
pub type Settle<'a> = &'a mut dyn FnMut(&mut Session) -> Result<bool, String>;

/// Prunes a root.
///
/// # Errors
/// When the root cannot be read; a directory that cannot be removed is in the report.
pub fn run(root: &HookRoot, options: Options<'_>, settle: Settle<'_>) -> io::Result<Report> {
    let mut report = Report::default();
    let watch = Stopwatch::start();
    let (from, entries) = match options.limit {
        None => (0, root.dir().entries()?),
        Some(limit) => next_entries(root.dir(), limit)?,
    };
    for entry in entries {
        // (What cannot be removed must not hold up the rest: without a success the run goes on.)
        if options.budget.is_some_and(|budget| watch.elapsed() > budget) && !report.removed.is_empty() {
            mark(root.dir(), from)?;
            break;
        }
        if let Some(name) = entry
            .name
            .strip_prefix(DEAD)
            .filter(|_| entry.is_dir && !options.dry_run)
        {
            remove_dead(root, &entry.name, name, &mut report);
        } else if !entry.name.starts_with('.') {
            consider(root, &entry, options, settle, &mut report);
        }
    }
    Ok(report)
}

/// Where the next run begins.
fn mark(dir: &Dir, at: i64) -> io::Result<()> {
    dir.scribble(CURSOR, format!("{at:<20}").as_bytes())
}

/// The next entries behind the mark of the last run, and that mark. A root that is smaller than that is looked at
/// whole.
fn next_entries(dir: &Dir, limit: usize) -> io::Result<(i64, Vec<Entry>)> {
    let text = dir.read(CURSOR, 64).ok().flatten();
    let from = text
        .and_then(|m| String::from_utf8_lossy(&m).trim().parse::<i64>().ok())
        .unwrap_or(0);
    let large = limit.min(ENTRIES_OF_A_LARGE_ROOT);
    let wanted = if from > 0 { large } else { limit };
    let mut entries = dir.entries_from(from, wanted)?;
    let whole = entries.len() < wanted;
    if !whole {
        entries.truncate(large);
    }
    if whole && from > 0 {
        // The end of the directory: go on at its beginning.
        entries.extend(dir.entries_from(0, large - entries.len())?);
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries.dedup_by(|a, b| a.name == b.name);
    }
    let next = if whole {
        0
    } else {
        entries.last().map_or(0, |e| e.next)
    };
    if next != from {
        mark(dir, next)?;
    }
    Ok((from, entries))
}

fn consider(root: &HookRoot, entry: &Entry, options: Options<'_>, settle: Settle<'_>, report: &mut Report) {
    let name = &entry.name;
    if !entry.is_dir {
        report.foreign.push(name.clone());
        return;
    }
    let Some(key) = SessionKey::from_name(name) else {
        report.foreign.push(name.clone());
        return;
    };
    if options.own == Some(&key) {
        return;
    }
    // One look at the journal is enough for every session that lives.
    let journal = root.dir().stat(&format!("{name}/events.jsonl")).ok().flatten();
    let journal = journal.and_then(|s| changed(&s));
    if journal.is_some() && !stale(journal, options.now, options.older_than) {
        return;
    }
    let Ok(Some(dir)) = root.dir().sub(name) else {
        return;
    };
    match contents(&dir) {
        Contents::Foreign => report.foreign.push(name.clone()),
        Contents::Ours { newest, unknown } if stale(newest, options.now, options.older_than) => match unknown
        {
            Some(file) => report
                .left
                .push((name.clone(), format!("it holds {file}, which is none of ours"))),
            None if options.dry_run => report.removed.push(name.clone()),
            None => remove(root, &key, options, settle, report),
        },
        Contents::Ours { .. } => {}
    }
}

/// When a file changed, to the nanosecond: a second cut off would make it stale before its time.
fn changed(stat: &Stat) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(stat.st_mtime, u32::try_from(stat.st_mtime_nsec).unwrap_or(0))
}

enum Contents {
    /// No file of ours.
    Foreign,
    /// Files of ours; the newest change among them, and a name that is not ours if there is one.
    Ours {
        newest: Option<DateTime<Utc>>,
        unknown: Option<String>,
    },
}

fn contents(dir: &Dir) -> Contents {
    let (mut newest, mut unknown, mut ours) = (None, None, false);
    for entry in dir.entries().unwrap_or_default() {
        if is_known(&entry.name) && !entry.is_dir {
            ours = true;
            let stat = dir.stat(&entry.name).ok().flatten();
            newest = newest.max(stat.and_then(|s| changed(&s)));
        } else {
            unknown = Some(entry.name);
        }
    }
    if ours {
        Contents::Ours { newest, unknown }
    } else {
        Contents::Foreign
    }
}

fn remove(root: &HookRoot, key: &SessionKey, options: Options<'_>, settle: Settle<'_>, report: &mut Report) {
    let name = key.as_str();
    let mut session = match Session::try_lock(root, key) {
        Ok(Some(session)) => session,
        Ok(None) => return,
        Err(e) => return report.left.push((name.to_owned(), e.to_string())),
    };
    // A late event may have come between the look and the lock.
    if !matches!(contents(session.dir()), Contents::Ours { newest, unknown: None } if stale(newest, options.now, options.older_than))
    {
        return;
    }
    match settle(&mut session) {
        Ok(settled) => report.settled += usize::from(settled),
        Err(why) => return report.left.push((name.to_owned(), why)),
    }
    let dead = format!("{DEAD}{name}");
    match root.dir().rename(name, &dead) {
        Ok(()) => remove_dead(root, &dead, name, report),
        Err(e) => report.left.push((name.to_owned(), e.to_string())),
    }
}

/// Unlinks the known names of a directory that was renamed away, then the directory.
fn remove_dead(root: &HookRoot, dead: &str, name: &str, report: &mut Report) {
    let mut removed = Ok(());
    for _ in 0..4 {
        removed = empty(root, dead, name);
        // A hook that had opened it before the rename was just writing.
        if !matches!(&removed, Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty) {
            break;
        }
    }
    match removed {
        Ok(()) => report.removed.push(name.to_owned()),
        Err(e) => report.left.push((name.to_owned(), format!("{e}"))),
    }
}

/// An event that a hook left there after the last look waits on, in the session's new directory.
fn empty(root: &HookRoot, dead: &str, name: &str) -> io::Result<()> {
    let Some(dir) = root.dir().sub(dead)? else {
        return Ok(());
    };
    for entry in dir.entries()? {
        if is_pending(&entry.name) {
            dir.move_to(&root.dir().sub_or_make(name)?, &entry.name)?;
        } else if is_known(&entry.name) {
            dir.remove(&entry.name)?;
        }
    }
    root.dir().remove_sub(dead).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_two_hours_is_stale_exactly_two_hours_is_kept_and_the_future_counts_as_now() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let ago = |s: i64| Some(now - chrono::TimeDelta::seconds(s));
        assert!(!stale(ago(7_200), now, STALE));
        assert!(stale(ago(7_201), now, STALE));
        assert!(!stale(ago(-99_999_999), now, STALE));
        assert!(
            !stale(None, now, STALE),
            "a directory without a file of ours is none of ours"
        );
    }
}
