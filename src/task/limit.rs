//! Rate limits, recognised in errors only: a failed model call or a failed tool's error text, never in
//! prose or in successful output (third seed, "Rate Limit Handling").
//!
//! The host's own kind of error decides where there is one: `server_error` with a text that says "rate
//! limit" is none. Else the words do: `429` as a status, "rate limit", "too many requests", "quota".

use super::limit_words::{resets, words};
use super::{Limit, LimitSource, Task};
use crate::clock;
use crate::event::{Event, Kind, MAX_LINE, Outcome, ToolKind};
use crate::redact::Redacted;

/// Kinds of error by which hosts name a limit of the model's provider.
const LIMIT_KINDS: &[&str] = &[
    "rate_limit",
    "rate_limit_error",
    "rate_limit_exceeded",
    "too_many_requests",
    "429",
];
/// Kinds of error that say nothing: the words decide.
const NO_KINDS: &[&str] = &["", "unknown", "error"];

/// The limit that `event` met, if it met one.
#[must_use]
pub fn met(event: &Event) -> Option<Limit> {
    let (source, rule, message, resets_at) = match &event.kind {
        Kind::Failure {
            code,
            message,
            resets_at,
        } => {
            let kind = code.as_str().to_ascii_lowercase();
            let rule = if LIMIT_KINDS.contains(&kind.as_str()) {
                format!("kind {kind}")
            } else if NO_KINDS.contains(&kind.as_str()) {
                words(message.as_str(), LimitSource::Provider)?.to_owned()
            } else {
                return None;
            };
            (LimitSource::Provider, rule, message, *resets_at)
        }
        // An error of the log says again what it refused.
        Kind::Tool(call) if call.kind != ToolKind::Log => {
            let Outcome::Failed { error, .. } = &call.outcome else {
                return None;
            };
            // A delegation fails with the error of the subagent's model.
            let source = if call.kind == ToolKind::Delegate {
                LimitSource::Provider
            } else {
                LimitSource::Tool
            };
            (source, words(error.as_str(), source)?.to_owned(), error, None)
        }
        _ => return None,
    };
    Some(Limit {
        detected_at: event.at,
        source,
        rule,
        message: Redacted::truncated(message.as_str(), MAX_LINE),
        resets_at: resets_at.or_else(|| resets(message.as_str(), event.at)),
        told: false,
    })
}

/// What the user is told, in the seed's form.
#[must_use]
pub fn message(limit: &Limit, task: Option<&Task>) -> String {
    let mut text = String::from(
        "⚠️ RATE LIMITED\n\nThe model provider has temporarily limited requests.\nCurrent task state has been saved.\n\n\
         What to do:\n• Wait a few minutes, then respond to resume\n\
         • Or close this session and start a new one later — I'll remember where we were\n",
    );
    if let Some(task) = task {
        text.push_str(&format!(
            "\nTask in progress: {}\nLast action: {}",
            task.description, task.last_action
        ));
    }
    text.push_str(&format!(
        "\nRate limit detected at: {}",
        clock::stamp(limit.detected_at)
    ));
    if let Some(at) = limit.resets_at {
        text.push_str(&format!("\nIt resets at: {}", clock::stamp(at)));
    }
    text
}

/// What the model is told once, when it is still working after a limit of its provider.
pub const WAIT: &str = "The model provider has limited requests. Do nothing further until the user answers.";

/// The same as a redacted notice.
#[must_use]
pub fn notice(limit: &Limit, task: Option<&Task>) -> Redacted {
    Redacted::new(&message(limit, task))
}

/// Whether a text for the user is such a notice.
#[must_use]
pub fn is_notice(text: &Redacted) -> bool {
    text.starts_with("⚠️ RATE LIMITED")
}
