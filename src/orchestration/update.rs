//! Changing the active session: its settings, and its phases.

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::Error;
use super::handed;
use super::look::next;
use super::section::{self, Report};
use super::service::{Service, answer, now, success};
use super::session::{Context, List, PhaseId, PhaseStatus, Session};
use super::store::{Held, Stored};
use super::transition::{self, Failure, Files, Step, Tokens};
use crate::fields::Checked;
use crate::redact::Redacted;

/// What is asked when a session is complete and is not archived by itself: the words of the protocol.
const ASK: &str = "Session complete. Auto-archive is disabled. Would you like to archive this session?";
/// What agents write where they have nothing to say.
const NOTHING: [&str; 4] = ["none", "n/a", "not applicable", "-"];

pub(super) fn update(service: &mut Service, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Given {
        session_id: String,
        execution_mode: Option<String>,
        execution_backend: Option<Redacted>,
        current_batch: Option<Redacted>,
        task_complexity: Option<Redacted>,
    }
    let given: Given = params.read()?;
    let text = |text: Option<Redacted>| text.map(|text| text.to_string());
    let new = [
        ("execution_mode", given.execution_mode),
        ("execution_backend", text(given.execution_backend)),
        ("current_batch", text(given.current_batch)),
        ("task_complexity", text(given.task_complexity)),
    ];
    let names: Vec<&str> = new
        .iter()
        .filter(|(_, value)| value.is_some())
        .map(|(name, _)| *name)
        .collect();
    if names.is_empty() {
        let all: Vec<&str> = new.iter().map(|(name, _)| *name).collect();
        let constraint = format!("at least one of {}", all.join(", "));
        return Err(Error::parameter("execution_mode", None, constraint));
    }
    let at = service.workspace()?;
    let held = Held::existing(&at)?.ok_or(Error::NoActiveSession)?;
    let mut stored = active(&held, Some(&given.session_id))?;
    let session = &mut stored.session;
    let [mode, backend, batch, complexity] = new.map(|(_, value)| value);
    for (field, value) in [
        (&mut session.execution_mode, mode),
        (&mut session.execution_backend, backend),
        (&mut session.current_batch, batch),
        (&mut session.task_complexity, complexity),
    ] {
        if value.is_some() {
            *field = value;
        }
    }
    session.updated = now();
    held.write(&mut stored)?;
    Ok(success(
        json!({"session_id": stored.session.session_id, "updated_fields": names}),
    ))
}

/// The active session, which is the named one.
pub(super) fn active(held: &Held<'_>, named: Option<&str>) -> Result<Stored, Error> {
    let stored = held.read()?.ok_or(Error::NoActiveSession)?;
    match named {
        Some(named) if named != stored.session.session_id => Err(Error::SessionMismatch {
            named: named.to_owned(),
            active: stored.session.session_id,
        }),
        _ => Ok(stored),
    }
}

/// A transition as it is asked for.
#[derive(Debug, Deserialize)]
struct Given {
    session_id: Option<String>,
    phase_id: Option<PhaseId>,
    to: Option<String>,
    completed_phase_id: Option<PhaseId>,
    #[serde(default)]
    next_phase_ids: Vec<PhaseId>,
    #[serde(default)]
    user_decided: bool,
    error: Option<GivenError>,
    resolution: Option<Redacted>,
    #[serde(default)]
    files_created: Vec<Redacted>,
    #[serde(default)]
    files_modified: Vec<Redacted>,
    #[serde(default)]
    files_deleted: Vec<Redacted>,
    #[serde(default)]
    downstream_context: Context,
    token_usage: Option<GivenTokens>,
    agent_output: Option<Redacted>,
    validation_result: Option<Redacted>,
    batch_id: Option<Redacted>,
}

#[derive(Debug, Deserialize)]
struct GivenError {
    agent: Option<Redacted>,
    #[serde(rename = "type")]
    kind: String,
    message: Redacted,
}

#[derive(Debug, Deserialize)]
struct GivenTokens {
    agent: Option<Redacted>,
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    cached: u64,
}

impl Given {
    /// Which phase goes where, in either way of saying it.
    fn goal(&self) -> Result<(PhaseId, PhaseStatus), Error> {
        let to = self.to.as_deref().and_then(PhaseStatus::from_word);
        match (&self.phase_id, &self.completed_phase_id, to) {
            (Some(phase), None, Some(to)) => Ok((phase.clone(), to)),
            (Some(_), None, None) => Err(Error::parameter(
                "to",
                None,
                "one of in_progress, completed, failed, skipped",
            )),
            (None, Some(phase), None | Some(PhaseStatus::Completed)) => {
                Ok((phase.clone(), PhaseStatus::Completed))
            }
            (None, Some(_), Some(to)) => Err(Error::parameter(
                "to",
                Some(&json!(to.word())),
                "with completed_phase_id it is completed: name the phase by phase_id",
            )),
            (Some(_), Some(phase), _) => Err(Error::parameter(
                "completed_phase_id",
                Some(&json!(phase)),
                "phase_id names the phase already: give one of the two",
            )),
            (None, None, _) => Err(Error::parameter(
                "phase_id",
                None,
                "the phase, an integer or a word",
            )),
        }
    }

