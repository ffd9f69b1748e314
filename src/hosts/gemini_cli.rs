//! Gemini CLI, as observed at 0.61.0.
//!
//! Events have names of their own (`BeforeAgent` is a prompt, `AfterAgent` a stop). Tools in a subagent carry
//! the parent's session id and no agent id; the subagent's end is its `complete_task`. A failed tool has an
//! `error` key, a failed command only a line `Exit Code: N` in its text. `PreCompress(auto)` fires before
//! every model turn, whether or not anything is compacted. A model limit fires nothing.

use serde_json::Value;

use super::answer::{self, Spelling};
use super::payload::Payload;
use super::registration::Row;
use super::{Dialect, Host, Surroundings, envelope, todos, tools};
use crate::event::{
    Change, Event, FileChange, Kind, MAX_LINE, MAX_TEXT, Origin, Outcome, ToolCall, ToolKind,
};
use crate::hook::Hook;
use crate::redact::Redacted;
use crate::reply::{Accepts, Reply};

pub(super) const DIALECT: Dialect = Dialect {
    todo_tool: Some("write_todos"),
    keeps_todos: false,
    pid_variable: None,
    tool_env: None,
    tells_of_compaction: false,
    serves_many: false,
    decode,
    encode,
    accepts,
    events: &[
        Row::new("SessionStart", Hook::SessionStart),
        Row::new("BeforeAgent", Hook::TurnStart),
        Row::new("BeforeTool", Hook::PreDelegation).matching("invoke_agent"),
        Row::new("AfterTool", Hook::PostTool),
        Row::new("AfterAgent", Hook::Stop),
        // `auto` fires before every model turn; the matcher of this event is compared with the trigger.
        Row::new("PreCompress", Hook::Stop).matching("manual"),
        Row::new("SessionEnd", Hook::Stop),
    ],
};

fn decode(name: &str, payload: &Payload<'_>, around: &Surroundings<'_>) -> Option<Event> {
    let kind = match name {
        "SessionStart" => Kind::SessionStart {
            source: envelope::source(payload),
        },
        "BeforeAgent" => Kind::Prompt {
            text: Redacted::truncated(
                without_context(payload.str(&["prompt"]).unwrap_or_default()),
                MAX_TEXT,
            ),
            // The retry after our own block brings its reason as prompt: the live state knows that, not we.
            origin: Origin::User,
        },
        "BeforeTool" => delegation(payload)?,
        "AfterTool" => after_tool(payload)?,
        "AfterAgent" => envelope::stop(payload, &["prompt_response"], None),
        "PreCompress" if payload.word(&["trigger"]) == Some("manual") => Kind::PreCompact,
        "SessionEnd" => envelope::session_end(payload),
        _ => return None,
    };
    let mut event = envelope::event(Host::GeminiCli, name, payload, around, kind);
    event.project = envelope::directory(around.env, "GEMINI_PROJECT_DIR");
    if matches!(name, "SessionStart" | "BeforeAgent") {
        event.headless = headless(&(around.host_args)());
    }
    Some(event)
}

/// `gemini -p …` is a script. Without it the host may still read its prompt from a pipe: not known.
fn headless(args: &[String]) -> Option<bool> {
    let is_prompt = |arg: &String| arg == "-p" || arg == "--prompt" || arg.starts_with("--prompt=");
    args.iter()
        .take_while(|arg| *arg != "--")
        .any(is_prompt)
        .then_some(true)
}

const CONTEXT_OPENS: &str = "<hook_context>";
const CONTEXT_CLOSES: &str = "</hook_context>";

/// The prompt without the context that hooks put before or behind it, our own at the session's start
/// included. Brackets within that context are escaped, so the tags are the host's. A prompt that would be
/// empty is left as it is.
fn without_context(prompt: &str) -> &str {
    let mut text = prompt;
    while let Some(rest) = text.trim_start().strip_prefix(CONTEXT_OPENS) {
        let Some((_, after)) = rest.split_once(CONTEXT_CLOSES) else {
            break;
        };
        text = after.trim_start();
    }
    while let Some(rest) = text.trim_end().strip_suffix(CONTEXT_CLOSES) {
        let Some((before, _)) = rest.rsplit_once(CONTEXT_OPENS) else {
            break;
        };
        text = before.trim_end();
    }
    if text.trim().is_empty() { prompt } else { text }
}

