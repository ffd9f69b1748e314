//! Sessions: opened, named, closed.

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::Error;
use super::forms;
use super::place::{self, Named};
use super::{Service, WAIT};
use crate::clock;
use crate::fields::{Checked, Field, Type, check};
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::ledger::Ledger;
use crate::log::off;
use crate::log::record::{Body, By};
use crate::log::view::SessionView;
use crate::redact::Redacted;

/// Longest part of a made id that is taken from the title, in characters.
const MAX_SLUG: usize = 40;

/// A session to open.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Open {
    agent: String,
    session_id: SessionId,
    title: Redacted,
    #[serde(default)]
    model: Option<Redacted>,
}

pub(super) fn bootstrap(service: &mut Service<'_>, _: &Checked) -> Result<Value, Error> {
    service.data()?;
    Ok(json!({"initialized": true}))
}

pub(super) fn open(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    service.open(params.read()?)
}

impl Service<'_> {
    /// Makes the log ready and opens a session with an id made for the caller: `bookend call start`.
    ///
    /// # Errors
    /// As for `openSession`.
    pub fn start(&mut self, params: &Value) -> Result<Value, Error> {
        const FIELDS: &[Field] = &[
            Field::required("agent", Type::Form(&forms::AGENT), ""),
            Field::required("title", Type::Line, ""),
            Field::optional("model", Type::Line, ""),
        ];
        #[derive(Deserialize)]
        struct Given {
            agent: String,
            title: Redacted,
            #[serde(default)]
            model: Option<Redacted>,
        }
        let Given { agent, title, model } = check(params, FIELDS.iter())?.read()?;
        let session_id = made(&agent, &title)?;
        let mut result = self.open(Open {
            agent,
            session_id,
            title,
            model,
        })?;
        if let Some(result) = result.as_object_mut() {
            result.insert("initialized".to_owned(), json!(true));
        }
        Ok(result)
    }

    fn open(&mut self, open: Open) -> Result<Value, Error> {
        let id = open.session_id;
        own(&id, &open.agent)?;
        let exists = || Error::SessionAlreadyExists { session: id.clone() };
        let storage = |e: std::io::Error| Error::storage("open the session log", &e);
        let data = self.data()?;
        // A host's session may have no record yet, but its hooks will write to that log.
        let told = self.around.host_session(&data).as_ref() == Some(&id);
        if told || data.is_hooked(&id).map_err(storage)? {
            return Err(exists());
        }
        self.keeps_log()?;
        let ledger = Ledger::open(&data, &id, By::Model, true, WAIT)?;
        let mut ledger = ledger.filter(Ledger::is_new).ok_or_else(exists)?;
        if self.around.is_one_call() {
            self.remember(&data, Some(&id))?;
        }
        let body = opening(&id, open.title, open.model, self);
        let started = clock::now();
        ledger
            .append(vec![body], started)
            .map_err(|e| Error::storage("write the session log", &e))?;
        let result = json!({"sessionId": id, "started": clock::stamp(started)});
        self.opened = Some(id);
        Ok(result)
    }

    /// Whether sessions that begin in this project leave a log.
    pub(super) fn keeps_log(&self) -> Result<(), Error> {
        match self.around.project().filter(|project| off::is_off(project)) {
            Some(project) => Err(Error::Off { project }),
            None => Ok(()),
        }
    }

    /// What the next call in the project is in.
    fn remember(&self, data: &DataDir, id: Option<&SessionId>) -> Result<(), Error> {
        match self.around.project() {
            Some(project) => data
                .set_called(&project, id)
                .map_err(|e| Error::storage("remember the session of this project", &e)),
            None => Ok(()),
        }
    }
}

/// The first record of a model's own session.
pub(super) fn opening(
    id: &SessionId,
    title: Redacted,
    model: Option<Redacted>,
    service: &Service<'_>,
) -> Body {
    Body::SessionOpen {
        agent: id.agent().to_owned(),
        host: None,
        host_session: None,
        title,
        model,
        project_root: service.around.project(),
        cwd: service.around.cwd(),
    }
}

