//! Following the journals: a look every fifth of a second at those that changed. No daemon, no watch on
//! the file system. Entries carry numbers, so a journal whose older part was dropped goes on where it was;
//! one that was pruned and begun again has another entry under the last number, or not so many.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::Failed;
use super::events::{EventLine, Printer, lines};
use super::live::Live;
use super::machine::{self, Machine};
use super::out::Out;
use crate::live::key::SessionKey;
use crate::live::root::HookRoot;
use crate::live::{journal, names};
use crate::log::data_dir::DataDir;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// How far each session was read.
#[derive(Default)]
pub(super) struct Watched(BTreeMap<(PathBuf, String), Mark>);

#[derive(Clone, Copy, Default)]
struct Mark {
    /// Size and time of the journal at the last look.
    journal: (u64, i64, i64),
    /// The last entry printed.
    n: u64,
    /// When that was, if it was printed here.
    at: Option<DateTime<Utc>>,
}

impl Watched {
    /// What is there counts as seen.
    pub(super) fn of(sessions: &[Live]) -> Self {
        let seen = |s: &Live| Mark {
            n: s.state.n,
            ..Mark::default()
        };
        let marks = sessions.iter().map(|s| (name(&s.root, &s.key), seen(s)));
        Self(marks.collect())
    }

    /// These lines of a session were printed.
    pub(super) fn has_seen(&mut self, session: &Live, lines: &[EventLine]) {
        if let (Some(mark), Some(last)) = (self.0.get_mut(&name(&session.root, &session.key)), lines.last()) {
            (mark.n, mark.at) = (last.n, Some(last.at));
        }
    }
}

fn name(root: &std::path::Path, key: &SessionKey) -> (PathBuf, String) {
    (root.to_owned(), key.to_string())
}

/// Prints what comes, until nobody reads any more. `only`: of that session.
pub(super) fn run(
    machine: &Machine,
    mut watched: Watched,
    only: Option<&SessionKey>,
    printer: &Printer,
    out: &mut Out,
) -> Result<(), Failed> {
    let mut gone = false;
    loop {
        out.flush();
        if out.wait(PAUSE) {
            return Ok(());
        }
        // A root, or the data directory that lists them, may be made while we look.
        let data = DataDir::existing(&machine.config.data_dir).ok().flatten();
        let (roots, _) = machine::roots(&machine.config, data.as_ref());
        let mut there = BTreeSet::new();
        for root in &roots {
            for entry in root.dir().entries().unwrap_or_default() {
                let Some(key) = SessionKey::from_name(&entry.name).filter(|_| entry.is_dir) else {
                    continue;
                };
                if only.is_none_or(|only| *only == key) {
                    there.insert(name(root.path(), &key));
                    for line in news(root, &key, &mut watched) {
                        printer.print(&line, out)?;
                    }
                }
            }
        }
        // What was pruned begins at its first entry when it comes again.
        watched.0.retain(|name, _| there.contains(name));
        if let Some(key) = only.filter(|_| there.is_empty() && !gone) {
            out.complain(&format!(
                "bookend: the live state of {key} was removed; its next event brings it back"
            ));
        }
        gone = only.is_some() && there.is_empty();
    }
}

/// The lines of a session that were not printed yet.
fn news(root: &HookRoot, key: &SessionKey, watched: &mut Watched) -> Vec<EventLine> {
    let mark = watched.0.entry(name(root.path(), key)).or_default();
    let Ok(Some(dir)) = root.dir().sub(key.as_str()) else {
        return Vec::new();
    };
    let Ok(Some(stat)) = dir.stat(names::JOURNAL) else {
        return Vec::new();
    };
    let journal = (
        u64::try_from(stat.st_size).unwrap_or(0),
        stat.st_mtime,
        i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
    );
    if journal == mark.journal {
        return Vec::new();
    }
    let Ok(entries) = journal::entries(&dir) else {
        return Vec::new();
    };
    mark.journal = journal;
    let mut lines = lines(key.as_str(), entries);
    let Some((last, at)) = lines.last().map(|l| (l.n, l.at)) else {
        return Vec::new();
    };
    let another = |l: &EventLine| l.n == mark.n && mark.at.is_some_and(|at| at != l.at);
    if last < mark.n || lines.iter().any(another) {
        mark.n = 0;
    }
    lines.retain(|l| l.n > mark.n);
    (mark.n, mark.at) = (last, Some(at));
    lines
}
