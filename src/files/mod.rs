//! Files below a directory that was checked once and is then held by its descriptor.
//!
//! The names under the temp directory are predictable and the directory is shared, so nothing here follows
//! a link, and nothing is opened by a path that somebody could change between a check and its use:
//! everything is relative to a [`Dir`]. Files are 0600, directories 0700.
//!
//! There are three ways to write and no fourth: [`append()`] (journal, log), [`Dir::replace`] (checkpoints
//! and small files) and [`Dir::create_new`] (one fact, one writer, one file). What may be lost without harm, a
//! hint, is written over in place ([`Dir::scribble`]); a file of the user is replaced only if it is still what was
//! read ([`Dir::replace_unchanged`]).

mod append;
mod dir;
mod lock;
mod mend;
mod shared;

use std::io;

use rustix::io::Errno;

pub use append::{Tail, append, tail};
pub use dir::{Access, Dir, Durability, Entry, Unsafe};
pub use lock::{Busy, acquire};
pub use mend::{change_mode, remove_left_behind, remove_own};

/// Whether what went wrong may pass by itself: no space, no descriptor, a disk's fault. What is refused for
/// good (another owner, a link, a read-only disk) never does.
#[must_use]
pub fn may_pass(e: &io::Error) -> bool {
    e.kind() == io::ErrorKind::StorageFull
        || matches!(
            Errno::from_io_error(e),
            Some(Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::MFILE | Errno::NFILE | Errno::NOMEM)
        )
}
