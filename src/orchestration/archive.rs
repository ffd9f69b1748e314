//! Archiving a session, because all is done or because the user asks for it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::Error;
use super::service::{Service, answer, now, success};
use super::session::{PhaseId, PhaseStatus};
use super::store::Held;
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

/// Where a session and its documents are.
pub(super) fn shown(path: &str, files: &[String]) -> Value {
    json!({"archive_path": path, "archived_files": files})
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
        let stored = held.read()?;
        let is_other = stored
            .as_ref()
            .is_none_or(|s| named.is_some_and(|named| named != s.session.session_id));
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
        let (archived_files, archive_path) = held.finish(&stored.session)?;
        Ok(Archived {
            session_id: id,
            archive_path,
            archived_files,
            already_archived: false,
        })
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
