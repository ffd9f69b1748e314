//! When each event of a host last fired: as the live state of every hook root counts them, and behind it, where
//! the live state was pruned, when the host's newest log was last written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{DateTime, Utc};

use crate::config::Config;
use crate::host::Host;
use crate::live::journal;
use crate::live::key::SessionKey;
use crate::live::names::JOURNAL;
use crate::live::root::HookRoot;
use crate::live::state::EventCount;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::view::SessionView;

use super::super::NEWEST;

/// What is known of one host's events.
#[derive(Debug, Clone, Default)]
pub(super) struct Fired {
    /// By the host's name of the event.
    pub events: BTreeMap<String, EventCount>,
    /// When the newest log of a session of this host was last written, and how many turns it has.
    pub logged: Option<DateTime<Utc>>,
}

impl Fired {
    /// When anything of this host last fired.
    pub(super) fn last(&self) -> Option<DateTime<Utc>> {
        let live = self.events.values().filter_map(|event| event.last_at);
        live.chain(self.logged).max()
    }

    fn take(&mut self, name: &str, count: &EventCount) {
        let known = self.events.entry(name.to_owned()).or_default();
        known.count += count.count;
        if count.last_at > known.last_at {
            known.last_at = count.last_at;
            known.last_micros = count.last_micros;
        }
    }
}

/// Reads the newest sessions of every hook root in use.
pub(super) fn read(config: &Config) -> BTreeMap<Host, Fired> {
    let data = DataDir::existing(&config.data_dir).ok().flatten();
    let mut all: BTreeMap<Host, Fired> = BTreeMap::new();
    for root in roots(config, data.as_ref()) {
        for key in newest(&root) {
            let dir = root.dir().sub(key.as_str()).ok().flatten();
            let Some(state) = dir
                .and_then(|dir| journal::fold(&dir).ok())
                .map(|loaded| loaded.state)
            else {
                continue;
            };
            let Some(host) = state.host else { continue };
            let fired = all.entry(host).or_default();
            for (name, count) in &state.events {
                fired.take(name, count);
            }
        }
    }
    if let Some(data) = &data {
        logged(data, &mut all);
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

/// Ids begin with the agent and the time, so the newest session of a host is the last of its ids.
fn logged(data: &DataDir, all: &mut BTreeMap<Host, Fired>) {
    let ids: Vec<SessionId> = data.sessions().unwrap_or_default();
    for host in Host::ALL {
        let newest = ids.iter().filter(|id| id.agent() == host.agent()).max();
        let view = newest.and_then(|id| SessionView::read(data, id).ok().flatten());
        if let Some(at) = view.and_then(|view| view.last_updated) {
            all.entry(host).or_default().logged = Some(at);
        }
    }
}
