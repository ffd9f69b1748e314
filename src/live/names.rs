//! The files of a session's directory, by name: what is read, what is written, what a prune may unlink.

/// The journal's name in a session's directory.
pub const JOURNAL: &str = "events.jsonl";
pub(super) const CHECKPOINT: &str = "state.json";
pub(super) const CHECKPOINT_NEW: &str = "state.json.new";
pub(super) const CHECKPOINT_BAD: &str = "state.json.bad";
pub(super) const JOURNAL_NEW: &str = "events.jsonl.new";
pub(super) const ACTIVE_AGENT: &str = "active-agent";
pub(super) const ACTIVE_AGENT_NEW: &str = "active-agent.new";

/// Every file that is ours in a session's directory: what a prune may unlink.
#[must_use]
pub fn is_known(name: &str) -> bool {
    matches!(
        name,
        JOURNAL
            | JOURNAL_NEW
            | CHECKPOINT
            | CHECKPOINT_NEW
            | CHECKPOINT_BAD
            | ACTIVE_AGENT
            | ACTIVE_AGENT_NEW
    ) || name
        .strip_prefix("pending-")
        .is_some_and(|rest| rest.ends_with(".json") || rest.ends_with(".new"))
}

/// Whether a file holds a whole event that waits to be folded.
#[must_use]
pub fn is_pending(name: &str) -> bool {
    name.starts_with("pending-") && name.ends_with(".json")
}
