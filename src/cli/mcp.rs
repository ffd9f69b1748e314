//! `bookend mcp`: the log's methods and the orchestration as tools for MCP clients.

use std::path::PathBuf;

use super::args::Mcp;
use super::machine::Machine;
use super::out::Out;
use super::surroundings::Here;
use super::{Failed, Run};
use crate::config::{self, Maestro};
use crate::log::methods::{Service, Surroundings as _};
use crate::mcp::{self, Orchestration, SessionLog, Skills, Workspace};
use crate::orchestration;
use crate::redact::Redacted;

/// The variable by which Claude Code names the project to the servers that it runs.
const CLAUDE_PROJECT: &str = "CLAUDE_PROJECT_DIR";

impl Run for Mcp {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let config = machine.config.clone();
        let served = mcp::serve(move |desk| {
            let here = Here::new(&config);
            let work_in = |Workspace(dir)| here.work_in(Redacted::new(&resolved(&dir).to_string_lossy()));
            if let Some(dir) = config::directory(CLAUDE_PROJECT).filter(|dir| dir.is_dir()) {
                work_in(Workspace(dir));
            }
            let mut log = SessionLog::new(Service::new(&config, &here));
            let place = || here.cwd().map(|dir| PathBuf::from(dir.as_str()));
            let service = orchestration::Service::new(Maestro::from_env(), &place().unwrap_or_default());
            let mut orchestration = Orchestration::new(service.with_log(&config.data_dir), &place);
            desk.work(&mut [&mut log, &mut orchestration, &mut Skills], work_in);
        });
        served.map_err(Failed::to)
    }
}

/// With its links followed, as the process's own directory has them.
fn resolved(dir: &std::path::Path) -> std::path::PathBuf {
    dir.canonicalize().unwrap_or_else(|_| dir.to_owned())
}
