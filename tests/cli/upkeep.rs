//! What commands do besides looking: `prune`, and folding in events that wait.

use serde_json::{Value, json};

use super::{Host, json_of, snapshot, text_of};
use crate::harness::Lab;

/// Makes all files of a live session as old as that.
fn age(lab: &Lab, session: &str, hours: u64) {
    let then = std::time::SystemTime::UNIX_EPOCH
        + std::time::Duration::from_millis(u64::try_from(bookend::clock::now().timestamp_millis()).unwrap())
        - std::time::Duration::from_secs(hours * 3_600);
    for entry in std::fs::read_dir(lab.hooks_dir().join(session)).unwrap() {
        let file = std::fs::File::options()
            .append(true)
            .open(entry.unwrap().path())
            .unwrap();
        file.set_modified(then).unwrap();
    }
}

#[test]
fn prune_removes_what_is_stale_in_every_root_and_gives_its_turn_an_end() {
    let lab = Lab::new();
    lab.prompt("p1", "Stale work");
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "fresh", "prompt": "Fresh work"}),
    );
    std::fs::create_dir(lab.hooks_dir().join("somebody")).unwrap();
    std::fs::write(lab.hooks_dir().join("somebody/notes.txt"), "x").unwrap();
    age(&lab, "s1", 3);
    let before = (snapshot(&lab.hooks_dir()), snapshot(&lab.data_dir()));
    let dry = json_of(&lab, &["prune", "--dry-run", "--json"]);
    let stale = lab.hooks_dir().join("s1").display().to_string();
    let foreign = lab.hooks_dir().join("somebody").display().to_string();
    assert_eq!(
        (&dry["removed"], &dry["foreign"]),
        (&json!([stale]), &json!([foreign]))
    );
    assert!(text_of(&lab, &["prune", "-n"]).contains("would be removed"));
    assert_eq!(
        before,
        (snapshot(&lab.hooks_dir()), snapshot(&lab.data_dir())),
        "a dry run changes nothing"
    );
    assert_eq!(
        json_of(&lab, &["prune", "--older-than", "1d", "--json"])["removed"],
        json!([])
    );

    // The host is the test itself, which lives: the open turn gets its end by the prune.
    let said = text_of(&lab, &["prune"]);
    assert!(
        said.contains("1 session without a change for more than 2 h removed"),
        "{said}"
    );
    assert!(
        said.contains("1 turn still open") && said.contains("None of Bookend's"),
        "{said}"
    );
    assert!(!lab.hooks_dir().join("s1").exists() && lab.hooks_dir().join("fresh").is_dir());
    let log = json_of(&lab, &["log", "show", "s1", "--json"]);
    assert_eq!(log["turns"][0]["failure"]["code"], "session_abandoned", "{log:#}");
    assert!(foreign.ends_with("somebody") && lab.hooks_dir().join("somebody/notes.txt").is_file());
}

#[test]
fn a_notice_waits_for_somebody_who_hears_it() {
    let lab = Lab::new();
    let mut host = Host::new();
    host.send(&lab, "s1", "UserPromptSubmit", json!({"prompt": "Work"}));
    host.send(&lab, "s1", "StopFailure", json!({"error": "rate_limit"}));
    assert_eq!(lab.state("s1").notices.len(), 1);
    // Its hook cannot get the lock and leaves the event.
    let dir = std::fs::File::open(lab.hooks_dir().join("s1")).unwrap();
    dir.lock().unwrap();
    let left = host.send(
        &lab,
        "s1",
        "UserPromptSubmit",
        json!({"prompt_id": "p2", "prompt": "Other work"}),
    );
    assert_eq!(left.stdout, "");
    let waits = json_of(&lab, &["show", "--json"]);
    assert_eq!(
        (&waits["pending"], waits["notices"].as_array().unwrap().len()),
        (&json!(1), 1)
    );
    assert!(text_of(&lab, &["show"]).contains("1 event for the next hook"));
    drop(dir);

    let show = json_of(&lab, &["show", "--json"]);
    assert_eq!(show["pending"], 0, "a command folds it in: {show:#}");
    assert_eq!(show["events"]["UserPromptSubmit"]["count"], 2);
    assert_eq!(
        show["notices"].as_array().unwrap().len(),
        1,
        "nobody was shown it: {show:#}"
    );
    let next = host.send(
        &lab,
        "s1",
        "UserPromptSubmit",
        json!({"prompt_id": "p3", "prompt": "More"}),
    );
    assert!(next.notice().contains("RATE LIMITED"), "{next:?}");
    host.dies();
}

