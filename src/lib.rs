//! Bookend: native hooks for AI coding agents, and a command to look into what they keep.
//!
//! An agent host runs the five executables in `hooks/` on its lifecycle events. They promise three things:
//! every turn that begins gets an ending; every interrupted session has a place to resume from; you can see
//! what happened. No network, no daemon; whatever goes wrong in here, the host goes on.
//!
//! # One event, from stdin to disk to answer
//!
//! ```text
//! host ── stdin JSON ──▶ hooks/<name>.rs ──▶ frame ──▶ hosts::<host>::decode ──▶ Event
//!                                                                                 │
//!            dispatch: lock the session, fold what is pending                     │
//!                      handlers::<name>::handle(event, state) ──▶ Plan            │
//!                      log first, then the journal                 ◀──────────────┘
//!                                                                                 │
//! host ◀─ one JSON document or nothing ◀── frame ◀── hosts::<host>::encode ◀── Reply
//! ```
//!
//! One direction only: `hosts` knows wire shapes and nothing of state; `handlers` know events and state and
//! nothing of JSON or files; `live` and `log` know files and nothing of hosts' wires; `dispatch` is the one
//! place where an event meets both stores. A new host is one file in `hosts/`, a new verb one in `cli/`.
//!
//! Models and people come in by another door, straight to the log: `log::methods`, of which `bookend repl`,
//! `bookend call` and the tools of `mcp` are faces. A new method is one row in its table.
//!
//! By a third door they keep a session in phases in the workspace itself: `orchestration`, files of its own, which
//! neither hooks nor the log write to. A new tool is one row in its table. `fields` is what both tables are made of.
//!
//! # What survives what
//!
//! | store | what it is | a killed process | a reboot | a power cut |
//! | --- | --- | --- | --- | --- |
//! | `live` | the hook root under the temp directory: who is active, what is being done | all that was written | begun again from the log | as a reboot |
//! | `log` | the data directory: what happened, append-only | all that was written | all | all ends of turns, and what was written before them |
//!
//! # Lock order
//!
//! The live session's directory first, then its log file; the directory of an agent's state file under the
//! first, and held on its own until that file is written. The directory of an orchestration session is locked alone.
//! A guard holds each lock ([`live::session::Session`],
//! [`log::ledger::Ledger`]); without one there is no way to write. Locks die with their process.

#[cfg(feature = "cli")]
pub mod cli;
/// A hook allocates a few hundred times and is gone. musl's own allocator spreads that over a page for each
/// size and asks the kernel for each; this one takes 64 KiB at once (measured).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

pub mod clock;
pub mod config;
pub mod delegation;
pub mod dispatch;
#[cfg(feature = "cli")]
pub mod doctor;
pub mod event;
#[cfg(feature = "cli")]
pub mod fields;
pub mod files;
pub mod fingerprint;
pub mod frame;
pub mod handlers;
pub mod hook;
pub mod host;
pub mod hosts;
#[cfg(feature = "cli")]
pub mod install;
pub mod live;
pub mod log;
#[cfg(feature = "cli")]
pub mod mcp;
pub mod orchestration;
#[cfg(feature = "cli")]
pub mod probe;
pub mod process;
pub mod redact;
pub mod reply;
#[cfg(feature = "cli")]
pub mod skills;
pub mod task;
