//! Which sessions are too old to be kept: those to which nothing was written for so many days.
//!
//! The command looks for them by itself, once a day. A clock that is wrong once removes nothing: that run happens
//! only when the one before was, by the clock, at least a day and at most the time of retention ago.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::data_dir::DataDir;
use super::id::SessionId;
use super::ledger::FILE;
use crate::clock;

/// When the command last looked, in `<data dir>/retention`; always as many bytes.
const STAMP: &str = "retention";
/// How much of a log's end is read to find its last record.
const TAIL: u64 = 64 * 1024;

/// What the command is to do by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Nothing: it is too early.
    No,
    /// To note that it looked, and no more: nobody knows yet whether the clock can be trusted.
    Note,
    /// To remove what was last written before that.
    Before(DateTime<Utc>),
}

/// What was last written before this is too old; `None`: nothing is.
#[must_use]
pub fn cut(days: u32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let days = TimeDelta::try_days(i64::from(days)).filter(|_| days > 0)?;
    now.checked_sub_signed(days)
}

/// What is to be done now, `last` being when it was last looked.
#[must_use]
pub fn due(last: Option<DateTime<Utc>>, days: u32, now: DateTime<Utc>) -> Run {
    let Some(cut) = cut(days, now) else { return Run::No };
    match last {
        Some(last) if last <= now && now - last < TimeDelta::days(1) => Run::No,
        // The longest that nobody may have looked, and no less than some days.
        Some(last) if last <= now && (last >= cut || now - last < TimeDelta::days(8)) => Run::Before(cut),
        _ => Run::Note,
    }
}

impl DataDir {
    /// When the command last looked for sessions that are too old.
    #[must_use]
    pub fn retained_at(&self) -> Option<DateTime<Utc>> {
        let bytes = self.dir().read(STAMP, 64).ok().flatten()?;
        let text = String::from_utf8(bytes).ok()?;
        DateTime::parse_from_rfc3339(text.trim())
            .ok()
            .map(|at| at.to_utc())
    }

    /// Notes that it looked.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_retained_at(&self, at: DateTime<Utc>) -> io::Result<()> {
        self.dir()
            .scribble(STAMP, format!("{}\n", clock::stamp(at)).as_bytes())
    }

    /// The sessions whose log was last changed before `cut`, oldest first. `named`: only those that began before it
    /// by their name, too: at many sessions that is much faster.
    ///
    /// # Errors
    /// When the logs cannot be listed.
    pub fn unchanged_since(&self, cut: DateTime<Utc>, named: bool) -> io::Result<Vec<SessionId>> {
        let Some(log) = self.dir().sub("log")? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for id in self.sessions()? {
            if named && began(&id).is_none_or(|at| at >= cut) {
                continue;
            }
            let stat = log.stat(&format!("{id}/{FILE}"))?;
            if stat.is_some_and(|s| s.st_mtime < cut.timestamp()) {
                found.push(id);
            }
        }
        found.sort_by_key(began);
        Ok(found)
    }
}

/// When a session began, by its id.
fn began(id: &SessionId) -> Option<DateTime<Utc>> {
    let digits = id.as_str().split('-').nth(1)?;
    let at = NaiveDateTime::parse_from_str(digits, "%Y%m%dT%H%M%SZ").ok()?;
    Some(at.and_utc())
}

/// When the last record of a log was written; of the file, if none of its last records says it.
///
/// # Errors
/// When it cannot be read.
pub fn last_written(file: &File) -> io::Result<Option<DateTime<Utc>>> {
    #[derive(Deserialize)]
    struct Time {
        at: DateTime<Utc>,
    }
    let meta = file.metadata()?;
    let from = meta.len().saturating_sub(TAIL);
    let mut bytes = vec![0; usize::try_from(meta.len() - from).unwrap_or(0)];
    file.read_exact_at(&mut bytes, from)?;
    let mut lines = bytes.split(|b| *b == b'\n').rev();
    let last = lines.find_map(|line| serde_json::from_slice::<Time>(line).ok());
    Ok(match last {
        Some(last) => Some(last.at),
        None => meta.modified().ok().map(DateTime::from),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_due_once_a_day_and_never_by_a_clock_that_jumped() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let ago = |hours: i64| Some(now - TimeDelta::hours(hours));
        let run = Run::Before(now - TimeDelta::days(90));
        for (last, days, expected) in [
            (None, 90, Run::Note),
            (ago(1), 90, Run::No),
            (ago(23), 90, Run::No),
            (ago(24), 90, run),
            (ago(24 * 89), 90, run),
            // Ten years in one day, or a clock that went back.
            (ago(24 * 3_650), 90, Run::Note),
            (ago(-5), 90, Run::Note),
            (ago(24), 0, Run::No),
            (None, 0, Run::No),
            (ago(24 * 7), 1, Run::Before(now - TimeDelta::days(1))),
            (ago(24 * 9), 1, Run::Note),
            (ago(48), u32::MAX, Run::No),
        ] {
            assert_eq!(due(last, days, now), expected, "{last:?} {days}");
        }
    }
}
