//! A tool call that has ended: an action of its turn, if it changed something or failed
//! (`PostToolUse`, `PostToolUseFailure`, `AfterTool`).

use super::{Context, Plan, begin};
use crate::event::ToolCall;
use crate::log::actions;
use crate::log::record::{Action, Body};
use crate::log::turns::Place;
use crate::task::{Limit, LimitSource, limit};

pub(super) fn handle(context: &Context<'_>, call: &ToolCall) -> Plan {
    let (event, state) = (context.event, context.state);
    let mut plan = Plan::default();
    let actions = actions::of(call, event.agent.as_ref());
    if !actions.is_empty() {
        plan.records = match state.turns.place(event, state.host_prompt.is_some()) {
            // A presumed end is no end of the turn's work: it goes on.
            Place::Open(turn) | Place::Ended(turn, true) => in_turn(&turn, actions),
            Place::Ended(turn, false) => {
                let late = |a| Body::Late {
                    turn: turn.clone(),
                    action: Some(Box::new(a)),
                    message: None,
                };
                actions.into_iter().map(late).collect()
            }
            Place::Unknown => {
                let mut records = begin::by_host(context);
                if let Some(turn) = begin::begun(&records) {
                    records.extend(in_turn(&turn, actions));
                }
                records
            }
        };
    }
    if event.agent.is_none() && must_wait(context) {
        plan.context = Some(limit::WAIT.to_owned());
    }
    plan
}

fn in_turn(turn: &crate::log::id::RequestId, actions: Vec<Action>) -> Vec<Body> {
    let one = |action| Body::TurnAction {
        turn: turn.clone(),
        action: Box::new(action),
    };
    actions.into_iter().map(one).collect()
}

/// The model is to be told, once, to do nothing further: this call met a limit of its provider, or a
/// subagent did since the turn began. After a turn of its own that met one, the user has answered.
fn must_wait(context: &Context<'_>) -> bool {
    let (event, state) = (context.event, context.state);
    let of_provider = |l: &&Limit| l.source == LimitSource::Provider;
    let known = state.rate_limit.as_ref().filter(of_provider);
    if known.is_some_and(|l| l.told) {
        return false;
    }
    let began = state.turns.open().map(|t| t.started_at);
    let in_this_turn = |l: &Limit| began.is_some_and(|at| l.detected_at >= at);
    limit::met(event).as_ref().filter(of_provider).is_some() || known.is_some_and(in_this_turn)
}
