//! What a transition does to a session: pure. Each rule of the phases stands here once.
//!
//! ```text
//! pending ──▶ in_progress ──▶ completed
//!    │             │  ▲
//!    │             ▼  │ a retry, at most so often
//!    │           failed
//!    └──▶ skipped, when the user decided it
//! ```

use serde_json::{Map, Value, json};

use super::error::Error;
use super::lenient::count_of;
use super::session::{Context, Fault, List, Phase, PhaseId, PhaseStatus, Session};

/// Longest message of an earlier error that is taken over into the record of a retry, in characters.
const MAX_MESSAGE: usize = 500;
/// What an error's resolution is until somebody says it.
const PENDING: &str = "pending";

/// What is to happen.
#[derive(Debug, Clone)]
pub struct Step {
    /// The phase.
    pub phase: PhaseId,
    /// Where it goes.
    pub to: PhaseStatus,
    /// The user decided it.
    pub user_decided: bool,
    /// What went wrong.
    pub error: Option<Failure>,
    /// What was done about it.
    pub resolution: Option<String>,
    /// Files, as they were reported.
    pub files: Files,
    /// What later phases have to know.
    pub context: Context,
    /// What was used.
    pub tokens: Option<Tokens>,
    /// Phases that begin after it.
    pub next: Vec<PhaseId>,
    /// The batch that is at work from now on.
    pub batch: Option<String>,
}

/// What went wrong.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Who was at work.
    pub agent: Option<String>,
    /// Which kind of error.
    pub kind: String,
    /// What happened.
    pub message: String,
}

/// Files by what was done to them.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// New ones.
    pub created: Vec<String>,
    /// Changed ones.
    pub modified: Vec<String>,
    /// Removed ones.
    pub deleted: Vec<String>,
}

/// Tokens.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    /// Whose.
    pub agent: Option<String>,
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from a cache.
    pub cached: u64,
}

/// Where a phase may go from there.
#[must_use]
pub fn allowed(from: PhaseStatus) -> &'static [PhaseStatus] {
    match from {
        PhaseStatus::Pending => &[PhaseStatus::InProgress, PhaseStatus::Skipped],
        PhaseStatus::InProgress => &[PhaseStatus::Completed, PhaseStatus::Failed],
        PhaseStatus::Failed => &[PhaseStatus::InProgress],
        PhaseStatus::Completed | PhaseStatus::Skipped => &[],
    }
}

/// The session after the step, all of it or none.
///
/// # Errors
/// The rule that forbids it.
pub fn apply(session: &Session, step: &Step, max_retries: u64, at: &str) -> Result<Session, Error> {
    let mut new = session.clone();
    go(
        &mut new,
        &step.phase,
        step.to,
        step.user_decided,
        max_retries,
        at,
        step,
    )?;
    let phase = found(&mut new, &step.phase)?;
    record(phase, step, at);
    if let Some(tokens) = &step.tokens {
        let agent = tokens.agent.clone().or_else(|| first_agent(phase));
        count(&mut new, tokens, agent);
    }
    let mut begun: Vec<&PhaseId> = Vec::new();
    for id in &step.next {
        if !begun.contains(&id) {
            begin(&mut new, id, at)?;
            begun.push(id);
        }
    }
    if step.batch.is_some() {
        new.current_batch.clone_from(&step.batch);
    }
    let working = new.standing(PhaseStatus::InProgress).next().cloned();
    new.current_phase = Some(working.unwrap_or_else(|| step.phase.clone()));
    if new.is_done() {
        new.status = PhaseStatus::Completed.word().to_owned();
    }
    at.clone_into(&mut new.updated);
    Ok(new)
}

/// A phase that begins behind another one: only a pending one, for a retry has its own resolution.
fn begin(session: &mut Session, id: &PhaseId, at: &str) -> Result<(), Error> {
    let phase = found(session, id)?;
    if phase.standing() != Some(PhaseStatus::Pending) {
        return Err(refused(phase, PhaseStatus::InProgress));
    }
    unblocked(session, id)?;
    let phase = found(session, id)?;
    started(phase, at);
    Ok(())
}

