//! `hook`: a hook by hand.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{Answer, Lab};

fn hook(lab: &Lab, arguments: &[&str], payload: &str) -> Answer {
    let mut child = lab
        .command(env!("CARGO_BIN_EXE_bookend"))
        .arg("hook")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    Answer::of(child.wait_with_output().unwrap())
}

#[test]
fn a_hook_by_hand_shows_what_it_read_changed_and_answered() {
    let lab = Lab::new();
    let start = json!({"session_id": "try", "cwd": lab.project(), "hook_event_name": "SessionStart", "source": "startup"});
    let answer = hook(
        &lab,
        &["session-start", "--host", "claude-code"],
        &start.to_string(),
    );
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    for part in [
        "Read\n",
        "SessionStart of Claude Code, session try",
        "Changed\n",
        "Answered\n",
        "additionalContext",
        "It took ",
    ] {
        assert!(answer.stdout.contains(part), "{part}: {answer:?}");
    }

    let prompt =
        json!({"session_id": "try", "cwd": lab.project(), "prompt_id": "p1", "prompt": "Hello\u{1b}[2J"})
            .to_string();
    let arguments = [
        "turn-start",
        "--host",
        "claude-code",
        "--event",
        "UserPromptSubmit",
        "--json",
    ];
    let answer = hook(&lab, &arguments, &prompt).json();
    assert_eq!(
        (&answer["read"]["hook"], &answer["read"]["event"]["name"]),
        (&json!("turn-start"), &json!("UserPromptSubmit"))
    );
    let state = answer["changed"]["state"].as_array().unwrap();
    let count = state
        .iter()
        .find(|c| c["field"] == "turns.count")
        .expect("a change");
    assert_eq!((&count["before"], &count["after"]), (&json!(0), &json!(1)));
    let kinds: Vec<&Value> = answer["changed"]["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["kind"])
        .collect();
    assert_eq!(kinds, ["session.open", "turn.begin", "task"]);
    assert_eq!(
        (&answer["answered"], &answer["faults"]),
        (&Value::Null, &json!([]))
    );
    assert!(answer["micros"].as_u64().unwrap() > 0);
    // It acted on the real stores.
    assert_eq!(lab.log_of("try").turns.len(), 1);

    let answer = hook(&lab, &arguments, &prompt);
    assert_eq!(
        answer.json()["changed"]["records"],
        json!([]),
        "the same event again: {answer:?}"
    );
    let text = hook(&lab, &arguments[..5], &prompt).stdout;
    assert!(text.contains("nothing: the same event came before"), "{text}");
}

#[test]
fn a_payload_that_is_none_is_said_to_be_so() {
    let lab = Lab::new();
    let arguments = ["stop", "--host", "codex"];
    let answer = hook(&lab, &arguments, "{\"unknown\": 1} and more");
    assert_eq!(answer.code, Some(0));
    assert!(
        answer
            .stdout
            .contains("nothing that Bookend knows as an event of Codex"),
        "{answer:?}"
    );
    let read = hook(&lab, &["stop", "--host", "codex", "--json"], "{}").json();
    assert_eq!(read["read"], Value::Null);
    for broken in ["", "secret", "{\"a\":"] {
        let answer = hook(&lab, &arguments, broken);
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(1), ""), "{broken}");
        assert!(
            answer.stderr.contains("give one JSON object") && !answer.stderr.contains("secret"),
            "{answer:?}"
        );
    }
    assert!(
        !lab.hooks_dir().exists(),
        "nothing is made for a payload that is none"
    );
}
