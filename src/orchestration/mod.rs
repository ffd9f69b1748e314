//! Orchestration state: a session in phases, kept in the workspace for the model that leads it and for people.
//!
//! Separate from the hooks' live state and from the session log. `workspace` says where it is on disk, `session`
//! what `active-session.md` says, `front` and `yaml` how that is written.
//!
//! ```text
//! call ──▶ tools: name, fields, flags, handler ──▶ fields::check ──▶ handler ──▶ answer
//!                                                                       │
//!          transition, plan, section: what is to be (pure)   ◀──────────┤
//!          store: lock, read, write; archive: what moves     ◀──────────┘
//! ```
//!
//! # For those who offer the tools (an MCP server, a command)
//!
//! * [`TOOLS`] is the only list: name, sentence, [`tools::Tool::schema`], `read_only`, `destructive`, `idempotent`.
//! * [`Service::new`] takes the directory that is worked in and what the environment says ([`Maestro`]); it opens
//!   nothing. One service may live for a whole process: each call opens the workspace anew, and only
//!   `initialize_workspace` changes which one that is.
//! * [`Service::call`] takes a tool's name and its arguments as JSON and gives the answer as JSON. An [`Error`] has
//!   a code, a message and a hint on what to do next; [`Error::json`] is all of it. Nothing was changed then.
//! * Within Rust, [`Service::status`] and [`Service::archive`] take and give the same as types.
//!
//! `active` is another reader of the same file, for hooks: without the YAML library, and only of what they say.
//!
//! # What holds
//!
//! One lock around each change ([`store::Held`]); a change is one replacement of `active-session.md`, on the disk
//! before it is acknowledged. A killed call has changed all or nothing. Archiving is the one thing of several
//! steps: it is written down first (`archive:` in the front matter), and the next call that writes finishes it.
//! All text that comes in is redacted; what stands in the file already is kept.

pub mod active;
#[cfg(feature = "cli")]
mod archive;
#[cfg(feature = "cli")]
mod arguments;
#[cfg(feature = "cli")]
mod create;
pub(crate) mod dotenv;
#[cfg(feature = "cli")]
pub mod error;
#[cfg(feature = "cli")]
pub mod files;
#[cfg(feature = "cli")]
pub mod front;
#[cfg(feature = "cli")]
mod handed;
#[cfg(feature = "cli")]
mod lenient;
#[cfg(feature = "cli")]
mod look;
#[cfg(feature = "cli")]
mod moving;
#[cfg(feature = "cli")]
pub mod path;
#[cfg(feature = "cli")]
pub mod phase;
#[cfg(feature = "cli")]
pub mod plan;
#[cfg(feature = "cli")]
pub mod section;
#[cfg(feature = "cli")]
mod service;
#[cfg(feature = "cli")]
pub mod session;
#[cfg(feature = "cli")]
pub mod store;
#[cfg(feature = "cli")]
pub mod tools;
#[cfg(feature = "cli")]
pub mod transition;
#[cfg(feature = "cli")]
mod update;
#[cfg(feature = "cli")]
pub mod workspace;
#[cfg(feature = "cli")]
mod yaml;

#[cfg(feature = "cli")]
pub use archive::Archived;
#[cfg(feature = "cli")]
pub use error::Error;
#[cfg(feature = "cli")]
pub use look::{Next, PhaseLine, Status, Summary};
#[cfg(feature = "cli")]
pub use service::Service;
#[cfg(feature = "cli")]
pub use tools::{TOOLS, Tool};

/// A session's file as the first seed has it, for those who write one by hand.
#[cfg(feature = "cli")]
pub const TEMPLATE: &str = include_str!("template.md");

#[cfg(all(doc, feature = "cli"))]
use crate::config::Maestro;
