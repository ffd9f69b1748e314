//! When a host's events last fired as the log shows it: what is left of them where the live state was pruned. Only
//! what a hook wrote because an event came counts: an end that was inferred by somebody's look is no event.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::super::{NEWEST, lines};
use crate::event::Origin;
use crate::host::Host;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::record::{ActionStatus, Body, By, Record};

const FILE: &str = "log.jsonl";
/// A larger log is left out.
const MAX: u64 = 16 * 1024 * 1024;
/// So many logs of a host are read, those that were written last.
const LOGS: usize = 5;

/// The last time of each event of which the log keeps something, by host and the host's name of the event.
pub(super) type Logged = BTreeMap<Host, BTreeMap<&'static str, DateTime<Utc>>>;

/// Reads the logs that were written last.
pub(super) fn read(data: &DataDir) -> Logged {
    let mut logged = Logged::new();
    let mut read: BTreeMap<Host, usize> = BTreeMap::new();
    for id in newest(data) {
        let Some(host) = Host::ALL.into_iter().find(|host| host.agent() == id.agent()) else {
            continue;
        };
        if read.get(&host).is_some_and(|logs| *logs >= LOGS) {
            continue;
        }
        let dir = data.session(&id).ok().flatten();
        let Some(bytes) = dir.and_then(|dir| dir.read(FILE, MAX).ok().flatten()) else {
            continue;
        };
        let records = lines::read::<Record>(&bytes).good;
        // A model may write a log of its own, without hooks.
        if !records.iter().any(|record| is_of(host, record)) {
            continue;
        }
        *read.entry(host).or_default() += 1;
        let events = logged.entry(host).or_default();
        for record in records.iter().filter(|record| record.by == By::Hook) {
            if let Some(event) = event(&record.body) {
                let last = events.entry(event).or_insert(record.at);
                *last = record.at.max(*last);
            }
        }
    }
    logged
}

fn newest(data: &DataDir) -> Vec<SessionId> {
    let at = |id: &SessionId| {
        let dir = data.session(id).ok().flatten();
        let stat = dir.and_then(|dir| dir.stat(FILE).ok().flatten());
        stat.map_or((0, 0), |s| (s.st_mtime, s.st_mtime_nsec))
    };
    let ids = data.sessions().unwrap_or_default();
    let mut ids: Vec<_> = ids.into_iter().map(|id| (at(&id), id)).collect();
    ids.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
    ids.into_iter().take(NEWEST).map(|(_, id)| id).collect()
}

fn is_of(wanted: Host, record: &Record) -> bool {
    matches!(&record.body, Body::SessionOpen { host, .. } if *host == Some(wanted))
}

/// The event that leaves such a record behind; the hosts that are installed into name these alike.
fn event(body: &Body) -> Option<&'static str> {
    match body {
        Body::TurnBegin {
            origin: Origin::User, ..
        } => Some("UserPromptSubmit"),
        Body::TurnAction { action, .. } if action.status == ActionStatus::Completed => Some("PostToolUse"),
        Body::TurnComplete { .. } => Some("Stop"),
        Body::TurnFail { .. } => Some("StopFailure"),
        Body::SessionEnd { .. } => Some("SessionEnd"),
        _ => None,
    }
}
