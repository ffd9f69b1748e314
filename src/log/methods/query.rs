//! What was done before: sessions by filters, answered from the index, and one session whole.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Service;
use super::error::Error;
use super::session::own;
use crate::clock;
use crate::fields::Checked;
use crate::log::id::SessionId;
use crate::log::index::{self, Depth, Page, Summary, Words};
use crate::redact::Redacted;

/// How many sessions a page has where nothing else is asked for.
const PAGE: usize = 10;

/// Which sessions, and which of them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Given {
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
    let given: Given = params.read()?;
    let (limit, offset) = (given.limit.unwrap_or(PAGE), given.offset);
    let filters = given.filters()?;
    let none = Page {
        sessions: Vec::new(),
        total: 0,
    };
    let page = match service.existing()? {
        Some(data) => {
            let asked = index::ask(&data, Depth::Grown, &mut |_| {}, |index| {
                index.sessions(&filters, limit, offset)
            });
            // A log that cannot be read is none that fits; `bookend doctor` names it.
            asked.map_err(|e| Error::Storage { what: e.to_string() })?.0
        }
        None => none,
    };
    let sessions: Vec<Value> = page.sessions.iter().map(summary).collect();
    Ok(json!({"sessions": sessions, "totalCount": page.total, "offset": offset, "limit": limit}))
}

pub(super) fn get(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Which {
        session_id: SessionId,
        #[serde(default)]
        agent: Option<String>,
    }
    let Which { session_id, agent } = params.read()?;
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

impl Given {
    fn filters(self) -> Result<index::Filters, Error> {
        let words = |text: &Redacted| {
            Words::beginnings(text).ok_or_else(|| {
                let text = json!(text);
                Error::parameter("text", Some(&text), "words: text with a letter or a digit in it")
            })
        };
        Ok(index::Filters {
            agent: self.agent,
            projects: self.project.as_deref().map(spellings).transpose()?,
            status: self.status,
            from: self.from,
            to: self.to,
            text: self.text.as_ref().map(words).transpose()?,
            ..index::Filters::default()
        })
    }
}

/// A session without its turns.
fn summary(session: &Summary) -> Value {
    json!({
        "agent": session.agent,
        "sessionId": session.session_id,
        "title": session.title,
        "model": session.model,
        "started": session.started.map(clock::stamp),
        "lastUpdated": session.last_updated.map(clock::stamp),
        "status": session.status,
        "turnCount": session.turn_count,
        "filesModifiedCount": session.files_modified_count,
        "tags": session.tags,
    })
}

/// The directory as hosts may name it: with its links followed, or not.
fn spellings(dir: &str) -> Result<Vec<String>, Error> {
    let path = Path::new(dir);
    if !path.is_absolute() {
        return Err(Error::parameter("project", Some(&json!(dir)), "an absolute path"));
    }
    let real = path.canonicalize().ok();
    let real = real.map(|p| p.to_string_lossy().into_owned());
    Ok(real.into_iter().chain([dir.to_owned()]).collect())
}
