//! `bookend hook`: runs a hook in this process, with a payload on stdin, and shows what it read, changed
//! and answered. It does to the stores what the executable does.

use std::io::{IsTerminal, Read as _};

use serde_json::{Value, json};

use super::args::HookRun;
use super::machine::Machine;
use super::out::Out;
use super::span::{Line, Style};
use super::state_change::{self, Change};
use super::{Failed, Run, text};
use crate::clock::Stopwatch;
use crate::config;
use crate::dispatch::{self, Stores};
use crate::frame::payload::{self, Scanner};
use crate::frame::{self, Arguments, Read};
use crate::live::journal;
use crate::live::state::{Entry, State};
use crate::log::id::SessionId;
use crate::log::ledger;
use crate::log::record::Record;

/// Most of a payload that is read.
const MAX: u64 = 64 * 1024 * 1024;

/// What the hook did.
#[derive(Default)]
struct Done {
    state: Vec<Change>,
    log: Option<SessionId>,
    records: Vec<Record>,
    answered: Option<Value>,
    micros: u32,
    faults: Vec<String>,
    /// It made an entry in the journal.
    taken: bool,
}

impl Run for HookRun {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let bytes = stdin()?;
        let value = payload::parse(&bytes)
            .map_err(|why| Failed::to(format!("read the payload: {why}; give one JSON object")))?;
        if machine.config.disabled {
            return Err(Failed::new(
                "BOOKEND_DISABLE is set, so every hook does nothing: unset it",
            ));
        }
        let arguments = Arguments {
            host: Some(self.host),
            event: self.event.clone(),
        };
        let Some(read) = frame::read(self.name, &arguments, &value, &bytes, &config::var) else {
            return self.nothing(out);
        };
        let done = self.handle(&read, machine);
        if self.json {
            return out.json(&self.document(&read, &done));
        }
        self.print(&read, &done, out);
        Ok(())
    }
}

/// The first complete JSON value on stdin.
fn stdin() -> Result<Vec<u8>, Failed> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(Failed::new(
            "a hook reads a payload: give one on stdin, like `bookend hook … < payload.json`",
        ));
    }
    let mut bytes = Vec::new();
    stdin
        .take(MAX)
        .read_to_end(&mut bytes)
        .map_err(|e| Failed::to(format!("read stdin: {e}")))?;
    let mut scanner = Scanner::default();
    let used = scanner.take(&bytes);
    bytes.truncate(used);
    Ok(bytes)
}

impl HookRun {
    fn handle(&self, read: &Read, machine: &Machine) -> Done {
        let watch = Stopwatch::start();
        let event = &read.event;
        let mut stores = Stores::open(&machine.config, self.name.name());
        stores.of_session(&event.session);
        let (before, _) = look(&stores, read);
        let known = log_of(&before, &stores, read);
        let end = known.as_ref().map_or(0, |id| log_end(&stores, id));
        let reply = dispatch::handle(event.clone(), &read.key, &mut stores, &machine.config, watch);
        let answered = event.host.encode(&event.name, &reply);
        if dispatch::prunes(&event.kind) {
            dispatch::tidy(&read.key, &mut stores, &machine.config, watch);
        }
        let (after, entries) = look(&stores, read);
        let log = log_of(&after, &stores, read);
        let behind = if log == known { end } else { 0 };
        let records = match (&stores.data, &log) {
            (Some(data), Some(id)) => ledger::behind(data, id, behind).unwrap_or_default(),
            _ => Vec::new(),
        };
        let own = entries.into_iter().rev().find(|e| e.n > before.n);
        let mut faults = stores.faults.clone();
        faults.extend(own.iter().flat_map(|e| e.faults.iter().map(ToString::to_string)));
        stores.flush_faults();
        Done {
            state: state_change::between(&before, &after),
            log,
            records,
            answered,
            micros: own.as_ref().map_or_else(|| watch.micros(), |e| e.us),
            faults,
            taken: own.is_some(),
        }
    }