fn delegation(payload: &Payload<'_>) -> Option<Kind> {
    payload
        .word(&["tool_name"])
        .filter(|name| tools::is_delegation(name))?;
    let input = payload.object(&["tool_input"]);
    Some(Kind::Delegation {
        call: payload.id(&["tool_use_id", "tool_call_id"]),
        to: input.and_then(|i| i.id(&["agent_name"])),
        prompt: input
            .and_then(|i| i.text(&["prompt", "task", "objective"], MAX_LINE))
            .unwrap_or_default(),
        // Nothing else announces the subagent.
        begins: true,
    })
}

fn after_tool(payload: &Payload<'_>) -> Option<Kind> {
    let name = payload.word(&["tool_name"])?;
    let input = payload.object(&["tool_input"]);
    if name == "complete_task" {
        // Which subagent it was, nothing says.
        let message = input.and_then(|i| envelope::message(&i, &["result", "output"]));
        return Some(Kind::AgentStop {
            message,
            again: false,
        });
    }
    let mut call = tools::call(name, payload, input.as_ref());
    let response = payload.object(&["tool_response"]);
    let display = response.and_then(|r| r.object(&["returnDisplay"]));
    call.outcome = response.map_or(Outcome::Ok, |response| {
        outcome(call.kind, &response, display.as_ref())
    });
    let created = display.and_then(|d| d.flag(&["isNewFile"]));
    match call.kind {
        ToolKind::Create if created != Some(true) => call.kind = ToolKind::Edit,
        ToolKind::Edit if created == Some(true) => call.kind = ToolKind::Create,
        _ => {}
    }
    if call.outcome == Outcome::Ok {
        went_well(&mut call, name, input.as_ref(), display.as_ref());
    }
    Some(Kind::Tool(Box::new(call)))
}

fn went_well(call: &mut ToolCall, name: &str, input: Option<&Payload<'_>>, display: Option<&Payload<'_>>) {
    call.todos = input.and_then(|input| todos::change(name, input, None));
    call.background = input.and_then(|i| i.flag(&["is_background", "run_in_background"])) == Some(true);
    let change = match call.kind {
        ToolKind::Create => Change::Create,
        ToolKind::Edit => Change::Edit,
        _ => return,
    };
    // The input's path may be relative to a directory that we do not know.
    if let Some(path) = display.and_then(|d| d.line(&["filePath"])) {
        call.target = Some(path);
    }
    call.line = display
        .and_then(|d| d.str(&["fileDiff"]))
        .and_then(first_changed_line);
    call.files = call
        .target
        .iter()
        .map(|path| FileChange {
            change,
            path: path.clone(),
        })
        .collect();
}

/// The new file's line in the first `@@ -1,4 +1,5 @@` of a diff.
fn first_changed_line(diff: &str) -> Option<u32> {
    let hunk = diff.split("\n@@ -").nth(1)?;
    let (_, new) = hunk.split_once(" +")?;
    let digits = new.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|line| *line > 0)
}

fn outcome(kind: ToolKind, response: &Payload<'_>, display: Option<&Payload<'_>>) -> Outcome {
    let failed = |error: &str, exit| Outcome::Failed {
        error: Redacted::truncated(error, MAX_LINE),
        exit,
    };
    if response.has(&["error"]) {
        let message = response
            .object(&["error"])
            .and_then(|e| e.str(&["message", "type"]));
        let text = message.or_else(|| response.str(&["error", "returnDisplay", "llmContent"]));
        return failed(text.unwrap_or_default(), None);
    }
    match kind {
        ToolKind::Shell => {
            let text = model_text(response).unwrap_or_default();
            match exit_code(text) {
                None | Some(0) => Outcome::Ok,
                exit => failed(response.word(&["returnDisplay"]).unwrap_or(text), exit),
            }
        }
        ToolKind::Delegate => match display.and_then(|d| d.word(&["terminateReason"])) {
            None | Some("GOAL") => Outcome::Ok,
            Some("ABORTED") => Outcome::Interrupted,
            Some(reason) => failed(reason, None),
        },
        _ => Outcome::Ok,
    }
}

