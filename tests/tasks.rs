//! What is being done: the table "Current task" of the design, through the real executables. What is still to
//! be done and what stopped it stand beside it.

mod limits;
mod todos;

use bookend::hosts::Host;
use bookend::task::Task;
use serde_json::{Value, json};

use crate::harness::Lab;
use crate::talk::{Talk, all, presumed};

fn task(lab: &Lab, session: &str) -> Option<Task> {
    lab.state(session).current_task
}

fn description(lab: &Lab, session: &str) -> String {
    task(lab, session).map_or_else(String::new, |t| t.description.into_string())
}

fn interrupted(lab: &Lab, session: &str) -> String {
    let task = lab.state(session).interrupted_task;
    task.map_or_else(String::new, |t| t.description.into_string())
}

// The current task

#[test]
fn a_prompt_sets_the_task_with_the_seeds_fields() {
    for host in Host::ALL {
        let lab = Lab::new();
        lab.talk(host, "x1")
            .prompt("p1", &format!("Fix the login {}\nand more", "x".repeat(200)));
        let task = task(&lab, "x1").unwrap();
        assert_eq!(task.description.chars().count(), 120, "{host}");
        assert!(task.description.starts_with("Fix the login x") && task.description.ends_with('…'));
        assert_eq!(task.last_action.as_str(), "Starting task");
        assert_eq!(
            task.context_anchor.as_ref().unwrap().as_str(),
            lab.project().to_str().unwrap()
        );
        assert_eq!(task.rate_limit_detected_at, None);
        let spelled = serde_json::to_value(&task).unwrap();
        let keys: Vec<_> = spelled.as_object().unwrap().keys().cloned().collect();
        assert_eq!(
            keys,
            [
                "description",
                "startedAt",
                "lastAction",
                "contextAnchor",
                "rateLimitDetectedAt"
            ]
        );
    }
}

#[test]
fn every_tool_call_moves_the_last_action_and_the_anchor() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Fix it");
    let patch = json!({"filePath": "/w/cart.rs", "structuredPatch": [{"newStart": 41}]});
    let steps: [(&str, Value, Value, &str, &str); 5] = [
        (
            "Edit",
            json!({"file_path": "/w/cart.rs"}),
            patch,
            "Edited /w/cart.rs",
            "/w/cart.rs:41",
        ),
        (
            "Read",
            json!({"file_path": "/w/b.rs", "offset": 7}),
            json!({}),
            "Read /w/b.rs",
            "/w/b.rs:7",
        ),
        (
            "Bash",
            json!({"command": "cargo test\n"}),
            json!({"stdout": ""}),
            "Ran cargo test",
            "cargo test",
        ),
        (
            "Grep",
            json!({"pattern": "fn main"}),
            json!({}),
            "Searched fn main",
            "cargo test",
        ),
        ("TaskList", json!({}), json!({}), "Used TaskList", "cargo test"),
    ];
    for (i, (name, input, response, action, anchor)) in steps.into_iter().enumerate() {
        talk.tool("p1", &format!("c{i}"), name, input, response);
        let task = task(&lab, "s1").unwrap();
        assert_eq!(
            (task.last_action.as_str(), task.context_anchor.unwrap().as_str()),
            (action, anchor)
        );
    }
    talk.fails(
        "p1",
        "c9",
        "Bash",
        json!({"command": "cargo test"}),
        "Exit code 101\nfailed",
    );
    assert_eq!(
        task(&lab, "s1").unwrap().last_action.as_str(),
        "Ran cargo test (exit 101)"
    );
    assert_eq!(description(&lab, "s1"), "Fix it");
}

#[test]
fn a_task_that_was_not_done_moves_aside_for_the_next() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "First");
    talk.create("p1", "c1", "/w/a.rs");
    talk.prompt("p2", "Second"); // after Esc, which says nothing
    assert_eq!(
        (description(&lab, "s1").as_str(), interrupted(&lab, "s1").as_str()),
        ("Second", "First")
    );
    let log = lab.log_of("s1");
    assert_eq!(log.task.unwrap().description.as_str(), "Second");
    assert_eq!(log.interrupted.unwrap().description.as_str(), "First");
}

#[test]
fn a_prompt_that_only_says_to_go_on_takes_the_interrupted_task_up_again() {
    for words in ["continue", "Continue.", " go on ", "weiter", "WEITER!", "继续"] {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", "First");
        talk.create("p1", "c1", "/w/a.rs");
        talk.prompt("p2", words);
        let now = task(&lab, "s1").unwrap();
        assert_eq!(
            (now.description.as_str(), now.last_action.as_str()),
            ("First", "Created /w/a.rs"),
            "{words}"
        );
        assert_eq!(interrupted(&lab, "s1"), "");
        assert_eq!(
            lab.log_of("s1").turns[1].query_text.trim(),
            words.trim(),
            "the turn says what was said"
        );
    }
    for words in ["continue with the tests", "go on holiday", "weitere Tests"] {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", "First");
        talk.prompt("p2", words);
        assert_eq!(
            (description(&lab, "s1").as_str(), interrupted(&lab, "s1").as_str()),
            (words, "First")
        );
    }
}

#[test]
fn a_stop_clears_the_task_and_nothing_else_does() {
    let lab = Lab::new();
    let talk = lab.claude("stopped");
    talk.prompt("p1", "Do it");
    talk.stop("p1", "Done.");
    assert_eq!(description(&lab, "stopped"), "");
    assert!(lab.log_of("stopped").task.is_none());

    type End = fn(&Talk<'_>);
    let ends: [(&str, Talk<'_>, End); 6] = [
        ("interrupted", lab.codex("c1"), |t| {
            drop(t.says("Interrupt", json!({"turn_id": "p1"})))
        }),
        ("failed", lab.claude("s2"), |t| {
            drop(t.model_fails("p1", "server_error", "500"))
        }),
        ("ended", lab.claude("s3"), |t| drop(t.end("prompt_input_exit"))),
        ("compacted", lab.claude("s4"), |t| {
            drop(t.says("PreCompact", json!({"prompt_id": "p1", "trigger": "auto"})))
        }),
        ("resumed", lab.claude("s5"), |t| drop(t.start("resume"))),
        ("a subagent stopped", lab.claude("s6"), |t| {
            drop(t.agent_stops("p1", "a1", "coder"))
        }),
    ];
    for (what, talk, end) in ends {
        talk.prompt("p1", "Do it");
        end(&talk);
        assert_eq!(description(&lab, &talk.session), "Do it", "{what}");
        let open = lab.open_entries();
        let entry = open.iter().find(|e| e.session_key == talk.session);
        assert!(
            entry.is_some_and(|e| e.task.is_some()),
            "{what}: it can be resumed"
        );
    }
}

#[test]
fn a_clear_takes_task_and_todos_away() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.tool(
        "p1",
        "c1",
        "TaskCreate",
        json!({"subject": "a"}),
        json!({"task": {"id": "1"}}),
    );
    talk.end("clear");
    let state = lab.state("s1");
    assert!(state.current_task.is_none() && state.ui_todos.is_none());
    assert_eq!(all(&lab.log_of("s1")), [presumed("session_ended")]);
    assert!(lab.open_entries().is_empty(), "nobody wants it back");
}
