//! How a second arrival of the same event is known: two registrations of one hook, or a host that fires
//! again. Tool events by event and tool-call id; prompts by event, turn id and agent id; stops by these,
//! `stop_hook_active` and the last message; every other event, and these where the id is missing, by
//! identical bytes if the payload holds a time stamp, else never: two compactions are two.

use crate::event::{Event, Kind};

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
            let said = fnv(message.as_ref().map_or("", |m| m.as_str()).as_bytes());
            format!("{}:{t}:{agent}:{again}:{said:x}", event.name)
        }),
        _ => None,
    };
    by_id.or_else(|| {
        event
            .stamped
            .then(|| format!("{}:{:x}-{:x}", event.name, raw.len(), fnv(raw)))
    })
}

/// FNV-1a, 64 bit: a fingerprint, for telling events apart, not for safety.
#[must_use]
pub fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)
    })
}
