//! `bookend log stats`: how much there is, of whom, and when.

use serde_json::json;

use super::args::LogStats;
use super::machine::{Machine, NOTHING_YET};
use super::out::Out;
use super::span::{Line, Style};
use super::table::{Table, cell};
use super::{Failed, Run, history, text};
use crate::log::index::{self, Count, Depth, Stats};

/// Most rows of a table; JSON has all.
const ROWS: usize = 15;

impl Run for LogStats {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let filters = self.which.filters();
        let days = machine.config.log_days;
        let data = machine.data()?;
        let stats = history::ask(data, Depth::Grown, out, |index| index.stats(&filters))?;
        let index_bytes = index::size(data);
        if self.json {
            let mut document = serde_json::to_value(&stats).unwrap_or_default();
            if let Some(document) = document.as_object_mut() {
                document.insert("indexBytes".to_owned(), json!(index_bytes));
                document.insert("retentionDays".to_owned(), json!(days));
            }
            return out.json(&document);
        }
        if stats.sessions == 0 && filters.is_all() {
            out.sentence(NOTHING_YET);
            return Ok(());
        }
        head(&stats, index_bytes, days, machine, out);
        for (name, counts) in [
            ("AGENT", &stats.agents),
            ("PROJECT", &stats.projects),
            ("STATUS", &stats.statuses),
            ("DAY", &stats.days),
        ] {
            table(name, counts, out);
        }
        Ok(())
    }
}

fn head(stats: &Stats, index_bytes: u64, days: u32, machine: &Machine, out: &mut Out) {
    let (sessions, turns) = (
        text::count(stats.sessions, "session"),
        text::count(stats.turns, "turn"),
    );
    out.field("kept", format!("{sessions}, {turns}"));
    if let (Some(first), Some(last)) = (stats.first, stats.last) {
        out.field("first", text::ago(first, machine.now));
        out.field("last", text::ago(last, machine.now));
    }
    let (log, index) = (text::bytes(stats.log_bytes), text::bytes(index_bytes));
    out.field("size", format!("{log} of logs; the index of all has {index}"));
    out.field("retention", text::retention(days));
}

fn table(name: &'static str, counts: &[Count], out: &mut Out) {
    out.gap();
    let mut table = Table::new(&[name, "SESSIONS", "TURNS"]);
    for count in counts.iter().take(ROWS) {
        let shown = count.name.as_deref().unwrap_or("-");
        let shown = if name == "PROJECT" {
            text::home(shown)
        } else {
            text::word(shown)
        };
        table.row(vec![
            cell(&shown, 80),
            Line::from(count.sessions.to_string()),
            Line::from(count.turns.to_string()),
        ]);
    }
    table.print(out);
    if counts.len() > ROWS {
        let more = format!("and {} more: --json has all", counts.len() - ROWS);
        out.line(Line::of(Style::Faint, &more));
    }
}
