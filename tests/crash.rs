//! Killed at any system call, or refused any: what was acknowledged stays, the next hook works, the turn
//! gets its ending. One run per system call of a traced run (`strace -e inject=NAME:…:when=K`).
//!
//! A call that changes nothing on disk leaves the state that the next one finds, so that killing at those
//! that change something, and at the exit, is killing everywhere; `BOOKEND_FULL_SWEEP=1` does it at every
//! call all the same, and refuses each call with each error.

mod after;
mod command;
mod commands;
mod orchestration;
mod order;
mod scenes;
mod strace;
mod sweeps;
mod users_files;

pub(crate) use strace::{can_trace, changes, inject, one_sweep, skipped};
