//! Codex CLI, as observed at 0.171.0.
//!
//! There is no failed-tool event and no exit code: a failed command is a `PostToolUse` with its output, so
//! only a patch, whose answer begins with `Exit code: N`, can be told to have failed. A model limit fires
//! nothing; a subagent that met one, that the model interrupted or that outlives the script has no
//! `SubagentStop`. Any key that the output schema lacks fails the whole answer (`tests/payloads/codex/schema`).
//! Subagent events carry the root's session id and the subagent's own turn id. No variable names Codex.

use serde_json::Value;

use super::answer::{self, Spelling};
use super::payload::Payload;
use super::registration::Row;
use super::{Dialect, Host, Surroundings, envelope, patch, todos, tools};
use crate::event::{Event, Kind, MAX_LINE, MAX_TEXT, Origin, Outcome, ToolCall, ToolKind};
use crate::hook::Hook;
use crate::redact::Redacted;
use crate::reply::{Accepts, Reply};

pub(super) const DIALECT: Dialect = Dialect {
    todo_tool: Some("update_plan"),
    keeps_todos: false,
    pid_variable: None,
    tool_env: None,
    tells_of_compaction: true,
    serves_many: true,
    decode,
    encode,
    accepts,
    events: &[
        Row::new("SessionStart", Hook::SessionStart),
        Row::new("UserPromptSubmit", Hook::TurnStart),
        Row::new("PreToolUse", Hook::PreDelegation).matching(".*spawn_agent"),
        Row::new("SubagentStart", Hook::PreDelegation),
        Row::new("PostToolUse", Hook::PostTool),
        Row::new("Stop", Hook::Stop),
        Row::new("SubagentStop", Hook::Stop),
        // Both have 1 s unless asked otherwise, and a host that is about to go does not wait gladly.
        Row::new("Interrupt", Hook::Stop).within(1),
        Row::new("PreCompact", Hook::Stop),
        Row::new("SessionEnd", Hook::Stop).within(1),
    ],
};

fn decode(name: &str, payload: &Payload<'_>, around: &Surroundings<'_>) -> Option<Event> {
    let kind = match name {
        "SessionStart" => Kind::SessionStart {
            source: envelope::source(payload),
        },
        // A subagent's prompt (v1 subagents send it): its SubagentStart says the same.
        "UserPromptSubmit" if envelope::in_subagent(payload) => return None,
        "UserPromptSubmit" => Kind::Prompt {
            text: payload.text(&["prompt"], MAX_TEXT).unwrap_or_default(),
            origin: Origin::User,
        },
        "PreToolUse" => delegation(payload)?,
        "SubagentStart" => Kind::AgentStart,
        "PostToolUse" => Kind::Tool(Box::new(tool(payload)?)),
        "Stop" => envelope::stop(payload, &["last_assistant_message"], None),
        "SubagentStop" => envelope::agent_stop(payload),
        "Interrupt" => Kind::Interrupt,
        "PreCompact" => Kind::PreCompact,
        "SessionEnd" => envelope::session_end(payload),
        _ => return None,
    };
    let mut event = envelope::event(Host::Codex, name, payload, around, kind);
    event.turn = payload.id(&["turn_id"]);
    event.agent = match event.kind {
        Kind::AgentStart | Kind::AgentStop { .. } => envelope::agent(payload),
        _ if envelope::in_subagent(payload) => envelope::agent(payload),
        _ => None,
    };
    if matches!(name, "SessionStart" | "UserPromptSubmit") {
        event.headless = headless(&(around.host_args)());
    }
    Some(event)
}

/// `codex exec …` is a script, `codex`, `codex "prompt"` and `codex resume` have a person at them. Servers
/// (`app-server`, `mcp-server`) do not say.
fn headless(args: &[String]) -> Option<bool> {
    let mut args = args.iter().map(String::as_str).skip_while(|arg| !is_codex(arg));
    args.next()?;
    let mut takes_value = false;
    for arg in args {
        if std::mem::take(&mut takes_value) {
            continue;
        }
        if arg.starts_with('-') {
            takes_value = OPTIONS_WITH_VALUE.contains(&arg);
            continue;
        }
        return match arg {
            "exec" | "e" | "review" => Some(true),
            "app-server" | "mcp-server" | "exec-server" | "cloud" | "mcp" | "proto" => None,
            _ => Some(false),
        };
    }
    Some(false)
}

