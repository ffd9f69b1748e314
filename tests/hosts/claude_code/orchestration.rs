//! A whole orchestration in Claude Code: its model begins a session, has two agents work beside each other, one of
//! whose reports is sent back, and ends both phases. What is archived is held against what the first seed prescribes.

use std::fs;

use bookend::orchestration::front::Parts;
use bookend::probe::{Kind, Outcome};
use serde_json::{Value, json};

use super::super::lab::{Lab, list, only_turn, told};
use super::{PROMPT, lab};

const ID: &str = "2026-11-30-price-column";
const SERVER: &str = "mcp__plugin_bookend_bookend__";
const AGENTS: [&str; 2] = ["coder", "design-lead"];

/// The fields of the seed's template, in its order.
const SESSION: &[&str] = &[
    "session_id",
    "task",
    "created",
    "updated",
    "status",
    "workflow_mode",
    "design_document",
    "implementation_plan",
    "current_phase",
    "total_phases",
    "execution_mode",
    "execution_backend",
    "task_complexity",
    "token_usage",
    "phases",
];
const PHASE: &[&str] = &[
    "id",
    "name",
    "status",
    "agents",
    "parallel",
    "started",
    "completed",
    "blocked_by",
    "files_created",
    "files_modified",
    "files_deleted",
    "downstream_context",
    "errors",
    "retry_count",
];

#[test]
fn a_model_takes_a_session_with_two_agents_at_once_through_to_its_archive() {
    let Some(lab) = lab() else { return };
    prepare(&lab);
    let outcome = lab.session().prompt(PROMPT).script(&script()).run().unwrap();
    let seen = || format!("{}\n{}", told(&outcome), lab.kept());
    assert_eq!(outcome.rc, Some(0), "{}", seen());

    // Two agents at once, one of which had to say it again; the model read each answer.
    let subs = outcome.requests.iter().filter(|r| r.kind == Kind::Sub).count();
    assert_eq!(subs, 3, "{}", seen());
    let again = "lacks the heading `## Downstream Context`";
    let mut of_subs = outcome.requests.iter().filter(|r| r.kind == Kind::Sub);
    assert!(of_subs.any(|r| r.contains(again)), "{}", seen());
    assert!(
        answers(&outcome)
            .iter()
            .all(|a| a.contains("\"success\":true") || a.contains("\"exists\":true")),
        "{:#?}\n{}",
        answers(&outcome),
        seen()
    );

    let log = lab.bookend(&["log", "show", "--json"]);
    assert_eq!(only_turn(&log)["status"], "completed", "{log:#}");
    let mut handed: Vec<_> = list(&log, "handoffs")
        .iter()
        .map(|h| {
            (
                h["agent"]["type"].as_str(),
                h["orchestration"].as_str(),
                &h["missing"],
            )
        })
        .collect();
    handed.sort_by_key(|(agent, ..)| *agent);
    let whole = &Value::Null;
    assert_eq!(
        handed,
        [
            (Some("coder"), Some(ID), whole),
            (Some("design_lead"), Some(ID), whole)
        ],
        "{log:#}"
    );
    archived(&lab, &seen());
}

