//! Why a method did not do what it was asked: code, message, details, and always a hint on what to do next.

use std::io;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::forms;
use crate::clock;
use crate::fields::Wrong;
use crate::log::id::{self, RequestId, SessionId};
use crate::log::ledger::NoLedger;
use crate::log::off;
use crate::redact::Redacted;

/// Why a method failed. Nothing was written then.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// The line is no request.
    InvalidEnvelope {
        /// What is wrong with it.
        why: String,
    },
    /// There is no such method.
    MethodNotFound {
        /// The name that was given.
        method: Redacted,
        /// The methods that there are.
        methods: Vec<&'static str>,
    },
    /// A parameter is missing, unknown, of another type or out of its range.
    InvalidParameter {
        /// Which, with its place: `actions[1].order`.
        parameter: String,
        /// What was given; none when it is missing.
        value: Option<Value>,
        /// What it has to be.
        constraint: String,
    },
    /// No session was named or could be told, or there is none of that id.
    SessionNotFound {
        /// The one that was named.
        session: Option<SessionId>,
        /// Those that could be meant.
        candidates: Vec<Value>,
    },
    /// There is a session of that id.
    SessionAlreadyExists {
        /// Its id.
        session: SessionId,
    },
    /// A session id does not have its form, or is another agent's.
    InvalidSessionId {
        /// What was given.
        given: Redacted,
        /// The agent that it has to begin with.
        agent: Option<String>,
    },
    /// A request id does not have its form.
    InvalidRequestId {
        /// What was given.
        given: Redacted,
    },
    /// There is no such turn, or none at all.
    TurnNotFound {
        /// The session.
        session: SessionId,
        /// The turn that was named.
        turn: Option<RequestId>,
    },
    /// The session has a turn of that id.
    TurnAlreadyExists {
        /// The session.
        session: SessionId,
        /// The turn.
        turn: RequestId,
        /// Where it stands.
        status: &'static str,
    },
    /// The turn has its end.
    TurnImmutable {
        /// The turn.
        turn: RequestId,
        /// Where it stands.
        status: &'static str,
        /// Since when.
        completed_at: Option<DateTime<Utc>>,
    },
    /// The log cannot be read or written now.
    Storage {
        /// What failed, as a fragment that fits after "failed to".
        what: String,
    },
    /// Sessions that begin in the project leave no log.
    Off {
        /// The project.
        project: Redacted,
    },
    /// A fault of ours.
    Internal {
        /// What happened.
        what: String,
    },
}

impl Error {
    /// A parameter that is not what it has to be.
    #[must_use]
    pub fn parameter(parameter: &str, value: Option<&Value>, constraint: impl Into<String>) -> Self {
        Wrong::new(parameter, value, constraint).into()
    }

    /// What the file system refused.
    #[must_use]
    pub fn storage(what: &str, e: &io::Error) -> Self {
        Self::Storage {
            what: format!("{what}: {e}"),
        }
    }

