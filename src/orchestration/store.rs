//! The files of the state, read by anybody, written only under the lock: a [`Held`] is the lock.
//!
//! The lock is `flock` on the directory that holds `active-session.md`: it leaves nothing behind and dies with its
//! process. Models and editors know nothing of it; the file is looked at again right before the new one takes its
//! name. Each write is on the disk before it is acknowledged: write, fdatasync, rename, fsync of the directory.

use std::io;
use std::time::Duration;

use rustix::fs::{FileType, Stat};
use serde_json::Value;

use super::archive::Archived;
use super::error::Error;
use super::front::Parts;
use super::path::BadPath;
use super::session::Session;
use super::workspace::Workspace;
use crate::files::{self, Busy, Dir, Durability};

/// The active session.
pub const ACTIVE: &str = "active-session.md";
/// The temporary of the active session; the lock says that nobody is at it.
const TEMP: &str = ".active-session.md.bookend";
/// Largest session file.
pub const MAX_FILE: u64 = 8 * 1024 * 1024;
/// How long the lock is waited for: it is held for milliseconds.
const WAIT: Duration = Duration::from_secs(20);
/// What keeps the sessions out of git.
const IGNORE: &[u8] = b"active-session.md\narchive/\n";
/// How often a directory that is being replaced is opened anew.
const TRIES: usize = 3;

/// A session as it stands in its file.
#[derive(Debug, Clone)]
pub struct Stored {
    /// What it says.
    pub session: Session,
    /// The file that it is in.
    pub parts: Parts,
    stat: Option<Stat>,
}

impl Stored {
    /// A session that is in no file yet.
    #[must_use]
    pub fn new(session: Session, body: String) -> Self {
        Self {
            session,
            parts: Parts {
                front: serde_json::Map::new(),
                body: body.into_bytes(),
                form: super::front::Form::default(),
            },
            stat: None,
        }
    }
}

/// The active session, if there is one.
///
/// # Errors
/// [`Error::StateInvalid`], or what the file system refused.
pub fn active(at: &Workspace) -> Result<Option<Stored>, Error> {
    let dir = at.root.dir(&at.parts(&["state"]), false);
    match dir.map_err(|why| misplaced(at, &["state"], why))? {
        Some(dir) => read(&dir, ACTIVE, &at.shown(&["state", ACTIVE])),
        None => Ok(None),
    }
}

/// The directory of the archived sessions, if it is there.
///
/// # Errors
/// What the file system refused.
pub fn archives(at: &Workspace) -> Result<Option<Dir>, Error> {
    let below = ["state", "archive"];
    at.root
        .dir(&at.parts(&below), false)
        .map_err(|why| misplaced(at, &below, why))
}

/// A session file, if it is there.
///
/// # Errors
/// [`Error::StateInvalid`], or what the file system refused.
pub fn read(dir: &Dir, name: &str, shown: &str) -> Result<Option<Stored>, Error> {
    let invalid = |why: String| Error::StateInvalid {
        path: shown.to_owned(),
        why,
    };
    let small = |stat: &Stat| match u64::try_from(stat.st_size) {
        Ok(size) if size <= MAX_FILE => Ok(()),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    };
    let found = match dir
        .stat(name)
        .map_err(|e| Error::storage(format!("look at {shown}"), &e))?
    {
        Some(stat) => FileType::from_raw_mode(stat.st_mode),
        None => return Ok(None),
    };
    if found != FileType::RegularFile {
        return Err(invalid("it is no regular file".to_owned()));
    }
    let Some((bytes, stat)) = dir.read_judged(name, small).map_err(|e| match e.kind() {
        io::ErrorKind::FileTooLarge => invalid(format!("it is larger than {MAX_FILE} bytes")),
        _ => Error::storage(format!("read {shown}"), &e),
    })?
    else {
        return Ok(None);
    };
    let parts = Parts::parse(&bytes).map_err(|broken| invalid(broken.to_string()))?;
    let session =
        serde_json::from_value(Value::Object(parts.front.clone())).map_err(|e| invalid(e.to_string()))?;
    Ok(Some(Stored {
        session,
        parts,
        stat: Some(stat),
    }))
}

fn misplaced(at: &Workspace, below: &[&str], why: BadPath) -> Error {
    let path = at.shown(below);
    match why {
        BadPath::Io(e) => Error::storage(format!("open {path}"), &e),
        why => Error::Path {
            path: crate::redact::Redacted::new(&path),
            why,
        },
    }
}

/// What [`Held::look`] found.
#[derive(Debug)]
pub enum Found {
    /// No session.
    Nothing,
    /// The active session.
    Active(Box<Stored>),
    /// One whose archiving was cut off; it is archived now.
    Finished(Archived),
}

/// The state under its lock.
#[derive(Debug)]
pub struct Held<'w> {
    pub(super) at: &'w Workspace,
    pub(super) dir: Dir,
}

impl<'w> Held<'w> {
    /// Takes the lock; the directories are made if they are missing.
    ///
    /// # Errors
    /// [`Error::Busy`], or what the file system refused.
    pub fn lock(at: &'w Workspace) -> Result<Self, Error> {
        Self::take(at, true)?.ok_or(Error::Busy)
    }

