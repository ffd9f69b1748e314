//! The state file from which a session may resume (`task::agent_files`): looked into where a brief may be given.

use std::path::Path;

use chrono::{DateTime, Utc};

use super::keep::named;
use super::{Stores, offer, settle};
use crate::config::{Config, Resume};
use crate::event::{Event, Kind, Source};
use crate::live::root::HookRoot;
use crate::live::state::State;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::redact::Redacted;
use crate::task::Task;
use crate::task::agent_files::{Agent, Kept, Roots};
use crate::task::go_on::says_go_on;

/// Who asks what there is to resume from.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// Its project.
    pub project: Option<&'a Redacted>,
    /// The agent that the host names.
    pub named: Option<Agent>,
    /// Why it starts; `None`: it goes on within its session.
    pub source: Option<Source>,
    /// Whether nobody is at it.
    pub headless: bool,
    /// Its own log session.
    pub own: Option<&'a SessionId>,
    /// Now.
    pub now: DateTime<Utc>,
}

impl Asker<'_> {
    /// The state file from which to resume, unless a session that runs is at its task: live sessions leave
    /// each other alone.
    ///
    /// # Errors
    /// What is wrong with the file, a fragment that fits after "failed to".
    pub fn find(
        self,
        data: Option<&DataDir>,
        root: Option<&HookRoot>,
        config: &Config,
    ) -> Result<Option<Kept>, String> {
        match self.source {
            _ if config.resume == Resume::Off => return Ok(None),
            Some(Source::Clear) => return Ok(None),
            Some(source @ (Source::Startup | Source::Fork))
                if !offer::wanted(source, self.headless, config.resume) =>
            {
                return Ok(None);
            }
            _ => {}
        }
        let roots = Roots {
            project: self.project.map(|p| Path::new(p.as_str())),
            home: config.home.as_deref(),
        };
        let Some(mut kept) = Kept::find(roots, self.named, self.now)? else {
            return Ok(None);
        };
        let entries = data.and_then(|d| d.open_entries().ok()).unwrap_or_default();
        if let (Some(data), Some(task)) = (data, kept.said.task.clone()) {
            let is_at_it = |t: &Task| t.description == task.description;
            let mut others = entries
                .into_iter()
                .filter(|e| Some(&e.session) != self.own && e.task.as_ref().is_some_and(is_at_it));
            if others.any(|e| settle::look(data, root, e, self.now).alive) {
                kept.said.task = None;
                kept.said.todos = None;
            }
        }
        Ok(kept.is_open().then_some(kept))
    }
}

/// The state file that the answer to `event` may speak of.
pub(super) fn kept(
    event: &Event,
    state: &State,
    own: Option<&SessionId>,
    stores: &mut Stores,
    config: &Config,
) -> Option<Kept> {
    let source = match &event.kind {
        // The first to hold the lock speaks.
        Kind::SessionStart {
            source: Source::Startup | Source::Fork,
        } if state.turns.count > 0 => return None,
        Kind::SessionStart { source } => Some(*source),
        Kind::Prompt { text, .. } if state.compacted || says_go_on(text.as_str()) => None,
        _ => return None,
    };
    if !stores.heard {
        return None;
    }
    let project = event.project.as_ref().or(state.project_root.as_ref());
    let asker = Asker {
        project: project.or(event.cwd.as_ref()),
        named: named(event, state),
        source,
        headless: event.headless == Some(true),
        own,
        now: event.at,
    };
    match asker.find(stores.data.as_ref(), stores.root.as_ref(), config) {
        Ok(kept) => kept,
        Err(why) => {
            stores.fault(&why);
            None
        }
    }
}
