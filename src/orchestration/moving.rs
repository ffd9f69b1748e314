//! What moves when a session is archived. It is written into the session first; then the documents move, and the
//! session last, so that whoever finds it half done can finish it. Nothing ever takes the place of anything.

use std::io;

use rustix::fs::FileType;

use super::archive::Archived;
use super::error::Error;
use super::session::{Archive, Move, Session};
use super::store::{ACTIVE, Held, is_archived};

impl Held<'_> {
    /// Whether there is an archive of that id.
    ///
    /// # Errors
    /// What the file system refused.
    pub fn is_archived(&self, id: &str) -> Result<bool, Error> {
        is_archived(self.at, id)
    }

    /// How the session is archived: documents in `plans` move, and take the place of nothing.
    ///
    /// # Errors
    /// What the file system refused.
    pub fn archiving(&self, session: &mut Session, reason: Option<String>, at: &str) -> Result<(), Error> {
        let target = self.open(&["plans", "archive"], false)?;
        let mut moves: Vec<Move> = Vec::new();
        for document in [&mut session.design_document, &mut session.implementation_plan] {
            let Some(from) = document.as_deref() else { continue };
            if let Some(known) = moves.iter().find(|m| m.from == from) {
                *document = Some(known.to.clone());
                continue;
            }
            let Some(name) = self.planned(from)? else { continue };
            let is_taken = |name: &str| {
                let planned = moves.iter().any(|m| m.to.ends_with(&format!("/{name}")));
                let there = target.as_ref().map_or(Ok(None), |dir| dir.stat(name));
                there
                    .map(|there| planned || there.is_some())
                    .map_err(|e| Error::storage("look into plans/archive", &e))
            };
            let Some(free) = free_name(&name, &session.session_id, is_taken)? else {
                continue;
            };
            let to = self.at.shown(&["plans", "archive", &free]);
            moves.push(Move {
                from: from.to_owned(),
                to: to.clone(),
            });
            *document = Some(to);
        }
        session.archive = Some(Archive {
            at: at.to_owned(),
            reason,
            files: moves,
        });
        at.clone_into(&mut session.updated);
        Ok(())
    }

    /// The name of a document that stands in `plans` itself. That it cannot be told now is not that it does not.
    fn planned(&self, path: &str) -> Result<Option<String>, Error> {
        let Some(name) = self.planned_name(path) else {
            return Ok(None);
        };
        let Some(dir) = self.open(&["plans"], false)? else {
            return Ok(None);
        };
        let stat = dir
            .stat(&name)
            .map_err(|e| Error::storage(format!("look at {path}"), &e))?;
        let is_file = stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
        Ok(is_file.then_some(name))
    }

    /// Moves what [`Held::archiving`] wrote down, the session last; what is moved already stays. The documents
    /// that were moved, and where the session is.
    ///
    /// # Errors
    /// What the file system refused; the next call goes on.
    pub fn finish(&self, session: &Session) -> Result<Archived, Error> {
        let failed = |e: io::Error| Error::ArchiveUnfinished { what: e.to_string() };
        let id = &session.session_id;
        if !super::arguments::is_id(id) {
            return Err(Error::StateInvalid {
                path: self.shown(),
                why: "its session_id is none".to_owned(),
            });
        }
        let plans = self.open(&["plans"], true)?;
        let archived = self.open(&["plans", "archive"], true)?;
        let archive = self.open(&["state", "archive"], true)?;
        let (Some(plans), Some(archived), Some(archive)) = (plans, archived, archive) else {
            return Err(Error::Busy);
        };
        let mut moved = Vec::new();
        for one in session.archive.iter().flat_map(|archive| &archive.files) {
            let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
            let (from, to) = (last(&one.from), last(&one.to));
            // The file may say anything: only what this moves anyway is moved.
            if one.to != self.at.shown(&["plans", "archive", &to])
                || self.planned_name(&one.from) != Some(from.clone())
            {
                continue;
            }
            match plans.move_new(&from, &archived, &to) {
                Ok(true) => moved.push(one.to.clone()),
                // Moved before.
                Ok(false) => {
                    if archived.stat(&to).map_err(failed)?.is_some() {
                        moved.push(one.to.clone());
                    }
                }
                // Its place was taken meanwhile: then it stays.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(failed(e)),
            }
        }
        let name = format!("{id}.md");
        match self.dir.move_new(ACTIVE, &archive, &name) {
            Ok(_) => Ok(Archived {
                session_id: id.clone(),
                archive_path: self.at.shown(&["state", "archive", &name]),
                archived_files: moved,
                already_archived: false,
            }),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                Err(Error::AlreadyArchived { session: id.clone() })
            }
            Err(e) => Err(failed(e)),
        }
    }

    fn planned_name(&self, path: &str) -> Option<String> {
        let parts = self.at.root.inside(path).ok()?;
        let (name, dir) = parts.split_last()?;
        (dir == self.at.parts(&["plans"]).as_slice()).then(|| name.clone())
    }
}

/// The name itself, else one with the session's id before it, else with a number.
fn free_name(
    name: &str,
    id: &str,
    is_taken: impl Fn(&str) -> Result<bool, Error>,
) -> Result<Option<String>, Error> {
    let with_id = format!("{id}-{name}");
    let numbered = (2..1000).map(|n| format!("{id}-{n}-{name}"));
    for name in [name.to_owned(), with_id].into_iter().chain(numbered) {
        if !is_taken(&name)? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
