//! A session of the log as it is printed by `log show`, and as a live state that is gone is begun again
//! from it. `fold` makes it.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::id::{RequestId, SessionId};
use super::record::{Action, DialogItem, Handoff};
use super::turns::Turns;
use crate::event::Origin;
use crate::host::Host;
use crate::redact::Redacted;
use crate::task::{Limit, Task, Todos, to_be_resumed};

/// A session of the log, as it is printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// The agent in PascalCase.
    pub agent: String,
    /// The log session.
    pub session_id: SessionId,
    /// The host, if hooks write it.
    pub host: Option<Host>,
    /// The host's own id of the session.
    pub host_session: Option<Redacted>,
    /// The title.
    pub title: Redacted,
    /// The model, if known.
    pub model: Option<Redacted>,
    /// The project root.
    pub project_root: Option<Redacted>,
    /// When its first record was written.
    pub started: Option<DateTime<Utc>>,
    /// When its last one was.
    pub last_updated: Option<DateTime<Utc>>,
    /// `in_progress`, `completed` or `failed`.
    pub status: &'static str,
    /// How many turns it has.
    pub turn_count: usize,
    /// How many files its turns changed.
    pub files_modified_count: usize,
    /// Its turns, oldest first.
    pub turns: Vec<TurnView>,
    /// What subagents of an orchestration handed over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handoffs: Vec<HandoffView>,
    /// Remarks.
    pub notes: Vec<Redacted>,
    /// What could not be read, as fragments that fit after "failed to".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// The task in hand at the end.
    #[serde(skip)]
    pub task: Option<Task>,
    /// The task that was left for it.
    #[serde(skip)]
    pub interrupted: Option<Task>,
    /// The todos at the end.
    pub todos: Option<Todos>,
    /// The last limit, unless something went well after it.
    #[serde(skip)]
    pub limit: Option<Limit>,
    /// The turns, as attribution needs them.
    #[serde(skip)]
    pub machine: Turns,
    /// The last sign of life: the last record that was not only inferred.
    #[serde(skip)]
    pub last_sign: Option<DateTime<Utc>>,
    /// The end of the last whole line.
    #[serde(skip)]
    pub end: u64,
    #[serde(skip)]
    pub(super) ended: bool,
}

impl SessionView {
    /// The task that a later session may take over.
    #[must_use]
    pub fn to_be_resumed(&self) -> Option<&Task> {
        to_be_resumed(self.task.as_ref(), self.interrupted.as_ref())
    }
}

/// What a subagent handed over, and when.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HandoffView {
    /// When.
    pub at: DateTime<Utc>,
    /// What.
    #[serde(flatten)]
    pub handoff: Handoff,
}

/// A turn, as it is printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnView {
    /// Its request id.
    pub request_id: RequestId,
    /// Other request ids by which a model knows it.
    pub aliases: Vec<RequestId>,
    /// `user`, `host` or `model`.
    pub origin: Origin,
    /// The subagent whose own turn it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Redacted>,
    /// The prompt's first line.
    pub query_title: Redacted,
    /// The prompt.
    pub query_text: Redacted,
    /// The answer.
    pub response: Option<Redacted>,
    /// What the model took the prompt to mean.
    pub interpretation: Option<Redacted>,
    /// `in_progress`, `completed` or `failed`.
    pub status: &'static str,
    /// The end was only inferred.
    pub presumed: bool,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    pub completed_at: Option<DateTime<Utc>>,
    /// Tokens, if the model said.
    pub token_count: Option<u64>,
    /// Tags, if the model gave any.
    pub tags: Vec<Redacted>,
    /// Files that the model named as context.
    pub context_list: Vec<Redacted>,
    /// What the model wrote down while it worked.
    pub dialog: Vec<DialogItem>,
    /// What was done, in order.
    pub actions: Vec<ActionView>,
    /// What came after its end.
    pub late: Vec<LateView>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// The answer as its end said it, to know the same end again.
    #[serde(skip)]
    pub end_response: Option<Redacted>,
    /// The answer is a model's own: no hook replaces it.
    #[serde(skip)]
    pub(super) answered: bool,
}

/// An action with its place in the turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionView {
    /// The place that the model gave it; else its place in the turn, from 1.
    pub order: usize,
    /// When.
    pub at: DateTime<Utc>,
    /// What.
    #[serde(flatten)]
    pub action: Action,
    /// A hook recorded it.
    #[serde(skip)]
    pub hooked: bool,
    /// A model told it.
    #[serde(skip)]
    pub told: bool,
}

/// Something that came after its turn's end.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LateView {
    /// When.
    pub at: DateTime<Utc>,
    /// What was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// What was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Redacted>,
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The host's kind, or one of ours.
    pub code: Redacted,
    /// What the user was shown.
    pub message: Redacted,
}
