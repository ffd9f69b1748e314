//! `bookend events`: the journal of a session, one line an event. `follow` goes on with it.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::args::Events;
use super::follow;
use super::live::{self, Live};
use super::machine::Machine;
use super::out::Out;
use super::session_json::word_of;
use super::span::{Line, Style, cut};
use super::{Failed, Run, text};
use crate::event::{Event, Kind, Outcome};
use crate::live::journal;
use crate::live::state::{Answered, Entry};
use crate::log::id::RequestId;
use crate::log::turns::{Place, Turns};
use crate::redact::Redacted;

/// One entry as it is printed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventLine {
    /// The session's key.
    pub(super) session_key: String,
    /// Its number in the session.
    pub(super) n: u64,
    /// When.
    pub(super) at: DateTime<Utc>,
    event: String,
    agent: Option<Redacted>,
    tool: Option<Redacted>,
    target: Option<Redacted>,
    outcome: Option<Outcome>,
    turn: Option<RequestId>,
    answer: AnswerJson,
    micros: u32,
    faults: Vec<Redacted>,
    #[serde(skip)]
    remark: &'static str,
}

/// How it was answered; every member is always there.
#[derive(Serialize)]
struct AnswerJson {
    context: u32,
    notices: u32,
    told: bool,
    denied: Option<Redacted>,
}

impl From<Answered> for AnswerJson {
    fn from(answered: Answered) -> Self {
        let Answered {
            context,
            notices,
            told,
            brief: _,
            denied,
        } = answered;
        Self {
            context,
            notices,
            told,
            denied,
        }
    }
}

impl Run for Events {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let sessions = live::all(machine, out);
        let empty = sessions.is_empty();
        if empty && self.session.is_none() && !self.follow {
            if !self.json {
                out.sentence(machine.none_live());
            }
            return Ok(());
        }
        let mut watched = follow::Watched::of(&sessions);
        let chosen = match &self.session {
            None if empty => None,
            wanted => Some(live::find(sessions, wanted.as_deref(), machine, out)?),
        };
        let mut printer = Printer {
            json: self.json,
            keys: self.follow && self.session.is_none(),
            now: Some(machine.now),
        };
        printer.head(out);
        if let Some(session) = &chosen {
            let lines = read(session)?;
            watched.has_seen(session, &lines);
            let skip = self.last.map_or(0, |last| lines.len().saturating_sub(last));
            for line in lines.iter().skip(skip) {
                printer.print(line, out)?;
            }
        }
        if self.follow {
            printer.now = None;
            let only = self.session.as_ref().and(chosen).map(|s| s.key);
            follow::run(machine, watched, only.as_ref(), &printer, out)?;
        }
        Ok(())
    }
}

fn read(session: &Live) -> Result<Vec<EventLine>, Failed> {
    let entries = journal::entries(&session.dir)
        .map_err(|e| Failed::to(format!("read the journal of {}: {e}", session.key)))?;
    Ok(lines(session.key.as_str(), entries))
}

/// The entries of a journal, each with the turn that it belongs to.
pub(super) fn lines(key: &str, entries: Vec<Entry>) -> Vec<EventLine> {
    let mut turns = Turns::default();
    entries
        .into_iter()
        .map(|entry| {
            for mark in &entry.marks {
                turns.apply(mark);
            }
            let turn = match turns.place(&entry.event, false) {
                Place::Open(id) | Place::Ended(id, _) => Some(id),
                Place::Unknown => None,
            };
            EventLine::of(key, entry, turn)
        })
        .collect()
}

impl EventLine {
    fn of(key: &str, entry: Entry, turn: Option<RequestId>) -> Self {
        let event = entry.event;
        let (tool, target, outcome) = about(&event);
        let outside = matches!(event.kind, Kind::SessionStart { .. } | Kind::SessionEnd { .. });
        Self {
            session_key: key.to_owned(),
            n: entry.n,
            at: event.at,
            agent: event.agent.and_then(|a| a.kind.or(a.id)),
            event: event.name,
            tool,
            target,
            outcome,
            turn: turn.filter(|_| !outside),
            answer: entry.answered.into(),
            micros: entry.us,
            faults: entry.faults,
            remark: if entry.resend {
                "sent again"
            } else if entry.took_over.is_some() {
                "took a task over"
            } else {
                ""
            },
        }
    }
}

