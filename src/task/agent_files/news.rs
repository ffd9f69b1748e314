//! What an event changes in a state file; `dispatch` makes it of the live state before and after.

use chrono::{DateTime, Utc};

use crate::redact::Redacted;
use crate::task::{Task, Todos};

/// What is to be written.
#[derive(Debug, Clone)]
pub struct News {
    /// When.
    pub at: DateTime<Utc>,
    /// The event is a user's prompt: what is being done is said anew.
    pub prompt: bool,
    /// The task in hand.
    pub task: Option<Task>,
    /// The task that ended with this event.
    pub ended: Option<Task>,
    /// When the last turn began, if it is completed: its task is done.
    pub done: Option<DateTime<Utc>>,
    /// The todo list, if the host has one.
    pub todos: Option<TodoNews>,
}

/// What is new of the todo list.
#[derive(Debug, Clone)]
pub struct TodoNews {
    /// The list.
    pub list: Todos,
    /// The event changed it.
    pub told: bool,
    /// The host gives whole lists: what is not in it is gone. Else what we never knew stays.
    pub whole: bool,
    /// Contents that this event took out.
    pub removed: Vec<Redacted>,
}

impl News {
    /// The task was begun by this event.
    pub(super) fn begun(&self) -> bool {
        self.prompt && self.task.as_ref().is_some_and(|t| t.started_at == self.at)
    }
}