/// What the model reads: a text, or a list of parts of which the first text counts.
fn model_text<'a>(response: &Payload<'a>) -> Option<&'a str> {
    response.str(&["llmContent"]).or_else(|| {
        let parts = response.array(&["llmContent"])?;
        parts
            .iter()
            .filter_map(Payload::new)
            .find_map(|part| part.str(&["text"]))
    })
}

/// The exit code that the host adds behind a command's output. Only its own closing lines are read: an
/// output may hold the same words.
fn exit_code(text: &str) -> Option<i32> {
    let ours = |line: &&str| {
        let line = line.trim();
        line.is_empty()
            || line == "</untrusted_context>"
            || ["Process Group PGID:", "Background PIDs:", "Signal:"]
                .iter()
                .any(|known| line.starts_with(known))
    };
    text.lines()
        .rev()
        .find(|line| !ours(line))?
        .trim()
        .strip_prefix("Exit Code: ")?
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
        "SessionStart" | "BeforeAgent" | "AfterTool" => Accepts {
            context: true,
            ..notice
        },
        // Context is dropped here: only a rewritten prompt reaches a subagent.
        "BeforeTool" => Accepts { deny: true, ..notice },
        "AfterAgent" => Accepts {
            block: true,
            ..notice
        },
        "PreCompress" => notice,
        _ => Accepts::default(),
    }
}

fn encode(event: &str, reply: &Reply) -> Option<Value> {
    answer::document(event, reply, accepts(event), Spelling::Deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_context_is_no_part_of_the_prompt() {
        let table = [
            ("<hook_context>a\nb</hook_context>\n\nfix it", "fix it"),
            (
                "<hook_context>a</hook_context>\n<hook_context>b</hook_context>fix it",
                "fix it",
            ),
            ("fix it\n<hook_context>a</hook_context>\n", "fix it"),
            (
                "<hook_context>only</hook_context>",
                "<hook_context>only</hook_context>",
            ),
            ("<hook_context>open", "<hook_context>open"),
            ("what is <hook_context>?", "what is <hook_context>?"),
            (" fix it ", " fix it "),
            ("", ""),
        ];
        for (prompt, expected) in table {
            assert_eq!(without_context(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn only_the_host_s_own_closing_lines_name_an_exit_code() {
        let table = [
            (
                "<untrusted_context>\nOutput: x\nExit Code: 3\nProcess Group PGID: 4070\n</untrusted_context>",
                Some(3),
            ),
            ("Output: (empty)\nExit Code: 127", Some(127)),
            ("Output: Exit Code: 3\nmore\nProcess Group PGID: 4070", None),
            ("Output: hi\nProcess Group PGID: 4070\n", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(exit_code(text), expected, "{text}");
        }
    }

    #[test]
    fn the_first_hunk_names_the_line() {
        assert_eq!(
            first_changed_line("--- a\n+++ b\n@@ -10,4 +12,5 @@ fn x\n"),
            Some(12)
        );
        assert_eq!(first_changed_line("--- a\n+++ b\n@@ -3 +0,0 @@\n"), None);
        assert_eq!(first_changed_line("no diff"), None);
    }

    #[test]
    fn only_a_prompt_option_makes_a_script() {
        let args = |list: &[&str]| list.iter().map(|&a| a.to_owned()).collect::<Vec<_>>();
        assert_eq!(headless(&args(&["node", "gemini.js", "-p", "x"])), Some(true));
        assert_eq!(headless(&args(&["node", "gemini.js", "--prompt=x"])), Some(true));
        assert_eq!(
            headless(&args(&["node", "gemini.js", "--prompt-interactive", "x"])),
            None
        );
        assert_eq!(headless(&args(&["node", "gemini.js", "--", "-p"])), None);
        assert_eq!(headless(&[]), None);
    }
}
