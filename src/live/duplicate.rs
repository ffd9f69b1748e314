//! How a second arrival of the same event is known: two registrations of one hook, or a host that fires
//! again. Tool events by event and tool-call id; prompts by event, turn id and agent id; stops by these,
//! `stop_hook_active` and the last message; every other event, and these where the id is missing, by
//! identical bytes if the payload holds a time stamp, else never: two compactions are two.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::event::{Event, Kind};
use crate::fingerprint;
use crate::redact::Redacted;

/// Fingerprints remembered of a session.
const REMEMBERED: usize = 128;
/// Digits of a fingerprint.
const DIGITS: usize = 16;
/// Denials remembered of a session.
const DENIALS: usize = 16;

/// The latest events of a session, by fingerprint: 16 hex digits each in one string, which a hook reads and
/// writes as it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    keys: String,
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    denied: VecDeque<(String, Redacted)>,
}

impl Seen {
    /// Whether an event with that key has come, and the denial that it was answered with.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Option<&Redacted>> {
        let k = digits(key);
        let come = self.keys.as_bytes().chunks(DIGITS).any(|c| c == k.as_bytes());
        let denial = || self.denied.iter().find(|(d, _)| *d == k).map(|(_, why)| why);
        come.then(denial)
    }

    /// Remembers an event.
    pub fn put(&mut self, key: &str, denied: Option<&Redacted>) {
        let k = digits(key);
        if self.keys.len() >= REMEMBERED * DIGITS && self.keys.is_char_boundary(DIGITS) {
            self.keys.drain(..DIGITS);
        }
        self.keys.push_str(&k);
        if let Some(why) = denied {
            if self.denied.len() >= DENIALS {
                self.denied.pop_front();
            }
            self.denied.push_back((k, why.clone()));
        }
    }
}

fn digits(key: &str) -> String {
    format!("{:0DIGITS$x}", fingerprint::fnv(key.as_bytes()))
}

/// The key of an event, or `None` when it is never taken for a second one. `raw` is the payload.
#[must_use]
pub fn key(event: &Event, raw: &[u8]) -> Option<String> {
    let agent = event
        .agent
        .as_ref()
        .and_then(|a| a.id.as_ref())
        .map_or("", |id| id.as_str());
    let turn = event.turn.as_ref().map(|t| t.as_str());
    let by_id = match &event.kind {
        Kind::Tool(call) => call.id.as_ref().map(|id| format!("{}:{id}", event.name)),
        Kind::Delegation { call, .. } => call.as_ref().map(|id| format!("{}:{id}", event.name)),
        Kind::Prompt { .. } => turn.map(|t| format!("{}:{t}:{agent}", event.name)),
        Kind::Stop { message, again, .. } | Kind::AgentStop { message, again } => turn.map(|t| {
            let said = fingerprint::fnv(message.as_ref().map_or("", |m| m.as_str()).as_bytes());
            format!("{}:{t}:{agent}:{again}:{said:x}", event.name)
        }),
        _ => None,
    };
    by_id.or_else(|| {
        event
            .stamped
            .then(|| format!("{}:{:x}-{:x}", event.name, raw.len(), fingerprint::fnv(raw)))
    })
}
