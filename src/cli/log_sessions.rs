//! `bookend log sessions`: the sessions of the log, newest first.

use serde_json::{Value, json};

use super::args::LogSessions;
use super::machine::{Machine, NOTHING_YET};
use super::out::Out;
use super::span::{Line, Style};
use super::table::{Table, cell, styled};
use super::{Failed, Run, history, text};
use crate::log::index::{Depth, Filters, Page, Summary};

impl Run for LogSessions {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let filters = Filters {
            text: self.text.as_deref().map(history::words).transpose()?,
            ..self.which.filters()
        };
        machine.settle(out);
        history::tell_if_off(out);
        let Some(data) = &machine.data else {
            return self.nothing(machine, out);
        };
        let page = history::ask(data, Depth::Grown, out, |index| {
            index.sessions(&filters, self.slice.limit.get(), self.slice.offset)
        })?;
        if self.json {
            return out.json(&self.document(&page.sessions, page.total));
        }
        if page.total == 0 && filters.is_all() {
            return self.nothing(machine, out);
        }
        self.print(&page, machine, out);
        Ok(())
    }
}

impl LogSessions {
    fn document(&self, page: &[Summary], total: usize) -> Value {
        json!({"sessions": page, "totalCount": total, "offset": self.slice.offset, "limit": self.slice.limit})
    }

    fn nothing(&self, machine: &Machine, out: &mut Out) -> Result<(), Failed> {
        machine.usable()?;
        if self.json {
            return out.json(&self.document(&[], 0));
        }
        out.sentence(NOTHING_YET);
        Ok(())
    }

    fn print(&self, page: &Page, machine: &Machine, out: &mut Out) {
        let total = page.total;
        if page.sessions.is_empty() {
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
        for session in &page.sessions {
            let project = session.project_root.as_deref().unwrap_or("-");
            table.row(vec![
                Line::of(Style::Strong, &session.session_id),
                cell(&text::short(project, 28), 36),
                Line::from(format!("{} ago", text::age(session.last_updated, machine.now))),
                styled(
                    text::status_style(&session.status),
                    &text::word(&session.status),
                    12,
                ),
                Line::from(session.turn_count.to_string()),
                Line::from(session.files_modified_count.to_string()),
                cell(&session.title, 56),
            ]);
        }
        table.print(out);
        let shown = page.sessions.len();
        history::tell_of_rest("log sessions", self.slice.offset, shown, total, out);
    }
}
