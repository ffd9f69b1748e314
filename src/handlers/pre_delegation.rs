//! A delegation, or a subagent's start: the fold keeps the agents, the log has nothing to say. Who leads an
//! orchestration, and who works in it, is told where it stands.
//! (`PreToolUse` of the agent tool, `SubagentStart`, `BeforeTool` of `invoke_agent`.)

use super::{Context, Plan};
use crate::orchestration::active::Active;
use crate::redact::Redacted;

pub(super) fn handle(context: &Context<'_>) -> Plan {
    Plan {
        context: context.active.map(active_line),
        ..Plan::default()
    }
}

/// Where the orchestration stands (seed 1: top-level keys of the front matter).
pub(super) fn active_line(active: &Active) -> String {
    let known = |value: &Option<String>| Redacted::new(value.as_deref().unwrap_or("unknown"));
    let (phase, status) = (known(&active.current_phase), known(&active.status));
    format!("Active session: current_phase={phase}, status={status}")
}
