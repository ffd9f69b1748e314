//! A live session as JSON: the field names of `bookend sessions --help`, which do not change.

use serde::Serialize;
use serde_json::Value;

use super::live::Live;
use crate::event::Source;
use crate::host::Host;
use crate::live::state::{AgentEntry, Ended, EventCount};
use crate::log::data_dir::Fault;
use crate::log::id::{RequestId, SessionId};
use crate::log::turns::{Status, Turn};
use crate::process::HostProcess;
use crate::redact::Redacted;
use crate::task::{Limit, Task, Todos};

/// The document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionJson<'s> {
    session_key: &'s str,
    session_id: &'s str,
    host: Option<Host>,
    cwd: Option<&'s Redacted>,
    project_root: Option<&'s Redacted>,
    started_at: Option<chrono::DateTime<chrono::Utc>>,
    last_event_at: Option<chrono::DateTime<chrono::Utc>>,
    live: bool,
    log_session: Option<&'s SessionId>,
    turn: Option<TurnJson<'s>>,
    current_task: Option<&'s Task>,
    interrupted_task: Option<&'s Task>,
    ui_todos: Option<&'s Todos>,
    rate_limit: Option<&'s Limit>,
    agents: &'s [AgentEntry],
    events: &'s std::collections::BTreeMap<String, EventCount>,
    model: Option<&'s Redacted>,
    headless: Option<bool>,
    source: Option<Source>,
    ended: Option<&'s Ended>,
    host_process: Option<&'s HostProcess>,
    aliases: &'s [Redacted],
    blocks: u32,
    notices: &'s [Redacted],
    pending: usize,
    faults: Vec<&'s Fault>,
    problems: &'s [String],
    version: u32,
    root: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TurnJson<'s> {
    request_id: &'s RequestId,
    status: &'static str,
    presumed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'s Redacted>,
    started_at: chrono::DateTime<chrono::Utc>,
    ended_at: Option<chrono::DateTime<chrono::Utc>>,
}

impl<'s> From<&'s Turn> for TurnJson<'s> {
    fn from(turn: &'s Turn) -> Self {
        let code = match &turn.status {
            Status::Failed { code, .. } => Some(code),
            Status::InProgress | Status::Completed => None,
        };
        Self {
            request_id: &turn.id,
            status: turn.status.word(),
            presumed: turn.status.is_presumed(),
            code,
            started_at: turn.started_at,
            ended_at: turn.ended_at,
        }
    }
}

impl<'s> From<&'s Live> for SessionJson<'s> {
    fn from(live: &'s Live) -> Self {
        let state = &live.state;
        Self {
            session_key: live.key.as_str(),
            session_id: state.session_id.as_str(),
            host: state.host,
            cwd: state.cwd.as_ref(),
            project_root: state.project_root.as_ref(),
            started_at: state.started_at,
            last_event_at: state.last_event_at,
            live: live.alive,
            log_session: state.log.as_ref().map(|l| &l.session),
            turn: state.turns.last().map(TurnJson::from),
            current_task: live.task(),
            interrupted_task: live.interrupted(),
            ui_todos: state.ui_todos.as_ref(),
            rate_limit: state.rate_limit.as_ref(),
            agents: &state.agents,
            events: &state.events,
            model: state.model.as_ref(),
            headless: state.headless,
            source: state.source,
            ended: state.ended.as_ref(),
            host_process: state.host_process.as_ref(),
            aliases: &state.aliases,
            blocks: state.blocks,
            notices: &state.notices,
            pending: live.pending,
            faults: state.faults.iter().collect(),
            problems: &live.problems,
            version: state.version,
            root: live.root.to_string_lossy().into_owned(),
        }
    }
}

/// The word that serde gives a plain enum: what JSON says is what people read.
pub(super) fn word_of(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => "-".to_owned(),
    }
}
