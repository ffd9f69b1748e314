//! One event of one session, under its lock: written to the log, then to the journal, then answered.

use std::io;

use super::draft::{Draft, answered, opening, reply};
use super::found::Found;
use super::keep::Due;
use super::{HOOK_WAIT, stores::Stores};
use crate::clock::Stopwatch;
use crate::config::Config;
use crate::event::{Event, Kind};
use crate::files;
use crate::live::session::Session;
use crate::live::state::LogEnd;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::ledger::{Caught, Ledger, NoLedger};
use crate::log::record::{Body, By, Record};
use crate::redact::Redacted;
use crate::reply::{Reply, Verdict};

/// A turn that begins behind a journal tail longer than this, in bytes, begins with a checkpoint: all its
/// hooks would read that tail.
const TURN_TAIL: u64 = 4 * 1024;
/// How much of the log a state that is begun again looks through for the event at hand, in bytes.
const RECENT: u64 = 64 * 1024;

/// An event that was not taken in now, and why: somebody holds the log, there is no space, the journal
/// cannot be written. It is kept and tried again; what is in the log by then is not written twice.
#[derive(Debug)]
pub(super) struct NotNow(pub(super) String);

/// An event that was taken in.
#[derive(Debug)]
pub(super) struct Taken {
    /// The answer.
    pub(super) reply: Reply,
    /// What is left to do at the log, if it was written.
    pub(super) rest: Option<Rest>,
    /// What is to be written to an agent's state file.
    pub(super) due: Option<Due>,
}

/// What comes after the journal, under the log's lock alone: no other hook of the session waits for the disk,
/// and a process that is killed while it waits has written everything.
#[derive(Debug)]
pub(super) struct Rest {
    ledger: Ledger,
    over: Option<SessionId>,
}

impl Rest {
    /// Puts a turn's end on the disk; only then the `open/` entry goes, so that no power cut leaves a turn
    /// open that nobody would settle.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn finish(self, data: Option<&DataDir>) -> io::Result<()> {
        self.ledger.sync()?;
        if let (Some(id), Some(data)) = (&self.over, data) {
            data.remove_open(id)?;
        }
        Ok(())
    }
}

/// Takes one event in; what was looked up for it is filled in.
///
/// # Errors
/// [`NotNow`]; the journal is then as before.
pub(super) fn take(
    session: &mut Session,
    event: &mut Event,
    stores: &mut Stores,
    config: &Config,
    watch: Stopwatch,
) -> Result<Taken, NotNow> {
    if let Some(denied) = event.key.as_ref().and_then(|k| session.state.seen.get(k)) {
        // A duplicate changes nothing; a denial is repeated, context and notices are not.
        let verdict = match (denied, &event.kind) {
            (None, _) => Verdict::Allow,
            (Some(why), Kind::Stop { .. } | Kind::AgentStop { .. }) => Verdict::Block(why.to_string()),
            (Some(why), _) => Verdict::Deny(why.to_string()),
        };
        return Ok(Taken {
            reply: Reply {
                verdict,
                ..Reply::nothing()
            },
            rest: None,
            // The first may have been killed before it came to this.
            due: Due::of(event, true, &session.state, &session.state, config)
                .map(|due| due.own(session.state.log.as_ref().map(|l| l.session.clone()))),
        });
    }
    if let (None, Some(why)) = (&stores.data, &stores.no_data_now) {
        return Err(NotNow(why.clone()));
    }
    let found = Found::about(session, event, stores, config)?;
    let Written {
        draft,
        log,
        caught,
        rest,
    } = write(session, event, stores, config, &found)?;
    let Draft {
        plan,
        mut entry,
        after,
        ..
    } = draft;
    let reply = if stores.heard {
        let starts = matches!(event.kind, Kind::SessionStart { .. });
        Reply {
            log: log.as_ref().filter(|_| starts).map(|l| l.session.clone()),
            ..reply(event, &plan, &after)
        }
    } else {
        // What nobody hears is not said: notices wait for the next event.
        Reply::nothing()
    };
    entry.marks.splice(0..0, caught.marks);
    (entry.caught, entry.logged) = (caught.bodies, caught.calls);
    let own = log.as_ref().map(|l| l.session.clone());
    entry.log = log.filter(|l| session.state.log.as_ref() != Some(l));
    entry.answered = answered(&reply, &plan, &after);
    entry.us = watch.micros();
    let problems = std::mem::take(&mut session.problems)
        .into_iter()
        .chain(stores.faults.drain(..));
    entry.faults = problems.map(|p| Redacted::truncated(&p, 300)).collect();
    let due_file = Due::of(event, entry.resend, &session.state, &after, config).map(|due| due.own(own));
    let begins = matches!(event.kind, Kind::SessionStart { .. } | Kind::Prompt { .. });
    let due = found.reborn || (begins && session.tail() > TURN_TAIL);
    session
        .commit(&entry, after, due)
        .map_err(|e| NotNow(format!("write the journal: {e}")))?;
    stores.faults.append(&mut session.problems);
    if let (Some(taken), Some(claim)) = (&plan.took_over, found.claim) {
        end_offered(stores, &taken.from, claim, session.state.log.as_ref());
    }
    Ok(Taken {
        reply,
        rest,
        due: due_file,
    })
}

