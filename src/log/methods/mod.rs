//! The `workflow.sessionlog.*` and `client.SessionLog.*` methods: how models and people add to a log and ask it.
//!
//! ```text
//! line ──▶ envelope ──▶ table: name, fields, handler ──▶ check ──▶ handler ──▶ answer
//!                                                                    │
//!                     place: which session, which turn               │
//!                     merge: what is new of what was given (pure)  ◀─┘ under the log's lock
//! ```
//!
//! `table` is the only list of the methods; the REPL, `bookend call`, their help and the schemas of tools are made
//! of it. Nothing is dropped in silence: what a method does not know is refused by name. What was written by a hook
//! or a model before is never replaced by less.

mod ending;
pub mod envelope;
pub mod error;
mod forms;
mod merge;
mod params;
mod place;
mod query;
mod session;
mod submit;
pub mod table;
mod turn;

use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::data_dir::DataDir;
use super::id::SessionId;
use super::ledger::Ledger;
use super::record::{Body, By};
use super::view::SessionView;
use crate::clock;
use crate::config::{Config, LogPrompts};
use crate::fields::check;
use crate::redact::Redacted;
use envelope::Request;
use error::Error;

/// How long a method waits for the lock of a log.
const WAIT: Duration = Duration::from_secs(5);

/// What is around the caller: where it runs, and in whose session.
pub trait Surroundings {
    /// The working directory.
    fn cwd(&self) -> Option<Redacted>;
    /// The project of it.
    fn project(&self) -> Option<Redacted>;
    /// The log session of the host session in which the caller runs, where the host says which that is.
    fn host_session(&self, data: &DataDir) -> Option<SessionId>;
    /// The sessions whose hosts run.
    fn live(&self) -> Vec<Live>;
    /// The process ends after one call: what it opens is remembered for the next one in the project.
    fn is_one_call(&self) -> bool;
}

/// A session whose host runs.
#[derive(Debug, Clone)]
pub struct Live {
    /// Its log session.
    pub session: SessionId,
    /// What it is about.
    pub task: Option<Redacted>,
    /// Its project.
    pub project: Option<Redacted>,
}

/// The methods, as one process calls them.
pub struct Service<'a> {
    data_dir: Result<PathBuf, String>,
    prompts: LogPrompts,
    around: &'a dyn Surroundings,
    /// The session that this process opened last.
    opened: Option<SessionId>,
}

/// A log after a method has written to it, and when.
struct Written {
    session: SessionId,
    view: SessionView,
    at: DateTime<Utc>,
}

impl<'a> Service<'a> {
    /// For a caller in these surroundings.
    #[must_use]
    pub fn new(config: &Config, around: &'a dyn Surroundings) -> Self {
        Self {
            data_dir: config.data_dir.clone(),
            prompts: config.log_prompts,
            around,
            opened: None,
        }
    }

    /// The answer to a line.
    pub fn answer(&mut self, line: &[u8]) -> Value {
        match Request::parse(line) {
            Ok(request) => self.serve(&request),
            Err(bad) => envelope::answer(&bad.id, None, &Err(*bad.error)),
        }
    }

    /// The answer to a request.
    pub fn serve(&mut self, request: &Request) -> Value {
        let outcome = self.call(&request.method, &request.params);
        envelope::answer(&request.id, Some(&request.method), &outcome)
    }

    /// Calls a method.
    ///
    /// # Errors
    /// [`Error`]; nothing was written then.
    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value, Error> {
        let Some(method) = table::find(method) else {
            return Err(Error::MethodNotFound {
                method: Redacted::truncated(method, 100),
                methods: table::METHODS.iter().map(|m| m.name).collect(),
            });
        };
        let checked = check(params, method.fields())?;
        (method.handle)(self, &checked)
    }

    /// The data directory, made if missing.
    fn data(&self) -> Result<DataDir, Error> {
        DataDir::open(&self.data_dir).map_err(|e| Error::Storage { what: e.to_string() })
    }

    /// The data directory, if it is there.
    fn existing(&self) -> Result<Option<DataDir>, Error> {
        DataDir::existing(&self.data_dir).map_err(|e| Error::Storage { what: e.to_string() })
    }

    /// Writes what `records` makes of a session as it is now, all of it in one write under the log's lock; an
    /// end is on the disk when this returns.
    fn write(
        &self,
        named: &place::Named,
        records: impl FnOnce(&SessionView) -> Result<Vec<Body>, Error>,
    ) -> Result<Written, Error> {
        let unknown = |session| Error::SessionNotFound {
            session,
            candidates: Vec::new(),
        };
        let data = self
            .existing()?
            .ok_or_else(|| unknown(named.session_id.clone()))?;
        let session = self.session(&data, named)?;
        let ledger = Ledger::open(&data, &session, By::Model, false, WAIT)?;
        let mut ledger = ledger.ok_or_else(|| unknown(Some(session.clone())))?;
        let view = self.view(&data, &session)?;
        let bodies = records(&view)?;
        append(&mut ledger, session, view, bodies)
    }

    /// The log of a session as it is now.
    fn view(&self, data: &DataDir, session: &SessionId) -> Result<SessionView, Error> {
        let read =
            SessionView::read(data, session).map_err(|e| Error::storage("read the session log", &e))?;
        read.filter(|view| view.end > 0)
            .ok_or_else(|| Error::SessionNotFound {
                session: Some(session.clone()),
                candidates: Vec::new(),
            })
    }
}

/// Appends, and what the log is then.
fn append(
    ledger: &mut Ledger,
    session: SessionId,
    mut view: SessionView,
    bodies: Vec<Body>,
) -> Result<Written, Error> {
    let at = clock::now();
    if !bodies.is_empty() {
        view.follow(&bodies, By::Model, at);
        let written = ledger.append(bodies, at).and_then(|_| ledger.sync());
        written.map_err(|e| Error::storage("write the session log", &e))?;
    }
    Ok(Written { session, view, at })
}
