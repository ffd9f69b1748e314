//! The turn machine: pure, shared by the live state (which caches it) and the fold of a log.
//!
//! `in_progress` → `completed` | `failed`. Both ends are final. An end that was only inferred is *presumed*:
//! it reads as failed and gives way to the real end, if the host still reports one for that turn.
//! A turn is found by the host's own turn id, so that what comes late is never put on the next turn.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::id::RequestId;
use crate::event::{Event, Origin};
use crate::redact::Redacted;

/// How many turns of a session are remembered for late events.
const REMEMBERED: usize = 4;
/// How many of the host's ids are remembered for one turn.
const ALIASES: usize = 8;

/// Where a turn stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It goes on.
    InProgress,
    /// Its end is final.
    Completed,
    /// It failed: final, or only presumed.
    Failed {
        /// The host's kind as sent, or one of ours: `interrupted`, `session_ended`, `session_abandoned`, `host_gone`.
        code: Redacted,
        /// Only inferred: the real end, if it still comes, takes its place.
        presumed: bool,
    },
}

/// An end, as it is reported or inferred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum End {
    /// The host or the model says: done.
    Complete,
    /// The host or the model says: failed.
    Fail {
        /// The kind of failure.
        code: Redacted,
    },
    /// Nobody said it; we infer it.
    Presume {
        /// Why.
        code: Redacted,
    },
}

impl Status {
    /// The status after `end`, or `None` when that end changes nothing.
    #[must_use]
    pub fn after(&self, end: &End) -> Option<Self> {
        match (self, end) {
            (Self::Completed | Self::Failed { presumed: false, .. }, _)
            | (Self::Failed { presumed: true, .. }, End::Presume { .. }) => None,
            (_, End::Complete) => Some(Self::Completed),
            (_, End::Fail { code }) => Some(Self::Failed {
                code: code.clone(),
                presumed: false,
            }),
            (Self::InProgress, End::Presume { code }) => Some(Self::Failed {
                code: code.clone(),
                presumed: true,
            }),
        }
    }

    /// The seed's word: `in_progress`, `completed`, `failed`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed { .. } => "failed",
        }
    }

    /// Whether the end was only inferred.
    #[must_use]
    pub fn is_presumed(&self) -> bool {
        matches!(self, Self::Failed { presumed: true, .. })
    }
}

/// One turn, as far as attribution needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Its request id.
    pub id: RequestId,
    /// The host's ids for it: its own and those of prompts that the host made inside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_turns: Vec<Redacted>,
    /// Who began it.
    pub origin: Origin,
    /// Where it stands.
    pub status: Status,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
    /// A hash of its trimmed prompt, to know a resend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<u64>,
}

/// A change of the turns: what a record of the log means for them, and what the journal keeps of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mark {
    /// A turn began.
    Begin {
        /// The new turn.
        turn: Turn,
    },
    /// The host uses a further id for a turn.
    Alias {
        /// The turn.
        turn: RequestId,
        /// The host's further id.
        id: Redacted,
    },
    /// A turn ended.
    End {
        /// The turn.
        turn: RequestId,
        /// How.
        end: End,
        /// When.
        at: DateTime<Utc>,
    },
}

/// The latest turns of a session, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Turns {
    /// How many there ever were.
    pub count: u32,
    /// The latest of them.
    pub latest: Vec<Turn>,
}

/// Where an event belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this turn, which is open.
    Open(RequestId),
    /// In this turn, which has ended; whether only presumably.
    Ended(RequestId, bool),
    /// In a turn that nobody began: its prompt was the host's own, or its hook was lost.
    Unknown,
}

impl Turns {
    /// The open turn.
    #[must_use]
    pub fn open(&self) -> Option<&Turn> {
        self.latest.iter().rev().find(|t| t.status == Status::InProgress)
    }

    /// The latest turn, open or not.
    #[must_use]
    pub fn last(&self) -> Option<&Turn> {
        self.latest.last()
    }

