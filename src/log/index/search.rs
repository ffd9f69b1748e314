//! Turns by their words, newest first.

use chrono::{DateTime, Utc};
use rusqlite::Row;
use rusqlite::types::Value;
use serde::Serialize;

use super::filter::Clause;
use super::schema::FIELDS;
use super::write::first_id;
use super::{Error, Filters, Index, Words};

/// Where a found word begins and ends within a snippet, until it is taken apart.
const HIT: (char, char) = ('\u{2}', '\u{3}');
/// Words of a snippet.
const LENGTH: usize = 16;

/// A page of matches.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Matches {
    /// Its matches.
    pub matches: Vec<Match>,
    /// How many there are in all.
    pub total_count: usize,
    /// How many of the newest are left out.
    pub offset: usize,
    /// How many a page has.
    pub limit: usize,
}

/// A turn in which the words stand.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Match {
    /// The log session.
    pub session_id: String,
    /// The turn; none for the title of a session that is no turn's.
    pub request_id: Option<String>,
    /// What of the turn: `title`, `prompt`, `response`, `interpretation`, `dialog`, `actions`, `tags`, `failure`.
    pub field: &'static str,
    /// The words with what stands around them.
    pub snippet: String,
    /// When the turn began.
    pub at: Option<DateTime<Utc>>,
    /// The snippet in parts, those that were looked for being `true`.
    #[serde(skip)]
    pub parts: Vec<(bool, String)>,
    /// The project.
    #[serde(skip)]
    pub project: Option<String>,
}

impl Index<'_> {
    /// The turns in which all words stand, newest first. Of the filters `from` and `to` say when the turn began.
    ///
    /// # Errors
    /// [`Error`].
    pub fn search(
        &mut self,
        words: &Words,
        filters: &Filters,
        limit: usize,
        offset: usize,
    ) -> Result<Matches, Error> {
        let mut clause = Clause::default();
        clause.and("texts MATCH ?", [Value::from(words.query().to_owned())]);
        if let Some(from) = filters.from {
            clause.and("texts.rowid >= ?", [Value::from(first_id(from))]);
        }
        if let Some(to) = filters.to {
            // All of that millisecond.
            let end = first_id(to + chrono::TimeDelta::milliseconds(1));
            clause.and("texts.rowid < ?", [Value::from(end)]);
        }
        let mut of_session = Clause::default();
        filters.of_session(&mut of_session);
        let sub = of_session.sql();
        if !sub.is_empty() {
            let sub = format!(
                "texts.rowid IN (SELECT id FROM turns WHERE session IN (SELECT id FROM sessions{sub}))"
            );
            clause.and(sub, of_session.values);
        }
        let (sql, mut values) = (clause.sql(), clause.values);
        let total: i64 = self
            .conn
            .prepare(&format!("SELECT count(*) FROM texts{sql}"))?
            .query_row(rusqlite::params_from_iter(&values), |row| row.get(0))?;
        let number = |n: usize| Value::from(i64::try_from(n).unwrap_or(i64::MAX));
        values.extend([number(limit), number(offset)]);
        let snippets: Vec<String> = (0..FIELDS.len())
            .map(|i| format!("snippet(texts, {i}, char(2), char(3), '…', {LENGTH})"))
            .collect();
        // One statement, since each works out anew what the words mean; the snippets are made for the page alone.
        let mut select = self.conn.prepare(&format!(
            "SELECT texts.rowid, {} FROM texts{sql} ORDER BY texts.rowid DESC LIMIT ? OFFSET ?",
            snippets.join(", ")
        ))?;
        let mut rows = select.query(rusqlite::params_from_iter(&values))?;
        let mut matches = Vec::new();
        while let Some(row) = rows.next()? {
            matches.push(self.one(row)?);
        }
        Ok(Matches {
            matches,
            total_count: usize::try_from(total).unwrap_or(0),
            offset,
            limit,
        })
    }

    fn one(&self, row: &Row<'_>) -> Result<Match, Error> {
        let mut best = ("title", String::new());
        for (i, field) in FIELDS.iter().enumerate() {
            let text: String = row.get(1 + i)?;
            if text.contains(HIT.0) {
                best = (field, text);
                break;
            }
        }
        let parts = parts(&best.1);
        let mut select = self.conn.prepare_cached(
            "SELECT s.session, t.request, t.began, s.project FROM turns t JOIN sessions s ON s.id = t.session
             WHERE t.id = ?1",
        )?;
        let found = select.query_row([row.get::<_, i64>(0)?], |row| {
            Ok(Match {
                session_id: row.get(0)?,
                request_id: row.get(1)?,
                field: best.0,
                snippet: parts.iter().map(|(_, text)| text.as_str()).collect(),
                at: row
                    .get::<_, Option<i64>>(2)?
                    .and_then(DateTime::from_timestamp_micros),
                parts,
                project: row.get(3)?,
            })
        })?;
        Ok(found)
    }
}

fn parts(snippet: &str) -> Vec<(bool, String)> {
    let mut parts = vec![(false, String::new())];
    for c in snippet.chars() {
        if c == HIT.0 || c == HIT.1 {
            parts.push((c == HIT.0, String::new()));
        } else if let Some((_, text)) = parts.last_mut() {
            text.push(c);
        }
    }
    parts.retain(|(_, text)| !text.is_empty());
    parts
}
