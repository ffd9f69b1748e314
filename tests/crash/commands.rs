//! The commands that write into the stores, killed or refused at every system call: the next run completes,
//! and nothing that was acknowledged is missing.

use std::fs::File;

use bookend::hosts::Host;
use bookend::log::data_dir::DataDir;
use bookend::log::view::SessionView;
use bookend::probe::record::Record;
use serde_json::json;

use super::after::{calls, go_on, go_on_without_log};
use super::command::{Command, THIS_TEST, completes, input, kill_each, refuse_each};
use super::scenes::{Scene, age, tool, with_dead_host};
use super::strace::{FOR_GOOD, Snapshot, can_trace, one_sweep};
use crate::harness::{Lab, with};

/// A session in the middle of a turn with two events that wait, one that is stale, one whose host is gone.
fn much_to_do(lab: &Lab) {
    with_dead_host(lab, "gone");
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "stale", "prompt_id": "o1", "prompt": "Old"}),
    );
    lab.send("PostToolUse", tool("stale", "o1", "stale-call"));
    lab.prompt("p1", "First");
    lab.write("p1", "call-1", "/p/one.rs");
    let dir = File::open(lab.hooks_dir().join("s1")).unwrap();
    dir.lock().unwrap();
    lab.write("p1", "call-2", "/p/two.rs");
    lab.write("p1", "call-3", "/p/three.rs");
    age(&lab.hooks_dir().join("stale"));
}

/// The running session, as those that sweep hooks know one.
const RUNNING: Scene = Scene {
    name: "the session that runs",
    prepare: much_to_do,
    event: "PostToolUse",
    fields: || json!({}),
    session: "s1",
    turn: "p1",
    acknowledged: &["call-1", "call-2", "call-3", "old-call", "stale-call"],
};

const COMMANDS: &[Command] = &[
    Command {
        name: "prune",
        prepare: much_to_do,
        arguments: &["prune"],
        holds: |lab, before, command, place| {
            completes(lab, command, place);
            assert!(!lab.hooks_dir().join("stale").exists(), "{place}: still stale");
            goes_on_with_all_settled(lab, before, place);
        },
    },
    Command {
        name: "sessions",
        prepare: much_to_do,
        arguments: &["sessions", "--all"],
        holds: |lab, before, command, place| {
            completes(lab, command, place);
            goes_on_with_all_settled(lab, before, place);
        },
    },
    Command {
        name: "show",
        prepare: much_to_do,
        arguments: &["show", "s1"],
        holds: |lab, before, command, place| {
            completes(lab, command, place);
            goes_on_with_all_settled(lab, before, place);
        },
    },
    Command {
        name: "log sessions",
        prepare: |lab| {
            much_to_do(lab);
            lab.bookend(&["log", "sessions"]);
            lab.write("p1", "call-4", "/p/four.rs");
        },
        arguments: &["log", "sessions"],
        holds: |lab, before, command, place| {
            completes(lab, command, place);
            goes_on_with_all_settled(lab, before, place);
            knows_all(lab, place);
        },
    },
    Command {
        name: "log forget",
        prepare: |lab| {
            much_to_do(lab);
            lab.bookend(&["log", "sessions"]);
        },
        arguments: &["log", "forget", "gone", "--yes"],
        holds: |lab, _, _, place| {
            // Whatever was left of it, nothing is after the next run.
            lab.bookend(&["log", "forget", "--all", "--yes"]);
            let left = lab.open_entries().into_iter().any(|e| e.session_key == "gone");
            assert!(
                !left && !lab.data_dir().join("by-host/claude-code/gone").exists(),
                "{place}"
            );
            // And of no other session anything is missing.
            lab.write("p1", "call-9", "/p/nine.rs");
            let logged = calls(lab);
            for call in ["call-1", "call-2", "call-3", "stale-call", "call-9"] {
                assert_eq!(
                    logged.iter().filter(|c| *c == call).count(),
                    1,
                    "{place}: {call}: {logged:?}"
                );
            }
            knows_all(lab, place);
        },
    },
    Command {
        name: "hook",
        prepare: |lab| {
            much_to_do(lab);
            set_input(lab, "call-4");
        },
        arguments: &["hook", "post-tool", "--host", "claude-code"],
        holds: |lab, before, command, place| {
            set_input(lab, "call-5");
            completes(lab, command, place);
            set_input(lab, "call-4");
            goes_on(lab, before, place);
            let logged = calls(lab).iter().any(|call| call == "call-5");
            assert!(logged || place.contains(FOR_GOOD), "{place}");
        },
    },
    Command {
        name: "a probe's record",
        prepare: |lab| {
            much_to_do(lab);
            Record {
                at: bookend::clock::now(),
                version: "0".to_owned(),
                host_version: None,
                events: std::collections::BTreeMap::new(),
                context_reached: true,
            }
            .write(&lab.data(), Host::Codex)
            .unwrap();
        },
        arguments: &["--exact", THIS_TEST, "--ignored", "--test-threads=1", "--quiet"],
        holds: |lab, _, command, place| {
            let version = || Record::read(&lab.data(), Host::Codex).unwrap().map(|r| r.version);
            let was = version();
            assert!(matches!(was.as_deref(), Some("0" | "01")), "{place}: {was:?}");
            completes(lab, command, place);
            assert_eq!(version(), was.map(|was| was + "1"), "{place}");
            // What the killed one left is removed once nobody can be writing it any more.
            age(&lab.data_dir().join("probed"));
            lab.bookend(&["prune"]);
            let left = std::fs::read_dir(lab.data_dir().join("probed")).unwrap();
            assert_eq!(left.count(), 1, "{place}: a temporary stays");
        },
    },
];

