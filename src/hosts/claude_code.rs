//! Claude Code, as observed at 2.1.332.
//!
//! `PostToolUse` means success; a failure comes as `PostToolUseFailure` with text. A model error ends the
//! turn with `StopFailure`, whose answer is ignored and whose hook is killed within milliseconds in `-p`.
//! Context at `Stop` would go on with the conversation, so none is ever sent there. The delegation tool is
//! `Agent` (`Task` in older versions). Esc fires nothing. `cwd` follows `cd`; `CLAUDE_PROJECT_DIR` stays.

use chrono::DateTime;
use serde_json::Value;

use super::answer::{self, Spelling};
use super::payload::Payload;
use super::registration::Row;
use super::{Dialect, Env, Host, Surroundings, envelope, todos, tools};
use crate::event::{
    Change, Event, FileChange, Kind, MAX_ID, MAX_LINE, MAX_TEXT, Origin, Outcome, ToolCall, ToolKind,
};
use crate::hook::Hook;
use crate::redact::Redacted;
use crate::reply::{Accepts, Reply};

pub(super) const DIALECT: Dialect = Dialect {
    todo_tool: Some("TaskCreate"),
    keeps_todos: true,
    pid_variable: Some("CLAUDE_PID"),
    tool_env: Some("CLAUDE_ENV_FILE"),
    tells_of_compaction: true,
    serves_many: false,
    decode,
    encode,
    accepts,
    events: &[
        Row::new("SessionStart", Hook::SessionStart),
        Row::new("UserPromptSubmit", Hook::TurnStart),
        Row::new("PreToolUse", Hook::PreDelegation).matching("Agent|Task"),
        Row::new("SubagentStart", Hook::PreDelegation),
        Row::new("PostToolUse", Hook::PostTool),
        Row::new("PostToolUseFailure", Hook::PostTool),
        Row::new("Stop", Hook::Stop),
        Row::new("StopFailure", Hook::Stop),
        Row::new("SubagentStop", Hook::Stop),
        Row::new("PreCompact", Hook::Stop),
        // The host gives 1.5 s when asked for nothing.
        Row::new("SessionEnd", Hook::Stop).within(1),
    ],
};

fn decode(name: &str, payload: &Payload<'_>, around: &Surroundings<'_>) -> Option<Event> {
    let kind = match name {
        "SessionStart" => Kind::SessionStart {
            source: envelope::source(payload),
        },
        // A subagent's prompt, if one is ever sent: its SubagentStart says the same.
        "UserPromptSubmit" if envelope::in_subagent(payload) => return None,
        "UserPromptSubmit" => prompt(payload),
        "PreToolUse" => delegation(payload)?,
        "SubagentStart" => Kind::AgentStart,
        "PostToolUse" => Kind::Tool(Box::new(succeeded(payload)?)),
        "PostToolUseFailure" => Kind::Tool(Box::new(failed(payload)?)),
        "Stop" => envelope::stop(payload, &["last_assistant_message"], background(payload)),
        "StopFailure" => failure(payload),
        "SubagentStop" => envelope::agent_stop(payload),
        "PreCompact" => Kind::PreCompact,
        "SessionEnd" => envelope::session_end(payload),
        _ => return None,
    };
    let mut event = envelope::event(Host::ClaudeCode, name, payload, around, kind);
    event.turn = payload.id(&["prompt_id"]);
    event.agent = match event.kind {
        Kind::AgentStart | Kind::AgentStop { .. } => envelope::agent(payload),
        _ if envelope::in_subagent(payload) => envelope::agent(payload),
        _ => None,
    };
    event.headless = headless(around.env);
    event.project = envelope::directory(around.env, "CLAUDE_PROJECT_DIR");
    Some(event)
}

/// The host says outright whether somebody attends; older versions only how it was started.
fn headless(env: Env<'_>) -> Option<bool> {
    match env("CLAUDE_CODE_SESSION_ATTENDED").as_deref() {
        Some("1" | "true") => return Some(false),
        Some("0" | "false") => return Some(true),
        _ => {}
    }
    match env("CLAUDE_CODE_ENTRYPOINT")?.as_str() {
        "cli" => Some(false),
        word if word.starts_with("sdk-") => Some(true),
        _ => None,
    }
}

fn prompt(payload: &Payload<'_>) -> Kind {
    let text = payload.str(&["prompt"]).unwrap_or_default();
    let origin = if is_phantom(text) {
        Origin::Host
    } else {
        Origin::User
    };
    Kind::Prompt {
        text: Redacted::truncated(text, MAX_TEXT),
        origin,
    }
}

/// Prompts that the host writes itself, e.g. when a background task has ended. A slash command that a
/// person typed arrives as typed (`/foo bar`) and is theirs.
fn is_phantom(prompt: &str) -> bool {
    let Some((tag, _)) = prompt
        .trim_start()
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
    else {
        return false;
    };
    match tag {
        "task-notification" | "user_query" | "command-name" | "command-message" | "command-args" => true,
        _ => tag.strip_prefix("local-command-").is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        }),
    }
}

