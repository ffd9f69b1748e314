//! A subagent of the orchestration is done: what it hands over goes into the log, and a report that is not whole
//! is sent back once (seed 1; `MAESTRO_VALIDATION_STRICTNESS`). Everybody else's agents are left alone.

use super::{Context, Plan};
use crate::config::Strictness;
use crate::delegation::name::bare;
use crate::delegation::report::{Report, SECTIONS};
use crate::event::Agent;
use crate::log::record::{Body, Handoff};
use crate::orchestration::active::Active;
use crate::redact::Redacted;
use crate::reply::Verdict;

pub(super) fn handed_over(context: &Context<'_>, message: Option<&Redacted>, again: bool, plan: &mut Plan) {
    let (event, state) = (context.event, context.state);
    let entry = state
        .place_of_agent(event.agent.as_ref())
        .and_then(|place| state.agents.get(place));
    let own = event.agent.as_ref().and_then(|a| a.kind.as_ref());
    let kind = own.or_else(|| entry.and_then(|e| e.kind.as_ref()));
    let Some((active, name)) = context
        .active
        .and_then(|active| Some((active, of_the_orchestration(active, kind?)?)))
    else {
        return;
    };
    let report = Report::of(message.map_or("", |m| m.as_str()));
    let strictness = context.config.strictness;
    let is_whole = report.missing.is_empty();
    // One that cannot be remembered is not sent back: it could be for ever.
    let asked = again || entry.is_none_or(|e| e.sent_back);
    if !is_whole && !asked && strictness != Strictness::Lenient && context.can_block {
        plan.verdict = Verdict::Block(ask(&report));
        return;
    }
    let value = |text: &Option<String>| text.as_deref().map(Redacted::new);
    plan.records.push(Body::Handoff {
        turn: state.turns.last().map(|t| t.id.clone()),
        handoff: Box::new(Handoff {
            agent: Agent {
                id: event.agent.as_ref().and_then(|a| a.id.clone()),
                kind: Some(Redacted::new(&name)),
            },
            orchestration: value(&active.session_id),
            phase: value(&active.current_phase),
            requires_reconciliation: !is_whole && strictness == Strictness::Strict,
            report,
        }),
    });
}

/// The agent's name, if a phase names it.
fn of_the_orchestration(active: &Active, kind: &Redacted) -> Option<String> {
    let name = bare(kind);
    active.agents.iter().any(|a| bare(a) == name).then_some(name)
}

/// What the subagent is told.
fn ask(report: &Report) -> String {
    let missing: Vec<String> = report.missing.iter().map(|m| format!("`## {m}`")).collect();
    let [work, context] = SECTIONS;
    format!(
        "Your report is handed over to others, and lacks the heading {}. Send the whole report again, with \
         `## {work}` (what was done, files created, modified and deleted) and `## {context}` (interfaces, patterns, \
         integration points, assumptions, warnings), each at the start of a line.",
        missing.join(" and ")
    )
}
