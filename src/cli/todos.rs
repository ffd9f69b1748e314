//! `bookend todos`: what is still to be done in this project, and whose list that is: of a live session of
//! the project, the newest first, else the newest list that a session left open in the log.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;

use super::args::Todos as Verb;
use super::live::{self, Live};
use super::machine::{Machine, NOTHING_YET};
use super::out::Out;
use super::session_json::word_of;
use super::span::Line;
use super::table::{Table, cell, styled};
use super::{Failed, Run, text};
use crate::dispatch::{project_of, settle};
use crate::host::Host;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::open::OpenEntry;
use crate::log::view::SessionView;
use crate::redact::Redacted;
use crate::task::agent_files::{self, Agent, Roots};
use crate::task::todos::ADHOC;
use crate::task::{Todo, Todos};

/// Widest todo in a line.
const WIDE: usize = 100;

impl Run for Verb {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let project = here()?;
        let found = find(&project, machine, out);
        if let Some(agent) = self.init {
            return self.init(agent, &project, found.as_ref(), machine, out);
        }
        if self.json {
            return out.json(&Document::of(&project, found.as_ref()));
        }
        match found {
            Some(list) => print(&project, &list, machine, out),
            None if machine.data.is_none() && machine.roots.is_empty() => out.sentence(NOTHING_YET),
            None => out.line(format!(
                "No session of {} has a todo: `bookend sessions` lists those of every project.",
                text::home(project.as_str())
            )),
        }
        Ok(())
    }
}

impl Verb {
    /// Makes the state file of an agent, because the user asked for it.
    fn init(
        &self,
        agent: Agent,
        project: &Redacted,
        found: Option<&List>,
        machine: &Machine,
        out: &mut Out,
    ) -> Result<(), Failed> {
        let roots = Roots {
            project: Some(Path::new(project.as_str())),
            home: machine.config.home.as_deref(),
        };
        let todos = found.map(|list| &list.todos);
        let made = agent_files::init(agent, roots, todos, machine.now).map_err(Failed::to)?;
        if self.json {
            return out.json(&json!({ "made": made }));
        }
        let path = text::home(&made.to_string_lossy());
        out.line(format!("Made {path}: the hooks keep it from now on."));
        Ok(())
    }
}

/// The project of the working directory.
pub(super) fn here() -> Result<Redacted, Failed> {
    let here = std::env::current_dir().map_err(|e| {
        Failed::new(format!(
            "this directory is gone ({e}): change to the project first"
        ))
    })?;
    Ok(project_of(&Redacted::new(&here.to_string_lossy())))
}

/// A list and whose it is.
struct List {
    source: Source,
    todos: Todos,
    /// When the session that it is of was last heard of.
    heard: Option<DateTime<Utc>>,
}

/// The session that a list is of.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Source {
    host: Option<Host>,
    session: Redacted,
    log_session: Option<SessionId>,
    live: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    project: &'a Redacted,
    source: Option<&'a Source>,
    flow: Option<&'a Redacted>,
    last_synced_at: Option<DateTime<Utc>>,
    items: &'a [Todo],
}

impl<'a> Document<'a> {
    fn of(project: &'a Redacted, list: Option<&'a List>) -> Self {
        Self {
            project,
            source: list.map(|l| &l.source),
            flow: list.and_then(|l| l.todos.flow.as_ref()),
            last_synced_at: list.and_then(|l| l.todos.last_synced_at),
            items: list.map_or(&[], |l| &l.todos.items),
        }
    }
}

