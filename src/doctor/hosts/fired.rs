//! When each event of a host last fired: as the live state of every hook root counts them, and behind it, where
//! the live state was pruned, as the log shows it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{DateTime, Utc};

use super::super::NEWEST;
use super::logged;
use crate::config::Config;
use crate::host::Host;
use crate::live::journal;
use crate::live::key::SessionKey;
use crate::live::names::JOURNAL;
use crate::live::root::HookRoot;
use crate::live::state::{EventCount, State};
use crate::log::data_dir::DataDir;

/// What is known of one host's events.
#[derive(Debug, Clone, Default)]
pub(super) struct Fired {
    /// By the host's name of the event.
    pub events: BTreeMap<String, Event>,
    /// The sessions that are over, as far as the live state goes back.
    pub finished: Vec<Finished>,
}

/// What is known of one event.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Event {
    /// How often it fired, as far as the live state goes back.
    pub count: u64,
    /// When last, in the live state or the log.
    pub last_at: Option<DateTime<Utc>>,
    /// What its hook took then, in microseconds, if the live state knows.
    pub last_micros: Option<u32>,
}

/// A session that is over.
#[derive(Debug, Clone)]
pub(super) struct Finished {
    /// When its first event came.
    pub started_at: DateTime<Utc>,
    /// The events that fired in it.
    pub events: Vec<String>,
}

impl Fired {
    /// When anything of this host last fired.
    pub(super) fn last(&self) -> Option<DateTime<Utc>> {
        self.events.values().filter_map(|event| event.last_at).max()
    }

    fn take(&mut self, state: &State, now: DateTime<Utc>) {
        for (name, count) in &state.events {
            self.count(name, count);
        }
        if let Some(started_at) = state.started_at.filter(|_| !state.alive(now)) {
            self.finished.push(Finished {
                started_at,
                events: state.events.keys().cloned().collect(),
            });
        }
    }

    fn count(&mut self, name: &str, count: &EventCount) {
        let known = self.events.entry(name.to_owned()).or_default();
        known.count += count.count;
        if count.last_at > known.last_at {
            known.last_at = count.last_at;
            known.last_micros = Some(count.last_micros);
        }
    }
}

/// Reads the newest sessions of every hook root in use, and the newest logs.
pub(super) fn read(config: &Config, now: DateTime<Utc>) -> BTreeMap<Host, Fired> {
    let data = DataDir::existing(&config.data_dir).ok().flatten();
    let mut all: BTreeMap<Host, Fired> = BTreeMap::new();
    for root in roots(config, data.as_ref()) {
        for key in newest(&root) {
            let dir = root.dir().sub(key.as_str()).ok().flatten();
            let state = dir.and_then(|dir| journal::fold(&dir).ok());
            let state = state.map(|loaded| loaded.state);
            if let Some((host, state)) = state.and_then(|state| Some((state.host?, state))) {
                all.entry(host).or_default().take(&state, now);
            }
        }
    }
    for (host, events) in data.as_ref().map(logged::read).unwrap_or_default() {
        let fired = all.entry(host).or_default();
        for (name, at) in events {
            let known = fired.events.entry(name.to_owned()).or_default();
            // The live state says more of an event that both know; the log is written a little later.
            known.last_at = known.last_at.or(Some(at));
        }
    }
    all
}

fn roots(config: &Config, data: Option<&DataDir>) -> Vec<HookRoot> {
    let recorded = data.map(|data| {
        let fallback = data.path().join("hooks");
        data.roots().into_iter().chain([fallback])
    });
    let mut paths: Vec<PathBuf> = config.hook_root.iter().cloned().collect();
    for path in recorded.into_iter().flatten() {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
        .iter()
        .filter_map(|path| HookRoot::existing(path).ok().flatten())
        .collect()
}

fn newest(root: &HookRoot) -> Vec<SessionKey> {
    let entries = root.dir().entries().unwrap_or_default();
    let keys = entries
        .into_iter()
        .filter(|e| e.is_dir)
        .filter_map(|e| SessionKey::from_name(&e.name));
    let mut keys: Vec<(i64, SessionKey)> = keys
        .map(|key| {
            let stat = root.dir().stat(&format!("{key}/{JOURNAL}")).ok().flatten();
            (stat.map_or(0, |s| s.st_mtime), key)
        })
        .collect();
    keys.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
    keys.into_iter().take(NEWEST).map(|(_, key)| key).collect()
}
