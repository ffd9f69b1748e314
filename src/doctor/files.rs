//! What is the same for the files of every store: modes, owners, times; and what is told once for all of
//! them instead of file by file.

use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use rustix::fs::{FileType, Stat};

use super::finding::Finding;
use super::fix::Fix;
use super::lines::some;

/// What was seen in one store.
pub(super) struct Seen {
    root: PathBuf,
    now: DateTime<Utc>,
    loose: Vec<(PathBuf, u32, u32)>,
    others: Vec<PathBuf>,
    future: Vec<PathBuf>,
    /// Files that end in a line that is not whole.
    pub(super) torn: Vec<PathBuf>,
    /// Names that are none of ours.
    pub(super) foreign: Vec<PathBuf>,
    /// What hooks could not read and moved aside.
    pub(super) aside: Vec<PathBuf>,
}

impl Seen {
    /// Nothing yet.
    pub(super) fn of(root: &Path, now: DateTime<Utc>) -> Self {
        Self {
            root: root.to_owned(),
            now,
            loose: Vec::new(),
            others: Vec::new(),
            future: Vec::new(),
            torn: Vec::new(),
            foreign: Vec::new(),
            aside: Vec::new(),
        }
    }

    /// Takes in a file or directory that is by its name one of ours.
    pub(super) fn take(&mut self, path: &Path, stat: &Stat) {
        let to = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => 0o700,
            FileType::RegularFile => 0o600,
            // Said where it is read.
            _ => return,
        };
        let mode = stat.st_mode & 0o7777;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            self.others.push(path.to_owned());
        } else if mode & 0o077 != 0 {
            self.loose.push((path.to_owned(), mode, to));
        }
        let changed = DateTime::from_timestamp(stat.st_mtime, 0);
        if changed.is_some_and(|at| at - self.now > TimeDelta::days(1)) {
            self.future.push(path.to_owned());
        }
    }

    /// What is to be said of all of them.
    pub(super) fn tell(self, findings: &mut Vec<Finding>) {
        let names = |paths: &[PathBuf]| {
            let short = |p: &PathBuf| p.strip_prefix(&self.root).unwrap_or(p).display().to_string();
            some(&paths.iter().map(short).collect::<Vec<_>>())
        };
        let subject = self.root.to_string_lossy();
        if !self.loose.is_empty() {
            let paths: Vec<PathBuf> = self.loose.iter().map(|(path, ..)| path.clone()).collect();
            let what = format!("Open to others than you: {}.", names(&paths));
            let each = self.loose.iter().map(|(path, from, to)| Fix::Chmod {
                path: path.clone(),
                from: *from,
                to: *to,
            });
            findings.push(
                Finding::problem("mode-loose", subject.as_ref(), what)
                    .remedy("Run `chmod go-rwx` on what is named.")
                    .fix(Fix::Each(each.collect())),
            );
        }
        if !self.others.is_empty() {
            let what = format!(
                "Another user's, so hooks cannot write it: {}.",
                names(&self.others)
            );
            findings.push(
                Finding::problem("owner-other", subject.as_ref(), what)
                    .remedy("Run `chown` on what is named, or remove it."),
            );
        }
        if !self.torn.is_empty() {
            let what = format!(
                "A hook was killed in the middle of a line (what it had acknowledged is there): {}.",
                names(&self.torn)
            );
            findings.push(
                Finding::note("torn-tail", subject.as_ref(), what)
                    .remedy("Nothing: the next event of that session cuts it off."),
            );
        }
        if !self.aside.is_empty() {
            let what = format!(
                "A hook could not read it and moved it aside: {}.",
                names(&self.aside)
            );
            findings.push(
                Finding::note("moved-aside", subject.as_ref(), what).remedy(
                    "Nothing: the session went on without it, and it goes when the session is pruned.",
                ),
            );
        }
        if !self.foreign.is_empty() {
            let what = format!("None of Bookend's, never touched: {}.", names(&self.foreign));
            findings.push(
                Finding::note("foreign", subject.as_ref(), what)
                    .remedy("Move them elsewhere, if they are yours."),
            );
        }
        if !self.future.is_empty() {
            let what = format!(
                "Changed in the future, as this clock has it: {}.",
                names(&self.future)
            );
            findings.push(Finding::note("clock", subject.as_ref(), what).remedy(
                "Check the clock of this machine; until then such a session is taken for one of now.",
            ));
        }
    }
}