/// The agent must be the id's first part.
pub(super) fn own(id: &SessionId, agent: &str) -> Result<(), Error> {
    if id.agent() == agent {
        return Ok(());
    }
    Err(Error::InvalidSessionId {
        given: Redacted::new(id.as_str()),
        agent: Some(agent.to_owned()),
    })
}

/// `<agent>-<now>-<the title's words>-<4 digits>`.
fn made(agent: &str, title: &str) -> Result<SessionId, Error> {
    let mut slug = String::new();
    for c in title.chars().map(|c| c.to_ascii_lowercase()) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= MAX_SLUG {
            break;
        }
    }
    let unique = uuid::Uuid::now_v7().simple().to_string();
    let digits: String = unique.chars().skip(unique.len() - 4).collect();
    let slug = slug.trim_matches('-');
    let dash = if slug.is_empty() { "" } else { "-" };
    let id = format!("{agent}-{}-{slug}{dash}{digits}", clock::compact(clock::now()));
    SessionId::try_from(id).map_err(|bad| Error::Internal {
        what: bad.to_string(),
    })
}

pub(super) fn current(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    let named: Named = params.read()?;
    let unknown = || Error::SessionNotFound {
        session: named.session_id.clone(),
        candidates: Vec::new(),
    };
    let data = service.existing()?.ok_or_else(unknown)?;
    let session = service.session(&data, &named)?;
    let view = service.view(&data, &session)?;
    let turn = place::open(&view, None).or(view.turns.last());
    Ok(json!({
        "agent": view.agent,
        "sessionId": view.session_id,
        "title": view.title,
        "model": view.model,
        "started": view.started.map(clock::stamp),
        "lastUpdated": view.last_updated.map(clock::stamp),
        "status": view.status,
        "currentTurnRequestId": turn.map(|t| place::id_for(t, &named)),
        "currentTurnStatus": turn.map(|t| t.status),
        "turnCount": view.turn_count,
    }))
}

pub(super) fn close(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    let named: Named = params.read()?;
    let written = service.write(&named, |view| Ok(closing(view)))?;
    if service.opened.as_ref() == Some(&written.session) {
        service.opened = None;
    }
    if let (Some(data), Some(project)) = (service.existing()?, service.around.project())
        && data.called(&project).ok().flatten().as_ref() == Some(&written.session)
    {
        service.remember(&data, None)?;
    }
    Ok(json!({"sessionId": written.session, "status": written.view.status, "closed": true}))
}

/// The records of a session's close: every open turn gets a presumed end. None when it is closed.
pub(super) fn closing(view: &SessionView) -> Vec<Body> {
    let open = view.turns.iter().filter(|t| t.status == "in_progress");
    let mut bodies: Vec<Body> = open
        .map(|t| Body::TurnPresumed {
            turn: t.request_id.clone(),
            code: Redacted::new("session_ended"),
        })
        .collect();
    if !view.ended {
        bodies.push(Body::SessionEnd {
            reason: Redacted::new("closed"),
        });
    }
    bodies
}

pub(super) fn set_title(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Given {
        title: Redacted,
    }
    let named: Named = params.read()?;
    let Given { title } = params.read()?;
    let written = service.write(&named, |view| {
        let body = || Body::SessionTitle { title: title.clone() };
        Ok((view.title != title).then(body).into_iter().collect())
    })?;
    Ok(json!({"sessionId": written.session, "title": title, "retitled": true}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_ids_have_their_form_whatever_the_title() {
        for (title, slug) in [
            ("Implement JWT authentication!", "implement-jwt-authentication-"),
            ("  --  ", ""),
            ("日本語", ""),
            ("Größe ändern", "gr-e-ndern-"),
            (&"word ".repeat(40), "word-word-word-word-word-word-word-word-"),
        ] {
            let id = made("YourAgent", title).unwrap();
            let suffix = id.as_str().splitn(3, '-').nth(2).unwrap().to_owned();
            assert!(suffix.starts_with(slug) && suffix.len() == slug.len() + 4, "{id}");
        }
    }
}
