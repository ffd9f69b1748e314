//! A hook root's sessions: do their files read, do events wait, what went wrong lately.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rustix::fs::Stat;

use super::faults::Faults;
use super::files::Seen;
use super::finding::Finding;
use super::lines::{self, some};
use super::{Counted, NEWEST};
use crate::clock;
use crate::event::{Event, Kind};
use crate::files::Dir;
use crate::live::journal;
use crate::live::key::SessionKey;
use crate::live::names::{JOURNAL, is_known, is_pending};
use crate::live::root::{HookRoot, VERSION};
use crate::live::state::Entry;

/// Most of a journal or of an event that waits that is read; hooks write less.
const MAX_FILE: u64 = 8 * 1024 * 1024;
/// An event that waits longer than this is folded in by nobody who is at work.
const WAITS_LONG: Duration = Duration::from_secs(10 * 60);

/// Looks at the newest sessions of a root.
pub(super) fn examine(
    root: &HookRoot,
    now: DateTime<Utc>,
    faults: &mut Faults,
    findings: &mut Vec<Finding>,
) -> Counted {
    let mut seen = Seen::of(root.path(), now);
    let entries = match root.dir().entries() {
        Ok(entries) => entries,
        Err(e) => {
            findings.push(unreadable(root.path(), &e.to_string()));
            return Counted::default();
        }
    };
    let mut sessions: Vec<(i64, SessionKey)> = Vec::new();
    for entry in entries {
        let key = SessionKey::from_name(&entry.name).filter(|_| entry.is_dir);
        match key {
            Some(key) => sessions.push((changed(root.dir(), &entry.name), key)),
            // The marker, the place of the last prune, what a killed prune left: the next one removes it.
            None if entry.name.starts_with('.') => {}
            None => seen.foreign.push(root.path().join(&entry.name)),
        }
    }
    sessions.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
    let counted = Counted {
        sessions: sessions.len(),
        looked_at: sessions.len().min(NEWEST),
        bytes: 0,
    };
    for (_, key) in sessions.into_iter().take(NEWEST) {
        let path = root.path().join(key.as_str());
        match root.dir().sub(key.as_str()) {
            Ok(Some(dir)) => Session { path, dir }.examine(&mut seen, faults, findings, now),
            Ok(None) => {}
            Err(e) => findings.push(unreadable(&path, &e.to_string())),
        }
    }
    seen.tell(findings);
    counted
}

/// When a session's journal changed, else its directory.
fn changed(root: &Dir, name: &str) -> i64 {
    let journal = root.stat(&format!("{name}/{JOURNAL}")).ok().flatten();
    let stat = journal.or_else(|| root.stat(name).ok().flatten());
    stat.map_or(0, |s| s.st_mtime)
}

fn unreadable(path: &Path, why: &str) -> Finding {
    Finding::problem(
        "session-unreadable",
        path.to_string_lossy(),
        format!("It cannot be read: {why}."),
    )
    .remedy("Move away what stands there; the session begins again from its log.")
}

struct Session {
    path: PathBuf,
    dir: Dir,
}

impl Session {
    fn examine(&self, seen: &mut Seen, faults: &mut Faults, findings: &mut Vec<Finding>, now: DateTime<Utc>) {
        let entries = match self.dir.entries() {
            Ok(entries) => entries,
            Err(e) => return findings.push(unreadable(&self.path, &e.to_string())),
        };
        if !entries.iter().any(|e| is_known(&e.name)) {
            // A directory of somebody else's; one that is empty is a session's that begins just now.
            if !entries.is_empty() {
                seen.foreign.push(self.path.clone());
            }
            return;
        }
        if let Ok(stat) = rustix::fs::fstat(self.dir.file()) {
            seen.take(&self.path, &stat);
        }
        let mut waiting = Vec::new();
        for entry in entries {
            let path = self.path.join(&entry.name);
            if !is_known(&entry.name) {
                seen.foreign.push(path);
                continue;
            }
            let Ok(Some(stat)) = self.dir.stat(&entry.name) else {
                continue;
            };
            seen.take(&path, &stat);
            if is_pending(&entry.name) {
                waiting.push((entry.name, stat));
            } else if entry.name.ends_with(".bad") {
                seen.aside.push(path);
            }
        }
        let newer = self.checkpoint(findings);
        self.journal(newer, seen, faults, findings);
        self.pending(&waiting, findings, now);
    }

