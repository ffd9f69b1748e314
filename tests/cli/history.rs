//! `log sessions` and `log show`.

use serde_json::{Value, json};

use super::{complaint_of, crashed, json_of, text_of};
use crate::harness::Lab;

fn session(lab: &Lab, id: &str, project: &str, ends: bool) {
    let project = lab.path(project);
    std::fs::create_dir_all(&project).unwrap();
    let send = |event: &str, fields: Value| {
        let base = json!({"session_id": id, "prompt_id": "p1", "cwd": project, "hook_event_name": event});
        lab.call(
            crate::harness::hook_of(event),
            &crate::harness::with(base, fields),
        )
        .env("CLAUDE_PROJECT_DIR", &project.to_string_lossy())
        .run()
        .ok();
    };
    send(
        "UserPromptSubmit",
        json!({"prompt": format!("Task of {id}\nin two lines")}),
    );
    send(
        "Stop",
        json!({"last_assistant_message": format!("Answer of {id}")}),
    );
    if ends {
        send("SessionEnd", json!({"reason": "exit"}));
    }
}

fn ids(list: &Value) -> Vec<&str> {
    let sessions = list["sessions"].as_array().unwrap();
    sessions
        .iter()
        .map(|s| s["hostSession"].as_str().unwrap())
        .collect()
}

#[test]
fn the_sessions_of_the_log_are_listed_newest_first_and_filtered() {
    let lab = Lab::new();
    for (id, project, ends) in [
        ("one", "project", true),
        ("two", "elsewhere", false),
        ("three", "project", false),
    ] {
        session(&lab, id, project, ends);
    }
    let all = json_of(&lab, &["log", "sessions", "--json"]);
    assert_eq!(ids(&all), ["three", "two", "one"]);
    assert_eq!(
        (&all["totalCount"], &all["offset"], &all["limit"]),
        (&json!(3), &json!(0), &json!(20))
    );
    for field in [
        "agent",
        "sessionId",
        "host",
        "hostSession",
        "title",
        "model",
        "projectRoot",
        "started",
        "lastUpdated",
        "status",
        "turnCount",
        "filesModifiedCount",
    ] {
        assert!(all["sessions"][0].get(field).is_some(), "{field}: {all:#}");
    }
    let page = json_of(
        &lab,
        &["log", "sessions", "--limit", "1", "--offset", "1", "--json"],
    );
    assert_eq!((ids(&page), &page["totalCount"]), (vec!["two"], &json!(3)));
    let filtered = |arguments: &[&str]| {
        let list = json_of(&lab, &[&["log", "sessions", "--json"], arguments].concat());
        ids(&list).join(" ")
    };
    let project = lab.project().display().to_string();
    assert_eq!(filtered(&["--project", &project]), "three one");
    assert_eq!(filtered(&["--project", "."]), "three one");
    assert_eq!(filtered(&["--status", "completed"]), "one");
    assert_eq!(filtered(&["--status", "in_progress"]), "three two");
    assert_eq!(
        filtered(&["--agent", "ClaudeCode", "--status", "completed"]),
        "one"
    );
    assert_eq!(filtered(&["--agent", "claude-code"]), "three two one");
    assert_eq!(filtered(&["--agent", "Codex"]), "");

    let text = text_of(&lab, &["log", "sessions"]);
    let rows: Vec<&str> = text.lines().collect();
    assert!(
        rows[0].starts_with("SESSION") && rows[1].contains("Task of three") && rows.len() == 4,
        "{text}"
    );
    assert!(
        text_of(&lab, &["log", "sessions", "--limit", "2"])
            .contains("1 to 2 of 3: bookend log sessions --offset 2")
    );
    assert!(
        text_of(&lab, &["log", "sessions", "--agent", "Codex"])
            .contains("No session of the log is of that kind")
    );
    assert!(text_of(&lab, &["log", "sessions", "--offset", "9"]).contains("smaller --offset"));
}

