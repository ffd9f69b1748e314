//! What is still to be done: the table "Todos" of the design, through the real executables.

use bookend::hosts::Host;
use serde_json::{Value, json};

use crate::harness::{Lab, payload, with};
use crate::talk::Process;

fn todos(lab: &Lab, session: &str) -> Vec<(String, String)> {
    let list = lab.state(session).ui_todos.unwrap_or_default();
    let word = |t: &bookend::task::Todo| {
        serde_json::to_value(t.status)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    };
    list.items
        .iter()
        .map(|t| (t.content.as_str().to_owned(), word(t)))
        .collect()
}

fn items(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(c, s)| ((*c).to_owned(), (*s).to_owned()))
        .collect()
}

#[test]
fn todos_of_gemini_come_as_a_whole_list() {
    let lab = Lab::new();
    let talk = lab.gemini("g1");
    talk.prompt("", "Do it");
    talk.says(
        "AfterTool",
        with(
            payload("gemini-cli/AfterTool-write_todos"),
            json!({"session_id": "g1", "transcript_path": null}),
        ),
    );
    assert_eq!(
        todos(&lab, "g1"),
        items(&[("first", "in_progress"), ("second", "pending")])
    );
    let list = json!({"todos": [{"description": "first", "status": "completed"}, {"description": "second", "status": "in_progress"}, {"description": "third", "status": "cancelled"}]});
    talk.tool("", "", "write_todos", list, json!({"llmContent": "ok"}));
    assert_eq!(
        todos(&lab, "g1"),
        items(&[
            ("first", "completed"),
            ("second", "in_progress"),
            ("third", "cancelled")
        ])
    );
    assert_eq!(
        lab.log_of("g1").todos.unwrap().items.len(),
        3,
        "the log holds them too"
    );
    talk.tool(
        "",
        "",
        "write_todos",
        json!({"todos": "?"}),
        json!({"llmContent": "ok"}),
    );
    assert_eq!(todos(&lab, "g1").len(), 3, "what cannot be read changes nothing");
    talk.tool(
        "",
        "",
        "write_todos",
        json!({"todos": []}),
        json!({"llmContent": "ok"}),
    );
    assert_eq!(todos(&lab, "g1").len(), 0, "an empty list clears");
    assert_eq!(lab.log_of("g1").todos.unwrap().items.len(), 0);
}

#[test]
fn todos_of_claude_come_one_by_one() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.says(
        "PostToolUse",
        with(
            payload("claude-code/PostToolUse-taskcreate"),
            json!({"session_id": "s1", "prompt_id": "p1", "transcript_path": null}),
        ),
    );
    talk.tool(
        "p1",
        "c2",
        "TaskCreate",
        json!({"subject": "Test it"}),
        json!({"task": {"id": "2"}}),
    );
    assert_eq!(
        todos(&lab, "s1"),
        items(&[("Add the price column", "pending"), ("Test it", "pending")])
    );
    let set = |id: &str, status: &str, call: &str| {
        talk.tool(
            "p1",
            call,
            "TaskUpdate",
            json!({"taskId": id, "status": status}),
            json!({"success": true}),
        );
    };
    set("1", "in_progress", "c3");
    set("2", "in_progress", "c4");
    assert_eq!(
        todos(&lab, "s1"),
        items(&[("Add the price column", "pending"), ("Test it", "in_progress")]),
        "one is in progress: the newest"
    );
    set("2", "completed", "c5");
    set("1", "deleted", "c6");
    assert_eq!(todos(&lab, "s1"), items(&[("Test it", "completed")]));
    let spelled = serde_json::to_value(lab.state("s1").ui_todos.unwrap()).unwrap();
    let item = &spelled["items"][0];
    assert_eq!(
        (&item["priority"], &item["flow"], &item["refId"]),
        (&json!("medium"), &json!("adhoc"), &json!(null))
    );
    assert!(spelled["lastSyncedAt"].is_string());
}