    /// Its name, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidEnvelope { .. } => "invalid_envelope",
            Self::MethodNotFound { .. } => "method_not_found",
            Self::InvalidParameter { .. } => "invalid_parameter",
            Self::SessionNotFound { .. } => "session_not_found",
            Self::SessionAlreadyExists { .. } => "session_already_exists",
            Self::InvalidSessionId { .. } => "invalid_session_id",
            Self::InvalidRequestId { .. } => "invalid_request_id",
            Self::TurnNotFound { .. } => "turn_not_found",
            Self::TurnAlreadyExists { .. } => "turn_already_exists",
            Self::TurnImmutable { .. } => "turn_immutable",
            Self::Storage { .. } | Self::Off { .. } => "storage_error",
            Self::Internal { .. } => "internal_error",
        }
    }

    /// What is wrong, as a sentence for models and people.
    #[must_use]
    pub fn message(&self) -> String {
        let hint = self.hint();
        let what = match self {
            // The seed's own sentence; the hint stands in the details.
            Self::TurnImmutable { status, .. } => return format!("Turn is immutable (status: {status})"),
            Self::InvalidEnvelope { why } => format!("The line is no request: {why}"),
            Self::MethodNotFound { method, .. } => format!("There is no method {method}"),
            Self::InvalidParameter {
                parameter,
                value: None,
                constraint,
            } => {
                format!("Parameter {parameter} is missing: {constraint}")
            }
            Self::InvalidParameter {
                parameter,
                constraint,
                ..
            } => {
                format!("Parameter {parameter} is not valid: {constraint}")
            }
            Self::SessionNotFound {
                session: Some(session),
                ..
            } => format!("There is no session {session}"),
            Self::SessionNotFound { candidates, .. } if candidates.is_empty() => {
                "No active session".to_owned()
            }
            Self::SessionNotFound { candidates, .. } => {
                format!(
                    "It cannot be told which of {} sessions is meant",
                    candidates.len()
                )
            }
            Self::SessionAlreadyExists { session } => format!("The session {session} exists already"),
            Self::InvalidSessionId {
                given,
                agent: Some(agent),
            } => {
                format!("The session id {given} does not begin with the agent {agent}")
            }
            Self::InvalidSessionId { given, agent: None } => format!("{given:?} is no session id"),
            Self::InvalidRequestId { given } => format!("{given:?} is no request id"),
            Self::TurnNotFound {
                session,
                turn: Some(turn),
            } => {
                format!("The session {session} has no turn {turn}")
            }
            Self::TurnNotFound { session, turn: None } => format!("The session {session} has no active turn"),
            Self::TurnAlreadyExists { session, turn, .. } => {
                format!("The session {session} has a turn {turn} already")
            }
            Self::Storage { what } => format!("Failed to {what}"),
            Self::Off { project } => format!("The log is off in {project}: {} is there", off::FILE),
            Self::Internal { what } => format!("A fault of Bookend's own: {what}"),
        };
        format!("{what}. {hint}.")
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::InvalidEnvelope { .. } => {
                r#"Send one line of JSON a request: {"type":"request","payload":{"requestId":"req-…","method":"…","params":{}}}"#
            }
            Self::MethodNotFound { method, .. } if is_the_servers(method) => {
                "That one belongs to the reference server; Bookend keeps the session log only"
            }
            Self::MethodNotFound { .. } => "Use one of the methods in details.methods",
            Self::InvalidParameter { .. } => {
                "Send the request again with that parameter put right; nothing was written"
            }
            Self::SessionNotFound { session: Some(_), .. } => {
                "Call openSession with that id first, or queryHistory to see which there are"
            }
            Self::SessionNotFound { candidates, .. } if candidates.is_empty() => {
                "Call openSession first, or name a session by sessionId"
            }
            Self::SessionNotFound { .. } => {
                "Name one of details.candidates by sessionId, or call openSession"
            }
            Self::SessionAlreadyExists { .. } => {
                "Go on in it by naming its sessionId, or open one with another suffix or time"
            }
            Self::InvalidSessionId { .. } | Self::InvalidRequestId { .. } => {
                "Use the form in details.expectedFormat, with a date and time that exist"
            }
            Self::TurnNotFound { .. } => "Call beginTurn first",
            Self::TurnAlreadyExists { .. } => "Go on with updateTurn, or begin one with another requestId",
            Self::TurnImmutable { .. } => "Begin a new turn instead",
            Self::Storage { .. } => {
                "The log is as it was: try again, and see `bookend doctor` if it stays so"
            }
            Self::Off { .. } => "Go on without the log, or let the person remove that file",
            Self::Internal { .. } => "The log is as it was: report this, and see `bookend doctor`",
        };
        hint.to_owned()
    }

    /// What a program needs to go on.
    #[must_use]
    pub fn details(&self) -> Value {
        let mut details = match self {
            Self::InvalidEnvelope { .. } | Self::Storage { .. } | Self::Internal { .. } => {
                json!({})
            }
            Self::Off { project } => json!({"project": project}),
            Self::MethodNotFound { method, methods } => json!({"method": method, "methods": methods}),
            Self::InvalidParameter {
                parameter,
                value,
                constraint,
            } => {
                json!({"parameter": parameter, "value": value, "constraint": constraint})
            }
            Self::SessionNotFound { session, candidates } => {
                json!({"sessionId": session, "candidates": candidates})
            }
            Self::SessionAlreadyExists { session } => json!({"sessionId": session}),
            Self::InvalidSessionId { given, agent } => {
                let format = match agent {
                    Some(agent) => id::SESSION_FORMAT.replace("<Agent>", agent),
                    None => id::SESSION_FORMAT.to_owned(),
                };
                json!({"providedId": given, "expectedFormat": format, "regex": id::SESSION_REGEX})
            }
            Self::InvalidRequestId { given } => {
                json!({"providedId": given, "expectedFormat": id::REQUEST_FORMAT, "regex": id::REQUEST_REGEX})
            }
            Self::TurnNotFound { session, turn } => json!({"sessionId": session, "turnRequestId": turn}),
            Self::TurnAlreadyExists {
                session,
                turn,
                status,
            } => {
                json!({"requestId": turn, "sessionId": session, "existingTurnStatus": status})
            }
            Self::TurnImmutable {
                turn,
                status,
                completed_at,
            } => json!({
                "turnRequestId": turn, "currentStatus": status, "completedAt": completed_at.map(clock::stamp),
            }),
        };
        if let Some(details) = details.as_object_mut() {
            details.insert("hint".to_owned(), json!(self.hint()));
        }
        details
    }
}

impl From<Wrong> for Error {
    fn from(wrong: Wrong) -> Self {
        let given = || {
            let text = wrong.value.as_deref().and_then(Value::as_str);
            Redacted::new(text.unwrap_or_default())
        };
        match wrong.form.map(|form| form.name) {
            Some(name) if name == forms::SESSION.name => Self::InvalidSessionId {
                given: given(),
                agent: None,
            },
            Some(name) if name == forms::REQUEST.name => Self::InvalidRequestId { given: given() },
            _ => Self::InvalidParameter {
                parameter: wrong.parameter,
                value: wrong.value.map(|value| *value),
                constraint: wrong.constraint,
            },
        }
    }
}

/// What the table and the types disagree about.
impl From<String> for Error {
    fn from(what: String) -> Self {
        Self::Internal { what }
    }
}

impl From<NoLedger> for Error {
    fn from(e: NoLedger) -> Self {
        Self::Storage { what: e.to_string() }
    }
}

/// Names that agents know from the server whose log this one follows.
fn is_the_servers(method: &str) -> bool {
    [
        "workflow.todo.",
        "workflow.requirements.",
        "workflow.graphrag.",
        "mcp_session_",
        "client.Todo.",
        "todo.",
        "requirements.",
    ]
    .iter()
    .any(|start| method.starts_with(start))
}
