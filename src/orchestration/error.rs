//! Why a tool did not do what it was asked: code, message, and always what to do next.

use std::fmt::Display;
use std::io;

use serde_json::{Value, json};

use super::path::BadPath;
use super::plan::Violation;
use super::session::{PhaseId, PhaseStatus};
use crate::fields::Wrong;
use crate::redact::Redacted;

/// Why a tool failed. Nothing was changed then, except by [`Error::ArchiveUnfinished`].
#[derive(Debug)]
pub enum Error {
    /// There is no such tool.
    UnknownTool {
        /// The name that was given.
        tool: Redacted,
        /// The tools that there are.
        tools: Vec<&'static str>,
    },
    /// An argument is missing, unknown, of another type or out of its range.
    InvalidParameter(Wrong),
    /// The workspace or its state directory cannot be used.
    Workspace {
        /// Why, as a sentence without its full stop.
        why: String,
    },
    /// A path is not to be used.
    Path {
        /// Which.
        path: Redacted,
        /// Why.
        why: BadPath,
    },
    /// There is no active session.
    NoActiveSession,
    /// A session is active already, or has ended and is not archived.
    SessionActive {
        /// Its id.
        session: String,
        /// Where it stands.
        status: String,
    },
    /// Another session is active.
    SessionMismatch {
        /// The one that was named.
        named: String,
        /// The one that is active.
        active: String,
    },
    /// There is an archive of that id.
    AlreadyArchived {
        /// The id.
        session: String,
    },
    /// `active-session.md` cannot be read.
    StateInvalid {
        /// Where it is.
        path: String,
        /// Why.
        why: String,
    },
    /// The phases cannot be worked through.
    InvalidPlan {
        /// Why not.
        violations: Vec<Violation>,
    },
    /// There is no such phase.
    PhaseNotFound {
        /// The one that was named.
        phase: PhaseId,
        /// Those that there are.
        phases: Vec<PhaseId>,
    },
    /// A phase cannot go from where it stands to there.
    InvalidTransition {
        /// The phase.
        phase: PhaseId,
        /// Where it stands.
        from: String,
        /// Where it was to go.
        to: PhaseStatus,
        /// Where it can go.
        allowed: Vec<PhaseStatus>,
    },
    /// Only the user may decide that.
    UserDecision {
        /// The phase that was to be skipped.
        phase: PhaseId,
    },
    /// Other phases come first.
    Blocked {
        /// The phase that was to begin.
        phase: PhaseId,
        /// Those that are neither completed nor skipped.
        by: Vec<PhaseId>,
    },
    /// It was tried often enough.
    RetriesExhausted {
        /// The phase.
        phase: PhaseId,
        /// How often.
        retries: u64,
    },
    /// Not all phases have ended.
    NotFinished {
        /// Those that have not.
        phases: Vec<PhaseId>,
    },
    /// Archiving was begun, and could not be finished.
    ArchiveUnfinished {
        /// What failed.
        what: String,
    },
    /// Somebody else holds the lock for too long.
    Busy,
    /// A file cannot be read or written now.
    Storage {
        /// What failed, as a fragment that fits after "failed to".
        what: String,
    },
    /// A fault of ours.
    Internal {
        /// What happened.
        what: String,
    },
}

