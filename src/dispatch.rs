//! One event through the stores: lock the session, fold what is pending, plan, write, answer.
//!
//! The order is the promise: `open/` entry, log, journal, then the answer. A kill between any two of them
//! leaves something that the next hook understands: an entry without a turn, a record that the journal
//! does not know of yet, an answer that was not given. Nothing that was acknowledged is missing. The state
//! files of other programs' agents come last (`keep`): they mirror what is written already.

pub mod active;
mod draft;
#[cfg(feature = "cli")]
pub mod forget;
mod found;
mod keep;
pub mod kept;
pub mod offer;
pub mod settle;
mod step;
mod stores;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::config::Config;
use crate::event::{Event, Kind};
use crate::files;
use crate::live::key::SessionKey;
use crate::live::pending;
use crate::live::prune;
use crate::live::session::{NoSession, Session};
use crate::reply::Reply;
use step::{NotNow, Rest};

pub use found::{project_of, restored};
pub use stores::Stores;

/// How long a hook waits for the lock of its session, and again for that of its log.
pub const HOOK_WAIT: Duration = Duration::from_millis(200);
/// After this many microseconds a hook folds no more pending events: the next one goes on.
const PENDING_BUDGET: u32 = 300_000;
/// A hook that has used this much of its time prunes nothing.
const PRUNE_BUDGET: u32 = 400_000;
/// How long a hook prunes: the bar is 25 ms, and what is begun when this is over is ended.
const PRUNE_TIME: Duration = Duration::from_millis(15);

/// Handles one event and gives the answer. Never fails: a fault is noted and the host goes on.
pub fn handle(
    mut event: Event,
    key: &SessionKey,
    stores: &mut Stores,
    config: &Config,
    watch: Stopwatch,
) -> Reply {
    let locked = match &stores.root {
        Some(root) => Session::lock(root, key, HOOK_WAIT),
        None => return Reply::nothing(),
    };
    let mut session = match locked {
        Ok(session) => session,
        Err(NoSession::Busy) => {
            leave(stores, key, event);
            return Reply::nothing();
        }
        Err(NoSession::Io(e)) => {
            stores.fault(&format!("open the session's live state: {e}"));
            if files::may_pass(&e) {
                leave(stores, key, event);
            }
            return Reply::nothing();
        }
    };
    if !fold_pending(&mut session, stores, config, watch) {
        // Order is kept: what came earlier is folded first.
        leave(stores, key, event);
        return Reply::nothing();
    }
    match step::take(&mut session, &mut event, stores, config, watch) {
        Ok(taken) => {
            let held = taken.due.and_then(|due| due.hold(stores, config, watch));
            drop(session);
            finish(stores, taken.rest);
            if let Some(held) = held {
                held.write(stores);
            }
            taken.reply
        }
        Err(NotNow(why)) => {
            stores.fault(&why);
            drop(session);
            leave(stores, key, event);
            Reply::nothing()
        }
    }
}

fn finish(stores: &mut Stores, rest: Option<Rest>) {
    if let Some(Err(e)) = rest.map(|rest| rest.finish(stores.data.as_ref())) {
        stores.fault(&format!("put the turn's end on the disk: {e}"));
    }
}

fn leave(stores: &mut Stores, key: &SessionKey, event: Event) {
    let left = stores.root.as_ref().map(|root| pending::leave(root, key, event));
    if let Some(Err(e)) = left {
        stores.fault(&format!("keep an event for the next hook: {e}"));
    }
}

/// Folds the events whose hooks could not get the lock; whether all are folded.
pub fn fold_pending(session: &mut Session, stores: &mut Stores, config: &Config, watch: Stopwatch) -> bool {
    let mut stuck = BTreeSet::new();
    loop {
        let mut pending = match session.pending() {
            Ok(pending) => pending,
            Err(e) => {
                stores.fault(&format!("list pending events: {e}"));
                return false;
            }
        };
        pending.retain(|(file, _)| !stuck.contains(file));
        if pending.is_empty() {
            return true;
        }
        for (file, mut event) in pending {
            if watch.micros() > PENDING_BUDGET {
                return false;
            }
            stores.heard = false;
            let taken = step::take(session, &mut event, stores, config, watch);
            stores.heard = true;
            match taken {
                Ok(taken) => {
                    finish(stores, taken.rest);
                    if let Some(held) = taken.due.and_then(|due| due.hold(stores, config, watch)) {
                        held.write(stores);
                    }
                }
                Err(NotNow(why)) => {
                    stores.fault(&why);
                    return false;
                }
            }
            if let Err(e) = session.remove_pending(&file) {
                // It is known by its key: folded again, it changes nothing.
                stores.fault(&format!("remove {file}: {e}"));
                stuck.insert(file);
            }
        }
    }
}

/// Whether a hook tidies up after such an event: at a session's start and at delegations.
#[must_use]
pub fn prunes(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::SessionStart { .. } | Kind::Delegation { .. } | Kind::AgentStart
    )
}

/// What is done after the answer was given: prunes what is stale. (The settlement of sessions whose host is
/// gone comes before a session start's answer, which is made of it.)
pub fn tidy(key: &SessionKey, stores: &mut Stores, config: &Config, watch: Stopwatch) {
    if watch.micros() > PRUNE_BUDGET {
        return;
    }
    let options = prune::Options {
        own: Some(key),
        limit: Some(prune::ENTRIES_PER_RUN),
        budget: Some(PRUNE_TIME),
        older_than: prune::STALE,
        dry_run: false,
        now: crate::clock::now(),
    };
    match prune(stores, config, options, watch) {
        Some(Ok(report)) => {
            for (name, why) in report.left {
                stores.fault(&format!("remove the stale state of {name}: {why}"));
            }
        }
        Some(Err(e)) => stores.fault(&format!("prune: {e}")),
        None => {}
    }
}

/// Prunes the root in use; what a stale session still holds goes into its log first.
pub fn prune(
    stores: &mut Stores,
    config: &Config,
    options: prune::Options<'_>,
    watch: Stopwatch,
) -> Option<std::io::Result<prune::Report>> {
    let root = stores.root.take()?;
    let report = {
        // A hook's time is short; a command has it for each session.
        let hurries = options.limit.is_some();
        let mut before_it_goes = |session: &mut Session| -> Result<bool, String> {
            let watch = if hurries { watch } else { Stopwatch::start() };
            if let (None, Some(why)) = (&stores.data, &stores.no_data_now) {
                // What it was doing could not be settled.
                return Err(why.clone());
            }
            if !fold_pending(session, stores, config, watch) {
                return Err("events are pending that cannot be written now".to_owned());
            }
            let (Some(data), Some(log)) = (&stores.data, &session.state.log) else {
                return Ok(false);
            };
            match data.get_open(&log.session).map_err(|e| e.to_string())? {
                Some(entry) if !entry.settled => {
                    settle::presume(data, &entry, "session_abandoned", options.now).map_err(|e| e.to_string())
                }
                _ => Ok(false),
            }
        };
        prune::run(&root, options, &mut before_it_goes)
    };
    stores.root = Some(root);
    Some(report)
}