    fn finding(&self, code: &'static str, what: String) -> Finding {
        Finding::problem(code, self.path.to_string_lossy(), what)
    }

    /// Whether a newer Bookend keeps this session.
    fn checkpoint(&self, findings: &mut Vec<Finding>) -> bool {
        // What is wrong with the journal is said where it is read.
        let Ok(loaded) = journal::fold(&self.dir) else {
            return false;
        };
        if loaded.bad_checkpoint {
            let what = "Its state.json cannot be read, and no kill does that.".to_owned();
            findings.push(self.finding("checkpoint-corrupt", what).remedy(
                "Go on with that session: its next event moves the file aside and takes what is missing from the \
                 log; check the disk.",
            ));
        }
        let newer = loaded.state.version > VERSION;
        if newer {
            let what = "A newer Bookend keeps it; this one only reads it.".to_owned();
            findings.push(
                Finding::note("version-newer", self.path.to_string_lossy(), what)
                    .remedy("Run ./install.sh of the newer one, so that all are of one version."),
            );
        }
        newer
    }

    fn journal(&self, newer: bool, seen: &mut Seen, faults: &mut Faults, findings: &mut Vec<Finding>) {
        let bytes = match self.dir.read(JOURNAL, MAX_FILE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(e) => {
                return findings.push(unreadable(&self.path.join(JOURNAL), &e.to_string()));
            }
        };
        let lines = lines::read::<Entry>(&bytes);
        if lines.torn > 0 {
            seen.torn.push(self.path.join(JOURNAL));
        }
        if !lines.bad.is_empty() && !newer {
            let numbers: Vec<String> = lines.bad.iter().map(ToString::to_string).collect();
            let what = format!(
                "Its events.jsonl does not read at line {}, and no kill does that; what stands there is skipped.",
                some(&numbers)
            );
            findings.push(self.finding("journal-corrupt", what).remedy(
                "Check the disk; the log has what counts, and when the session is over, `bookend prune` removes \
                 this.",
            ));
        }
        for entry in lines.good {
            if entry.faults.is_empty() {
                faults.well(entry.event.at);
            }
            for what in &entry.faults {
                faults.take(what.as_str(), &entry.event.name, entry.event.at);
            }
        }
    }

    fn pending(&self, waiting: &[(String, Stat)], findings: &mut Vec<Finding>, now: DateTime<Utc>) {
        let since = |stat: &Stat| DateTime::from_timestamp(stat.st_mtime, 0);
        let long = |stat: &Stat| since(stat).is_some_and(|at| clock::age(at, now) > WAITS_LONG);
        let old: Vec<&(String, Stat)> = waiting.iter().filter(|(_, stat)| long(stat)).collect();
        let Some(first) = old.iter().filter_map(|(_, stat)| since(stat)).min() else {
            return;
        };
        let age = clock::human(clock::age(first, now));
        let (n, s) = (old.len(), if old.len() == 1 { " waits" } else { "s wait" });
        let what = format!("{n} event{s} to be taken in, since {age}.");
        // Only a hook can take in a session's start: it says which process its host is.
        let starts = old.iter().any(|(name, _)| {
            let bytes = self.dir.read(name, MAX_FILE).ok().flatten().unwrap_or_default();
            serde_json::from_slice::<Event>(&bytes).is_ok_and(|e| matches!(e.kind, Kind::SessionStart { .. }))
        });
        findings.push(if starts {
            Finding::note("events-wait", self.path.to_string_lossy(), what).remedy(
                "Nothing: the next event of that session takes them in, or the prune when it is over.",
            )
        } else {
            self.finding("events-wait", what)
                .remedy("Run `bookend sessions`: it takes them in.")
        });
    }
}
