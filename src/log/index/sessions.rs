//! Sessions, newest first.

use chrono::{DateTime, Utc};
use rusqlite::Row;
use rusqlite::types::Value;
use serde::Serialize;

use super::refresh::stamp;
use super::rows::Stamp;
use super::{Error, Filters, Index};
use crate::log::grown;
use crate::log::id::SessionId;

/// A page of sessions.
#[derive(Debug)]
pub struct Page {
    /// Its sessions.
    pub sessions: Vec<Summary>,
    /// How many there are in all.
    pub total: usize,
}

/// A session without its turns.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The agent in PascalCase.
    pub agent: String,
    /// The log session.
    pub session_id: String,
    /// The host, if hooks write it.
    pub host: Option<String>,
    /// The host's own id of the session.
    pub host_session: Option<String>,
    /// The title.
    pub title: String,
    /// The model, if known.
    pub model: Option<String>,
    /// The project root.
    pub project_root: Option<String>,
    /// When its first record was written.
    pub started: Option<DateTime<Utc>>,
    /// When its last one was.
    pub last_updated: Option<DateTime<Utc>>,
    /// `in_progress`, `completed` or `failed`.
    pub status: String,
    /// How many turns it has.
    pub turn_count: usize,
    /// How many files its turns changed.
    pub files_modified_count: usize,
    /// The tags of its turns.
    pub tags: Vec<String>,
    /// Bytes of its log.
    #[serde(skip)]
    pub bytes: u64,
}

const COLUMNS: &str = "agent, session, host, host_session, title, model, project, started, last, status, turns, files, \
                       tags, length, inode, modified";

impl Index<'_> {
    /// The sessions that are wanted, newest first.
    ///
    /// # Errors
    /// [`Error`].
    pub fn sessions(&mut self, filters: &Filters, limit: usize, offset: usize) -> Result<Page, Error> {
        let clause = filters.clause();
        let (sql, mut values) = (clause.sql(), clause.values);
        let total: i64 = self
            .conn
            .prepare(&format!("SELECT count(*) FROM sessions{sql}"))?
            .query_row(rusqlite::params_from_iter(&values), |row| row.get(0))?;
        let number = |n: usize| Value::from(i64::try_from(n).unwrap_or(i64::MAX));
        values.extend([number(limit), number(offset)]);
        let mut page = Vec::new();
        {
            let mut select = self.conn.prepare(&format!(
                "SELECT {COLUMNS} FROM sessions{sql} ORDER BY updated DESC, session DESC LIMIT ? OFFSET ?"
            ))?;
            let mut rows = select.query(rusqlite::params_from_iter(&values))?;
            while let Some(row) = rows.next()? {
                page.push((summary(row)?, Stamp::of_row(row)?));
            }
        }
        self.suspect(&page)?;
        Ok(Page {
            sessions: page.into_iter().map(|(summary, _)| summary).collect(),
            total: usize::try_from(total).unwrap_or(0),
        })
    }

    /// The ids of all sessions that are wanted, oldest first.
    ///
    /// # Errors
    /// [`Error`].
    pub fn ids(&mut self, filters: &Filters) -> Result<Vec<SessionId>, Error> {
        let clause = filters.clause();
        let sql = clause.sql();
        let mut select = self.conn.prepare(&format!(
            "SELECT session FROM sessions{sql} ORDER BY started, session"
        ))?;
        let mut rows = select.query(rusqlite::params_from_iter(&clause.values))?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            ids.extend(SessionId::try_from(row.get::<_, String>(0)?).ok());
        }
        Ok(ids)
    }

    /// A log that somebody changed by other ways than ours is not marked. The ones that are shown are looked at, and
    /// marked then: they are read again before the answer is given.
    fn suspect(&mut self, page: &[(Summary, Stamp)]) -> Result<(), Error> {
        let failed = Error::io("look at the session logs");
        // Where nobody can leave a mark, everything was read for this question.
        let (Some(log), Some(marks)) = (
            self.data.dir().sub("log").map_err(&failed)?,
            self.data.grown().ok().flatten(),
        ) else {
            return Ok(());
        };
        for (summary, was) in page {
            let Ok(id) = SessionId::try_from(summary.session_id.clone()) else {
                continue;
            };
            if stamp(&log, &id).map_err(&failed)? != Some(*was)
                && marks.stat(id.as_str()).map_err(&failed)?.is_none()
                && grown::mark(&marks, &id).is_ok()
            {
                self.suspects = true;
            }
        }
        Ok(())
    }
}

impl Stamp {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            length: row.get("length")?,
            inode: row.get("inode")?,
            modified: row.get("modified")?,
        })
    }
}

fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let time = |name: &str| -> rusqlite::Result<Option<DateTime<Utc>>> {
        Ok(row
            .get::<_, Option<i64>>(name)?
            .and_then(DateTime::from_timestamp_micros))
    };
    let count = |name: &str| -> rusqlite::Result<usize> {
        Ok(usize::try_from(row.get::<_, i64>(name)?).unwrap_or(0))
    };
    let tags: String = row.get("tags")?;
    Ok(Summary {
        agent: row.get("agent")?,
        session_id: row.get("session")?,
        host: row.get("host")?,
        host_session: row.get("host_session")?,
        title: row.get("title")?,
        model: row.get("model")?,
        project_root: row.get("project")?,
        started: time("started")?,
        last_updated: time("last")?,
        status: row.get("status")?,
        turn_count: count("turns")?,
        files_modified_count: count("files")?,
        tags: serde_json::from_str(&tags).unwrap_or_default(),
        bytes: u64::try_from(row.get::<_, i64>("length")?).unwrap_or(0),
    })
}
