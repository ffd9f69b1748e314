//! Looking at the state: nothing is changed, no lock is taken.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::Error;
use super::handed;
use super::plan::{self, Planned, Violation};
use super::service::{Service, answer};
use super::session::{List, PhaseId, PhaseStatus, Session, TokenUsage};
use super::store::{self, ACTIVE};
use super::transition::waits_for;
use crate::fields::Checked;

/// Most of a task that a list shows, in characters.
const MAX_TASK: usize = 200;

/// Where the active session stands.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// Whether there is one.
    pub exists: bool,
    /// What there is to say where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Where the named session is, if it is archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_path: Option<String>,
    /// The session without its phases' details.
    #[serde(flatten)]
    pub session: Option<Summary>,
}

/// A session without its phases' details.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Its id.
    pub session_id: String,
    /// What the user asked for.
    pub task: String,
    /// Where it stands.
    pub status: String,
    /// When it was begun.
    pub created: String,
    /// When anything last changed.
    pub updated: String,
    /// `standard` or `express`.
    pub workflow_mode: Option<String>,
    /// `parallel` or `sequential`.
    pub execution_mode: Option<String>,
    /// What runs the agents.
    pub execution_backend: Option<String>,
    /// The batch that is at work.
    pub current_batch: Option<String>,
    /// How complex the task is.
    pub task_complexity: Option<String>,
    /// Where it is.
    pub design_document: Option<String>,
    /// Where it is.
    pub implementation_plan: Option<String>,
    /// The current phase.
    pub current_phase: Option<PhaseId>,
    /// How many there are.
    pub total_phases: u64,
    /// The phases.
    pub phases: Vec<PhaseLine>,
    /// Tokens used.
    pub token_usage: TokenUsage,
    /// What comes next; none when nothing can.
    pub next: Option<Next>,
    /// Archiving was begun and cut off: the next call that writes finishes it.
    pub archiving: bool,
    /// Where the file is, from the workspace's root on.
    pub path: String,
}

