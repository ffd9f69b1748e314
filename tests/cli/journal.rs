//! `events`, and following it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{json_of, text_of};
use crate::harness::Lab;

#[test]
fn events_says_which_hooks_fired() {
    let lab = Lab::new();
    lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
    lab.prompt("p1", "Add a price column\nand more");
    lab.shell("p1", "c1", "cargo test");
    lab.send(
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_use_id": "c2", "tool_input": {"command": "false"}, "error": "Exit code 1"}),
    );
    lab.stop("p1", "Done.");
    let text = text_of(&lab, &["events"]);
    let rows: Vec<&str> = text.lines().collect();
    assert!(
        rows[0].contains("EVENT") && rows[0].contains("ANSWER") && rows.len() == 6,
        "{text}"
    );
    assert!(
        rows[1].contains("SessionStart") && rows[1].contains("startup") && rows[1].contains("context of"),
        "{text}"
    );
    assert!(
        rows[2].contains("Add a price column") && rows[2].contains("turn-1"),
        "{text}"
    );
    assert!(
        rows[3].contains("Bash") && rows[3].contains("cargo test") && rows[3].contains("turn-1"),
        "{text}"
    );
    assert!(rows[4].contains("(exit 1) false"), "{text}");
    assert!(rows[5].contains("Done.") && rows[5].contains("turn-1"), "{text}");

    let text = text_of(&lab, &["events", "s1", "--json"]);
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    for field in [
        "sessionKey",
        "n",
        "at",
        "event",
        "agent",
        "tool",
        "target",
        "outcome",
        "turn",
        "answer",
        "micros",
        "faults",
    ] {
        assert!(lines[2].get(field).is_some(), "{field}: {:#}", lines[2]);
    }
    assert_eq!(
        (&lines[2]["tool"], &lines[2]["target"], &lines[2]["n"]),
        (&json!("Bash"), &json!("cargo test"), &json!(3))
    );
    assert_eq!(lines[0]["turn"], Value::Null, "a session's start is in no turn");
    assert_eq!(
        text_of(&lab, &["events", "--last", "2", "--json"])
            .lines()
            .count(),
        2
    );
}

#[test]
fn events_changes_nothing() {
    let lab = Lab::new();
    super::crashed(&lab, "s1", "Work");
    let before = (
        super::snapshot(&lab.hooks_dir()),
        super::snapshot(&lab.data_dir()),
    );
    text_of(&lab, &["events"]);
    assert_eq!(
        before,
        (
            super::snapshot(&lab.hooks_dir()),
            super::snapshot(&lab.data_dir())
        )
    );
    assert_eq!(
        json_of(&lab, &["show", "--json"])["turn"]["presumed"],
        true,
        "other commands settle"
    );
}

/// `events --follow --json` in the making.
struct Followed {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Followed {
    fn start(lab: &Lab, arguments: &[&str]) -> Self {
        let mut child = lab
            .command(env!("CARGO_BIN_EXE_bookend"))
            .args(["events", "--follow", "--json"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                drop(send.send(line));
            }
        });
        Self { child, lines }
    }

    fn next(&self) -> Value {
        let line = self
            .lines
            .recv_timeout(Duration::from_secs(20))
            .expect("a line in time");
        serde_json::from_str(&line).unwrap()
    }

    fn is_silent(&self) -> bool {
        self.lines.recv_timeout(Duration::from_millis(700)).is_err()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn follow_goes_on_with_what_comes_in_any_session_and_survives_a_prune() {
    let lab = Lab::new();
    let followed = Followed::start(&lab, &[]);
    lab.prompt("p1", "One");
    let first = followed.next();
    assert_eq!(
        (&first["sessionKey"], &first["target"]),
        (&json!("s1"), &json!("One")),
        "a root that was not there"
    );
    lab.send("UserPromptSubmit", json!({"session_id": "s2", "prompt": "Two"}));
    assert_eq!(followed.next()["sessionKey"], "s2");
    assert!(lab.bookend(&["prune", "--older-than", "0s"]).code == Some(0));
    while lab.hooks_dir().join("s1").exists() || lab.hooks_dir().join("s2").exists() {
        std::thread::sleep(Duration::from_millis(50));
        lab.bookend(&["prune", "--older-than", "0s"]);
    }
    lab.stop("p1", "Done.");
    let again = followed.next();
    assert_eq!(
        (&again["event"], &again["sessionKey"], &again["n"]),
        (&json!("Stop"), &json!("s1"), &json!(1))
    );
    assert!(followed.is_silent());
    followed.kill();
}

#[test]
fn follow_of_one_session_begins_with_its_journal_and_leaves_others_out() {
    let lab = Lab::new();
    lab.prompt("p1", "One");
    let followed = Followed::start(&lab, &["s1"]);
    assert_eq!(followed.next()["target"], "One");
    lab.send("UserPromptSubmit", json!({"session_id": "s2", "prompt": "Two"}));
    lab.stop("p1", "Done.");
    assert_eq!(followed.next()["event"], "Stop");
    assert!(followed.is_silent());
    followed.kill();
}

#[test]
fn follow_survives_a_checkpoint_that_drops_the_older_part() {
    let lab = Lab::new();
    lab.prompt("p1", "One");
    let journal = lab.hooks_dir().join("s1/events.jsonl");
    let line = std::fs::read_to_string(&journal).unwrap();
    let mut entry: Value = serde_json::from_str(line.trim()).unwrap();
    entry["marks"] = json!([]);
    entry["event"]["key"] = Value::Null;
    let mut long = line;
    for n in 2..=2_600 {
        entry["n"] = json!(n);
        long.push_str(&format!("{entry}\n"));
    }
    std::fs::write(&journal, &long).unwrap();
    assert!(long.len() > 1024 * 1024, "{}", long.len());
    let followed = Followed::start(&lab, &["s1"]);
    for n in 1..=2_600 {
        assert_eq!(followed.next()["n"], n);
    }
    lab.prompt("p2", "Another");
    let next = followed.next();
    assert_eq!((&next["n"], &next["target"]), (&json!(2_601), &json!("Another")));
    assert!(
        std::fs::metadata(&journal).unwrap().len() < 300 * 1024,
        "the older part is gone"
    );
    lab.stop("p2", "Done.");
    assert_eq!(followed.next()["event"], "Stop");
    assert!(followed.is_silent());
    followed.kill();
}

#[test]
fn follow_ends_when_its_reader_goes() {
    let lab = Lab::new();
    lab.prompt("p1", "One");
    let mut child = lab
        .command(env!("CARGO_BIN_EXE_bookend"))
        .args(["events", "--follow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    drop(out);
    for _ in 0..100 {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    panic!("it goes on though nobody reads");
}