/// The list of the project: one with something open goes before one in which all is done.
fn find(project: &Redacted, machine: &Machine, out: &mut Out) -> Option<List> {
    let entries = machine.data.as_ref().and_then(|data| data.open_entries().ok());
    let live: Vec<Live> = live::all(machine, out)
        .into_iter()
        .filter(|s| s.project() == Some(project.as_str()) && !items(s).is_empty())
        .collect();
    // A list that another session took over, or that the user cleared, is nobody's any more: its entry is gone.
    let is_kept = |s: &Live| match (&entries, &s.state.log) {
        (Some(entries), Some(log)) => entries.iter().any(|e| e.session == log.session),
        _ => true,
    };
    if let Some(session) = live.iter().find(|s| is_open(s) && is_kept(s)) {
        return of_live(session);
    }
    let left = entries
        .into_iter()
        .flatten()
        .find(|e| e.project_root.as_ref() == Some(project) && e.todos.as_ref().is_some_and(Todos::any_open));
    match (left, &machine.data) {
        (Some(entry), Some(data)) => of_entry(entry, data, machine),
        _ => live.iter().find(|s| !is_open(s)).and_then(of_live),
    }
}

fn is_open(session: &Live) -> bool {
    session.state.ui_todos.as_ref().is_some_and(Todos::any_open)
}

fn items(session: &Live) -> &[Todo] {
    session.state.ui_todos.as_ref().map_or(&[], |t| &t.items)
}

fn of_live(session: &Live) -> Option<List> {
    let state = &session.state;
    Some(List {
        source: Source {
            host: state.host,
            session: state.session_id.clone(),
            log_session: state.log.as_ref().map(|l| l.session.clone()),
            live: session.alive,
        },
        todos: state.ui_todos.clone()?,
        heard: state.last_event_at,
    })
}

/// Its live state is gone: after a reboot, or after two hours without an event.
fn of_entry(entry: OpenEntry, data: &DataDir, machine: &Machine) -> Option<List> {
    let seen = settle::look(data, &machine.roots, entry, machine.now);
    let view = SessionView::read(data, &seen.entry.session).ok().flatten();
    Some(List {
        source: Source {
            host: Some(seen.entry.host),
            session: view
                .as_ref()
                .and_then(|v| v.host_session.clone())
                .unwrap_or_else(|| Redacted::new(&seen.entry.session_key)),
            log_session: Some(seen.entry.session),
            live: seen.alive,
        },
        todos: seen.entry.todos?,
        heard: view.and_then(|v| v.last_updated),
    })
}

fn print(project: &Redacted, list: &List, machine: &Machine, out: &mut Out) {
    let (source, todos) = (&list.source, &list.todos);
    out.field("project", text::home(project.as_str()));
    let host = source.host.map_or("-", Host::title);
    let live = if source.live { "live" } else { "not live" };
    let age = text::age(list.heard, machine.now);
    out.field(
        "session",
        format!("{} of {host}, {live}, last heard of {age} ago", source.session),
    );
    if let Some(log) = &source.log_session {
        out.field("log", log.as_str());
    }
    if let Some(at) = todos.last_synced_at {
        out.field("changed", text::ago(at, machine.now));
    }
    section(todos, out);
}

/// The section about a list, in this verb and in those that show a whole session.
pub(super) fn section(todos: &Todos, out: &mut Out) {
    if todos.items.is_empty() {
        return;
    }
    let flow = todos.flow.as_ref().map(|f| format!(" ({f})")).unwrap_or_default();
    let open = todos.open().count();
    out.heading(&format!("Todos{flow}: {open} of {} open", todos.items.len()));
    // Most hosts know of neither: then nothing is said of them.
    let flows = todos.items.iter().any(|t| t.flow.as_str() != ADHOC);
    let refs = todos.items.iter().any(|t| t.ref_id.is_some());
    let mut heads = vec!["STATUS", "PRIORITY"];
    heads.extend(flows.then_some("FLOW"));
    heads.extend(refs.then_some("REF"));
    heads.push("TODO");
    let mut table = Table::new(&heads).indented();
    for todo in &todos.items {
        let status = word_of(&todo.status);
        let mut row = vec![
            styled(text::status_style(&status), &text::word(&status), 12),
            Line::from(word_of(&todo.priority)),
        ];
        row.extend(flows.then(|| cell(todo.flow.as_str(), 16)));
        row.extend(refs.then(|| cell(todo.ref_id.as_ref().map_or("-", Redacted::as_str), 32)));
        row.push(cell(todo.content.as_str(), WIDE));
        table.row(row);
    }
    table.print(out);
}
