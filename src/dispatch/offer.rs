//! Which unfinished session a new one may resume: the newest of this project, of any host, whose host is
//! gone and that is not too old; for a fork, the conversation that it was forked from. `bookend resume`
//! asks the same question, and shows why the others are not offered.

use chrono::{DateTime, TimeDelta, Utc};

use super::HOOK_WAIT;
use super::settle::{self, Seen};
use crate::config::{Config, Resume};
use crate::event::{Event, Source};
use crate::handlers::Offer;
use crate::host::Host;
use crate::live::root::HookRoot;
use crate::live::state::{State, TakenOver};
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::ledger::Ledger;
use crate::log::open::OpenEntry;
use crate::log::record::By;
use crate::log::turns::{End, Mark, Status};
use crate::log::view::SessionView;
use crate::redact::Redacted;
use crate::task::Todos;
use crate::task::resume::why;

/// What a new session asks.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The durable store.
    pub data: &'a DataDir,
    /// The hook root of the new session.
    pub root: Option<&'a HookRoot>,
    /// Its project.
    pub project: &'a Redacted,
    /// Why it starts.
    pub source: Source,
    /// Its host.
    pub host: Host,
    /// Its own log session.
    pub own: Option<&'a SessionId>,
    /// `BOOKEND_RESUME_DAYS`.
    pub days: u32,
    /// Now.
    pub now: DateTime<Utc>,
}

/// An unfinished session of the project, and whether it is offered.
#[derive(Debug)]
pub struct Weighed {
    /// Its entry.
    pub entry: OpenEntry,
    /// What is offered, or why it is not.
    pub verdict: Result<Box<Offer>, Skip>,
}

/// Why an unfinished session is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// It is older than `BOOKEND_RESUME_DAYS`.
    TooOld,
    /// Its host runs.
    Alive,
    /// A fork goes on with a session of its own host.
    OtherHost,
    /// It has neither a task nor todos.
    NothingLeft,
}

/// Whether a session that starts from `source` is given another one's task at all.
#[must_use]
pub fn wanted(source: Source, headless: bool, resume: Resume) -> bool {
    match source {
        Source::Startup => resume == Resume::Always || resume == Resume::Auto && !headless,
        Source::Fork => resume != Resume::Off,
        Source::Resume | Source::Clear | Source::Compact => false,
    }
}

/// The session that `event`, a session start from `source`, may resume. One that ends with this comes with
/// its log, held until that says so: of two sessions that start at once only one takes it over.
#[must_use]
pub(super) fn find(
    data: &DataDir,
    root: Option<&HookRoot>,
    event: &Event,
    source: Source,
    own: Option<&SessionId>,
    config: &Config,
) -> Option<(Offer, Option<Ledger>)> {
    if !wanted(source, event.headless == Some(true), config.resume) {
        return None;
    }
    let question = Question {
        data,
        root,
        project: event.project.as_ref().or(event.cwd.as_ref())?,
        source,
        host: event.host,
        own,
        days: config.resume_days,
        now: event.at,
    };
    question.weigh().find_map(|w| {
        let offer = *w.verdict.ok()?;
        if !offer.ends {
            return Some((offer, None));
        }
        let from = &offer.taken.from;
        let claim = Ledger::open(data, from, By::Hook, false, HOOK_WAIT).ok()??;
        // Who was here before has said so, and taken the entry away.
        data.get_open(from).ok()??;
        Some((offer, Some(claim)))
    })
}

impl<'a> Question<'a> {
    /// The unfinished sessions of the project, newest first; the first that is offered is the one. Each is
    /// looked at only when it is asked for.
    pub fn weigh(self) -> impl Iterator<Item = Weighed> + use<'a> {
        let entries = self.data.open_entries().unwrap_or_default();
        entries
            .into_iter()
            .filter(move |e| e.project_root.as_ref() == Some(self.project) && self.own != Some(&e.session))
            .map(move |entry| self.one(entry))
    }

    fn one(&self, entry: OpenEntry) -> Weighed {
        // More days than there are in the calendar: however old.
        let oldest = TimeDelta::try_days(i64::from(self.days))
            .and_then(|days| self.now.checked_sub_signed(days))
            .unwrap_or(DateTime::<Utc>::MIN_UTC);
        if entry.since < oldest {
            let verdict = Err(Skip::TooOld);
            return Weighed { entry, verdict };
        }
        let seen = settle::look(self.data, self.root, entry, self.now);
        let verdict = match self.source {
            Source::Fork if seen.entry.host != self.host => Err(Skip::OtherHost),
            Source::Fork => self.offer(&seen),
            _ if seen.alive => Err(Skip::Alive),
            _ => self.offer(&seen),
        };
        Weighed {
            entry: seen.entry,
            verdict,
        }
    }

    fn offer(&self, seen: &Seen) -> Result<Box<Offer>, Skip> {
        let view = SessionView::read(self.data, &seen.entry.session).ok().flatten();
        let mut view = view.ok_or(Skip::NothingLeft)?;
        if !seen.alive {
            as_settled(&mut view, &seen.entry, self.now);
        }
        let live = seen.live.as_ref();
        // The live state knows steps that were no records; without it the log does.
        let task = live.map_or(view.to_be_resumed(), State::to_be_resumed).cloned();
        let todos = live
            .map_or(view.todos.clone(), |s| s.ui_todos.clone())
            .filter(Todos::any_open)
            .map(Todos::without_ids);
        if task.is_none() && todos.is_none() {
            return Err(Skip::NothingLeft);
        }
        let last = view.machine.last();
        let code = last.and_then(|t| match &t.status {
            Status::Failed { code, .. } => Some(code.as_str().to_owned()),
            Status::InProgress | Status::Completed => None,
        });
        // An inferred end was written when somebody looked; it stopped with its last sign of life.
        let when = match last.filter(|t| !t.status.is_presumed()) {
            Some(turn) => turn.ended_at,
            None => live.and_then(|s| s.last_event_at).or(view.last_sign),
        };
        let files = view.last_files();
        Ok(Box::new(Offer {
            host: seen.entry.host.title(),
            host_session: view.host_session.clone().unwrap_or_default(),
            why: code.as_deref().map(why),
            when: when.or(view.last_updated),
            limit: live.and_then(|s| s.rate_limit.clone()).or(view.limit),
            files,
            ends: self.source == Source::Startup,
            taken: TakenOver {
                from: seen.entry.session.clone(),
                task,
                todos,
            },
        }))
    }
}

/// A session start settles before it asks; who only asks sees the end that would be presumed then.
fn as_settled(view: &mut SessionView, entry: &OpenEntry, now: DateTime<Utc>) {
    if let Some(turn) = view.machine.open().map(|t| t.id.clone()) {
        let code = Redacted::new(settle::presumed_code(entry));
        let end = End::Presume { code };
        view.machine.apply(&Mark::End { turn, end, at: now });
    }
}
