//! Registers the hooks with hosts, and takes them out again.
//!
//! ```text
//! Place ──▶ survey (what is there) ──▶ plan (files as they will be, commands) ──▶ apply ──▶ verify
//! ```
//!
//! A plan changes nothing; `--dry-run` shows it. The user's files are changed in their own form (`json`,
//! `toml`), written whole (`user_file`), and known by what they say without us (`form`), so that an uninstall
//! gives back the text from before to the byte. The host's own commands do the registering where its program
//! is on PATH; what those leave out of form is put in form again.
//!
//! | to change | look in |
//! | --- | --- |
//! | what is special about a host | `claude_code.rs`, `codex.rs`: one constant each, of the type in `installer.rs` |
//! | what keeps registered hooks from running | `claude_switches.rs`, `codex.rs` |
//! | which command lines are ours | `registered.rs` |
//! | the plugin's files | `assemble.rs` |
//! | executables and the link to the command | `executables.rs` |
//! | hook trust of Codex | `app_server.rs` |
//!
//! On disk, in the data directory: `bin/`, `plugin/<host>/`, `install/<host>/` (see `receipt`).

mod app_server;
mod apply;
mod assemble;
mod claude_code;
mod claude_switches;
mod codex;
mod error;
mod executables;
mod form;
mod installer;
mod json;
mod lock;
mod place;
mod plan;
mod program;
mod receipt;
mod registered;
mod survey;
mod toml;
mod toml_hooks;
mod user_file;

pub use apply::apply;
pub use codex::{trust, trust_state};
pub use error::{Broken, InstallError};
pub use executables::{Executables, remove_executables};
pub use lock::Lock;
pub use place::{FoundHost, HOSTS, Lends, Place, is_executable};
pub use plan::{Edit, Goal, Plan, plan, plan_unplaced};
pub use program::Program;
pub use receipt::{Means, backup, load as receipt};
pub use registered::events;
pub use survey::{Hindrance, Registration, Survey};

use std::path::Path;

/// Looks for what is ours in a host; `folder` is a project whose settings are looked at too.
///
/// # Errors
/// Bookend cannot be installed into that host yet, or a settings file cannot be read at all.
pub fn survey(place: &Place, found: FoundHost, folder: Option<&Path>) -> Result<Survey, InstallError> {
    (installer::installer(found.host)?.survey)(place, found, folder)
}