    fn nothing(&self, out: &mut Out) -> Result<(), Failed> {
        if self.json {
            return out.json(&json!({
                "read": null, "changed": {"state": [], "records": []}, "answered": null, "micros": 0, "faults": [],
            }));
        }
        out.line(Line::of(Style::Strong, "Read"));
        out.line(format!(
            "  nothing that Bookend knows as an event of {}: it needs a session_id, and an event name in the payload or in --event",
            self.host.title()
        ));
        out.heading("Changed");
        out.line("  nothing");
        out.heading("Answered");
        out.line("  nothing: the host goes on");
        Ok(())
    }

    fn document(&self, read: &Read, done: &Done) -> Value {
        json!({
            "read": {
                "hook": self.name,
                "host": read.event.host,
                "sessionKey": read.key.as_str(),
                "event": read.event,
            },
            "changed": {"state": done.state, "logSession": done.log, "records": done.records},
            "answered": done.answered,
            "micros": done.micros,
            "faults": done.faults,
        })
    }

    fn print(&self, read: &Read, done: &Done, out: &mut Out) {
        let event = &read.event;
        out.line(Line::of(Style::Strong, "Read"));
        let who = format!("  {} of {}, session ", event.name, event.host.title());
        out.line(Line::from(who).and(Style::Strong, read.key.as_str()));
        for (field, value) in state_change::fields(&json!(event)) {
            if !matches!(field.as_str(), "name" | "host") {
                out.line(Line::of(Style::Faint, &format!("  {field:<18} ")).then(&value));
            }
        }
        out.heading("Changed");
        for change in &done.state {
            let field = Line::of(Style::Faint, &format!("  {:<34} ", change.field));
            out.line(
                field
                    .then(&change.before_text())
                    .then(" → ")
                    .then(&change.after_text()),
            );
        }
        if let Some(id) = done.log.as_ref().filter(|_| !done.records.is_empty()) {
            out.line(format!(
                "  {} in the log {id}:",
                text::count(done.records.len(), "new record")
            ));
        }
        for record in &done.records {
            let mut value = json!(record.body);
            let kind = value.as_object_mut().and_then(|o| o.shift_remove("kind"));
            let kind = kind
                .as_ref()
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            out.line(Line::of(Style::Good, &format!("    + {kind:<14} ")).then(&value.to_string()));
        }
        if !done.taken {
            out.line("  nothing: the same event came before, or a fault stands below");
        }
        out.heading("Answered");
        match &done.answered {
            Some(document) => out.block(2, &format!("{document:#}")),
            None => out.line("  nothing: the host goes on"),
        }
        out.gap();
        out.line(format!("It took {}.", text::micros(done.micros)));
        for fault in &done.faults {
            out.line(Line::of(Style::Bad, &format!("It failed to {fault}.")));
        }
    }
}

/// The session's state and journal as they are now.
fn look(stores: &Stores, read: &Read) -> (State, Vec<Entry>) {
    let dir = stores
        .root
        .as_ref()
        .and_then(|root| root.dir().sub(read.key.as_str()).ok().flatten());
    let Some(dir) = dir else {
        return (State::default(), Vec::new());
    };
    let state = journal::fold(&dir).map(|l| l.state).unwrap_or_default();
    (state, journal::entries(&dir).unwrap_or_default())
}

fn log_of(state: &State, stores: &Stores, read: &Read) -> Option<SessionId> {
    let known = state.log.as_ref().map(|l| l.session.clone());
    let data = stores.data.as_ref()?;
    known.or_else(|| data.by_host(read.event.host, read.key.as_str()).ok().flatten())
}

fn log_end(stores: &Stores, id: &SessionId) -> u64 {
    let dir = stores
        .data
        .as_ref()
        .and_then(|data| data.session(id).ok().flatten());
    let stat = dir.and_then(|dir| dir.stat(ledger::FILE).ok().flatten());
    stat.and_then(|s| u64::try_from(s.st_size).ok()).unwrap_or(0)
}
