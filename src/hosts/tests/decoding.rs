//! Every captured payload becomes the event that it should.

use serde_json::Value;

use super::{all, at, decode_own, kind_name};
use crate::event::{Event, Kind, Outcome, ToolCall};
use crate::hosts::Host;

const CLAUDE_CODE: &[(&str, &str)] = &[
    ("CwdChanged", "-"),
    ("InstructionsLoaded", "-"),
    ("MessageDisplay", "-"),
    ("Notification-idle_prompt", "-"),
    ("Notification-permission_prompt", "-"),
    ("PermissionRequest-bash", "-"),
    ("PermissionRequest-write", "-"),
    ("PostCompact-auto", "-"),
    ("PostCompact-manual", "-"),
    ("PostToolBatch", "-"),
    ("PostToolBatch-validation-error", "-"),
    ("PostToolUse-agent", "tool Delegate general-purpose"),
    ("PostToolUse-bash", "tool Shell echo hi"),
    (
        "PostToolUse-bash-background",
        "tool Shell sleep 20; echo done background",
    ),
    (
        "PostToolUse-bash-in-subagent",
        "tool Shell echo hi @general-purpose",
    ),
    (
        "PostToolUse-taskcreate",
        r#"tool Todo Add the price column todos {"add":{"id":"1","item":{"content":"Add the price column","status":"pending"}}}"#,
    ),
    (
        "PostToolUse-write",
        "tool Create /home/dev/shop/orders.txt [Create /home/dev/shop/orders.txt]",
    ),
    (
        "PostToolUseFailure-agent-429",
        "tool Delegate general-purpose failed None",
    ),
    (
        "PostToolUseFailure-bash-429",
        "tool Shell echo 'HTTP/1.1 429 Too Many Requests: rate limit exceeded, retry-after: 30' >&2; exit 1 failed Some(1)",
    ),
    (
        "PostToolUseFailure-bash-exit3",
        "tool Shell echo out; echo oops >&2; exit 3 failed Some(3)",
    ),
    (
        "PostToolUseFailure-read-missing",
        "tool Read /home/dev/shop/does-not-exist.txt failed None",
    ),
    ("PreCompact-auto", "preCompact"),
    ("PreCompact-manual", "preCompact"),
    (
        "PreToolUse-agent",
        "delegation call true to general-purpose, begins false: List the files that render the orders page",
    ),
    ("PreToolUse-bash", "-"),
    ("PreToolUse-bash-in-subagent", "-"),
    ("PreToolUse-write", "-"),
    ("SessionEnd", "sessionEnd other"),
    ("SessionEnd-clear", "sessionEnd clear"),
    ("SessionEnd-prompt_input_exit", "sessionEnd prompt_input_exit"),
    ("SessionStart", "sessionStart Startup"),
    ("SessionStart-clear", "sessionStart Clear"),
    ("SessionStart-compact", "sessionStart Compact"),
    ("SessionStart-resume", "sessionStart Resume"),
    ("SessionStart-tui-startup", "sessionStart Startup"),
    (
        "Stop",
        "stop again false, background Some(0): The price column is in place.",
    ),
    (
        "Stop-stop_hook_active",
        "stop again true, background Some(0): The price column is in place and the tests pass.",
    ),
    ("StopFailure-model_not_found", "failure model_not_found"),
    ("StopFailure-rate_limit", "failure rate_limit"),
    ("SubagentStart", "agentStart @general-purpose"),
    (
        "SubagentStop",
        "agentStop again false: Two files render the orders page. @general-purpose",
    ),
    ("TaskCompleted", "-"),
    ("TaskCreated", "-"),
    ("UserPromptExpansion", "-"),
    (
        "UserPromptSubmit",
        "prompt User: Add a price column to the orders page",
    ),
];

