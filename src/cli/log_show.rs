//! `bookend log show`: one session of the log, turn by turn.

use super::args::LogShow;
use super::history;
use super::machine::{Machine, NOTHING_YET};
use super::out::Out;
use super::session_json::word_of;
use super::span::{Line, Style, cut};
use super::{Failed, Run, text, todos};
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::index::{Depth, Filters};
use crate::log::record::{Action, ActionStatus};
use crate::log::view::{HandoffView, SessionView, TurnView};
use crate::task::resume::why;

/// Widest text of an action.
const WIDE: usize = 110;

impl Run for LogShow {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let data = machine.data()?;
        let view = match self.session.as_deref() {
            Some(wanted) => named(data, wanted, machine, out)?,
            None => newest(data, out)?,
        };
        if self.json {
            return out.json(&view);
        }
        print(&view, machine, out);
        Ok(())
    }
}

/// The session, each of its turns, and its todos as it left them.
pub(super) fn print(view: &SessionView, machine: &Machine, out: &mut Out) {
    head(view, machine, out);
    for turn in &view.turns {
        one(turn, machine, out);
    }
    if let Some(todos) = &view.todos {
        todos::section(todos, out);
    }
}

fn named(data: &DataDir, wanted: &str, machine: &Machine, out: &mut Out) -> Result<SessionView, Failed> {
    let id = history::one(data, wanted, machine, out)?;
    read(data, &id)
}

fn read(data: &DataDir, id: &SessionId) -> Result<SessionView, Failed> {
    let read =
        SessionView::read(data, id).map_err(|e| Failed::to(format!("read the session log of {id}: {e}")))?;
    read.ok_or_else(|| {
        Failed::new(format!(
            "the log of {id} is gone: `bookend log sessions` lists the others"
        ))
    })
}

/// The newest of this project; where it has none, the newest of all, with a word that says so.
fn newest(data: &DataDir, out: &mut Out) -> Result<SessionView, Failed> {
    let here = Filters {
        projects: history::here().map(|project| vec![project.into_string()]),
        exact: true,
        ..Filters::default()
    };
    let (found, any) = history::ask(data, Depth::Grown, out, |index| {
        let found = match here.projects {
            Some(_) => index.sessions(&here, 1, 0)?.sessions.pop(),
            None => None,
        };
        let any = match found {
            Some(_) => None,
            None => index.sessions(&Filters::default(), 1, 0)?.sessions.pop(),
        };
        Ok((found, any))
    })?;
    if found.is_none() && any.is_some() {
        out.complain("bookend: this project has no session in the log; this is the newest of all");
    }
    let chosen = found.or(any).and_then(|s| SessionId::try_from(s.session_id).ok());
    read(data, &chosen.ok_or_else(|| Failed::new(NOTHING_YET))?)
}

fn head(view: &SessionView, machine: &Machine, out: &mut Out) {
    out.line(Line::of(Style::Strong, view.title.as_str()));
    out.field("session", view.session_id.as_str());
    let host = view.host.map_or(view.agent.as_str(), |h| h.title());
    let id = view.host_session.as_ref().map(|id| format!(", its session {id}"));
    out.field("agent", format!("{host}{}", id.unwrap_or_default()));
    if let Some(model) = &view.model {
        out.field("model", model.as_str());
    }
    if let Some(project) = &view.project_root {
        out.field("project", text::home(project));
    }
    out.field(
        "status",
        Line::of(text::status_style(view.status), &text::word(view.status)),
    );
    if let Some(at) = view.started {
        out.field("started", text::ago(at, machine.now));
    }
    if let Some(at) = view.last_updated {
        out.field("updated", text::ago(at, machine.now));
    }
    let files = text::count(view.files_modified_count, "file");
    out.field("turns", format!("{}, {files} changed", view.turn_count));
    for handoff in &view.handoffs {
        out.field("handoff", handed_over(handoff, machine));
    }
    for note in &view.notes {
        out.field("note", note.as_str());
    }
    for problem in &view.problems {
        out.field("problem", Line::of(Style::Bad, &format!("failed to {problem}")));
    }
}

