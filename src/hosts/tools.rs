//! What a tool is, from the host's name for it, and what a call of it was aimed at.
//!
//! The hosts' names do not collide, so one table serves all. Names were seen in Claude Code 2.1.332,
//! Codex 0.171.0 and Gemini CLI 0.61.0; a few of older versions are kept. Whether a writing tool made or
//! changed a file is in its answer, so the host files correct `Create` and `Edit`.

use super::payload::Payload;
use crate::event::{Outcome, ToolCall, ToolKind};
use crate::redact::Redacted;

/// The neutral kind of the tool of that name.
pub(super) fn kind(name: &str) -> ToolKind {
    match name {
        "Bash" | "PowerShell" | "run_shell_command" | "shell" | "local_shell" | "exec_command" => {
            ToolKind::Shell
        }
        "Read" | "NotebookRead" | "read_file" | "read_many_files" | "view_image" => ToolKind::Read,
        "Edit" | "MultiEdit" | "NotebookEdit" | "replace" | "apply_patch" => ToolKind::Edit,
        "Write" | "write_file" => ToolKind::Create,
        "Glob"
        | "Grep"
        | "LS"
        | "ToolSearch"
        | "glob"
        | "list_directory"
        | "search_file_content"
        | "grep_search"
        | "tool_search" => ToolKind::Search,
        "WebFetch" | "WebSearch" | "web_fetch" | "google_web_search" | "web_search" => ToolKind::Web,
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "write_todos" | "todo_write" | "todowrite"
        | "update_plan" => ToolKind::Todo,
        "ExitPlanMode" | "EnterPlanMode" | "exit_plan_mode" | "enter_plan_mode" => ToolKind::Plan,
        _ if is_delegation(name) => ToolKind::Delegate,
        _ if is_own(name) => ToolKind::Log,
        // Gemini CLI glues with one underscore and says `mcp_context` besides.
        _ if name.starts_with("mcp_") => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

/// Whether that tool hands work to a subagent. Codex glues a namespace in front: `collaborationspawn_agent`.
pub(super) fn is_delegation(name: &str) -> bool {
    matches!(name, "Agent" | "Task" | "invoke_agent") || name.ends_with("spawn_agent")
}

/// Whether it writes the session log: what a model does there is no work of the turn. Claude Code names it
/// `mcp__plugin_bookend_bookend__sessionlog_open`, Codex `mcp__bookendsessionlog_open`.
fn is_own(name: &str) -> bool {
    name.starts_with("mcp_") && name.contains("bookend") && name.contains("sessionlog_")
}

/// What a call with that input was aimed at.
pub(super) fn target(kind: ToolKind, input: &Payload<'_>) -> Option<Redacted> {
    input.line(match kind {
        ToolKind::Shell => &["command", "cmd"],
        ToolKind::Read | ToolKind::Edit | ToolKind::Create | ToolKind::Delete => &[
            "file_path",
            "filePath",
            "notebook_path",
            "absolute_path",
            "path",
            "include",
            "paths",
        ],
        ToolKind::Search => &["pattern", "query", "dir_path", "path"],
        ToolKind::Web => &["url", "query", "prompt"],
        ToolKind::Delegate => &[
            "subagent_type",
            "agent_name",
            "agent_type",
            "task_name",
            "description",
        ],
        ToolKind::Todo => &["subject"],
        ToolKind::Plan | ToolKind::Log => &[],
        ToolKind::Mcp | ToolKind::Other => {
            &["file_path", "path", "url", "command", "pattern", "query", "skill"]
        }
    })
}

/// A call that went well, as far as name and input tell; the host files add what the answer says.
pub(super) fn call(name: &str, payload: &Payload<'_>, input: Option<&Payload<'_>>) -> ToolCall {
    let kind = match kind(name) {
        ToolKind::Log => ToolKind::Log,
        _ if payload.has(&["mcp_context"]) => ToolKind::Mcp,
        kind => kind,
    };
    ToolCall {
        tool: Redacted::truncated(name, crate::event::MAX_ID),
        kind,
        id: payload.id(&["tool_use_id", "toolUseId", "tool_call_id"]),
        target: input.and_then(|input| target(kind, input)),
        line: None,
        files: Vec::new(),
        outcome: Outcome::Ok,
        todos: None,
        background: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_hosts_have_a_kind() {
        let table = [
            ("Bash", ToolKind::Shell),
            ("run_shell_command", ToolKind::Shell),
            ("Read", ToolKind::Read),
            ("read_many_files", ToolKind::Read),
            ("MultiEdit", ToolKind::Edit),
            ("replace", ToolKind::Edit),
            ("apply_patch", ToolKind::Edit),
            ("Write", ToolKind::Create),
            ("Grep", ToolKind::Search),
            ("search_file_content", ToolKind::Search),
            ("google_web_search", ToolKind::Web),
            ("Agent", ToolKind::Delegate),
            ("Task", ToolKind::Delegate),
            ("invoke_agent", ToolKind::Delegate),
            ("spawn_agent", ToolKind::Delegate),
            ("collaborationspawn_agent", ToolKind::Delegate),
            ("multi_agent_v1wait_agent", ToolKind::Other),
            ("collaborationwait_agent", ToolKind::Other),
            ("TaskUpdate", ToolKind::Todo),
            ("TaskList", ToolKind::Other),
            ("TaskOutput", ToolKind::Other),
            ("update_plan", ToolKind::Todo),
            ("write_todos", ToolKind::Todo),
            ("todo_write", ToolKind::Todo),
            ("todowrite", ToolKind::Todo),
            ("ExitPlanMode", ToolKind::Plan),
            ("mcp__sessions__create_session", ToolKind::Mcp),
            ("mcp_sessions_create_session", ToolKind::Mcp),
            ("mcp__plugin_bookend_bookend__sessionlog_open", ToolKind::Log),
            ("mcp__bookendsessionlog_open", ToolKind::Log),
            ("mcp_bookend_sessionlog_open", ToolKind::Log),
            ("mcp__plugin_bookend_bookend__create_session", ToolKind::Mcp),
            ("mcp__other__sessionlog_open", ToolKind::Mcp),
            ("complete_task", ToolKind::Other),
            ("save_memory", ToolKind::Other),
            ("", ToolKind::Other),
        ];
        for (name, expected) in table {
            assert_eq!(kind(name), expected, "{name}");
        }
    }
}
