//! Ends: of a turn, of a subagent, of the session; and the compaction that is near.
//! (`Stop`, `StopFailure`, `SubagentStop`, `Interrupt`, `PreCompact`, `SessionEnd`, `AfterAgent`.)

use super::{Context, Plan, begin, handoff};
use crate::event::Kind;
use crate::log::record::Body;
use crate::log::turns::Place;
use crate::redact::Redacted;

pub(super) fn handle(context: &Context<'_>) -> Plan {
    let (event, state) = (context.event, context.state);
    let mut plan = Plan::default();
    match &event.kind {
        Kind::Stop { message, .. } => plan.records = stopped(context, message.as_ref()),
        Kind::Failure { code, message, .. } if event.agent.is_none() => {
            let failed = |turn| Body::TurnFail {
                turn,
                code: code.clone(),
                message: message.clone(),
            };
            plan.records = ended(context, failed);
        }
        Kind::AgentStop { message, again } => {
            handoff::handed_over(context, message.as_ref(), *again, &mut plan)
        }
        // One that comes late is of a turn that has its end.
        Kind::Interrupt => match state.turns.place(event, state.host_prompt.is_some()) {
            Place::Ended(..) => {}
            Place::Open(_) | Place::Unknown => plan.records.extend(begin::end_open(context, "interrupted")),
        },
        Kind::SessionEnd { reason } => {
            plan.records.extend(begin::end_open(context, "session_ended"));
            // Some hosts say it up to three times.
            if state.turns.count > 0 && state.ended.is_none() {
                plan.records.push(Body::SessionEnd {
                    reason: reason.clone(),
                });
            }
        }
        _ => {}
    }
    plan
}

fn stopped(context: &Context<'_>, message: Option<&Redacted>) -> Vec<Body> {
    let (event, state) = (context.event, context.state);
    match state.turns.place(event, state.host_prompt.is_some()) {
        // The turn went on after its stop, because somebody's hook sent it back: what was said then is kept.
        Place::Ended(turn, false) => message
            .map(|m| Body::Late {
                turn,
                action: None,
                message: Some(m.clone()),
            })
            .into_iter()
            .collect(),
        _ => ended(context, |turn| Body::TurnComplete {
            turn,
            response: message.cloned(),
        }),
    }
}

/// The end of the event's turn. A turn that nobody began is begun first, so that it has one.
fn ended(context: &Context<'_>, end: impl Fn(crate::log::id::RequestId) -> Body) -> Vec<Body> {
    let (event, state) = (context.event, context.state);
    match state.turns.place(event, state.host_prompt.is_some()) {
        Place::Open(turn) | Place::Ended(turn, true) => vec![end(turn)],
        Place::Ended(_, false) => Vec::new(),
        Place::Unknown => {
            let mut records = begin::by_host(context);
            let turn = begin::begun(&records);
            records.extend(turn.map(end));
            records
        }
    }
}