#[test]
fn a_command_that_folds_events_in_takes_nobody_for_their_host() {
    let lab = Lab::new();
    // A session whose host is not known: no /proc, or another machine's journal.
    lab.send("UserPromptSubmit", json!({"session_id": "s2", "prompt": "Work"}));
    let left = lab.hooks_dir().join("s2");
    let journal = std::fs::read_to_string(left.join("events.jsonl")).unwrap();
    let mut entry: Value = serde_json::from_str(journal.trim()).unwrap();
    entry
        .as_object_mut()
        .unwrap()
        .remove("process")
        .expect("a process");
    std::fs::write(left.join("events.jsonl"), format!("{entry}\n")).unwrap();
    std::fs::remove_file(left.join("state.json")).unwrap();
    let dir = std::fs::File::open(&left).unwrap();
    dir.lock().unwrap();
    lab.send(
        "PostToolUse",
        json!({"session_id": "s2", "tool_name": "Read", "tool_use_id": "r1"}),
    );
    drop(dir);
    assert_eq!(lab.entries("s2").len(), 1, "it was left");
    let show = json_of(&lab, &["show", "s2", "--json"]);
    assert_eq!(
        (&show["pending"], &show["events"]["PostToolUse"]["count"]),
        (&json!(0), &json!(1)),
        "{show:#}"
    );
    assert_eq!(
        (&show["hostProcess"], &show["live"]),
        (&Value::Null, &json!(true)),
        "known by its last event"
    );

    // A session's start tells the process: it waits for a hook.
    let dir = std::fs::File::open(&left).unwrap();
    dir.lock().unwrap();
    lab.send(
        "SessionStart",
        json!({"session_id": "s2", "source": "resume", "prompt_id": null}),
    );
    drop(dir);
    assert_eq!(json_of(&lab, &["show", "s2", "--json"])["pending"], 1);
    lab.send(
        "Stop",
        json!({"session_id": "s2", "last_assistant_message": "Done."}),
    );
    let show = json_of(&lab, &["show", "s2", "--json"]);
    assert_eq!(
        (&show["pending"], show["hostProcess"].is_object()),
        (&json!(0), true),
        "{show:#}"
    );
}

#[test]
fn prune_removes_the_temporaries_of_killed_hooks_and_nothing_younger() {
    let lab = Lab::new();
    lab.prompt("p1", "Do it");
    let open = lab.data_dir().join("open");
    let by_host = lab.data_dir().join("by-host/claude-code");
    let (old, young, other) = (
        by_host.join("s9.new"),
        open.join("young.new"),
        open.join("old.json"),
    );
    for path in [&old, &young, &other] {
        std::fs::write(path, "{").unwrap();
    }
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7_200);
    for path in [&old, &other] {
        std::fs::File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
    let found = lab.bookend(&["prune", "--dry-run", "--json"]).json();
    assert_eq!(found["leftovers"], serde_json::json!([old.to_string_lossy()]));
    assert!(old.exists());
    let said = lab.bookend(&["prune"]).stdout;
    assert!(
        said.contains("Removed 1 temporary file of killed hooks"),
        "{said}"
    );
    assert!(!old.exists() && young.exists() && other.exists());
}
