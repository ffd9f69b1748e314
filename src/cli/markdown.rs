//! A session of the log as Markdown.

use super::session_json::word_of;
use super::text;
use crate::clock;
use crate::log::record::ActionStatus;
use crate::log::view::{SessionView, TurnView};

/// The lines of a session.
pub(super) fn session(view: &SessionView) -> Vec<String> {
    let mut lines = vec![format!("# {}", plain(&view.title)), String::new()];
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            lines.push(format!("* {name}: {}", plain(&value)));
        }
    };
    fact("session", Some(view.session_id.to_string()));
    fact(
        "agent",
        Some(view.host.map_or(view.agent.as_str(), |h| h.title()).to_owned()),
    );
    fact("model", view.model.as_deref().map(str::to_owned));
    fact("project", view.project_root.as_deref().map(str::to_owned));
    fact("status", Some(text::word(view.status)));
    fact("started", view.started.map(clock::stamp));
    fact("updated", view.last_updated.map(clock::stamp));
    lines.push(String::new());
    for turn in &view.turns {
        one(turn, &mut lines);
    }
    lines
}

fn one(turn: &TurnView, lines: &mut Vec<String>) {
    let presumed = if turn.presumed { ", presumed" } else { "" };
    lines.push(format!("## {}", plain(&turn.query_title)));
    lines.push(String::new());
    lines.push(format!(
        "{}, {}{presumed}, {}",
        turn.request_id,
        text::word(turn.status),
        clock::stamp(turn.started_at)
    ));
    lines.push(String::new());
    let prompt = Some(&turn.query_text).filter(|t| !t.is_empty());
    quoted("Prompt", prompt.map(|t| t.as_str()), lines);
    quoted("Interpretation", turn.interpretation.as_deref(), lines);
    for item in &turn.dialog {
        let name = format!("{} ({})", item.role, item.category);
        quoted(&plain(&name), Some(&item.content), lines);
    }
    if !turn.actions.is_empty() {
        lines.extend(["**Actions**".to_owned(), String::new()]);
        for action in &turn.actions {
            let kind = word_of(&action.action.kind);
            let mut line = format!("* {}: {}", plain(&kind), plain(&action.action.description));
            if action.action.status != ActionStatus::Completed {
                line.push_str(&format!(" ({})", word_of(&action.action.status)));
            }
            lines.push(line);
        }
        lines.push(String::new());
    }
    quoted("Response", turn.response.as_deref(), lines);
    if let Some(failure) = &turn.failure {
        quoted(
            &format!("Failure ({})", plain(&failure.code)),
            Some(&failure.message),
            lines,
        );
    }
}

/// What somebody wrote, as it is: it may be Markdown itself.
fn quoted(name: &str, body: Option<&str>, lines: &mut Vec<String>) {
    let Some(body) = body else { return };
    lines.extend([format!("**{name}**"), String::new()]);
    lines.extend(body.lines().map(|line| format!("> {line}").trim_end().to_owned()));
    lines.push(String::new());
}

/// One line in which nothing is Markdown.
fn plain(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => line.push(' '),
            '\\' | '*' | '_' | '`' | '<' | '[' | ']' | '#' => line.extend(['\\', c]),
            c => line.push(c),
        }
    }
    line
}