/// Who handed what over, and when.
fn handed_over(view: &HandoffView, machine: &Machine) -> String {
    let (handoff, report) = (&view.handoff, &view.handoff.report);
    let files = report.files_created.len() + report.files_modified.len() + report.files_deleted.len();
    let missing = report
        .missing
        .iter()
        .map(|m| format!("\"{m}\""))
        .collect::<Vec<_>>();
    let lacks = if missing.is_empty() {
        String::new()
    } else {
        format!(", lacks {}", missing.join(" and "))
    };
    let agent = handoff.agent.kind.as_ref().map_or("a subagent", |k| k.as_str());
    let phase = handoff
        .phase
        .as_ref()
        .map_or(String::new(), |p| format!(", phase {p}"));
    let ago = crate::clock::human(crate::clock::age(view.at, machine.now));
    format!("{agent}{phase}, {ago} ago: {}{lacks}", text::count(files, "file"))
}

fn one(turn: &TurnView, machine: &Machine, out: &mut Out) {
    out.gap();
    let ran = turn.completed_at.map(|at| {
        let took = crate::clock::human(crate::clock::age(turn.started_at, at));
        format!(" after {took}")
    });
    let presumed = if turn.presumed { " (presumed)" } else { "" };
    let status = format!("{}{presumed}", text::word(turn.status));
    out.line(
        Line::of(Style::Strong, turn.request_id.as_str())
            .then("  ")
            .and(text::status_style(turn.status), &status)
            .then(&format!(
                "{}, began {}",
                ran.unwrap_or_default(),
                text::ago(turn.started_at, machine.now)
            )),
    );
    if let Some(failure) = &turn.failure {
        let said = if failure.message.as_str().is_empty() {
            String::new()
        } else {
            format!(": {}", failure.message)
        };
        let what = format!("{} [{}]{said}", why(failure.code.as_str()), failure.code);
        out.line(Line::from("  ").and(Style::Bad, &what));
    }
    let origin = match &turn.agent {
        Some(agent) => format!("{} for {agent}", word_of(&turn.origin)),
        None => word_of(&turn.origin),
    };
    let prompt = if turn.query_text.as_str().is_empty() {
        &turn.query_title
    } else {
        &turn.query_text
    };
    part(out, &origin, prompt.as_str());
    if let Some(interpretation) = &turn.interpretation {
        part(out, "meant", interpretation.as_str());
    }
    for (name, list) in [("tags", &turn.tags), ("context", &turn.context_list)] {
        if !list.is_empty() {
            let items: Vec<&str> = list.iter().map(|item| item.as_str()).collect();
            part(out, name, &items.join(", "));
        }
    }
    if !turn.dialog.is_empty() {
        out.line(Line::of(Style::Faint, "  dialog"));
    }
    for item in &turn.dialog {
        let who = format!("     {} ({}) ", item.role, item.category);
        let mut lines = item.content.lines();
        out.line(Line::of(Style::Faint, &who).then(lines.next().unwrap_or_default()));
        out.block(7, &lines.collect::<Vec<_>>().join("\n"));
    }
    if !turn.actions.is_empty() {
        out.line(Line::of(Style::Faint, "  actions"));
    }
    for action in &turn.actions {
        out.line(about(&format!("{:>4} ", action.order), &action.action));
    }
    if let Some(response) = &turn.response {
        part(out, "response", response.as_str());
    }
    if let Some(count) = turn.token_count {
        out.line(Line::of(Style::Faint, &format!("  {count} tokens")));
    }
    if !turn.late.is_empty() {
        out.line(Line::of(Style::Faint, "  late, after its end"));
    }
    for late in &turn.late {
        if let Some(action) = &late.action {
            out.line(about("     ", action));
        }
        if let Some(message) = &late.message {
            out.block(5, message.as_str());
        }
    }
}

fn part(out: &mut Out, name: &str, body: &str) {
    out.line(Line::of(Style::Faint, &format!("  {name}")));
    out.block(5, body);
}

fn about(before: &str, action: &Action) -> Line {
    let kind = word_of(&action.kind);
    let mut line = Line::of(Style::Faint, before).then(&format!("{kind:<13} "));
    line = line.then(&cut(action.description.as_str(), WIDE));
    if action.status != ActionStatus::Completed {
        // The exit code stands in the description.
        line = line.and(Style::Bad, &format!("  {}", word_of(&action.status)));
    }
    if let Some(agent) = &action.agent {
        let name = agent
            .kind
            .as_ref()
            .or(agent.id.as_ref())
            .map_or("subagent", |n| n.as_str());
        line = line.and(Style::Faint, &format!("  by {name}"));
    }
    line
}
