//! The transient state of the hooks: who is active, what is being done. The journal is the state.
//!
//! ```text
//! <hook root>/                 0700, ours
//!   .bookend                   says that this root is Bookend's, and the format version
//!   .prune                     where the last prune run stopped
//!   <session key>/             0700; flock is taken on this directory's own descriptor
//!     events.jsonl             the journal: one entry a line
//!     state.json               a checkpoint: the fold of the journal up to entry `n`
//!     state.json.new           its temporary, only ever made under the lock
//!     pending-<uuid>.json      an event whose hook could not get the lock in time
//!     pending-<uuid>.new       its temporary
//!     active-agent             the bare name of the active agent; absent when none
//! ```
//!
//! `root` finds and checks the root, `key` and `names` name what is in it, `journal` reads a session's
//! directory, `session` holds one under its lock, `pending` keeps what could not wait for that lock. `state`
//! is the fold; `fold` and `agents` say what an event means for it (pure), `brief` what the journal keeps of
//! an event, `duplicate` what came twice. `prune` removes what is stale.

mod agents;
pub mod brief;
pub mod duplicate;
pub mod fold;
pub mod journal;
pub mod key;
pub mod names;
pub mod pending;
pub mod prune;
pub mod root;
pub mod session;
pub mod state;
