//! What a wire format has to do: recognise its path, read a request, write an answer. One file implements it per format.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde_json::{Value, json};

use super::anthropic::Anthropic;
use super::gemini::Gemini;
use super::openai_responses::OpenaiResponses;
use super::turn::{Action, Turn};

/// A model API as a host speaks it.
pub(super) trait Wire: Sync {
    fn name(&self) -> &'static str;

    /// Whether a POST to this path (without its query) is a model request of this format.
    fn serves(&self, path: &str) -> bool;

    fn read(&self, body: &Value) -> Turn;

    fn answer(&self, body: &Value, turn: &Turn, action: &Action, tokens: u64) -> Answer;

    /// The body of an HTTP error.
    fn error(&self, status: u16) -> Value;

    /// Whether the host wants server-sent events.
    fn streams(&self, _path: &str, body: &Value) -> bool {
        body.get("stream").and_then(Value::as_bool).unwrap_or(false)
    }
}

/// An answer in both of its forms.
pub(super) struct Answer {
    /// The answer of a request that does not stream.
    pub whole: Value,
    /// The same as server-sent events.
    pub events: Vec<Event>,
}

/// One server-sent event: its name, where the format has names, and its data.
pub(super) type Event = (Option<&'static str>, Value);

static WIRES: &[&dyn Wire] = &[&Anthropic, &OpenaiResponses, &Gemini];

/// The format that serves a path.
pub(super) fn serving(path: &str) -> Option<&'static dyn Wire> {
    WIRES.iter().copied().find(|wire| wire.serves(path))
}

/// An id that no other answer has, nor one of another run: hosts and hooks tell tool calls apart by it.
pub(super) fn new_id(prefix: &str) -> String {
    format!("{prefix}{:016x}", RandomState::new().build_hasher().finish())
}

/// The message of an HTTP error, worded as providers do.
pub(super) fn error_text(status: u16) -> String {
    match status {
        429 => "Rate limit reached for example-model. Please try again in 20s.".to_owned(),
        _ => format!("example error {status}"),
    }
}

/// An event whose data repeats its name as `type`.
pub(super) fn typed(name: &'static str, mut data: Value) -> Event {
    if let Some(members) = data.as_object_mut() {
        members.insert("type".to_owned(), json!(name));
    }
    (Some(name), data)
}
