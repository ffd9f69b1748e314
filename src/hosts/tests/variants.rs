//! What was not captured, put together from captured payloads: other tools, failures, subagents.

use serde_json::{Value, json};

use super::decoding::{summary, tool};
use super::{Table, Vars, all, at, decode_in, decode_own, env_of, read};
use crate::event::{Event, Kind, Origin, Outcome, TodoChange, TodoStatus, ToolCall, ToolKind};
use crate::hosts::Host;

fn own(host: Host, payload: &Value) -> Event {
    decode_own(host, payload).unwrap_or_else(|| panic!("{payload}"))
}

/// A captured payload with some fields put in their place.
fn with(file: &str, fields: Value) -> Value {
    let mut payload = read(file);
    for (key, value) in fields.as_object().unwrap() {
        payload[key] = value.clone();
    }
    payload
}

fn called(host: Host, payload: &Value) -> ToolCall {
    match own(host, payload).kind {
        Kind::Tool(call) => *call,
        other => panic!("{other:?}"),
    }
}

#[test]
fn claude_code_says_whether_somebody_attends() {
    let payload = read("claude-code/SessionStart.json");
    let table: [(Vars, Option<bool>); 6] = [
        (
            &[
                ("CLAUDE_CODE_SESSION_ATTENDED", "0"),
                ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
            ],
            Some(true),
        ),
        (
            &[
                ("CLAUDE_CODE_SESSION_ATTENDED", "1"),
                ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ],
            Some(false),
        ),
        (&[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")], Some(true)),
        (&[("CLAUDE_CODE_ENTRYPOINT", "cli")], Some(false)),
        (&[("CLAUDE_CODE_ENTRYPOINT", "claude-vscode")], None),
        (&[], None),
    ];
    for (vars, expected) in table {
        let env: Table = vars
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        let event = decode_in(Some(Host::ClaudeCode), &payload, &env, &["codex", "exec"]).unwrap();
        assert_eq!(event.headless, expected, "{vars:?}");
        assert_eq!(event.project, None);
    }
}

#[test]
fn the_host_s_arguments_are_looked_up_only_at_session_starts_and_prompts() {
    for (host, args) in [
        (Host::Codex, ["codex", "exec"]),
        (Host::GeminiCli, ["gemini", "-p"]),
    ] {
        for (stem, payload) in all(host.id()) {
            let env = env_of(host.id(), &payload);
            let Some(event) = decode_in(Some(host), &payload, &env, &args) else {
                continue;
            };
            let asks = matches!(event.kind, Kind::SessionStart { .. } | Kind::Prompt { .. });
            assert_eq!(event.headless, asks.then_some(true), "{stem}");
        }
    }
}

#[test]
fn a_prompt_that_claude_code_wrote_itself_is_the_host_s() {
    let origin = |prompt: &str| match own(
        Host::ClaudeCode,
        &with("claude-code/UserPromptSubmit.json", json!({"prompt": prompt})),
    )
    .kind
    {
        Kind::Prompt { origin, .. } => origin,
        other => panic!("{other:?}"),
    };
    for prompt in [
        "<task-notification>\n<task-id>b1</task-id>",
        " \n<user_query>x",
        "<command-name>/foo</command-name>",
        "<command-message>x",
        "<command-args>",
        "<local-command-stdout>x",
        "<local-command-caveat>",
    ] {
        assert_eq!(origin(prompt), Origin::Host, "{prompt}");
    }
    for prompt in [
        "/foo bar",
        "<div>fix this</div>",
        "see <task-notification>",
        "<local-command->",
        "<local-command-1>",
        "<task-notification",
        "<",
        "",
    ] {
        assert_eq!(origin(prompt), Origin::User, "{prompt}");
    }
}

#[test]
fn claude_code_edits_name_their_line() {
    let edit = |tool: &str, input: Value| {
        let response = json!({"filePath": "/x/a.rs", "structuredPatch": [{"oldStart": 4, "newStart": 5}]});
        called(
            Host::ClaudeCode,
            &with(
                "claude-code/PostToolUse-write.json",
                json!({"tool_name": tool, "tool_input": input, "tool_response": response}),
            ),
        )
    };
    for (name, input) in [
        ("Edit", json!({"file_path": "/x/a.rs"})),
        ("MultiEdit", json!({"file_path": "/x/a.rs", "edits": []})),
        ("NotebookEdit", json!({"notebook_path": "/x/a.rs"})),
        ("Write", json!({"file_path": "/x/a.rs", "content": ""})),
        ("Edit", json!({})),
    ] {
        assert_eq!(
            tool(&edit(name, input)),
            "Edit /x/a.rs [Edit /x/a.rs] line 5",
            "{name}"
        );
    }
}

#[test]
fn claude_code_tools_have_targets() {
    for (name, input, expected) in [
        (
            "Read",
            json!({"file_path": "/a", "offset": 12}),
            "Read /a line 12",
        ),
        ("Grep", json!({"pattern": "x+", "path": "/a"}), "Search x+"),
        ("Glob", json!({"pattern": "*.rs"}), "Search *.rs"),
        ("LS", json!({"path": "/a"}), "Search /a"),
        ("ToolSearch", json!({"query": "task"}), "Search task"),
        (
            "WebFetch",
            json!({"url": "https://x.example", "prompt": "p"}),
            "Web https://x.example",
        ),
        ("WebSearch", json!({"query": "q"}), "Web q"),
        ("ExitPlanMode", json!({"plan": "p"}), "Plan none"),
        ("mcp__sessions__create_session", json!({"path": "/a"}), "Mcp /a"),
        ("Skill", json!({"skill": "s"}), "Other s"),
        ("TaskList", json!({}), "Other none"),
        ("Bash", json!("echo"), "Shell none"),
    ] {
        let payload = with(
            "claude-code/PostToolUse-bash.json",
            json!({"tool_name": name, "tool_input": input, "tool_response": {}}),
        );
        assert_eq!(tool(&called(Host::ClaudeCode, &payload)), expected);
    }
}

#[test]
fn an_interrupted_tool_has_not_failed() {
    let payload = with(
        "claude-code/PostToolUseFailure-bash-exit3.json",
        json!({"is_interrupt": true}),
    );
    assert_eq!(called(Host::ClaudeCode, &payload).outcome, Outcome::Interrupted);
    let payload = with(
        "claude-code/PostToolUse-bash.json",
        json!({"tool_response": {"interrupted": true}}),
    );
    assert_eq!(called(Host::ClaudeCode, &payload).outcome, Outcome::Interrupted);
}

#[test]
fn claude_code_background_work_is_told() {
    let response = json!({"isAsync": true, "status": "async_launched", "agentId": "a1"});
    let payload = with(
        "claude-code/PostToolUse-agent.json",
        json!({"tool_response": response}),
    );
    assert!(called(Host::ClaudeCode, &payload).background);
    let tasks = json!([
        {"id": "1", "type": "shell", "status": "running"},
        {"id": "2", "type": "subagent", "status": "running"},
        {"id": "3", "type": "subagent", "status": "completed"},
        "odd"
    ]);
    let stop = own(
        Host::ClaudeCode,
        &with("claude-code/Stop.json", json!({"background_tasks": tasks})),
    );
    assert!(
        matches!(
            stop.kind,
            Kind::Stop {
                background: Some(1),
                ..
            }
        ),
        "{stop:?}"
    );
    let stop = own(
        Host::ClaudeCode,
        &with("claude-code/Stop.json", json!({"background_tasks": null})),
    );
    assert!(
        matches!(stop.kind, Kind::Stop { background: None, .. }),
        "{stop:?}"
    );
}

#[test]
fn a_main_agent_that_was_started_under_a_name_is_no_subagent() {
    let named = json!({"agent_type": "planner"});
    for file in ["Stop", "UserPromptSubmit", "PostToolUse-bash", "SessionStart"] {
        let event = own(
            Host::ClaudeCode,
            &with(&format!("claude-code/{file}.json"), named.clone()),
        );
        assert_eq!(event.agent, None, "{file}");
        assert!(!matches!(event.kind, Kind::AgentStop { .. }));
    }
}

#[test]
fn a_subagent_stop_at_compaction_has_an_empty_type() {
    let event = own(
        Host::ClaudeCode,
        &with("claude-code/SubagentStop.json", json!({"agent_type": ""})),
    );
    assert!(matches!(event.kind, Kind::AgentStop { .. }));
    assert_eq!(event.agent.unwrap().kind, None);
    let event = own(
        Host::ClaudeCode,
        &with(
            "claude-code/SubagentStop.json",
            json!({"agent_type": "", "agent_id": ""}),
        ),
    );
    assert_eq!(event.agent, None);
}

#[test]
fn a_model_failure_in_a_subagent_is_the_subagent_s() {
    let payload = with(
        "claude-code/StopFailure-rate_limit.json",
        json!({"agent_id": "a1", "agent_type": "x"}),
    );
    let event = own(Host::ClaudeCode, &payload);
    assert!(matches!(event.kind, Kind::Failure { resets_at: None, .. }));
    assert_eq!(event.agent.unwrap().id.as_deref(), Some("a1"));
}

#[test]
fn an_older_claude_code_says_when_the_limit_resets() {
    let text = "Claude AI usage limit reached|1796014800";
    let payload = with(
        "claude-code/StopFailure-rate_limit.json",
        json!({"last_assistant_message": text}),
    );
    let Kind::Failure {
        resets_at, message, ..
    } = own(Host::ClaudeCode, &payload).kind
    else {
        panic!()
    };
    assert_eq!(resets_at.unwrap().timestamp(), 1_796_014_800);
    assert_eq!(message.as_str(), text);
}

#[test]
fn a_codex_subagent_s_prompt_is_no_prompt_and_its_stop_no_stop() {
    let agent = json!({"agent_id": "a1", "agent_type": "default"});
    assert_eq!(
        decode_own(Host::Codex, &with("codex/UserPromptSubmit.json", agent.clone())),
        None
    );
    let stop = own(Host::Codex, &with("codex/Stop.json", agent));
    assert!(matches!(stop.kind, Kind::AgentStop { .. }));
}

#[test]
fn a_codex_patch_fails_by_its_exit_code() {
    let failed = json!({"tool_response": "Exit code: 1\nWall time: 0 seconds\nOutput:\nno such file\n"});
    let call = called(Host::Codex, &with("codex/PostToolUse-apply_patch.json", failed));
    assert_eq!(tool(&call), "Create orders.txt failed Some(1)");
    let bare = json!({"tool_response": "Exit code: 1\n"});
    assert_eq!(
        called(Host::Codex, &with("codex/PostToolUse-bash.json", bare)).outcome,
        Outcome::Ok
    );
}

#[test]
fn codex_tells_of_an_interrupt_and_of_its_plan() {
    let payload = with("codex/Stop.json", json!({"hook_event_name": "Interrupt"}));
    let event = own(Host::Codex, &payload);
    assert_eq!(event.kind, Kind::Interrupt);
    assert_eq!(event.turn.as_deref(), payload["turn_id"].as_str());

    let plan =
        json!({"plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"}]});
    let fields = json!({"tool_name": "update_plan", "tool_input": plan, "tool_response": "Plan updated"});
    let call = called(Host::Codex, &with("codex/PostToolUse-bash.json", fields));
    let Some(TodoChange::List { items }) = call.todos else {
        panic!("{call:?}")
    };
    assert_eq!(call.kind, ToolKind::Todo);
    assert_eq!(items[1].status, TodoStatus::InProgress);
}