#[test]
#[ignore = "no test: the sweep runs it under strace"]
fn a_record_is_written_anew() {
    let data = DataDir::open(&Ok(std::env::var_os("BOOKEND_DATA_DIR").unwrap().into())).unwrap();
    let mut record = Record::read(&data, Host::Codex).unwrap().unwrap();
    record.version.push('1');
    record.write(&data, Host::Codex).unwrap();
}

/// The index says what the logs say, and nothing is left for it to read.
fn knows_all(lab: &Lab, place: &str) {
    let listed = lab.bookend(&["log", "sessions", "--json"]).json();
    let logs = lab.log_ids();
    assert_eq!(listed["totalCount"], logs.len(), "{place}");
    for session in listed["sessions"].as_array().unwrap() {
        let id = logs
            .iter()
            .find(|id| session["sessionId"] == id.as_str())
            .unwrap();
        let log = SessionView::read(&lab.data(), id).unwrap().unwrap();
        let (turns, files) = (log.turn_count, log.files_modified_count);
        assert_eq!(
            (&session["turnCount"], &session["filesModifiedCount"]),
            (&json!(turns), &json!(files)),
            "{place}"
        );
    }
    let read = lab.bookend(&["log", "reindex", "--json"]).json();
    assert_eq!(read["read"], 0, "{place}");
}

/// The running session ends as if nothing had been.
fn goes_on(lab: &Lab, before: &Snapshot, place: &str) {
    if place.contains(FOR_GOOD) {
        // The live state goes on without the log, as with hooks, and says so.
        go_on_without_log(lab, before, &RUNNING, place);
    } else {
        go_on(lab, before, &RUNNING, place);
    }
}

/// And the others have their presumed end.
fn goes_on_with_all_settled(lab: &Lab, before: &Snapshot, place: &str) {
    goes_on(lab, before, place);
    for id in lab.log_ids() {
        let log = SessionView::read(&lab.data(), &id).unwrap().unwrap();
        let own = log
            .host_session
            .as_ref()
            .is_some_and(|host| host.as_str() == "s1");
        let ends: Vec<_> = log.turns.iter().map(|t| (t.status, t.presumed)).collect();
        // The stale one is only pruned, and so settled, by `prune`: its host is this test, and lives.
        let stale = log.host_session.as_ref().is_some_and(|h| h.as_str() == "stale");
        let lives = stale && lab.hooks_dir().join("stale").exists();
        assert!(own || lives || ends == [("failed", true)], "{place}: {ends:?}");
    }
}

fn set_input(lab: &Lab, call: &str) {
    let base = json!({"cwd": lab.project(), "hook_event_name": "PostToolUse"});
    std::fs::write(input(lab), with(base, tool("s1", "p1", call)).to_string()).unwrap();
}

#[test]
fn a_command_killed_at_any_system_call_loses_nothing_and_its_next_run_completes() {
    let _one = one_sweep();
    if can_trace() {
        assert_eq!(kill_each(COMMANDS), 0, "kill points that lost something");
    }
}

#[test]
fn a_command_that_is_refused_any_call_on_a_file_says_so_or_goes_on_and_loses_nothing() {
    let _one = one_sweep();
    if can_trace() {
        assert_eq!(refuse_each(COMMANDS), 0, "errors that did harm");
    }
}
