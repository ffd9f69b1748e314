//! `bookend show`: one session's whole live state, in sections for people.

use super::args::Show;
use super::live::{self, Live};
use super::machine::Machine;
use super::out::Out;
use super::session_json::{SessionJson, word_of};
use super::span::{Line, Style};
use super::table::{Table, cell, styled};
use super::{Failed, Run, text, todos};
use crate::live::state::AgentState;
use crate::log::turns::Status;
use crate::task::resume::why;
use crate::task::{LimitSource, Task};

impl Run for Show {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let sessions = live::all(machine, out);
        let session = live::find(sessions, self.session.as_deref(), machine, out)?;
        if self.json {
            return out.json(&SessionJson::from(&session));
        }
        print(&session, machine, out);
        Ok(())
    }
}

/// All sections.
pub(super) fn print(session: &Live, machine: &Machine, out: &mut Out) {
    head(session, machine, out);
    turn(session, machine, out);
    task(session, machine, out);
    if let Some(todos) = &session.state.ui_todos {
        todos::section(todos, out);
    }
    limit(session, machine, out);
    agents(session, machine, out);
    events(session, machine, out);
    waits(session, out);
    faults(session, machine, out);
}

fn head(session: &Live, machine: &Machine, out: &mut Out) {
    let state = &session.state;
    let host = state.host.map_or("unknown host", |h| h.title());
    out.line(Line::of(Style::Strong, session.key.as_str()).then(&format!("  {host}")));
    if state.session_id.as_str() != session.key.as_str() {
        out.field("id", state.session_id.as_str());
    }
    let live = match session.word() {
        "yes" => Line::of(Style::Good, "yes, at work"),
        "idle" => Line::from("yes, idle"),
        "ended" => {
            let reason = state.ended.as_ref().map_or("", |e| e.reason.as_str());
            Line::from(format!("no, it ended ({reason})"))
        }
        _ => Line::of(Style::Notice, "no, its host is gone"),
    };
    let process = state.host_process.as_ref().map(|p| format!("  (pid {})", p.pid));
    out.field("live", live.then(&process.unwrap_or_default()));
    if let Some(at) = state.last_event_at {
        out.field("last event", text::ago(at, machine.now));
    }
    if let Some(at) = state.started_at {
        let source = state.source.map(|s| format!(", {}", word_of(&s)));
        out.field(
            "started",
            format!("{}{}", text::ago(at, machine.now), source.unwrap_or_default()),
        );
    }
    out.field("project", text::home(session.project().unwrap_or("-")));
    if let Some(cwd) = state
        .cwd
        .as_ref()
        .filter(|c| Some(c.as_str()) != session.project())
    {
        out.field("directory", text::home(cwd));
    }
    if let Some(model) = &state.model {
        out.field("model", model.as_str());
    }
    if state.headless == Some(true) {
        out.field("headless", "yes, nobody sits at it");
    }
    if !state.aliases.is_empty() {
        let ids: Vec<&str> = state.aliases.iter().map(|a| a.as_str()).collect();
        out.field("also", ids.join(", "));
    }
    if let Some(log) = &state.log {
        out.field("log", log.session.as_str());
    }
    out.field("root", text::home(&session.root.to_string_lossy()));
}

fn turn(session: &Live, machine: &Machine, out: &mut Out) {
    out.heading("Turn");
    let Some(turn) = session.state.turns.last() else {
        out.line("  none yet");
        return;
    };
    let word = turn.status.word();
    let line = Line::from(format!("  {}  ", turn.id)).and(text::status_style(word), &text::word(word));
    out.line(match &turn.status {
        Status::Failed { code, presumed } => {
            let presumed = if *presumed { ", presumed" } else { "" };
            line.then(&format!(": {}{presumed}", why(code.as_str())))
        }
        Status::InProgress | Status::Completed => line,
    });
    out.line(format!("  began {}", text::ago(turn.started_at, machine.now)));
    if let Some(at) = turn.ended_at {
        out.line(format!("  ended {}", text::ago(at, machine.now)));
    }
    if session.state.blocks > 0 {
        let times = text::count(usize::try_from(session.state.blocks).unwrap_or(0), "time");
        out.line(format!("  its stop was sent back {times} in a row"));
    }
}

fn task(session: &Live, machine: &Machine, out: &mut Out) {
    out.heading("Task");
    match session.task() {
        Some(task) => one_task(task, machine, out),
        None => out.line("  none in hand"),
    }
    if session.task_waits() {
        out.line("  waits for subagents in the background");
    }
    if let Some(task) = session.interrupted() {
        out.heading("Left for it");
        one_task(task, machine, out);
    }
}

