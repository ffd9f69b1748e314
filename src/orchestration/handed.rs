//! What the session log knows of the subagents' reports (`log::handoffs`), and what of it belongs to a phase: a report
//! is one of its agents', made while the phase was at work. One that may as well be another phase's is nobody's: it is
//! shown, and the model says whose it is. The model need not type again what was handed over.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::session::{List, Phase, PhaseId, PhaseStatus, Session};
use super::workspace::Workspace;
use crate::delegation::name::bare;
use crate::log::data_dir::DataDir;
use crate::log::handoffs;
use crate::log::view::HandoffView;

/// Reads those of a session; none where there is no log.
pub(super) fn read(data: Option<&DataDir>, at: &Workspace, session: &Session) -> Vec<HandoffView> {
    let since = time(&session.created).unwrap_or(DateTime::UNIX_EPOCH);
    data.map_or_else(Vec::new, |data| {
        handoffs::of(data, &session.session_id, at.root.path(), since)
    })
}

/// What a phase was handed, and nobody else.
pub(super) fn of_phase<'h>(session: &Session, id: &PhaseId, all: &'h [HandoffView]) -> Vec<&'h HandoffView> {
    let is_of = |view: &&HandoffView| {
        let mut phases = session.phases.iter().filter(|phase| may_be_of(phase, view));
        phases.next().is_some_and(|phase| phase.id == *id) && phases.next().is_none()
    };
    all.iter().filter(is_of).collect()
}

/// Whether a phase was at work when one of its agents reported.
fn may_be_of(phase: &Phase, view: &HandoffView) -> bool {
    let Some(began) = phase.started.as_deref().and_then(time) else {
        return false;
    };
    let over = ended(phase).is_some_and(|ended| view.at > ended);
    let agent = view.handoff.agent.kind.as_deref().map(bare);
    let mut agents = phase.agents.iter().filter_map(Value::as_str).map(bare);
    view.at >= began && !over && agent.is_some_and(|agent| agents.any(|own| own == agent))
}

/// When a phase that is not at work was last: what fails says so in its last error.
fn ended(phase: &Phase) -> Option<DateTime<Utc>> {
    match phase.standing() {
        Some(PhaseStatus::Completed) => phase.completed.as_deref().and_then(time),
        Some(PhaseStatus::Failed) => phase.errors.last().and_then(|error| time(&error.timestamp)),
        _ => None,
    }
}

/// Adds to a phase what it was handed. Where the last report of an agent is not whole and that matters, somebody has
/// to look at what it did; `looked`: somebody has.
pub(super) fn take(phase: &mut Phase, handed: &[&HandoffView], looked: bool) {
    for view in handed {
        let report = &view.handoff.report;
        let (context, to) = (&report.downstream_context, &mut phase.downstream_context);
        for (list, more) in [
            (&mut phase.files_created, &report.files_created),
            (&mut phase.files_modified, &report.files_modified),
            (&mut phase.files_deleted, &report.files_deleted),
            (
                &mut to.key_interfaces_introduced,
                &context.key_interfaces_introduced,
            ),
            (&mut to.patterns_established, &context.patterns_established),
            (&mut to.integration_points, &context.integration_points),
            (&mut to.assumptions, &context.assumptions),
            (&mut to.warnings, &context.warnings),
        ] {
            add(list, more.iter().map(|text| json!(text)));
        }
    }
    if !looked && requires_a_look(handed) {
        phase.requires_reconciliation = Some(true);
    }
}

/// Whether the last report of one of the agents is marked.
fn requires_a_look(handed: &[&HandoffView]) -> bool {
    handed.iter().enumerate().any(|(i, view)| {
        let later = handed.get(i + 1..).unwrap_or_default();
        let said_again = later
            .iter()
            .any(|l| l.handoff.agent.kind == view.handoff.agent.kind);
        view.handoff.requires_reconciliation && !said_again
    })
}

/// Whether a phase that is at work has to be looked at.
pub(super) fn marks(session: &Session, phase: &Phase, all: &[HandoffView]) -> bool {
    phase.standing() == Some(PhaseStatus::InProgress) && requires_a_look(&of_phase(session, &phase.id, all))
}

fn add(list: &mut List, more: impl Iterator<Item = Value>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

/// As the tools answer them.
pub(super) fn shown(all: &[HandoffView]) -> Value {
    let one = |view: &HandoffView| {
        let (handoff, report) = (&view.handoff, &view.handoff.report);
        json!({
            "at": view.at, "agent": handoff.agent.kind, "agent_id": handoff.agent.id,
            "requires_reconciliation": handoff.requires_reconciliation, "missing_headings": report.missing,
            "files_created": report.files_created, "files_modified": report.files_modified,
            "files_deleted": report.files_deleted, "downstream_context": report.downstream_context,
        })
    };
    all.iter().map(one).collect()
}

fn time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|t| t.to_utc())
}
