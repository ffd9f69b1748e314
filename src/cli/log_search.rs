//! `bookend log search`: the turns in which words stand, newest first.

use serde_json::json;

use super::args::LogSearch;
use super::machine::{Machine, NOTHING_YET};
use super::out::Out;
use super::span::{Line, Style, cut};
use super::{Failed, Run, history, text};
use crate::log::index::{Depth, Match};

/// Widest snippet.
const WIDE: usize = 240;

impl Run for LogSearch {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let words = history::words(&self.words.join(" "))?;
        let (limit, offset) = (self.slice.limit.get(), self.slice.offset);
        machine.settle(out);
        let Some(data) = &machine.data else {
            machine.usable()?;
            if self.json {
                return out.json(&json!({"matches": [], "totalCount": 0, "offset": offset, "limit": limit}));
            }
            out.sentence(NOTHING_YET);
            return Ok(());
        };
        let filters = self.which.filters();
        let found = history::ask(data, Depth::Grown, out, |index| {
            index.search(&words, &filters, limit, offset)
        })?;
        if self.json {
            return out.json(&found);
        }
        if found.matches.is_empty() {
            let total = found.total_count;
            out.line(if total == 0 {
                "No turn holds all these words: word* finds the beginnings of words.".to_owned()
            } else {
                format!("There are {total} turns: give a smaller --offset.")
            });
            return Ok(());
        }
        for (i, one) in found.matches.iter().enumerate() {
            if i > 0 {
                out.gap();
            }
            print(one, machine, out);
        }
        history::tell_of_rest(
            "log search …",
            offset,
            found.matches.len(),
            found.total_count,
            out,
        );
        Ok(())
    }
}

fn print(one: &Match, machine: &Machine, out: &mut Out) {
    let project = one
        .project
        .as_deref()
        .map_or_else(String::new, |p| text::short(p, 36));
    let turn = one.request_id.as_deref().unwrap_or("its title");
    out.line(
        Line::of(Style::Strong, &one.session_id)
            .then(&format!("  {turn}  "))
            .and(
                Style::Faint,
                &format!("{} ago  {project}", text::age(one.at, machine.now)),
            ),
    );
    let mut line = Line::of(Style::Faint, &format!("  {:<14}", one.field));
    let mut left = WIDE;
    for (is_hit, part) in &one.parts {
        let part = part.replace(['\n', '\r', '\t'], " ");
        let style = if *is_hit { Style::Strong } else { Style::Plain };
        let part = cut(&part, left).into_owned();
        left = left.saturating_sub(part.chars().count());
        line = line.and(style, &part);
    }
    out.line(line);
}
