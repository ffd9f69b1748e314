//! Following the journals: a look every fifth of a second at those that changed. No daemon, no watch on
//! the file system. Entries carry numbers, so a journal whose older part was dropped goes on where it was;
//! a directory that was pruned and made anew is another one, and begins at its first entry.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use super::Failed;
use super::events::{EventLine, Printer, lines};
use super::live::Live;
use super::machine::{self, Machine};
use super::out::Out;
use crate::live::key::SessionKey;
use crate::live::root::HookRoot;
use crate::live::session;
use crate::log::data_dir::DataDir;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// How far each session was read.
#[derive(Default)]
pub(super) struct Watched(BTreeMap<(PathBuf, String), Mark>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Mark {
    /// Which directory.
    inode: u64,
    /// Size and time of the journal at the last look.
    journal: (u64, i64, i64),
    /// The last entry printed.
    n: u64,
}

impl Watched {
    /// What is there counts as seen.
    pub(super) fn of(sessions: &[Live]) -> Self {
        let marks = sessions.iter().map(|s| {
            let mark = Mark {
                inode: s.dir.file().metadata().map_or(0, |m| m.ino()),
                n: s.state.n,
                ..Mark::default()
            };
            (name(&s.root, &s.key), mark)
        });
        Self(marks.collect())
    }

    /// These lines of a session were printed.
    pub(super) fn has_seen(&mut self, session: &Live, lines: &[EventLine]) {
        if let (Some(mark), Some(last)) = (self.0.get_mut(&name(&session.root, &session.key)), lines.last()) {
            mark.n = last.n;
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
        let mut there = false;
        for root in &roots {
            for entry in root.dir().entries().unwrap_or_default() {
                let Some(key) = SessionKey::from_name(&entry.name).filter(|_| entry.is_dir) else {
                    continue;
                };
                if only.is_none_or(|only| *only == key) {
                    there = true;
                    for line in news(root, &key, &mut watched) {
                        printer.print(&line, out)?;
                    }
                }
            }
        }
        if let Some(key) = only.filter(|_| !there && !gone) {
            out.complain(&format!(
                "bookend: the live state of {key} was removed; its next event brings it back"
            ));
        }
        gone = only.is_some() && !there;
    }
}

/// The lines of a session that were not printed yet.
fn news(root: &HookRoot, key: &SessionKey, watched: &mut Watched) -> Vec<EventLine> {
    let mark = watched.0.entry(name(root.path(), key)).or_default();
    let Ok(Some(dir)) = root.dir().sub(key.as_str()) else {
        return Vec::new();
    };
    let inode = dir.file().metadata().map_or(0, |m| m.ino());
    if inode != mark.inode {
        *mark = Mark {
            inode,
            ..Mark::default()
        };
    }
    let Ok(Some(stat)) = dir.stat(session::JOURNAL) else {
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
    let Ok(entries) = session::entries(&dir) else {
        return Vec::new();
    };
    mark.journal = journal;
    let last = entries.last().map_or(0, |e| e.n);
    if last < mark.n {
        // It was begun again.
        mark.n = 0;
    }
    let mut lines = lines(key.as_str(), entries);
    lines.retain(|l| l.n > mark.n);
    mark.n = last;
    lines
}
