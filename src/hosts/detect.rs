//! Which host sent a payload.
//!
//! Three kinds of evidence, the strongest first: where the host keeps its transcript, the shape of the
//! payload (event names and fields that only one host has), then the registration (`--host`) or, without
//! one, the environment. The environment comes last because agents start agents: a Codex under Claude Code
//! inherits `CLAUDECODE`. Some hosts run other hosts' hooks (Codex takes a Claude Code plugin), so the first
//! two override the registration. Qwen Code, Copilot CLI and OpenCode are known and not modelled: `None`.

use super::payload::Payload;
use super::{Env, Host};

/// What a piece of evidence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// This host and no other.
    Is(Host),
    /// A host that is not modelled.
    Foreign,
}

impl Sign {
    fn host(self) -> Option<Host> {
        match self {
            Self::Is(host) => Some(host),
            Self::Foreign => None,
        }
    }
}

/// The host that sent `payload`; `None`: not known, or not modelled.
#[must_use]
pub fn detect(registered: Option<Host>, payload: &Payload<'_>, env: Env<'_>) -> Option<Host> {
    if let Some(sign) = by_transcript(payload).or_else(|| by_shape(payload)) {
        return sign.host();
    }
    // A time stamp, and nothing above decided: of the three, only Gemini CLI sends one.
    if payload.has(&["timestamp"]) && registered != Some(Host::GeminiCli) {
        return by_environment(payload, env).filter(|host| *host == Host::GeminiCli);
    }
    registered.or_else(|| by_environment(payload, env))
}

/// By the path of the transcript. The innermost match counts: one host's home may lie in another's.
fn by_transcript(payload: &Payload<'_>) -> Option<Sign> {
    let path = payload.word(&["transcript_path", "transcriptPath"])?;
    let separator = |c: char| c == '/' || c == '\\';
    let mut sign = None;
    let mut before = "";
    for part in path.split(separator) {
        match (before, part) {
            (".claude", "projects") => sign = Some(Sign::Is(Host::ClaudeCode)),
            (".codex", "sessions") => sign = Some(Sign::Is(Host::Codex)),
            (".gemini", "tmp") => sign = Some(Sign::Is(Host::GeminiCli)),
            (_, ".qwen" | ".copilot") => sign = Some(Sign::Foreign),
            _ => {}
        }
        before = part;
    }
    sign.or_else(|| {
        // Homes that were moved (CLAUDE_CONFIG_DIR, CODEX_HOME) keep the names below them.
        let mut from_end = path.rsplit(separator);
        let file = from_end.next()?;
        let (parent, above) = (from_end.next(), from_end.next());
        let stem = file.strip_suffix(".jsonl");
        if file.starts_with("rollout-") {
            Some(Sign::Is(Host::Codex))
        } else if file.starts_with("session-") && parent == Some("chats") {
            Some(Sign::Is(Host::GeminiCli))
        } else if above == Some("projects") && stem.is_some() && stem == payload.str(&["session_id"]) {
            Some(Sign::Is(Host::ClaudeCode))
        } else {
            None
        }
    })
}

/// By what only one host sends.
fn by_shape(payload: &Payload<'_>) -> Option<Sign> {
    // OpenCode's shim wraps everything; Copilot's camelCase dialect has no event name.
    if !payload.has(&["session_id"])
        && (payload.str(&["hook"]).is_some()
            || payload.object(&["event"]).is_some()
            || payload.has(&["toolArgs"])
            || (payload.has(&["sessionId"]) && payload.int(&["timestamp"]).is_some()))
    {
        return Some(Sign::Foreign);
    }
    let stamped = payload.has(&["timestamp"]);
    match payload.str(&["hook_event_name", "hookEventName"])? {
        "BeforeAgent"
        | "AfterAgent"
        | "BeforeTool"
        | "AfterTool"
        | "BeforeModel"
        | "AfterModel"
        | "BeforeToolSelection"
        | "PreCompress" => Some(Sign::Is(Host::GeminiCli)),
        "Interrupt" | "PreModelRequest" => Some(Sign::Is(Host::Codex)),
        // Qwen Code and Copilot CLI use Claude Code's event names and stamp them.
        "SessionStart" | "SessionEnd" if stamped => payload
            .has(&["permission_mode", "initial_prompt", "prompt_id"])
            .then_some(Sign::Foreign),
        "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "UserPromptSubmit" | "SubagentStart"
        | "SubagentStop" | "Stop" | "StopFailure" | "PreCompact"
            if stamped =>
        {
            Some(Sign::Foreign)
        }
        "PostToolUseFailure" | "StopFailure" => Some(Sign::Is(Host::ClaudeCode)),
        "SessionStart" if payload.has(&["permission_mode"]) && payload.has(&["model"]) => {
            Some(Sign::Is(Host::Codex))
        }
        "PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "SubagentStart" | "SubagentStop" | "Stop"
        | "PreCompact" | "SessionStart" | "SessionEnd" => {
            match (payload.has(&["turn_id"]), payload.has(&["prompt_id"])) {
                (true, false) => Some(Sign::Is(Host::Codex)),
                (false, true) => Some(Sign::Is(Host::ClaudeCode)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// By the variables that a host sets for its hooks. A session id that matches outweighs one that is only
/// there: it may be inherited from an agent further up.
fn by_environment(payload: &Payload<'_>, env: Env<'_>) -> Option<Host> {
    let session = payload
        .str(&["session_id", "sessionId"])
        .filter(|id| !id.is_empty());
    let names_session = |name: &str| session.is_some() && env(name).as_deref() == session;
    let is_set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    if names_session("QWEN_CODE_SESSION_ID") {
        None
    } else if names_session("CLAUDE_CODE_SESSION_ID") {
        Some(Host::ClaudeCode)
    } else if names_session("GEMINI_SESSION_ID") {
        Some(Host::GeminiCli)
    } else if is_set("COPILOT_CLI")
        || is_set("QWEN_PROJECT_DIR")
        || is_set("QWEN_CODE_SESSION_ID")
        || is_set("OPENCODE")
    {
        None
    } else if env("PLUGIN_ROOT").is_some_and(|root| root.contains("/.codex/plugins/")) {
        Some(Host::Codex)
    } else if is_set("GEMINI_SESSION_ID") || is_set("GEMINI_PROJECT_DIR") {
        Some(Host::GeminiCli)
    } else if is_set("CLAUDECODE") {
        Some(Host::ClaudeCode)
    } else {
        None
    }
}