#[test]
fn todos_of_older_claude_and_of_codex_come_as_whole_lists() {
    let lab = Lab::new();
    let claude = lab.claude("s1");
    claude.prompt("p1", "Do it");
    let list = json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}]});
    claude.tool("p1", "c1", "TodoWrite", list, json!({}));
    assert_eq!(
        todos(&lab, "s1"),
        items(&[("a", "completed"), ("b", "in_progress")])
    );
    let codex = lab.codex("c1");
    codex.prompt("t1", "Do it");
    let plan = json!({"explanation": "x", "plan": [{"step": "a", "status": "in_progress"}, {"step": "b", "status": "pending"}]});
    codex.tool("t1", "k1", "update_plan", plan, json!("Plan updated"));
    assert_eq!(
        todos(&lab, "c1"),
        items(&[("a", "in_progress"), ("b", "pending")])
    );
}

#[test]
fn open_todos_outlive_the_stop_and_a_reboot() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.tool(
        "p1",
        "c1",
        "TaskCreate",
        json!({"subject": "Test it"}),
        json!({"task": {"id": "1"}}),
    );
    talk.stop("p1", "One is left.");
    assert_eq!(lab.open_entries().len(), 1);
    lab.reboot();
    talk.prompt("p2", "Now the rest");
    assert_eq!(todos(&lab, "s1"), items(&[("Test it", "pending")]));
    talk.tool(
        "p2",
        "c2",
        "TaskUpdate",
        json!({"taskId": "1", "status": "completed"}),
        json!({"success": true}),
    );
    assert_eq!(
        todos(&lab, "s1"),
        items(&[("Test it", "completed")]),
        "its id is known again"
    );
    talk.stop("p2", "All done.");
    assert!(lab.open_entries().is_empty());
}

/// Every whole-list tool of a host that is decoded, in the payload's own shape: how its event, its input and
/// its answer look.
#[test]
fn every_hosts_whole_list_is_kept_item_by_item() {
    let claude = |items: &[(&str, &str)]| {
        let items: Vec<Value> = items
            .iter()
            .map(|(c, s)| json!({"content": c, "status": s, "activeForm": format!("Doing {c}")}))
            .collect();
        (
            json!({"todos": items}),
            json!({"oldTodos": [], "newTodos": items}),
        )
    };
    let gemini = |items: &[(&str, &str)]| {
        let items: Vec<Value> = items
            .iter()
            .map(|(c, s)| json!({"description": c, "status": s}))
            .collect();
        (
            json!({"todos": items}),
            json!({"llmContent": "Successfully updated the todo list.", "returnDisplay": {"todos": items}}),
        )
    };
    let codex = |items: &[(&str, &str)]| {
        let items: Vec<Value> = items
            .iter()
            .map(|(c, s)| json!({"step": c, "status": s}))
            .collect();
        (json!({"plan": items}), json!("Plan updated"))
    };
    type Spelled<'a> = &'a dyn Fn(&[(&str, &str)]) -> (Value, Value);
    let hosts: [(Host, &str, Spelled<'_>); 3] = [
        (Host::ClaudeCode, "TodoWrite", &claude),
        (Host::GeminiCli, "write_todos", &gemini),
        (Host::Codex, "update_plan", &codex),
    ];
    type Items<'a> = &'a [(&'a str, &'a str)];
    // What the host says, and what is kept: one in progress, the newest.
    let steps: [(Items<'_>, Items<'_>); 6] = [
        (
            &[("a", "in_progress"), ("b", "pending"), ("c", "pending")],
            &[("a", "in_progress"), ("b", "pending"), ("c", "pending")],
        ),
        (
            &[("a", "in_progress"), ("b", "in_progress"), ("c", "pending")],
            &[("a", "pending"), ("b", "in_progress"), ("c", "pending")],
        ),
        (
            &[("c", "in_progress"), ("b", "in_progress"), ("a", "completed")],
            &[("c", "in_progress"), ("b", "pending"), ("a", "completed")],
        ),
        (
            &[("b", "done"), ("a", "cancelled")],
            &[("b", "completed"), ("a", "cancelled")],
        ),
        (&[("b", "of a kind that nobody knows")], &[("b", "pending")]),
        (&[], &[]),
    ];
    for (host, tool, spelled) in hosts {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "Do it");
        for (i, (says, kept)) in steps.iter().enumerate() {
            let (input, response) = spelled(says);
            talk.tool("p1", &format!("c{i}"), tool, input, response);
            assert_eq!(todos(&lab, "x1"), items(kept), "{host}, step {i}");
            assert_eq!(
                lab.log_of("x1").todos.unwrap(),
                lab.state("x1").ui_todos.unwrap(),
                "{host}, step {i}: the log has the same"
            );
        }
    }
}

