//! The wire: what each host sends, what it accepts, how it registers hooks.
//!
//! One file per host, all of one shape (`Dialect`): `decode` makes an [`Event`] of a payload, `encode`
//! makes the host's document of a [`Reply`], `accepts` says what an event can carry, `events` is the
//! registration. A new host is one file and one line in [`Host`]. Nothing here knows state.
//!
//! Decoding is total: well-formed JSON that we do not model is `None`, unknown fields are ignored, a field
//! of the wrong type is absent. What a host's documentation says counts less than what it did; each file
//! names the version it was observed at.

mod answer;
mod claude_code;
mod codex;
mod detect;
mod envelope;
mod gemini_cli;
mod patch;
pub mod payload;
pub mod registration;
#[cfg(test)]
mod tests;
mod todos;
mod tools;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::event::Event;
use crate::hook::Hook;
pub use crate::host::Host;
use crate::reply::{Accepts, Reply};

pub use detect::detect;
use payload::Payload;

impl Host {
    /// The tool by which this host's model keeps its todo list, if it has one.
    #[must_use]
    pub fn todo_tool(self) -> Option<&'static str> {
        self.dialect().todo_tool
    }

    /// Whether its list outlives its process, so that a conversation that goes on still has it; and its tool
    /// adds to it.
    #[must_use]
    pub fn keeps_todos(self) -> bool {
        self.dialect().keeps_todos
    }

    /// Whether a session start follows a compaction.
    #[must_use]
    pub fn tells_of_compaction(self) -> bool {
        self.dialect().tells_of_compaction
    }

    /// Whether one process of it may run any number of conversations at once.
    #[must_use]
    pub fn serves_many(self) -> bool {
        self.dialect().serves_many
    }

    /// The variable that names a file whose variables the host's tools get, at the event of that name.
    #[must_use]
    pub fn tool_env(self, event: &str) -> Option<&'static str> {
        self.dialect().tool_env.filter(|_| event == "SessionStart")
    }

    /// What an answer to the event of that name can carry.
    #[must_use]
    pub fn accepts(self, event: &str) -> Accepts {
        (self.dialect().accepts)(event)
    }

    /// The document that says `reply` in answer to the event of that name; `None`: print nothing.
    #[must_use]
    pub fn encode(self, event: &str, reply: &Reply) -> Option<Value> {
        if reply.is_nothing() {
            None
        } else {
            (self.dialect().encode)(event, reply)
        }
    }

    fn dialect(self) -> &'static Dialect {
        match self {
            Self::ClaudeCode => &claude_code::DIALECT,
            Self::Codex => &codex::DIALECT,
            Self::GeminiCli => &gemini_cli::DIALECT,
        }
    }
}

/// A host as data: the one shape that every host file fills.
struct Dialect {
    todo_tool: Option<&'static str>,
    /// A conversation that goes on in another process still has its todos, and the tool adds to them.
    keeps_todos: bool,
    /// The variable that holds the host's process id, if it has one.
    pid_variable: Option<&'static str>,
    /// The variable that names a file for the environment of its tools, at a session's start.
    tool_env: Option<&'static str>,
    /// After a compaction it sends a session start; else the brief waits for the next prompt.
    tells_of_compaction: bool,
    /// One process may run any number of conversations at once.
    serves_many: bool,
    /// The event name, the payload, its surroundings: an event, or `None` for what we do not model.
    decode: fn(&str, &Payload<'_>, &Surroundings<'_>) -> Option<Event>,
    encode: fn(&str, &Reply) -> Option<Value>,
    accepts: fn(&str) -> Accepts,
    events: &'static [registration::Row],
}

/// Reads an environment variable by name: `config::var` in a hook, a table in tests.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What stands around a payload.
pub struct Surroundings<'a> {
    /// The executable that was run.
    pub hook: Hook,
    /// `--event`, for payloads that do not name theirs.
    pub event: Option<&'a str>,
    /// The environment.
    pub env: Env<'a>,
    /// The host process's arguments, looked up only when a host file asks (some say `headless` nowhere else).
    pub host_args: &'a dyn Fn() -> Vec<String>,
    /// When the payload was read.
    pub at: DateTime<Utc>,
}

/// Makes an event of a payload, or `None` when it is nothing that we model.
///
/// `registered` is the host of the registration (`--host`); a payload that is plainly another host's is
/// decoded as what it is, since some hosts also run Claude Code's hooks.
#[must_use]
pub fn decode(registered: Option<Host>, payload: &Value, around: &Surroundings<'_>) -> Option<Event> {
    let payload = Payload::new(payload)?;
    let host = detect(registered, &payload, around.env)?;
    let name = payload
        .str(&["hook_event_name", "hookEventName"])
        .or(around.event)?;
    let dialect = host.dialect();
    let mut event = (dialect.decode)(name, &payload, around)?;
    event.host_pid = dialect
        .pid_variable
        .and_then(around.env)
        .and_then(|pid| pid.parse().ok());
    Some(event)
}

/// The session id of a payload, whole and as sent: only for making a key of it, never to be stored.
#[must_use]
pub fn session_id(payload: &Value) -> Option<&str> {
    Payload::new(payload)?.str(&["session_id", "sessionId"])
}
