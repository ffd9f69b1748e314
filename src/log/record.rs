//! What one line of a log says. The field table here is the only one: the view, the export and the team's
//! database read these types.
//!
//! A record: `v, id (uuidv7), seq (byte offset of its line), at, by (hook | model | person), kind, …`.
//! Kinds that this version does not know are kept and skipped by readers. All text is [`Redacted`].
//!
//! What only models write says nothing that a hook acts on. The hooks are built without the feature `cli`, so to
//! them it is a kind that they do not know: it would make each of them 40 KB longer (measured).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::id::RequestId;
use super::turns::{End, Mark, Status, Turn};
use crate::delegation::report::Report;
use crate::event::{Agent, Origin};
use crate::host::Host;
use crate::redact::Redacted;
use crate::task::{Limit, Task, Todos};

/// The version of the line format.
pub const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the writer's format.
    pub v: u32,
    /// A uuidv7, unique across machines: what makes shipping idempotent.
    pub id: String,
    /// The byte offset of the line in its file.
    pub seq: u64,
    /// When it was written.
    pub at: DateTime<Utc>,
    /// Who wrote it.
    pub by: By,
    /// What it says.
    #[serde(flatten)]
    pub body: Body,
}

/// Who wrote a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A hook, or a command that settles for it.
    Hook,
    /// A model.
    Model,
    /// A person.
    Person,
}

/// What a record says, by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum Body {
    /// The session's first record.
    #[serde(rename = "session.open")]
    SessionOpen {
        /// The agent in PascalCase.
        agent: String,
        /// The host, if hooks write it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<Host>,
        /// The host's own session id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host_session: Option<Redacted>,
        /// The title: the first prompt's first line; empty when the log began before it.
        title: Redacted,
        /// The model, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Redacted>,
        /// The project root.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project_root: Option<Redacted>,
        /// The working directory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<Redacted>,
    },
    /// The session ended at the host.
    #[serde(rename = "session.end")]
    SessionEnd {
        /// The host's word for why.
        reason: Redacted,
    },
    /// The session has another title.
    #[cfg(feature = "cli")]
    #[serde(rename = "session.title")]
    SessionTitle {
        /// The title.
        title: Redacted,
    },
    /// A turn began.
    #[serde(rename = "turn.begin")]
    TurnBegin {
        /// The turn.
        turn: RequestId,
        /// The host's id for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host_turn: Option<Redacted>,
        /// Who began it.
        origin: Origin,
        /// The subagent whose own turn it is; none for the root's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Redacted>,
        /// When it began, where that is not when this was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        began: Option<DateTime<Utc>>,
        /// The prompt's first line, at most 80 characters.
        title: Redacted,
        /// The prompt.
        text: Redacted,
    },
    /// A model says more of a turn.
    #[cfg(feature = "cli")]
    #[serde(rename = "turn.update")]
    TurnUpdate {
        /// The turn.
        turn: RequestId,
        /// What it says.
        update: Box<Update>,
    },
    /// A model writes down what it thinks, calls, observes, decides.
    #[cfg(feature = "cli")]
    #[serde(rename = "turn.dialog")]
    TurnDialog {
        /// The turn.
        turn: RequestId,
        /// What was written down.
        items: Vec<DialogItem>,
    },
    /// Something was done in a turn.
    #[serde(rename = "turn.action")]
    TurnAction {
        /// The turn.
        turn: RequestId,
        /// What was done.
        action: Box<Action>,
    },
    /// A turn ended well.
    #[serde(rename = "turn.complete")]
    TurnComplete {
        /// The turn.
        turn: RequestId,
        /// The answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response: Option<Redacted>,
    },
    /// A turn failed.
    #[serde(rename = "turn.fail")]
    TurnFail {
        /// The turn.
        turn: RequestId,
        /// The host's kind, as sent.
        code: Redacted,
        /// What the user was shown.
        message: Redacted,
    },
    /// A turn's end is inferred.
    #[serde(rename = "turn.presumed")]
    TurnPresumed {
        /// The turn.
        turn: RequestId,
        /// `interrupted`, `session_ended`, `session_abandoned`, `host_gone`.
        code: Redacted,
    },
    /// The task in hand changed.
    #[serde(rename = "task")]
    Task {
        /// The task, or none.
        task: Option<Task>,
        /// A task that was not done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupted: Option<Task>,
    },
    /// The todo list changed.
    #[serde(rename = "todos")]
    Todos {
        /// The whole list, as it is now.
        todos: Todos,
    },
    /// A rate limit was met.
    #[serde(rename = "limit")]
    Limit {
        /// The turn in which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<RequestId>,
        /// The limit.
        limit: Limit,
    },
    /// Something that came after its turn had ended: kept, and changes nothing.
    #[serde(rename = "late")]
    Late {
        /// The turn that it belongs to.
        turn: RequestId,
        /// What was done, if it was a tool call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<Box<Action>>,
        /// What was said, if it was a stop.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Redacted>,
    },
    /// A subagent of the orchestration handed its work over (seed 1, "Downstream Context").
    #[serde(rename = "handoff")]
    Handoff {
        /// The turn in which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<RequestId>,
        /// What it reported.
        handoff: Box<Handoff>,
    },
    /// A remark, for instance that a task was taken over by another session.
    #[serde(rename = "note")]
    Note {
        /// The remark.
        text: Redacted,
    },
}

