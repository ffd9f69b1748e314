//! What happened, in nobody's shape in particular.
//!
//! A host's payload becomes an [`Event`] in `hosts/`; everything behind that line (handlers, live
//! state, log) knows only this. All text in an event is [`Redacted`]: a secret is gone before the event
//! exists, so nothing that holds an event can write one. Events are stored as they are: one line of the
//! journal each (see `live::journal`), or one `pending-<uuid>.json` when the lock was not to be had.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::redact::Redacted;

/// Longest text kept of a prompt or of an answer, in characters: beyond it a turn's text is cut with `…`.
pub const MAX_TEXT: usize = 256 * 1024;
/// Longest text kept of an error, a command line, a path.
pub const MAX_LINE: usize = 2_000;
/// Longest identifier kept; a longer one is cut (its session key is a hash of all of it).
pub const MAX_ID: usize = 200;

/// One lifecycle event of a host, as one hook process saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The program that ran the hook.
    pub host: Host,
    /// The host's own name of the event, e.g. `PostToolUse`: what `show` counts and doctor checks.
    pub name: String,
    /// When the hook process read it.
    pub at: DateTime<Utc>,
    /// The host's session id, as sent, redacted and cut to [`MAX_ID`]. The journal says it once.
    #[serde(default, skip_serializing_if = "Redacted::is_empty")]
    pub session: Redacted,
    /// The host's id of the turn, where it has one (`prompt_id`, `turn_id`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Redacted>,
    /// The subagent in which it happened; `None` in the main agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// Whether a person is at the session: `Some(true)` for scripts (`claude -p`, `codex exec`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headless: Option<bool>,
    /// The working directory of the session at this moment; it may be gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Redacted>,
    /// The project root, where the host names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Redacted>,
    /// The model, where the host names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Redacted>,
    /// The name under which the main agent was started (`claude --agent planner`), where the host gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Redacted>,
    /// What happened.
    pub kind: Kind,
    /// How a second arrival of the same event is known: see `live::duplicate`. `None`: it never is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The payload carries a time stamp of the host, so identical bytes are the same event.
    #[serde(skip)]
    pub stamped: bool,
    /// The host's process id, where the host gives it (`CLAUDE_PID`).
    #[serde(skip)]
    pub host_pid: Option<u32>,
}

/// A subagent. Hosts give its id, its type, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The host's id of this run of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Redacted>,
    /// Its name or type, e.g. `general-purpose`, `maestro:code-reviewer`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Redacted>,
}

/// What an event says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A session starts, goes on, or was compacted.
    SessionStart {
        /// Why it starts.
        source: Source,
    },
    /// A prompt was submitted.
    Prompt {
        /// The text, whole up to [`MAX_TEXT`].
        text: Redacted,
        /// Who wrote it.
        origin: Origin,
    },
    /// The model is about to delegate to a subagent (the tool call, before it runs).
    Delegation {
        /// The host's id of the tool call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Redacted>,
        /// The agent asked for, if the host says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Redacted>,
        /// The prompt for it, cut to [`MAX_LINE`].
        prompt: Redacted,
        /// No subagent start follows on this host: the entry begins here.
        begins: bool,
    },
    /// A subagent started; `Event::agent` says which.
    AgentStart,
    /// A subagent ended; `Event::agent` says which.
    AgentStop {
        /// Its last message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Redacted>,
        /// The host says that a stop hook has already sent it back.
        again: bool,
    },
    /// A tool call ended.
    Tool(Box<ToolCall>),
    /// The main agent's turn ended.
    Stop {
        /// The last assistant message, whole up to [`MAX_TEXT`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Redacted>,
        /// The host says that a stop hook has already prolonged this turn (`stop_hook_active`).
        again: bool,
        /// Subagents that still run in the background, where the host lists them; `None`: it does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        background: Option<u32>,
    },
    /// The model failed; the host ends the turn with this instead of a stop.
    Failure {
        /// The host's kind, as sent: `rate_limit`, `server_error`, …
        code: Redacted,
        /// The text that the user was shown.
        message: Redacted,
        /// When the limit resets, if the host says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<DateTime<Utc>>,
    },
    /// The user interrupted the turn.
    Interrupt,
    /// The context is about to be compacted (some hosts say so without doing it).
    PreCompact,
    /// The session ended, or the user cleared it.
    SessionEnd {
        /// The host's word: `clear`, `exit`, `other`, …
        reason: Redacted,
    },
}

/// Why a session start was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A new conversation.
    Startup,
    /// An earlier conversation goes on under its id.
    Resume,
    /// An earlier conversation goes on under a new id.
    Fork,
    /// `/clear`: the user wants a clean start.
    Clear,
    /// The context was compacted; the conversation goes on.
    Compact,
}

/// Who wrote a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A person, or a script in their place.
    User,
    /// The host itself: `<task-notification>…`, a continued stop.
    Host,
    /// A model, through the log's methods.
    Model,
}

/// A tool call that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The host's name of the tool.
    pub tool: Redacted,
    /// What kind of tool that is.
    pub kind: ToolKind,
    /// The host's id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Redacted>,
    /// What it was aimed at: file path, command line, URL, pattern; cut to [`MAX_LINE`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Redacted>,
    /// The line in the file, where the host gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Files that it changed; empty when it changed none or failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// How it ended.
    pub outcome: Outcome,
    /// The change it made to the todo list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todos: Option<TodoChange>,
    /// A delegation or command that goes on in the background.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
}

/// One file that a tool call changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// What was done to it.
    pub change: Change,
    /// Its path, as the host wrote it.
    pub path: Redacted,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It was there before.
    Edit,
    /// It is new.
    Create,
    /// It is gone.
    Delete,
}

/// The neutral kind of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// Runs a command line.
    Shell,
    /// Reads a file.
    Read,
    /// Changes a file.
    Edit,
    /// Makes a file.
    Create,
    /// Deletes a file.
    Delete,
    /// Searches files or the tool list.
    Search,
    /// Reads the web.
    Web,
    /// Hands work to a subagent.
    Delegate,
    /// Changes the todo list.
    Todo,
    /// Presents or leaves a plan.
    Plan,
    /// A tool of Bookend's own by which a model writes the session log.
    Log,
    /// A tool of another MCP server.
    Mcp,
    /// Anything else.
    Other,
}

/// How a tool call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It did what it was asked, as far as the host says.
    Ok,
    /// It failed.
    Failed {
        /// The host's text, cut to [`MAX_LINE`].
        error: Redacted,
        /// The exit code of a command, where the host gives one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<i32>,
    },
    /// The user interrupted it.
    Interrupted,
}

/// A change of the todo list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TodoChange {
    /// The whole list, as it is now; empty clears it.
    List {
        /// The items in the host's order.
        items: Vec<TodoItem>,
    },
    /// One new item.
    Add {
        /// The host's id of the item.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<Redacted>,
        /// The item.
        item: TodoItem,
    },
    /// One item changed; what is `None` stays.
    Set {
        /// The host's id of the item.
        id: Redacted,
        /// The new status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<TodoStatus>,
        /// The new text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Redacted>,
    },
    /// One item is gone.
    Remove {
        /// The host's id of the item.
        id: Redacted,
    },
}

/// One todo, as a host gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoItem {
    /// The text.
    pub content: Redacted,
    /// Where it stands.
    pub status: TodoStatus,
    /// `high`, `medium` or `low`, where the host gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
}

/// Where a todo stands (the seed's four words).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done; at most one is.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
}

/// How urgent a todo is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// First.
    High,
    /// The default.
    Medium,
    /// Last.
    Low,
}