    /// Takes the lock, where there is anything to lock.
    ///
    /// # Errors
    /// As [`Held::lock`].
    pub fn existing(at: &'w Workspace) -> Result<Option<Self>, Error> {
        Self::take(at, false)
    }

    fn take(at: &'w Workspace, make: bool) -> Result<Option<Self>, Error> {
        let parts = at.parts(&["state"]);
        let open = || {
            at.root
                .dir(&parts, make)
                .map_err(|why| misplaced(at, &["state"], why))
        };
        for _ in 0..TRIES {
            let Some(dir) = open()? else { return Ok(None) };
            match files::acquire(dir.file(), WAIT) {
                Ok(()) => {}
                Err(Busy::Held) => return Err(Error::Busy),
                Err(Busy::Io(e)) => return Err(Error::storage("lock the state directory", &e)),
            }
            // Somebody may have put another directory in its place while we waited.
            if open()?.is_some_and(|again| same(&again, &dir)) {
                return Ok(Some(Self { at, dir }));
            }
        }
        Err(Error::Busy)
    }

    /// Makes the other directories and what keeps the sessions out of git; which directories were not there.
    ///
    /// # Errors
    /// What the file system refused.
    pub fn prepare(&self) -> Result<Vec<String>, Error> {
        let mut made = Vec::new();
        for below in [&["state", "archive"][..], &["plans"], &["plans", "archive"]] {
            let missing = self.open(below, false)?.is_none();
            self.open(below, true)?;
            if missing {
                made.push(self.at.shown(below));
            }
        }
        match self.dir.create_new(".gitignore", IGNORE) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(Error::storage("write .gitignore", &e)),
            _ => Ok(made),
        }
    }

    pub(super) fn open(&self, below: &[&str], make: bool) -> Result<Option<Dir>, Error> {
        let dir = self.at.root.dir(&self.at.parts(below), make);
        dir.map_err(|why| misplaced(self.at, below, why))
    }

    pub(super) fn shown(&self) -> String {
        self.at.shown(&["state", ACTIVE])
    }

    /// The active session, if there is one. An archiving that was cut off is finished first.
    ///
    /// # Errors
    /// [`Error::StateInvalid`], or what the file system refused.
    pub fn read(&self) -> Result<Option<Stored>, Error> {
        Ok(match self.look()? {
            Found::Active(stored) => Some(*stored),
            Found::Finished(_) | Found::Nothing => None,
        })
    }

    /// The same, saying which archiving was finished.
    ///
    /// # Errors
    /// As [`Held::read`].
    pub fn look(&self) -> Result<Found, Error> {
        // What a killed process has left; the lock says that nobody is at it.
        drop(self.dir.remove(TEMP));
        Ok(match read(&self.dir, ACTIVE, &self.shown())? {
            Some(stored) if stored.session.archive.is_some() => {
                Found::Finished(self.finish(&stored.session)?)
            }
            Some(stored) => Found::Active(Box::new(stored)),
            None => Found::Nothing,
        })
    }

    /// Writes the session into its file, unless somebody else wrote to that since it was read.
    ///
    /// # Errors
    /// [`Error::Busy`] for that, else what the file system refused; the old file is then still there.
    pub fn write(&self, stored: &mut Stored) -> Result<(), Error> {
        let failed = |e: io::Error| Error::storage(format!("write {}", self.shown()), &e);
        let Ok(Value::Object(front)) = serde_json::to_value(&stored.session) else {
            return Err("the session is no object".to_owned().into());
        };
        stored.parts.front = front;
        let bytes = stored.parts.render();
        if bytes.len() as u64 > MAX_FILE {
            return Err(Error::Path {
                path: crate::redact::Redacted::new(&self.shown()),
                why: BadPath::TooLarge(MAX_FILE),
            });
        }
        match &stored.stat {
            Some(was) => match self.dir.replace_unchanged(ACTIVE, TEMP, &bytes, was) {
                Ok(true) => {}
                Ok(false) => return Err(Error::Busy),
                Err(e) => return Err(failed(e)),
            },
            None => self
                .dir
                .replace(ACTIVE, TEMP, &bytes, Durability::Power)
                .map_err(failed)?,
        }
        stored.stat = None;
        Ok(())
    }
}

/// Whether there is an archive of that id.
///
/// # Errors
/// What the file system refused.
pub fn is_archived(at: &Workspace, id: &str) -> Result<bool, Error> {
    let Some(dir) = archives(at)? else {
        return Ok(false);
    };
    let stat = dir.stat(&format!("{id}.md"));
    stat.map(|found| found.is_some())
        .map_err(|e| Error::storage("look into the archive", &e))
}

fn same(one: &Dir, other: &Dir) -> bool {
    let id = |dir: &Dir| {
        rustix::fs::fstat(dir.file())
            .ok()
            .map(|stat| (stat.st_dev, stat.st_ino))
    };
    id(one).is_some() && id(one) == id(other)
}
