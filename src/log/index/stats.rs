//! How much there is, of whom, and when.

use chrono::{DateTime, Utc};
use rusqlite::params_from_iter;
use serde::Serialize;

use super::{Error, Filters, Index};

/// How much there is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Sessions.
    pub sessions: usize,
    /// Turns.
    pub turns: usize,
    /// Bytes of their logs.
    pub log_bytes: u64,
    /// When the first of them began.
    pub first: Option<DateTime<Utc>>,
    /// When the last of them was updated.
    pub last: Option<DateTime<Utc>>,
    /// By agent, most sessions first.
    pub agents: Vec<Count>,
    /// By project, most sessions first.
    pub projects: Vec<Count>,
    /// By status, most sessions first.
    pub statuses: Vec<Count>,
    /// By the day (UTC) on which a session began, newest first.
    pub days: Vec<Count>,
}

/// How many of one kind.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Which; null: it is not known.
    pub name: Option<String>,
    /// Sessions.
    pub sessions: usize,
    /// Turns.
    pub turns: usize,
}

impl Index<'_> {
    /// How much of what is wanted there is.
    ///
    /// # Errors
    /// [`Error`].
    pub fn stats(&mut self, filters: &Filters) -> Result<Stats, Error> {
        let clause = filters.clause();
        let sql = clause.sql();
        let size = |n: i64| usize::try_from(n).unwrap_or(0);
        let time = |at: Option<i64>| at.and_then(DateTime::from_timestamp_micros);
        let by = |what: &str, order: &str| -> Result<Vec<Count>, Error> {
            let mut select = self.conn.prepare(&format!(
                "SELECT {what} AS name, count(*) AS n, sum(turns) FROM sessions{sql} GROUP BY 1 ORDER BY {order}"
            ))?;
            let rows = select.query_map(params_from_iter(&clause.values), |row| {
                Ok(Count {
                    name: row.get(0)?,
                    sessions: size(row.get(1)?),
                    turns: size(row.get(2)?),
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        };
        let most = "n DESC, name";
        let (agents, projects, statuses) = (by("agent", most)?, by("project", most)?, by("status", most)?);
        let days = by("date(started / 1000000, 'unixepoch')", "name DESC")?;
        let mut select = self.conn.prepare(&format!(
            "SELECT count(*), ifnull(sum(turns), 0), ifnull(sum(length), 0), min(started), max(last) FROM sessions{sql}"
        ))?;
        let stats = select.query_row(params_from_iter(&clause.values), |row| {
            Ok(Stats {
                sessions: size(row.get(0)?),
                turns: size(row.get(1)?),
                log_bytes: u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0),
                first: time(row.get(3)?),
                last: time(row.get(4)?),
                agents,
                projects,
                statuses,
                days,
            })
        })?;
        Ok(stats)
    }
}
