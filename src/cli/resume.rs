//! `bookend resume`: what the next session start in this project would say, and why. It asks the same
//! question and makes the same plan as the hook, and carries nothing out.

use serde_json::{Value, json};

use super::args::Resume;
use super::machine::Machine;
use super::out::Out;
use super::span::{Line, Style};
use super::table::{Table, cell, styled};
use super::{Failed, Run, resume_own, text, todos};
use crate::config;
use crate::dispatch::active;
use crate::dispatch::kept::Asker;
use crate::dispatch::offer::{self, Question, Skip, Weighed};
use crate::event::{Event, Kind, Source};
use crate::handlers::{self, Context, Offer};
use crate::host::Host;
use crate::live::state::State;
use crate::process::Pulse;
use crate::redact::Redacted;
use crate::task::agent_files::Kept;

/// What was found out.
struct Answer<'a> {
    project: Redacted,
    host: Host,
    headless: bool,
    machine: &'a Machine,
    considered: Vec<Weighed>,
    /// Unfinished sessions of other projects.
    elsewhere: usize,
    brief: Option<String>,
    /// Why there is no brief, as a sentence.
    silent: Option<String>,
}

impl Run for Resume {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.warn_of_data(out);
        if let Some(session) = &self.session {
            return resume_own::run(session, self.json, machine, out);
        }
        let answer = self.ask(todos::here()?, machine);
        if self.json {
            return out.json(&answer.document());
        }
        answer.print(out);
        Ok(())
    }
}

impl Resume {
    fn ask<'a>(&self, project: Redacted, machine: &'a Machine) -> Answer<'a> {
        let (mut considered, mut elsewhere) = (Vec::new(), 0);
        if let Some(data) = &machine.data {
            let question = Question {
                data,
                root: machine.own_root(),
                project: &project,
                source: Source::Startup,
                host: self.host.unwrap_or(Host::ClaudeCode),
                own: None,
                days: machine.config.resume_days,
                now: machine.now,
            };
            considered = question.weigh().collect();
            let open = data.open_entries().unwrap_or_default();
            elsewhere = open.len().saturating_sub(considered.len());
        }
        let first = considered.iter().position(|w| w.verdict.is_ok());
        let found = first.and_then(|i| considered.get(i));
        let host = self
            .host
            .or(found.map(|w| w.entry.host))
            .unwrap_or(Host::ClaudeCode);
        let wanted = offer::wanted(Source::Startup, self.headless, machine.config.resume);
        let offer = found.and_then(|w| w.verdict.as_ref().ok()).filter(|_| wanted);
        let asker = Asker {
            project: Some(&project),
            named: None,
            source: Some(Source::Startup),
            headless: self.headless,
            own: None,
            now: machine.now,
        };
        let kept = asker
            .find(machine.data.as_ref(), machine.own_root(), &machine.config)
            .unwrap_or_default();
        let brief = told(
            Source::Startup,
            &State::default(),
            Some(&project),
            host,
            Some(self.headless),
            Pulse::Unknown,
            offer.map(|o| &**o),
            kept.as_ref(),
            machine,
        );
        let silent = brief
            .is_none()
            .then(|| self.silence(machine, wanted, &considered));
        Answer {
            project,
            host,
            headless: self.headless,
            machine,
            considered,
            elsewhere,
            brief,
            silent,
        }
    }

    fn silence(&self, machine: &Machine, wanted: bool, considered: &[Weighed]) -> String {
        if machine.config.disabled {
            "BOOKEND_DISABLE is set: every hook does nothing"
        } else if machine.config.resume == config::Resume::Off {
            "BOOKEND_RESUME is off: nobody gets a brief"
        } else if !wanted {
            "a script gets no brief: BOOKEND_RESUME=always gives it one"
        } else if considered.is_empty() {
            "no session of this project is unfinished"
        } else {
            "of the unfinished sessions of this project none is offered"
        }
        .to_owned()
    }
}

/// What the handler of a session start would tell the model, but for the line with the session's log id.
#[expect(
    clippy::too_many_arguments,
    reason = "one for each thing that a session start depends on"
)]
pub(super) fn told(
    source: Source,
    state: &State,
    project: Option<&Redacted>,
    host: Host,
    headless: Option<bool>,
    pulse: Pulse,
    offer: Option<&Offer>,
    kept: Option<&Kept>,
    machine: &Machine,
) -> Option<String> {
    let event = Event {
        host,
        name: "SessionStart".to_owned(),
        at: machine.now,
        session: Redacted::default(),
        turn: None,
        agent: None,
        headless,
        cwd: project.cloned(),
        project: project.cloned(),
        model: None,
        role: None,
        kind: Kind::SessionStart { source },
        key: None,
        stamped: false,
        host_pid: None,
    };
    let active = active::find(&event, state, &machine.config);
    let context = Context {
        event: &event,
        state,
        config: &machine.config,
        log: None,
        pulse,
        moved: true,
        offer,
        kept,
        active: active.as_ref(),
        can_block: false,
    };
    let told = handlers::plan(&context).context;
    told.filter(|_| !machine.config.disabled)
}

/// As the environment spells it.
pub(super) fn mode(resume: config::Resume) -> &'static str {
    match resume {
        config::Resume::Auto => "auto",
        config::Resume::Always => "always",
        config::Resume::Off => "off",
    }
}

