//! The small files that point to a log: `open/` and `by-host/`. Do they read, and is the log there?

use std::collections::HashSet;
use std::path::PathBuf;

use chrono::{DateTime, TimeDelta, Utc};

use super::files::Seen;
use super::finding::Finding;
use super::fix::Fix;
use super::lines::some;
use super::logs::not_read;
use crate::host::Host;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::ledger::FILE;
use crate::log::open::OpenEntry;
use crate::log::view::SessionView;

/// Largest entry that is read.
const MAX_ENTRY: u64 = 1024 * 1024;
/// So many entries of `by-host/<host>/` are looked at.
const MOST: usize = 20_000;
/// A session that was begun and never used has such an entry and no log, and may still be gone on with; not
/// after this many days.
const UNUSED_DAYS: i64 = 30;

/// The entries of unfinished sessions. A hook makes the log before the entry, so one without a log has lost
/// it.
pub(super) fn open(data: &DataDir, seen: &mut Seen, findings: &mut Vec<Finding>) {
    let root = data.path().join("open");
    let listed = data.dir().sub("open").and_then(|dir| match dir {
        Some(dir) => dir.entries().map(|entries| Some((dir, entries))),
        None => Ok(None),
    });
    let (dir, entries) = match listed {
        Ok(Some(found)) => found,
        Ok(None) => return,
        Err(e) => return findings.push(not_read("entry-unreadable", &root, &e.to_string())),
    };
    for entry in entries.into_iter().filter(|e| !e.name.ends_with(".new")) {
        let path = root.join(&entry.name);
        let Ok(id) = SessionId::try_from(entry.name) else {
            seen.foreign.push(path);
            continue;
        };
        if let Ok(Some(stat)) = dir.stat(id.as_str()) {
            seen.take(&path, &stat);
        }
        let bytes = match dir.read(id.as_str(), MAX_ENTRY) {
            Ok(Some(bytes)) => bytes,
            // It ended just now.
            Ok(None) => continue,
            Err(e) => {
                findings.push(not_read("entry-unreadable", &path, &e.to_string()));
                continue;
            }
        };
        let reads = serde_json::from_slice::<OpenEntry>(&bytes).is_ok_and(|open| open.session == id);
        match unfinished(data, &id) {
            // Said of the log itself.
            None => {}
            Some(Log::Missing) => findings.push(dangling(path, reads)),
            Some(log) if !reads => findings.push(broken(path, &log)),
            Some(_) => {}
        }
    }
}

/// Where the log of an entry stands.
enum Log {
    Missing,
    Finished,
    Unfinished,
}

fn unfinished(data: &DataDir, id: &SessionId) -> Option<Log> {
    let is_there = match data.session(id).ok()? {
        Some(dir) => dir.stat(FILE).ok()?.is_some(),
        None => false,
    };
    if !is_there {
        return Some(Log::Missing);
    }
    let view = SessionView::read(data, id).ok()??;
    Some(if view.machine.open().is_some() || view.task.is_some() {
        Log::Unfinished
    } else {
        Log::Finished
    })
}

fn dangling(path: PathBuf, reads: bool) -> Finding {
    let what = "It says that a session is unfinished, and the log of that session is not there.";
    Finding::problem("open-dangling", path.to_string_lossy(), what)
        .remedy("Bring the log back, or remove this entry.")
        .fix(Fix::Remove {
            path,
            why: if reads {
                "points to no log"
            } else {
                "cannot be read, and there is no log"
            }
            .to_owned(),
        })
}

fn broken(path: PathBuf, log: &Log) -> Finding {
    let fix = matches!(log, Log::Finished).then(|| Fix::Remove {
        path: path.clone(),
        why: "cannot be read, and its session is finished".to_owned(),
    });
    let remedy = if fix.is_some() {
        "Remove it: its session is finished."
    } else {
        "Go on with that session, which writes it anew; or remove it, if nothing of it is to be resumed."
    };
    let what = "It cannot be read, so nobody can go on with its session or end its turn.";
    Finding::problem("entry-unreadable", path.to_string_lossy(), what)
        .remedy(remedy)
        .fix(fix)
}

/// Which log a host's session writes to.
pub(super) fn by_host(data: &DataDir, seen: &mut Seen, findings: &mut Vec<Finding>, now: DateTime<Utc>) {
    let root = data.path().join("by-host");
    let top = match data.dir().sub("by-host") {
        Ok(Some(top)) => top,
        Ok(None) => return,
        Err(e) => return findings.push(not_read("entry-unreadable", &root, &e.to_string())),
    };
    if let Ok(stat) = rustix::fs::fstat(top.file()) {
        seen.take(&root, &stat);
    }
    let logs: HashSet<SessionId> = data.sessions().unwrap_or_default().into_iter().collect();
    let mut unused: Vec<PathBuf> = Vec::new();
    for entry in top.entries().unwrap_or_default() {
        let path = root.join(&entry.name);
        let Some(host) = Host::from_id(&entry.name) else {
            seen.foreign.push(path);
            continue;
        };
        let dir = match top.sub(host.id()) {
            Ok(Some(dir)) => dir,
            Ok(None) => continue,
            Err(e) => {
                findings.push(not_read("entry-unreadable", &path, &e.to_string()));
                continue;
            }
        };
        if let Ok(stat) = rustix::fs::fstat(dir.file()) {
            seen.take(&path, &stat);
        }
        let names = dir.entries_from(0, MOST).unwrap_or_default();
        for name in names.into_iter().filter(|e| !e.name.ends_with(".new")) {
            let file = path.join(&name.name);
            let Ok(Some(stat)) = dir.stat(&name.name) else {
                continue;
            };
            seen.take(&file, &stat);
            let bytes = match dir.read(&name.name, 1024) {
                Ok(bytes) => bytes.unwrap_or_default(),
                Err(e) => {
                    findings.push(not_read("entry-unreadable", &file, &e.to_string()));
                    continue;
                }
            };
            let id = SessionId::try_from(String::from_utf8_lossy(&bytes).trim().to_owned());
            let at = DateTime::from_timestamp(stat.st_mtime, 0);
            match id {
                Err(_) => findings.push(nameless(file)),
                Ok(id) if logs.contains(&id) => {}
                Ok(_) if at.is_some_and(|at| now - at > TimeDelta::days(UNUSED_DAYS)) => unused.push(file),
                Ok(_) => {}
            }
        }
    }
    if !unused.is_empty() {
        findings.push(point_to_nothing(&root, unused));
    }
}

fn nameless(path: PathBuf) -> Finding {
    let what = "It does not say which log the session writes to; its next event begins a new one.";
    Finding::problem("by-host-unreadable", path.to_string_lossy(), what)
        .remedy("Remove it.")
        .fix(Fix::Remove {
            path,
            why: "names no log".to_owned(),
        })
}

fn point_to_nothing(root: &std::path::Path, paths: Vec<PathBuf>) -> Finding {
    let name = |p: &PathBuf| p.strip_prefix(root).unwrap_or(p).display().to_string();
    let names: Vec<String> = paths.iter().map(name).collect();
    let what = format!(
        "Sessions that were never used or whose log is gone: {}.",
        some(&names)
    );
    let each = paths.into_iter().map(|path| Fix::Remove {
        path,
        why: format!("points to no log since more than {UNUSED_DAYS} days"),
    });
    Finding::note("by-host-dangling", root.to_string_lossy(), what)
        .remedy("Remove them, or leave them: they cost a few bytes.")
        .fix(Fix::Each(each.collect()))
}
