//! Files below a directory that was checked once and is then held by its descriptor.
//!
//! The names under the temp directory are predictable and the directory is shared, so nothing here follows
//! a link, and nothing is opened by a path that somebody could change between a check and its use:
//! everything is relative to a [`Dir`]. Files are 0600, directories 0700.
//!
//! There are three ways to write and no fourth: [`append()`] (journal, log), [`Dir::replace`] (checkpoints
//! and small files) and [`Dir::create_new`] (one fact, one writer, one file).

mod append;
mod dir;
mod lock;

pub use append::{Tail, append, tail};
pub use dir::{Dir, Durability, Entry, Unsafe};
pub use lock::{Busy, acquire};
