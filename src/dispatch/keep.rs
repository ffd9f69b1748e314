//! Keeping the state files of planner, toolkit and builder (`task::agent_files`) in step with the live state:
//! what an event changes in them.
//!
//! Their lock is taken under the session's, so that the hooks of one session write in the order of their
//! events; the writing itself, which waits for the disk, comes after the session is free again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Stores;
use super::draft::lasting;
use crate::clock::Stopwatch;
use crate::config::Config;
use crate::event::{Event, Kind, Origin, TodoChange, ToolKind};
use crate::live::state::State;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::turns::Status;
use crate::redact::Redacted;
use crate::task::agent_files::{Agent, News, Place, Roots, TodoNews};
use crate::task::{Task, Todos};

/// How long a hook waits for a file's lock.
const WAIT: Duration = Duration::from_millis(100);
/// A hook that has used this much of its time, in microseconds, writes no such file.
const BUDGET: u32 = 500_000;

/// What is to be written, and where it is to be looked for.
#[derive(Debug)]
pub(super) struct Due {
    news: News,
    project: Option<PathBuf>,
    named: Option<Agent>,
    own: Option<SessionId>,
    /// Files that the event's tool is aimed at.
    aims: Vec<PathBuf>,
    command: Option<Redacted>,
}

/// The same with its file, whose lock is held.
#[derive(Debug)]
pub(super) struct Held {
    due: Due,
    place: Place,
    shown: String,
}

impl Due {
    /// What `event` changes; `None` at events at which these files are left alone: a file that changes under
    /// the model's hands makes its edits fail.
    pub(super) fn of(
        event: &Event,
        resend: bool,
        before: &State,
        after: &State,
        config: &Config,
    ) -> Option<Self> {
        let news = news(event, resend, before, after, config)?;
        let root = after.project_root.as_ref().or(after.cwd.as_ref());
        let (aims, command) = aims(event, after);
        Some(Self {
            news,
            project: root.map(|r| PathBuf::from(r.as_str())),
            named: named(event, after),
            own: None,
            aims,
            command,
        })
    }

    /// The session that it is of.
    pub(super) fn own(self, own: Option<SessionId>) -> Self {
        Self { own, ..self }
    }

    /// Finds the file and takes its lock; what goes wrong is a fault and no more.
    pub(super) fn hold(self, stores: &mut Stores, config: &Config, watch: Stopwatch) -> Option<Held> {
        let roots = Roots {
            project: self.project.as_deref(),
            home: config.home.as_deref(),
        };
        let place = roots.find(self.named)?;
        let names = |command: &Redacted| {
            place
                .path
                .file_name()
                .is_some_and(|n| command.contains(&*n.to_string_lossy()))
        };
        if self.aims.contains(&place.path) || self.command.as_ref().is_some_and(names) {
            return None;
        }
        let shown = place.shown(roots);
        let locked = if watch.micros() > BUDGET {
            Err("no time is left".to_owned())
        } else {
            place.lock(WAIT).map_err(|e| e.to_string())
        };
        match locked {
            Ok(()) => Some(Held {
                due: self,
                place,
                shown,
            }),
            Err(why) => {
                stores.fault(&format!("update {shown}: {why}"));
                None
            }
        }
    }
}

impl Held {
    /// Writes it, and gives the lock up.
    pub(super) fn write(self, stores: &mut Stores) {
        let written = {
            let (data, own) = (stores.data.as_ref(), self.due.own.as_ref());
            let others = |description: &Redacted| is_others(data, own, description);
            self.place.write(&self.due.news, &others)
        };
        match written {
            Ok(None) => {}
            Ok(Some(warning)) => stores.fault(&format!("keep {} small: {warning}", self.shown)),
            Err(why) => stores.fault(&format!("update {}: {why}", self.shown)),
        }
    }
}

/// Another session whose turn is open is at the task of that description.
fn is_others(data: Option<&DataDir>, own: Option<&SessionId>, description: &Redacted) -> bool {
    let entries = data.and_then(|d| d.open_entries().ok()).unwrap_or_default();
    entries.iter().any(|e| {
        Some(&e.session) != own
            && e.turn.is_some()
            && e.task.as_ref().is_some_and(|t| t.description == *description)
    })
}

/// The agent that the host names: that of the event, else the main one.
pub(super) fn named(event: &Event, state: &State) -> Option<Agent> {
    let own = event.agent.as_ref().and_then(|a| a.kind.as_ref());
    let main = event.role.as_ref().or(state.role.as_ref());
    let agent = |name: Option<&Redacted>| Agent::from_name(name?.as_str());
    agent(own).or_else(|| agent(main))
}

fn aims(event: &Event, state: &State) -> (Vec<PathBuf>, Option<Redacted>) {
    let Kind::Tool(call) = &event.kind else {
        return (Vec::new(), None);
    };
    if call.kind == ToolKind::Shell {
        return (Vec::new(), call.target.clone());
    }
    let here = event.cwd.as_ref().or(state.cwd.as_ref());
    let whole = |path: &Redacted| match here {
        Some(cwd) => Path::new(cwd.as_str()).join(path.as_str()).components().collect(),
        None => PathBuf::from(path.as_str()),
    };
    let files = call.files.iter().map(|f| &f.path);
    (files.chain(&call.target).map(whole).collect(), None)
}

fn news(event: &Event, resend: bool, before: &State, after: &State, config: &Config) -> Option<News> {
    let kept = |task: &Task| lasting(task, config);
    let ended = before
        .current_task
        .as_ref()
        .filter(|_| after.current_task.is_none());
    let limited = || {
        after
            .rate_limit
            .as_ref()
            .is_some_and(|l| l.detected_at == event.at)
    };
    let due = match &event.kind {
        Kind::Prompt { origin, .. } => *origin == Origin::User && !resend,
        Kind::Tool(call) => call.todos.is_some() || limited(),
        // A session that is opened and closed has nothing to say.
        Kind::Stop { .. } | Kind::Failure { .. } | Kind::Interrupt | Kind::SessionEnd { .. } => {
            after.turns.count > 0
        }
        Kind::PreCompact | Kind::Delegation { .. } => true,
        Kind::AgentStop { .. } => ended.is_some(),
        Kind::SessionStart { .. } | Kind::AgentStart => false,
    };
    let last = after.turns.last().filter(|t| t.status == Status::Completed);
    due.then(|| News {
        at: event.at,
        prompt: matches!(event.kind, Kind::Prompt { .. }),
        task: after.current_task.as_ref().map(kept),
        ended: ended.map(kept),
        done: last.map(|t| t.started_at),
        todos: after.ui_todos.clone().map(|list| todo_news(event, before, list)),
    })
}

fn todo_news(event: &Event, before: &State, list: Todos) -> TodoNews {
    let change = match &event.kind {
        Kind::Tool(call) => call.todos.as_ref(),
        _ => None,
    };
    let whole = match change {
        Some(TodoChange::List { .. }) => true,
        Some(_) => false,
        None => list.items.iter().all(|t| t.host_id.is_none()),
    };
    let is_there = |content: &Redacted| list.items.iter().any(|t| t.content == *content);
    let before = before.ui_todos.iter().flat_map(|t| &t.items);
    let removed = before
        .map(|t| t.content.clone())
        .filter(|content| !is_there(content))
        .collect();
    TodoNews {
        told: change.is_some(),
        whole,
        removed,
        list,
    }
}
