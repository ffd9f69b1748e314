//! What a state file says: read leniently, a wrong type counts as a missing key and is remembered as odd.

use chrono::{DateTime, SubsecRound, Utc};

use super::json::{Broken, Document, Object, Value};
use crate::event::TodoStatus;
use crate::redact::Redacted;
use crate::task::{MAX_STEP, Task, Todos};

/// Longest description that is read from a file: it is one line of the brief.
const MAX_DESCRIPTION: usize = 300;
/// Stands for a last action that a file does not have.
const NO_ACTION: &str = "none is recorded";

/// What a state file says.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// The task that is set.
    pub task: Option<Task>,
    /// The todo list.
    pub todos: Option<Todos>,
    /// The title of the chunk that is being done (builder).
    pub chunk: Option<Redacted>,
    /// The last sign of life (builder).
    pub heartbeat: Option<DateTime<Utc>>,
    /// When it was last changed, as far as it says.
    pub at: Option<DateTime<Utc>>,
    /// What is not as it should be, with its line.
    pub odd: Vec<Broken>,
    /// The file's size in bytes.
    pub size: usize,
}

impl Said {
    pub(super) fn odd(&mut self, line: usize, why: String) {
        self.odd.push(Broken { line, why });
    }

    /// Whether its task is that one.
    #[must_use]
    pub fn is_about(&self, task: &Task) -> bool {
        self.task.as_ref().is_some_and(|t| {
            t.description == task.description || second(t.started_at) == second(task.started_at)
        })
    }

    /// The task to resume: the newer of our own and the file's. The description is the file's unless the
    /// file is behind (at a prompt it is given ours, later only its agent words it anew); the last action
    /// is that of the one that was kept last, `ours_at` being when ours was.
    #[must_use]
    pub fn newer(&self, ours: Option<&Task>, ours_at: Option<DateTime<Utc>>) -> Option<Task> {
        let (Some(theirs), Some(ours)) = (&self.task, ours) else {
            return self.task.clone().or_else(|| ours.cloned());
        };
        if second(theirs.started_at) < second(ours.started_at) && theirs.description != ours.description {
            return Some(ours.clone());
        }
        let mut task = theirs.clone();
        if ours_at.map(second) >= self.at.map(second) {
            task.last_action = ours.last_action.clone();
            task.context_anchor = ours.context_anchor.clone();
            task.rate_limit_detected_at = ours.rate_limit_detected_at;
        }
        Some(task)
    }
}

/// Files hold whole seconds.
pub(super) fn second(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(0)
}

/// A time, in any form of RFC 3339.
pub(super) fn time(object: &Object<'_>, key: &str) -> Option<DateTime<Utc>> {
    object.get(key)?.string()?.parse().ok()
}

/// A member that is to be an object; null counts as missing, anything else is odd.
pub(super) fn section<'a>(
    doc: &Document<'_>,
    object: &Object<'a>,
    key: &str,
    said: &mut Said,
) -> Option<Object<'a>> {
    let value = object.get(key).filter(|v| !v.is_null())?;
    match value.object() {
        Some(section) if section.twice.is_none() => Some(section),
        Some(section) => {
            let at = section.twice.unwrap_or(value.at);
            said.odd(doc.line(at), format!("a key stands twice in `{key}`"));
            None
        }
        None => {
            said.odd(
                doc.line(value.at),
                format!("`{key}` is {}, not an object", value.kind()),
            );
            None
        }
    }
}

/// A member that is to be a list; null counts as missing, anything else is odd.
pub(super) fn list<'a>(
    doc: &Document<'_>,
    object: &Object<'a>,
    key: &str,
    said: &mut Said,
) -> Option<Vec<Value<'a>>> {
    let value = object.get(key).filter(|v| !v.is_null())?;
    let items = value.items();
    if items.is_none() {
        said.odd(
            doc.line(value.at),
            format!("`{key}` is {}, not a list", value.kind()),
        );
    }
    items
}

/// Says which of these members are neither texts nor null.
pub(super) fn texts(doc: &Document<'_>, object: &Object<'_>, keys: &[&str], said: &mut Said) {
    for key in keys {
        if let Some(value) = object.get(key)
            && !value.is_null()
            && value.string().is_none()
        {
            said.odd(
                doc.line(value.at),
                format!("`{key}` is {}, not a text", value.kind()),
            );
        }
    }
}

/// `currentTask` or `currentAction`; without a description there is no task.
pub(super) fn task(object: &Object<'_>, started_at: DateTime<Utc>) -> Option<Task> {
    let description = Redacted::first_line(&object.string(&["description"])?, MAX_DESCRIPTION);
    let step = |key: &str| {
        let text = Redacted::first_line(&object.string(&[key])?, MAX_STEP);
        (!text.is_empty()).then_some(text)
    };
    (!description.is_empty()).then(|| Task {
        untouched: false,
        description,
        started_at,
        last_action: step("lastAction").unwrap_or_else(|| Redacted::new(NO_ACTION)),
        context_anchor: step("contextAnchor"),
        rate_limit_detected_at: time(object, "rateLimitDetectedAt"),
    })
}

/// The status of that name, as models spell it; a failed chunk is still to be done.
pub(super) fn status(word: &str) -> Option<TodoStatus> {
    Some(
        match word.trim().to_ascii_lowercase().replace(['-', ' '], "_").as_str() {
            "pending" | "todo" | "open" | "not_started" | "failed" => TodoStatus::Pending,
            "in_progress" | "active" | "doing" => TodoStatus::InProgress,
            "completed" | "complete" | "done" => TodoStatus::Completed,
            "cancelled" | "canceled" | "skipped" | "abandoned" | "aborted" | "deleted" => {
                TodoStatus::Cancelled
            }
            _ => return None,
        },
    )
}

/// One item in progress: that one, else the last; the others go back to pending.
pub(super) fn one_in_progress(todos: &mut Todos, chosen: Option<usize>) {
    let is = |i: usize| {
        todos
            .items
            .get(i)
            .is_some_and(|t| t.status == TodoStatus::InProgress)
    };
    let last = todos
        .items
        .iter()
        .rposition(|t| t.status == TodoStatus::InProgress);
    let keep = chosen.filter(|i| is(*i)).or(last);
    for (i, todo) in todos.items.iter_mut().enumerate() {
        if todo.status == TodoStatus::InProgress && Some(i) != keep {
            todo.status = TodoStatus::Pending;
        }
    }
}

pub(super) fn word(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Completed => "completed",
        TodoStatus::Cancelled => "cancelled",
    }
}
