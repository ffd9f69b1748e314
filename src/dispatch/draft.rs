//! What an event means before anything is written: the plan, the state after it, the records that both
//! give, and the answer. Pure.

use chrono::{DateTime, Utc};

use super::found::Found;
use crate::config::{Config, LogPrompts};
use crate::event::{Event, Kind};
use crate::handlers::{self, Plan};
use crate::live::brief::brief;
use crate::live::key::SessionKey;
use crate::live::state::{Answered, Entry, State};
use crate::log::id::SessionId;
use crate::log::open::OpenEntry;
use crate::log::record::{Body, prompt_hash};
use crate::log::turns::Mark;
use crate::redact::Redacted;
use crate::reply::{MAX_CONTEXT, Reply, Verdict};
use crate::task::{Task, Todo, Todos, limit};

/// What the durable store says in place of a task's description when it is to keep no prompt.
const PROMPT_NOT_KEPT: &str = "a task whose prompt is not kept";

/// An event, thought through.
pub(super) struct Draft {
    /// What its handler says.
    pub(super) plan: Plan,
    /// The records that it leaves in the log.
    pub(super) records: Vec<Body>,
    /// The journal's entry, without what is known only after the log was written.
    pub(super) entry: Entry,
    /// The state after it.
    pub(super) after: State,
}

impl Draft {
    /// Thinks an event through.
    pub(super) fn of(event: &Event, state: &State, config: &Config, found: &Found) -> Self {
        let mut plan = handlers::plan(&found.context(event, state, config));
        let mut records = std::mem::take(&mut plan.records);
        let mut marks: Vec<Mark> = records.iter().filter_map(|r| r.mark(event.at)).collect();
        if let Kind::Prompt { text, .. } = &event.kind {
            for mark in &mut marks {
                if let Mark::Begin { turn } = mark {
                    turn.prompt = Some(prompt_hash(text.as_str()));
                }
            }
        }
        marks.append(&mut plan.aliases);
        let entry = Entry {
            n: state.n + 1,
            event: brief(event, state),
            marks,
            caught: Vec::new(),
            logged: Vec::new(),
            log: None,
            process: found.process.clone(),
            resend: plan.resend,
            took_over: plan.took_over.clone(),
            adopted: plan.adopted.clone(),
            sent_back: matches!(plan.verdict, Verdict::Block(_)),
            answered: Answered::default(),
            us: 0,
            faults: Vec::new(),
        };
        let mut after = state.clone();
        after.follow(&entry);
        records.extend(changes(state, &after, config));
        Self {
            plan,
            records,
            entry,
            after,
        }
    }

    /// Whether its records change what `open/` says.
    pub(super) fn touches_open(&self) -> bool {
        let moves = |r: &Body| {
            !matches!(
                r,
                Body::TurnAction { .. }
                    | Body::Late { .. }
                    | Body::Limit { .. }
                    | Body::Handoff { .. }
                    | Body::Note { .. }
            )
        };
        self.records.iter().any(moves)
    }

    /// What `open/` says after it.
    pub(super) fn open_entry(
        &self,
        event: &Event,
        key: &SessionKey,
        config: &Config,
        id: &SessionId,
    ) -> OpenEntry {
        let after = &self.after;
        let turn = after.turns.open().map(|t| t.id.clone());
        OpenEntry {
            v: 1,
            session: id.clone(),
            host: event.host,
            session_key: key.to_string(),
            project_root: after.project_root.clone().or_else(|| after.cwd.clone()),
            settled: turn.is_none(),
            turn,
            since: event.at,
            task: after.to_be_resumed().map(|t| lasting(t, config)),
            todos: after.ui_todos.clone().filter(Todos::any_open),
            process: after.host_process.clone(),
            ended: after.ended.is_some(),
        }
    }
}

/// A task as the durable store may have it: its description is the prompt's first line.
pub(super) fn lasting(task: &Task, config: &Config) -> Task {
    match config.log_prompts {
        LogPrompts::Full | LogPrompts::Title => task.clone(),
        LogPrompts::Off => Task {
            description: Redacted::new(PROMPT_NOT_KEPT),
            ..task.clone()
        },
    }
}

/// What changed in the state and must outlive it: the task, the todos, a limit.
fn changes(before: &State, after: &State, config: &Config) -> Vec<Body> {
    let mut records = Vec::new();
    if let Some(limit) = after.rate_limit.as_ref().filter(|l| {
        before
            .rate_limit
            .as_ref()
            .is_none_or(|b| b.detected_at != l.detected_at)
    }) {
        let turn = after.turns.last().map(|t| t.id.clone());
        records.push(Body::Limit {
            turn,
            limit: limit.clone(),
        });
    }
    let limited = |s: &State| s.current_task.as_ref().and_then(|t| t.rate_limit_detected_at);
    if known_task(before) != known_task(after)
        || limited(before) != limited(after)
        || before.interrupted_task != after.interrupted_task
    {
        let kept = |t: &Option<Task>| t.as_ref().map(|t| lasting(t, config));
        records.push(Body::Task {
            task: kept(&after.current_task),
            interrupted: kept(&after.interrupted_task),
        });
    }
    if todos(before) != todos(after) {
        records.push(Body::Todos {
            todos: after.ui_todos.clone().unwrap_or_default(),
        });
    }
    records
}

/// What makes the task another one: its words and its start.
fn known_task(state: &State) -> Option<(&Redacted, DateTime<Utc>)> {
    state
        .current_task
        .as_ref()
        .map(|t| (&t.description, t.started_at))
}

fn todos(state: &State) -> &[Todo] {
    state.ui_todos.as_ref().map_or(&[], |t| &t.items)
}

/// A log's first record.
pub(super) fn opening(event: &Event, draft: &Draft, id: &SessionId) -> Body {
    let title = draft.records.iter().find_map(|r| match r {
        Body::TurnBegin { title, .. } if !title.is_empty() => Some(title.clone()),
        _ => None,
    });
    Body::SessionOpen {
        agent: id.agent().to_owned(),
        host: Some(event.host),
        host_session: Some(event.session.clone()),
        title: title.unwrap_or_default(),
        model: draft.after.model.clone(),
        project_root: draft.after.project_root.clone(),
        cwd: event.cwd.clone(),
    }
}

/// The answer: what the event's host takes at that event.
pub(super) fn reply(event: &Event, plan: &Plan, after: &State) -> Reply {
    let accepts = event.host.accepts(&event.name);
    let context = plan
        .context
        .clone()
        .filter(|_| accepts.context)
        .map(|c| c.chars().take(MAX_CONTEXT).collect());
    let notices: Vec<&str> = after.notices.iter().map(Redacted::as_str).collect();
    let notice = (accepts.notice && !notices.is_empty()).then(|| notices.join("\n\n"));
    Reply {
        context,
        notice,
        verdict: plan.verdict.clone(),
        log: None,
    }
}

/// How it was answered, for the journal.
pub(super) fn answered(reply: &Reply, plan: &Plan, after: &State) -> Answered {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Answered {
        context: reply.context.as_ref().map_or(0, |c| count(c.chars().count())),
        notices: if reply.notice.is_some() {
            count(after.notices.len())
        } else {
            0
        },
        told: plan.context.as_deref() == Some(limit::WAIT) && reply.context.is_some(),
        brief: plan.brief && reply.context.is_some(),
        denied: match &reply.verdict {
            Verdict::Allow => None,
            Verdict::Deny(why) | Verdict::Block(why) => Some(Redacted::new(why)),
        },
    }
}
