//! Files of the workspace, read and written by their path from its root on: for models without the tools.

use std::io;
use std::time::Duration;

use rustix::fs::Stat;

use super::error::Error;
use super::path::{BadPath, relative};
use super::store::MAX_FILE;
use super::workspace::Workspace;
use crate::files::{self, Busy, Dir, Durability};
use crate::redact::Redacted;

/// Most bytes that are written.
pub const MAX_WRITE: u64 = 1024 * 1024;
/// How long the lock of the directory is waited for; in the state directory it is the session's.
const WAIT: Duration = Duration::from_secs(20);
/// The temporary; the lock says that nobody is at it.
const TEMP: &str = ".bookend-write";
/// How often a file that somebody else changes meanwhile is looked at again.
const TRIES: usize = 3;

impl Workspace {
    /// The bytes of a file.
    ///
    /// # Errors
    /// [`Error::Path`].
    pub fn read_file(&self, path: &str) -> Result<Vec<u8>, Error> {
        let refused = |why: BadPath| named(path, why);
        let parts = relative(path).map_err(refused)?;
        let (dir, name) = self
            .root
            .file(&parts, false)
            .map_err(refused)?
            .ok_or_else(|| refused(BadPath::Missing))?;
        match dir.read(&name, MAX_FILE) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(refused(BadPath::Missing)),
            Err(e) if e.kind() == io::ErrorKind::FileTooLarge => Err(refused(BadPath::TooLarge(MAX_FILE))),
            Err(e) if e.kind() == io::ErrorKind::InvalidData => Err(refused(BadPath::NoFile)),
            Err(e) => Err(refused(BadPath::Io(e))),
        }
    }

    /// Puts a text in the place of a file, whole and on the disk; missing directories are made. A file that is
    /// there keeps its mode.
    ///
    /// # Errors
    /// [`Error::Path`], [`Error::Busy`]; the old file is then still there.
    pub fn write_file(&self, path: &str, text: &Redacted) -> Result<(), Error> {
        let refused = |why: BadPath| named(path, why);
        let parts = relative(path).map_err(refused)?;
        if text.len() as u64 > MAX_WRITE {
            return Err(refused(BadPath::TooLarge(MAX_WRITE)));
        }
        let (dir, name) = self
            .root
            .file(&parts, true)
            .map_err(refused)?
            .ok_or(Error::Busy)?;
        match files::acquire(dir.file(), WAIT) {
            Ok(()) => {}
            Err(Busy::Held) => return Err(Error::Busy),
            Err(Busy::Io(e)) => return Err(refused(BadPath::Io(e))),
        }
        for _ in 0..TRIES {
            if replace(&dir, &name, text.as_bytes()).map_err(refused)? {
                return Ok(());
            }
        }
        Err(Error::Busy)
    }
}

/// Whether the file was still what it had been.
fn replace(dir: &Dir, name: &str, bytes: &[u8]) -> Result<bool, BadPath> {
    let stat: Option<Stat> = dir.stat(name)?;
    let done = match stat {
        Some(was)
            if rustix::fs::FileType::from_raw_mode(was.st_mode) != rustix::fs::FileType::RegularFile =>
        {
            return Err(BadPath::NoFile);
        }
        Some(was) => dir.replace_unchanged(name, TEMP, bytes, &was)?,
        None => {
            dir.replace(name, TEMP, bytes, Durability::Power)?;
            true
        }
    };
    Ok(done)
}

fn named(path: &str, why: BadPath) -> Error {
    let path = Redacted::truncated(path, 200);
    Error::Path { path, why }
}