#[test]
fn a_call_that_failed_changes_no_todo() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let list = json!({"todos": [{"content": "a", "status": "pending"}]});
    talk.tool("p1", "c1", "TodoWrite", list, json!({}));
    talk.fails(
        "p1",
        "c2",
        "TodoWrite",
        json!({"todos": []}),
        "InputValidationError",
    );
    talk.fails(
        "p1",
        "c3",
        "TaskCreate",
        json!({"subject": "b"}),
        "InputValidationError",
    );
    assert_eq!(todos(&lab, "s1"), items(&[("a", "pending")]));
}

#[test]
fn flow_reference_and_priority_stay_with_an_item_whatever_the_host_sends() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let list = |items: Value, call: &str| {
        talk.tool("p1", call, "TodoWrite", json!({"todos": items}), json!({}));
    };
    list(
        json!([{"content": "a", "status": "pending", "priority": "high"}, {"content": "b", "status": "pending"}]),
        "c1",
    );
    // As the planner's file would have it.
    let session = lab.log_of("s1").session_id;
    let mut known = lab.state("s1").ui_todos.unwrap();
    known.flow = Some(bookend::redact::Redacted::new("draft"));
    known.items[0].flow = bookend::redact::Redacted::new("draft");
    known.items[0].ref_id = Some(bookend::redact::Redacted::new("US-001"));
    let mut ledger = bookend::log::ledger::Ledger::open(
        &lab.data(),
        &session,
        bookend::log::record::By::Person,
        false,
        std::time::Duration::from_secs(5),
    )
    .unwrap()
    .unwrap();
    let body = bookend::log::record::Body::Todos { todos: known };
    ledger.append(vec![body], chrono::Utc::now()).unwrap();
    drop(ledger);
    list(
        json!([{"content": "c", "status": "pending"}, {"content": "a", "status": "in_progress"}]),
        "c2",
    );
    let spelled = serde_json::to_value(lab.state("s1").ui_todos.unwrap()).unwrap();
    let kept: Vec<_> = spelled["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| (&i["content"], &i["priority"], &i["flow"], &i["refId"]))
        .collect();
    assert_eq!(spelled["flow"], "draft");
    assert_eq!(
        kept,
        [
            (&json!("c"), &json!("medium"), &json!("draft"), &Value::Null),
            (&json!("a"), &json!("high"), &json!("draft"), &json!("US-001")),
        ],
        "a new item has the list's flow"
    );
}

/// The host numbers its tasks anew in a new session: what was taken over is restored, neither doubled nor
/// taken for another one of the same number.
#[test]
fn todos_taken_over_are_restored_under_the_new_sessions_ids() {
    let lab = Lab::new();
    let host = Process::begin();
    let first = lab.claude("s1").run_by(&host);
    first.prompt("p1", "Do it");
    let create = |talk: &crate::talk::Talk<'_>, call: &str, subject: &str, id: &str| {
        talk.tool(
            "p1",
            call,
            "TaskCreate",
            json!({"subject": subject}),
            json!({"task": {"id": id, "subject": subject}}),
        );
    };
    let set = |talk: &crate::talk::Talk<'_>, call: &str, id: &str, status: &str| {
        talk.tool(
            "p1",
            call,
            "TaskUpdate",
            json!({"taskId": id, "status": status}),
            json!({"success": true, "taskId": id}),
        );
    };
    create(&first, "c1", "a", "1");
    create(&first, "c2", "b", "2");
    set(&first, "c3", "1", "completed");
    host.kill();
    let second = lab.claude("s2");
    second.start("startup");
    second.prompt("p1", "continue");
    set(&second, "d0", "2", "completed");
    assert_eq!(
        todos(&lab, "s2"),
        items(&[("a", "completed"), ("b", "pending")]),
        "that number is nobody's yet"
    );
    create(&second, "d1", "b", "1");
    create(&second, "d2", "c", "2");
    set(&second, "d3", "1", "in_progress");
    assert_eq!(
        todos(&lab, "s2"),
        items(&[("a", "completed"), ("b", "in_progress"), ("c", "pending")])
    );
}
