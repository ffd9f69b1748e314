//! Beginning a turn, and presuming the end of the one that is open then.

use super::Context;
use crate::config::LogPrompts;
use crate::event::Origin;
use crate::log::id::RequestId;
use crate::log::record::Body;
use crate::redact::Redacted;

/// Longest title of a turn, in characters.
const MAX_TITLE: usize = 80;

/// The presumed end of the open turn, if there is one.
pub(super) fn end_open(context: &Context<'_>, code: &str) -> Option<Body> {
    let turn = context.state.turns.open()?.id.clone();
    Some(Body::TurnPresumed {
        turn,
        code: Redacted::new(code),
    })
}

/// A turn that a user's prompt begins.
pub(super) fn by_user(context: &Context<'_>, text: &Redacted) -> Body {
    let title = Redacted::first_line(text.as_str(), MAX_TITLE);
    let (title, text) = match context.config.log_prompts {
        LogPrompts::Full => (title, text.clone()),
        LogPrompts::Title => (title, Redacted::default()),
        LogPrompts::Off => (Redacted::default(), Redacted::default()),
    };
    turn(context, Origin::User, title, text)
}

/// A turn that the host began: by a prompt of its own, or by one whose hook we never saw.
pub(super) fn by_host(context: &Context<'_>) -> Vec<Body> {
    let prompt = context.state.host_prompt.as_ref();
    let title = match (prompt, context.config.log_prompts) {
        (Some(prompt), LogPrompts::Full | LogPrompts::Title) => prompt.title.clone(),
        _ => Redacted::new("Turn begun by the host"),
    };
    let mut records: Vec<Body> = end_open(context, "interrupted").into_iter().collect();
    records.push(turn(context, Origin::Host, title, Redacted::default()));
    records
}

fn turn(context: &Context<'_>, origin: Origin, title: Redacted, text: Redacted) -> Body {
    let event = context.event;
    // A subagent's own turn id says nothing about the root's turn.
    let host_turn = event.turn.clone().filter(|_| event.agent.is_none());
    Body::TurnBegin {
        turn: RequestId::turn(event.at, context.state.turns.count + 1),
        host_turn,
        origin,
        agent: None,
        began: None,
        title,
        text,
    }
}

/// The turn that a list of records begins.
pub(super) fn begun(records: &[Body]) -> Option<RequestId> {
    records.iter().rev().find_map(|r| match r {
        Body::TurnBegin { turn, .. } => Some(turn.clone()),
        _ => None,
    })
}
