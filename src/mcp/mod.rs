//! `bookend mcp`: the session log as tools of the Model Context Protocol, over stdin and stdout, by the official SDK.
//!
//! ```text
//! stdin ─▶ SDK: lines, JSON-RPC, versions ─▶ server: which tool ─▶ desk (one thread): the call ─▶ tool set
//! stdout ◀──────────────── results in the order of the calls ◀──────────┘
//! ```
//!
//! * `toolset` is what a set of tools is: a table of them, and a way to call one. `sessionlog` is the first; another
//!   one is one more element where the command puts them together (`cli::mcp`).
//! * `desk` does the calls, one after another and in their order, on a thread of its own: they read and write files
//!   and may wait for a lock, and meanwhile the server answers pings and hears that a call was cancelled.
//! * `server` speaks the protocol. What a tool refuses is a result with `isError`, which the model reads; a tool that
//!   there is not, or a request of another shape, is an error of the protocol.
//! * `workspace` asks the client in which directory it works.
//!
//! Nothing is kept in here between two calls but the session that the caller opened. The end of stdin ends it, when
//! what was asked is answered; so does a signal, at once: the log is whole after every system call.

mod desk;
mod orchestration;
mod server;
mod sessionlog;
mod skills;
mod toolset;
mod transport;
mod workspace;

pub use desk::{Desk, Sets};
pub use orchestration::Orchestration;
pub use server::{ServeError, serve};
pub use sessionlog::SessionLog;
pub use skills::Skills;
pub use toolset::{Effect, Failure, Tool, ToolSet};
pub use workspace::Workspace;
