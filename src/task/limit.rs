//! Rate limits, recognised in errors only: a failed model call or a failed tool's error text, never in
//! prose or in successful output (third seed, "Rate Limit Handling").
//!
//! The host's own kind of error decides where there is one: `server_error` with a text that says "rate
//! limit" is none. Else the words do: `429` as a status, "rate limit", "too many requests", "quota".

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
        Kind::Tool(call) => {
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
        resets_at,
        told: false,
    })
}

/// The words of a limit in an error's text; which of them.
fn words(text: &str, source: LimitSource) -> Option<&'static str> {
    let text = text.to_lowercase();
    if is_status_429(&text) {
        return Some("status 429");
    }
    if ["rate limit", "rate-limit", "rate_limit", "ratelimit"]
        .iter()
        .any(|w| text.contains(w))
    {
        return Some("words \"rate limit\"");
    }
    if text.contains("too many requests") {
        return Some("words \"too many requests\"");
    }
    let quota = text.match_indices("quota").any(|(i, _)| {
        source == LimitSource::Provider || !text.get(..i).unwrap_or_default().trim_end().ends_with("disk")
    });
    quota.then_some("word \"quota\"")
}

/// `429` as a status: `HTTP 429`, `HTTP/1.1 429`, `status: 429`, `code 429`, `(429)`, `429 too many`; not
/// `line 429`, not port 4290.
fn is_status_429(text: &str) -> bool {
    text.match_indices("429").any(|(i, _)| {
        let before = text.get(..i).unwrap_or_default();
        let after = text.get(i + 3..).unwrap_or_default();
        if after.starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_')
            || before.ends_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_')
        {
            return false;
        }
        if after
            .trim_start_matches([' ', ':', '-', ')'])
            .starts_with("too many")
        {
            return true;
        }
        let lead = before.trim_end_matches([' ', ':', '=', '(', '[', '"', '\'', '#']);
        let word = lead
            .rsplit(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '(' | '{' | '\''))
            .next();
        word.is_some_and(|w| {
            w.starts_with("http/")
                || matches!(
                    w,
                    "http"
                        | "status"
                        | "code"
                        | "statuscode"
                        | "status_code"
                        | "error"
                        | "rejected"
                        | "response"
                )
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_429_is_a_limit_only_as_a_status() {
        for yes in [
            "http/1.1 429 too many requests",
            "http 429",
            "status: 429",
            "error code: 429",
            "api error: request rejected (429) · x",
            "429 too many requests",
            "{\"status\":429}",
            "unexpected status code 429",
            "http error 429:",
        ] {
            assert_eq!(words(yes, LimitSource::Tool), Some("status 429"), "{yes}");
        }
        for no in [
            "line 429: syntax error",
            "127.0.0.1:4290 refused",
            "localhost:429",
            "connect http://localhost:429/x: refused",
            "file.rs:429:5",
            "took 429 ms",
            "4291",
            "v0.429",
        ] {
            assert_eq!(words(no, LimitSource::Tool), None, "{no}");
        }
    }

    #[test]
    fn words_of_a_limit() {
        assert!(words("Rate limit reached for x", LimitSource::Tool).is_some());
        assert!(words("You exceeded your current quota", LimitSource::Tool).is_some());
        assert!(words("write failed: Disk quota exceeded", LimitSource::Tool).is_none());
        assert!(words("insufficient disk quota", LimitSource::Provider).is_some());
        assert!(words("No such file", LimitSource::Tool).is_none());
    }
}
