//! What is being done: the current task, the todos, rate limits, and the brief from which an interrupted
//! session resumes (third seed). Types and pure functions; who stores them is `live` and `log`. (Only
//! `agent_files` goes to files itself: those of other programs.)

pub mod agent_files;
pub mod command;
pub mod current;
pub mod describe;
pub mod go_on;
pub mod limit;
mod limit_words;
pub mod resume;
pub mod todos;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::event::{Priority, TodoStatus};
use crate::redact::Redacted;

/// Longest description of a task, in characters.
pub const MAX_DESCRIPTION: usize = 120;
/// Longest last action and context anchor, in characters.
pub const MAX_STEP: usize = 200;

/// The task in hand, with the seed's five fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The prompt's first line, at most [`MAX_DESCRIPTION`] characters.
    pub description: Redacted,
    /// When it was begun.
    pub started_at: DateTime<Utc>,
    /// The last thing that was done, a short sentence.
    pub last_action: Redacted,
    /// Where: a file (with line), a command, or the project root.
    pub context_anchor: Option<Redacted>,
    /// When a rate limit stopped it.
    pub rate_limit_detected_at: Option<DateTime<Utc>>,
    /// It was taken over from another session, and nothing has been done since: it is still to be offered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untouched: bool,
}

/// The task that a later session may take over: the one in hand, else one that was taken over, told, and
/// left for something else before anything was done on it.
#[must_use]
pub fn to_be_resumed<'t>(current: Option<&'t Task>, left: Option<&'t Task>) -> Option<&'t Task> {
    current.or(left.filter(|t| t.untouched))
}

/// The todo list, with the seed's fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Todos {
    /// The workflow that the list belongs to.
    pub flow: Option<Redacted>,
    /// When the host last changed it.
    pub last_synced_at: Option<DateTime<Utc>>,
    /// The items, in the host's order.
    pub items: Vec<Todo>,
}

/// One todo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    /// The text.
    pub content: Redacted,
    /// Where it stands.
    pub status: TodoStatus,
    /// How urgent it is.
    pub priority: Priority,
    /// The workflow that it belongs to.
    pub flow: Redacted,
    /// What it refers to: a story, a file.
    pub ref_id: Option<Redacted>,
    /// The host's own id of it, where changes come one at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_id: Option<Redacted>,
}

impl Todo {
    /// Whether it is still to be done.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.status, TodoStatus::Pending | TodoStatus::InProgress)
    }
}

impl Todos {
    /// The items that are still to be done.
    pub fn open(&self) -> impl Iterator<Item = &Todo> {
        self.items.iter().filter(|t| t.is_open())
    }

    /// The same list for another session, whose host has not given the items its ids yet.
    #[must_use]
    pub fn without_ids(mut self) -> Self {
        for item in &mut self.items {
            item.host_id = None;
        }
        self
    }

    /// Whether anything is still to be done.
    #[must_use]
    pub fn any_open(&self) -> bool {
        self.open().next().is_some()
    }
}

/// A rate limit that was met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limit {
    /// When it was met.
    pub detected_at: DateTime<Utc>,
    /// Whose limit it is.
    pub source: LimitSource,
    /// Which rule recognised it: the host's kind, or the words.
    pub rule: String,
    /// The error's text.
    pub message: Redacted,
    /// When it resets, if the host says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<DateTime<Utc>>,
    /// The model has been told to wait.
    #[serde(default)]
    pub told: bool,
}

/// Whose limit it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitSource {
    /// The model's provider: nothing can go on until it resets.
    Provider,
    /// A service that a tool called: nothing else is stopped by it.
    Tool,
}
