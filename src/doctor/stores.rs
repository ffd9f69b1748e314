//! Every store that a hook or command here uses: the data directory, and all hook roots.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use super::faults::Faults;
use super::finding::Finding;
use super::place::{self, Place};
use super::report::{History, Kind, StoreReport};
use super::{Counted, live, logs, settings};
use crate::config::Config;
use crate::live::root::HookRoot;
use crate::log::data_dir::DataDir;
use crate::log::index;

/// Looks at all of them, the hook roots first.
pub(super) fn examine(config: &Config, now: DateTime<Utc>, findings: &mut Vec<Finding>) -> Vec<StoreReport> {
    settings::examine(config, findings);
    let mut faults = Faults::new(now);
    let data = DataDir::existing(&config.data_dir).ok().flatten();
    let mut stores = roots(config, data.as_ref(), now, &mut faults, findings);
    if let Ok(path) = &config.data_dir {
        let mut report = store(path, Kind::DataDir, findings);
        if let Some(data) = &data {
            let counted = logs::examine(data, now, &mut faults, findings);
            (report.sessions, report.looked_at) = (counted.sessions, counted.looked_at);
            report.history = Some(History {
                log_bytes: counted.bytes,
                index_bytes: index::size(data),
                retention_days: config.log_days,
            });
        }
        report.in_use = report.safe;
        stores.push(report);
    }
    faults.tell(findings);
    stores
}

/// A store as its directory shows it.
fn store(path: &Path, kind: Kind, findings: &mut Vec<Finding>) -> StoreReport {
    let place = place::examine(path, kind, findings);
    let safe = !matches!(place, Place::Refused);
    StoreReport {
        path: path.to_owned(),
        kind,
        exists: !matches!(place, Place::Missing),
        safe,
        free_bytes: if safe { place::room(path, findings) } else { None },
        sessions: 0,
        looked_at: 0,
        in_use: false,
        history: None,
    }
}

/// The hook roots: the wanted one, the fallback, those that were ever in use; the latter two only if they
/// are there, or the fallback is needed.
fn roots(
    config: &Config,
    data: Option<&DataDir>,
    now: DateTime<Utc>,
    faults: &mut Faults,
    findings: &mut Vec<Finding>,
) -> Vec<StoreReport> {
    let wanted = config.hook_root.as_ref().ok();
    // Of a data directory that hooks do not use, it is none.
    let usable = DataDir::existing(&config.data_dir).is_ok();
    let fallback = config
        .data_dir
        .as_ref()
        .ok()
        .filter(|_| usable)
        .map(|d| d.join("hooks"));
    let recorded = data.map(DataDir::roots).unwrap_or_default();
    let mut paths: Vec<&PathBuf> = Vec::new();
    for path in wanted.into_iter().chain(&fallback).chain(&recorded) {
        // One root by two names is one root.
        let same = |other: &&PathBuf| *other == path || (is_there(path) && identity(other) == identity(path));
        let needed = Some(path) == wanted
            || is_there(path)
            || (Some(path) == fallback.as_ref() && !stores_hold(wanted));
        if needed && !paths.iter().any(same) {
            paths.push(path);
        }
    }
    let mut stores: Vec<StoreReport> = Vec::new();
    for path in paths {
        let mut report = store(path, Kind::HookRoot, findings);
        if let Some(root) = HookRoot::existing(path).ok().flatten() {
            let Counted {
                sessions, looked_at, ..
            } = live::examine(&root, now, faults, findings);
            (report.sessions, report.looked_at) = (sessions, looked_at);
        }
        let first = Some(path) == wanted || Some(path) == fallback.as_ref();
        report.in_use = first && report.safe && stores.iter().all(|s| !s.in_use);
        stores.push(report);
    }
    stores
}

/// Whether the wanted root can be used.
fn stores_hold(wanted: Option<&PathBuf>) -> bool {
    wanted.is_some_and(|path| HookRoot::existing(path).is_ok())
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().ok().map(|m| (m.dev(), m.ino()))
}
