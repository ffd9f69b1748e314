//! The current task as events change it: a pure function with a table test (third seed, "Current Task
//! Tracking").

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::go_on::says_go_on;
use super::{MAX_DESCRIPTION, Task, describe};
use crate::event::{Event, Kind, Origin, Outcome, Source, ToolKind};
use crate::redact::Redacted;

/// Describes the task of a prompt that is only an image.
const NO_TEXT: &str = "A prompt without text";

/// The task in hand and the one that was left for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Work {
    /// What is being done.
    pub current: Option<Task>,
    /// What was not done when the current task began.
    pub interrupted: Option<Task>,
    /// The turn has stopped while subagents work on in the background: the task ends with the last of them.
    pub waits: bool,
}

/// What the fold knows besides the event.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// The prompt is one that was sent before, whose turn is open.
    pub resend: bool,
    /// Subagents that run, after the event.
    pub running: u32,
    /// The project root: where a new task begins.
    pub root: Option<&'a Redacted>,
    /// The event met a limit of the model's provider.
    pub limited: bool,
    /// It is of a turn that another has followed: the task in hand is not its own.
    pub late: bool,
    /// It changed something, or tried to.
    pub significant: bool,
}

impl Work {
    /// The work after `event`.
    #[must_use]
    pub fn after(mut self, event: &Event, facts: Facts<'_>) -> Self {
        match &event.kind {
            Kind::Prompt {
                origin: Origin::User,
                text,
            } if !facts.resend => self.prompted(text, event.at, facts.root),
            Kind::Tool(_) | Kind::Stop { .. } if facts.late => {}
            Kind::Tool(call) => {
                if facts.significant {
                    self.touch();
                }
                if let Some(task) = &mut self.current {
                    if call.outcome == Outcome::Ok {
                        task.rate_limit_detected_at = None;
                    }
                    // What was done last is what was written down, not that it was.
                    if call.kind != ToolKind::Log {
                        task.last_action = describe::sentence(call);
                    }
                    if let Some(anchor) = describe::anchor(call) {
                        task.context_anchor = Some(anchor);
                    }
                }
            }
            Kind::Stop { background, .. } => {
                self.waits = background.unwrap_or(0) > 0;
                if !self.waits {
                    self.current = None;
                }
            }
            Kind::AgentStop { .. } if self.waits && facts.running == 0 => {
                self.waits = false;
                self.current = None;
            }
            Kind::SessionEnd { reason } if reason.as_str() == "clear" => self = Self::default(),
            Kind::SessionStart {
                source: Source::Clear,
            } => self = Self::default(),
            _ => {}
        }
        if facts.limited
            && let Some(task) = &mut self.current
        {
            task.rate_limit_detected_at = Some(event.at);
        }
        self
    }

    fn prompted(&mut self, text: &Redacted, at: DateTime<Utc>, root: Option<&Redacted>) {
        self.waits = false;
        if says_go_on(text.as_str()) {
            if self.current.is_none() {
                self.current = self.interrupted.take();
            }
            if let Some(task) = &mut self.current {
                task.rate_limit_detected_at = None;
                task.untouched = false;
                return;
            }
        }
        if let Some(left) = self.current.take() {
            self.interrupted = Some(left);
        }
        let mut description = Redacted::first_line(text.as_str(), MAX_DESCRIPTION);
        if description.is_empty() {
            description = Redacted::new(NO_TEXT);
        }
        self.current = Some(Task {
            description,
            started_at: at,
            last_action: Redacted::new("Starting task"),
            context_anchor: root.cloned(),
            rate_limit_detected_at: None,
            untouched: false,
        });
    }

    /// Something was done in this session: what it was told at its start has been dealt with.
    fn touch(&mut self) {
        for task in [&mut self.current, &mut self.interrupted].into_iter().flatten() {
            task.untouched = false;
        }
    }

    /// Takes over a task from a session that is gone; an own task goes first.
    pub fn take_over(&mut self, task: Task) {
        let task = Task {
            untouched: true,
            ..task
        };
        if self.current.is_none() {
            self.current = Some(task);
        } else if self.interrupted.is_none() {
            self.interrupted = Some(task);
        }
    }
}
