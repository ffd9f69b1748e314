//! `bookend demo`: a recorded session, sent through the real executables in a scratch directory: what the
//! hooks answered, what was kept, and what a session that starts after a crash is told. `script` is the
//! recording, `stage` where it plays, `child` how its processes are run.

mod child;
mod script;
mod stage;

use std::path::Path;

use clap::CommandFactory;
use serde_json::{Value, json};

use super::args::{Cli, Demo};
use super::live::{self, Live};
use super::machine::Machine;
use super::out::Out;
use super::session_json::SessionJson;
use super::span::{Line, Style};
use super::{Failed, Run, log_show, show, text};
use crate::log::view::SessionView;
use crate::redact::Redacted;
use script::{Sent, Step};
use stage::Stage;

/// One event, sent.
struct Done {
    sent: Sent,
    about: Redacted,
    micros: u32,
    answered: Option<Value>,
}

/// What the killed host's session left.
struct Left {
    /// How many events came before.
    after: usize,
    /// What happened, in a sentence.
    killed: String,
    machine: Machine,
    live: Live,
    log: SessionView,
}

/// The whole replay.
struct Tour {
    steps: Vec<Done>,
    left: Left,
}

impl Run for Demo {
    fn run(&self, _: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let stage = Stage::new()?;
        let root = self.keep.then(|| stage.root().to_owned());
        let told = replay(&stage, out).and_then(|tour| {
            if self.json {
                out.json(&tour.document(root.as_deref()))?;
            } else {
                tour.print(&stage, out);
            }
            Ok(tour.left.live.key)
        });
        // Also after an error.
        let ended = stage.end(self.keep);
        if let Some(root) = root.as_deref().filter(|_| told.is_err()) {
            out.warn(&format!("what was done so far is kept in {}", root.display()));
        }
        let key = told?;
        ended?;
        if !self.json {
            root.iter().for_each(|root| kept(root, key.as_str(), out));
            next(out);
        }
        Ok(())
    }
}

/// Plays the recording.
fn replay(stage: &Stage, out: &mut Out) -> Result<Tour, Failed> {
    let project = stage.project().to_string_lossy().into_owned();
    let script = script::read(&project, &stage.home().to_string_lossy())?;
    let (mut steps, mut left) = (Vec::new(), None);
    let mut hosts = vec![stage.host()?];
    for step in script {
        match step {
            Step::Sent(sent) => {
                let Some(host) = hosts.last() else { break };
                let ran = stage.send(sent.hook, &sent.payload, host)?;
                steps.push(Done {
                    about: sent.about(&project),
                    sent,
                    micros: ran.micros,
                    answered: answer(&ran.stdout)?,
                });
            }
            Step::Killed { killed } => {
                if let Some(host) = hosts.last_mut() {
                    host.kill()
                        .map_err(|e| Failed::to(format!("kill the process that stands for the host: {e}")))?;
                }
                left = Some(look(stage, steps.len(), killed, out)?);
                hosts.push(stage.host()?);
            }
        }
    }
    left.map(|left| Tour { steps, left })
        .ok_or_else(|| Failed::to("replay the recorded session: nobody is killed in it; please report this"))
}

fn answer(stdout: &[u8]) -> Result<Option<Value>, Failed> {
    if stdout.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(stdout).map(Some).map_err(|e| {
        Failed::to(format!(
            "read a hook's answer: {e}; ./install.sh places the hooks anew"
        ))
    })
}

/// What `bookend show` and `bookend log show` would say now.
fn look(stage: &Stage, after: usize, killed: String, out: &mut Out) -> Result<Left, Failed> {
    let mut machine = Machine::of(stage.config());
    machine.settle(out);
    let gone = || Failed::to("find the session: the hooks kept nothing of it; ./install.sh places them anew");
    let live = live::all(&machine, out).into_iter().next().ok_or_else(gone)?;
    let id = &live.state.log.as_ref().ok_or_else(gone)?.session;
    let log = SessionView::read(machine.data()?, id)
        .map_err(|e| Failed::to(format!("read the session log: {e}")))?
        .ok_or_else(gone)?;
    Ok(Left {
        after,
        killed,
        machine,
        live,
        log,
    })
}

impl Done {
    /// What the model was told.
    fn context(&self) -> Option<&str> {
        let answered = self.answered.as_ref()?;
        answered
            .pointer("/hookSpecificOutput/additionalContext")?
            .as_str()
    }

