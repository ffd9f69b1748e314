//! Archiving a session, because all is done or because the user asks for it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::Error;
use super::service::{Service, answer, now, success};
use super::session::{PhaseId, PhaseStatus};
use super::store::{Found, Held, Stored};
use crate::fields::Checked;
use crate::redact::Redacted;

/// What became of a session.
#[derive(Debug, Clone, Serialize)]
pub struct Archived {
    /// Its id.
    pub session_id: String,
    /// Where it is, from the workspace's root on.
    pub archive_path: String,
    /// Where its documents are.
    pub archived_files: Vec<String>,
    /// It was there before.
    pub already_archived: bool,
}

impl Service {
    /// Archives the session of that id, or the active one. `force`: why, although not all phases have ended.
    ///
    /// # Errors
    /// [`Error::NotFinished`], [`Error::SessionMismatch`], [`Error::NoActiveSession`], [`Error::AlreadyArchived`]
    /// for a file in its place, or what the file system refused.
    pub fn archive(&self, named: Option<&str>, force: Option<&Redacted>) -> Result<Archived, Error> {
        let at = self.workspace()?;
        let held = Held::existing(&at)?.ok_or(Error::NoActiveSession)?;
        let there = |id: &str| Archived {
            session_id: id.to_owned(),
            archive_path: at.shown(&["state", "archive", &format!("{id}.md")]),
            archived_files: Vec::new(),
            already_archived: true,
        };
        let stored = match held.look()? {
            Found::Finished(done) if named.is_none_or(|named| named == done.session_id) => return Ok(done),
            Found::Active(stored) => Some(*stored),
            Found::Finished(_) | Found::Nothing => None,
        };
        let other = |s: &Stored| named.is_some_and(|named| named != s.session.session_id);
        let is_other = stored.as_ref().is_none_or(other);
        if let Some(named) = named.filter(|_| is_other)
            && held.is_archived(named)?
        {
            return Ok(there(named));
        }
        let mut stored = stored.ok_or(Error::NoActiveSession)?;
        let session = &mut stored.session;
        let id = session.session_id.clone();
        if let Some(named) = named.filter(|_| is_other) {
            return Err(Error::SessionMismatch {
                named: named.to_owned(),
                active: id,
            });
        }
        let open: Vec<PhaseId> = session
            .phases
            .iter()
            .filter(|p| !p.is_done())
            .map(|p| p.id.clone())
            .collect();
        if !open.is_empty() && force.is_none() {
            return Err(Error::NotFinished { phases: open });
        }
        if held.is_archived(&id)? {
            return Err(Error::AlreadyArchived { session: id });
        }
        let ended = if open.is_empty() {
            PhaseStatus::Completed.word()
        } else {
            "archived"
        };
        ended.clone_into(&mut session.status);
        held.archiving(session, force.map(ToString::to_string), &now())?;
        held.write(&mut stored)?;
        held.finish(&stored.session)
    }
}

pub(super) fn archive(service: &mut Service, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Given {
        session_id: String,
        #[serde(default)]
        force: bool,
        reason: Option<Redacted>,
    }
    let given: Given = params.read()?;
    if given.force && given.reason.is_none() {
        return Err(Error::parameter(
            "reason",
            None,
            "why, when force is true: text that is not blank",
        ));
    }
    let force = given.reason.as_ref().filter(|_| given.force);
    Ok(success(answer(
        &service.archive(Some(&given.session_id), force)?,
    )?))
}
