//! The five executables, by name.

use serde::{Deserialize, Serialize};

/// Which executable runs; its name says which handler is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hook {
    /// A session starts, goes on or was compacted.
    SessionStart,
    /// A prompt.
    TurnStart,
    /// A delegation, or a subagent's start.
    PreDelegation,
    /// A tool call ended.
    PostTool,
    /// A turn, a subagent or a session ended, or a compaction is near.
    Stop,
}

impl Hook {
    /// All five, in the order of a session.
    pub const ALL: [Self; 5] = [
        Self::SessionStart,
        Self::TurnStart,
        Self::PreDelegation,
        Self::PostTool,
        Self::Stop,
    ];

    /// The executable's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::TurnStart => "turn-start",
            Self::PreDelegation => "pre-delegation",
            Self::PostTool => "post-tool",
            Self::Stop => "stop",
        }
    }

    /// The hook with that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|h| h.name() == name)
    }
}
