//! The durable session log: what happened, append-only, the truth for turns.
//!
//! ```text
//! <data dir>/                    0700, files 0600, owner checked
//!   log/<session id>/log.jsonl   one record a line; flock on this file itself
//!   open/<session id>            sessions with a turn, task or todos not ended: settlement and resume read only these
//!   by-host/<host>/<key>         the log session that a host session writes to, also after its live state is gone
//!   called/<project>             the session that was last begun by `bookend call` in a project
//!   roots  errors.jsonl          hook roots in use; faults
//!   probed/<host>.json           the last probe that proved a host (see `probe::record`)
//! ```
//!
//! `record` is what a line says, `actions` which tool calls make one, `turns` the turn machine (pure),
//! `ledger` the locked file that a writer appends to, `fold` reads a whole log into a `view`, `data_dir` and
//! `open` are the places above. `history` finds the sessions newest first; `methods` are the
//! `workflow.sessionlog.*` methods by which models and people add to a log and ask it. Lock order: live session
//! first, then the log file.

pub mod actions;
#[cfg(feature = "cli")]
mod called;
pub mod data_dir;
mod fold;
mod fold_turn;
pub mod grown;
#[cfg(feature = "cli")]
pub mod history;
pub mod id;
#[cfg(feature = "cli")]
pub mod index;
pub mod ledger;
#[cfg(feature = "cli")]
pub mod methods;
pub mod open;
pub mod record;
pub mod turns;
pub mod view;