#[test]
fn a_session_of_the_log_is_shown_turn_by_turn() {
    let lab = Lab::new();
    lab.prompt("p1", "Add a price column\nand keep the layout");
    lab.write("p1", "w1", "/p/orders.rs");
    lab.stop("p1", "The column is there.");
    lab.shell("p1", "c9", "cargo fmt");
    crashed(&lab, "s2", "Mend the cart");
    let text = text_of(&lab, &["log", "show", "s1"]);
    for part in [
        "Add a price column",
        "Claude Code, its session s1",
        "turn-1  completed after",
        "     and keep the layout",
        "create        Created /p/orders.rs",
        "     The column is there.",
        "late, after its end",
        "Ran cargo fmt",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = text_of(&lab, &["log", "show", "s2"]);
    assert!(
        text.contains("failed (presumed)")
            && text.contains("the host vanished (crash, kill or reboot) [host_gone]"),
        "{text}"
    );

    let log = json_of(&lab, &["log", "show", "s1", "--json"]);
    let turn = &log["turns"][0];
    for field in [
        "requestId",
        "aliases",
        "origin",
        "queryTitle",
        "queryText",
        "response",
        "interpretation",
        "status",
        "presumed",
        "startedAt",
        "completedAt",
        "tokenCount",
        "tags",
        "contextList",
        "dialog",
        "actions",
        "late",
        "failure",
    ] {
        assert!(turn.get(field).is_some(), "{field}: {turn:#}");
    }
    assert_eq!(
        (&turn["actions"][0]["type"], &turn["late"][0]["action"]["type"]),
        (&json!("create"), &json!("command"))
    );
}

#[test]
fn a_session_of_the_log_is_found_by_id_suffix_or_host_session() {
    let lab = Lab::new();
    session(&lab, "aaaa-1", "project", true);
    session(&lab, "aaaa-2", "elsewhere", true);
    let list = json_of(&lab, &["log", "sessions", "--json"]);
    let id = list["sessions"][1]["sessionId"].as_str().unwrap().to_owned();
    let suffix = id.rsplit('-').next().unwrap();
    let part = suffix.get(..6).unwrap();
    for wanted in [id.as_str(), suffix, part, "aaaa-1"] {
        assert_eq!(
            json_of(&lab, &["log", "show", wanted, "--json"])["sessionId"],
            json!(id),
            "{wanted}"
        );
    }
    for wanted in ["ClaudeCode-", "aaaa-"] {
        let both = complaint_of(&lab, &["log", "show", wanted]);
        assert!(
            both.contains(&id) && both.contains("2 sessions of the log begin with"),
            "{both}"
        );
    }
    let none = complaint_of(&lab, &["log", "show", "zzzz"]);
    assert!(
        none.contains("no session of the log begins with zzzz: `bookend log sessions` lists them"),
        "{none}"
    );
    // After a prune too.
    assert!(lab.bookend(&["prune", "--older-than", "0s"]).code == Some(0));
    assert_eq!(
        json_of(&lab, &["log", "show", "aaaa-1", "--json"])["sessionId"],
        json!(id)
    );
}

#[test]
fn without_an_argument_it_is_the_newest_of_this_project_else_of_all() {
    let lab = Lab::new();
    session(&lab, "here", "project", true);
    session(&lab, "there", "elsewhere", true);
    let log = json_of(&lab, &["log", "show", "--json"]);
    assert_eq!(log["hostSession"], "here");
    std::fs::create_dir(lab.path("third")).unwrap();
    let third = lab
        .command(env!("CARGO_BIN_EXE_bookend"))
        .args(["log", "show", "--json"])
        .current_dir(lab.path("third"))
        .output();
    let answer = crate::harness::Answer::of(third.unwrap());
    assert_eq!(
        (answer.code, &answer.json()["hostSession"]),
        (Some(0), &json!("there"))
    );
    assert!(
        answer
            .stderr
            .contains("this project has no session in the log; this is the newest of all"),
        "{answer:?}"
    );
}

#[test]
fn thousands_of_sessions_are_listed_by_their_ends() {
    let lab = Lab::new();
    session(&lab, "newest", "project", true);
    let template = std::fs::read(
        lab.data_dir()
            .join("log")
            .join(lab.log_ids()[0].as_str())
            .join("log.jsonl"),
    )
    .unwrap();
    let template = String::from_utf8(template).unwrap();
    let year = bookend::clock::now().format("%Y-").to_string();
    let old = template.replace(&format!("\"at\":\"{year}"), "\"at\":\"2020-");
    for n in 0..2_000 {
        let id = format!("ClaudeCode-20200101T000000Z-{n:08x}");
        let dir = lab.data_dir().join("log").join(id);
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("log.jsonl"), &old).unwrap();
    }
    let began = std::time::Instant::now();
    let list = json_of(
        &lab,
        &[
            "log",
            "sessions",
            "--status",
            "completed",
            "--limit",
            "3",
            "--json",
        ],
    );
    assert_eq!((&list["totalCount"], ids(&list)[0]), (&json!(2_001), "newest"));
    let took = began.elapsed();
    assert!(took.as_secs() < 20, "{took:?}, unoptimised");
}
