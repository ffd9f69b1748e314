//! A prompt: begins a turn and sets the task (`UserPromptSubmit`, `BeforeAgent`).

use super::{Context, Plan, begin, session_start};
use crate::event::Origin;
use crate::log::turns::Mark;
use crate::log::turns::Status;
use crate::redact::Redacted;
use crate::task::go_on::says_go_on;

pub(super) fn handle(context: &Context<'_>, text: &Redacted, origin: Origin) -> Plan {
    let (event, state) = (context.event, context.state);
    let mut plan = Plan {
        resend: state.is_resend(event),
        ..Plan::default()
    };
    if plan.resend || origin == Origin::Host {
        // Inside an open turn, what the host says under an id of its own belongs to that turn.
        if let (Some(open), Some(id)) = (state.turns.open(), &event.turn)
            && !open.host_turns.contains(id)
        {
            plan.aliases.push(Mark::Alias {
                turn: open.id.clone(),
                id: id.clone(),
            });
        }
        return plan;
    }
    let ended = begin::end_open(context, "interrupted");
    let why = ended.is_some().then_some("interrupted");
    plan.records.extend(ended);
    plan.records.push(begin::by_user(context, text));
    // "Continue" in a session that has nothing to go on with: the agent's file has.
    if let Some(kept) = context.kept
        && says_go_on(text.as_str())
        && state.interrupted_task.is_none()
    {
        plan.adopted = session_start::adopted(context, kept, &plan);
    }
    let stopped = state
        .turns
        .last()
        .is_some_and(|t| matches!(t.status, Status::Failed { .. } | Status::InProgress));
    // The session may have gone on just now, and the model been told then.
    let resumes = stopped || plan.adopted.is_some();
    if state.compacted || (resumes && !state.briefed && says_go_on(text.as_str())) {
        plan.context = session_start::own_brief_as(context, why);
    }
    plan
}
