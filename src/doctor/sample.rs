//! Ordinary payloads, one for each hook, to measure it with.

use std::path::Path;

use serde_json::{Value, json};

use crate::hook::Hook;

/// The session that they are of.
pub(super) const SESSION: &str = "doctor";

/// An ordinary payload of that hook.
pub(super) fn payload(hook: Hook, run: usize, dir: &Path) -> Value {
    let fields = match hook {
        Hook::SessionStart => json!({"hook_event_name": "SessionStart", "source": "startup"}),
        Hook::TurnStart => json!({
            "hook_event_name": "UserPromptSubmit", "prompt_id": format!("p{run}"),
            "prompt": format!("Add the discount to the cart's total, step {run}"),
        }),
        Hook::PreDelegation => json!({
            "hook_event_name": "PreToolUse", "prompt_id": "p6", "tool_name": "Agent",
            "tool_use_id": format!("a{run}"),
            "tool_input": {"description": "Look for callers", "prompt": "Find who calls total()",
                           "subagent_type": "Explore"},
        }),
        Hook::PostTool => json!({
            "hook_event_name": "PostToolUse", "prompt_id": "p6", "tool_name": "Bash",
            "tool_use_id": format!("t{run}"),
            "tool_input": {"command": "cargo test cart", "description": "Run the tests"},
            "tool_response": {"stdout": "test result: ok. 12 passed", "stderr": "", "interrupted": false},
        }),
        Hook::Stop => json!({
            "hook_event_name": "Stop", "prompt_id": format!("p{run}"), "stop_hook_active": false,
            "last_assistant_message": format!("Done, step {run}."), "background_tasks": [],
        }),
    };
    let mut payload = json!({"session_id": SESSION, "cwd": dir});
    if let (Some(all), Value::Object(fields)) = (payload.as_object_mut(), fields) {
        all.extend(fields);
    }
    payload
}
