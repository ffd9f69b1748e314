//! `grown/<session id>`: which logs grew since the command's index read them (`index`). An append leaves the
//! modification time of no directory behind, and looking at 100,000 logs takes most of a second; so every writer
//! leaves an empty file here, before its first append and under the lock of its log.
//!
//! Only the index takes such a file away, and only while it holds that lock and the log is as long as what it
//! read. A kill leaves a file too many, never one too few. Where nobody has asked for the history yet, the
//! directory is not there, and writers leave nothing.

use std::io;

use super::data_dir::DataDir;
use super::id::SessionId;
use crate::files::Dir;

/// The directory's name.
pub const GROWN: &str = "grown";

impl DataDir {
    /// The directory of the marks, if the history was ever asked for.
    ///
    /// # Errors
    /// When it is there and cannot be opened.
    pub fn grown(&self) -> io::Result<Option<Dir>> {
        self.dir().sub(GROWN)
    }
}

/// Marks a log as one that grows. The caller holds its lock.
///
/// # Errors
/// When there is no mark after that.
pub fn mark(grown: &Dir, id: &SessionId) -> io::Result<()> {
    match grown.create_new(id.as_str(), b"") {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}