    /// The turn with that request id.
    #[must_use]
    pub fn get(&self, id: &RequestId) -> Option<&Turn> {
        self.latest.iter().rev().find(|t| t.id == *id)
    }

    /// Whether the event is of a turn that another turn of the user has followed: it comes late, and the work
    /// in hand is not its own.
    #[must_use]
    pub fn has_passed(&self, event: &Event) -> bool {
        let Some(turn) = event.turn.as_ref().and_then(|id| self.by_host(id.as_str())) else {
            return false;
        };
        let later = self.latest.iter().rev().take_while(|t| t.id != turn.id);
        later.into_iter().any(|t| t.origin == Origin::User)
    }

    fn by_host(&self, id: &str) -> Option<&Turn> {
        self.latest
            .iter()
            .rev()
            .find(|t| t.host_turns.iter().any(|h| h.as_str() == id))
    }

    /// Where an event belongs. `prompted`: a prompt of the host's own waits for its turn to begin.
    ///
    /// By the host's turn id where there is one; a subagent's event by that id too, else in the root's
    /// turn (Codex gives a subagent's turn its own id); without an id in the open turn.
    #[must_use]
    pub fn place(&self, event: &Event, prompted: bool) -> Place {
        let known = event.turn.as_ref().and_then(|id| self.by_host(id.as_str()));
        let turn = match (known, &event.turn, &event.agent) {
            (Some(turn), _, _) => Some(turn),
            (None, Some(_), None) => self.open().filter(|t| t.host_turns.is_empty()),
            (None, None, None) if prompted => self.open(),
            _ => self.open().or_else(|| self.last()),
        };
        match turn {
            None => Place::Unknown,
            Some(t) if t.status == Status::InProgress => Place::Open(t.id.clone()),
            Some(t) => Place::Ended(t.id.clone(), t.status.is_presumed()),
        }
    }

    /// Takes a change in; one that the machine does not allow changes nothing.
    pub fn apply(&mut self, mark: &Mark) {
        match mark {
            Mark::Begin { turn } => {
                if self.get(&turn.id).is_none() {
                    self.count += 1;
                    self.latest.push(turn.clone());
                    if self.latest.len() > REMEMBERED {
                        self.latest.remove(0);
                    }
                }
            }
            Mark::Alias { turn, id } => {
                if let Some(t) = self.latest.iter_mut().find(|t| t.id == *turn)
                    && t.host_turns.len() < ALIASES
                    && !t.host_turns.contains(id)
                {
                    t.host_turns.push(id.clone());
                }
            }
            Mark::End { turn, end, at } => {
                if let Some(t) = self.latest.iter_mut().find(|t| t.id == *turn)
                    && let Some(status) = t.status.after(end)
                {
                    t.status = status;
                    t.ended_at = Some(*at);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: &str, presumed: bool) -> Status {
        Status::Failed {
            code: Redacted::new(code),
            presumed,
        }
    }

    #[test]
    fn every_status_and_every_end() {
        let complete = End::Complete;
        let fail = End::Fail {
            code: Redacted::new("rate_limit"),
        };
        let presume = End::Presume {
            code: Redacted::new("interrupted"),
        };
        let open = Status::InProgress;
        for (before, end, after) in [
            (&open, &complete, Some(Status::Completed)),
            (&open, &fail, Some(failed("rate_limit", false))),
            (&open, &presume, Some(failed("interrupted", true))),
            (&Status::Completed, &complete, None),
            (&Status::Completed, &fail, None),
            (&Status::Completed, &presume, None),
            (&failed("x", false), &complete, None),
            (&failed("x", false), &fail, None),
            (&failed("x", false), &presume, None),
            (&failed("x", true), &complete, Some(Status::Completed)),
            (&failed("x", true), &fail, Some(failed("rate_limit", false))),
            (&failed("x", true), &presume, None),
        ] {
            assert_eq!(before.after(end), after, "{before:?} after {end:?}");
        }
    }
}
