//! Ends that nobody reports. `open/` says which sessions are not ended; those whose host is gone get the
//! presumed end of their turn, so that nobody finds a turn that stays in progress for ever.

use std::io;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::live::journal;
use crate::live::key::SessionKey;
use crate::live::root::HookRoot;
use crate::live::state::State;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::ledger::{FILE, Ledger, NoLedger};
use crate::log::open::OpenEntry;
use crate::log::record::{Body, By};
use crate::log::view::SessionView;
use crate::process;
use crate::redact::Redacted;
use crate::task::Todos;

/// Entries looked at in one run of a hook.
pub const MAX_ENTRIES: usize = 64;

/// Days for which a settled entry is kept at least, whatever `BOOKEND_RESUME_DAYS` says today.
const KEPT_DAYS: u32 = 30;

/// What is known of an unfinished session besides its entry.
#[derive(Debug)]
pub struct Seen {
    /// Its entry.
    pub entry: OpenEntry,
    /// Its live state, if it is still there.
    pub live: Option<State>,
    /// Its host runs.
    pub alive: bool,
}

/// Looks at an entry: the live state if it is still there, and whether the host is alive. A hook knows its
/// own root only, a command all that are in use.
#[must_use]
pub fn look<'r>(
    data: &DataDir,
    roots: impl IntoIterator<Item = &'r HookRoot>,
    entry: OpenEntry,
    now: DateTime<Utc>,
) -> Seen {
    let live = roots.into_iter().find_map(|root| {
        let key = SessionKey::from_name(&entry.session_key)?;
        let dir = root.dir().sub(key.as_str()).ok().flatten()?;
        let state = journal::fold(&dir).ok()?.state;
        // Another conversation of that name would be another log session.
        state
            .log
            .as_ref()
            .is_some_and(|l| l.session == entry.session)
            .then_some(state)
    });
    let last = live
        .as_ref()
        .and_then(|s| s.last_event_at)
        .max(log_time(data, &entry.session));
    let process = live
        .as_ref()
        .and_then(|s| s.host_process.as_ref())
        .or(entry.process.as_ref());
    // An event after the end takes it back, and not every event writes the entry anew.
    let ended = live.as_ref().map_or(entry.ended, |s| s.ended.is_some());
    let alive = process::alive(process, ended, last, now);
    Seen { entry, live, alive }
}

fn log_time(data: &DataDir, id: &SessionId) -> Option<DateTime<Utc>> {
    let stat = data.session(id).ok()??.stat(FILE).ok()??;
    DateTime::from_timestamp(stat.st_mtime, 0)
}

/// Settles every entry whose host is gone, at most `limit`; how many turns got their end. An entry that
/// cannot be settled now is left for later.
pub fn settle<'r>(
    data: &DataDir,
    entries: &[OpenEntry],
    roots: impl IntoIterator<Item = &'r HookRoot> + Clone,
    own: Option<&SessionId>,
    limit: usize,
    now: DateTime<Utc>,
) -> usize {
    let mut settled = 0;
    let open = entries.iter().filter(|e| !e.settled && own != Some(&e.session));
    for entry in open.take(limit) {
        let seen = look(data, roots.clone(), entry.clone(), now);
        if !seen.alive {
            let code = presumed_code(&seen.entry);
            settled += usize::from(presume(data, &seen.entry, code, now).unwrap_or(false));
        }
    }
    settled
}

/// Forgets settled entries that are too old to be offered to anybody, `days` being how long they are; a
/// session start reads all of `open/`, so it may not grow for ever. The log keeps what they said.
///
/// # Errors
/// When an entry stays.
pub fn expire(data: &DataDir, entries: &[OpenEntry], days: u32, now: DateTime<Utc>) -> io::Result<usize> {
    let days = TimeDelta::try_days(i64::from(days.max(KEPT_DAYS)));
    let Some(oldest) = days.and_then(|days| now.checked_sub_signed(days)) else {
        return Ok(0);
    };
    let mut expired = 0;
    for entry in entries {
        if entry.settled && entry.since < oldest {
            expired += usize::from(data.remove_open(&entry.session)?);
        }
    }
    Ok(expired)
}

/// Why the open turn of a session whose host is gone is presumed to have ended.
#[must_use]
pub fn presumed_code(entry: &OpenEntry) -> &'static str {
    if entry.ended { "session_ended" } else { "host_gone" }
}

/// Writes the presumed end of a session's open turn and brings its entry up to date; whether there was one.
///
/// # Errors
/// When the log is held by somebody or cannot be written.
pub fn presume(data: &DataDir, entry: &OpenEntry, code: &str, now: DateTime<Utc>) -> Result<bool, NoLedger> {
    let Some(mut ledger) = Ledger::open(data, &entry.session, By::Hook, false, Duration::from_millis(20))?
    else {
        data.remove_open(&entry.session)?;
        return Ok(false);
    };
    // Somebody settled it, or took it over, between the look and the lock: then it stays as it is.
    let Some(entry) = data.get_open(&entry.session)?.filter(|e| !e.settled) else {
        return Ok(false);
    };
    let Some(view) = SessionView::read(data, &entry.session)? else {
        return Ok(false);
    };
    let open = view.machine.open().map(|t| t.id.clone());
    if let Some(turn) = &open {
        let body = Body::TurnPresumed {
            turn: turn.clone(),
            code: Redacted::new(code),
        };
        ledger.append(vec![body], now)?;
    }
    let task = view.to_be_resumed().cloned();
    let todos = view.todos.filter(Todos::any_open);
    if task.is_none() && todos.is_none() {
        data.remove_open(&entry.session)?;
    } else {
        data.set_open(&OpenEntry {
            settled: true,
            turn: None,
            task,
            todos,
            ..entry.clone()
        })?;
    }
    Ok(open.is_some())
}
