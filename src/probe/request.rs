//! What the stub model got: the record that tests and `bookend probe` read.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The main conversation.
    Main,
    /// A subagent's conversation.
    Sub,
    /// A request for a summary of the conversation.
    Compaction,
    /// A model request without tools: a title, a topic.
    Aux,
    /// A token count.
    Count,
    /// A GET or HEAD.
    Get,
    /// A path that the stub does not know.
    Unknown,
}

/// A request that a host sent.
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    /// Counted from 1.
    pub n: usize,
    /// Since the server started.
    #[serde(skip)]
    pub at: Duration,
    /// `POST`, `GET`, …
    pub method: String,
    /// With its query.
    pub path: String,
    /// The wire format of a model request.
    pub wire: Option<&'static str>,
    /// What it was for.
    pub kind: Kind,
    /// The step that answered it, as written in the script.
    pub step: String,
    /// The JSON body; null when there was none.
    pub body: Value,
}

impl Request {
    /// Whether this is a request to a model.
    #[must_use]
    pub fn is_model(&self) -> bool {
        self.wire.is_some()
    }

    /// Whether a string anywhere in the body contains `text`.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        holds(&self.body, text)
    }
}

/// The numbers of the model requests in whose body a string contains `text`.
#[must_use]
pub(super) fn containing(requests: &[Request], text: &str) -> Vec<usize> {
    requests
        .iter()
        .filter(|request| request.is_model() && request.contains(text))
        .map(|request| request.n)
        .collect()
}

fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(values) => values.iter().any(|value| holds(value, text)),
        Value::Object(members) => members.values().any(|value| holds(value, text)),
        _ => false,
    }
}
