//! Resuming from these files, as real ones look.

use serde_json::json;

use super::{PLANNER, SESSION, faults, json, planner, put, session, text};
use crate::harness::{Answer, Lab};
use crate::talk::Process;

fn first(answer: &Answer) -> String {
    answer.context().lines().next().unwrap_or_default().to_owned()
}

/// A session that starts, and whose host is gone then.
fn begins(lab: &Lab, session: &str, source: &str) -> String {
    let host = Process::begin();
    let told = lab.claude(session).run_by(&host).start(source).context();
    host.kill();
    told
}

const TASK: &str = r#"{"description": "Draft the checkout PRD", "startedAt": "2026-01-05T10:00:00Z", "lastAction": "Asked question 3", "contextAnchor": "docs/drafts/checkout.md"}"#;

fn with_task() -> String {
    PLANNER.replace("\"currentTask\": null", &format!("\"currentTask\": {TASK}"))
}

#[test]
fn a_task_in_the_planners_file_is_resumed_however_old_and_adopted() {
    let lab = Lab::new();
    let path = put(&lab, "project/docs/planner-state.json", &with_task());
    let talk = lab.claude("s1");
    let text = talk.start("startup").context();
    assert!(text.starts_with("Resuming: Draft the checkout PRD\nLast action: Asked question 3\nWhere: docs/drafts/checkout.md\n"), "{text}");
    assert!(text.contains("Kept in: docs/planner-state.json"), "{text}");
    assert!(
        text.contains("Skip welcome menus; continue from docs/drafts/checkout.md."),
        "{text}"
    );
    assert_eq!(
        json(&path)["currentTask"]["description"],
        "Draft the checkout PRD",
        "a start only reads"
    );
    assert_eq!(super::text(&path), with_task());
    talk.prompt("p1", "continue");
    let task = json(&path)["currentTask"].clone();
    assert_eq!(task["description"], "Draft the checkout PRD");
    assert_eq!(task["startedAt"], "2026-01-05T10:00:00Z");
    talk.stop("p1", "Done.");
    assert_eq!(json(&path)["currentTask"], json!(null));
    assert!(!lab.claude("s2").start("startup").context().contains("Resuming"));
}