/// Options that stand before the subcommand and take the next word.
const OPTIONS_WITH_VALUE: [&str; 20] = [
    "-c",
    "--config",
    "-m",
    "--model",
    "-p",
    "--profile",
    "-s",
    "--sandbox",
    "-a",
    "--ask-for-approval",
    "-C",
    "--cd",
    "-i",
    "--image",
    "--add-dir",
    "--enable",
    "--disable",
    "--local-provider",
    "--remote",
    "--remote-auth-token-env",
];

/// The program itself, or the script that an interpreter runs for it.
fn is_codex(arg: &str) -> bool {
    let file = arg.rsplit('/').next().unwrap_or(arg);
    matches!(file, "codex" | "codex.js")
        || file.starts_with("codex-x86_64")
        || file.starts_with("codex-aarch64")
}

fn delegation(payload: &Payload<'_>) -> Option<Kind> {
    payload
        .word(&["tool_name"])
        .filter(|name| tools::is_delegation(name))?;
    let input = payload.object(&["tool_input"]);
    Some(Kind::Delegation {
        call: payload.id(&["tool_use_id"]),
        to: input.and_then(|i| i.id(&["agent_type"])),
        prompt: input
            .and_then(|i| i.text(&["message", "prompt"], MAX_LINE))
            .unwrap_or_default(),
        begins: false,
    })
}

fn tool(payload: &Payload<'_>) -> Option<ToolCall> {
    let name = payload.word(&["tool_name"])?;
    let input = payload.object(&["tool_input"]);
    let mut call = tools::call(name, payload, input.as_ref());
    if name == "apply_patch" {
        patched(&mut call, payload, input.as_ref());
        return Some(call);
    }
    // A spawned agent runs on by itself; the parent waits with another tool.
    call.background = call.kind == ToolKind::Delegate;
    call.todos =
        input.and_then(|input| todos::change(name, &input, payload.object(&["tool_response"]).as_ref()));
    Some(call)
}

fn patched(call: &mut ToolCall, payload: &Payload<'_>, input: Option<&Payload<'_>>) {
    let text = input
        .and_then(|i| i.str(&["command", "input", "patch"]))
        .unwrap_or_default();
    let files = patch::files(text);
    call.kind = patch::kind(&files);
    call.target = files.first().map(|file| file.path.clone());
    let answer = payload.str(&["tool_response"]).unwrap_or_default();
    match exit_code(answer) {
        None | Some(0) => call.files = files,
        exit => {
            call.outcome = Outcome::Failed {
                error: Redacted::truncated(answer, MAX_LINE),
                exit,
            }
        }
    }
}

/// `Exit code: 0\nWall time: …`: how a patch's answer begins. A command's answer is its bare output.
fn exit_code(answer: &str) -> Option<i32> {
    answer
        .strip_prefix("Exit code: ")?
        .lines()
        .next()?
        .trim()
        .parse()
        .ok()
}

fn accepts(event: &str) -> Accepts {
    let notice = Accepts {
        notice: true,
        ..Accepts::default()
    };
    match event {
        "SessionStart" | "UserPromptSubmit" | "SubagentStart" | "PostToolUse" => Accepts {
            context: true,
            ..notice
        },
        "PreToolUse" => Accepts {
            context: true,
            deny: true,
            ..notice
        },
        "Stop" | "SubagentStop" => Accepts {
            block: true,
            ..notice
        },
        "PreCompact" | "Interrupt" => notice,
        _ => Accepts::default(),
    }
}

fn encode(event: &str, reply: &Reply) -> Option<Value> {
    answer::document(event, reply, accepts(event), Spelling::Permission)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_s_arguments_say_whether_a_person_is_there() {
        let table: [(&[&str], Option<bool>); 12] = [
            (&["codex", "exec", "--json", "do it"], Some(true)),
            (&["node", "/usr/lib/codex.js", "exec", "x"], Some(true)),
            (
                &["/opt/codex-x86_64-unknown-linux-musl", "-m", "gpt-5.5", "e", "x"],
                Some(true),
            ),
            (&["codex", "-c", "exec", "resume"], Some(false)),
            (
                &["codex", "--model=gpt-5.5", "exec", "resume", "--last"],
                Some(true),
            ),
            (&["codex"], Some(false)),
            (&["codex", "resume", "--last"], Some(false)),
            (&["codex", "fix the exec test"], Some(false)),
            (&["codex", "app-server"], None),
            (&["sh", "-c", "x exec"], None),
            (&["-c"], None),
            (&[], None),
        ];
        for (args, expected) in table {
            let args: Vec<String> = args.iter().map(|&a| a.to_owned()).collect();
            assert_eq!(headless(&args), expected, "{args:?}");
        }
    }
}
