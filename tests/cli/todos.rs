//! `todos`: the list of this project, wherever it is kept, and nobody else's.

use serde_json::{Value, json};

use super::{Host, complaint_of, json_of, text_of};
use crate::harness::Lab;

fn list(host: &Host, lab: &Lab, session: &str, items: &[(&str, &str)]) {
    let todos: Vec<Value> = items
        .iter()
        .map(|(content, status)| json!({"content": content, "status": status}))
        .collect();
    host.send(
        lab,
        session,
        "PostToolUse",
        json!({"tool_name": "TodoWrite", "tool_use_id": format!("{session}-{items:?}"),
               "tool_input": {"todos": todos}, "tool_response": {}}),
    );
}

fn contents(answer: &Value) -> Vec<(&str, &str)> {
    let items = answer["items"].as_array().unwrap();
    items
        .iter()
        .map(|i| (i["content"].as_str().unwrap(), i["status"].as_str().unwrap()))
        .collect()
}

#[test]
fn todos_are_those_of_the_newest_live_session_of_this_project() {
    let lab = Lab::new();
    let host = Host::new();
    for session in ["older", "newer", "elsewhere"] {
        host.send(&lab, session, "UserPromptSubmit", json!({"prompt": "Do it"}));
    }
    list(&host, &lab, "older", &[("Mend the cart", "pending")]);
    list(
        &host,
        &lab,
        "newer",
        &[
            ("Write the test", "completed"),
            ("Ship \u{1b}[31mit", "in_progress"),
        ],
    );
    let answer = json_of(&lab, &["todos", "--json"]);
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["project", "source", "flow", "lastSyncedAt", "items"]);
    assert_eq!(answer["project"], lab.project().to_str().unwrap());
    assert_eq!(
        answer["source"],
        json!({"host": "claude-code", "session": "newer", "logSession": lab.log_of("newer").session_id, "live": true})
    );
    assert!(answer["lastSyncedAt"].is_string());
    assert_eq!(
        contents(&answer),
        [
            ("Write the test", "completed"),
            ("Ship \u{1b}[31mit", "in_progress")
        ]
    );
    let item = &answer["items"][0];
    assert_eq!(
        (&item["priority"], &item["flow"], &item["refId"]),
        (&json!("medium"), &json!("adhoc"), &Value::Null)
    );
    let text = text_of(&lab, &["todos"]);
    for part in [
        "Todos: 1 of 2 open",
        "newer of Claude Code, live",
        "in progress",
        "medium",
        "Write the test",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\u{1b}') && !text.contains("adhoc"), "{text}");

    list(&host, &lab, "newer", &[("Write the test", "completed")]);
    assert_eq!(
        contents(&json_of(&lab, &["todos", "--json"])),
        [("Mend the cart", "pending")],
        "what is open goes first"
    );
    list(&host, &lab, "older", &[("Mend the cart", "completed")]);
    assert!(text_of(&lab, &["todos"]).contains("Todos: 0 of 1 open"));
}

#[test]
fn todos_outlive_the_live_state_and_are_nobodys_once_taken_over_or_cleared() {
    let lab = Lab::new();
    let mut host = Host::new();
    host.send(&lab, "first", "UserPromptSubmit", json!({"prompt": "Do it"}));
    list(&host, &lab, "first", &[("Mend the cart", "pending")]);
    std::fs::remove_dir_all(lab.hooks_dir()).unwrap();
    let answer = json_of(&lab, &["todos", "--json"]);
    assert_eq!(contents(&answer), [("Mend the cart", "pending")]);
    assert_eq!(
        (&answer["source"]["session"], &answer["source"]["live"]),
        (&json!("first"), &json!(true)),
        "its host runs"
    );
    host.dies();
    assert_eq!(json_of(&lab, &["todos", "--json"])["source"]["live"], false);
    assert!(text_of(&lab, &["todos"]).contains("first of Claude Code, not live"));

    let second = Host::new();
    second.send(
        &lab,
        "second",
        "SessionStart",
        json!({"source": "startup", "prompt_id": null}),
    );
    assert_eq!(json_of(&lab, &["todos", "--json"])["source"]["session"], "second");
    second.send(&lab, "second", "UserPromptSubmit", json!({"prompt": "continue"}));
    list(&second, &lab, "second", &[("Mend the cart", "completed")]);
    let answer = json_of(&lab, &["todos", "--json"]);
    assert_eq!(
        contents(&answer),
        [("Mend the cart", "completed")],
        "not the first one's again"
    );
    list(&second, &lab, "second", &[("Next", "pending")]);
    let third = Host::new();
    drop(second);
    third.send(
        &lab,
        "third",
        "SessionStart",
        json!({"source": "startup", "prompt_id": null}),
    );
    third.send(&lab, "third", "UserPromptSubmit", json!({"prompt": "continue"}));
    list(&third, &lab, "third", &[("Next", "completed")]);
    let answer = json_of(&lab, &["todos", "--json"]);
    assert_eq!(
        contents(&answer),
        [("Next", "completed")],
        "the second's live state is still there"
    );
    list(&third, &lab, "third", &[("Last", "pending")]);
    third.send(&lab, "third", "SessionEnd", json!({"reason": "clear"}));
    assert_eq!(json_of(&lab, &["todos", "--json"])["items"], json!([]));
}