fn go(
    session: &mut Session,
    id: &PhaseId,
    to: PhaseStatus,
    user_decided: bool,
    max_retries: u64,
    at: &str,
    step: &Step,
) -> Result<(), Error> {
    let phase = found(session, id)?;
    let from = phase.standing();
    if !from.is_some_and(|from| allowed(from).contains(&to)) {
        return Err(refused(phase, to));
    }
    match (from, to) {
        (_, PhaseStatus::Skipped) if !user_decided => return Err(Error::UserDecision { phase: id.clone() }),
        (Some(PhaseStatus::Failed), _) if phase.retry_count >= max_retries => {
            return Err(Error::RetriesExhausted {
                phase: id.clone(),
                retries: phase.retry_count,
            });
        }
        (Some(PhaseStatus::Failed), _) => {
            retry(phase, step, max_retries, at);
            unblocked(session, id)?;
            started(found(session, id)?, at);
        }
        (_, PhaseStatus::InProgress) => {
            unblocked(session, id)?;
            started(found(session, id)?, at);
        }
        (_, PhaseStatus::Completed) => {
            phase.completed = Some(at.to_owned());
            to.word().clone_into(&mut phase.status);
        }
        _ => to.word().clone_into(&mut phase.status),
    }
    Ok(())
}

fn started(phase: &mut Phase, at: &str) {
    PhaseStatus::InProgress.word().clone_into(&mut phase.status);
    phase.started.get_or_insert_with(|| at.to_owned());
}

/// Each retry is an error entry of its own, with what was done before it.
fn retry(phase: &mut Phase, step: &Step, max_retries: u64, at: &str) {
    phase.retry_count += 1;
    let last = phase.errors.last().cloned();
    let what = match (&step.error, &last) {
        (Some(error), _) => error.message.clone(),
        (None, Some(last)) => last.message.chars().take(MAX_MESSAGE).collect(),
        (None, None) => "the phase failed".to_owned(),
    };
    let kind = step
        .error
        .as_ref()
        .map(|e| e.kind.clone())
        .or(last.as_ref().map(|l| l.kind.clone()));
    let agent = step
        .error
        .as_ref()
        .and_then(|e| e.agent.clone())
        .or(last.map(|l| l.agent));
    let fault = Fault {
        agent: agent
            .or_else(|| first_agent(phase))
            .unwrap_or_else(|| "unknown".to_owned()),
        timestamp: at.to_owned(),
        kind: kind.unwrap_or_else(|| "runtime".to_owned()),
        message: format!("Retry {} of {max_retries}: {what}", phase.retry_count),
        resolution: step.resolution.clone().unwrap_or_else(|| PENDING.to_owned()),
        resolved: false,
        rest: Map::new(),
    };
    phase.errors.push(fault);
}

impl Step {
    /// Whether it says what the phase did: files, or what later phases have to know.
    #[must_use]
    pub fn reports(&self) -> bool {
        let (files, context) = (&self.files, &self.context);
        let lists = [
            &context.key_interfaces_introduced,
            &context.patterns_established,
            &context.integration_points,
            &context.assumptions,
            &context.warnings,
        ];
        [&files.created, &files.modified, &files.deleted]
            .iter()
            .any(|list| !list.is_empty())
            || lists.iter().any(|list| !list.is_empty())
    }
}