    fn step(&self) -> Result<Step, Error> {
        let (phase, to) = self.goal()?;
        if to == PhaseStatus::Failed && self.error.is_none() {
            return Err(Error::parameter(
                "error",
                None,
                "an object with type and message, when a phase failed",
            ));
        }
        let texts = |texts: &[Redacted]| texts.iter().map(ToString::to_string).collect();
        let text = |text: &Option<Redacted>| text.as_ref().map(ToString::to_string);
        Ok(Step {
            phase,
            to,
            user_decided: self.user_decided,
            error: self.error.as_ref().map(|error| Failure {
                agent: text(&error.agent),
                kind: error.kind.clone(),
                message: error.message.to_string(),
            }),
            resolution: text(&self.resolution),
            files: Files {
                created: texts(&self.files_created),
                modified: texts(&self.files_modified),
                deleted: texts(&self.files_deleted),
            },
            context: said(&self.downstream_context),
            tokens: self.token_usage.as_ref().map(|tokens| Tokens {
                agent: text(&tokens.agent),
                input: tokens.input,
                output: tokens.output,
                cached: tokens.cached,
            }),
            next: self.next_phase_ids.clone(),
            batch: text(&self.batch_id),
        })
    }

    fn report(&self, step: &Step) -> Report {
        let text = |text: &Option<Redacted>| text.as_ref().map(ToString::to_string);
        let of_tokens = || step.tokens.as_ref().and_then(|tokens| tokens.agent.clone());
        Report {
            agent: step
                .error
                .as_ref()
                .and_then(|error| error.agent.clone())
                .or_else(of_tokens),
            output: text(&self.agent_output),
            validation: text(&self.validation_result),
            error: step.error.clone(),
        }
    }
}

/// Without what says nothing.
fn said(context: &Context) -> Context {
    let mut context = context.clone();
    let says = |item: &Value| {
        let text = item.as_str().map(str::trim).unwrap_or_default();
        !text.is_empty() && !NOTHING.iter().any(|nothing| text.eq_ignore_ascii_case(nothing))
    };
    let lists: [&mut List; 5] = [
        &mut context.key_interfaces_introduced,
        &mut context.patterns_established,
        &mut context.integration_points,
        &mut context.assumptions,
        &mut context.warnings,
    ];
    for list in lists {
        list.retain(says);
    }
    context
}

pub(super) fn transition(service: &mut Service, params: &Checked) -> Result<Value, Error> {
    let given: Given = params.read()?;
    let step = given.step()?;
    let at = service.workspace()?;
    let held = Held::existing(&at)?.ok_or(Error::NoActiveSession)?;
    let mut stored = active(&held, given.session_id.as_deref())?;
    let time = now();
    let mut new = transition::apply(&stored.session, &step, at.max_retries, &time)?;
    if matches!(step.to, PhaseStatus::Completed | PhaseStatus::Failed) {
        let all = service.handed(&at, &stored.session);
        let handed = handed::of_phase(&new, &step.phase, &all);
        let phase = new.phases.iter_mut().find(|phase| phase.id == step.phase);
        if let Some(phase) = phase {
            handed::take(phase, &handed, step.reports());
        }
    }
    let old = std::mem::replace(&mut stored.session, new);
    if matches!(
        step.to,
        PhaseStatus::Completed | PhaseStatus::Failed | PhaseStatus::Skipped
    ) {
        let newline = stored.parts.form.newline();
        if let Some(phase) = stored.session.phase(&step.phase) {
            section::append(
                &mut stored.parts.body,
                phase,
                step.to,
                &given.report(&step),
                newline,
            );
        }
    }
    let complete = stored.session.is_done() && !old.is_done();
    let archives = complete && at.auto_archive && !held.is_archived(&stored.session.session_id)?;
    if archives {
        held.archiving(&mut stored.session, None, &time)?;
    }
    held.write(&mut stored)?;
    let session = &stored.session;
    let mut said = answered(session, &step);
    if let Some(said) = said.as_object_mut() {
        said.insert("next".to_owned(), answer(&next(session, at.max_retries))?);
        said.insert("session_complete".to_owned(), json!(session.is_done()));
        if archives {
            // The transition is done; if this cannot be, the next call does it.
            match held.finish(session) {
                Ok(done) => said.insert("archived".to_owned(), answer(&done)?),
                Err(e) => said.insert("archive_error".to_owned(), e.json()),
            };
        } else if complete && !at.auto_archive {
            said.insert("message".to_owned(), json!(ASK));
        }
    }
    Ok(success(said))
}

fn answered(session: &Session, step: &Step) -> Value {
    let phase = session.phase(&step.phase);
    let mut begun: Vec<&PhaseId> = Vec::new();
    step.next.iter().for_each(|id| {
        if !begun.contains(&id) {
            begun.push(id);
        }
    });
    let ids = |status: PhaseStatus| session.standing(status).collect::<Vec<_>>();
    json!({
        "session_id": session.session_id,
        "phase": {
            "id": step.phase, "status": step.to.word(), "retry_count": phase.map(|p| p.retry_count),
            "requires_reconciliation": phase.and_then(|p| p.requires_reconciliation).unwrap_or(false),
        },
        "started_phase_ids": begun,
        "session_state_summary": {
            "status": session.status, "current_phase": session.current_phase,
            "completed_phases": ids(PhaseStatus::Completed), "pending_phases": ids(PhaseStatus::Pending),
            "in_progress_phases": ids(PhaseStatus::InProgress), "failed_phases": ids(PhaseStatus::Failed),
            "skipped_phases": ids(PhaseStatus::Skipped),
        },
    })
}
