//! The folded state of one session, and the journal entry that it is folded from.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::duplicate::Seen;
use super::root::VERSION;
use crate::event::{Event, Source};
use crate::host::Host;
use crate::log::data_dir::Fault;
use crate::log::id::SessionId;
use crate::log::record::Body;
use crate::log::turns::{Mark, Turns};
use crate::process::HostProcess;
use crate::redact::Redacted;
use crate::task::current::Work;
use crate::task::{Limit, Task, Todos, to_be_resumed};

/// One line of the journal: an event, what it meant, and how it was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its number in the session, from 1.
    pub n: u64,
    /// What happened, its texts cut short.
    pub event: Event,
    /// What it meant for the turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Changes of task, todos and limit that were found in the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caught: Vec<Body>,
    /// Tool calls that were found in the log: their events may still come here, see `Body::logged_call`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logged: Vec<String>,
    /// The log session, where it became known, and the end of its file as we left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogEnd>,
    /// The host's process, where it was looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<HostProcess>,
    /// A prompt that was sent before, whose turn is open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resend: bool,
    /// A task and todos that were taken over from another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_over: Option<TakenOver>,
    /// A task and todos that were taken from an agent's state file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Adopted>,
    /// The subagent's stop is sent back: it goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sent_back: bool,
    /// How it was answered.
    #[serde(default, skip_serializing_if = "Answered::is_nothing")]
    pub answered: Answered,
    /// Microseconds from the process's start to this line.
    pub us: u32,
    /// Faults of ours in handling it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Redacted>,
}

/// Where the log of a session ends, as far as the live state knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEnd {
    /// The log session.
    pub session: SessionId,
    /// The byte up to which its turns are known.
    pub end: u64,
}

/// What a session took over from one that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenOver {
    /// The session that it comes from.
    pub from: SessionId,
    /// Its task.
    pub task: Option<Task>,
    /// Its todos.
    pub todos: Option<Todos>,
}

/// What a session took from an agent's state file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    /// The task.
    pub task: Option<Task>,
    /// The todos.
    pub todos: Option<Todos>,
}

/// How an event was answered; the texts themselves are not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Answered {
    /// Characters of context given to the model.
    #[serde(skip_serializing_if = "is_zero")]
    pub context: u32,
    /// Notices shown to the user.
    #[serde(skip_serializing_if = "is_zero")]
    pub notices: u32,
    /// The model was told to wait for a limit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
    /// The model was given the brief about the task in hand, at a session start.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub brief: bool,
    /// Denied or blocked, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied: Option<Redacted>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Answered {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The state of one session: the fold of its journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct State {
    /// The format's version.
    pub version: u32,
    /// The number of the last entry that is folded in.
    pub n: u64,
    /// The length of the journal when this was written as a checkpoint.
    pub offset: u64,
    /// The session id as the host sent it.
    pub session_id: Redacted,
    /// The host.
    pub host: Option<Host>,
    /// Its process.
    pub host_process: Option<HostProcess>,
    /// No person is at it.
    pub headless: Option<bool>,
    /// The working directory at the last event that named one.
    pub cwd: Option<Redacted>,
    /// The project root.
    pub project_root: Option<Redacted>,
    /// The model.
    pub model: Option<Redacted>,
    /// The name under which the main agent was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Redacted>,
    /// When its first event came.
    pub started_at: Option<DateTime<Utc>>,
    /// When its last event came.
    pub last_event_at: Option<DateTime<Utc>>,
    /// The host said that it ended.
    pub ended: Option<Ended>,
    /// Why it last started.
    pub source: Option<Source>,
    /// Its log session.
    pub log: Option<LogEnd>,
    /// Its turns: a cache of the log.
    pub turns: Turns,
    /// The task in hand.
    pub current_task: Option<Task>,
    /// A task that was not done when the current one began.
    pub interrupted_task: Option<Task>,
    /// The turn has stopped; the task waits for subagents in the background.
    pub task_waits: bool,
    /// Its todos.
    pub ui_todos: Option<Todos>,
    /// A rate limit that holds.
    pub rate_limit: Option<Limit>,
    /// Its subagents, oldest first.
    pub agents: Vec<AgentEntry>,
    /// How often each event came.
    pub events: BTreeMap<String, EventCount>,
    /// Other ids that the host used for it.
    pub aliases: Vec<Redacted>,
    /// Stops that were sent back in a row.
    pub blocks: u32,
    /// What the user is still to be told.
    pub notices: Vec<Redacted>,
    /// A prompt by the host itself, whose turn has not begun.
    pub host_prompt: Option<HostPrompt>,
    /// The context was compacted and no event of the host will say so.
    pub compacted: bool,
    /// The last event was a session start that gave the model the brief.
    pub briefed: bool,
    /// Files changed in the latest turn.
    pub turn_files: Vec<Redacted>,
    /// The latest faults of ours.
    pub faults: VecDeque<Fault>,
    /// Fingerprints of the latest events, to know one that comes twice.
    pub seen: Seen,
}