/// What the step reports of its phase.
fn record(phase: &mut Phase, step: &Step, at: &str) {
    append(&mut phase.files_created, &step.files.created);
    append(&mut phase.files_modified, &step.files.modified);
    append(&mut phase.files_deleted, &step.files.deleted);
    let (new, context) = (&step.context, &mut phase.downstream_context);
    let lists = [
        (
            &mut context.key_interfaces_introduced,
            &new.key_interfaces_introduced,
        ),
        (&mut context.patterns_established, &new.patterns_established),
        (&mut context.integration_points, &new.integration_points),
        (&mut context.assumptions, &new.assumptions),
        (&mut context.warnings, &new.warnings),
    ];
    for (list, more) in lists {
        merge(list, more.iter().cloned());
    }
    if step.reports() && phase.requires_reconciliation == Some(true) {
        phase.requires_reconciliation = Some(false);
    }
    // (A retry has recorded its error already.)
    if let Some(error) = step.error.as_ref().filter(|_| step.to != PhaseStatus::InProgress) {
        phase.errors.push(Fault {
            agent: error
                .agent
                .clone()
                .or_else(|| first_agent(phase))
                .unwrap_or_else(|| "unknown".to_owned()),
            timestamp: at.to_owned(),
            kind: error.kind.clone(),
            message: error.message.clone(),
            resolution: step.resolution.clone().unwrap_or_else(|| PENDING.to_owned()),
            resolved: false,
            rest: Map::new(),
        });
    }
    if step.to == PhaseStatus::Completed {
        for fault in phase.errors.iter_mut().filter(|fault| !fault.resolved) {
            fault.resolved = true;
            if let Some(resolution) = step.resolution.as_ref().filter(|_| fault.resolution == PENDING) {
                fault.resolution.clone_from(resolution);
            }
        }
    }
}

fn append(list: &mut List, more: &[String]) {
    merge(list, more.iter().map(|text| json!(text)));
}

fn merge(list: &mut List, more: impl Iterator<Item = Value>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

fn count(session: &mut Session, tokens: &Tokens, agent: Option<String>) {
    let usage = &mut session.token_usage;
    usage.total_input = usage.total_input.saturating_add(tokens.input);
    usage.total_output = usage.total_output.saturating_add(tokens.output);
    usage.total_cached = usage.total_cached.saturating_add(tokens.cached);
    let agent = agent.unwrap_or_else(|| "unknown".to_owned());
    let entry = usage.by_agent.entry(agent).or_insert_with(|| json!({}));
    if !entry.is_object() {
        *entry = json!({});
    }
    if let Some(entry) = entry.as_object_mut() {
        for (name, more) in [
            ("input", tokens.input),
            ("output", tokens.output),
            ("cached", tokens.cached),
        ] {
            let was = entry.get(name).and_then(count_of).unwrap_or(0);
            entry.insert(name.to_owned(), json!(was.saturating_add(more)));
        }
    }
}

fn found<'s>(session: &'s mut Session, id: &PhaseId) -> Result<&'s mut Phase, Error> {
    let phases: Vec<PhaseId> = session.phases.iter().map(|phase| phase.id.clone()).collect();
    session
        .phases
        .iter_mut()
        .find(|phase| phase.id == *id)
        .ok_or_else(|| Error::PhaseNotFound {
            phase: id.clone(),
            phases,
        })
}

/// The phases that this one waits for; what is no phase is waited for in vain.
#[must_use]
pub fn waits_for(session: &Session, phase: &Phase) -> Vec<PhaseId> {
    let open = |id: &&PhaseId| !session.phase(id).is_some_and(Phase::is_done);
    phase.blocked_by.iter().filter(open).cloned().collect()
}

fn unblocked(session: &Session, id: &PhaseId) -> Result<(), Error> {
    let by = session
        .phase(id)
        .map(|phase| waits_for(session, phase))
        .unwrap_or_default();
    if by.is_empty() {
        return Ok(());
    }
    Err(Error::Blocked {
        phase: id.clone(),
        by,
    })
}

fn refused(phase: &Phase, to: PhaseStatus) -> Error {
    Error::InvalidTransition {
        phase: phase.id.clone(),
        from: phase.status.clone(),
        to,
        allowed: phase
            .standing()
            .map(|from| allowed(from).to_vec())
            .unwrap_or_default(),
    }
}

/// The first agent of a phase.
#[must_use]
pub fn first_agent(phase: &Phase) -> Option<String> {
    phase.agents.first().and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests;
