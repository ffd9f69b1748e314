//! What is looked up before a plan is made: which log, which process, which unfinished session.

use std::io;

use chrono::{DateTime, Utc};

use super::active;
use super::step::{NotNow, later_or_note};
use super::stores::Stores;
use super::{HOOK_WAIT, kept, offer};
use crate::config::Config;
use crate::delegation::name;
use crate::dispatch::settle;
use crate::event::{Event, Kind, Source};
use crate::handlers::{Context, Offer};
use crate::live::root::HookRoot;
use crate::live::session::Session;
use crate::live::state::{LogEnd, State};
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::ledger::Ledger;
use crate::log::off;
use crate::log::open::OpenEntry;
use crate::log::record::{Body, By};
use crate::log::view::SessionView;
use crate::orchestration::active::Active;
use crate::process::{HostProcess, Pulse};
use crate::redact::Redacted;
use crate::task::agent_files::Kept;
use crate::task::{Task, Todos};

/// What a plan is made from, besides the event and the state.
pub(super) struct Found {
    /// The log session.
    pub(super) log: Option<SessionId>,
    /// The host's process, where it was looked up.
    pub(super) process: Option<HostProcess>,
    /// Whether the process that the state names still runs.
    pub(super) pulse: Pulse,
    /// What may be resumed.
    pub(super) offer: Option<Offer>,
    /// An agent's state file that may be resumed from.
    pub(super) kept: Option<Kept>,
    /// The log of the session that this takes over, held until that says so.
    pub(super) claim: Option<Ledger>,
    /// The live state was begun anew, or its lost part again.
    pub(super) reborn: bool,
    /// The project's active orchestration.
    pub(super) active: Option<Active>,
    /// The host hears the answer, and takes a block.
    pub(super) can_block: bool,
}

impl Found {
    /// Looks it up, and settles what a session start has to know settled.
    pub(super) fn about(
        session: &mut Session,
        event: &mut Event,
        stores: &mut Stores,
        config: &Config,
    ) -> Result<Self, NotNow> {
        let partial = std::mem::take(&mut session.is_partial);
        let reborn = session.is_new || partial;
        if reborn
            && let Some(root) = &stores.root
            && let Err(e) = root.claim(stores.data.as_ref())
        {
            let what = format!("mark the hook root: {e}");
            stores.fault(&what);
        }
        if event.project.is_none() && session.state.project_root.is_none() {
            event.project = event.cwd.as_ref().map(project_of);
        }
        name_agent(event, config);
        let mut log = session.state.log.as_ref().map(|l| l.session.clone());
        if log.is_none() || partial {
            log = known_log(session, event, stores, log)?;
        }
        session.is_new = false;
        let project = event.project.as_ref().or(session.state.project_root.as_ref());
        let is_off = log.is_none() && project.is_some_and(|project| off::is_off(project));
        // A thread that ends without ever having begun a turn gets no place in the log, and without a data
        // directory nobody is told of a log that is not there.
        let named = stores.data.is_some()
            && !is_off
            && (session.state.turns.count > 0 || !matches!(event.kind, Kind::SessionEnd { .. }));
        // By the key, not by the id as it is stored, of which the end or a secret may be gone.
        let new = || SessionId::of(event.host, session.key.as_str(), event.at);
        let log = log.or_else(|| named.then(new));
        let starts = matches!(event.kind, Kind::SessionStart { .. });
        // A pending event that a command folds in was another process's: the command's ancestors are no host.
        let process = (stores.by_host && (starts || session.state.host_process.is_none()))
            .then(|| HostProcess::find(event.host_pid))
            .flatten();
        let mut found = Self {
            log,
            process,
            pulse: Pulse::Unknown,
            offer: None,
            kept: None,
            claim: None,
            reborn,
            active: active::find(event, &session.state, config),
            can_block: stores.heard && event.host.accepts(&event.name).block,
        };
        if let (Kind::SessionStart { source }, Some(data)) = (&event.kind, &stores.data) {
            found.pulse = match &session.state.host_process {
                None => Pulse::Unknown,
                known if *known == found.process => Pulse::Alive,
                Some(other) => other.pulse(),
            };
            let root = stores.root.as_ref();
            let own = found.log.as_ref();
            let settled = data.open_entries().and_then(|entries| {
                settle::settle(data, &entries, root, own, settle::MAX_ENTRIES, event.at);
                settle::expire(data, &entries, config.resume_days, event.at)
            });
            if let Err(e) = settled {
                let what = format!("settle unfinished sessions: {e}");
                stores.faults.push(what);
            }
            if *source == Source::Clear {
                clear(data, root, &found, session, event);
            }
            // The first to hold the lock speaks: a session that has its turn already is not given another's task.
            if stores.heard && session.state.turns.count == 0 {
                let mut asked = event.clone();
                asked.project = asked.project.or_else(|| session.state.project_root.clone());
                let offered = offer::find(data, root, &asked, *source, own, config);
                (found.offer, found.claim) = offered.map_or((None, None), |(o, claim)| (Some(o), claim));
            }
        }
        found.kept = kept::kept(event, &session.state, found.log.as_ref(), stores, config);
        Ok(found)
    }