/// The agents that the phases name, as a project defines them, and the documents of the session.
fn prepare(lab: &Lab) {
    let write = |path: &str, text: String| {
        let path = lab.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for agent in AGENTS {
        let text = format!(
            "---\nname: {agent}\ndescription: Works on the orders page as {agent}\n---\nYou are {agent}.\n"
        );
        write(&format!(".claude/agents/{agent}.md"), text);
    }
    let design = "---\ntask_complexity: medium\n---\n# Price column\n".to_owned();
    write("docs/maestro/plans/price-design.md", design);
    write("docs/maestro/plans/price-plan.md", "# Plan\n".to_owned());
}

fn script() -> String {
    let tools = ["create_session", "transition_phase", "get_session_status"].map(|t| format!("{SERVER}{t}"));
    let session = json!({
        "session_id": ID, "task": "Add a price column", "execution_mode": "parallel",
        "design_document": "docs/maestro/plans/price-design.md",
        "implementation_plan": "docs/maestro/plans/price-plan.md",
        "phases": [
            {"id": 1, "name": "Column", "agents": [AGENTS[0]], "parallel": true},
            {"id": 2, "name": "Page", "agents": [AGENTS[1]], "parallel": true},
        ],
    });
    let go = |phase: u64| {
        call(
            "transition_phase",
            &json!({"phase_id": phase, "to": "in_progress"}),
        )
    };
    let done = |phase: u64, agent: &str| {
        let tokens = json!({"agent": agent, "input": 1000, "output": 100});
        let step = json!({"phase_id": phase, "to": "completed", "agent_output": "It is in.",
                          "validation_result": "Pass: 3 tests", "token_usage": tokens});
        call("transition_phase", &step)
    };
    let half = r"text:##_Task_Report\n-_Files_Created:_[src/price.rs]";
    let column = report("src/price.rs", "Whole cents");
    let both = json!([
        {"name": "Agent", "input": delegation(AGENTS[0], 1, &format!("{half} {column}"))},
        {"name": "Agent", "input": delegation(AGENTS[1], 2, &report("src/page.rs", "Wide tables"))},
    ]);
    [
        // Not offered from the start: their names are.
        format!("find:select:{}", tools.join(",")),
        call("create_session", &session),
        go(1),
        go(2),
        format!("tools:{}", word(&both)),
        call("get_session_status", &json!({})),
        done(1, AGENTS[0]),
        done(2, AGENTS[1]),
        "text:all_done".to_owned(),
    ]
    .join(" ")
}

fn call(tool: &str, input: &Value) -> String {
    format!("tool:{tool}={}", word(input))
}

/// JSON as a word of a script.
fn word(json: &Value) -> String {
    json.to_string().replace(' ', "\\u0020")
}

fn delegation(agent: &str, phase: u64, steps: &str) -> Value {
    let prompt = format!("Agent: {agent}\nPhase: {phase}/2\nSession: {ID}\nDo it.\n[bookend-sub {steps}]");
    json!({"description": "a phase", "prompt": prompt, "subagent_type": agent, "run_in_background": false})
}

fn report(file: &str, warning: &str) -> String {
    let text = format!(
        r"Done.\n\n## Task Report\n- Files Created: [{file}]\n- Files Modified: [src/lib.rs]\n- Files Deleted: none\n\n## Downstream Context\n- Key Interfaces Introduced: [price_of]\n- Patterns Established: none\n- Integration Points: [src/lib.rs]\n- Assumptions: [One currency]\n- Warnings: [{warning}]"
    );
    format!("text:{}", text.replace('_', "*").replace(' ', "_"))
}

/// What the tools of the orchestration answered, as the model's last request holds it.
fn answers(outcome: &Outcome) -> Vec<String> {
    let last = outcome.requests.iter().rfind(|r| r.kind == Kind::Main);
    let messages = last.map(|r| list(&r.body, "messages")).unwrap_or_default();
    let blocks = messages.iter().flat_map(|m| list(m, "content"));
    let results = blocks.filter(|block| block["type"] == "tool_result");
    let texts = results.map(|block| match &block["content"] {
        Value::String(text) => text.clone(),
        other => list(&json!({ "all": other }), "all")
            .iter()
            .filter_map(|part| part["text"].as_str().map(str::to_owned))
            .collect(),
    });
    texts.filter(|text| text.starts_with('{')).collect()
}

fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .map(|o| o.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

/// The archived session against the seed: its template's fields and order, and the sections of its body.
fn archived(lab: &Lab, seen: &str) {
    let at = |path: &str| lab.project().join("docs/maestro").join(path);
    assert!(!at("state/active-session.md").exists(), "{seen}");
    for moved in ["plans/archive/price-design.md", "plans/archive/price-plan.md"] {
        assert!(at(moved).is_file(), "{moved}: {seen}");
    }
    let bytes = fs::read(at(&format!("state/archive/{ID}.md"))).unwrap();
    let parts = Parts::parse(&bytes).unwrap();
    let front = Value::Object(parts.front);
    // What archiving adds beside the template.
    let own = keys(&front).into_iter().filter(|key| *key != "archive");
    assert_eq!(own.collect::<Vec<_>>(), SESSION, "{front:#}");
    let fields = [
        ("session_id", json!(ID)),
        ("task", json!("Add a price column")),
        ("status", json!("completed")),
        ("workflow_mode", json!("standard")),
        ("total_phases", json!(2)),
        ("execution_mode", json!("parallel")),
        ("execution_backend", json!(null)),
        ("task_complexity", json!("medium")),
    ];
    for (field, value) in fields {
        assert_eq!(front[field], value, "{field}: {front:#}");
    }
    let usage = json!({"total_input": 2000, "total_output": 200, "total_cached": 0, "by_agent": {
        "coder": {"input": 1000, "output": 100, "cached": 0}, "design-lead": {"input": 1000, "output": 100, "cached": 0}}});
    assert_eq!(front["token_usage"], usage);
    let is_time = |value: &Value| {
        value
            .as_str()
            .is_some_and(|t| chrono::DateTime::parse_from_rfc3339(t).is_ok())
    };
    assert!(
        is_time(&front["created"]) && is_time(&front["updated"]),
        "{front:#}"
    );

    let phases = [
        (1, "Column", "coder", "src/price.rs", "Whole cents"),
        (2, "Page", "design-lead", "src/page.rs", "Wide tables"),
    ];
    let mut body = "\n# Add a price column Orchestration Log\n".to_owned();
    for ((id, name, agent, file, warning), phase) in phases.into_iter().zip(list(&front, "phases")) {
        assert_eq!(keys(phase), PHASE, "{phase:#}");
        assert!(
            is_time(&phase["started"]) && is_time(&phase["completed"]),
            "{phase:#}"
        );
        let mut wanted = json!({
            "id": id, "name": name, "status": "completed", "agents": [agent], "parallel": true,
            "started": phase["started"], "completed": phase["completed"], "blocked_by": [], "files_created": [file],
            "files_modified": ["src/lib.rs"], "files_deleted": [], "errors": [], "retry_count": 0,
        });
        wanted["downstream_context"] = json!({
            "key_interfaces_introduced": ["price_of"], "patterns_established": [], "integration_points": ["src/lib.rs"],
            "assumptions": ["One currency"], "warnings": [warning],
        });
        assert_eq!(*phase, wanted, "{seen}");
        body.push_str(&format!(
            "\n## Phase {id}: {name} ✓\n\n### {agent} Output\nIt is in.\n\n### Files Changed\n- Created: {file}\n\
             - Modified: src/lib.rs\n- Deleted: none\n\n### Downstream Context\n- Key Interfaces Introduced: price_of\n\
             - Patterns Established: none\n- Integration Points: src/lib.rs\n- Assumptions: One currency\n\
             - Warnings: {warning}\n\n### Validation Result\nPass: 3 tests\n"
        ));
    }
    assert_eq!(String::from_utf8(parts.body).unwrap(), body);
}