#[test]
fn a_gemini_command_fails_by_its_exit_code_line() {
    let answer =
        "<untrusted_context>\nOutput: oops\nExit Code: 3\nProcess Group PGID: 4070\n</untrusted_context>";
    let response = json!({"llmContent": answer, "returnDisplay": "oops"});
    let call = called(
        Host::GeminiCli,
        &with(
            "gemini-cli/AfterTool-run_shell_command.json",
            json!({"tool_response": response}),
        ),
    );
    let Outcome::Failed { error, exit } = call.outcome else {
        panic!("{call:?}")
    };
    assert_eq!((error.as_str(), exit), ("oops", Some(3)));
    let parts = json!({"llmContent": [{"text": answer}]});
    let call = called(
        Host::GeminiCli,
        &with(
            "gemini-cli/AfterTool-run_shell_command.json",
            json!({"tool_response": parts}),
        ),
    );
    assert!(matches!(call.outcome, Outcome::Failed { exit: Some(3), .. }));
}

#[test]
fn gemini_edits_subagent_ends_and_failed_delegations() {
    let fields = json!({"tool_name": "replace", "tool_input": {"file_path": "a.rs"},
        "tool_response": {"returnDisplay": {"filePath": "/x/a.rs", "isNewFile": false, "fileDiff": "-\n@@ -3,2 +4,2 @@\n"}}});
    let call = called(
        Host::GeminiCli,
        &with("gemini-cli/AfterTool-write_file.json", fields),
    );
    assert_eq!(tool(&call), "Edit /x/a.rs [Edit /x/a.rs] line 4");

    let fields = json!({"tool_name": "complete_task", "tool_input": {"result": "done"}, "tool_response": {}});
    let event = own(
        Host::GeminiCli,
        &with("gemini-cli/AfterTool-write_file.json", fields),
    );
    assert_eq!(summary(&event), "agentStop again false: done");

    for (reason, expected) in [
        ("MAX_TURNS", "Delegate helper failed None"),
        ("ABORTED", "Delegate helper interrupted"),
    ] {
        let response = json!({"llmContent": [], "returnDisplay": {"terminateReason": reason}});
        let call = called(
            Host::GeminiCli,
            &with(
                "gemini-cli/AfterTool-invoke_agent.json",
                json!({"tool_response": response}),
            ),
        );
        assert_eq!(tool(&call), expected);
    }
}

#[test]
fn a_failed_write_changes_no_file_and_no_todo() {
    let response = json!({"error": {"message": "denied"}, "llmContent": "x"});
    for file in ["write_file", "write_todos"] {
        let payload = with(
            &format!("gemini-cli/AfterTool-{file}.json"),
            json!({"tool_response": response}),
        );
        let call = called(Host::GeminiCli, &payload);
        assert!(call.files.is_empty() && call.todos.is_none(), "{call:?}");
    }
}

#[test]
fn the_event_may_be_named_in_the_registration() {
    let mut payload = read("codex/Stop.json");
    payload.as_object_mut().unwrap().remove("hook_event_name");
    let around = super::Surroundings {
        hook: crate::hook::Hook::Stop,
        event: Some("Stop"),
        env: &|_| None,
        host_args: &Vec::new,
        at: at(),
    };
    let event = crate::hosts::decode(Some(Host::Codex), &payload, &around).unwrap();
    assert_eq!(event.name, "Stop");
}