/// The end of a session, as the host said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// When.
    pub at: DateTime<Utc>,
    /// The host's word.
    pub reason: Redacted,
}

/// One subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentEntry {
    /// The host's id of it; where it has none, of the tool call that asked for it.
    pub id: Option<Redacted>,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Option<Redacted>,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
    /// Where it stands.
    pub state: AgentState,
    /// Its stop was sent back for a report that lacked its headings: once is enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sent_back: bool,
}

/// Where a subagent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// It works.
    Running,
    /// It ended.
    Ended,
    /// Its model failed.
    Failed,
    /// Its session ended, or its host vanished, before anybody said that it had.
    Lost,
}

/// How often an event came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventCount {
    /// How often.
    pub count: u64,
    /// When last.
    pub last_at: Option<DateTime<Utc>>,
    /// What its hook took then, in microseconds.
    pub last_micros: u32,
}

/// A prompt by the host itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPrompt {
    /// The host's id of its turn.
    pub turn: Option<Redacted>,
    /// Its first line.
    pub title: Redacted,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: VERSION,
            n: 0,
            offset: 0,
            session_id: Redacted::default(),
            host: None,
            host_process: None,
            headless: None,
            cwd: None,
            project_root: None,
            model: None,
            role: None,
            started_at: None,
            last_event_at: None,
            ended: None,
            source: None,
            log: None,
            turns: Turns::default(),
            current_task: None,
            interrupted_task: None,
            task_waits: false,
            ui_todos: None,
            rate_limit: None,
            agents: Vec::new(),
            events: BTreeMap::new(),
            aliases: Vec::new(),
            blocks: 0,
            notices: Vec::new(),
            host_prompt: None,
            compacted: false,
            briefed: false,
            turn_files: Vec::new(),
            faults: VecDeque::new(),
            seen: Seen::default(),
        }
    }
}

impl State {
    /// The tasks, as the pure function takes them.
    pub fn take_work(&mut self) -> Work {
        Work {
            current: self.current_task.take(),
            interrupted: self.interrupted_task.take(),
            waits: self.task_waits,
        }
    }

    /// The tasks, as the pure function gave them.
    pub fn put_work(&mut self, work: Work) {
        (self.current_task, self.interrupted_task, self.task_waits) =
            (work.current, work.interrupted, work.waits);
    }

    /// Whether its host is alive.
    #[must_use]
    pub fn alive(&self, now: DateTime<Utc>) -> bool {
        crate::process::alive(
            self.host_process.as_ref(),
            self.ended.is_some(),
            self.last_event_at,
            now,
        )
    }

    /// The subagents that work.
    pub fn running(&self) -> impl Iterator<Item = &AgentEntry> {
        self.agents.iter().filter(|a| a.state == AgentState::Running)
    }

    /// The task that a later session may take over.
    #[must_use]
    pub fn to_be_resumed(&self) -> Option<&Task> {
        to_be_resumed(self.current_task.as_ref(), self.interrupted_task.as_ref())
    }

    /// Whether there is something for a later session to resume.
    #[must_use]
    pub fn unfinished(&self) -> bool {
        self.turns.open().is_some()
            || self.to_be_resumed().is_some()
            || self.ui_todos.as_ref().is_some_and(Todos::any_open)
    }
}
