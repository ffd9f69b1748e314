//! The orchestration's tools. What they are and what they do is its own (`orchestration::TOOLS`); here is only where
//! the caller works, and what a failure is called in the protocol.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::toolset::{Effect, Failure, Tool, ToolSet};
use crate::orchestration::{self, Error, Service, TOOLS};

/// The tools over the orchestration state, as one process calls them.
pub struct Orchestration<'a> {
    service: Service,
    /// Where the caller works now.
    place: &'a dyn Fn() -> Option<PathBuf>,
}

impl<'a> Orchestration<'a> {
    /// Over a service; `place` says before each call where the caller works.
    #[must_use]
    pub fn new(service: Service, place: &'a dyn Fn() -> Option<PathBuf>) -> Self {
        Self { service, place }
    }
}

impl ToolSet for Orchestration<'_> {
    fn tools(&self) -> Vec<Tool> {
        let tool = |tool: &orchestration::Tool| Tool {
            name: tool.name,
            about: format!("Orchestration. {}.", tool.about),
            schema: tool.schema(),
            effect: effect(tool),
        };
        TOOLS.iter().map(tool).collect()
    }

    fn call(&mut self, tool: &str, params: &Value) -> Result<Value, Failure> {
        if let Some(dir) = (self.place)() {
            self.service.work_in(&dir);
        }
        self.service
            .call(tool, params)
            .map_err(|error| Failure::from(&error))
    }
}

fn effect(tool: &orchestration::Tool) -> Effect {
    match tool {
        tool if tool.read_only => Effect::Reads,
        tool if tool.destructive => Effect::Destroys,
        tool if tool.idempotent => Effect::Settles,
        _ => Effect::Adds,
    }
}

/// The same error; what to do next stands under both names, that of this server and that of the reference.
impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let mut details = error.details();
        if !details.is_object() {
            details = json!({});
        }
        if let Some(details) = details.as_object_mut() {
            details.insert("hint".to_owned(), json!(error.hint()));
            details.insert("recovery_hint".to_owned(), json!(error.hint()));
        }
        Self {
            code: error.code().to_owned(),
            message: error.message(),
            details,
        }
    }
}