const CODEX: &[(&str, &str)] = &[
    ("PermissionRequest-apply_patch", "-"),
    ("PostCompact-auto", "-"),
    ("PostCompact-manual", "-"),
    (
        "PostToolUse-apply_patch",
        "tool Create orders.txt [Create orders.txt]",
    ),
    ("PostToolUse-bash", "tool Shell echo hi"),
    (
        "PostToolUse-bash-429",
        "tool Shell echo 'HTTP/1.1 429 Too Many Requests: rate limit exceeded, retry-after: 30' >&2; exit 1",
    ),
    (
        "PostToolUse-bash-exit3",
        "tool Shell echo out; echo oops >&2; exit 3",
    ),
    ("PostToolUse-spawn_agent-v1", "tool Delegate none background"),
    (
        "PostToolUse-spawn_agent-v2",
        "tool Delegate price_column background",
    ),
    ("PostToolUse-wait_agent-v1", "tool Other none"),
    ("PostToolUse-wait_agent-v2", "tool Other none"),
    ("PreCompact-auto", "preCompact"),
    ("PreCompact-manual", "preCompact"),
    ("PreModelRequest", "-"),
    ("PreToolUse-apply_patch", "-"),
    ("PreToolUse-bash", "-"),
    ("PreToolUse-bash-in-subagent", "-"),
    (
        "PreToolUse-spawn_agent-v1",
        "delegation call true to none, begins false: List the files that render the orders page",
    ),
    (
        "PreToolUse-spawn_agent-v2",
        "delegation call true to none, begins false: List the files that render the orders page",
    ),
    ("SessionEnd", "sessionEnd other"),
    ("SessionStart", "sessionStart Startup"),
    ("SessionStart-clear", "sessionStart Clear"),
    ("SessionStart-compact", "sessionStart Compact"),
    ("SessionStart-resume", "sessionStart Resume"),
    (
        "Stop",
        "stop again false, background None: The price column is in place.",
    ),
    (
        "Stop-stop_hook_active",
        "stop again true, background None: The price column is in place and the tests pass.",
    ),
    ("SubagentStart-v1", "agentStart @default"),
    ("SubagentStart-v2", "agentStart @default"),
    (
        "SubagentStop-v2",
        "agentStop again false: Two files render the orders page. @default",
    ),
    (
        "UserPromptSubmit",
        "prompt User: Add a price column to the orders page",
    ),
];

const GEMINI_CLI: &[(&str, &str)] = &[
    (
        "AfterAgent",
        "stop again false, background None: Price column: step 6 is done.",
    ),
    ("AfterModel", "-"),
    ("AfterTool-invoke_agent", "tool Delegate helper"),
    ("AfterTool-mcp", "tool Mcp none"),
    ("AfterTool-read_file-missing", "tool Read nope.txt failed None"),
    ("AfterTool-run_shell_command", "tool Shell echo hi"),
    (
        "AfterTool-write_file",
        "tool Create /home/dev/shop/out.txt [Create /home/dev/shop/out.txt] line 1",
    ),
    (
        "AfterTool-write_todos",
        r#"tool Todo none todos {"list":{"items":[{"content":"first","status":"in_progress"},{"content":"second","status":"pending"}]}}"#,
    ),
    (
        "BeforeAgent",
        "prompt User: Add a price column to the orders page",
    ),
    ("BeforeModel", "-"),
    ("BeforeTool-complete_task", "-"),
    (
        "BeforeTool-invoke_agent",
        "delegation call false to helper, begins true: List the files that render the orders page",
    ),
    ("BeforeTool-mcp", "-"),
    ("BeforeTool-read_file", "-"),
    ("BeforeTool-run_shell_command", "-"),
    ("BeforeTool-write_file", "-"),
    ("BeforeTool-write_todos", "-"),
    ("BeforeToolSelection", "-"),
    ("Notification-ToolPermission", "-"),
    ("PreCompress-auto", "-"),
    ("PreCompress-manual", "preCompact"),
    ("SessionEnd-exit", "sessionEnd exit"),
    ("SessionStart-clear", "sessionStart Clear"),
    ("SessionStart-resume", "sessionStart Resume"),
    ("SessionStart-startup", "sessionStart Startup"),
];

