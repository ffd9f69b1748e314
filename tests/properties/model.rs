//! What the design says of turns, written down a second time and simply: all turns in a list, no files, no
//! records, no marks. The real ones are held against it.

use std::collections::BTreeSet;

use bookend::hosts::Host;
use chrono::{DateTime, Utc};

use super::story::{Step, prompt};

/// How many turns an event without a known place may still find.
const REMEMBERED: usize = 4;
/// How many ids of the host a turn has at most.
const IDS: usize = 8;

/// How a turn stands, as `log show` prints it: status, why it failed, whether that is presumed.
pub type Stands = (&'static str, &'static str, bool);

pub const OPEN: Stands = ("in_progress", "", false);
pub const DONE: Stands = ("completed", "", false);
pub const FAILED: Stands = ("failed", "server_error", false);

#[derive(Debug, Clone)]
pub struct Turn {
    pub stands: Stands,
    pub by_host: bool,
    pub actions: usize,
    pub late: usize,
    ids: Vec<u8>,
    first_id: Option<u8>,
    text: Option<&'static str>,
    began: DateTime<Utc>,
}

/// Where an event belongs.
enum Place {
    In(usize),
    Nowhere,
}

#[derive(Debug, Default)]
pub struct Model {
    pub turns: Vec<Turn>,
    /// A prompt of the host's own waits for its turn.
    prompted: bool,
    seen: BTreeSet<String>,
    last: Option<Step>,
    /// What the log has of tool calls.
    logged: BTreeSet<String>,
    /// The next event finds no live state: of what came before it, the log alone knows.
    reborn: bool,
    /// The live state knows the host's process.
    process_known: bool,
    /// A presumed end was written that the hooks have not read yet.
    pub unread: bool,
}

impl Model {
    pub fn open(&self) -> Option<usize> {
        self.turns.iter().rposition(|t| t.stands == OPEN)
    }

    /// Whether the hooks take this for a part of a turn that is settled, since nobody has told them yet.
    pub fn depends_on_the_unread(&self, step: &Step) -> bool {
        let of_last = |text: u8| {
            self.turns
                .last()
                .is_some_and(|t| t.text == Some(prompt(text).trim()))
        };
        self.unread
            && match step {
                Step::HostPrompt { .. } => true,
                Step::Prompt { text, .. } => of_last(*text),
                _ => false,
            }
    }

    pub fn settled(&mut self) {
        if let Some(open) = self.open() {
            self.turns[open].stands = ("failed", "host_gone", true);
            self.unread = true;
        }
    }

    /// What only the live state knew is gone.
    pub fn reboot(&mut self) {
        self.seen.clear();
        self.last = None;
        (self.prompted, self.unread, self.process_known) = (false, false, false);
        self.reborn = true;
        for turn in &mut self.turns {
            turn.ids = turn.first_id.into_iter().collect();
        }
    }

    /// Takes in a step that this host says; `again`: the same bytes a second time.
    pub fn take(&mut self, host: Host, step: &Step, again: bool, at: DateTime<Utc>) {
        let step = without_what_it_does_not_say(host, step);
        let known = key(host, &step).is_some_and(|key| !self.seen.insert(key));
        let is_second = known || (again && host == Host::GeminiCli && self.last.as_ref() == Some(&step));
        self.last = Some(step.clone());
        if is_second {
            return;
        }
        let before = self.written();
        let reads = matches!(step, Step::Start { .. } | Step::End | Step::Interrupt { .. });
        match step {
            Step::Prompt { turn, text } => self.prompt(turn, prompt(text).trim(), at),
            Step::HostPrompt { turn } => match self.open() {
                Some(open) => self.alias(open, turn),
                None => self.prompted = true,
            },
            Step::Tool { turn, agent, .. } => {
                let at = match self.place(turn, agent) {
                    Place::In(at) => at,
                    Place::Nowhere => self.begin(turn.filter(|_| !agent), true, None, at),
                };
                let call = key(host, &step).map(|key| format!("{key} {agent}"));
                let is_logged = call.is_some_and(|call| !self.logged.insert(call));
                match self.turns[at].stands {
                    _ if is_logged && self.reborn => {}
                    OPEN | (_, _, true) => self.turns[at].actions += 1,
                    _ => self.turns[at].late += 1,
                }
            }
            Step::Stop { turn, message } => {
                let passed = self.has_passed(turn);
                self.end(turn, DONE, usize::from(message > 0), at);
                if !passed {
                    self.prompted = false;
                }
            }
            Step::Fail { turn } => self.end(turn, FAILED, 0, at),
            Step::Interrupt { turn } => {
                let of_an_ended =
                    matches!(self.place(turn, false), Place::In(at) if self.turns[at].stands != OPEN);
                if !of_an_ended {
                    self.presume("interrupted");
                }
            }
            Step::End | Step::Start { source: "clear" } => self.presume("session_ended"),
            // Who worked on it is not known any more, so it is not this process.
            Step::Start { source } if source != "compact" && !self.process_known => self.presume("host_gone"),
            Step::Start { source: "resume" } => self.presume("interrupted"),
            _ => {}
        }
        (self.process_known, self.reborn) = (true, false);
        self.unread &= !reads && self.written() == before;
    }

