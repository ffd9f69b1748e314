//! What every payload carries around its news: session, directory, model, turn, agent.
//!
//! The three hosts spell these alike, so a host file starts from [`event`] and adds only what is its own
//! (project, headless, which field is the turn). `key` stays empty here: duplicates are the live state's.

use super::payload::Payload;
use super::{Env, Host, Surroundings};
use crate::event::{Agent, Event, Kind, MAX_LINE, MAX_TEXT, Source};
use crate::redact::Redacted;

/// An event with everything that the hosts spell alike; turn, agent, project and headless are left open.
pub(super) fn event(
    host: Host,
    name: &str,
    payload: &Payload<'_>,
    around: &Surroundings<'_>,
    kind: Kind,
) -> Event {
    // In a subagent, and where one starts or ends, the type is that of the subagent.
    let about_agent = matches!(kind, Kind::AgentStart | Kind::AgentStop { .. }) || in_subagent(payload);
    let role = payload.id(&["agent_type", "agentType"]).filter(|_| !about_agent);
    Event {
        host,
        name: name.to_owned(),
        at: around.at,
        session: payload.id(&["session_id", "sessionId"]).unwrap_or_default(),
        turn: None,
        agent: None,
        headless: None,
        cwd: payload.line(&["cwd"]),
        project: None,
        model: payload.id(&["model"]),
        role,
        kind,
        key: None,
        stamped: payload.has(&["timestamp"]),
        host_pid: None,
    }
}

/// The subagent that a payload names. An empty type counts as none (Claude Code sends one at compaction).
pub(super) fn agent(payload: &Payload<'_>) -> Option<Agent> {
    let id = payload.id(&["agent_id", "agentId"]);
    let kind = payload.id(&["agent_type", "agentType"]);
    (id.is_some() || kind.is_some()).then_some(Agent { id, kind })
}

/// Whether it happened in a subagent. The type alone does not say so: a main agent that was started under
/// a name (`claude --agent x`) carries it too.
pub(super) fn in_subagent(payload: &Payload<'_>) -> bool {
    payload.id(&["agent_id", "agentId"]).is_some()
}

/// A directory from the environment.
pub(super) fn directory(env: Env<'_>, name: &str) -> Option<Redacted> {
    env(name)
        .filter(|dir| !dir.trim().is_empty())
        .map(|dir| Redacted::truncated(&dir, MAX_LINE))
}

/// Why a session starts. A word that we do not know is a new conversation: that is what gets all context.
pub(super) fn source(payload: &Payload<'_>) -> Source {
    match payload.word(&["source"]) {
        Some("resume") => Source::Resume,
        Some("fork") => Source::Fork,
        Some("clear") => Source::Clear,
        Some("compact") => Source::Compact,
        _ => Source::Startup,
    }
}

/// A turn's text; an answer that says nothing is none.
pub(super) fn message(payload: &Payload<'_>, names: &[&str]) -> Option<Redacted> {
    payload
        .str(names)
        .filter(|s| !s.trim().is_empty())
        .map(|s| Redacted::truncated(s, MAX_TEXT))
}

/// The end of the main agent's turn, or of a subagent's when the payload names one.
pub(super) fn stop(payload: &Payload<'_>, answer: &[&str], background: Option<u32>) -> Kind {
    let message = message(payload, answer);
    let again = payload
        .flag(&["stop_hook_active", "stopHookActive"])
        .unwrap_or(false);
    if in_subagent(payload) {
        Kind::AgentStop { message, again }
    } else {
        Kind::Stop {
            message,
            again,
            background,
        }
    }
}

/// The end of a subagent.
pub(super) fn agent_stop(payload: &Payload<'_>) -> Kind {
    Kind::AgentStop {
        message: message(payload, &["last_assistant_message", "lastAssistantMessage"]),
        again: payload
            .flag(&["stop_hook_active", "stopHookActive"])
            .unwrap_or(false),
    }
}

/// The end of the session.
pub(super) fn session_end(payload: &Payload<'_>) -> Kind {
    Kind::SessionEnd {
        reason: payload.id(&["reason"]).unwrap_or_else(|| Redacted::new("other")),
    }
}
