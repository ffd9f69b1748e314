//! The single entry.

use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use super::error::Error;
use super::handed;
use super::session::Session;
use super::tools::{self, TOOLS};
use super::workspace::Workspace;
use crate::clock;
use crate::config::Maestro;
use crate::fields::check;
use crate::log::data_dir::DataDir;
use crate::log::view::HandoffView;
use crate::redact::Redacted;

/// The tools, as one process calls them.
#[derive(Debug, Clone)]
pub struct Service {
    pub(super) dir: PathBuf,
    /// The directory that the caller works in, as it was last said.
    told: PathBuf,
    /// The state directory that `initialize_workspace` was given.
    pub(super) state_dir: Option<String>,
    pub(super) settings: Maestro,
    /// The data directory in whose log the hooks keep what subagents hand over.
    log: Option<Result<PathBuf, String>>,
}

impl Service {
    /// For a caller that works in that directory. Nothing is opened yet.
    #[must_use]
    pub fn new(settings: Maestro, dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            told: dir.to_owned(),
            state_dir: None,
            settings,
            log: None,
        }
    }

    /// The same, with what the log of that data directory knows of the subagents' reports.
    #[must_use]
    pub fn with_log(self, data_dir: &Result<PathBuf, String>) -> Self {
        Self {
            log: Some(data_dir.clone()),
            ..self
        }
    }

    /// The caller works in that directory from now on. The same one changes nothing: what `initialize_workspace`
    /// chose stays.
    pub fn work_in(&mut self, dir: &Path) {
        if self.told != dir {
            (self.dir, self.told, self.state_dir) = (dir.to_owned(), dir.to_owned(), None);
        }
    }

    /// What subagents of a session handed over, as the log knows it.
    pub(super) fn handed(&self, at: &Workspace, session: &Session) -> Vec<HandoffView> {
        let data = self
            .log
            .as_ref()
            .and_then(|dir| DataDir::existing(dir).ok().flatten());
        handed::read(data.as_ref(), at, session)
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// [`Error`]; nothing was changed then.
    pub fn call(&mut self, tool: &str, params: &Value) -> Result<Value, Error> {
        let Some(tool) = tools::find(tool) else {
            return Err(Error::UnknownTool {
                tool: Redacted::truncated(tool, 100),
                tools: TOOLS.iter().map(|tool| tool.name).collect(),
            });
        };
        let checked = check(params, tool.fields.iter())?;
        (tool.handle)(self, &checked)
    }

    /// The workspace, as it is now.
    ///
    /// # Errors
    /// [`Error::Workspace`].
    pub fn workspace(&self) -> Result<Workspace, Error> {
        Workspace::open(&self.dir, self.state_dir.as_deref(), &self.settings)
    }
}

/// Now, as it is written into a session.
pub(super) fn now() -> String {
    stamp(clock::now())
}

fn stamp(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A type of ours as an answer.
pub(super) fn answer(value: &impl serde::Serialize) -> Result<Value, Error> {
    serde_json::to_value(value).map_err(|e| Error::Internal {
        what: format!("an answer is no JSON: {e}"),
    })
}

/// An answer that says that it went well first.
pub(super) fn success(mut more: Value) -> Value {
    let mut all = json!({"success": true});
    if let (Some(all), Some(more)) = (all.as_object_mut(), more.as_object_mut()) {
        all.append(more);
    }
    all
}
