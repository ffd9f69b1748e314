//! What is on disk, to the byte, and what others wrote.

use bookend::orchestration::active::Active;
use bookend::orchestration::front::Parts;
use serde_json::json;

use super::{ACTIVE, Desk, ID, two};

#[test]
fn a_new_session_is_written_as_the_template_says() {
    let mut desk = Desk::new();
    desk.put(
        "docs/maestro/plans/design.md",
        "---\ntask_complexity: medium\n---\n# Design\n",
    );
    desk.ok(
        "create_session",
        json!({
            "session_id": ID, "task": "Add \"JWT\": now", "workflow_mode": "express",
            "design_document": "docs/maestro/plans/design.md",
            "implementation_plan": desk.file("docs/maestro/plans/plan.md"),
            "phases": [{"id": "1", "name": "Build it", "agent": "coder", "files": ["a.rs"]}],
        }),
    );
    let text = desk.text(ACTIVE);
    let stamp = desk.front()["created"].as_str().unwrap().to_owned();
    let wanted = format!(
        r##"---
session_id: "2026-04-09-add-jwt"
task: "Add \"JWT\": now"
created: "{stamp}"
updated: "{stamp}"
status: "in_progress"
workflow_mode: "express"
design_document: "docs/maestro/plans/design.md"
implementation_plan: "docs/maestro/plans/plan.md"
current_phase: 1
total_phases: 1
execution_mode: null
execution_backend: null
task_complexity: "medium"

token_usage:
  total_input: 0
  total_output: 0
  total_cached: 0
  by_agent: {{}}

phases:
  - id: 1
    name: "Build it"
    status: "pending"
    agents:
      - "coder"
    parallel: false
    started: null
    completed: null
    blocked_by: []
    files_created: []
    files_modified: []
    files_deleted: []
    planned_files:
      - "a.rs"
    downstream_context:
      key_interfaces_introduced: []
      patterns_established: []
      integration_points: []
      assumptions: []
      warnings: []
    errors: []
    retry_count: 0
---

# Add "JWT": now Orchestration Log
"##
    );
    assert_eq!(text, wanted);
    assert_eq!(
        desk.text("docs/maestro/state/.gitignore"),
        "active-session.md\narchive/\n"
    );
    use std::os::unix::fs::PermissionsExt;
    let mode = |name: &str| desk.file(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(ACTIVE), mode("docs/maestro/state")), (0o600, 0o700));
}

#[test]
fn an_ended_phase_has_a_section_in_the_body() {
    let mut desk = Desk::begun(two());
    desk.go(1, "in_progress");
    let before = desk.text(ACTIVE);
    assert!(!before.contains("## Phase"), "a beginning has none");
    desk.ok(
        "transition_phase",
        json!({
            "completed_phase_id": 1, "next_phase_id": "2", "files_created": ["src/a.rs", "src/b.rs"],
            "downstream_context": {"warnings": "slow", "assumptions": ["n/a"], "key_interfaces_introduced": ["trait A"]},
            "agent_output": "## Task Report\nAll done.\n---\n", "validation_result": "Pass: 12 tests",
            "token_usage": {"agent": "architect", "input": "10", "output": 2},
        }),
    );
    let section = "
## Phase 1: Design ✓

### architect Output
## Task Report
All done.
---

### Files Changed
- Created: src/a.rs, src/b.rs
- Modified: none
- Deleted: none

### Downstream Context
- Key Interfaces Introduced: trait A
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: slow

### Validation Result
Pass: 12 tests
";
    let text = desk.text(ACTIVE);
    assert!(
        text.ends_with(&format!("# Add JWT Orchestration Log\n{section}")),
        "{text}"
    );
    desk.go(2, "failed");
    let text = desk.text(ACTIVE);
    assert!(
        text.contains("## Phase 2: Build ✗\n\n### coder Output\nnone\n"),
        "{text}"
    );
    assert!(text.contains("### Error\n- runtime: it broke\n"), "{text}");
    assert!(text.contains(section), "what was there stays");
    let usage = desk.front()["token_usage"].clone();
    let wanted = json!({"total_input": 10, "total_output": 2, "total_cached": 0,
        "by_agent": {"architect": {"input": 10, "output": 2, "cached": 0}}});
    assert_eq!(usage, wanted);
}

/// In the form that the reference's tools write: JSON between the lines.
const OF_THE_REFERENCE: &str = r##"---
{
  "session_id": "2026-03-01-rate-limits",
  "task": "Limit requests: status: hard",
  "created": "2026-03-01T08:00:00.000Z",
  "updated": "2026-03-01T08:00:00.000Z",
  "status": "in_progress",
  "workflow_mode": "standard",
  "design_document": null,
  "implementation_plan": null,
  "current_phase": 1,
  "total_phases": 2,
  "execution_mode": "parallel",
  "execution_backend": "native",
  "current_batch": null,
  "task_complexity": "simple",
  "token_usage": {"total_input": "07", "total_output": 0, "total_cached": 0, "by_agent": {}},
  "phases": [
    {"id": 1, "name": "One", "status": "in_progress", "agents": ["coder"], "parallel": false,
     "started": "2026-03-01T08:00:00.000Z", "completed": null, "blocked_by": [], "files_created": [],
     "files_modified": [], "files_deleted": [], "planned_files": ["x.ts"],
     "downstream_context": {"key_interfaces_introduced": [], "patterns_established": [], "integration_points": [],
       "assumptions": [], "warnings": []}, "errors": [], "retry_count": 0,
     "requires_reconciliation": true, "reconciliation_reason": "no files"},
    {"id": 2, "name": "Two", "status": "pending", "agents": ["tester"], "parallel": false, "started": null,
     "completed": null, "blocked_by": ["1"], "kind": "review", "parent_phase_id": 1}
  ]
}
---
# Limit requests Orchestration Log
"##;

