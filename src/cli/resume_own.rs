//! `bookend resume <session>`: what a conversation is told if it goes on now (`claude --resume`, `codex
//! resume`): the plan that the hook would make, and nothing carried out.

use serde_json::json;

use super::machine::Machine;
use super::out::Out;
use super::resume::{mode, told};
use super::span::{Line, Style};
use super::{Failed, history, live};
use crate::config;
use crate::dispatch::kept::Asker;
use crate::dispatch::restored;
use crate::event::Source;
use crate::host::Host;
use crate::live::state::State;
use crate::process::Pulse;

/// Prints it, for people or as JSON.
pub(super) fn run(wanted: &str, is_json: bool, machine: &Machine, out: &mut Out) -> Result<(), Failed> {
    let (state, alive) = found(wanted, machine, out)?;
    let host = state.host.unwrap_or(Host::ClaudeCode);
    let project = state.project_root.as_ref().or(state.cwd.as_ref());
    // It goes on in another process, or in its own if that still runs.
    let pulse = if alive { Pulse::Alive } else { Pulse::Dead };
    let asker = Asker {
        project,
        named: None,
        source: Some(Source::Resume),
        headless: state.headless == Some(true),
        own: state.log.as_ref().map(|l| &l.session),
        now: machine.now,
    };
    let kept = asker
        .find(machine.data.as_ref(), machine.own_root(), &machine.config)
        .unwrap_or_default();
    let brief = told(
        Source::Resume,
        &state,
        project,
        host,
        None,
        pulse,
        None,
        kept.as_ref(),
        machine,
    );
    let silent = match (&brief, machine.config.resume) {
        (Some(_), _) => None,
        (None, _) if machine.config.disabled => Some("BOOKEND_DISABLE is set: every hook does nothing"),
        (None, config::Resume::Off) => Some("BOOKEND_RESUME is off: nobody gets a brief"),
        (None, _) => Some("neither a task nor an open todo is left of it"),
    };
    let log = state.log.as_ref().map(|l| &l.session);
    if is_json {
        return out.json(&json!({
            "session": state.session_id,
            "logSession": log,
            "project": project,
            "host": host,
            "live": alive,
            "mode": mode(machine.config.resume),
            "brief": brief,
            "silent": silent,
        }));
    }
    let opening = format!(
        "{}, the session {} of it, would be told",
        host.title(),
        state.session_id
    );
    match brief {
        Some(brief) => {
            out.line(Line::of(Style::Strong, &format!("{opening}, if it went on now:")));
            out.gap();
            out.block(2, &brief);
            if let Some(log) = log {
                out.line(Line::of(Style::Faint, &format!("  Session log: {log}")));
            }
        }
        None => {
            let why = silent.unwrap_or_default();
            out.line(format!("{opening} nothing but the id of its log: {why}."));
        }
    }
    Ok(())
}

/// The state of that session, live or begun again from its log, and whether its host is alive.
fn found(wanted: &str, machine: &Machine, out: &mut Out) -> Result<(State, bool), Failed> {
    let sessions = live::all(machine, out);
    let unknown = match live::find(sessions, Some(wanted), machine, out) {
        Ok(session) => return Ok((session.state, session.alive)),
        Err(unknown) => unknown,
    };
    let unreadable = |e: std::io::Error| Failed::to(format!("read the session log: {e}"));
    let Some(data) = &machine.data else {
        return Err(unknown);
    };
    match history::matching(data, wanted).map_err(unreadable)?.as_slice() {
        [id] => Ok((restored(data, id).map_err(unreadable)?, false)),
        _ => Err(unknown),
    }
}
