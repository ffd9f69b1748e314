//! `called/<project>`: the session that was last begun by `bookend call` in a project. And the sessions that
//! are none of a caller's to begin, because a host was told their ids.

use std::collections::HashSet;
use std::io;

use sha2::{Digest, Sha256};

use super::data_dir::DataDir;
use super::id::SessionId;
use crate::files::Durability;
use crate::host::Host;

impl DataDir {
    /// The session that was last begun by `bookend call` in a project.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn called(&self, project: &str) -> io::Result<Option<SessionId>> {
        let Some(dir) = self.dir().sub("called")? else {
            return Ok(None);
        };
        let bytes = dir.read(&called_name(project), 1024)?;
        Ok(bytes.and_then(|b| SessionId::try_from(String::from_utf8_lossy(&b).trim().to_owned()).ok()))
    }

    /// Records the session that was begun by `bookend call` in a project, or that it is closed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_called(&self, project: &str, id: Option<&SessionId>) -> io::Result<()> {
        let (dir, name) = (self.dir().sub_or_make("called")?, called_name(project));
        match id {
            Some(id) => {
                let temp = format!("{name}.{}", uuid::Uuid::now_v7());
                dir.replace(&name, &temp, format!("{id}\n").as_bytes(), Durability::Process)
            }
            None => dir.remove(&name).map(|_| ()),
        }
    }

    /// Forgets where a call was in one of these sessions.
    ///
    /// # Errors
    /// When one cannot be looked at or removed.
    pub fn forget_called(&self, ids: &HashSet<&SessionId>) -> io::Result<()> {
        let Some(dir) = self.dir().sub("called")? else {
            return Ok(());
        };
        for entry in dir.entries()? {
            let bytes = dir.read(&entry.name, 1024)?.unwrap_or_default();
            let id = SessionId::try_from(String::from_utf8_lossy(&bytes).trim().to_owned());
            if id.is_ok_and(|id| ids.contains(&id)) {
                dir.remove(&entry.name)?;
            }
        }
        Ok(())
    }

    /// Whether hooks write to that log session, or will: their host was told its id.
    ///
    /// # Errors
    /// When what the hosts were told cannot be read.
    pub fn is_hooked(&self, id: &SessionId) -> io::Result<bool> {
        let Some(dir) = self.dir().sub("by-host")? else {
            return Ok(false);
        };
        for host in Host::ALL.into_iter().filter(|h| h.agent() == id.agent()) {
            let Some(names) = dir.sub(host.id())? else {
                continue;
            };
            for entry in names.entries()? {
                if self.by_host(host, &entry.name)?.as_ref() == Some(id) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// A project's path is no file name.
fn called_name(project: &str) -> String {
    let digest = Sha256::digest(project);
    digest.iter().take(16).map(|b| format!("{b:02x}")).collect()
}
