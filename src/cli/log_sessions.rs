//! `bookend log sessions`: the sessions of the log, newest first.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::args::LogSessions;
use super::history::{self, Known};
use super::machine::{Machine, NOTHING_YET};
use super::out::Out;
use super::span::{Line, Style};
use super::table::{Table, cell, styled};
use super::{Failed, Run, text};
use crate::log::view::SessionView;

impl Run for LogSessions {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let Some(data) = &machine.data else {
            return self.nothing(machine, out);
        };
        let agent = self.agent.as_deref().map(plain);
        let wanted = |a: &str| agent.as_ref().is_none_or(|agent| plain(a) == *agent);
        let (known, problems) = history::all(data, |id| wanted(id.agent()))
            .map_err(|e| Failed::to(format!("read the session log in {}: {e}", data.path().display())))?;
        for problem in problems {
            out.warn(&format!("failed to {problem}; it is left out"));
        }
        let project = self.project.as_ref().map(|dir| spellings(dir));
        let (mut total, mut page) = (0, Vec::new());
        for session in known {
            match self.fits(&session, project.as_deref()) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(e) => {
                    out.warn(&format!(
                        "failed to read the log of {}: {e}; it is left out",
                        session.id
                    ));
                    continue;
                }
            }
            if total >= self.offset && page.len() < self.limit.get() {
                match session.view() {
                    Ok(view) => page.push(view),
                    Err(e) => out.warn(&format!("failed to read the log of {}: {e}", session.id)),
                }
            }
            total += 1;
        }
        if self.json {
            return out.json(&self.document(&page, total));
        }
        if total == 0 && self.is_unfiltered() {
            return self.nothing(machine, out);
        }
        self.print(&page, total, machine, out);
        Ok(())
    }
}

impl LogSessions {
    fn is_unfiltered(&self) -> bool {
        self.agent.is_none() && self.project.is_none() && self.status.is_none()
    }

    fn fits(&self, session: &Known, project: Option<&[PathBuf]>) -> io::Result<bool> {
        if let Some(dirs) = project {
            let root = session.project()?;
            if !root.is_some_and(|root| dirs.iter().any(|dir| text::is_within(&root, dir))) {
                return Ok(false);
            }
        }
        match self.status {
            Some(wanted) => Ok(session.status()? == wanted.word()),
            None => Ok(true),
        }
    }

    fn document(&self, page: &[SessionView], total: usize) -> Value {
        let sessions: Vec<Value> = page.iter().map(summary).collect();
        json!({"sessions": sessions, "totalCount": total, "offset": self.offset, "limit": self.limit})
    }

    fn nothing(&self, machine: &Machine, out: &mut Out) -> Result<(), Failed> {
        machine.usable()?;
        if self.json {
            return out.json(&self.document(&[], 0));
        }
        out.sentence(NOTHING_YET);
        Ok(())
    }

    fn print(&self, page: &[SessionView], total: usize, machine: &Machine, out: &mut Out) {
        if page.is_empty() {
            let what = if total == 0 {
                "No session of the log is of that kind: bookend log sessions lists them all.".to_owned()
            } else {
                format!("There are {total} sessions: give a smaller --offset.")
            };
            out.line(what);
            return;
        }
        let mut table = Table::new(&[
            "SESSION", "PROJECT", "UPDATED", "STATUS", "TURNS", "FILES", "TITLE",
        ]);
        for view in page {
            let project = view.project_root.as_ref().map_or("-", |p| p.as_str());
            table.row(vec![
                Line::of(Style::Strong, view.session_id.as_str()),
                cell(&text::short(project, 28), 36),
                Line::from(format!("{} ago", text::age(view.last_updated, machine.now))),
                styled(text::status_style(view.status), &text::word(view.status), 12),
                Line::from(view.turn_count.to_string()),
                Line::from(view.files_modified_count.to_string()),
                cell(view.title.as_str(), 56),
            ]);
        }
        table.print(out);
        if total > page.len() {
            let last = self.offset + page.len();
            let mut note = format!("{} to {last} of {total}", self.offset + 1);
            if last < total {
                note.push_str(&format!(": bookend log sessions --offset {last} goes on"));
            }
            out.line(Line::of(Style::Faint, &note));
        }
    }
}

/// A session without its turns.
fn summary(view: &SessionView) -> Value {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Summary<'v> {
        agent: &'v str,
        session_id: &'v crate::log::id::SessionId,
        host: Option<crate::hosts::Host>,
        host_session: Option<&'v crate::redact::Redacted>,
        title: &'v crate::redact::Redacted,
        model: Option<&'v crate::redact::Redacted>,
        project_root: Option<&'v crate::redact::Redacted>,
        started: Option<chrono::DateTime<chrono::Utc>>,
        last_updated: Option<chrono::DateTime<chrono::Utc>>,
        status: &'static str,
        turn_count: usize,
        files_modified_count: usize,
    }
    json!(Summary {
        agent: &view.agent,
        session_id: &view.session_id,
        host: view.host,
        host_session: view.host_session.as_ref(),
        title: &view.title,
        model: view.model.as_ref(),
        project_root: view.project_root.as_ref(),
        started: view.started,
        last_updated: view.last_updated,
        status: view.status,
        turn_count: view.turn_count,
        files_modified_count: view.files_modified_count,
    })
}

/// `ClaudeCode`, `claude-code` and `claude_code` are one agent.
fn plain(agent: &str) -> String {
    let letters = agent.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

/// The directory as hosts may name it: with its links followed, or not.
fn spellings(dir: &Path) -> Vec<PathBuf> {
    [dir.canonicalize(), std::path::absolute(dir)]
        .into_iter()
        .flatten()
        .collect()
}