/// A phase in a line.
#[derive(Debug, Clone, Serialize)]
pub struct PhaseLine {
    /// Its id.
    pub id: PhaseId,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub status: String,
    /// Checkmark, circle, cross, square or dash; none for a status that is none.
    pub indicator: Option<char>,
    /// Who works on it.
    pub agents: List,
    /// Whether it may run beside others.
    pub parallel: bool,
    /// The phases that it still waits for.
    pub waits_for: Vec<PhaseId>,
    /// How often it was begun again.
    pub retry_count: u64,
    /// How many errors it had.
    pub errors: usize,
    /// Somebody has to look at what it did.
    pub requires_reconciliation: bool,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Next {
    /// The phase.
    pub phase_id: PhaseId,
    /// `continue` it, `retry` it, or `start` it.
    pub action: &'static str,
}

/// The phase in progress, else a failed one with retries left, else the first that can start.
pub(super) fn next(session: &Session, max_retries: u64) -> Option<Next> {
    let of = |status: PhaseStatus| {
        session
            .phases
            .iter()
            .filter(move |p| p.standing() == Some(status))
    };
    let working = of(PhaseStatus::InProgress).next().map(|p| (p, "continue"));
    let retry = || {
        of(PhaseStatus::Failed)
            .find(|p| p.retry_count < max_retries)
            .map(|p| (p, "retry"))
    };
    let start = || {
        of(PhaseStatus::Pending)
            .find(|p| waits_for(session, p).is_empty())
            .map(|p| (p, "start"))
    };
    working.or_else(retry).or_else(start).map(|(phase, action)| Next {
        phase_id: phase.id.clone(),
        action,
    })
}

impl Service {
    /// Where the active session stands, which is the named one if one is named.
    ///
    /// # Errors
    /// [`Error::SessionMismatch`], [`Error::StateInvalid`], or what the file system refused.
    pub fn status(&self, named: Option<&str>) -> Result<Status, Error> {
        let at = self.workspace()?;
        let stored = store::active(&at)?;
        let of_other = stored
            .as_ref()
            .filter(|s| named.is_some_and(|named| named != s.session.session_id));
        if let (Some(named), true) = (named, stored.is_none() || of_other.is_some()) {
            if store::is_archived(&at, named)? {
                let path = at.shown(&["state", "archive", &format!("{named}.md")]);
                return Ok(none("The session is archived.", Some(path)));
            }
            if let Some(other) = of_other {
                return Err(Error::SessionMismatch {
                    named: named.to_owned(),
                    active: other.session.session_id.clone(),
                });
            }
        }
        let Some(stored) = stored else {
            return Ok(none(
                "There is no active session: create_session begins one.",
                None,
            ));
        };
        let path = at.shown(&["state", ACTIVE]);
        Ok(Status {
            exists: true,
            message: None,
            archive_path: None,
            session: Some(summary(stored.session, at.max_retries, path)),
        })
    }
}

fn none(message: &str, archive_path: Option<String>) -> Status {
    Status {
        exists: false,
        message: Some(message.to_owned()),
        archive_path,
        session: None,
    }
}

fn summary(session: Session, max_retries: u64, path: String) -> Summary {
    let line = |phase: &super::session::Phase| PhaseLine {
        id: phase.id.clone(),
        name: phase.name.clone(),
        status: phase.status.clone(),
        indicator: phase.standing().map(PhaseStatus::indicator),
        agents: phase.agents.clone(),
        parallel: phase.parallel,
        waits_for: waits_for(&session, phase),
        retry_count: phase.retry_count,
        errors: phase.errors.len(),
        requires_reconciliation: phase.requires_reconciliation.unwrap_or(false),
    };
    Summary {
        phases: session.phases.iter().map(line).collect(),
        next: next(&session, max_retries),
        archiving: session.archive.is_some(),
        path,
        session_id: session.session_id,
        task: session.task,
        status: session.status,
        created: session.created,
        updated: session.updated,
        workflow_mode: session.workflow_mode,
        execution_mode: session.execution_mode,
        execution_backend: session.execution_backend,
        current_batch: session.current_batch,
        task_complexity: session.task_complexity,
        design_document: session.design_document,
        implementation_plan: session.implementation_plan,
        current_phase: session.current_phase,
        total_phases: session.total_phases,
        token_usage: session.token_usage,
    }
}

pub(super) fn status(service: &mut Service, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Given {
        session_id: Option<String>,
    }
    let given: Given = params.read()?;
    let mut said = answer(&service.status(given.session_id.as_deref())?)?;
    let at = service.workspace()?;
    if let (Some(said), Some(stored)) = (said.as_object_mut(), store::active(&at)?) {
        let all = service.handed(&at, &stored.session);
        let session = &stored.session;
        let marked = session.phases.iter().map(|p| handed::marks(session, p, &all));
        let lines = said.get_mut("phases").and_then(Value::as_array_mut);
        for (line, _) in lines
            .into_iter()
            .flatten()
            .zip(marked)
            .filter(|(_, marked)| *marked)
        {
            if let Some(mark) = line.get_mut("requires_reconciliation") {
                *mark = json!(true);
            }
        }
        if !all.is_empty() {
            said.insert("handoffs".to_owned(), handed::shown(&all));
        }
    }
    Ok(said)
}

pub(super) fn list(service: &mut Service, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Given {
        limit: Option<usize>,
        offset: Option<usize>,
    }
    let given: Given = params.read()?;
    let (limit, offset) = (given.limit.unwrap_or(20), given.offset.unwrap_or(0));
    let at = service.workspace()?;
    let mut found: Vec<(String, Option<Value>)> = Vec::new();
    let active = match store::active(&at) {
        Ok(stored) => stored.map(|stored| line(&stored.session, &at.shown(&["state", ACTIVE]), false)),
        Err(e @ Error::StateInvalid { .. }) => {
            Some(json!({"path": at.shown(&["state", ACTIVE]), "archived": false, "error": e.message()}))
        }
        Err(e) => return Err(e),
    };
    if active.is_some() {
        found.push((String::new(), active));
    }
    let dir = store::archives(&at)?;
    if let Some(dir) = &dir {
        let entries = dir
            .entries()
            .map_err(|e| Error::storage("list the archive", &e))?;
        let mut names: Vec<String> = entries
            .into_iter()
            .map(|e| e.name)
            .filter(|n| n.ends_with(".md") && !n.starts_with('.'))
            .collect();
        // Their names begin with their day.
        names.sort_by(|one, other| other.cmp(one));
        found.extend(names.into_iter().map(|name| (name, None)));
    }
    let total = found.len();
    let sessions: Vec<Value> = found
        .into_iter()
        .skip(offset)
        .take(limit)
        .filter_map(|(name, active)| {
            active.or_else(|| dir.as_ref().and_then(|dir| archived(&at, dir, &name)))
        })
        .collect();
    Ok(json!({"sessions": sessions, "total_count": total, "offset": offset, "limit": limit}))
}

fn archived(at: &super::workspace::Workspace, dir: &crate::files::Dir, name: &str) -> Option<Value> {
    let path = at.shown(&["state", "archive", name]);
    match store::read(dir, name, &path) {
        Ok(stored) => stored.map(|stored| line(&stored.session, &path, true)),
        Err(e) => Some(json!({"path": path, "archived": true, "error": e.message()})),
    }
}

fn line(session: &Session, path: &str, archived: bool) -> Value {
    let task: String = session.task.chars().take(MAX_TASK).collect();
    json!({
        "session_id": session.session_id, "task": task, "status": session.status, "created": session.created,
        "updated": session.updated, "archived": archived, "path": path, "total_phases": session.phases.len(),
        "completed_phases": session.standing(PhaseStatus::Completed).count(),
    })
}

pub(super) fn validate(_: &mut Service, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Given {
        plan: Plan,
        task_complexity: Option<String>,
    }
    #[derive(Deserialize)]
    struct Plan {
        phases: Vec<Planned>,
    }
    let given: Given = params.read()?;
    let phases = &given.plan.phases;
    let mut violations = plan::errors(phases);
    let valid = violations.is_empty();
    if valid {
        violations.extend(plan::warnings(phases, given.task_complexity.as_deref()));
    }
    let batches = if valid { plan::batches(phases) } else { Vec::new() };
    debug_assert!(valid || violations.iter().any(Violation::is_error));
    Ok(json!({"valid": valid, "violations": violations, "batches": batches}))
}
