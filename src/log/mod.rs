//! The durable session log: what happened, append-only, the truth for turns.
//!
//! ```text
//! <data dir>/                    0700, files 0600, owner checked
//!   log/<session id>/log.jsonl   one record a line; flock on this file itself
//!   open/<session id>            sessions with a turn, task or todos not ended: settlement and resume read only these
//!   by-host/<host>/<key>         the log session that a host session writes to, also after its live state is gone
//!   called/<project>             the session that was last begun by `bookend call` in a project
//!   index.sqlite  grown/         the command's index of all that, and which logs grew since it was read (see `index`)
//!   retention                    when the command last looked for sessions that are too old
//!   roots  errors.jsonl          hook roots in use; faults
//!   probed/<host>.json           the last probe that proved a host (see `probe::record`)
//! ```
//!
//! `record` is what a line says, `actions` which tool calls make one, `turns` the turn machine (pure),
//! `ledger` the locked file that a writer appends to, `fold` reads a whole log into a `view`, `data_dir` and
//! `open` are the places above. `index` finds sessions and turns, `retention` says which sessions are too old, `off`
//! where none is kept; `methods` are the `workflow.sessionlog.*` methods by which models and people add to a log and
//! ask it. Lock order: live session first, then the log file; the index's lock (that of `grown/`) before a log's.

pub mod actions;
#[cfg(feature = "cli")]
mod called;
pub mod data_dir;
mod fold;
mod fold_turn;
pub mod grown;
#[cfg(feature = "cli")]
pub mod handoffs;
pub mod id;
#[cfg(feature = "cli")]
pub mod index;
pub mod ledger;
#[cfg(feature = "cli")]
pub mod methods;
pub mod off;
pub mod open;
pub mod record;
#[cfg(feature = "cli")]
pub mod retention;
pub mod turns;
pub mod view;
