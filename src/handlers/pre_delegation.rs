//! A delegation, or a subagent's start: the fold keeps the agents, the log has nothing to say.
//! (`PreToolUse` of the agent tool, `SubagentStart`, `BeforeTool` of `invoke_agent`.)

use super::{Context, Plan};

pub(super) fn handle(_context: &Context<'_>) -> Plan {
    Plan::default()
}