struct Written {
    draft: Draft,
    log: Option<LogEnd>,
    caught: Caught,
    rest: Option<Rest>,
}

/// Plans, and writes what goes into the durable store.
fn write(
    session: &mut Session,
    event: &Event,
    stores: &mut Stores,
    config: &Config,
    found: &Found,
) -> Result<Written, NotNow> {
    let draft = Draft::of(event, &session.state, config, found);
    let known = session.state.log.clone();
    let log = known
        .clone()
        .or_else(|| found.log.clone().map(|session| LogEnd { session, end: 0 }));
    let mut written = Written {
        draft,
        log,
        caught: Caught::default(),
        rest: None,
    };
    let (Some(data), Some(end)) = (&stores.data, written.log.as_mut()) else {
        return Ok(written);
    };
    let silent = written.draft.records.is_empty();
    if silent
        && known.is_none()
        // The model is told this id now, so it must be found again.
        && let Err(e) = data.set_by_host(event.host, session.key.as_str(), &end.session)
    {
        later_or_note(stores, "record the log session", &e)?;
        return Ok(written);
    }
    if silent && !ends(event) {
        return Ok(written);
    }
    match Ledger::open(data, &end.session, By::Hook, !silent, HOOK_WAIT) {
        Ok(Some(mut ledger)) => {
            let tail = ledger.since(end.end).unwrap_or_default();
            let logged;
            (written.caught, logged) = catch_up(&tail, session, event, config, found, &mut written.draft);
            if !logged {
                // Of a state that was begun again from the log, the log alone knows what had come.
                let from = end.end.saturating_sub(RECENT);
                let come = found.reborn.then(|| ledger.since(from).unwrap_or_default());
                forget_known_calls(session, come.as_deref().unwrap_or_default(), &mut written.draft);
            }
            let place = Place {
                data,
                event,
                session,
                config,
                id: &end.session,
            };
            match place.record(&mut ledger, &written.draft, logged) {
                Ok(()) => {
                    end.end = ledger.end();
                    let Draft { records, after, .. } = &written.draft;
                    let over = !records.is_empty() && !after.unfinished();
                    let over = over.then(|| end.session.clone());
                    written.rest = Some(Rest { ledger, over });
                }
                Err(e) => later_or_note(stores, "write the session log", &e)?,
            }
        }
        Ok(None) => {}
        Err(NoLedger::Busy) => return Err(NotNow(NoLedger::Busy.to_string())),
        Err(NoLedger::Io(e)) => later_or_note(stores, "open the session log", &e)?,
    }
    Ok(written)
}

/// Events that end a turn which only the log may know of: its hook was killed before its journal entry.
fn ends(event: &Event) -> bool {
    matches!(
        event.kind,
        Kind::SessionStart { .. } | Kind::SessionEnd { .. } | Kind::Interrupt
    )
}

