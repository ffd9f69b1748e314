//! Which session and which turn a call is about: named, or told from where the caller is.

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::Error;
use super::{Live, Service};
use crate::log::data_dir::DataDir;
use crate::log::id::{RequestId, SessionId};
use crate::log::ledger::FILE;
use crate::log::view::{SessionView, TurnView};
use crate::redact::Redacted;

/// Most candidates that an error lists.
const MAX_CANDIDATES: usize = 10;

/// What a call names.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Named {
    pub(super) session_id: Option<SessionId>,
    pub(super) agent: Option<String>,
    pub(super) turn_request_id: Option<RequestId>,
    pub(super) subagent: Option<Redacted>,
}

impl Service<'_> {
    /// The session: named; else opened by this process; else the one of the host in which the caller runs; else
    /// the last that was begun by a call in this project; else the only live one of this project.
    pub(super) fn session(&self, data: &DataDir, named: &Named) -> Result<SessionId, Error> {
        let session = match &named.session_id {
            Some(id) => id.clone(),
            None => self.told(data)?,
        };
        if named
            .agent
            .as_deref()
            .is_some_and(|agent| agent != session.agent())
        {
            let constraint = format!("the session {session} is of {}", session.agent());
            return Err(Error::parameter("agent", Some(&json!(named.agent)), constraint));
        }
        Ok(session)
    }

    fn told(&self, data: &DataDir) -> Result<SessionId, Error> {
        if let Some(opened) = &self.opened {
            return Ok(opened.clone());
        }
        let project = self.around.project();
        let called = || data.called(project.as_ref()?).ok().flatten();
        let host = || self.around.host_session(data);
        if let Some(found) = host()
            .filter(|id| has_log(data, id))
            .or_else(|| called().filter(|id| has_log(data, id)))
        {
            return Ok(found);
        }
        let live = self.around.live();
        let here: Vec<&Live> = live
            .iter()
            .filter(|l| project.is_some() && l.project == project)
            .collect();
        match here.as_slice() {
            [one] => Ok(one.session.clone()),
            [] => Err(untold(live.iter())),
            several => Err(untold(several.iter().copied())),
        }
    }
}

fn has_log(data: &DataDir, id: &SessionId) -> bool {
    let dir = data.session(id).ok().flatten();
    dir.and_then(|dir| dir.stat(FILE).ok().flatten())
        .is_some_and(|stat| stat.st_size > 0)
}

fn untold<'l>(live: impl Iterator<Item = &'l Live>) -> Error {
    let one = |l: &Live| json!({"sessionId": l.session, "task": l.task, "project": l.project});
    let candidates: Vec<Value> = live.take(MAX_CANDIDATES).map(one).collect();
    Error::SessionNotFound {
        session: None,
        candidates,
    }
}

/// The turn that a call names by any of its ids; else the caller's open one; else its last, which has its end.
pub(super) fn turn<'v>(view: &'v SessionView, named: &Named) -> Result<&'v TurnView, Error> {
    let missing = || Error::TurnNotFound {
        session: view.session_id.clone(),
        turn: named.turn_request_id.clone(),
    };
    match &named.turn_request_id {
        Some(id) => known(view, id),
        None => open(view, named.subagent.as_ref()).or_else(|| own(view, named.subagent.as_ref()).next()),
    }
    .ok_or_else(missing)
}

/// The same, if it can still be added to.
pub(super) fn open_turn<'v>(view: &'v SessionView, named: &Named) -> Result<&'v TurnView, Error> {
    let turn = turn(view, named)?;
    if turn.can_end() {
        Ok(turn)
    } else {
        Err(immutable(turn, named))
    }
}

/// That the turn has its end.
pub(super) fn immutable(turn: &TurnView, named: &Named) -> Error {
    Error::TurnImmutable {
        turn: id_for(turn, named).clone(),
        status: turn.status,
        completed_at: turn.completed_at,
    }
}

/// The turn with that id or alias.
pub(super) fn known<'v>(view: &'v SessionView, id: &RequestId) -> Option<&'v TurnView> {
    view.turns
        .iter()
        .rev()
        .find(|t| t.request_id == *id || t.aliases.contains(id))
}

/// The open turn of the root, or of a subagent.
pub(super) fn open<'v>(view: &'v SessionView, subagent: Option<&Redacted>) -> Option<&'v TurnView> {
    own(view, subagent).find(|t| t.status == "in_progress")
}

fn own<'v>(view: &'v SessionView, subagent: Option<&Redacted>) -> impl Iterator<Item = &'v TurnView> {
    view.turns
        .iter()
        .rev()
        .filter(move |t| t.agent.as_ref() == subagent)
}

/// The id by which a caller knows a turn: the one that it named, else the one that a model gave it last.
pub(super) fn id_for<'v>(turn: &'v TurnView, named: &'v Named) -> &'v RequestId {
    let own = || turn.aliases.last().unwrap_or(&turn.request_id);
    named.turn_request_id.as_ref().unwrap_or_else(own)
}
