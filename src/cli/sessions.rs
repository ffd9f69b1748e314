//! `bookend sessions`: the live sessions of all hook roots, one row each.

use std::time::Duration;

use super::args::Sessions;
use super::live::{self, Live};
use super::machine::Machine;
use super::out::Out;
use super::session_json::SessionJson;
use super::span::{Line, Style};
use super::table::{Table, cell, styled};
use super::{Failed, Run, text};
use crate::clock;
use crate::task::LimitSource;

/// Older ones that are not live are shown with `--all` only.
const RECENT: Duration = Duration::from_secs(24 * 60 * 60);

impl Run for Sessions {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let sessions = live::all(machine, out);
        let all = sessions.len();
        let shown: Vec<Live> = sessions
            .into_iter()
            .filter(|s| self.all || s.alive || is_recent(s, machine))
            .collect();
        if self.json {
            let rows: Vec<SessionJson<'_>> = shown.iter().map(SessionJson::from).collect();
            return out.json(&rows);
        }
        if all == 0 {
            out.sentence(machine.none_live());
            return Ok(());
        }
        if !shown.is_empty() {
            table(&shown, machine).print(out);
        }
        if shown.len() < all {
            let hidden = text::count(all - shown.len(), "session");
            let note = format!("{hidden} without an event in the last day: bookend sessions --all");
            out.line(Line::of(Style::Faint, &note));
        }
        Ok(())
    }
}

fn is_recent(session: &Live, machine: &Machine) -> bool {
    let last = session.state.last_event_at;
    last.is_none_or(|at| clock::age(at, machine.now) < RECENT)
}

fn table(sessions: &[Live], machine: &Machine) -> Table {
    let mut table = Table::new(&["KEY", "HOST", "PROJECT", "AGE", "LIVE", "TASK", "TURN", "LIMIT"]);
    for (session, key) in sessions.iter().zip(live::short_keys(sessions)) {
        let state = &session.state;
        let live = match session.word() {
            word @ "yes" => Line::of(Style::Good, word),
            word @ ("ended" | "no") => Line::of(Style::Faint, word),
            word => Line::from(word),
        };
        let task = match (session.task(), session.interrupted()) {
            (Some(task), _) => cell(task.description.as_str(), 48),
            (None, Some(task)) => styled(Style::Faint, &format!("(left) {}", task.description), 48),
            (None, None) => Line::from("-"),
        };
        let turn = match state.turns.last() {
            Some(turn) => {
                let presumed = if turn.status.is_presumed() {
                    " (presumed)"
                } else {
                    ""
                };
                let word = turn.status.word();
                styled(
                    text::status_style(word),
                    &format!("{}{presumed}", text::word(word)),
                    24,
                )
            }
            None => Line::from("-"),
        };
        let limit = match &state.rate_limit {
            Some(limit) => {
                let whose = if limit.source == LimitSource::Tool {
                    " (a tool's)"
                } else {
                    ""
                };
                let ago = text::age(Some(limit.detected_at), machine.now);
                styled(Style::Bad, &format!("{ago} ago{whose}"), 24)
            }
            None => Line::from("-"),
        };
        table.row(vec![
            Line::of(Style::Strong, &key),
            Line::from(state.host.map_or("-", |h| h.id())),
            cell(&text::short(session.project().unwrap_or("-"), 32), 40),
            Line::from(text::age(state.last_event_at, machine.now)),
            live,
            task,
            turn,
            limit,
        ]);
    }
    table
}