/// As a model writes it by hand, with another mind on where quotes go.
const BY_HAND: &str = "---\nsession_id: 2026-03-01-rate-limits\ntask: 'Limit requests: status: hard'\nstatus: in_progress # now\n\
    current_phase: \"1\"\ntotal_phases: 2\nowner:\n  name: Ada\n  since: 2026-03-01\nphases:\n- id: 1\n  name: One\n  status: in_progress\n\
    \x20 agents: [coder]\n- id: \"2\"\n  name: Two\n  status: pending\n  agents:\n    - tester\n  blocked_by: [1]\n  kind: review\n---\n\
    # Limit requests Orchestration Log\n";

#[test]
fn what_others_wrote_is_read_and_goes_on() {
    for text in [OF_THE_REFERENCE, BY_HAND] {
        for (mark, newline) in [("", "\n"), ("\u{feff}", "\n"), ("", "\r\n"), ("\u{feff}", "\r\n")] {
            let mut desk = Desk::new();
            let text = format!("{mark}{}", text.replace('\n', newline));
            desk.put(ACTIVE, &text);
            let active = Active::read(text.as_bytes()).unwrap();
            assert_eq!(active.current_phase.as_deref(), Some("1"));
            assert_eq!(
                (active.status.as_deref(), active.agents.as_slice()),
                (
                    Some("in_progress"),
                    ["coder".to_owned(), "tester".to_owned()].as_slice()
                )
            );
            let status = desk.ok("get_session_status", json!({}));
            assert_eq!(status["next"], json!({"phase_id": 1, "action": "continue"}));
            desk.ok(
                "transition_phase",
                json!({"completed_phase_id": "1", "next_phase_ids": [2], "files_modified": ["x"],
                "token_usage": {"input": 3}}),
            );
            let written = desk.text(ACTIVE);
            let body = format!("# Limit requests Orchestration Log{newline}");
            assert!(
                written.starts_with(&format!("{mark}---{newline}session_id: \"2026-03-01")),
                "{written}"
            );
            assert!(written.contains(&format!("---{newline}{body}")), "{written}");
            assert_eq!(
                written.matches('\n').count(),
                written.matches(newline).count(),
                "one kind of line ends"
            );
            let front = desk.front();
            assert_eq!(front["phases"][1]["status"], "in_progress");
            assert_eq!(front["phases"][1]["kind"], "review");
            assert_eq!(front["phases"][1]["blocked_by"], json!([1]));
            if text.contains("owner") {
                assert_eq!(front["owner"], json!({"name": "Ada", "since": "2026-03-01"}));
            } else {
                let first = &front["phases"][0];
                assert_eq!(front["token_usage"]["total_input"], 10);
                assert_eq!(
                    (&first["requires_reconciliation"], &first["reconciliation_reason"]),
                    (&json!(false), &json!("no files"))
                );
                assert_eq!(first["planned_files"], json!(["x.ts"]));
                assert_eq!(first["started"], "2026-03-01T08:00:00.000Z");
            }
            let again = Parts::parse(written.as_bytes()).unwrap();
            assert_eq!(again.render(), written.as_bytes(), "writing is always the same");
        }
    }
}

#[test]
fn a_body_that_is_no_text_stays_to_the_byte() {
    let mut desk = Desk::begun(two());
    let body = b"\n---\nstatus: no\n\xff\xfe\0 without an end";
    let mut bytes = desk.text(ACTIVE).into_bytes();
    bytes.extend_from_slice(body);
    desk.put(ACTIVE, &bytes);
    desk.go(1, "in_progress");
    assert!(std::fs::read(desk.file(ACTIVE)).unwrap().ends_with(body));
    desk.go(1, "completed");
    let now = std::fs::read(desk.file(ACTIVE)).unwrap();
    assert!(now.windows(body.len()).any(|w| w == body));
}

#[test]
fn no_secret_is_written() {
    let secret = "ghp_0000Zk3VxQ8rT1mW6yB9cN4dF7gH2jL5pS0a";
    let mut desk = Desk::new();
    desk.ok("create_session", json!({"session_id": ID, "task": format!("with {secret}"),
        "phases": [{"id": 1, "name": secret, "agent": secret, "files": [secret]}], "execution_backend": secret}));
    desk.ok(
        "update_session",
        json!({"session_id": ID, "current_batch": secret}),
    );
    desk.go(1, "in_progress");
    desk.ok("transition_phase", json!({"phase_id": 1, "to": "failed", "error": {"type": "runtime", "message": secret, "agent": secret},
        "resolution": secret, "files_created": [secret], "downstream_context": {"warnings": secret},
        "token_usage": {"agent": secret}, "agent_output": secret, "validation_result": secret, "batch_id": secret}));
    desk.ok(
        "archive_session",
        json!({"session_id": ID, "force": true, "reason": secret}),
    );
    for (name, bytes) in super::tree(&desk.lab.project()) {
        assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{name}");
    }
}
