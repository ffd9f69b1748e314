//! The sessions of a probe, one after the other in one scratch folder, and what they provoked.
//!
//! 1. *whole*: tools, a command that fails, a compaction, a subagent, an answer;
//! 2. *cut*: ended in mid-turn, by a crash (Claude Code, after a subagent's rate limit) or by Ctrl-C (Codex);
//! 3. *next*: a new session, which is to be told of the second one's task.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::driver::Driver;
use super::error::ProbeError;
use super::outcome::Outcome;
use super::request::Kind;
use super::runner::Session;
use super::running::Running;
use super::server::Server;
use crate::host::Host;

/// The prompts: the turns are found again by them.
pub(super) const WHOLE: &str = "Show the prices on the orders page";
pub(super) const CUT: &str = "Add a price column to the orders page";
const NEXT: &str = "Now the invoices";

const WHOLE_SCRIPT: &str = "bash! write bash! bashfail agent wait text:all_done";
/// The step at which a session is cut off.
const LONG: &str = "hang:600";
/// A host that was interrupted gets this long to go.
const GOODBYE: Duration = Duration::from_secs(10);

/// Where and how the sessions run.
pub(super) struct Stage<'p> {
    pub host: Host,
    pub driver: Driver,
    pub program: &'p Path,
    pub executables: &'p Path,
    pub scratch: &'p Path,
    pub path: &'p OsStr,
    pub deadline: Instant,
    pub interrupted: &'p AtomicBool,
}

/// What happened on it.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// What the host was made to do, beside what every session does.
    pub steps: Vec<String>,
    /// A subagent was at work.
    pub delegated: bool,
    /// The host asked for a summary.
    pub compacted: bool,
    /// The host was interrupted in mid-turn.
    pub interrupted: bool,
    /// The host was killed in mid-turn.
    pub killed: bool,
    /// The first request of the last session held the resume text.
    pub context_reached: bool,
    /// What hosts said that did not end as they should.
    pub complaints: Vec<String>,
}

impl Stage<'_> {
    /// The host's own word on its version.
    pub(super) fn version(&self) -> Result<Option<String>, ProbeError> {
        let bound = self.left().min(GOODBYE);
        let asked = self.base().command(["--version"]).timeout(bound).spawn()?;
        let outcome = self.watch(asked, bound, |_| false)?.wait()?;
        Ok(version_in(&outcome.stdout))
    }

    /// Installs Bookend and runs the three sessions; `say` is told which.
    pub(super) fn play(&self, say: &mut dyn FnMut(&str)) -> Result<Played, ProbeError> {
        say("installing the hooks in a scratch HOME");
        self.base().prepare()?;
        self.register()?;
        let session = self.base();
        let mut played = Played::default();
        say("a whole session");
        let whole = session.clone().prompt(WHOLE).script(WHOLE_SCRIPT);
        let outcome = self.run(self.compacting(whole))?;
        played.take(&outcome, Some(&[0]));
        if outcome.timed_out {
            // The others would end no better.
            return Ok(played);
        }
        say("a session that is cut off");
        let outcome = self.cut(session.clone().prompt(CUT), &mut played)?;
        let killed = played.killed;
        played.take(&outcome, if killed { None } else { Some(&[0, 1, 130]) });
        say("the session after it");
        let next = session.prompt(NEXT).script("text:all_done");
        let outcome = self.run(next.env("BOOKEND_RESUME", "always"))?;
        played.take(&outcome, Some(&[0]));
        let mut main = outcome
            .requests
            .iter()
            .filter(|request| request.kind == Kind::Main);
        let brief = format!("Resuming: {CUT}");
        played.context_reached = main.next().is_some_and(|first| first.contains(&brief));
        Ok(played)
    }

    /// What every session has.
    pub(super) fn base(&self) -> Session {
        Session::new(self.driver, self.program, self.scratch)
            .path(self.path)
            .env("MAESTRO_HOOKS_DIR", self.hook_root())
            .env("BOOKEND_DATA_DIR", self.data_dir())
    }

    /// Where the sessions keep their live state.
    pub(super) fn hook_root(&self) -> PathBuf {
        self.scratch.join("hook-root")
    }

    /// Where they keep their log.
    pub(super) fn data_dir(&self) -> PathBuf {
        self.scratch.join("data")
    }

    /// With a limit that the steps marked `!` pass.
    fn compacting(&self, session: Session) -> Session {
        match self.host {
            Host::ClaudeCode => session.arg("--autocompact").arg("100k"),
            _ => session.arg("-c").arg("model_auto_compact_token_limit=30000"),
        }
    }

    fn run(&self, session: Session) -> Result<Outcome, ProbeError> {
        let running = session.timeout(self.left()).spawn()?;
        self.watch(running, self.left(), |_| false)?.wait()
    }

    /// Runs until the model is long at work, then does what a crash or a Ctrl-C does.
    fn cut(&self, session: Session, played: &mut Played) -> Result<Outcome, ProbeError> {
        let crashes = self.host == Host::ClaudeCode;
        // A limit that ends the whole session would be no proof: the host does not wait for that hook then.
        let session = if crashes {
            session.script(&format!("agent bash {LONG}")).subagent("http429")
        } else {
            session.script(&format!("bash {LONG}"))
        };
        let at_work = |model: &Server| model.has_reached(LONG);
        let running = self.watch(session.timeout(self.left()).spawn()?, self.left(), at_work)?;
        if running.has_ended() || !at_work(running.server()) {
            return running.wait();
        }
        if crashes {
            played.killed = true;
            return running.kill();
        }
        let pid = i32::try_from(running.pid()).ok().and_then(Pid::from_raw);
        // A launcher and the host behind it both hear a Ctrl-C.
        let sent = pid.map(|pid| kill_process_group(pid, Signal::INT));
        played.interrupted = matches!(sent, Some(Ok(())));
        let running = self.watch(running, GOODBYE, |_| false)?;
        if running.has_ended() {
            running.wait()
        } else {
            running.kill()
        }
    }

    /// Waits for the host's end or for the condition. When we are told to stop, the host is ended first.
    fn watch(
        &self,
        running: Running,
        bound: Duration,
        until: impl Fn(&Server) -> bool,
    ) -> Result<Running, ProbeError> {
        let stop = || self.interrupted.load(Ordering::Relaxed);
        running.wait_until(bound, |model| stop() || until(model));
        if stop() {
            drop(running);
            return Err(ProbeError::Interrupted);
        }
        Ok(running)
    }

    pub(super) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

