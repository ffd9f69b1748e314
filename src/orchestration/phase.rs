//! The id of a phase, and where a phase can stand.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The id of a phase: a number, or a text that is none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(untagged)]
pub enum PhaseId {
    /// `1`, also written `"1"`.
    Number(u64),
    /// `design`.
    Name(String),
}

impl PhaseId {
    /// The id of that text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        match text.parse::<u64>() {
            Ok(number) if number.to_string() == text => Self::Number(number),
            _ => Self::Name(text.to_owned()),
        }
    }
}

impl std::fmt::Display for PhaseId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for PhaseId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(text) if !text.trim().is_empty() => Ok(Self::new(text.trim())),
            Value::Number(number) => Ok(Self::new(&number.to_string())),
            other => Err(serde::de::Error::custom(format!("{other} is no id of a phase"))),
        }
    }
}

/// Where a phase stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PhaseStatus {
    /// Not begun.
    Pending,
    /// Worked on.
    InProgress,
    /// Done.
    Completed,
    /// Went wrong.
    Failed,
    /// Left out, as the user decided.
    Skipped,
}

impl PhaseStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::InProgress,
        Self::Completed,
        Self::Failed,
        Self::Skipped,
    ];

    /// As it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// The one that is written so.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }

    /// Checkmark, circle, cross, square or dash.
    #[must_use]
    pub fn indicator(self) -> char {
        match self {
            Self::Pending => '□',
            Self::InProgress => '○',
            Self::Completed => '✓',
            Self::Failed => '✗',
            Self::Skipped => '–',
        }
    }

    /// Whether what it blocked may begin.
    #[must_use]
    pub fn is_done(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped)
    }
}