fn listed<T: Display>(items: &[T]) -> String {
    let texts: Vec<String> = items.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

fn words(allowed: &[PhaseStatus]) -> String {
    let words: Vec<&str> = allowed.iter().map(|status| status.word()).collect();
    words.join(" or ")
}

impl Error {
    /// An argument that is not what it has to be.
    #[must_use]
    pub fn parameter(name: &str, value: Option<&Value>, constraint: impl Into<String>) -> Self {
        Self::InvalidParameter(Wrong::new(name, value, constraint))
    }

    /// What the file system refused.
    #[must_use]
    pub fn storage(what: impl Display, e: &io::Error) -> Self {
        Self::Storage {
            what: format!("{what}: {e}"),
        }
    }

    /// Its name, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownTool { .. } => "unknown_tool",
            Self::InvalidParameter(_) => "invalid_parameter",
            Self::Workspace { .. } => "invalid_workspace",
            Self::Path { why, .. } => why.code(),
            Self::NoActiveSession => "no_active_session",
            Self::SessionActive { .. } => "session_active",
            Self::SessionMismatch { .. } => "session_mismatch",
            Self::AlreadyArchived { .. } => "already_archived",
            Self::StateInvalid { .. } => "invalid_state",
            Self::InvalidPlan { .. } => "invalid_plan",
            Self::PhaseNotFound { .. } => "phase_not_found",
            Self::InvalidTransition { .. } => "invalid_transition",
            Self::UserDecision { .. } => "user_decision_required",
            Self::Blocked { .. } => "dependencies_incomplete",
            Self::RetriesExhausted { .. } => "retries_exhausted",
            Self::NotFinished { .. } => "phases_incomplete",
            Self::ArchiveUnfinished { .. } => "archive_unfinished",
            Self::Busy => "busy",
            Self::Storage { .. } => "storage_error",
            Self::Internal { .. } => "internal_error",
        }
    }

    /// What is wrong, as a sentence.
    #[must_use]
    pub fn message(&self) -> String {
        let what = match self {
            Self::UnknownTool { tool, .. } => format!("There is no tool {tool}"),
            Self::InvalidParameter(Wrong {
                parameter,
                value: None,
                constraint,
                ..
            }) => format!("Parameter {parameter} is missing: {constraint}"),
            Self::InvalidParameter(wrong) => {
                format!("Parameter {} is not valid: {}", wrong.parameter, wrong.constraint)
            }
            Self::Workspace { why } => why.clone(),
            Self::Path { path, why } => format!("The path {path} cannot be used: {why}"),
            Self::NoActiveSession => "There is no active session".to_owned(),
            Self::SessionActive { session, status } => {
                format!("The session {session} is not archived (status: {status})")
            }
            Self::SessionMismatch { named, active } => {
                format!("The active session is {active}, not {named}")
            }
            Self::AlreadyArchived { session } => format!("There is an archive of {session} already"),
            Self::StateInvalid { path, why } => format!("{path} cannot be read: {why}"),
            Self::InvalidPlan { violations } => {
                let details: Vec<&str> = violations.iter().map(|v| v.detail.as_str()).collect();
                format!("The phases cannot be worked through: {}", details.join("; "))
            }
            Self::PhaseNotFound { phase, .. } => format!("There is no phase {phase}"),
            Self::InvalidTransition {
                phase,
                from,
                to,
                allowed,
            } => {
                let may = if allowed.is_empty() {
                    "nowhere".to_owned()
                } else {
                    format!("only to {}", words(allowed))
                };
                format!("Phase {phase} is {from}: it can go {may}, not to {}", to.word())
            }
            Self::UserDecision { phase } => format!("Phase {phase} is skipped only when the user decides it"),
            Self::Blocked { phase, by } => {
                format!(
                    "Phase {phase} cannot begin before these have ended: {}",
                    listed(by)
                )
            }
            Self::RetriesExhausted { phase, retries } => {
                format!("Phase {phase} was retried {retries} times, which is the most")
            }
            Self::NotFinished { phases } => format!("These phases have not ended: {}", listed(phases)),
            Self::ArchiveUnfinished { what } => {
                format!("Archiving was begun, and the files could not be moved: {what}")
            }
            Self::Busy => "Another process holds the lock of the state".to_owned(),
            Self::Storage { what } => format!("Failed to {what}"),
            Self::Internal { what } => format!("A fault of Bookend's own: {what}"),
        };
        format!("{what}.")
    }

    /// What to do next, as a sentence.
    #[must_use]
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::UnknownTool { tools, .. } => return format!("Use one of {}.", tools.join(", ")),
            Self::InvalidParameter(_) => "Call again with that parameter put right; nothing was changed.",
            Self::Workspace { .. } => {
                "Call initialize_workspace with the project's own directory, or set MAESTRO_STATE_DIR to a relative path in it."
            }
            Self::Path { why, .. } => return why.hint().to_owned(),
            Self::NoActiveSession => "Call create_session first; list_sessions shows those of before.",
            Self::SessionActive { .. } => {
                "Ask the user whether to archive it (archive_session) or to resume it (get_session_status)."
            }
            Self::SessionMismatch { .. } => "Name the active session, or call get_session_status to see it.",
            Self::AlreadyArchived { .. } => {
                "Choose another session id, for instance with a number behind the topic."
            }
            Self::StateInvalid { .. } => {
                "Mend the file by hand, or move it away with the user's consent; nothing was changed."
            }
            Self::InvalidPlan { .. } => "Mend the phases; validate_plan says whether they are right.",
            Self::PhaseNotFound { phases, .. } => {
                return format!("The phases are {}.", listed(phases));
            }
            Self::InvalidTransition { allowed, .. } if allowed.is_empty() => {
                "Nothing is to be done: get_session_status says what comes next."
            }
            Self::InvalidTransition { .. } => {
                "Make the allowed transition first; get_session_status says what comes next."
            }
            Self::UserDecision { .. } => "Ask the user, then call again with user_decided: true.",
            Self::Blocked { .. } => "Complete those first, or let the user decide to skip them.",
            Self::RetriesExhausted { .. } => {
                "Tell the user what failed and ask how to go on. MAESTRO_MAX_RETRIES allows more; archive_session with force ends the session."
            }
            Self::NotFinished { .. } => {
                "Complete or skip them, or, if the user asks for it, call archive_session with force: true and a reason."
            }
            Self::ArchiveUnfinished { .. } => {
                "It is written down: see to the disk and the directories' rights, and the next call that writes finishes it."
            }
            Self::Busy => "Nothing was changed: try again in a moment.",
            Self::Storage { .. } => {
                "See to the disk and the directory's rights; get_session_status says whether anything was changed."
            }
            Self::Internal { .. } => "The state is as it was: report this.",
        };
        hint.to_owned()
    }

    /// What a program needs to go on.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::UnknownTool { tool, tools } => json!({"tool": tool, "tools": tools}),
            Self::InvalidParameter(wrong) => {
                json!({"parameter": wrong.parameter, "value": wrong.value, "constraint": wrong.constraint})
            }
            Self::Path { path, .. } => json!({"path": path}),
            Self::SessionActive { session, status } => json!({"session_id": session, "status": status}),
            Self::SessionMismatch { named, active } => {
                json!({"session_id": named, "active_session_id": active})
            }
            Self::AlreadyArchived { session } => json!({"session_id": session}),
            Self::StateInvalid { path, .. } => json!({"path": path}),
            Self::InvalidPlan { violations } => json!({"violations": violations}),
            Self::PhaseNotFound { phase, phases } => json!({"phase_id": phase, "phases": phases}),
            Self::InvalidTransition {
                phase,
                from,
                to,
                allowed,
            } => {
                let allowed: Vec<&str> = allowed.iter().map(|status| status.word()).collect();
                json!({"phase_id": phase, "from": from, "to": to.word(), "allowed": allowed})
            }
            Self::UserDecision { phase } => json!({"phase_id": phase}),
            Self::Blocked { phase, by } => json!({"phase_id": phase, "blocked_by": by}),
            Self::RetriesExhausted { phase, retries } => json!({"phase_id": phase, "retry_count": retries}),
            Self::NotFinished { phases } => json!({"phases": phases}),
            Self::Workspace { .. }
            | Self::NoActiveSession
            | Self::ArchiveUnfinished { .. }
            | Self::Busy
            | Self::Storage { .. }
            | Self::Internal { .. } => json!({}),
        }
    }

    /// All of it, as a tool answers it.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "code": self.code(), "error": self.message(), "recovery_hint": self.hint(), "details": self.details(),
        })
    }
}

impl From<Wrong> for Error {
    fn from(wrong: Wrong) -> Self {
        Self::InvalidParameter(wrong)
    }
}

/// What the table and the types disagree about.
impl From<String> for Error {
    fn from(what: String) -> Self {
        Self::Internal { what }
    }
}