/// What a model says of a turn; what is absent or empty stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Update {
    /// A further request id for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<RequestId>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_title: Option<Redacted>,
    /// The prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_text: Option<Redacted>,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Redacted>,
    /// What the model took the prompt to mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpretation: Option<Redacted>,
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_count: Option<u64>,
    /// Further tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Redacted>,
    /// Further files that are its context.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context_list: Vec<Redacted>,
}

/// What a subagent of the orchestration handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handoff {
    /// The subagent; its type is the bare name, as the phases have it.
    pub agent: Agent,
    /// The orchestration's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orchestration: Option<Redacted>,
    /// The phase that was current then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Redacted>,
    /// The report is not whole, and its phase is to be looked through.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_reconciliation: bool,
    /// The report.
    #[serde(flatten)]
    pub report: Report,
}

/// Something that a model wrote down while it worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialogItem {
    /// When, if it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<DateTime<Utc>>,
    /// `model`, `tool`, `system` or `user`.
    pub role: Redacted,
    /// The text.
    pub content: Redacted,
    /// `reasoning`, `tool_call`, `tool_result`, `observation` or `decision`.
    pub category: Redacted,
}

/// Something done in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// Its place among a model's own actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    /// `edit`, `create`, `delete`, `command`, `commit`, `web_reference`, `tool`, or a model's own word.
    #[serde(rename = "type")]
    pub kind: ActionKind,
    /// A short sentence.
    pub description: Redacted,
    /// `completed`, `failed`, `interrupted` or `in_progress`.
    pub status: ActionStatus,
    /// The file, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<Redacted>,
    /// The command line or the URL, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Redacted>,
    /// The host's name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Redacted>,
    /// The host's id of the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Redacted>,
    /// The subagent that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The error of one that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Redacted>,
    /// The exit code of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
}

/// The kind of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// A file was changed.
    Edit,
    /// A file was made.
    Create,
    /// A file was deleted.
    Delete,
    /// A command that may have changed something.
    Command,
    /// A commit.
    Commit,
    /// A source on the web was read.
    WebReference,
    /// Another tool, recorded because it failed.
    Tool,
    /// A model's own word: `design_decision`, `pr_comment`, `dependency_add`, …
    #[cfg(feature = "cli")]
    #[serde(untagged)]
    Other(Redacted),
}

/// How an action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    /// Done.
    Completed,
    /// Failed.
    Failed,
    /// Interrupted by the user.
    Interrupted,
    /// A model is at it.
    InProgress,
}

impl Body {
    /// What it means for the turns. A subagent's own turn is none of theirs: no event of a host belongs to it.
    #[must_use]
    pub fn mark(&self, at: DateTime<Utc>) -> Option<Mark> {
        let end = |turn: &RequestId, end| {
            Some(Mark::End {
                turn: turn.clone(),
                end,
                at,
            })
        };
        match self {
            Self::TurnBegin {
                turn,
                host_turn,
                origin,
                agent: None,
                began,
                text,
                ..
            } => Some(Mark::Begin {
                turn: Turn {
                    id: turn.clone(),
                    host_turns: host_turn.iter().cloned().collect(),
                    origin: *origin,
                    status: Status::InProgress,
                    started_at: began.unwrap_or(at),
                    ended_at: None,
                    prompt: (!text.as_str().is_empty()).then(|| prompt_hash(text.as_str())),
                },
            }),
            Self::TurnComplete { turn, .. } => end(turn, End::Complete),
            Self::TurnFail { turn, code, .. } => end(turn, End::Fail { code: code.clone() }),
            Self::TurnPresumed { turn, code } => end(turn, End::Presume { code: code.clone() }),
            _ => None,
        }
    }

    /// What was done, if it tells of that.
    #[must_use]
    pub fn action(&self) -> Option<&Action> {
        match self {
            Self::TurnAction { action, .. }
            | Self::Late {
                action: Some(action), ..
            } => Some(action),
            _ => None,
        }
    }

    /// By what a tool call that is recorded is known when its event comes again: the call, what it changed (one
    /// call may change several files) and how it ended.
    #[must_use]
    pub fn logged_call(&self) -> Option<String> {
        let action = self.action()?;
        let call = action.call.as_ref()?;
        let changed = action.file_path.as_ref().map_or("", Redacted::as_str);
        Some(format!("logged:{call}:{:?}:{changed}", action.status))
    }

    /// Whether it is an end that must outlive a power cut.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::TurnComplete { .. } | Self::TurnFail { .. })
    }
}

/// A hash by which a resent prompt is known; not a secret's guard, only its fingerprint in memory.
#[must_use]
pub fn prompt_hash(text: &str) -> u64 {
    crate::fingerprint::fnv(text.trim().as_bytes())
}