    /// As a handler sees it.
    pub(super) fn context<'a>(
        &'a self,
        event: &'a Event,
        state: &'a State,
        config: &'a Config,
    ) -> Context<'a> {
        let moved = self.process.is_some() && self.process != state.host_process;
        Context {
            event,
            state,
            config,
            log: self.log.as_ref(),
            pulse: self.pulse,
            moved,
            offer: self.offer.as_ref(),
            kept: self.kept.as_ref(),
            active: self.active.as_ref(),
            can_block: self.can_block,
        }
    }
}

/// Names the agent that a delegation is for, where the host does not: as its prompt's head says, or the environment.
fn name_agent(event: &mut Event, config: &Config) {
    let by_env = || config.current_agent.as_deref().and_then(name::valid);
    match &mut event.kind {
        Kind::Delegation {
            to: to @ None,
            prompt,
            ..
        } => *to = name::of_header(prompt).or_else(by_env).map(|n| Redacted::new(&n)),
        Kind::AgentStart => {
            if let Some(agent) = event.agent.as_mut().filter(|a| a.kind.is_none()) {
                agent.kind = by_env().map(|n| Redacted::new(&n));
            }
        }
        _ => {}
    }
}

/// The project of a working directory: its nearest ancestor that holds `.git`, else itself.
#[must_use]
pub fn project_of(cwd: &Redacted) -> Redacted {
    let path = std::path::Path::new(cwd.as_str());
    let root = path
        .ancestors()
        .take(32)
        .find(|p| p.is_absolute() && p.join(".git").exists());
    root.map_or_else(|| cwd.clone(), |p| Redacted::new(&p.to_string_lossy()))
}

/// The log session that this host session wrote to before its live state, or a part of it, was gone; the
/// state is begun again from it. One that cannot be looked up now is not taken for none: its turn would
/// never end.
fn known_log(
    session: &mut Session,
    event: &Event,
    stores: &mut Stores,
    log: Option<SessionId>,
) -> Result<Option<SessionId>, NotNow> {
    let Some(data) = &stores.data else { return Ok(log) };
    let known = match &log {
        Some(_) => Ok(log),
        None => data.by_host(event.host, session.key.as_str()),
    };
    let known = known.and_then(|id| {
        if let Some(id) = &id {
            restore(&mut session.state, data, id)?;
            // What comes from the log is in no journal: kept before the first entry is.
            session.checkpoint()?;
        }
        Ok(id)
    });
    match known {
        Ok(id) => Ok(id),
        Err(e) => {
            later_or_note(stores, "begin again from the session log", &e)?;
            Ok(session.state.log.as_ref().map(|l| l.session.clone()))
        }
    }
}

