//! Proof that the hooks of a host fire: [`Probe::prove`] runs the user's own host in a scratch HOME with Bookend
//! installed there, and compares what the hooks left with what the host was made to do.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::claude_code::CLAUDE_CODE;
use super::codex::CODEX;
use super::driver::Driver;
use super::error::ProbeError;
use super::record::{Fired, Record};
use super::seen::{Seen, TurnEnd, median};
use super::sessions::{CUT, Played, Stage, WHOLE};
use crate::hook::Hook;
use crate::host::Host;
use crate::hosts::registration::rows;

/// A probe to make.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'p> {
    /// Of which host.
    pub host: Host,
    /// Its program.
    pub program: &'p Path,
    /// The folder of the five hooks.
    pub executables: &'p Path,
    /// A folder for HOME, project, stores and everything else; it must be ours alone.
    pub scratch: &'p Path,
    /// PATH for the host: one that is a script needs its interpreter.
    pub path: &'p OsStr,
    /// The host is ended after this time.
    pub timeout: Duration,
    /// Set from outside when the probe is to end now.
    pub interrupted: &'p AtomicBool,
}

/// What was seen.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The host.
    pub host: Host,
    /// Its version, as it says itself.
    pub version: Option<String>,
    /// The registered events, in the order of a session.
    pub events: Vec<EventProof>,
    /// The session-start context was in the model's first request.
    pub context_reached: bool,
    /// How the turn of the whole session ended.
    pub turn: Option<TurnEnd>,
    /// How the turn of the session that was cut off ended.
    pub cut_turn: Option<TurnEnd>,
    /// Faults of ours, as fragments that fit after "failed to".
    pub faults: Vec<String>,
    /// What the host did that it should not have done, as fragments that fit after its name.
    pub complaints: Vec<String>,
    /// How long it all took.
    pub took: Duration,
}

/// What was seen of one registered event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventProof {
    /// The host's name of it.
    pub event: &'static str,
    /// The executable that is registered for it.
    pub hook: Hook,
    /// The host was made to send it.
    pub provoked: bool,
    /// How often its hook was seen to run.
    pub fired: u64,
    /// The median of the times that its hook took, in microseconds.
    pub median_micros: Option<u32>,
}

/// The hosts that can be probed.
pub const PROBED: [Host; 2] = [Host::ClaudeCode, Host::Codex];

/// How a host is driven.
///
/// # Errors
/// [`ProbeError::NotYet`].
pub fn driver(host: Host) -> Result<Driver, ProbeError> {
    match host {
        Host::ClaudeCode => Ok(CLAUDE_CODE),
        Host::Codex => Ok(CODEX),
        Host::GeminiCli => Err(ProbeError::NotYet(host.id())),
    }
}

impl Probe<'_> {
    /// Runs the host and looks at what its hooks left; `say` is told what is going on.
    ///
    /// # Errors
    /// [`ProbeError`]: what kept it from running. A hook that does not fire is no error but in the proof.
    pub fn prove(&self, say: &mut dyn FnMut(&str)) -> Result<Proof, ProbeError> {
        let began = Instant::now();
        let stage = Stage {
            host: self.host,
            driver: driver(self.host)?,
            program: self.program,
            executables: self.executables,
            scratch: self.scratch,
            path: self.path,
            deadline: began + self.timeout,
            interrupted: self.interrupted,
        };
        self.look_for_hooks()?;
        say("asking for its version");
        let version = stage.version()?;
        let played = stage.play(say)?;
        let seen = Seen::read(&stage.hook_root(), &stage.data_dir())?;
        Ok(Proof {
            host: self.host,
            version,
            events: events(self.host, &played, &seen),
            context_reached: played.context_reached,
            turn: seen.end_of(WHOLE),
            cut_turn: seen.end_of(CUT),
            faults: seen.faults,
            complaints: played.complaints,
            took: began.elapsed(),
        })
    }

    fn look_for_hooks(&self) -> Result<(), ProbeError> {
        let there = |hook: &Hook| self.executables.join(hook.name()).is_file();
        match Hook::ALL.iter().find(|hook| !there(hook)) {
            None => Ok(()),
            Some(hook) => Err(ProbeError::NoHook {
                hook: hook.name(),
                folder: self.executables.to_owned(),
            }),
        }
    }
}

fn events(host: Host, played: &Played, seen: &Seen) -> Vec<EventProof> {
    let proof = |row: &crate::hosts::registration::Row| {
        let micros = seen.events.get(row.event).map(Vec::as_slice).unwrap_or_default();
        EventProof {
            event: row.event,
            hook: row.hook,
            provoked: played.provoked(row.event),
            fired: micros.len() as u64,
            median_micros: median(micros.iter().copied().flatten().collect()),
        }
    };
    rows(host).iter().map(proof).collect()
}

impl Proof {
    /// Everything that should have fired did, the context reached the model, and the whole turn is completed.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        let completed = |turn: &TurnEnd| turn.status == "completed";
        self.missing().next().is_none() && self.context_reached && self.turn.as_ref().is_some_and(completed)
    }

    /// The events that should have fired and did not.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        let missing = |seen: &&EventProof| seen.provoked && seen.fired == 0;
        self.events.iter().filter(missing).map(|seen| seen.event)
    }

    /// What is to be remembered of it.
    #[must_use]
    pub fn record(&self, at: chrono::DateTime<chrono::Utc>) -> Record {
        let fired = self.events.iter().filter(|seen| seen.fired > 0);
        let fired = fired.map(|seen| {
            let fired = Fired {
                count: seen.fired,
                median_micros: seen.median_micros,
            };
            (seen.event.to_owned(), fired)
        });
        Record {
            at,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host_version: self.version.clone(),
            events: fired.collect(),
            context_reached: self.context_reached,
        }
    }
}
