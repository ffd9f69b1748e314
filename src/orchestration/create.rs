//! Making a workspace ready, and beginning a session.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::Error;
use super::front::Parts;
use super::path::BadPath;
use super::plan::{self, Planned, Violation};
use super::service::{Service, now, success};
use super::session::{Context, Phase, PhaseStatus, Session, TokenUsage};
use super::store::{ACTIVE, Held, Stored};
use super::workspace::Workspace;
use crate::fields::Checked;
use crate::redact::Redacted;

/// Largest design document that is read for its front matter.
const MAX_DOCUMENT: u64 = 4 * 1024 * 1024;

/// A session to begin.
#[derive(Debug, Deserialize)]
struct Create {
    session_id: String,
    task: Redacted,
    phases: Vec<Planned>,
    workflow_mode: Option<String>,
    design_document: Option<Redacted>,
    implementation_plan: Option<Redacted>,
    execution_mode: Option<String>,
    execution_backend: Option<Redacted>,
    task_complexity: Option<Redacted>,
}

pub(super) fn initialize(service: &mut Service, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Given {
        workspace_path: Option<String>,
        state_dir: Option<String>,
    }
    let given: Given = params.read()?;
    let mut wanted = service.clone();
    if let Some(path) = &given.workspace_path {
        let value = json!(path);
        if path.contains("${") || !Path::new(path).is_absolute() {
            let constraint = "the absolute path of the project's directory, without variables";
            return Err(Error::parameter("workspace_path", Some(&value), constraint));
        }
        wanted.dir = path.into();
        // Another project has its own.
        wanted.state_dir = None;
    }
    if given.state_dir.is_some() {
        wanted.state_dir = given.state_dir;
    }
    let at = wanted.workspace()?;
    let state = [at.shown(&["state"])];
    let existed = at
        .root
        .dir(&at.parts(&["state"]), false)
        .is_ok_and(|dir| dir.is_some());
    let made = Held::lock(&at)?.prepare()?;
    *service = wanted;
    let created: Vec<&String> = state.iter().filter(|_| !existed).chain(&made).collect();
    Ok(success(json!({
        "workspace_path": at.root.path().to_string_lossy(), "state_dir": at.shown(&[]),
        "created_directories": created, "already_existed": created.is_empty(),
    })))
}

pub(super) fn create(service: &mut Service, params: &Checked) -> Result<Value, Error> {
    let given: Create = params.read()?;
    let violations: Vec<Violation> = plan::errors(&given.phases);
    if !violations.is_empty() {
        return Err(Error::InvalidPlan { violations });
    }
    let at = service.workspace()?;
    let design = document(&at, "design_document", given.design_document.as_ref())?;
    let implementation = document(&at, "implementation_plan", given.implementation_plan.as_ref())?;
    let now = now();
    let complexity = given.task_complexity.as_ref().map(ToString::to_string);
    let session = Session {
        session_id: given.session_id,
        task: given.task.to_string(),
        created: now.clone(),
        updated: now,
        status: PhaseStatus::InProgress.word().to_owned(),
        workflow_mode: Some(given.workflow_mode.unwrap_or_else(|| "standard".to_owned())),
        task_complexity: complexity.or_else(|| design.as_deref().and_then(|path| complexity_of(&at, path))),
        design_document: design,
        implementation_plan: implementation,
        current_phase: given.phases.first().map(|phase| phase.id.clone()),
        total_phases: given.phases.len() as u64,
        execution_mode: given.execution_mode,
        execution_backend: given.execution_backend.as_ref().map(ToString::to_string),
        current_batch: None,
        archive: None,
        token_usage: TokenUsage::default(),
        phases: given.phases.iter().map(phase).collect(),
        rest: Map::new(),
    };
    let held = Held::lock(&at)?;
    if let Some(active) = held.read()? {
        return Err(Error::SessionActive {
            session: active.session.session_id,
            status: active.session.status,
        });
    }
    if held.is_archived(&session.session_id)? {
        return Err(Error::AlreadyArchived {
            session: session.session_id,
        });
    }
    held.prepare()?;
    let title = session.task.lines().next().unwrap_or_default().trim().to_owned();
    let mut stored = Stored::new(session, format!("\n# {title} Orchestration Log\n"));
    held.write(&mut stored)?;
    Ok(success(json!({
        "session_id": stored.session.session_id, "path": at.shown(&["state", ACTIVE]),
        "current_phase": stored.session.current_phase, "total_phases": stored.session.total_phases,
    })))
}