/// Tool, target and outcome.
fn about(event: &Event) -> (Option<Redacted>, Option<Redacted>, Option<Outcome>) {
    let short = |text: &Redacted| Some(Redacted::first_line(text.as_str(), 200));
    match &event.kind {
        Kind::SessionStart { source } => (None, Some(Redacted::new(&word_of(source))), None),
        Kind::Prompt { text, .. } => (None, short(text), None),
        Kind::Delegation { to, prompt, .. } => (to.clone(), short(prompt), None),
        Kind::Tool(call) => (
            Some(call.tool.clone()),
            call.target.clone(),
            Some(call.outcome.clone()),
        ),
        Kind::Stop { message, .. } | Kind::AgentStop { message, .. } => {
            (None, message.as_ref().and_then(short), None)
        }
        Kind::Failure { code, message, .. } => (
            None,
            Some(Redacted::first_line(&format!("{code}: {message}"), 200)),
            None,
        ),
        Kind::SessionEnd { reason } => (None, Some(reason.clone()), None),
        Kind::AgentStart | Kind::Interrupt | Kind::PreCompact => (None, None, None),
    }
}

/// How lines are printed.
pub(super) struct Printer {
    json: bool,
    /// With the session's key.
    keys: bool,
    /// When the ages are taken; `None`: as it happens.
    now: Option<DateTime<Utc>>,
}

impl Printer {
    fn head(&self, out: &mut Out) {
        if !self.json {
            let key = if self.keys {
                format!("{:<9} ", "KEY")
            } else {
                String::new()
            };
            let heads = format!(
                "{key}{:<7} {:<18} {:<14} {:<44} {:<8} {:>8}  ANSWER",
                "AGE", "EVENT", "TOOL", "TARGET", "TURN", "TOOK"
            );
            out.line(Line::of(Style::Faint, &heads));
        }
    }

    /// Prints one.
    pub(super) fn print(&self, line: &EventLine, out: &mut Out) -> Result<(), Failed> {
        if self.json {
            return out.json_line(line);
        }
        let age = self
            .now
            .map_or_else(|| "now".to_owned(), |now| text::age(Some(line.at), now));
        let mut row = Line::default();
        if self.keys {
            row = column(row, Style::Strong, &line.session_key, 9);
        }
        row = column(row, Style::Plain, &age, 7);
        row = column(row, Style::Strong, &line.event, 18);
        row = column(
            row,
            Style::Plain,
            line.tool
                .as_ref()
                .or(line.agent.as_ref())
                .map_or("-", |t| t.as_str()),
            14,
        );
        let (style, target) = match &line.outcome {
            Some(Outcome::Failed { exit: Some(exit), .. }) => (Style::Bad, format!("(exit {exit}) ")),
            Some(Outcome::Failed { .. }) => (Style::Bad, "(failed) ".to_owned()),
            Some(Outcome::Interrupted) => (Style::Notice, "(interrupted) ".to_owned()),
            Some(Outcome::Ok) | None => (Style::Plain, String::new()),
        };
        let target = format!("{target}{}", line.target.as_ref().map_or("-", |t| t.as_str()));
        row = column(row, style, &target, 44);
        let turn = line
            .turn
            .as_ref()
            .map_or("-", |t| t.as_str().splitn(3, '-').nth(2).unwrap_or("-"));
        row = column(row, Style::Plain, turn, 8);
        let took = text::micros(line.micros);
        row = row
            .then(&" ".repeat(8_usize.saturating_sub(took.chars().count())))
            .then(&took)
            .then("  ");
        out.line(row.join(answer(line)));
        for fault in &line.faults {
            out.line(Line::from("          ").and(Style::Bad, &format!("failed to {fault}")));
        }
        Ok(())
    }
}

/// One cell: what is too long is cut, so that lines that come one at a time stay aligned.
fn column(row: Line, style: Style, text: &str, width: usize) -> Line {
    let text = cut(text, width).into_owned();
    let cell = Line::of(style, &text);
    let pad = " ".repeat(width.saturating_sub(cell.width()) + 1);
    row.join(cell).then(&pad)
}

fn answer(line: &EventLine) -> Line {
    let answered = &line.answer;
    let mut parts: Vec<String> = Vec::new();
    if let Some(why) = &answered.denied {
        parts.push(format!("denied: {why}"));
    }
    if answered.context > 0 {
        parts.push(format!("context of {} characters", answered.context));
    }
    if answered.told {
        parts.push("told to wait for the limit".to_owned());
    }
    if answered.notices > 0 {
        let notices = usize::try_from(answered.notices).unwrap_or(0);
        parts.push(text::count(notices, "notice"));
    }
    if !line.remark.is_empty() {
        parts.push(line.remark.to_owned());
    }
    if parts.is_empty() {
        Line::of(Style::Faint, "-")
    } else {
        Line::from(parts.join(", "))
    }
}