#[test]
fn a_builder_is_told_its_action_and_chunk_its_todos_and_that_its_heartbeat_is_old() {
    let lab = Lab::new();
    let action = r#"{"description": "Implementing the cart", "contextAnchor": "src/cart.rs", "lastAction": "Wrote tests", "updatedAt": "2026-03-01T09:00:00Z"}"#;
    let text = SESSION.replace("\"currentAction\": null", &format!("\"currentAction\": {action}"));
    let path = session(&lab, "2026-03-01-ab12cd", &text);
    let told = begins(&lab, "s1", "startup");
    assert_eq!(
        told.lines().next(),
        Some("Resuming: Implementing the cart (chunk: Cart)")
    );
    for part in [
        "Last action: Wrote tests",
        "Heartbeat: stale, the last one was ",
        "- [in progress] US-002: Cart",
        "- [pending] US-003: Pay",
        "Restore these todos with TaskCreate",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    // Fresh, by the project's own measure.
    put(
        &lab,
        "project/docs/project.json",
        r#"{"agents": {"heartbeatTimeoutMinutes": 999999999}}"#,
    );
    let told = begins(&lab, "s2", "startup");
    assert!(
        told.contains("Resuming: Implementing the cart (chunk: Cart)") && !told.contains("stale"),
        "{told}"
    );
    // At a compaction, after a turn whose words are the builder's own.
    let talk = lab.claude("s3");
    talk.start("startup");
    talk.prompt("p1", "G");
    std::fs::write(
        &path,
        super::text(&path).replace(
            "\"description\": \"G\"",
            "\"description\": \"Implementing the cart\"",
        ),
    )
    .unwrap();
    talk.create("p1", "c1", "/w/cart.rs");
    let told = talk.start("compact").context();
    assert!(
        told.starts_with("Resuming: Implementing the cart (chunk: Cart)\nLast action: Created /w/cart.rs\n"),
        "{told}"
    );
    talk.stop("p1", "Done.");
    assert_eq!(
        json(&path)["currentAction"]["description"],
        "Implementing the cart"
    );
}

#[test]
fn the_newer_of_ours_and_the_files_is_resumed() {
    let lab = Lab::new();
    let path = planner(&lab);
    let host = Process::begin();
    let talk = lab.claude("s1").run_by(&host);
    talk.prompt("p1", "Plan the checkout");
    talk.shell("p1", "c1", "ls stories");
    host.kill();
    // The file is from the prompt, ours from the tool.
    let told = begins(&lab, "s1", "resume");
    assert!(
        told.starts_with("Resuming: Plan the checkout\nLast action: Ran ls stories\n"),
        "{told}"
    );
    let told = begins(&lab, "s2", "startup");
    assert!(
        told.starts_with("Resuming: Plan the checkout\nLast action: Ran ls stories\n"),
        "{told}"
    );
    assert!(
        told.contains("left unfinished by an earlier Claude Code session"),
        "{told}"
    );
    // Someone went on with something else, later.
    let later = text(&path)
        .replace("Plan the checkout", "Plan the returns")
        .replace("\"startedAt\": \"2", "\"startedAt\": \"3")
        .replace("\"updatedAt\": \"2", "\"updatedAt\": \"3");
    std::fs::write(&path, later).unwrap();
    assert_eq!(
        begins(&lab, "s1", "resume").lines().next().unwrap(),
        "Resuming: Plan the returns"
    );
    assert_eq!(
        begins(&lab, "s3", "startup").lines().next().unwrap(),
        "Resuming: Plan the returns"
    );
    // Or it was left behind: another's task, from before ours.
    let lab = Lab::new();
    let path = planner(&lab);
    let host = Process::begin();
    lab.claude("s1").run_by(&host).prompt("p1", "Plan the checkout");
    host.kill();
    std::fs::write(&path, with_task()).unwrap();
    for (session, source) in [("s1", "resume"), ("s2", "startup")] {
        let told = begins(&lab, session, source);
        assert!(
            told.starts_with("Resuming: Plan the checkout\n"),
            "{source}: {told}"
        );
    }
}

#[test]
fn a_task_at_which_a_session_works_is_not_offered_to_another() {
    let lab = Lab::new();
    planner(&lab);
    let host = Process::begin();
    lab.claude("s1").run_by(&host).prompt("p1", "Plan the checkout");
    assert!(!lab.claude("s2").start("startup").context().contains("Resuming"));
    host.kill();
    assert_eq!(
        begins(&lab, "s3", "startup").lines().next().unwrap(),
        "Resuming: Plan the checkout"
    );
}

#[test]
fn scripts_clear_and_off_are_told_nothing() {
    let lab = Lab::new();
    put(&lab, "project/docs/planner-state.json", &with_task());
    for (talk, source) in [
        (lab.claude("s1").env("BOOKEND_RESUME", "off"), "startup"),
        (lab.claude("s2").env("BOOKEND_RESUME", "off"), "resume"),
        (
            lab.claude("s3").env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
            "startup",
        ),
        (lab.claude("s4"), "clear"),
    ] {
        let told = talk.start(source).context();
        assert!(!told.contains("Resuming"), "{source}: {told}");
    }
    let shown = lab.bookend(&["resume"]);
    assert!(
        shown.stdout.contains("Resuming: Draft the checkout PRD"),
        "{}",
        shown.stdout
    );
}

#[test]
fn a_go_on_in_a_session_that_was_told_nothing_takes_the_files_task_up() {
    let lab = Lab::new();
    let path = put(&lab, "project/docs/planner-state.json", &with_task());
    let talk = lab.claude("s1").env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    talk.start("startup");
    let told = talk.prompt("p1", "continue").context();
    assert!(told.starts_with("Resuming: Draft the checkout PRD\n"), "{told}");
    let task = json(&path)["currentTask"].clone();
    assert_eq!(
        (&task["description"], &task["startedAt"]),
        (&json!("Draft the checkout PRD"), &json!("2026-01-05T10:00:00Z"))
    );
    let own = lab.state("s1").current_task.unwrap();
    assert_eq!(own.description.as_str(), "Draft the checkout PRD");
}

#[test]
fn todos_alone_are_restored_with_what_the_file_knows_of_them() {
    let lab = Lab::new();
    // As a real one: no task, no `updatedAt`, an item without its flow.
    let file = r#"{"uiTodos":{"flow":"updates","lastSyncedAt":"2026-02-23T03:06:00Z","items":[{"content":"2026-02-22-colours.md","status":"completed","priority":"medium","refId":"2026-02-22-colours.md"},{"content":"2026-02-23-fonts.md","status":"in_progress","priority":"medium","refId":"2026-02-23-fonts.md"},{"content":"2026-02-24-icons.md","status":"in_progress","priority":"high","refId":"2026-02-24-icons.md"}]}}"#;
    let path = put(&lab, "project/docs/planner-state.json", file);
    let talk = lab.claude("s1");
    let told = talk.start("startup").context();
    assert!(
        told.starts_with(
            "Open todos:\n- [pending] 2026-02-23-fonts.md\n- [in progress] 2026-02-24-icons.md\n"
        ),
        "{told}"
    );
    talk.prompt("p1", "Do the updates");
    for (id, subject) in [("1", "2026-02-23-fonts.md"), ("2", "2026-02-24-icons.md")] {
        talk.tool(
            "p1",
            &format!("c{id}"),
            "TaskCreate",
            json!({"subject": subject}),
            json!({"task": {"id": id}}),
        );
    }
    talk.tool(
        "p1",
        "u1",
        "TaskUpdate",
        json!({"taskId": "2", "status": "completed"}),
        json!({"success": true}),
    );
    let list = json(&path)["uiTodos"]["items"].clone();
    assert_eq!(
        list[2],
        json!({"content": "2026-02-24-icons.md", "status": "completed", "priority": "high", "refId": "2026-02-24-icons.md", "flow": "updates"})
    );
    assert_eq!(
        (list.as_array().unwrap().len(), &list[1]["status"]),
        (3, &json!("pending"))
    );
}

#[test]
fn sessions_as_models_write_them_are_read() {
    // No schema version and no project, `id`, no story ids, extra keys, the chunk pending, midnight.
    let adhoc = r#"{"id": "20260407-adhoc", "status": "active", "startedAt": "2026-04-07T00:00:00Z", "lastHeartbeat": "2026-04-07T00:00:00Z", "mode": "adhoc",
 "probeStatus": {"git": true}, "decisions": ["x"], "implementationDecisions": {"detected": [], "decisions": []}, "currentChunk": "TSK-001",
 "currentAction": {"description": "Naming the stack", "updatedAt": "2026-04-07T00:00:00Z"},
 "chunks": [{"id": "TSK-001", "title": "Names", "status": "pending"}]}"#;
    // No action at all, and still in progress.
    let silent = r#"{"sessionId": "builder-agent-updates", "startedAt": "2026-04-01T00:00:00Z", "lastHeartbeat": "2026-04-01T00:00:00Z", "status": "in_progress", "chunks": [{"id": "A-1-1-x", "title": "X", "status": "pending"}]}"#;
    // Over, in words that the format does not have.
    let aborted = r#"{"sessionId": "builder-stack-naming", "status": "aborted", "currentAction": {"description": "Old", "updatedAt": "2026-04-07T00:00:00Z"}, "lastHeartbeat": "2026-05-01T00:00:00Z", "chunks": [{"id": "S-1-1-x", "title": "X", "status": "cancelled"}]}"#;
    for (text, told) in [
        (adhoc, "Resuming: Naming the stack (chunk: Names)"),
        (silent, "Open todos:"),
        (aborted, "Session log: "),
    ] {
        let lab = Lab::new();
        session(&lab, "some-folder", text);
        let talk = lab.claude("s1");
        let first = first(&talk.start("startup"));
        assert!(first.starts_with(told), "{first}");
        talk.prompt("p1", "continue with the names");
        talk.stop("p1", "Done.");
        assert_eq!(faults(&lab, "s1"), [""; 0]);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_spoken_of_at_a_start() {
    let lab = Lab::new();
    put(&lab, "project/docs/planner-state.json", "{\n\"currentTask\": \n}");
    let told = begins(&lab, "s1", "startup");
    assert!(told.starts_with("Session log: "), "{told}");
    assert_eq!(
        faults(&lab, "s1"),
        ["read docs/planner-state.json: line 3: it is no JSON: expected value"]
    );
}
