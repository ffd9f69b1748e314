//! What is appended to the body when a phase has ended: a section for people, from what was reported.

use serde_json::Value;

use super::session::{List, Phase, PhaseStatus};
use super::transition::{Failure, first_agent};

/// What a section is made of besides the phase.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Who reported.
    pub agent: Option<String>,
    /// Its words, or a summary.
    pub output: Option<String>,
    /// Whether it passed, with details.
    pub validation: Option<String>,
    /// What went wrong.
    pub error: Option<Failure>,
}

/// Appends the section of a phase that has ended to a body; what is there stays.
pub fn append(body: &mut Vec<u8>, phase: &Phase, to: PhaseStatus, report: &Report, newline: &str) {
    let text = section(phase, to, report)
        .replace("\r\n", "\n")
        .replace('\n', newline);
    if !body.is_empty() {
        if !body.ends_with(b"\n") {
            body.extend_from_slice(newline.as_bytes());
        }
        body.extend_from_slice(newline.as_bytes());
    }
    body.extend_from_slice(text.as_bytes());
}

fn section(phase: &Phase, to: PhaseStatus, report: &Report) -> String {
    let agent = report.agent.clone().or_else(|| first_agent(phase));
    let agent = agent.map_or_else(|| "Agent".to_owned(), |agent| line(&agent));
    let or_none = |text: &Option<String>| {
        let text = text.as_deref().map_or("", str::trim);
        if text.is_empty() {
            "none".to_owned()
        } else {
            text.to_owned()
        }
    };
    let context = &phase.downstream_context;
    let error = report.error.as_ref().map_or_else(String::new, |error| {
        format!("### Error\n- {}: {}\n\n", error.kind, line(&error.message))
    });
    format!(
        "## Phase {}: {} {}\n\n### {agent} Output\n{}\n\n\
         ### Files Changed\n- Created: {}\n- Modified: {}\n- Deleted: {}\n\n\
         ### Downstream Context\n- Key Interfaces Introduced: {}\n- Patterns Established: {}\n\
         - Integration Points: {}\n- Assumptions: {}\n- Warnings: {}\n\n{error}\
         ### Validation Result\n{}\n",
        phase.id,
        line(&phase.name),
        to.indicator(),
        or_none(&report.output),
        listed(&phase.files_created),
        listed(&phase.files_modified),
        listed(&phase.files_deleted),
        listed(&context.key_interfaces_introduced),
        listed(&context.patterns_established),
        listed(&context.integration_points),
        listed(&context.assumptions),
        listed(&context.warnings),
        or_none(&report.validation),
    )
}

fn listed(list: &List) -> String {
    let text = |item: &Value| item.as_str().map_or_else(|| item.to_string(), line);
    let texts: Vec<String> = list.iter().map(text).collect();
    if texts.is_empty() {
        "none".to_owned()
    } else {
        texts.join(", ")
    }
}

/// On one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