/// The event in a line: kind, what it carries, and `@` the agent.
pub(super) fn summary(event: &Event) -> String {
    let text = |t: Option<&str>| t.unwrap_or("none").to_owned();
    let said = match &event.kind {
        Kind::SessionStart { source } => format!(" {source:?}"),
        Kind::Prompt { text, origin } => format!(" {origin:?}: {text}"),
        Kind::Delegation {
            call,
            to,
            prompt,
            begins,
        } => {
            format!(
                " call {} to {}, begins {begins}: {prompt}",
                call.is_some(),
                text(to.as_deref())
            )
        }
        Kind::AgentStart | Kind::Interrupt | Kind::PreCompact => String::new(),
        Kind::AgentStop { message, again } => format!(" again {again}: {}", text(message.as_deref())),
        Kind::Tool(call) => format!(" {}", tool(call)),
        Kind::Stop {
            message,
            again,
            background,
        } => {
            format!(
                " again {again}, background {background:?}: {}",
                text(message.as_deref())
            )
        }
        Kind::Failure { code, .. } => format!(" {code}"),
        Kind::SessionEnd { reason } => format!(" {reason}"),
    };
    let agent = event
        .agent
        .as_ref()
        .map_or(String::new(), |a| format!(" @{}", text(a.kind.as_deref())));
    format!("{}{said}{agent}", kind_name(Some(event)))
}

pub(super) fn tool(call: &ToolCall) -> String {
    let mut said = format!("{:?} {}", call.kind, call.target.as_deref().unwrap_or("none"));
    for file in &call.files {
        said += &format!(" [{:?} {}]", file.change, file.path);
    }
    if let Some(line) = call.line {
        said += &format!(" line {line}");
    }
    match &call.outcome {
        Outcome::Ok => {}
        Outcome::Failed { exit, .. } => said += &format!(" failed {exit:?}"),
        Outcome::Interrupted => said += " interrupted",
    }
    if let Some(todos) = &call.todos {
        said += &format!(" todos {}", serde_json::to_string(todos).unwrap());
    }
    if call.background {
        said += " background";
    }
    said
}

#[test]
fn every_captured_payload_decodes_to_the_expected_event() {
    for (host, table) in [
        (Host::ClaudeCode, CLAUDE_CODE),
        (Host::Codex, CODEX),
        (Host::GeminiCli, GEMINI_CLI),
    ] {
        let payloads = all(host.id());
        let stems: Vec<&str> = payloads.iter().map(|(stem, _)| stem.as_str()).collect();
        assert_eq!(
            stems,
            table.iter().map(|row| row.0).collect::<Vec<_>>(),
            "{host}: table and files differ"
        );
        for ((stem, payload), (_, expected)) in payloads.iter().zip(table) {
            let event = decode_own(host, payload);
            let said = event.as_ref().map_or("-".to_owned(), summary);
            assert_eq!(said, *expected, "{host} {stem}");
            let Some(event) = event else { continue };
            assert_eq!(event.host, host);
            assert_eq!(event.name, payload["hook_event_name"].as_str().unwrap());
            assert_eq!(event.session.as_str(), payload["session_id"].as_str().unwrap());
            assert_eq!(event.cwd.as_deref(), payload["cwd"].as_str());
            assert_eq!(event.model.as_deref(), payload["model"].as_str());
            let turn = payload.get("prompt_id").or_else(|| payload.get("turn_id"));
            assert_eq!(
                event.turn.as_deref(),
                turn.and_then(Value::as_str),
                "{host} {stem}"
            );
            assert_eq!(event.project.is_some(), host != Host::Codex);
            assert_eq!(event.stamped, host == Host::GeminiCli);
            assert_eq!((event.at, event.key), (at(), None));
        }
    }
}
