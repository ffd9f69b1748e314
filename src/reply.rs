//! What we answer, host-neutral. Each host file says how that host spells it, and [`Accepts`] says what
//! an event of that host can carry at all: what cannot be shown now waits in the live state for the next
//! event that can.

use crate::log::id::SessionId;

/// Longest context given to a model in one answer, in characters: two hosts cut or spool longer ones.
pub const MAX_CONTEXT: usize = 2_000;

/// The answer to one event; the default is to say nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// Text for the model, at most [`MAX_CONTEXT`] characters.
    pub context: Option<String>,
    /// Text for the user.
    pub notice: Option<String>,
    /// Whether the host may go on.
    pub verdict: Verdict,
    /// The log session, where it is to be told to the tools that the host runs.
    pub log: Option<SessionId>,
}

/// Whether the host may go on with what it was about to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It may. Every fault of ours ends here.
    #[default]
    Allow,
    /// A delegation is refused; the reason goes to the model.
    Deny(String),
    /// A stop is sent back once; the reason goes to the model.
    Block(String),
}

impl Reply {
    /// Says nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What a host takes as an answer to one of its events, as observed in the real program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accepts {
    /// Text for the model.
    pub context: bool,
    /// Text for the user.
    pub notice: bool,
    /// Refusing a delegation.
    pub deny: bool,
    /// Sending a stop back.
    pub block: bool,
}
