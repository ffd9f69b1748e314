//! What an entry means for the state: a pure function. Any prefix of any journal folds.

use super::state::{Ended, Entry, HostPrompt, State};
use crate::event::{Change, Event, Kind, Origin, Outcome, Source};
use crate::log::actions;
use crate::log::data_dir::Fault;
use crate::log::record::{Body, prompt_hash};
use crate::log::turns::{Mark, Status};
use crate::redact::Redacted;
use crate::task::current::Facts;
use crate::task::{LimitSource, Task, Todos, limit, todos};

/// Faults remembered.
const MAX_FAULTS: usize = 10;
/// Changed files remembered of a turn.
const MAX_FILES: usize = 10;
/// Notices that wait at most.
const MAX_NOTICES: usize = 4;
/// Longest path kept, in characters.
pub(super) const MAX_PATH: usize = 200;
/// A prompt that comes again within this many seconds, while its turn is open, is a resend.
const RESEND_SECONDS: i64 = 120;

impl State {
    /// Takes an entry in. One that is folded in already changes nothing.
    pub fn apply(&mut self, entry: &Entry) {
        if entry.n > self.n {
            self.follow(entry);
            self.seal(entry);
        }
    }

    /// The first half: what the event means. It is known before anything is written, and what is written
    /// and said is made from it.
    pub fn follow(&mut self, entry: &Entry) {
        self.n = entry.n;
        let event = &entry.event;
        let resend = entry.resend;
        self.identify(event);
        let count = self.events.entry(event.name.clone()).or_default();
        count.count += 1;
        count.last_at = Some(event.at);
        if let Some(process) = &entry.process {
            self.host_process = Some(process.clone());
        }
        self.take_bodies(&entry.caught);
        self.take_logged(&entry.logged);
        self.take_marks(&entry.marks);
        let late = self.turns.has_passed(event);
        if !late || !matches!(event.kind, Kind::Stop { .. }) {
            self.follow_prompt(event);
            self.follow_agents(event, entry.sent_back);
        }
        self.follow_limit(event, late);
        // A prompt that only says to go on means this task.
        if let Some(adopted) = &entry.adopted {
            self.take_over(adopted.task.as_ref(), adopted.todos.as_ref());
        }
        self.follow_work(event, resend, late);
        if !late {
            self.follow_files(entry, resend);
        }
        if let Kind::Tool(call) = &event.kind
            && let Some(change) = &call.todos
        {
            self.ui_todos = Some(todos::after(self.ui_todos.as_ref(), change, event.at));
        }
        if matches!(&event.kind, Kind::SessionEnd { reason } if reason.as_str() == "clear")
            || matches!(
                event.kind,
                Kind::SessionStart {
                    source: Source::Clear
                }
            )
        {
            self.ui_todos = None;
        }
        if let Some(taken) = &entry.took_over {
            self.take_over(taken.task.as_ref(), taken.todos.as_ref());
        }
    }

    fn take_over(&mut self, task: Option<&Task>, todos: Option<&Todos>) {
        if let Some(task) = task {
            let mut work = self.take_work();
            work.take_over(task.clone());
            self.put_work(work);
        }
        if self.ui_todos.as_ref().is_none_or(|t| t.items.is_empty()) {
            self.ui_todos = todos.cloned();
        }
    }

    /// The second half: where the log ends after it, how it was answered, what it took, what went wrong.
    pub fn seal(&mut self, entry: &Entry) {
        if let Some(log) = &entry.log {
            self.log = Some(log.clone());
        }
        self.count(entry);
        self.answered(entry);
    }

    /// Whether a prompt is one that was sent before, whose turn is open.
    #[must_use]
    pub fn is_resend(&self, event: &Event) -> bool {
        let Kind::Prompt {
            text,
            origin: Origin::User,
        } = &event.kind
        else {
            return false;
        };
        // Two prompts without text may be two images.
        !text.trim().is_empty()
            && self.turns.open().is_some_and(|t| {
                t.prompt == Some(prompt_hash(text.as_str()))
                    && (event.at - t.started_at).num_seconds() < RESEND_SECONDS
            })
    }

    fn identify(&mut self, event: &Event) {
        if self.session_id.as_str().is_empty() {
            self.session_id = event.session.clone();
        }
        self.host = Some(event.host);
        self.headless = event.headless.or(self.headless);
        if event.agent.is_none() || self.cwd.is_none() {
            self.cwd = event.cwd.clone().or(self.cwd.take());
        }
        if event.project.is_some() {
            self.project_root.clone_from(&event.project);
        }
        self.model = event.model.clone().or(self.model.take());
        self.role = event.role.clone().or(self.role.take());
        self.started_at = self.started_at.or(Some(event.at));
        self.last_event_at = self.last_event_at.max(Some(event.at));
        match &event.kind {
            Kind::SessionEnd { reason } => {
                self.ended = Some(Ended {
                    at: event.at,
                    reason: reason.clone(),
                })
            }
            Kind::AgentStop { .. } => {}
            _ => self.ended = None,
        }
        if let Kind::SessionStart { source } = event.kind {
            self.source = Some(source);
        }
    }