fn phase(planned: &Planned) -> Phase {
    let texts = |texts: &[Redacted]| texts.iter().map(|text| json!(text)).collect();
    let agents: Vec<Redacted> = planned.agent.iter().chain(&planned.agents).cloned().collect();
    Phase {
        id: planned.id.clone(),
        name: planned.name.to_string(),
        status: PhaseStatus::Pending.word().to_owned(),
        agents: texts(&agents),
        parallel: planned.parallel,
        started: None,
        completed: None,
        blocked_by: planned.blocked_by.clone(),
        files_created: Vec::new(),
        files_modified: Vec::new(),
        files_deleted: Vec::new(),
        planned_files: texts(&planned.files),
        downstream_context: Context::default(),
        errors: Vec::new(),
        retry_count: 0,
        requires_reconciliation: None,
        rest: Map::new(),
    }
}

/// A document's path, from the workspace's root on. It need not be there yet.
fn document(at: &Workspace, name: &str, given: Option<&Redacted>) -> Result<Option<String>, Error> {
    let Some(given) = given else { return Ok(None) };
    let refused = |why: BadPath| {
        let constraint = format!("the path of a file in the workspace: {why}");
        Error::parameter(name, Some(&json!(given)), constraint)
    };
    let parts = at.root.inside(given.as_str()).map_err(refused)?;
    match at.root.file(&parts, false) {
        Ok(_) => Ok(Some(parts.join("/"))),
        Err(why) => Err(refused(why)),
    }
}

/// What the design document says of the task.
fn complexity_of(at: &Workspace, path: &str) -> Option<String> {
    let parts = at.root.inside(path).ok()?;
    let (dir, name) = at.root.file(&parts, false).ok()??;
    let bytes = dir.read(&name, MAX_DOCUMENT).ok()??;
    let front = Parts::parse(&bytes).ok()?.front;
    let text = front.get("task_complexity")?.as_str()?;
    Some(Redacted::truncated(text, 100).to_string()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::TEMPLATE;
    use super::super::store::ACTIVE;
    use super::*;
    use crate::config::Maestro;

    /// What a line is about: its key at its depth, or all of it.
    fn keys(text: &str) -> Vec<&str> {
        text.lines()
            .map(|line| line.split(": ").next().unwrap_or_default())
            .collect()
    }

    #[test]
    fn a_new_session_has_the_lines_of_the_template_in_their_order() {
        let project = tempfile::tempdir().unwrap();
        let mut service = Service::new(Maestro::default(), project.path());
        let phases = json!([{"id": 1, "name": "x"}]);
        let session = json!({"session_id": "2026-11-30-x", "task": "<Topic>", "phases": phases});
        service.call("create_session", &session).unwrap();
        let file = project.path().join("docs/maestro/state").join(ACTIVE);
        let text = std::fs::read_to_string(file).unwrap();
        assert_eq!(keys(&text), keys(TEMPLATE), "{text}");

        // And what is read of both is the same, level by level.
        let shape = |text: &str| shape(&Value::Object(Parts::parse(text.as_bytes()).unwrap().front));
        assert_eq!(shape(&text), shape(TEMPLATE));
    }

    /// The keys of all levels, in their order.
    fn shape(value: &Value) -> String {
        match value {
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| format!("{key}{{{}}}", shape(value)))
                .collect(),
            Value::Array(items) => items.iter().map(shape).collect(),
            _ => String::new(),
        }
    }
}
