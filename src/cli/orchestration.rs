//! `bookend orchestration`: the orchestration session of this project, and files of it for models without tools.

use std::io::Read as _;
use std::path::PathBuf;

use serde_json::Value;

use super::args::{
    Orchestration, OrchestrationArchive, OrchestrationRead, OrchestrationShow, OrchestrationWrite,
};
use super::machine::Machine;
use super::out::Out;
use super::span::Line;
use super::table::{Table, cell, styled};
use super::{Failed, Run, text};
use crate::config::Maestro;
use crate::orchestration::files::MAX_WRITE;
use crate::orchestration::session::PhaseId;
use crate::orchestration::{Error, PhaseLine, Service, Summary};
use crate::redact::Redacted;

/// Widest name of a phase in a table.
const WIDE: usize = 60;

impl Run for Orchestration {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        match self {
            Self::Show(v) => v.run(machine, out),
            Self::Archive(v) => v.run(machine, out),
            Self::Read(v) => v.run(machine, out),
            Self::Write(v) => v.run(machine, out),
        }
    }
}

fn service() -> Result<Service, Failed> {
    let here: PathBuf = std::env::current_dir().map_err(|e| {
        Failed::new(format!(
            "this directory is gone ({e}): change to the project first"
        ))
    })?;
    Ok(Service::new(Maestro::from_env(), &here))
}

fn failed(e: &Error) -> Failed {
    Failed::new(format!("{} {}", e.message(), e.hint()))
}

impl Run for OrchestrationRead {
    fn run(&self, _: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let at = service()?.workspace().map_err(|e| failed(&e))?;
        let bytes = at.read_file(&self.path).map_err(|e| failed(&e))?;
        out.bytes(&bytes);
        Ok(())
    }
}

impl Run for OrchestrationWrite {
    fn run(&self, _: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let at = service()?.workspace().map_err(|e| failed(&e))?;
        let mut bytes = Vec::new();
        let read = std::io::stdin()
            .lock()
            .take(MAX_WRITE + 1)
            .read_to_end(&mut bytes);
        read.map_err(|e| Failed::to(format!("read stdin: {e}; give the text there")))?;
        if bytes.is_empty() {
            return Err(Failed::new(
                "stdin is empty: give the text there; nothing was changed",
            ));
        }
        if bytes.len() as u64 > MAX_WRITE {
            return Err(Failed::new(format!(
                "stdin has more than {MAX_WRITE} bytes: write less at once; nothing was changed"
            )));
        }
        let given = String::from_utf8(bytes)
            .map_err(|_| Failed::new("stdin is no UTF-8: give text; nothing was changed"))?;
        let text = Redacted::new(&given);
        at.write_file(&self.path, &text).map_err(|e| failed(&e))?;
        if text.as_str() != given {
            out.warn(&format!("a secret in {} was replaced by a marker", self.path));
        }
        Ok(())
    }
}

impl Run for OrchestrationArchive {
    fn run(&self, _: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let reason = self
            .force
            .as_deref()
            .map(|reason| Redacted::truncated(reason, 2_000));
        if reason.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
            return Err(Failed::new(
                "--force needs a reason: say why the session is given up",
            ));
        }
        let archived = service()?
            .archive(None, reason.as_ref())
            .map_err(|e| failed(&e))?;
        if self.json {
            return out.json(&archived);
        }
        out.line(format!(
            "Archived {} as {}.",
            archived.session_id, archived.archive_path
        ));
        for file in &archived.archived_files {
            out.line(format!("  with {file}"));
        }
        Ok(())
    }
}

impl Run for OrchestrationShow {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let status = service()?.status(None).map_err(|e| failed(&e))?;
        if self.json {
            return out.json(&status);
        }
        match &status.session {
            Some(session) => print(session, machine, out),
            None => out.line("This project has no active orchestration session."),
        }
        Ok(())
    }
}

fn print(session: &Summary, machine: &Machine, out: &mut Out) {
    out.field("session", session.session_id.as_str());
    out.field("task", cell(session.task.lines().next().unwrap_or_default(), 100));
    out.field(
        "status",
        styled(
            text::status_style(&session.status),
            &text::word(&session.status),
            20,
        ),
    );
    let modes = [
        &session.workflow_mode,
        &session.execution_mode,
        &session.execution_backend,
    ];
    let modes: Vec<&str> = modes.into_iter().flatten().map(String::as_str).collect();
    out.field(
        "mode",
        if modes.is_empty() {
            "-".to_owned()
        } else {
            modes.join(", ")
        },
    );
    if let Ok(at) = chrono::DateTime::parse_from_rfc3339(&session.updated) {
        out.field("changed", text::ago(at.to_utc(), machine.now));
    }
    let documents = [
        ("design", &session.design_document),
        ("plan", &session.implementation_plan),
    ];
    for (name, path) in documents {
        if let Some(path) = path {
            out.field(name, path.as_str());
        }
    }
    let tokens = &session.token_usage;
    out.field(
        "tokens",
        format!(
            "{} in, {} out, {} cached",
            tokens.total_input, tokens.total_output, tokens.total_cached
        ),
    );
    let next = session
        .next
        .as_ref()
        .map(|next| format!("{} phase {}", next.action, next.phase_id));
    out.field("next", next.unwrap_or_else(|| "nothing can begin".to_owned()));
    out.field("file", session.path.as_str());
    if session.archiving {
        out.line("Archiving was cut off: `bookend orchestration archive` finishes it.");
    }
    out.heading(&format!("Phases: {}", session.phases.len()));
    let mut table = Table::new(&["PHASE", "STATUS", "AGENTS", "WAITS FOR", "RETRIES", "NAME"]).indented();
    for phase in &session.phases {
        table.row(row(phase));
    }
    table.print(out);
}

fn row(phase: &PhaseLine) -> Vec<Line> {
    let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let mark = phase.indicator.map(|mark| format!("{mark} ")).unwrap_or_default();
    let agents: Vec<&str> = phase.agents.iter().filter_map(Value::as_str).collect();
    let waits: Vec<String> = phase.waits_for.iter().map(PhaseId::to_string).collect();
    vec![
        cell(&phase.id.to_string(), 20),
        styled(
            text::status_style(&phase.status),
            &format!("{mark}{}", text::word(&phase.status)),
            20,
        ),
        cell(&or_dash(agents.join(", ")), 40),
        cell(&or_dash(waits.join(", ")), 30),
        Line::from(phase.retry_count.to_string()),
        cell(&phase.name, WIDE),
    ]
}
