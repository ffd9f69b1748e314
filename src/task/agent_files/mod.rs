//! The state files of three agents (planner, toolkit, builder), kept by the hooks without the model's help.
//!
//! | agent | file | kept in it |
//! | --- | --- | --- |
//! | planner | `<project>/docs/planner-state.json` | `uiTodos`, `currentTask`, `updatedAt` |
//! | toolkit | `~/.config/opencode/.tmp/toolkit-state.json` | the same |
//! | builder | `<project>/docs/sessions/<id>/session.json` | `currentAction`, `lastHeartbeat`; its todos are its `chunks` |
//!
//! They are other people's files: read leniently, changed only where they have to change ([`Place::write`]),
//! never made unless the user asks ([`init()`]), and left alone when they cannot be understood. Our own record
//! carries on in any case, and a resume takes the newer of the two ([`Said::newer`]).
//!
//! | to change | look in |
//! | --- | --- |
//! | which file applies, and where it is | `place.rs` |
//! | what is read from it, what is odd | `said.rs`, `planner.rs`, `list.rs`, `builder.rs` |
//! | what is written into it | `news.rs`, `planner.rs`, `list.rs`, `builder.rs` |
//! | keeping the rest of the text | `json.rs`, `write.rs` |
//! | lock, replacement, faults | `store.rs` |
//! | at which events | `dispatch/keep.rs` |

mod builder;
mod init;
mod json;
mod list;
mod news;
mod place;
mod planner;
mod said;
mod store;
#[cfg(test)]
mod tests;
mod write;

use std::time::Duration;

use chrono::{DateTime, Utc};

pub use init::init;
pub use json::Broken;
pub use news::{News, TodoNews};
pub use place::{Place, Roots};
pub use said::Said;
pub use store::Unusable;

use crate::files::Dir;

/// Largest state file that is read.
pub const MAX_FILE: u64 = 5 * 1024 * 1024;
/// A session's file is to stay below this, in bytes.
pub const MAX_SESSION: usize = store::MAX_SESSION;
/// A builder without a sign of life for so long is taken for gone.
const STALE: Duration = Duration::from_secs(10 * 60);

/// An agent that has a state file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Plans: PRDs and their todos.
    Planner,
    /// Works at the toolkit itself.
    Toolkit,
    /// Builds: stories as chunks.
    Builder,
}

impl Agent {
    /// The agent of that name; a plugin's prefix (`yo:planner`) is passed over.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name.rsplit(':').next().unwrap_or_default() {
            "planner" => Some(Self::Planner),
            "toolkit" => Some(Self::Toolkit),
            "builder" => Some(Self::Builder),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Toolkit => "toolkit",
            Self::Builder => "builder",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Planner => "planner-state.json",
            Self::Toolkit => "toolkit-state.json",
            Self::Builder => "session.json",
        }
    }
}

/// A state file that was looked into for a resume.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Whose it is.
    pub agent: Agent,
    /// Where it is, from the project's root on.
    pub shown: String,
    /// What it says.
    pub said: Said,
    /// How old the builder's last sign of life is, if that is too old.
    pub stale: Option<Duration>,
}

impl Kept {
    /// Looks into the file that applies; `None` when there is none.
    ///
    /// # Errors
    /// What is wrong with it, a fragment that fits after "failed to".
    pub fn find(roots: Roots<'_>, named: Option<Agent>, now: DateTime<Utc>) -> Result<Option<Self>, String> {
        let Some(place) = roots.find(named) else {
            return Ok(None);
        };
        let shown = place.shown(roots);
        let said = place.read().map_err(|e| format!("read {shown}: {e}"))?;
        Ok(Some(Self {
            agent: place.agent,
            stale: stale(&said, roots, now),
            shown,
            said,
        }))
    }

    /// Whether there is anything to resume from.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.said.task.is_some() || self.said.todos.as_ref().is_some_and(crate::task::Todos::any_open)
    }
}

/// How old the heartbeat is, if it is older than the project allows (`project.json`,
/// `agents.heartbeatTimeoutMinutes`; else ten minutes).
#[must_use]
pub fn stale(said: &Said, roots: Roots<'_>, now: DateTime<Utc>) -> Option<Duration> {
    let age = crate::clock::age(said.heartbeat?, now);
    let allowed = roots.docs().and_then(|(_, docs)| timeout(&docs)).unwrap_or(STALE);
    (age > allowed).then_some(age)
}

fn timeout(docs: &Dir) -> Option<Duration> {
    let bytes = docs.read("project.json", MAX_FILE).ok()??;
    let doc = json::Document::parse(&bytes).ok()?;
    let minutes = doc.root.get("agents")?.object()?.get("heartbeatTimeoutMinutes")?;
    let minutes: u64 = minutes.text.parse().ok().filter(|m| *m > 0)?;
    Some(Duration::from_secs(minutes.saturating_mul(60)))
}