fn delegation(payload: &Payload<'_>) -> Option<Kind> {
    payload
        .word(&["tool_name"])
        .filter(|name| tools::is_delegation(name))?;
    let input = payload.object(&["tool_input"]);
    Some(Kind::Delegation {
        call: payload.id(&["tool_use_id"]),
        to: input.and_then(|i| i.id(&["subagent_type"])),
        prompt: input
            .and_then(|i| i.text(&["prompt", "description"], MAX_LINE))
            .unwrap_or_default(),
        begins: false,
    })
}

fn succeeded(payload: &Payload<'_>) -> Option<ToolCall> {
    let name = payload.word(&["tool_name"])?;
    let input = payload.object(&["tool_input"]);
    let response = payload.object(&["tool_response"]);
    let mut call = tools::call(name, payload, input.as_ref());
    if response.and_then(|r| r.flag(&["interrupted"])) == Some(true) {
        call.outcome = Outcome::Interrupted;
        return Some(call);
    }
    call.background = input.and_then(|i| i.flag(&["run_in_background"])) == Some(true)
        || response.is_some_and(|r| r.flag(&["isAsync"]) == Some(true) || r.has(&["backgroundTaskId"]));
    call.todos = input.and_then(|input| todos::change(name, &input, response.as_ref()));
    match call.kind {
        ToolKind::Create if response.and_then(|r| r.word(&["type"])) != Some("create") => {
            call.kind = ToolKind::Edit
        }
        ToolKind::Read => call.line = input.and_then(|i| i.line_number(&["offset"])),
        _ => {}
    }
    let change = match call.kind {
        ToolKind::Create => Change::Create,
        ToolKind::Edit => Change::Edit,
        _ => return Some(call),
    };
    call.line = response.and_then(|r| first_changed_line(&r));
    if call.target.is_none() {
        call.target = response.and_then(|r| r.line(&["filePath"]));
    }
    call.files = call
        .target
        .iter()
        .map(|path| FileChange {
            change,
            path: path.clone(),
        })
        .collect();
    Some(call)
}

fn first_changed_line(response: &Payload<'_>) -> Option<u32> {
    Payload::new(response.array(&["structuredPatch"])?.first()?)?.line_number(&["newStart"])
}

fn failed(payload: &Payload<'_>) -> Option<ToolCall> {
    let name = payload.word(&["tool_name"])?;
    let mut call = tools::call(name, payload, payload.object(&["tool_input"]).as_ref());
    // Nothing was written; whether the file would have been new is not known either.
    if call.kind == ToolKind::Create {
        call.kind = ToolKind::Edit;
    }
    call.outcome = if payload.flag(&["is_interrupt"]) == Some(true) {
        Outcome::Interrupted
    } else {
        let error = payload.str(&["error"]).unwrap_or_default();
        Outcome::Failed {
            error: Redacted::truncated(error, MAX_LINE),
            exit: exit_code(error),
        }
    };
    Some(call)
}

/// `Exit code 3\nout\noops`: how Bash says it.
fn exit_code(error: &str) -> Option<i32> {
    error
        .strip_prefix("Exit code ")?
        .lines()
        .next()?
        .trim()
        .parse()
        .ok()
}

fn failure(payload: &Payload<'_>) -> Kind {
    let text = payload
        .str(&["last_assistant_message", "error_details"])
        .unwrap_or_default();
    Kind::Failure {
        code: Redacted::truncated(payload.word(&["error"]).unwrap_or("unknown"), MAX_ID),
        message: Redacted::truncated(text, MAX_LINE),
        // Older versions: `Claude AI usage limit reached|1750000000`. 2.1.332 does not say.
        resets_at: text
            .rsplit_once('|')
            .and_then(|(_, seconds)| seconds.trim().parse().ok().filter(|s| *s > 1_000_000_000))
            .and_then(|seconds| DateTime::from_timestamp(seconds, 0)),
    }
}

/// Subagents that still run when the main agent stops; shells in the background do not keep a turn open.
fn background(payload: &Payload<'_>) -> Option<u32> {
    let tasks = payload.array(&["background_tasks"])?;
    let running = tasks.iter().filter_map(Payload::new).filter(|task| {
        task.word(&["type"]) == Some("subagent")
            && matches!(
                task.word(&["status"]),
                Some("running" | "pending" | "in_progress")
            )
    });
    u32::try_from(running.count()).ok()
}

fn accepts(event: &str) -> Accepts {
    let notice = Accepts {
        notice: true,
        ..Accepts::default()
    };
    match event {
        "SessionStart" | "UserPromptSubmit" | "SubagentStart" | "PostToolUse" | "PostToolUseFailure" => {
            Accepts {
                context: true,
                ..notice
            }
        }
        "PreToolUse" => Accepts {
            context: true,
            deny: true,
            ..notice
        },
        "PreCompact" => notice,
        "Stop" | "SubagentStop" => Accepts {
            block: true,
            ..notice
        },
        _ => Accepts::default(),
    }
}

fn encode(event: &str, reply: &Reply) -> Option<Value> {
    answer::document(event, reply, accepts(event), Spelling::Permission)
}