    /// How much there is in the log.
    fn written(&self) -> (usize, Vec<(Stands, usize, usize)>) {
        let each = self.turns.iter().map(|t| (t.stands, t.actions, t.late));
        (self.turns.len(), each.collect())
    }

    fn prompt(&mut self, turn: Option<u8>, text: &'static str, at: DateTime<Utc>) {
        self.prompted = false;
        let resent =
            |t: &Turn| t.text == Some(text) && !text.is_empty() && (at - t.began).num_seconds() < 120;
        match self.open().filter(|open| resent(&self.turns[*open])) {
            Some(open) => self.alias(open, turn),
            None => {
                self.begin(turn, false, Some(text), at);
            }
        }
    }

    /// The end of a turn, once: the real one takes the place of a presumed one, and nothing that of a real one.
    fn end(&mut self, turn: Option<u8>, how: Stands, said: usize, at: DateTime<Utc>) {
        let at = match self.place(turn, false) {
            Place::In(at) => at,
            Place::Nowhere => self.begin(turn, true, None, at),
        };
        match self.turns[at].stands {
            OPEN | (_, _, true) => self.turns[at].stands = how,
            _ => self.turns[at].late += said,
        }
    }

    fn begin(
        &mut self,
        id: Option<u8>,
        by_host: bool,
        text: Option<&'static str>,
        began: DateTime<Utc>,
    ) -> usize {
        self.presume("interrupted");
        self.prompted = false;
        self.turns.push(Turn {
            stands: OPEN,
            by_host,
            actions: 0,
            late: 0,
            ids: id.into_iter().collect(),
            first_id: id,
            text,
            began,
        });
        self.turns.len() - 1
    }

    fn presume(&mut self, why: &'static str) {
        if let Some(open) = self.open() {
            self.turns[open].stands = ("failed", why, true);
        }
    }

    fn alias(&mut self, turn: usize, id: Option<u8>) {
        let ids = &mut self.turns[turn].ids;
        if let Some(id) = id.filter(|id| !ids.contains(id) && ids.len() < IDS) {
            ids.push(id);
        }
    }

    fn of_id(&self, id: u8) -> Option<usize> {
        let oldest = self.turns.len().saturating_sub(REMEMBERED);
        (oldest..self.turns.len())
            .rev()
            .find(|at| self.turns[*at].ids.contains(&id))
    }

    /// By the host's id; an id that nobody knows is the open turn's only if that has none, and in a subagent,
    /// whose ids may be its own, the root's.
    fn place(&self, id: Option<u8>, in_agent: bool) -> Place {
        let last = self.turns.len().checked_sub(1);
        let at = match (id.and_then(|id| self.of_id(id)), id) {
            (Some(known), _) => Some(known),
            (None, Some(_)) if !in_agent => self.open().filter(|open| self.turns[*open].ids.is_empty()),
            (None, None) if !in_agent && self.prompted => self.open(),
            _ => self.open().or(last),
        };
        at.map_or(Place::Nowhere, Place::In)
    }

    fn has_passed(&self, id: Option<u8>) -> bool {
        let Some(at) = id.and_then(|id| self.of_id(id)) else {
            return false;
        };
        self.turns[at + 1..].iter().any(|t| !t.by_host)
    }
}

/// Gemini CLI knows no turn ids, and no host of these but Claude Code says that a tool failed in the same way.
fn without_what_it_does_not_say(host: Host, step: &Step) -> Step {
    let mut step = step.clone();
    if host == Host::GeminiCli {
        match &mut step {
            Step::Prompt { turn, .. } | Step::Stop { turn, .. } => *turn = None,
            Step::Tool { turn, agent, .. } => (*turn, *agent) = (None, false),
            _ => {}
        }
    }
    if host == Host::Codex
        && let Step::Tool { fails, .. } = &mut step
    {
        *fails = false;
    }
    step
}

/// By what a second arrival is known (hook-state, "Duplicates").
fn key(host: Host, step: &Step) -> Option<String> {
    if host == Host::GeminiCli {
        return None;
    }
    match step {
        Step::Prompt { turn, .. } | Step::HostPrompt { turn } => turn.map(|t| format!("prompt {t}")),
        Step::Tool { call, fails, .. } => Some(format!("tool {call} {fails}")),
        Step::Stop { turn, message } => turn.map(|t| format!("stop {t} {message}")),
        Step::Agent { turn, stops: true } => turn.map(|t| format!("agent {t}")),
        _ => None,
    }
}
