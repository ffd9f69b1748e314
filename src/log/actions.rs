//! Which tool calls are worth a record, and what it says: what was changed, or that it failed.

use super::record::{Action, ActionKind, ActionStatus};
use crate::event::{Change, Outcome, ToolCall, ToolKind};
use crate::redact::Redacted;
use crate::task::command::{self, Effect};
use crate::task::describe::sentence;

/// The actions that a tool call leaves in the log: what it changed, or that it failed. Reading is no action, nor is
/// writing the log itself.
#[must_use]
pub fn of(call: &ToolCall, agent: Option<&crate::event::Agent>) -> Vec<Action> {
    let (status, error, exit) = match &call.outcome {
        Outcome::Ok => (ActionStatus::Completed, None, None),
        Outcome::Failed { error, exit } => (ActionStatus::Failed, Some(error.clone()), *exit),
        Outcome::Interrupted => (ActionStatus::Interrupted, None, None),
    };
    let action = |kind, description, file_path: Option<&Redacted>, target: Option<&Redacted>| Action {
        order: None,
        kind,
        description,
        status,
        file_path: file_path.cloned(),
        target: target.cloned(),
        tool: Some(call.tool.clone()),
        call: call.id.clone(),
        agent: agent.cloned(),
        error: error.clone(),
        exit,
    };
    if !call.files.is_empty() {
        let one = |f: &crate::event::FileChange| {
            let kind = match f.change {
                Change::Edit => ActionKind::Edit,
                Change::Create => ActionKind::Create,
                Change::Delete => ActionKind::Delete,
            };
            let alone = ToolCall {
                files: vec![f.clone()],
                ..call.clone()
            };
            action(kind, sentence(&alone), Some(&f.path), None)
        };
        return call.files.iter().map(one).collect();
    }
    let target = call.target.as_ref();
    let failed = status != ActionStatus::Completed;
    let kind = match call.kind {
        ToolKind::Shell => match command::effect(target.map_or("", Redacted::as_str)) {
            Effect::Reads if !failed => return Vec::new(),
            Effect::Commits if !failed => ActionKind::Commit,
            _ => ActionKind::Command,
        },
        ToolKind::Web => ActionKind::WebReference,
        ToolKind::Log => return Vec::new(),
        _ if failed => ActionKind::Tool,
        _ => return Vec::new(),
    };
    let path = matches!(
        call.kind,
        ToolKind::Read | ToolKind::Edit | ToolKind::Create | ToolKind::Delete
    );
    let (file, target) = if path { (target, None) } else { (None, target) };
    vec![action(kind, sentence(call), file, target)]
}
