//! The brief: what a session that goes on is told. Its first line is the seed's `Resuming: <description>`.

use std::fmt::Write;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{Limit, LimitSource, Task, Todos};
use crate::clock;
use crate::event::TodoStatus;
use crate::redact::Redacted;

/// Longest brief, in characters; the rest of an answer's 2,000 is for the lines about sessions.
const MAX: usize = 1_700;
/// Longest list of changed files.
const MAX_FILES: usize = 400;
/// Room for the line that says how many todos are left.
const MORE: usize = 20;
/// Longest part about a task that comes from another session.
pub const MAX_TAKEN_OVER: usize = 600;

/// What a brief is made of.
#[derive(Debug, Clone, Default)]
pub struct Brief<'a> {
    /// The task that was not done.
    pub task: Option<&'a Task>,
    /// The todos.
    pub todos: Option<&'a Todos>,
    /// Files that were changed in its last turn.
    pub files: &'a [Redacted],
    /// Why it stopped, as a clause: `the user interrupted it`.
    pub why: Option<&'a str>,
    /// When it stopped.
    pub when: Option<DateTime<Utc>>,
    /// The limit that it met.
    pub limit: Option<&'a Limit>,
    /// The host's tool for todos.
    pub todo_tool: Option<&'a str>,
    /// The host may still have them, and its tool would double them.
    pub has_todos: bool,
    /// The task comes from another session, e.g. of Claude Code.
    pub from: Option<&'a str>,
    /// The chunk that the builder is at.
    pub chunk: Option<&'a str>,
    /// The agent's state file in which the task stands.
    pub kept_in: Option<&'a str>,
    /// How old the builder's last sign of life is, where that is too old.
    pub stale: Option<Duration>,
}

impl Brief<'_> {
    /// The text, or `None` when there is nothing to resume.
    #[must_use]
    pub fn text(&self, now: DateTime<Utc>) -> Option<String> {
        let open = self.todos.filter(|t| t.any_open());
        if self.task.is_none() && open.is_none() {
            return None;
        }
        let mut text = String::new();
        if let Some(task) = self.task {
            let part = self.about(task, now);
            text.push_str(&if self.from.is_some() {
                cut(&part, MAX_TAKEN_OVER)
            } else {
                part
            });
        }
        let mut end = String::new();
        if let (Some(tool), Some(_)) = (self.todo_tool, open) {
            let gone = if self.has_todos {
                ", if they are not there any more"
            } else {
                ""
            };
            let _ = write!(
                end,
                "\nRestore these todos with {tool}{gone}; at most one in progress."
            );
        }
        if let Some(task) = self.task {
            let anchor = task.context_anchor.as_ref().map_or("there", Redacted::as_str);
            let _ = write!(end, "\nSkip welcome menus; continue from {anchor}.");
        }
        let room = MAX.saturating_sub(end.chars().count());
        if let Some(todos) = open {
            list(&mut text, todos, room.saturating_sub(MORE));
        }
        Some(format!("{}{end}", cut(&text, room)))
    }

    fn about(&self, task: &Task, now: DateTime<Utc>) -> String {
        let mut text = format!("Resuming: {}", task.description);
        if let Some(chunk) = self.chunk {
            let _ = write!(text, " (chunk: {chunk})");
        }
        let _ = write!(text, "\nLast action: {}", task.last_action);
        if let Some(anchor) = &task.context_anchor {
            let _ = write!(text, "\nWhere: {anchor}");
        }
        if !self.files.is_empty() {
            let names: Vec<&str> = self.files.iter().map(Redacted::as_str).collect();
            let names = cut(&names.join(", "), MAX_FILES);
            let _ = write!(text, "\nFiles changed in that turn: {names}");
        }
        if let Some(why) = self.why {
            let _ = write!(text, "\nWhy it stopped: {why}");
            if let Some(when) = self.when {
                let _ = write!(text, ", {} ago", clock::human(clock::age(when, now)));
            }
        }
        if let Some(limit) = self.limit {
            let whose = match limit.source {
                LimitSource::Provider => "Rate limit",
                LimitSource::Tool => "Rate limit of a service that a tool called",
            };
            let _ = write!(
                text,
                "\n{whose}: met {} ago",
                clock::human(clock::age(limit.detected_at, now))
            );
            if let Some(resets) = limit.resets_at {
                let _ = write!(text, ", resets at {}", clock::stamp(resets));
            }
        }
        if let Some(age) = self.stale {
            let _ = write!(
                text,
                "\nHeartbeat: stale, the last one was {} ago",
                clock::human(age)
            );
        }
        if let Some(file) = self.kept_in {
            let _ = write!(text, "\nKept in: {file}");
        }
        if let Some(from) = self.from {
            let _ = write!(
                text,
                "\nThis task was left unfinished by an earlier {from} session in this project."
            );
        }
        text
    }
}

/// The open todos, as many as `room` characters hold, and how many are left.
fn list(text: &mut String, todos: &Todos, room: usize) {
    text.push_str(if text.is_empty() {
        "Open todos:"
    } else {
        "\nOpen todos:"
    });
    let mut left = todos.open().count();
    for todo in todos.open() {
        let status = if todo.status == TodoStatus::InProgress {
            "in progress"
        } else {
            "pending"
        };
        let line = format!("\n- [{status}] {}", cut(todo.content.as_str(), 160));
        if text.chars().count() + line.chars().count() > room {
            let _ = write!(text, "\n- and {left} more");
            break;
        }
        text.push_str(&line);
        left -= 1;
    }
}

/// At most `max` characters, cut between characters.
fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(max.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Why a turn stopped, as a clause, from its failure code.
#[must_use]
pub fn why(code: &str) -> String {
    match code {
        "interrupted" => "it was interrupted".to_owned(),
        "session_ended" => "the session ended".to_owned(),
        "session_abandoned" => "the session was left idle".to_owned(),
        "host_gone" => "the host vanished (crash, kill or reboot)".to_owned(),
        "rate_limit" => "the model provider limited requests".to_owned(),
        other => format!("the model failed ({other})"),
    }
}
