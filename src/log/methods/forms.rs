//! The forms of names and ids that methods take.

use crate::fields::Form;
use crate::log::id::{REQUEST_REGEX, RequestId, SESSION_REGEX, SessionId};

/// The name of an agent in PascalCase.
pub(super) const AGENT: Form = Form {
    name: "agent",
    constraint: "the agent's name in PascalCase, like YourAgent",
    pattern: "^[A-Z][A-Za-z0-9]*$",
    fits: is_agent,
};
/// The id of a session.
pub(super) const SESSION: Form = Form {
    name: "session id",
    constraint: "a session id",
    pattern: SESSION_REGEX,
    fits: |text| SessionId::try_from(text.to_owned()).is_ok(),
};
/// The id of a turn.
pub(super) const REQUEST: Form = Form {
    name: "request id",
    constraint: "a request id",
    pattern: REQUEST_REGEX,
    fits: |text| RequestId::try_from(text.to_owned()).is_ok(),
};

fn is_agent(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.len() <= 60
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}
