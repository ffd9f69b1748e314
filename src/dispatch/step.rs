//! One event of one session, under its lock: written to the log, then to the journal, then answered.

use std::io;

use super::draft::{Draft, answered, opening, reply};
use super::found::Found;
use super::{HOOK_WAIT, stores::Stores};
use crate::clock::Stopwatch;
use crate::config::Config;
use crate::event::{Event, Kind};
use crate::handlers::Offer;
use crate::live::session::Session;
use crate::live::state::LogEnd;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::ledger::{Caught, Ledger, NoLedger};
use crate::log::record::{Body, By};
use crate::redact::Redacted;
use crate::reply::{Reply, Verdict};
use crate::task::limit;

/// Why an event was not taken in.
#[derive(Debug)]
pub(super) enum StepFault {
    /// It can be tried again: somebody holds the log, or there is no space now.
    Later(String),
    /// Its journal cannot be written.
    Lost(String),
}

/// An event that was taken in.
#[derive(Debug)]
pub(super) struct Taken {
    /// The answer.
    pub(super) reply: Reply,
    /// The log, if it was written: its last duty is done after all locks are given up.
    pub(super) ledger: Option<Ledger>,
}

/// Takes one event in.
///
/// # Errors
/// [`StepFault`].
pub(super) fn take(
    session: &mut Session,
    mut event: Event,
    stores: &mut Stores,
    config: &Config,
    watch: Stopwatch,
) -> Result<Taken, StepFault> {
    if let Some(denied) = event.key.as_ref().and_then(|k| session.state.seen.get(k)) {
        // A duplicate changes nothing; a denial is repeated, context and notices are not.
        let verdict = denied.map_or(Verdict::Allow, |why| Verdict::Deny(why.to_string()));
        return Ok(Taken {
            reply: Reply {
                verdict,
                ..Reply::nothing()
            },
            ledger: None,
        });
    }
    let found = Found::about(session, &mut event, stores, config);
    let Written {
        draft,
        log,
        caught,
        ledger,
    } = write(session, &event, stores, config, &found)?;
    let Draft {
        plan,
        mut entry,
        after,
        ..
    } = draft;
    let reply = if stores.heard {
        reply(&event, &plan, &after)
    } else {
        // What nobody hears is not said: notices wait for the next event.
        Reply::nothing()
    };
    let told = plan.context.as_deref() == Some(limit::WAIT) && reply.context.is_some();
    entry.marks.splice(0..0, caught.marks);
    entry.caught = caught.bodies;
    entry.log = log.filter(|l| session.state.log.as_ref() != Some(l));
    entry.answered = answered(&reply, &after, told);
    entry.us = watch.micros();
    let problems = std::mem::take(&mut session.problems)
        .into_iter()
        .chain(stores.faults.drain(..));
    entry.faults = problems.map(|p| Redacted::truncated(&p, 300)).collect();
    let due = found.reborn || matches!(event.kind, Kind::SessionStart { .. } | Kind::Prompt { .. });
    session
        .append(entry, due)
        .map_err(|e| StepFault::Lost(format!("write the journal: {e}")))?;
    if let Some(offer) = found.offer.filter(|o| o.ends && plan.took_over.is_some()) {
        end_offered(stores, &offer, session.state.log.as_ref());
    }
    Ok(Taken { reply, ledger })
}

struct Written {
    draft: Draft,
    log: Option<LogEnd>,
    caught: Caught,
    ledger: Option<Ledger>,
}

/// Plans, and writes what goes into the durable store.
fn write(
    session: &mut Session,
    event: &Event,
    stores: &mut Stores,
    config: &Config,
    found: &Found,
) -> Result<Written, StepFault> {
    let mut draft = Draft::of(event, &session.state, config, found);
    let mut caught = Caught::default();
    let mut written = None;
    let known = session.state.log.clone();
    let mut log = known
        .clone()
        .or_else(|| found.log.clone().map(|session| LogEnd { session, end: 0 }));
    let (Some(data), Some(end)) = (&stores.data, log.as_mut()) else {
        return Ok(Written {
            draft,
            log,
            caught,
            ledger: None,
        });
    };
    if draft.records.is_empty() {
        // The model is told this id now, so it must be found again.
        if known.is_none()
            && let Err(e) = data.set_by_host(event.host, session.key.as_str(), &end.session)
        {
            stores.fault(&format!("record the log session: {e}"));
        }
        return Ok(Written {
            draft,
            log,
            caught,
            ledger: None,
        });
    }
    match Ledger::open(data, &end.session, By::Hook, true, HOOK_WAIT) {
        Ok(Some(mut ledger)) => {
            caught = ledger.catch_up(end.end).unwrap_or_default();
            if !caught.is_empty() {
                session.state.take_marks(&caught.marks);
                session.state.take_bodies(&caught.bodies);
                draft = Draft::of(event, &session.state, config, found);
            }
            match record(&mut ledger, data, event, session, config, &draft, &end.session) {
                Ok(()) => {
                    end.end = ledger.end();
                    written = Some(ledger);
                }
                Err(e) => later_or_note(stores, "write the session log", &e)?,
            }
        }
        Ok(None) => {}
        Err(NoLedger::Busy) => return Err(StepFault::Later(NoLedger::Busy.to_string())),
        Err(NoLedger::Io(e)) => later_or_note(stores, "open the session log", &e)?,
    }
    Ok(Written {
        draft,
        log,
        caught,
        ledger: written,
    })
}

/// `open/` entry first, then the log; an entry that is no longer true goes last.
fn record(
    ledger: &mut Ledger,
    data: &DataDir,
    event: &Event,
    session: &Session,
    config: &Config,
    draft: &Draft,
    id: &SessionId,
) -> io::Result<()> {
    let mut records = draft.records.clone();
    if ledger.is_new() {
        records.insert(0, opening(event, draft, id));
    }
    if session.state.log.is_none() {
        data.set_by_host(event.host, session.key.as_str(), id)?;
    }
    if draft.touches_open() && draft.after.unfinished() {
        data.set_open(&draft.open_entry(event, &session.key, config, id))?;
    }
    ledger.append(records, event.at)?;
    if draft.touches_open() && !draft.after.unfinished() && session.state.unfinished() {
        data.remove_open(id)?;
    }
    Ok(())
}

/// The session whose task was taken over: its log says so, and nobody is offered it again.
fn end_offered(stores: &mut Stores, offer: &Offer, own: Option<&LogEnd>) {
    let Some(data) = &stores.data else { return };
    let from = &offer.taken.from;
    let text = own.map_or_else(String::new, |l| {
        format!("Its task was taken over by {}", l.session)
    });
    let noted = Ledger::open(data, from, By::Hook, false, HOOK_WAIT).map(|ledger| {
        if let Some(mut ledger) = ledger {
            let note = Body::Note {
                text: Redacted::new(&text),
            };
            drop(ledger.append(
                vec![
                    note,
                    Body::Task {
                        task: None,
                        interrupted: None,
                    },
                ],
                crate::clock::now(),
            ));
        }
        data.remove_open(from)
    });
    if let Err(e) = noted {
        let what = e.to_string();
        stores.fault(&what);
    }
}

/// No space now: the event is kept and tried again. Any other fault of the durable store: the live state
/// goes on without it.
fn later_or_note(stores: &mut Stores, what: &str, e: &io::Error) -> Result<(), StepFault> {
    let what = format!("{what}: {e}");
    match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Err(StepFault::Later(what)),
        _ => {
            stores.fault(&what);
            Ok(())
        }
    }
}
