//! What was done before: sessions by filters, and one session whole. Answered by reading the logs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Service;
use super::error::Error;
use super::session::own;
use crate::clock;
use crate::fields::Checked;
use crate::log::history::{self, Known};
use crate::log::id::SessionId;
use crate::log::view::{SessionView, TurnView};
use crate::redact::Redacted;

/// How many sessions a page has where nothing else is asked for.
const PAGE: usize = 10;

/// Which sessions, and which of them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Filters {
    agent: Option<String>,
    text: Option<Redacted>,
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
    status: Option<String>,
    project: Option<Redacted>,
    limit: Option<usize>,
    offset: usize,
}

pub(super) fn sessions(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    let filters: Filters = params.read()?;
    let limit = filters.limit.unwrap_or(PAGE);
    let projects = match &filters.project {
        Some(dir) => Some(spellings(dir)?),
        None => None,
    };
    let text = filters.text.as_ref().map(|t| t.to_lowercase());
    let (mut total, mut page) = (0, Vec::new());
    if let Some(data) = service.existing()? {
        let wanted = |id: &SessionId| filters.agent.as_deref().is_none_or(|a| a == id.agent());
        let (known, _) =
            history::all(&data, wanted).map_err(|e| Error::storage("read the session logs", &e))?;
        for session in known {
            let in_page = total >= filters.offset && page.len() < limit;
            // One that cannot be read is none that fits; `bookend doctor` names it.
            if let Ok(Some(view)) = filters.fits(&session, projects.as_deref(), text.as_deref(), in_page) {
                total += 1;
                if in_page {
                    page.push(summary(&view));
                }
            }
        }
    }
    Ok(json!({"sessions": page, "totalCount": total, "offset": filters.offset, "limit": limit}))
}

pub(super) fn get(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Given {
        session_id: SessionId,
        #[serde(default)]
        agent: Option<String>,
    }
    let Given { session_id, agent } = params.read()?;
    if let Some(agent) = agent {
        own(&session_id, &agent)?;
    }
    let unknown = || Error::SessionNotFound {
        session: Some(session_id.clone()),
        candidates: Vec::new(),
    };
    let data = service.existing()?.ok_or_else(unknown)?;
    let view = service.view(&data, &session_id)?;
    serde_json::to_value(view).map_err(|e| Error::Internal { what: e.to_string() })
}

impl Filters {
    /// The session, if it fits; of one that is in no page only what the filters need is read.
    fn fits(
        &self,
        session: &Known,
        projects: Option<&[PathBuf]>,
        text: Option<&str>,
        in_page: bool,
    ) -> std::io::Result<Option<SessionView>> {
        if self
            .from
            .is_some_and(|from| session.updated.is_none_or(|at| at < from))
        {
            return Ok(None);
        }
        if let Some(dirs) = projects {
            let root = session.project()?;
            if !root.is_some_and(|root| dirs.iter().any(|dir| Path::new(&root).starts_with(dir))) {
                return Ok(None);
            }
        }
        if let Some(wanted) = &self.status
            && session.status()? != wanted
        {
            return Ok(None);
        }
        if !in_page && self.to.is_none() && text.is_none() {
            return Ok(Some(SessionView::fold(session.id.clone(), &[])));
        }
        let view = session.view()?;
        let begun = self.to.is_none_or(|to| view.started.is_some_and(|at| at <= to));
        Ok((begun && text.is_none_or(|text| holds(&view, text))).then_some(view))
    }
}

/// Whether a text, in small letters, stands anywhere in what was asked, done and answered.
fn holds(view: &SessionView, text: &str) -> bool {
    let has = |t: &Redacted| t.to_lowercase().contains(text);
    let in_turn = |t: &TurnView| {
        has(&t.query_title)
            || has(&t.query_text)
            || t.response.iter().chain(&t.interpretation).any(has)
            || t.tags.iter().chain(&t.context_list).any(has)
            || t.failure.iter().any(|f| has(&f.message) || has(&f.code))
            || t.dialog.iter().any(|d| has(&d.content))
            || t.actions
                .iter()
                .any(|a| has(&a.action.description) || a.action.file_path.iter().any(has))
    };
    has(&view.title) || view.turns.iter().any(in_turn)
}

/// A session without its turns.
fn summary(view: &SessionView) -> Value {
    let tags: BTreeSet<&Redacted> = view.turns.iter().flat_map(|t| &t.tags).collect();
    json!({
        "agent": view.agent,
        "sessionId": view.session_id,
        "title": view.title,
        "model": view.model,
        "started": view.started.map(clock::stamp),
        "lastUpdated": view.last_updated.map(clock::stamp),
        "status": view.status,
        "turnCount": view.turn_count,
        "filesModifiedCount": view.files_modified_count,
        "tags": tags,
    })
}

/// The directory as hosts may name it: with its links followed, or not.
fn spellings(dir: &str) -> Result<Vec<PathBuf>, Error> {
    let path = Path::new(dir);
    if !path.is_absolute() {
        return Err(Error::parameter("project", Some(&json!(dir)), "an absolute path"));
    }
    Ok(path.canonicalize().into_iter().chain([path.to_owned()]).collect())
}
