//! `open/<session id>`: which sessions have a turn, a task or todos that are not ended. Settlement and
//! resume read only these, so that their cost does not grow with history. An entry is written before the
//! turn begins in the log and removed after it ended there: a kill between the two leaves an entry too
//! many, which settlement removes, and never one too few.

use std::io;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::data_dir::DataDir;
use super::id::{RequestId, SessionId};
use crate::files::Durability;
use crate::host::Host;
use crate::process::HostProcess;
use crate::redact::Redacted;
use crate::task::{Task, Todos};

/// One unfinished session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenEntry {
    /// The format's version.
    pub v: u32,
    /// The log session.
    pub session: SessionId,
    /// The host that runs it.
    pub host: Host,
    /// The name of its directory in the hook root.
    pub session_key: String,
    /// The project root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_root: Option<Redacted>,
    /// The open turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<RequestId>,
    /// When this entry began to be true.
    pub since: DateTime<Utc>,
    /// The task, as it was when the entry was written; the live state or the log knows what it did since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// The todos, if any are open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todos: Option<Todos>,
    /// The host's process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<HostProcess>,
    /// Its turn has had its end, real or presumed; only the task is left.
    #[serde(default)]
    pub settled: bool,
    /// The host said that the session has ended.
    #[serde(default)]
    pub ended: bool,
}

impl DataDir {
    /// Writes the entry of a session.
    ///
    /// # Errors
    /// When it cannot be written; the older entry is then still there.
    pub fn set_open(&self, entry: &OpenEntry) -> io::Result<()> {
        let dir = self.dir().sub_or_make("open")?;
        let (name, bytes) = (entry.session.as_str(), serde_json::to_vec(entry)?);
        match dir.create_new(name, &bytes) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                dir.replace(name, &format!("{name}.new"), &bytes, Durability::Process)
            }
            other => other,
        }
    }

    /// Removes the entry of a session; `false` when there was none.
    ///
    /// # Errors
    /// When it is there and stays.
    pub fn remove_open(&self, session: &SessionId) -> io::Result<bool> {
        match self.dir().sub("open")? {
            Some(dir) => dir.remove(session.as_str()),
            None => Ok(false),
        }
    }

    /// The entry of a session.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn get_open(&self, session: &SessionId) -> io::Result<Option<OpenEntry>> {
        let Some(dir) = self.dir().sub("open")? else {
            return Ok(None);
        };
        Ok(dir
            .read(session.as_str(), 1024 * 1024)?
            .and_then(|b| serde_json::from_slice(&b).ok()))
    }

    /// All entries, newest first; one that cannot be read is left out.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn open_entries(&self) -> io::Result<Vec<OpenEntry>> {
        let Some(dir) = self.dir().sub("open")? else {
            return Ok(Vec::new());
        };
        let mut entries = Vec::new();
        for entry in dir
            .entries()?
            .into_iter()
            .filter(|e| !e.is_dir && !e.name.ends_with(".new"))
        {
            if let Ok(Some(bytes)) = dir.read(&entry.name, 1024 * 1024)
                && let Ok(open) = serde_json::from_slice::<OpenEntry>(&bytes)
            {
                entries.push(open);
            }
        }
        entries.sort_by(|a, b| b.since.cmp(&a.since).then_with(|| b.session.cmp(&a.session)));
        Ok(entries)
    }
}
