//! A session starts, goes on, or was compacted: the model is told what it was doing
//! (`SessionStart`; the brief's rules are the table "Resume" of the design).

use super::pre_delegation::active_line;
use super::{Context, Offer, Plan, begin};
use crate::config::Resume;
use crate::event::Source;
use crate::live::state::Adopted;
use crate::log::turns::Status;
use crate::process::Pulse;
use crate::redact::Redacted;
use crate::task::Todos;
use crate::task::agent_files::Kept;
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
            let brief = if source == Source::Resume {
                own_brief_as(context, ended.is_some().then_some(code))
            } else if wanted {
                others_brief(context, source, &mut plan)
            } else {
                None
            };
            plan.records.extend(ended);
            brief
        }
    };
    if let Some(kept) = context.kept.filter(|_| wanted && brief.is_some()) {
        plan.adopted = adopted(context, kept, &plan);
    }
    let log = context.log.map(|id| format!("Session log: {id}"));
    let brief = brief.filter(|_| wanted);
    plan.brief = brief.is_some();
    let active = context.active.map(active_line);
    let lines: Vec<String> = brief.into_iter().chain(active).chain(log).collect();
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
    // One that was left for another is resumed only when the user says so, and is the task in hand then.
    let ours = state.current_task.as_ref();
    let task = match context.kept {
        Some(kept) => kept.said.newer(ours, state.last_event_at),
        None => ours.cloned(),
    };
    let brief = Brief {
        task: task.as_ref(),
        todos: todos(state.ui_todos.as_ref(), context.kept),
        files: &state.turn_files,
        limit: state.rate_limit.as_ref(),
        todo_tool: context.event.host.todo_tool(),
        why: why.as_deref(),
        when,
        has_todos: context.event.host.keeps_todos(),
        ..Brief::default()
    };
    of_file(brief, context.kept).text(context.event.at)
}

/// The brief about another session's task: an unfinished one's, or what an agent's state file says. Of both,
/// the newer; where they are about the same, the session with the file's words.
fn others_brief(context: &Context<'_>, source: Source, plan: &mut Plan) -> Option<String> {
    let kept = context.kept;
    let offer = context.offer.filter(|offer| {
        let theirs = kept.and_then(|k| Some((k, k.said.task.as_ref()?)));
        theirs.is_none_or(|(kept, task)| {
            let ours = offer.taken.task.as_ref();
            ours.is_some_and(|t| kept.said.is_about(t) || t.started_at > task.started_at)
        })
    });
    let Some(offer) = offer else {
        let kept = kept?;
        let brief = Brief {
            task: kept.said.task.as_ref(),
            todos: kept.said.todos.as_ref(),
            todo_tool: context.event.host.todo_tool(),
            ..Brief::default()
        };
        return of_file(brief, Some(kept)).text(context.event.at);
    };
    plan.took_over = Some(offer.taken.clone());
    let ours = offer.taken.task.as_ref();
    let kept = kept.filter(|k| ours.is_some_and(|t| k.said.is_about(t)));
    let task = match kept {
        Some(kept) => kept.said.newer(ours, offer.when),
        None => ours.cloned(),
    };
    let brief = Brief {
        task: task.as_ref(),
        todos: todos(offer.taken.todos.as_ref(), kept),
        ..offered(context, offer, source)
    };
    of_file(brief, kept).text(context.event.at)
}

fn offered<'a>(context: &Context<'a>, offer: &'a Offer, source: Source) -> Brief<'a> {
    Brief {
        files: &offer.files,
        why: offer.why.as_deref(),
        when: offer.when,
        limit: offer.limit.as_ref(),
        todo_tool: context.event.host.todo_tool(),
        has_todos: source == Source::Fork && context.event.host.keeps_todos(),
        from: (source == Source::Startup).then_some(offer.host),
        ..Brief::default()
    }
}

/// The newer of the todo lists; the builder's chunks have no time, and come in where there is no other.
fn todos<'a>(ours: Option<&'a Todos>, kept: Option<&'a Kept>) -> Option<&'a Todos> {
    let theirs = kept.and_then(|k| k.said.todos.as_ref());
    match (ours.filter(|t| !t.items.is_empty()), theirs) {
        (Some(ours), Some(theirs)) if theirs.last_synced_at > ours.last_synced_at => Some(theirs),
        (None, theirs) => theirs,
        (ours, _) => ours,
    }
}

fn of_file<'a>(brief: Brief<'a>, kept: Option<&'a Kept>) -> Brief<'a> {
    let Some(kept) = kept else { return brief };
    Brief {
        chunk: kept.said.chunk.as_ref().map(Redacted::as_str),
        kept_in: Some(&kept.shown),
        stale: kept.stale,
        ..brief
    }
}

/// What is taken from the file: what neither this session nor the one that it takes over has.
pub(super) fn adopted(context: &Context<'_>, kept: &Kept, plan: &Plan) -> Option<Adopted> {
    let taken = plan.took_over.as_ref();
    let has_task = context.state.current_task.is_some() || taken.is_some_and(|t| t.task.is_some());
    let list = |t: &Option<Todos>| t.as_ref().is_some_and(|t| !t.items.is_empty());
    let has_todos = list(&context.state.ui_todos) || taken.is_some_and(|t| list(&t.todos));
    let adopted = Adopted {
        task: kept.said.task.clone().filter(|_| !has_task),
        todos: kept.said.todos.clone().filter(|_| !has_todos),
    };
    (adopted != Adopted::default()).then_some(adopted)
}
