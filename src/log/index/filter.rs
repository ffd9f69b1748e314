//! Which sessions are wanted, as SQL.

use chrono::{DateTime, Utc};
use rusqlite::types::Value;

use super::words::Words;
use crate::log::id::SessionId;

/// Which sessions are wanted; what is absent filters nothing.
#[derive(Debug, Clone, Default)]
pub struct Filters {
    /// This one alone.
    pub session: Option<SessionId>,
    /// Of this agent: `ClaudeCode`, `claude-code` and `claude_code` are one.
    pub agent: Option<String>,
    /// Of one of these directories, which are spellings of one, or below it.
    pub projects: Option<Vec<String>>,
    /// Not of a directory below it.
    pub exact: bool,
    /// `in_progress`, `completed` or `failed`.
    pub status: Option<String>,
    /// Updated then or later.
    pub from: Option<DateTime<Utc>>,
    /// Begun then or earlier.
    pub to: Option<DateTime<Utc>>,
    /// These words stand in one of its turns.
    pub text: Option<Words>,
}

/// A condition and what its question marks stand for.
#[derive(Debug, Default)]
pub(super) struct Clause {
    parts: Vec<String>,
    pub(super) values: Vec<Value>,
}

impl Clause {
    pub(super) fn and(&mut self, part: impl Into<String>, values: impl IntoIterator<Item = Value>) {
        self.parts.push(part.into());
        self.values.extend(values);
    }

    /// ` WHERE …`, or nothing.
    pub(super) fn sql(&self) -> String {
        if self.parts.is_empty() {
            return String::new();
        }
        format!(" WHERE {}", self.parts.join(" AND "))
    }
}

impl Filters {
    /// Whether every session is wanted.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.clause().parts.is_empty()
    }

    /// The condition on the sessions.
    pub(super) fn clause(&self) -> Clause {
        let mut clause = Clause::default();
        self.of_session(&mut clause);
        if let Some(from) = self.from {
            clause.and("updated >= ?", [Value::from(from.timestamp_micros())]);
        }
        if let Some(to) = self.to {
            clause.and("started <= ?", [Value::from(to.timestamp_micros())]);
        }
        if let Some(words) = &self.text {
            let sub =
                "id IN (SELECT session FROM turns WHERE id IN (SELECT rowid FROM texts WHERE texts MATCH ?))";
            clause.and(sub, [Value::from(words.query().to_owned())]);
        }
        clause
    }

    /// The condition on what a session is, apart from its times and texts.
    pub(super) fn of_session(&self, clause: &mut Clause) {
        if let Some(session) = &self.session {
            clause.and("session = ?", [Value::from(session.to_string())]);
        }
        if let Some(agent) = &self.agent {
            clause.and("agent_key = ?", [Value::from(key_of(agent))]);
        }
        if let Some(status) = &self.status {
            clause.and("status = ?", [Value::from(status.clone())]);
        }
        if let Some(projects) = &self.projects {
            let (mut parts, mut values) = (vec!["0".to_owned()], Vec::new());
            for dir in projects {
                let dir = dir.trim_end_matches('/');
                if self.exact {
                    parts.push("project = ?".to_owned());
                    values.push(Value::from(dir.to_owned()));
                    continue;
                }
                // `0` is the character behind `/`.
                parts.push("project = ? OR (project >= ? AND project < ?)".to_owned());
                values.extend([dir.to_owned(), format!("{dir}/"), format!("{dir}0")].map(Value::from));
            }
            clause.and(format!("({})", parts.join(" OR ")), values);
        }
    }
}

/// An agent's name without what its spellings differ in.
pub(super) fn key_of(agent: &str) -> String {
    let letters = agent.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}
