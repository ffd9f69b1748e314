//! The session log's methods as tools. Names and effects stand here; parameters, their schema and what is done are
//! the methods' own (`log::methods::table`).

use serde_json::Value;

use super::toolset::{Effect, Failure, Tool, ToolSet};
use crate::log::methods::Service;
use crate::log::methods::error::Error;
use crate::log::methods::table::{Method, find};

/// A tool: its name, the method that it is, what it does to the log.
type Row = (&'static str, &'static str, Effect);

/// The tools: each method once.
const TOOLS: [Row; 14] = [
    (
        "sessionlog_bootstrap",
        "workflow.sessionlog.bootstrap",
        Effect::Settles,
    ),
    (
        "sessionlog_current",
        "workflow.sessionlog.currentSession",
        Effect::Reads,
    ),
    ("sessionlog_open", "workflow.sessionlog.openSession", Effect::Adds),
    (
        "sessionlog_begin_turn",
        "workflow.sessionlog.beginTurn",
        Effect::Adds,
    ),
    (
        "sessionlog_update_turn",
        "workflow.sessionlog.updateTurn",
        Effect::Settles,
    ),
    (
        "sessionlog_append_dialog",
        "workflow.sessionlog.appendDialog",
        Effect::Adds,
    ),
    (
        "sessionlog_append_actions",
        "workflow.sessionlog.appendActions",
        Effect::Adds,
    ),
    (
        "sessionlog_complete_turn",
        "workflow.sessionlog.completeTurn",
        Effect::Settles,
    ),
    (
        "sessionlog_fail_turn",
        "workflow.sessionlog.failTurn",
        Effect::Settles,
    ),
    (
        "sessionlog_set_title",
        "workflow.sessionlog.setSessionTitle",
        Effect::Settles,
    ),
    (
        "sessionlog_close",
        "workflow.sessionlog.closeSession",
        Effect::Settles,
    ),
    (
        "sessionlog_query",
        "workflow.sessionlog.queryHistory",
        Effect::Reads,
    ),
    ("sessionlog_get", "client.SessionLog.GetAsync", Effect::Reads),
    (
        "sessionlog_submit",
        "client.SessionLog.SubmitAsync",
        Effect::Settles,
    ),
];

/// The tools over the log, as one process calls them.
pub struct SessionLog<'a>(Service<'a>);

impl<'a> SessionLog<'a> {
    /// Over the methods, as they are called from where the process is.
    #[must_use]
    pub fn new(service: Service<'a>) -> Self {
        Self(service)
    }
}

impl ToolSet for SessionLog<'_> {
    fn tools(&self) -> Vec<Tool> {
        let tool = |(name, method, effect): Row| {
            let method = find(method)?;
            Some(Tool {
                name,
                about: about(method),
                schema: method.schema(),
                effect,
            })
        };
        TOOLS.into_iter().filter_map(tool).collect()
    }

    fn call(&mut self, tool: &str, params: &Value) -> Result<Value, Failure> {
        let row = TOOLS.into_iter().find(|(name, ..)| *name == tool);
        let method = row.map_or(tool, |(_, method, _)| method);
        self.0.call(method, params).map_err(|error| failure(&error))
    }
}

fn about(method: &Method) -> String {
    // Hosts offer tools only when a model searches for them, by words.
    format!("Session log. {}.", method.about)
}

/// The same error, with what it says of methods in the words of the tools.
fn failure(error: &Error) -> Failure {
    let mut details = error.details();
    if let Some(hint) = details.get_mut("hint") {
        *hint = Value::String(in_tools(&error.hint()));
    }
    Failure {
        code: error.code().to_owned(),
        message: in_tools(&error.message()),
        details,
    }
}

/// `openSession` is `sessionlog_open` here: a model is to read the name that it can call.
fn in_tools(text: &str) -> String {
    let mut text = text.to_owned();
    for (tool, method, _) in TOOLS {
        let short = method.rsplit('.').next().unwrap_or(method);
        if short.contains(|c: char| c.is_ascii_uppercase()) {
            text = text.replace(short, tool);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::log::methods::table::METHODS;

    #[test]
    fn every_method_is_a_tool_once() {
        let tools: BTreeSet<&str> = TOOLS.iter().map(|(_, method, _)| *method).collect();
        // The one that is another by an older name.
        let rest: Vec<&str> = METHODS
            .iter()
            .map(|m| m.name)
            .filter(|m| !tools.contains(m))
            .collect();
        assert_eq!(rest, ["client.SessionLog.QueryAsync"]);
        assert_eq!(tools.len(), TOOLS.len());
        for (tool, method, _) in TOOLS {
            assert!(find(method).is_some(), "{method}");
            assert!(tool.starts_with("sessionlog_"), "{tool}");
        }
    }

    #[test]
    fn what_an_error_says_to_call_is_a_tool() {
        let error = Error::SessionNotFound {
            session: None,
            candidates: Vec::new(),
        };
        let failure = failure(&error);
        assert_eq!(failure.code, "session_not_found");
        assert_eq!(
            failure.message,
            "No active session. Call sessionlog_open first, or name a session by sessionId."
        );
        assert_eq!(
            failure.details["hint"],
            "Call sessionlog_open first, or name a session by sessionId"
        );
        let error = Error::parameter("params", Some(&json!([])), "an object");
        assert_eq!(super::failure(&error).message, error.message());
    }
}