impl Answer<'_> {
    fn chosen(&self) -> Option<&Weighed> {
        let first = self.considered.iter().find(|w| w.verdict.is_ok());
        first.filter(|_| self.brief.is_some())
    }

    /// The verdict on one in a word, and its reason.
    fn verdict(&self, weighed: &Weighed) -> (&'static str, String) {
        let is_chosen = self
            .chosen()
            .is_some_and(|c| c.entry.session == weighed.entry.session);
        match &weighed.verdict {
            Ok(_) if is_chosen => (
                "chosen",
                "the newest that is unfinished and whose host is gone".to_owned(),
            ),
            Ok(_) if self.chosen().is_some() => ("skipped", "a newer one comes first".to_owned()),
            Ok(_) => ("skipped", self.silent.clone().unwrap_or_default()),
            Err(Skip::TooOld) => {
                let days = usize::try_from(self.machine.config.resume_days).unwrap_or(0);
                let days = text::count(days, "day");
                (
                    "skipped",
                    format!("it is older than {days} (BOOKEND_RESUME_DAYS)"),
                )
            }
            Err(Skip::Alive) => ("skipped", "its host is alive".to_owned()),
            Err(Skip::OtherHost) => ("skipped", "it is another host's".to_owned()),
            Err(Skip::NothingLeft) => ("skipped", "neither a task nor a todo is left of it".to_owned()),
        }
    }

    fn document(&self) -> Value {
        let from = self.chosen().and_then(|w| {
            let offer = w.verdict.as_ref().ok()?;
            Some(json!({
                "logSession": w.entry.session,
                "host": w.entry.host,
                "hostSession": offer.host_session,
                "since": w.entry.since,
                "stoppedAt": offer.when,
                "live": false,
                "task": offer.taken.task,
                "todos": offer.taken.todos,
                "files": offer.files,
                "rateLimit": offer.limit,
            }))
        });
        let why = self.chosen().and_then(|w| w.verdict.as_ref().ok()?.why.clone());
        let considered: Vec<Value> = self
            .considered
            .iter()
            .map(|w| {
                let (verdict, reason) = self.verdict(w);
                json!({
                    "logSession": w.entry.session,
                    "host": w.entry.host,
                    "since": w.entry.since,
                    "live": matches!(w.verdict, Err(Skip::Alive)),
                    "verdict": verdict,
                    "reason": reason,
                })
            })
            .collect();
        json!({
            "project": self.project,
            "host": self.host,
            "mode": mode(self.machine.config.resume),
            "headless": self.headless,
            "days": self.machine.config.resume_days,
            "brief": self.brief,
            "silent": self.silent,
            "from": from,
            "why": why,
            "considered": considered,
            "elsewhere": self.elsewhere,
        })
    }

    fn print(&self, out: &mut Out) {
        let who = if self.headless { "script" } else { "session" };
        let project = text::home(self.project.as_str());
        let opening = format!("A new {} {who} in {project} would be told", self.host.title());
        match (&self.brief, &self.silent) {
            (Some(brief), _) => {
                out.line(Line::of(Style::Strong, &format!("{opening}:")));
                out.gap();
                out.block(2, brief);
                out.line(Line::of(Style::Faint, "  Session log: <its own id>"));
            }
            (None, silent) => {
                let why = silent.as_deref().unwrap_or("there is nothing to say");
                out.line(format!("{opening} nothing but the id of its log: {why}."));
            }
        }
        if !self.considered.is_empty() {
            out.heading("Unfinished sessions of this project");
            self.table().print(out);
        }
        out.gap();
        let resume = self.machine.config.resume;
        let meaning = match resume {
            config::Resume::Auto if self.headless => "people are told, scripts are not",
            config::Resume::Auto => "people are told, scripts are not (bookend resume --headless)",
            config::Resume::Always => "people and scripts are told",
            config::Resume::Off => "nobody is told",
        };
        out.line(Line::of(
            Style::Faint,
            &format!("BOOKEND_RESUME={}: {meaning}", mode(resume)),
        ));
        if self.elsewhere > 0 {
            let n = text::count(self.elsewhere, "unfinished session");
            out.line(Line::of(
                Style::Faint,
                &format!("{n} of other projects: offered only there"),
            ));
        }
    }

    fn table(&self) -> Table {
        let mut table =
            Table::new(&["SESSION", "HOST", "UNFINISHED FOR", "TASK", "VERDICT", "WHY"]).indented();
        for weighed in &self.considered {
            let entry = &weighed.entry;
            let (verdict, reason) = self.verdict(weighed);
            let style = if verdict == "chosen" {
                Style::Good
            } else {
                Style::Faint
            };
            let task = match &weighed.verdict {
                Ok(offer) => offer.taken.task.as_ref(),
                Err(_) => entry.task.as_ref(),
            };
            table.row(vec![
                Line::from(entry.session.as_str()),
                Line::from(entry.host.id()),
                Line::from(text::age(Some(entry.since), self.machine.now)),
                cell(task.map_or("-", |t| t.description.as_str()), 40),
                styled(style, verdict, 10),
                cell(&reason, 64),
            ]);
        }
        table
    }
}