fn one_task(task: &Task, machine: &Machine, out: &mut Out) {
    out.line(Line::from("  ").and(Style::Strong, task.description.as_str()));
    out.line(format!("  since {}", text::ago(task.started_at, machine.now)));
    out.line(format!("  last: {}", task.last_action));
    if let Some(anchor) = &task.context_anchor {
        out.line(format!("  at: {}", text::home(anchor)));
    }
    if let Some(at) = task.rate_limit_detected_at {
        out.line(Line::from("  ").and(
            Style::Bad,
            &format!("stopped by a rate limit {}", text::ago(at, machine.now)),
        ));
    }
}

fn limit(session: &Live, machine: &Machine, out: &mut Out) {
    let Some(limit) = &session.state.rate_limit else {
        return;
    };
    out.heading("Rate limit");
    let whose = match limit.source {
        LimitSource::Provider => "the model's provider",
        LimitSource::Tool => "a service that a tool called",
    };
    let met = format!("{whose}, met {}", text::ago(limit.detected_at, machine.now));
    out.line(Line::from("  ").and(Style::Bad, &met));
    out.block(2, limit.message.as_str());
    if let Some(at) = limit.resets_at {
        out.line(format!("  resets at {}", crate::clock::stamp(at)));
    }
    out.line(Line::of(Style::Faint, &format!("  known by: {}", limit.rule)));
}

fn agents(session: &Live, machine: &Machine, out: &mut Out) {
    let agents = &session.state.agents;
    if agents.is_empty() {
        return;
    }
    let running = session.state.running().count();
    let lost = agents.iter().filter(|a| a.state == AgentState::Lost).count();
    out.heading(&match (running, lost) {
        (0, 0) => "Agents".to_owned(),
        (0, lost) => format!("Agents: {lost} were at work when their host vanished or ended"),
        (running, _) => format!("Agents: {running} running"),
    });
    let mut table = Table::new(&["AGENT", "STATE", "STARTED", "ENDED", "ID"]).indented();
    for agent in agents.iter().rev() {
        let style = match agent.state {
            AgentState::Running => Style::Good,
            AgentState::Lost => Style::Faint,
            AgentState::Failed => Style::Bad,
            AgentState::Ended => Style::Plain,
        };
        table.row(vec![
            cell(agent.kind.as_ref().map_or("-", |k| k.as_str()), 40),
            styled(style, &word_of(&agent.state), 12),
            Line::from(text::age(Some(agent.started_at), machine.now)),
            Line::from(text::age(agent.ended_at, machine.now)),
            cell(agent.id.as_ref().map_or("-", |i| i.as_str()), 40),
        ]);
    }
    table.print(out);
}

fn events(session: &Live, machine: &Machine, out: &mut Out) {
    out.heading("Events");
    let mut table = Table::new(&["EVENT", "COUNT", "LAST", "TOOK"]).indented();
    let mut events: Vec<_> = session.state.events.iter().collect();
    events.sort_by_key(|(_, count)| std::cmp::Reverse(count.last_at));
    for (name, count) in events {
        table.row(vec![
            cell(name, 40),
            Line::from(count.count.to_string()),
            Line::from(format!("{} ago", text::age(count.last_at, machine.now))),
            Line::from(text::micros(count.last_micros)),
        ]);
    }
    table.print(out);
}

/// What the next hook will say or fold in.
fn waits(session: &Live, out: &mut Out) {
    let state = &session.state;
    if state.notices.is_empty() && session.pending == 0 && state.host_prompt.is_none() {
        return;
    }
    out.heading("Waits");
    for notice in &state.notices {
        out.line("  to be shown to the user:");
        out.block(4, notice.as_str());
    }
    if session.pending > 0 {
        let events = text::count(session.pending, "event");
        out.line(format!(
            "  {events} for the next hook: the lock was not to be had in time"
        ));
    }
    if let Some(prompt) = &state.host_prompt {
        out.line(format!(
            "  a prompt by the host itself, whose turn has not begun: {}",
            prompt.title
        ));
    }
}

fn faults(session: &Live, machine: &Machine, out: &mut Out) {
    if session.state.faults.is_empty() && session.problems.is_empty() {
        return;
    }
    out.heading("Faults of Bookend");
    for problem in &session.problems {
        out.line(Line::from("  now  ").and(Style::Bad, &format!("failed to {problem}")));
    }
    for fault in session.state.faults.iter().rev() {
        let ago = text::age(Some(fault.at), machine.now);
        let line = Line::from(format!("  {ago} ago, {}: ", fault.hook));
        out.line(line.and(Style::Bad, &format!("failed to {}", fault.what)));
    }
}