    fn document(&self) -> Value {
        json!({
            "what": self.sent.what,
            "hook": self.sent.hook,
            "event": self.sent.event(),
            "about": self.about,
            "micros": self.micros,
            "answered": self.answered,
        })
    }

    fn print(&self, n: usize, out: &mut Out) {
        out.line(Line::from(format!("{n:>3}  ")).then(&self.sent.what));
        let host = format!("     host   {}  {}", self.sent.event(), self.about);
        narrow(Line::of(Style::Faint, &host), out);
        let answered = match &self.answered {
            None => "no answer",
            Some(_) if self.context().is_some() => "tells the model:",
            Some(_) => "answers:",
        };
        let line = Line::of(Style::Faint, "     hook   ").and(Style::Strong, self.sent.hook.name());
        let took = format!(", {}, ", text::micros(self.micros));
        narrow(line.and(Style::Faint, &took).and(Style::Faint, answered), out);
    }
}

/// A line that is cut where the terminal ends.
fn narrow(line: Line, out: &mut Out) {
    let columns = out.columns().unwrap_or(usize::MAX);
    out.line(line.cut(columns));
}

impl Tour {
    fn brief(&self) -> Option<&str> {
        self.steps.last().and_then(Done::context)
    }

    fn document(&self, kept: Option<&Path>) -> Value {
        json!({
            "steps": self.steps.iter().map(Done::document).collect::<Vec<_>>(),
            "killedAfter": self.left.after,
            "show": SessionJson::from(&self.left.live),
            "log": self.left.log,
            "brief": self.brief(),
            "kept": kept,
        })
    }

    fn print(&self, stage: &Stage, out: &mut Out) {
        let bin = text::home(&stage.bin().to_string_lossy());
        out.line(Line::of(
            Style::Strong,
            "A recorded session of Claude Code, sent through the real hooks",
        ));
        out.line(format!("The executables are those in {bin}."));
        out.line("They run in a scratch directory: nothing of yours is touched.");
        out.line("No answer means that the host goes on as if there were no hook.");
        out.gap();
        for (i, step) in self.steps.iter().enumerate() {
            if i == self.left.after {
                self.killed(out);
            }
            step.print(i + 1, out);
            match (step.context(), &step.answered) {
                (Some(context), _) => out.block(12, context),
                (None, Some(answered)) => out.block(12, &answered.to_string()),
                (None, None) => {}
            }
        }
        if self.left.live.alive {
            out.gap();
            out.line(
                "No resume brief yet: this system does not tell whether a process runs, so a session counts",
            );
            out.line("as alive for ten minutes after its last event.");
        }
    }

    /// The end of the host, and what is kept of its session.
    fn killed(&self, out: &mut Out) {
        let Left {
            machine,
            live,
            log,
            killed,
            ..
        } = &self.left;
        out.gap();
        out.line(Line::of(Style::Bad, killed));
        out.heading("$ bookend show");
        show::print(live, machine, out);
        out.heading("$ bookend log show");
        log_show::print(log, machine, out);
        out.heading("The next session");
    }
}

/// How to look into what was kept of the session that the host left.
fn kept(root: &Path, key: &str, out: &mut Out) {
    let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"));
    let (hooks, data) = (quoted(&stage::hooks(root)), quoted(&stage::data(root)));
    let stores = format!("MAESTRO_HOOKS_DIR={hooks} BOOKEND_DATA_DIR={data}");
    let key = key.get(..8).unwrap_or(key);
    out.heading("Kept; look into it, and remove it when you have seen enough");
    for verb in ["sessions", "show", "events", "log show"] {
        let which = if verb == "sessions" { "" } else { key };
        out.line(format!("  {stores} bookend {verb} {which}"));
    }
    out.line(format!("  rm -r {}", quoted(root)));
}

/// What to do next. No verb is named that this command does not have.
fn next(out: &mut Out) {
    let has = |verb| Cli::command().find_subcommand(verb).is_some();
    out.heading("Next");
    let install = match has("install") {
        true => {
            "./install.sh in a copy of the sources, or `bookend install` from here, places the hooks for your host."
        }
        false => {
            "./install.sh in a copy of the sources places the hooks and says how to start Claude Code with them."
        }
    };
    out.line(format!("  {install}"));
    out.line(match has("doctor") {
        true => "  `bookend doctor` says whether they fire; then `bookend show`, from any other terminal.",
        false => "  After your first prompt: `bookend show`, from any other terminal.",
    });
}
