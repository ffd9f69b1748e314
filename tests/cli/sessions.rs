//! `sessions` and `show`.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{Host, complaint_of, crashed, json_of, text_of};
use crate::harness::Lab;

/// The names that the design promises, and what else the help names.
const FIELDS: &[&str] = &[
    "sessionKey",
    "sessionId",
    "host",
    "cwd",
    "projectRoot",
    "startedAt",
    "lastEventAt",
    "live",
    "logSession",
    "turn",
    "currentTask",
    "interruptedTask",
    "uiTodos",
    "rateLimit",
    "agents",
    "events",
    "model",
    "headless",
    "source",
    "ended",
    "hostProcess",
    "aliases",
    "blocks",
    "notices",
    "pending",
    "faults",
    "problems",
    "version",
    "root",
];

#[test]
fn sessions_has_a_row_for_each_newest_first() {
    let lab = Lab::new();
    crashed(&lab, "aaaaaaaa-1111", "Mend the cart");
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "aaaaaaaa-2222", "prompt": "Add a price column"}),
    );
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "bbbbbbbb-3333", "prompt": "Write the invoice"}),
    );
    lab.send(
        "Stop",
        json!({"session_id": "bbbbbbbb-3333", "last_assistant_message": "Done."}),
    );
    let text = text_of(&lab, &["sessions"]);
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].starts_with("KEY") && rows.len() == 4, "{text}");
    assert!(
        rows[1].starts_with("bbbbbbbb ") && rows[1].contains("idle") && rows[1].contains("completed"),
        "{text}"
    );
    assert!(
        rows[2].starts_with("aaaaaaaa-2 ") && rows[2].contains("yes") && rows[2].contains("Add a price"),
        "{text}"
    );
    // The command gave the turn of the vanished host its end.
    assert!(
        rows[3].starts_with("aaaaaaaa-1 ") && rows[3].contains("failed (presumed)"),
        "{text}"
    );
    let column = rows[0].find("HOST").unwrap();
    assert!(
        rows[1..]
            .iter()
            .all(|r| r.get(column..).unwrap().starts_with("claude-code")),
        "{text}"
    );

    let list = json_of(&lab, &["sessions", "--json"]);
    assert_eq!(list.as_array().unwrap().len(), 3);
    for field in FIELDS {
        assert!(list[1].get(field).is_some(), "{field}: {:#}", list[1]);
    }
    assert_eq!(
        (&list[1]["live"], &list[1]["turn"]["status"]),
        (&json!(true), &json!("in_progress"))
    );
    assert_eq!(
        (&list[2]["live"], &list[2]["turn"]["presumed"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(list[2]["turn"]["code"], "host_gone");
}

#[test]
fn what_is_old_and_not_live_is_shown_on_request() {
    let lab = Lab::new();
    crashed(&lab, "old", "Old work");
    super::older(
        &lab.hooks_dir().join("old/events.jsonl"),
        chrono::TimeDelta::days(2),
    );
    std::fs::remove_file(lab.hooks_dir().join("old/state.json")).unwrap();
    assert!(
        text_of(&lab, &["sessions"])
            .contains("1 session without an event in the last day: bookend sessions --all")
    );
    assert_eq!(json_of(&lab, &["sessions", "--json"]), json!([]));
    assert!(text_of(&lab, &["sessions", "--all"]).contains("Old work"));
    assert_eq!(
        json_of(&lab, &["sessions", "--all", "--json"])
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn show_has_everything_of_one_session() {
    let lab = Lab::new();
    let host = Host::new();
    let send = |event: &str, fields: Value| host.send(&lab, "s1", event, fields);
    send(
        "SessionStart",
        json!({"source": "startup", "model": "claude-opus"}),
    );
    send("UserPromptSubmit", json!({"prompt": "Add a price column"}));
    send(
        "SubagentStart",
        json!({"agent_id": "a1", "agent_type": "maestro:code-reviewer"}),
    );
    send(
        "PostToolUse",
        json!({"tool_name": "TodoWrite", "tool_use_id": "t1", "tool_response": {},
               "tool_input": {"todos": [{"content": "Write tests", "status": "in_progress"},
                                        {"content": "Ship it", "status": "pending"}]}}),
    );
    send(
        "StopFailure",
        json!({"error": "rate_limit", "last_assistant_message": "API Error: 429"}),
    );
    let text = text_of(&lab, &["show"]);
    for part in [
        "s1  Claude Code",
        "claude-opus",
        "yes, idle",
        "failed: the model provider limited requests",
        "Add a price column",
        "Todos: 2 of 2 open",
        "in progress",
        "Write tests",
        "Rate limit",
        "API Error: 429",
        "maestro:code-reviewer",
        "running",
        "StopFailure",
        "µs",
        "to be shown to the user:",
    ] {
        assert!(
            text.contains(part) || (part == "µs" && text.contains(" ms")),
            "{part}: {text}"
        );
    }
    let show = json_of(&lab, &["show", "s", "--json"]);
    for field in FIELDS {
        assert!(show.get(field).is_some(), "{field}: {show:#}");
    }
    assert_eq!(show["rateLimit"]["source"], "provider");
    assert_eq!(show["agents"][0]["state"], "running");
    assert_eq!(show["events"]["SessionStart"]["count"], 1);
    assert_eq!(show["uiTodos"]["items"][1]["content"], "Ship it");
}

#[test]
fn a_session_is_found_by_its_first_characters() {
    let lab = Lab::new();
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "abc-1", "prompt": "One"}),
    );
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "abc-2", "prompt": "Two"}),
    );
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "abc", "prompt": "Three"}),
    );
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "has a space", "prompt": "Four"}),
    );
    let key = |wanted: &str| json_of(&lab, &["show", wanted, "--json"])["sessionId"].clone();
    assert_eq!(key("abc-1"), "abc-1");
    assert_eq!(key("abc"), "abc", "the whole id is no prefix of others");
    assert_eq!(key("has a"), "has a space", "the id, though its key is a hash");
    let log = json_of(&lab, &["show", "abc-2", "--json"])["logSession"].clone();
    assert_eq!(key(log.as_str().unwrap()), "abc-2");
    let both = complaint_of(&lab, &["show", "abc-"]);
    assert!(
        both.contains("  abc-1  claude-code") && both.contains("  abc-2  claude-code"),
        "{both}"
    );
    assert!(both.contains("2 sessions begin with abc-: give more"), "{both}");
    let none = complaint_of(&lab, &["show", "zzz"]);
    assert!(
        none.contains("no live session begins with zzz: `bookend sessions --all`"),
        "{none}"
    );
    assert!(complaint_of(&lab, &["show", ""]).contains("no live session"));
    assert!(complaint_of(&lab, &["events", "abc-"]).contains("2 sessions"));
}

