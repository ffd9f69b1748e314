//! One handler per executable: what an event means. Pure: an event, the state before it and the
//! configuration give a [`Plan`] (records for the log, marks for the turns, what to tell the model).
//! Handlers know no JSON, no file and no host's wire; `dispatch` carries the plan out.

mod begin;
mod handoff;
mod post_tool;
mod pre_delegation;
mod session_start;
mod stop;
mod turn_start;

use crate::config::Config;
use crate::event::{Event, Kind};
use crate::live::state::{Adopted, State, TakenOver};
use crate::log::id::SessionId;
use crate::log::record::Body;
use crate::log::turns::Mark;
use crate::orchestration::active::Active;
use crate::process::Pulse;
use crate::redact::Redacted;
use crate::reply::Verdict;
use crate::task::agent_files::Kept;

/// What a handler sees.
#[derive(Debug)]
pub struct Context<'a> {
    /// What happened.
    pub event: &'a Event,
    /// The state before it.
    pub state: &'a State,
    /// The configuration.
    pub config: &'a Config,
    /// The session's log id, told to the model.
    pub log: Option<&'a SessionId>,
    /// Whether the process that the state names still runs; looked up at a session start only.
    pub pulse: Pulse,
    /// The process changed since the state was written.
    pub moved: bool,
    /// An unfinished session that this one may resume: looked up at a session start only.
    pub offer: Option<&'a Offer>,
    /// An agent's state file that has something to resume from: looked at where a brief may be given.
    pub kept: Option<&'a Kept>,
    /// The project's active orchestration: looked up where it is told or asked for.
    pub active: Option<&'a Active>,
    /// The host hears the answer to this event, and takes a block.
    pub can_block: bool,
}

/// An unfinished session of this project whose host is gone, or from which this one was forked.
#[derive(Debug, Clone)]
pub struct Offer {
    /// What would be taken over.
    pub taken: TakenOver,
    /// The name of its host, for people.
    pub host: &'static str,
    /// The host's id of it.
    pub host_session: Redacted,
    /// Files that its last turn changed.
    pub files: Vec<Redacted>,
    /// Why its last turn ended.
    pub why: Option<String>,
    /// When.
    pub when: Option<chrono::DateTime<chrono::Utc>>,
    /// The limit that it met.
    pub limit: Option<crate::task::Limit>,
    /// The other session ends with this: its entry is removed.
    pub ends: bool,
}

/// What is to be written and said.
#[derive(Debug, Default)]
pub struct Plan {
    /// Records about turns, in order. Task, todos and limits are added from the change of the state.
    pub records: Vec<Body>,
    /// Changes of the turns that are in no record.
    pub aliases: Vec<Mark>,
    /// What the model is told.
    pub context: Option<String>,
    /// That holds the brief about the task in hand.
    pub brief: bool,
    /// The prompt is one that was sent before.
    pub resend: bool,
    /// What is taken over from another session.
    pub took_over: Option<TakenOver>,
    /// What is taken from an agent's state file.
    pub adopted: Option<Adopted>,
    /// Whether the host may go on.
    pub verdict: Verdict,
}

/// What the event means, by its kind: the executable's name says the same, and a payload that arrives at
/// another one (a wrong registration) is still handled as what it is.
#[must_use]
pub fn plan(context: &Context<'_>) -> Plan {
    match &context.event.kind {
        Kind::SessionStart { source } => session_start::handle(context, *source),
        Kind::Prompt { text, origin } => turn_start::handle(context, text, *origin),
        Kind::Delegation { .. } | Kind::AgentStart => pre_delegation::handle(context),
        Kind::Tool(call) => post_tool::handle(context, call),
        Kind::AgentStop { .. }
        | Kind::Stop { .. }
        | Kind::Failure { .. }
        | Kind::Interrupt
        | Kind::PreCompact
        | Kind::SessionEnd { .. } => stop::handle(context),
    }
}