/// Takes in what the log grew by and drafts anew: from a model, a settlement, or a hook that was killed
/// before its journal entry. Whether that hook's event was this one, which then comes again from its
/// pending file and is in the log already.
fn catch_up(
    tail: &[Record],
    session: &mut Session,
    event: &Event,
    config: &Config,
    found: &Found,
    draft: &mut Draft,
) -> (Caught, bool) {
    let own = |r: &Record| r.by == By::Hook && r.at == event.at;
    let (before, from_own) = tail.split_at(tail.iter().position(own).unwrap_or(tail.len()));
    let mut caught = Caught::default();
    for part in [before, from_own] {
        let news = Caught::of(part);
        let is_there = |body: &Body| part.iter().any(|r| own(r) && r.body == *body);
        if !draft.records.is_empty() && draft.records.iter().all(is_there) {
            caught.marks.extend(news.marks);
            return (caught, true);
        }
        if !news.is_empty() {
            session.state.take_marks(&news.marks);
            session.state.take_bodies(&news.bodies);
            session.state.take_logged(&news.calls);
            *draft = Draft::of(event, &session.state, config, found);
            caught.extend(news);
        }
    }
    (caught, false)
}

/// An event may be sent a second time, by a second registration or because nobody answered the first, whose hook
/// was killed before its journal entry or had another root: it has another time then, and the same tool call.
fn forget_known_calls(session: &Session, come: &[Record], draft: &mut Draft) {
    let seen = |body: &Body| {
        let call = body.logged_call();
        call.is_some_and(|call| session.state.seen.get(&call).is_some())
    };
    let has_come = |body: &Body| {
        come.iter()
            .any(|r| r.by == By::Hook && is_same_call(&r.body, body))
    };
    draft.records.retain(|body| !seen(body) && !has_come(body));
}

/// Whether both tell of the same tool call, wherever it was put.
fn is_same_call(a: &Body, b: &Body) -> bool {
    a.action()
        .is_some_and(|action| action.call.is_some() && Some(action) == b.action())
}

/// Where an event is recorded.
struct Place<'a> {
    data: &'a DataDir,
    event: &'a Event,
    session: &'a Session,
    config: &'a Config,
    id: &'a SessionId,
}

impl Place<'_> {
    /// `open/` entry first, then the log. `logged`: the log has the records already.
    fn record(&self, ledger: &mut Ledger, draft: &Draft, logged: bool) -> io::Result<()> {
        let mut records = draft.records.clone();
        if records.is_empty() {
            return Ok(());
        }
        if ledger.is_new() {
            records.insert(0, opening(self.event, draft, self.id));
        }
        // A log that was forgotten meanwhile was forgotten with its entry.
        let unknown = |l: &LogEnd| l.end > 0 && ledger.is_new();
        if self.session.state.log.as_ref().is_none_or(unknown) {
            self.data
                .set_by_host(self.event.host, self.session.key.as_str(), self.id)?;
        }
        if draft.touches_open() && draft.after.unfinished() {
            self.data
                .set_open(&draft.open_entry(self.event, &self.session.key, self.config, self.id))?;
        }
        if logged {
            ledger.owe(&records);
        } else {
            ledger.append(records, self.event.at)?;
        }
        Ok(())
    }
}

/// The session whose task was taken over: its log says so, and nobody is offered it again.
fn end_offered(stores: &mut Stores, from: &SessionId, mut claim: Ledger, own: Option<&LogEnd>) {
    let Some(data) = &stores.data else { return };
    let text = own.map_or_else(String::new, |l| {
        format!("Its task was taken over by {}", l.session)
    });
    let note = Body::Note {
        text: Redacted::new(&text),
    };
    let none = Body::Task {
        task: None,
        interrupted: None,
    };
    // Written or not: who has been told of it goes on with it.
    drop(claim.append(vec![note, none], crate::clock::now()));
    if let Err(e) = data.remove_open(from) {
        stores.fault(&format!("take the entry of {from} away: {e}"));
    }
}

/// What may pass is tried again with the whole event. Any other fault of the durable store: the live state
/// goes on without it.
pub(super) fn later_or_note(stores: &mut Stores, what: &str, e: &io::Error) -> Result<(), NotNow> {
    let what = format!("{what}: {e}");
    if files::may_pass(e) {
        return Err(NotNow(what));
    }
    stores.fault(&what);
    Ok(())
}