#[test]
fn every_root_in_use_is_read_and_one_that_is_not_safe_is_named() {
    let lab = Lab::new();
    lab.prompt("p1", "In the wanted root");
    let other = lab.path("other");
    let prompt = json!({"session_id": "s2", "hook_event_name": "UserPromptSubmit", "prompt": "In another", "cwd": "/p"});
    let call = lab.call(crate::harness::hook_of("UserPromptSubmit"), &prompt);
    call.env("MAESTRO_HOOKS_DIR", &other.to_string_lossy()).run().ok();
    let keys = |list: &Value| -> Vec<String> {
        let mut keys: Vec<_> = list
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["sessionKey"].as_str().unwrap().to_owned())
            .collect();
        keys.sort();
        keys
    };
    let list = json_of(&lab, &["sessions", "--json"]);
    assert_eq!(
        keys(&list),
        ["s1", "s2"],
        "the other root was recorded when it was made"
    );
    assert_eq!(list[0]["root"], json!(other));
    // A turn whose live state is in another root than the wanted one is not settled while its host lives.
    assert_eq!(list[0]["turn"]["status"], "in_progress");

    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let answer = lab.bookend(&["sessions", "--json"]);
    assert_eq!(
        (answer.code, keys(&answer.json())),
        (Some(0), vec!["s1".to_owned()])
    );
    assert!(
        answer
            .stderr
            .contains("bookend: warning: failed to use the hook root")
            && answer.stderr.contains("755"),
        "{answer:?}"
    );
    let relative = lab
        .command(env!("CARGO_BIN_EXE_bookend"))
        .arg("show")
        .env("MAESTRO_HOOKS_DIR", "rel")
        .output()
        .unwrap();
    assert!(relative.status.success());
    assert!(String::from_utf8_lossy(&relative.stderr).contains("relative path (rel): give an absolute one"));
}

