//! Which unfinished session a new one may resume: the newest of this project, of any host, whose host is
//! gone and that is not too old; for a fork, the conversation that it was forked from.

use chrono::{DateTime, TimeDelta, Utc};

use crate::config::{Config, Resume};
use crate::event::{Event, Source};
use crate::handlers::Offer;
use crate::live::root::HookRoot;
use crate::live::state::TakenOver;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::open::OpenEntry;
use crate::log::settle::{self, Seen};
use crate::log::turns::Status;
use crate::log::view::SessionView;
use crate::redact::Redacted;
use crate::task::Todos;
use crate::task::resume::why;

/// The session that `event`, a session start from `source`, may resume.
#[must_use]
pub(super) fn find(
    data: &DataDir,
    root: Option<&HookRoot>,
    event: &Event,
    source: Source,
    own: Option<&SessionId>,
    config: &Config,
) -> Option<Offer> {
    let wanted = match source {
        Source::Startup => {
            config.resume == Resume::Always || config.resume == Resume::Auto && event.headless != Some(true)
        }
        Source::Fork => config.resume != Resume::Off,
        Source::Resume | Source::Clear | Source::Compact => false,
    };
    let project = event.project.as_ref().or(event.cwd.as_ref())?;
    if !wanted {
        return None;
    }
    offers(data, root, project, own, config, event.at)
        .into_iter()
        .find(|(seen, _)| match source {
            Source::Fork => seen.entry.host == event.host,
            _ => !seen.alive,
        })
        .map(|(_, mut offer)| {
            offer.ends = source == Source::Startup;
            offer
        })
}

/// Every unfinished session of a project that is young enough, newest first.
#[must_use]
pub fn offers(
    data: &DataDir,
    root: Option<&HookRoot>,
    project: &Redacted,
    own: Option<&SessionId>,
    config: &Config,
    now: DateTime<Utc>,
) -> Vec<(Seen, Offer)> {
    // More days than there are in the calendar: however old.
    let oldest = TimeDelta::try_days(i64::from(config.resume_days))
        .and_then(|days| now.checked_sub_signed(days))
        .unwrap_or(DateTime::<Utc>::MIN_UTC);
    let entries = data.open_entries().unwrap_or_default();
    entries
        .into_iter()
        .filter(|e| e.project_root.as_ref() == Some(project) && own != Some(&e.session) && e.since >= oldest)
        .filter_map(|entry| offer(data, root, entry, now))
        .collect()
}

fn offer(
    data: &DataDir,
    root: Option<&HookRoot>,
    entry: OpenEntry,
    now: DateTime<Utc>,
) -> Option<(Seen, Offer)> {
    let seen = settle::look(data, root, entry, now);
    let view = SessionView::read(data, &seen.entry.session).ok().flatten()?;
    let live = seen.live.as_ref();
    // The live state knows steps that were no records; without it the log does.
    let task = live.map_or(view.task.clone(), |s| s.current_task.clone());
    let todos = live
        .map_or(view.todos.clone(), |s| s.ui_todos.clone())
        .filter(Todos::any_open);
    if task.is_none() && todos.is_none() {
        return None;
    }
    let last = view.machine.last();
    let code = last.and_then(|t| match &t.status {
        Status::Failed { code, .. } => Some(code.as_str().to_owned()),
        Status::InProgress | Status::Completed => None,
    });
    let files = view.last_files();
    let offer = Offer {
        host: seen.entry.host.title(),
        host_session: view.host_session.clone().unwrap_or_default(),
        why: code.as_deref().map(why),
        when: last.and_then(|t| t.ended_at).or(view.last_updated),
        limit: live.and_then(|s| s.rate_limit.clone()).or(view.limit),
        files,
        ends: false,
        taken: TakenOver {
            from: seen.entry.session.clone(),
            task,
            todos,
        },
    };
    Some((seen, offer))
}