/// The state of a session whose live state is gone, as it would be begun again from its log.
///
/// # Errors
/// When the log cannot be read.
pub fn restored(data: &DataDir, id: &SessionId) -> io::Result<State> {
    let mut state = State::default();
    restore(&mut state, data, id)?;
    if let Some(view) = SessionView::read(data, id)? {
        state.host = view.host;
        state.session_id = view.host_session.unwrap_or_default();
    }
    Ok(state)
}

/// A live state that is gone is begun again from the log; of one that lost its checkpoint, what is known
/// besides stays.
fn restore(state: &mut State, data: &DataDir, id: &SessionId) -> io::Result<()> {
    // Its turns are read from its beginning, if not here, then before the next record.
    state.log.get_or_insert_with(|| LogEnd {
        session: id.clone(),
        end: 0,
    });
    let Some(view) = SessionView::read(data, id)? else {
        return Ok(());
    };
    state.turn_files = view.last_files();
    state.last_event_at = state.last_event_at.max(view.last_sign);
    let mut turns = view.machine;
    for turn in &mut turns.latest {
        // What the journal still has is more: a turn's further ids, a prompt that the log does not keep.
        if let Some(known) = state.turns.get(&turn.id) {
            turn.host_turns.clone_from(&known.host_turns);
            turn.prompt = known.prompt.or(turn.prompt);
        }
    }
    state.turns = turns;
    let same = |a: &Task, b: &Task| a.started_at == b.started_at;
    match (&state.current_task, &view.task) {
        (Some(known), Some(logged)) if same(known, logged) => {}
        _ => state.current_task = view.task,
    }
    match (&state.interrupted_task, &view.interrupted) {
        (Some(known), Some(logged)) if same(known, logged) => {}
        _ => state.interrupted_task = view.interrupted,
    }
    let known = state.rate_limit.as_ref().map(|l| l.detected_at);
    if known != view.limit.as_ref().map(|l| l.detected_at) {
        state.rate_limit = view.limit;
    }
    state.ui_todos = view.todos;
    state.project_root = view.project_root;
    state.log = Some(LogEnd {
        session: id.clone(),
        end: view.end,
    });
    Ok(())
}

/// Neither the task nor the todos of a session are wanted any more: as when it says so itself.
fn put_away(data: &DataDir, id: &SessionId, at: DateTime<Utc>) {
    if let Ok(Some(mut log)) = Ledger::open(data, id, By::Hook, false, HOOK_WAIT) {
        let none = Body::Task {
            task: None,
            interrupted: None,
        };
        let todos = Todos::default();
        drop(log.append(vec![none, Body::Todos { todos }], at));
    }
    drop(data.remove_open(id));
}

/// `/clear`: what this host process was doing is over, and nobody wants it back. A conversation that it had
/// left before (its end was said) is another matter. Where one process runs many, it is the newest, and in a
/// server without a terminal nobody knows which: there each says its own end.
fn clear(data: &DataDir, root: Option<&HookRoot>, found: &Found, session: &Session, event: &Event) {
    if event.host.serves_many() && event.headless.is_none() {
        return;
    }
    let process = found.process.as_ref().or(session.state.host_process.as_ref());
    let entries = data.open_entries().unwrap_or_default();
    let of_process = |e: &OpenEntry| {
        process.is_some() && e.process.as_ref() == process && Some(&e.session) != found.log.as_ref()
    };
    let most = if event.host.serves_many() { 1 } else { usize::MAX };
    for entry in entries.into_iter().filter(of_process).take(most) {
        let seen = settle::look(data, root, entry, event.at);
        let ended = seen.live.as_ref().map_or(seen.entry.ended, |s| s.ended.is_some());
        if !ended {
            drop(settle::presume(data, &seen.entry, "session_ended", event.at));
            put_away(data, &seen.entry.session, event.at);
        }
    }
}