#[test]
fn a_torn_journal_and_a_corrupt_checkpoint_are_reported_and_read_around() {
    let lab = Lab::new();
    lab.prompt("p1", "Work");
    lab.write("p1", "w1", "/p/a.rs");
    let journal = lab.hooks_dir().join("s1/events.jsonl");
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes.extend_from_slice(b"{\"n\":3,\"ev");
    std::fs::write(&journal, bytes).unwrap();
    std::fs::write(lab.hooks_dir().join("s1/state.json"), "{\"n\": ").unwrap();
    let text = text_of(&lab, &["show"]);
    assert!(
        text.contains("failed to read the journal's last line: 10 torn bytes were ignored"),
        "{text}"
    );
    assert!(
        text.contains("failed to read state.json: the journal was read in its place"),
        "{text}"
    );
    let show = json_of(&lab, &["show", "--json"]);
    assert_eq!(show["events"]["PostToolUse"]["count"], 1, "{show:#}");
    assert_eq!(show["problems"].as_array().unwrap().len(), 2);
    assert_eq!(text_of(&lab, &["events", "--json"]).lines().count(), 2);

    // A log with a torn and a bad line.
    let id = lab.log_ids()[0].clone();
    let log = lab.data_dir().join("log").join(id.as_str()).join("log.jsonl");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.extend_from_slice(b"no json\n{\"v\":1,");
    std::fs::write(&log, bytes).unwrap();
    let text = text_of(&lab, &["log", "show"]);
    assert!(
        text.contains("it was skipped") && text.contains("7 torn bytes were ignored"),
        "{text}"
    );
    assert_eq!(json_of(&lab, &["log", "sessions", "--json"])["totalCount"], 1);
}

#[test]
fn agents_whose_host_vanished_or_whose_session_ended_are_lost_and_not_at_work() {
    let lab = Lab::new();
    let mut host = Host::new();
    let begin = |host: &Host, session: &str| {
        host.send(&lab, session, "UserPromptSubmit", json!({"prompt": "Do it"}));
        for id in ["a1", "a2"] {
            host.send(
                &lab,
                session,
                "SubagentStart",
                json!({"agent_id": id, "agent_type": "coder"}),
            );
        }
        host.send(
            &lab,
            session,
            "SubagentStop",
            json!({"agent_id": "a1", "agent_type": "coder"}),
        );
    };
    let states = |session: &str| -> Vec<String> {
        let show = json_of(&lab, &["show", session, "--json"]);
        let agents = show["agents"].as_array().unwrap().clone();
        agents
            .iter()
            .map(|a| a["state"].as_str().unwrap().to_owned())
            .collect()
    };
    begin(&host, "killed");
    assert_eq!(states("killed"), ["ended", "running"]);
    assert!(text_of(&lab, &["show"]).contains("Agents: 1 running"));
    host.dies();
    assert_eq!(states("killed"), ["ended", "lost"]);
    let text = text_of(&lab, &["show"]);
    assert!(
        text.contains("Agents: 1 were at work when their host vanished or ended") && text.contains("lost"),
        "{text}"
    );

    // As after a Ctrl-C: the session's end, and nothing of the agents.
    let host = Host::new();
    begin(&host, "ended");
    host.send(&lab, "ended", "SessionEnd", json!({"reason": "other"}));
    assert_eq!(states("ended"), ["ended", "lost"]);
    assert!(!lab.hooks_dir().join("ended/active-agent").exists());
    // One that outlived it may still say how it went.
    host.send(
        &lab,
        "ended",
        "SubagentStop",
        json!({"agent_id": "a2", "agent_type": "coder"}),
    );
    assert_eq!(states("ended"), ["ended", "ended"]);
}
