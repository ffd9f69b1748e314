//! Tool calls as short sentences, and where they happened.

use super::MAX_STEP;
use crate::event::{Change, Outcome, ToolCall, ToolKind};
use crate::redact::Redacted;

/// Longest command or path inside a sentence, in characters.
const MAX_TARGET: usize = 140;

/// What was done, e.g. `Edited src/cart.rs`, `Ran cargo test (exit 101)`.
#[must_use]
pub fn sentence(call: &ToolCall) -> Redacted {
    let target = call
        .target
        .as_ref()
        .map(|t| Redacted::first_line(t.as_str(), MAX_TARGET));
    let target = target.as_ref().map_or("", Redacted::as_str);
    let more = call.files.len().saturating_sub(1);
    let did = match (call.kind, call.files.first().map(|f| (f.change, f.path.as_str()))) {
        (_, Some((change, path))) => {
            let verb = match change {
                Change::Edit => "Edited",
                Change::Create => "Created",
                Change::Delete => "Deleted",
            };
            let rest = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            format!("{verb} {}{rest}", Redacted::first_line(path, MAX_TARGET))
        }
        (ToolKind::Shell, None) if call.background => format!("Started {target}"),
        (ToolKind::Shell, None) => format!("Ran {target}"),
        (ToolKind::Read, None) => format!("Read {target}"),
        (ToolKind::Edit | ToolKind::Create | ToolKind::Delete, None) => {
            format!("Used {} on {target}", call.tool)
        }
        (ToolKind::Search, None) => format!("Searched {target}"),
        (ToolKind::Web, None) => format!("Looked up {target}"),
        (ToolKind::Delegate, None) => format!("Delegated: {target}"),
        (ToolKind::Todo, None) => "Updated the todo list".to_owned(),
        (ToolKind::Plan, None) => "Worked on the plan".to_owned(),
        (ToolKind::Log, None) => "Wrote the session log".to_owned(),
        (ToolKind::Mcp | ToolKind::Other, None) => format!("Used {}", call.tool),
    };
    let end = match &call.outcome {
        Outcome::Ok => String::new(),
        Outcome::Failed { exit: Some(code), .. } => format!(" (exit {code})"),
        Outcome::Failed { exit: None, .. } => " (failed)".to_owned(),
        Outcome::Interrupted => " (interrupted)".to_owned(),
    };
    Redacted::truncated(&format!("{}{end}", did.trim_end()), MAX_STEP)
}

/// Where it was done: the file with its line, else the command. A pattern, a todo or an agent's name is no
/// place to go on from: the anchor stays.
#[must_use]
pub fn anchor(call: &ToolCall) -> Option<Redacted> {
    if matches!(
        call.kind,
        ToolKind::Search | ToolKind::Todo | ToolKind::Delegate | ToolKind::Plan | ToolKind::Log
    ) {
        return None;
    }
    let place = call.files.first().map(|f| &f.path).or(call.target.as_ref())?;
    let place = Redacted::first_line(place.as_str(), MAX_STEP);
    Some(match call.line {
        Some(line) if call.kind != ToolKind::Shell => {
            Redacted::truncated(&format!("{place}:{line}"), MAX_STEP)
        }
        _ => place,
    })
}
