//! A session starts, goes on, or was compacted: the model is told what it was doing
//! (`SessionStart`; the brief's rules are the table "Resume" of the design).

use super::{Context, Offer, Plan, begin};
use crate::config::Resume;
use crate::event::Source;
use crate::live::state::State;
use crate::log::turns::Status;
use crate::process::Pulse;
use crate::task::resume::{Brief, why};

pub(super) fn handle(context: &Context<'_>, source: Source) -> Plan {
    let mut plan = Plan::default();
    let wanted = context.config.resume != Resume::Off;
    let brief = match source {
        Source::Compact => own_brief(context),
        Source::Clear => {
            plan.records.extend(begin::end_open(context, "session_ended"));
            None
        }
        Source::Resume | Source::Startup | Source::Fork => {
            // The turn that was open when this conversation was last seen has nobody who could end it. In a
            // new conversation of the same process it is the turn whose prompt was faster than this.
            let gone = context.moved && context.pulse != Pulse::Alive;
            let code = if gone { "host_gone" } else { "interrupted" };
            let old = gone || source == Source::Resume;
            let ended = begin::end_open(context, code).filter(|_| old);
            let own = if source == Source::Resume {
                own_brief_as(context, ended.is_some().then_some(code))
            } else {
                None
            };
            plan.records.extend(ended);
            match (own, context.offer) {
                (None, Some(offer)) if wanted && source != Source::Resume => {
                    plan.took_over = Some(offer.taken.clone());
                    offered(context, offer, source)
                }
                (own, _) => own,
            }
        }
    };
    let log = context.log.map(|id| format!("Session log: {id}"));
    let brief = brief.filter(|_| wanted);
    plan.brief = brief.is_some();
    let lines: Vec<String> = brief.into_iter().chain(log).collect();
    plan.context = (!lines.is_empty()).then(|| lines.join("\n"));
    plan
}

/// The brief about this session's own task, if it has one that is not done.
fn own_brief(context: &Context<'_>) -> Option<String> {
    own_brief_as(context, None)
}

/// The same; `ending` is why the turn that is open ends with this event.
pub(super) fn own_brief_as(context: &Context<'_>, ending: Option<&str>) -> Option<String> {
    if context.config.resume == Resume::Off {
        return None;
    }
    let state = context.state;
    let last = state.turns.last();
    let code = ending
        .map(str::to_owned)
        .or_else(|| match last.map(|t| &t.status) {
            Some(Status::Failed { code, .. }) => Some(code.as_str().to_owned()),
            _ => None,
        });
    let when = last.and_then(|t| t.ended_at).or(state.last_event_at);
    let why = code.as_deref().map(why);
    Brief {
        why: why.as_deref(),
        when,
        ..of(state, context)
    }
    .text(context.event.at)
}

fn of<'a>(state: &'a State, context: &Context<'a>) -> Brief<'a> {
    Brief {
        // One that was left for another is resumed only when the user says so, and is the task in hand then.
        task: state.current_task.as_ref(),
        todos: state.ui_todos.as_ref(),
        files: &state.turn_files,
        limit: state.rate_limit.as_ref(),
        todo_tool: context.event.host.todo_tool(),
        has_todos: context.event.host.keeps_todos(),
        ..Brief::default()
    }
}

fn offered(context: &Context<'_>, offer: &Offer, source: Source) -> Option<String> {
    Brief {
        task: offer.taken.task.as_ref(),
        todos: offer.taken.todos.as_ref(),
        files: &offer.files,
        why: offer.why.as_deref(),
        when: offer.when,
        limit: offer.limit.as_ref(),
        todo_tool: context.event.host.todo_tool(),
        has_todos: source == Source::Fork && context.event.host.keeps_todos(),
        from: (source == Source::Startup).then_some(offer.host),
    }
    .text(context.event.at)
}