    fn count(&mut self, entry: &Entry) {
        if let Some(count) = self.events.get_mut(&entry.event.name) {
            count.last_micros = entry.us;
        }
        if let Some(key) = &entry.event.key {
            self.seen.put(key, entry.answered.denied.as_ref());
        }
        for what in &entry.faults {
            if let Some(same) = self.faults.iter_mut().find(|f| f.what == *what) {
                same.at = entry.event.at;
                continue;
            }
            if self.faults.len() >= MAX_FAULTS {
                self.faults.pop_front();
            }
            let hook = entry.event.name.clone();
            self.faults.push_back(Fault {
                at: entry.event.at,
                hook,
                session: None,
                what: what.clone(),
            });
        }
    }

    /// Takes changes of the turns in; also those that were read behind the known end of the log.
    pub fn take_marks(&mut self, marks: &[Mark]) {
        for mark in marks {
            self.turns.apply(mark);
            if matches!(mark, Mark::Begin { .. }) {
                self.turn_files.clear();
                self.host_prompt = None;
            }
        }
    }

    /// Takes changes of task, todos and limit in that were found in the log.
    pub fn take_bodies(&mut self, bodies: &[Body]) {
        for body in bodies {
            match body {
                Body::Task { task, interrupted } => {
                    self.current_task.clone_from(task);
                    self.interrupted_task.clone_from(interrupted);
                }
                Body::Todos { todos } => self.ui_todos = Some(todos.clone()),
                Body::Limit { limit, .. } => self.rate_limit = Some(limit.clone()),
                _ => {}
            }
        }
    }

    /// Remembers tool calls that were found in the log.
    pub fn take_logged(&mut self, calls: &[String]) {
        for call in calls {
            self.seen.put(call, None);
        }
    }

    fn follow_prompt(&mut self, event: &Event) {
        match &event.kind {
            Kind::Prompt {
                text,
                origin: Origin::Host,
            } if self.turns.open().is_none() => {
                let title = Redacted::first_line(text.as_str(), 80);
                self.host_prompt = Some(HostPrompt {
                    turn: event.turn.clone(),
                    title,
                });
            }
            Kind::Prompt { .. } | Kind::Stop { .. } => {
                self.host_prompt = None;
                self.compacted = false;
            }
            Kind::PreCompact if !event.host.tells_of_compaction() => self.compacted = true,
            _ => {}
        }
    }

    fn follow_limit(&mut self, event: &Event, late: bool) {
        if let Some(met) = limit::met(event) {
            let again = self
                .rate_limit
                .as_ref()
                .is_some_and(|l| l.source == LimitSource::Provider);
            // A subagent's limit is told twice: by its failure and by the delegation that failed with it.
            if !(again && (met.source == LimitSource::Tool || matches!(event.kind, Kind::Tool(_)))) {
                self.rate_limit = Some(met);
            }
            return;
        }
        let over = match &event.kind {
            Kind::Tool(call) => call.outcome == Outcome::Ok,
            Kind::Stop { .. } => true,
            _ => false,
        };
        if over && !late {
            self.rate_limit = None;
        }
    }

    fn follow_work(&mut self, event: &Event, resend: bool, late: bool) {
        let running = u32::try_from(self.running().count()).unwrap_or(u32::MAX);
        let root = self.project_root.clone().or_else(|| self.cwd.clone());
        let limited = self
            .rate_limit
            .as_ref()
            .is_some_and(|l| l.source == LimitSource::Provider && l.detected_at == event.at);
        if limited {
            let before = self.current_task.as_ref();
            let notice = self.rate_limit.as_ref().map(|l| limit::notice(l, before));
            // Told once: of those that nobody has seen yet, the last one says it all.
            self.notices.retain(|n| !limit::is_notice(n));
            if self.notices.len() < MAX_NOTICES {
                self.notices.extend(notice);
            }
        }
        let facts = Facts {
            resend,
            running,
            root: root.as_ref(),
            limited,
            late,
            significant: matches!(&event.kind, Kind::Tool(call) if !actions::of(call, None).is_empty()),
        };
        let work = self.take_work().after(event, facts);
        self.put_work(work);
    }

    fn follow_files(&mut self, entry: &Entry, resend: bool) {
        match &entry.event.kind {
            Kind::Tool(call) => {
                let late = self.turns.last().is_some_and(|t| t.status != Status::InProgress);
                for file in call.files.iter().filter(|f| !late && f.change != Change::Delete) {
                    if !self.turn_files.contains(&file.path) && self.turn_files.len() < MAX_FILES {
                        self.turn_files
                            .push(Redacted::first_line(file.path.as_str(), MAX_PATH));
                    }
                }
            }
            Kind::Prompt {
                origin: Origin::User, ..
            } if !resend => self.turn_files.clear(),
            _ => {}
        }
    }

    fn answered(&mut self, entry: &Entry) {
        self.briefed = entry.answered.brief;
        let shown = usize::try_from(entry.answered.notices)
            .unwrap_or(0)
            .min(self.notices.len());
        self.notices.drain(..shown);
        if entry.answered.told
            && let Some(limit) = &mut self.rate_limit
        {
            limit.told = true;
        }
        match (&entry.event.kind, &entry.answered.denied) {
            (Kind::Stop { .. } | Kind::AgentStop { .. }, Some(_)) => self.blocks += 1,
            (Kind::Stop { .. } | Kind::Prompt { .. }, None) => self.blocks = 0,
            _ => {}
        }
    }
}