#[test]
fn without_a_todo_a_sentence_says_so() {
    let lab = Lab::new();
    let nothing =
        json!({"project": lab.project(), "source": null, "flow": null, "lastSyncedAt": null, "items": []});
    assert_eq!(json_of(&lab, &["todos", "--json"]), nothing);
    assert!(!lab.data_dir().exists(), "a look makes nothing");
    lab.prompt("p1", "Work");
    assert_eq!(json_of(&lab, &["todos", "--json"]), nothing);
    let text = text_of(&lab, &["todos"]);
    assert!(
        text.contains("has a todo: `bookend sessions`") && text.lines().count() == 1,
        "{text}"
    );
    let elsewhere = lab
        .command(env!("CARGO_BIN_EXE_bookend"))
        .arg("todos")
        .current_dir("/")
        .output()
        .unwrap();
    assert!(elsewhere.status.success(), "{elsewhere:?}");
}

#[test]
fn the_log_shows_the_last_list_of_a_session() {
    let lab = Lab::new();
    let host = Host::new();
    host.send(&lab, "s1", "UserPromptSubmit", json!({"prompt": "Do it"}));
    assert_eq!(
        json_of(&lab, &["log", "show", "s1", "--json"])["todos"],
        Value::Null
    );
    list(&host, &lab, "s1", &[("Mend the cart", "pending")]);
    list(
        &host,
        &lab,
        "s1",
        &[("Mend the cart", "completed"), ("Ship it", "in_progress")],
    );
    std::fs::remove_dir_all(lab.hooks_dir()).unwrap();
    let log = json_of(&lab, &["log", "show", "s1", "--json"]);
    assert_eq!(
        contents(&log["todos"]),
        [("Mend the cart", "completed"), ("Ship it", "in_progress")]
    );
    let text = text_of(&lab, &["log", "show", "s1"]);
    assert!(
        text.contains("Todos: 1 of 2 open") && text.contains("Ship it"),
        "{text}"
    );
}

#[test]
fn a_state_file_is_made_where_the_user_asks_for_it_and_kept_from_then_on() {
    let lab = Lab::new();
    let host = Host::new();
    host.send(&lab, "s1", "UserPromptSubmit", json!({"prompt": "Do it"}));
    list(&host, &lab, "s1", &[("Mend the cart", "in_progress")]);
    let file = lab.project().join("docs/planner-state.json");
    let made = json_of(&lab, &["todos", "--init", "planner", "--json"]);
    assert_eq!(made["made"], file.to_str().unwrap());
    let read = || -> Value { serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap() };
    assert_eq!(read()["uiTodos"]["items"][0]["content"], "Mend the cart");

    list(&host, &lab, "s1", &[("Mend the cart", "completed")]);
    assert_eq!(read()["uiTodos"]["items"][0]["status"], "completed");
    let again = complaint_of(&lab, &["todos", "--init", "planner"]);
    assert!(again.contains("it is there already"), "{again}");
    assert_eq!(lab.bookend(&["todos", "--init", "builder"]).code, Some(2));
}