impl Played {
    /// Takes in what happened. `expected` are the exit codes of a good end; `None`: it was killed by us.
    fn take(&mut self, outcome: &Outcome, expected: Option<&[i32]>) {
        let steps = outcome.requests.iter().map(|request| &request.step);
        self.steps
            .extend(steps.map(|step| step.trim_end_matches('!').to_owned()));
        let any = |kind: Kind| outcome.requests.iter().any(|request| request.kind == kind);
        self.delegated |= any(Kind::Sub);
        self.compacted |= any(Kind::Compaction);
        let Some(expected) = expected else { return };
        let how = match outcome.rc {
            _ if outcome.timed_out => "had to be ended, its time was up".to_owned(),
            Some(code) if expected.contains(&code) && outcome.model_request_count() > 0 => return,
            Some(code) if outcome.model_request_count() == 0 => {
                format!("ended with exit code {code} and never asked the model")
            }
            Some(code) => format!("ended with exit code {code}"),
            // A launcher goes as its host did.
            None if self.interrupted && outcome.signal == Some(Signal::INT.as_raw()) => return,
            None => "was ended by a signal".to_owned(),
        };
        let words = outcome.last_words();
        let said = if words.is_empty() {
            String::new()
        } else {
            format!(": {words}")
        };
        let complaint = format!("{how}{said}");
        if !self.complaints.contains(&complaint) {
            self.complaints.push(complaint);
        }
    }

    /// Whether these sessions made the host send that event.
    pub(super) fn provoked(&self, event: &str) -> bool {
        let did = |step: &str| self.steps.iter().any(|done| done == step);
        match event {
            "PreToolUse" | "SubagentStart" | "SubagentStop" => self.delegated,
            "PostToolUseFailure" => did("bashfail"),
            "StopFailure" => did("http429"),
            "PreCompact" => self.compacted,
            "Interrupt" => self.interrupted,
            // A start, a prompt, a tool, an answer, an end: no session is without them.
            _ => true,
        }
    }
}

/// `2.1.332 (Claude Code)`, `codex-cli 0.171.0`: the first word that begins with a digit.
fn version_in(text: &str) -> Option<String> {
    let number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.len() <= 40;
    text.split_whitespace().find(number).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_word_that_begins_with_a_digit() {
        for (text, version) in [
            ("2.1.332 (Claude Code)\n", Some("2.1.332")),
            ("codex-cli 0.171.0\n", Some("0.171.0")),
            ("no idea", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version);
        }
    }

    #[test]
    fn an_event_is_only_missed_where_the_host_was_made_to_send_it() {
        let mut played = Played::default();
        let all = crate::hosts::registration::rows(Host::ClaudeCode);
        let provoked = |played: &Played| {
            let events = all.iter().map(|row| row.event);
            events.filter(|event| played.provoked(event)).count()
        };
        assert_eq!(provoked(&played), 5, "start, prompt, tool, stop, end");
        played.steps = vec!["bashfail".into(), "http429".into()];
        (played.delegated, played.compacted) = (true, true);
        assert_eq!(provoked(&played), all.len());
    }
}
