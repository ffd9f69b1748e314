//! Every turn that begins gets an ending: the table "Sessions and turns" of the design, through the real
//! executables.

use std::collections::BTreeSet;
use std::time::Duration;

use bookend::event::{Event, Kind, Origin};
use bookend::hook::Hook;
use bookend::hosts::Host;
use bookend::live::state::State;
use bookend::log::id::{RequestId, SessionId};
use bookend::log::record::{ActionKind, ActionStatus, Body, prompt_hash};
use bookend::log::turns::{Mark, Status, Turn};
use bookend::redact::Redacted;
use serde_json::{Value, json};

use crate::harness::{Lab, payload, with};
use crate::talk::{DONE, OPEN, Process, all, presumed, stands, through_a_host_that_dies};

const NOTIFICATION: &str =
    "<task-notification>\n<task-id>b1</task-id>\nThe build is done\n</task-notification>";
const IDLE: Duration = Duration::from_secs(2 * 60 * 60 + 60);

// A user's prompt

#[test]
fn a_prompt_opens_the_session_and_begins_a_turn() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "\n  Add a price column \nand a test");
        let log = lab.log_of("x1");
        assert_eq!(lab.kinds("x1"), ["session.open", "turn.begin", "task"], "{host}");
        assert_eq!((log.agent.as_str(), log.host), (host.agent(), Some(host)));
        assert_eq!(log.title.as_str(), "Add a price column");
        assert_eq!(
            log.project_root.as_ref().unwrap().as_str(),
            lab.project().to_str().unwrap()
        );
        assert_eq!(all(&log), [OPEN]);
        assert_eq!((log.status, log.turns[0].origin), ("in_progress", Origin::User));
        assert_eq!(log.turns[0].query_title.as_str(), "Add a price column");
        assert_eq!(
            log.turns[0].query_text.as_str(),
            "\n  Add a price column \nand a test"
        );
        let [entry] = &lab.open_entries()[..] else {
            panic!("{host}: one session is open")
        };
        assert_eq!(entry.turn.as_ref(), Some(&log.turns[0].request_id));
    }
}

#[test]
fn a_prompt_while_a_turn_is_open_closes_the_old_one_as_interrupted() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "First");
        talk.prompt("p2", "Second");
        assert_eq!(all(&lab.log_of("x1")), [presumed("interrupted"), OPEN], "{host}");
    }
}

#[test]
fn the_same_prompt_again_while_its_turn_is_open_is_a_resend() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "Fix the login");
        let before = lab.log_text("x1");
        talk.prompt("p2", " Fix the login\n");
        assert_eq!(lab.log_text("x1"), before, "{host}: nothing is written");
        talk.create("p2", "c1", "/w/a.rs");
        talk.stop("p2", "Fixed.");
        let log = lab.log_of("x1");
        assert_eq!(
            all(&log),
            [DONE],
            "{host}: its ids belong to the turn that is open"
        );
        assert_eq!(log.turns[0].actions.len(), 1);
        talk.prompt("p3", "Fix the login");
        assert_eq!(
            all(&lab.log_of("x1")),
            [DONE, OPEN],
            "{host}: after the stop it is a new turn"
        );
    }
}

#[test]
fn the_same_prompt_after_two_minutes_is_a_new_turn() {
    let at = bookend::clock::now();
    let mut state = State::default();
    state.take_marks(&[Mark::Begin {
        turn: Turn {
            id: RequestId::turn(at, 1),
            host_turns: Vec::new(),
            origin: Origin::User,
            status: Status::InProgress,
            started_at: at,
            ended_at: None,
            prompt: Some(prompt_hash("Again")),
        },
    }]);
    for (seconds, text, resend) in [
        (0, "Again", true),
        (119, " Again ", true),
        (121, "Again", false),
        (5, "again", false),
        (-5, "Again", true),
    ] {
        let mut event = event(Kind::Prompt {
            text: Redacted::new(text),
            origin: Origin::User,
        });
        event.at = at + chrono::TimeDelta::seconds(seconds);
        assert_eq!(state.is_resend(&event), resend, "{text:?} after {seconds} s");
    }
}

fn event(kind: Kind) -> Event {
    Event {
        host: Host::ClaudeCode,
        name: "X".to_owned(),
        at: bookend::clock::now(),
        session: Redacted::new("s1"),
        turn: None,
        agent: None,
        headless: None,
        cwd: None,
        project: None,
        model: None,
        role: None,
        kind,
        key: None,
        stamped: false,
        host_pid: None,
    }
}

#[test]
fn a_title_is_cut_at_80_characters_between_characters() {
    for (text, title) in [
        ("é".repeat(80), "é".repeat(80)),
        ("é".repeat(81), format!("{}…", "é".repeat(79))),
        ("👩‍👩‍👧".repeat(60), String::new()),
        ("日本語".repeat(60), format!("{}日…", "日本語".repeat(26))),
    ] {
        let lab = Lab::new();
        lab.prompt("p1", &format!("{text}\nsecond line"));
        let log = lab.log_of("s1");
        let got = log.turns[0].query_title.as_str();
        assert!(got.chars().count() <= 80, "{got}");
        assert!(title.is_empty() || got == title, "{got}");
    }
}

#[test]
fn a_person_chooses_what_the_log_keeps_of_a_prompt() {
    for (choice, title, text) in [
        ("full", "Ask about Zanzibar", "Ask about Zanzibar\nand Pemba"),
        ("title", "Ask about Zanzibar", ""),
        ("off", "", ""),
    ] {
        let lab = Lab::new();
        let talk = lab.claude("s1").env("BOOKEND_LOG_PROMPTS", choice);
        talk.prompt("p1", "Ask about Zanzibar\nand Pemba");
        talk.create("p1", "c1", "/w/a.rs");
        let turn = &lab.log_of("s1").turns[0];
        assert_eq!(
            (turn.query_title.as_str(), turn.query_text.as_str()),
            (title, text),
            "{choice}"
        );
        if choice == "off" {
            let open = std::fs::read_dir(lab.data_dir().join("open")).unwrap();
            let open: String = open
                .map(|e| std::fs::read_to_string(e.unwrap().path()).unwrap())
                .collect();
            assert!(!lab.log_text("s1").contains("Zanzibar"), "{}", lab.log_text("s1"));
            assert!(!open.contains("Zanzibar"), "{open}");
        }
        talk.prompt("p2", "Ask about Zanzibar\nand Pemba");
        assert_eq!(
            lab.log_of("s1").turns.len(),
            1,
            "{choice}: a resend is known all the same"
        );
    }
}

// Prompts by the host itself

#[test]
fn a_prompt_by_the_host_writes_nothing_until_something_is_done() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Build it");
    talk.stop("p1", "It builds in the background.");
    let before = lab.log_text("s1");
    talk.prompt("p2", NOTIFICATION);
    talk.shell("p2", "c1", "cat build.log");
    assert_eq!(lab.log_text("s1"), before, "reading is nothing to record");
    talk.create("p2", "c2", "/w/notes.md");
    let log = lab.log_of("s1");
    assert_eq!(all(&log), [DONE, OPEN]);
    assert_eq!(
        (log.turns[1].origin, log.turns[1].actions.len()),
        (Origin::Host, 1)
    );
    talk.stop("p2", "The build is fine.");
    assert_eq!(all(&lab.log_of("s1")), [DONE, DONE]);
}

#[test]
fn a_stop_after_a_prompt_by_the_host_begins_and_ends_its_turn() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", NOTIFICATION);
    assert!(lab.log_ids().is_empty(), "nothing yet");
    talk.stop("p1", "Noted.");
    let log = lab.log_of("s1");
    assert_eq!(all(&log), [DONE]);
    assert_eq!(log.turns[0].origin, Origin::Host);
    assert_eq!(log.turns[0].response.as_ref().unwrap().as_str(), "Noted.");
}

#[test]
fn a_prompt_by_the_host_inside_an_open_turn_belongs_to_it() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Build it");
    let before = lab.log_text("s1");
    talk.prompt("p2", NOTIFICATION);
    assert_eq!(lab.log_text("s1"), before);
    talk.create("p2", "c1", "/w/a.rs");
    talk.stop("p2", "Built.");
    let log = lab.log_of("s1");
    assert_eq!(all(&log), [DONE], "its stop completes the user's turn");
    assert_eq!(
        (log.turns[0].origin, log.turns[0].actions.len()),
        (Origin::User, 1)
    );
    assert!(lab.state("s1").current_task.is_none());
}

// Tool calls

#[test]
fn every_kind_of_change_is_an_action_and_reading_is_none() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let calls: [(&str, Value, Value, Option<ActionKind>); 11] = [
        (
            "Write",
            json!({"file_path": "/w/a"}),
            json!({"type": "create", "filePath": "/w/a"}),
            Some(ActionKind::Create),
        ),
        (
            "Write",
            json!({"file_path": "/w/a"}),
            json!({"type": "update", "filePath": "/w/a"}),
            Some(ActionKind::Edit),
        ),
        (
            "Edit",
            json!({"file_path": "/w/a", "old_string": "x", "new_string": "y"}),
            json!({"filePath": "/w/a"}),
            Some(ActionKind::Edit),
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/w/n.ipynb"}),
            json!({}),
            Some(ActionKind::Edit),
        ),
        (
            "Bash",
            json!({"command": "cargo build"}),
            json!({"stdout": ""}),
            Some(ActionKind::Command),
        ),
        (
            "Bash",
            json!({"command": "git add -A && git commit -m 'x'"}),
            json!({"stdout": ""}),
            Some(ActionKind::Commit),
        ),
        (
            "WebFetch",
            json!({"url": "https://example.org/a"}),
            json!({}),
            Some(ActionKind::WebReference),
        ),
        (
            "Bash",
            json!({"command": "ls -la && git status"}),
            json!({"stdout": ""}),
            None,
        ),
        ("Read", json!({"file_path": "/w/a"}), json!({}), None),
        ("Grep", json!({"pattern": "x"}), json!({}), None),
        (
            "TaskCreate",
            json!({"subject": "x"}),
            json!({"task": {"id": "1"}}),
            None,
        ),
    ];
    for (i, (name, input, response, want)) in calls.iter().enumerate() {
        let before = lab.log_of("s1").turns[0].actions.len();
        talk.tool("p1", &format!("c{i}"), name, input.clone(), response.clone());
        let log = lab.log_of("s1");
        let got = log.turns[0].actions.get(before).map(|a| a.action.kind.clone());
        assert_eq!(got, *want, "{name} {input}");
    }
    let log = lab.log_of("s1");
    let web = log.turns[0]
        .actions
        .iter()
        .find(|a| a.action.kind == ActionKind::WebReference);
    assert_eq!(
        web.unwrap().action.target.as_ref().unwrap().as_str(),
        "https://example.org/a"
    );
    assert_eq!(log.files_modified_count, 2);
}

#[test]
fn a_patch_leaves_one_action_for_each_file() {
    let lab = Lab::new();
    let talk = lab.codex("c1");
    talk.prompt("t1", "Move it");
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Delete File: b\n*** Add File: c\n+z\n*** End Patch\n";
    talk.tool(
        "t1",
        "k1",
        "apply_patch",
        json!({"command": patch}),
        json!("Exit code: 0\nOutput:\nSuccess.\n"),
    );
    let log = lab.log_of("c1");
    let kinds: Vec<_> = log.turns[0]
        .actions
        .iter()
        .map(|a| {
            (
                a.action.kind.clone(),
                a.action.file_path.clone().unwrap().into_string(),
            )
        })
        .collect();
    assert_eq!(
        kinds,
        [
            (ActionKind::Edit, "src/a.rs".into()),
            (ActionKind::Delete, "b".into()),
            (ActionKind::Create, "c".into())
        ]
    );
    talk.tool(
        "t1",
        "k2",
        "apply_patch",
        json!({"command": patch}),
        json!("Exit code: 1\nOutput:\nno such file\n"),
    );
    let log = lab.log_of("c1");
    assert_eq!(log.turns[0].actions.len(), 4, "one that failed changed no file");
    assert_eq!(log.turns[0].actions[3].action.status, ActionStatus::Failed);
}

#[test]
fn a_tool_that_failed_is_an_action_with_its_error() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    for (i, name) in ["PostToolUseFailure-bash-exit3", "PostToolUseFailure-read-missing"]
        .iter()
        .enumerate()
    {
        let fields = with(
            payload(&format!("claude-code/{name}")),
            json!({"session_id": "s1", "prompt_id": "p1", "transcript_path": null}),
        );
        talk.says("PostToolUseFailure", fields);
        let action = &lab.log_of("s1").turns[0].actions[i].action;
        assert_eq!(action.status, ActionStatus::Failed);
        assert!(!action.error.as_ref().unwrap().is_empty(), "{action:?}");
    }
    assert_eq!(lab.log_of("s1").turns[0].actions[0].action.exit, Some(3));
    let lab = Lab::new();
    let talk = lab.gemini("g1");
    talk.prompt("", "Do it");
    talk.says(
        "AfterTool",
        with(
            payload("gemini-cli/AfterTool-read_file-missing"),
            json!({"session_id": "g1", "timestamp": null, "transcript_path": null}),
        ),
    );
    let log = lab.log_of("g1");
    assert_eq!(log.turns[0].actions[0].action.status, ActionStatus::Failed);
}

#[test]
fn a_subagents_action_is_on_the_roots_turn_and_tagged() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.agent_starts("p1", "a1", "general-purpose");
    let input = json!({"command": "make"});
    talk.says(
        "PostToolUse",
        json!({"prompt_id": "p1", "agent_id": "a1", "agent_type": "general-purpose", "tool_name": "Bash", "tool_use_id": "c1",
               "tool_input": input, "tool_response": {"stdout": ""}}),
    );
    let log = lab.log_of("s1");
    let agent = log.turns[0].actions[0].action.agent.clone().unwrap();
    assert_eq!(agent.id.unwrap().as_str(), "a1");
    assert_eq!(agent.kind.unwrap().as_str(), "general-purpose");

    // Codex gives a subagent a turn id of its own.
    let codex = lab.codex("c1");
    codex.prompt("t1", "Do it");
    codex.says(
        "PostToolUse",
        json!({"turn_id": "t-of-the-agent", "agent_id": "a1", "agent_type": "default", "tool_name": "Bash", "tool_use_id": "c1",
               "tool_input": input, "tool_response": ""}),
    );
    codex.stop("t1", "Done.");
    let log = lab.log_of("c1");
    assert_eq!(all(&log), [DONE]);
    assert_eq!(log.turns[0].actions.len(), 1);
    assert!(log.turns[0].actions[0].action.agent.is_some());
}

#[test]
fn a_subagents_prompt_and_stop_are_not_the_main_ones() {
    let lab = Lab::new();
    for talk in [lab.claude("s1"), lab.codex("c1")] {
        talk.prompt("p1", "Do it");
        let before = lab.log_text(&talk.session);
        let own = json!({"prompt_id": "q1", "agent_id": "a1", "agent_type": "default"});
        let own = if talk.host == Host::Codex {
            with(own, json!({"prompt_id": null, "turn_id": "q1"}))
        } else {
            own
        };
        talk.says(
            "UserPromptSubmit",
            with(own.clone(), json!({"prompt": "You are a helper"})),
        );
        talk.says(
            "Stop",
            with(
                own,
                json!({"stop_hook_active": false, "last_assistant_message": "Found."}),
            ),
        );
        assert_eq!(lab.log_text(&talk.session), before, "{}", talk.host);
        assert_eq!(
            lab.state(&talk.session)
                .current_task
                .unwrap()
                .description
                .as_str(),
            "Do it"
        );
    }
}

// Ends

#[test]
fn a_stop_completes_the_turn_with_the_hosts_last_message() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.start("startup");
        talk.prompt("p1", "Do it");
        talk.stop("p1", "Done.");
        let log = lab.log_of("x1");
        assert_eq!(all(&log), [DONE], "{host}");
        assert_eq!(log.turns[0].response.as_ref().unwrap().as_str(), "Done.");
        assert!(log.turns[0].completed_at.is_some());
        assert!(lab.open_entries().is_empty());
        assert!(lab.state("x1").current_task.is_none());
    }
}

#[test]
fn a_stop_without_a_start_and_an_end_without_a_session_are_normal() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.stop("p1", "Done.");
        let log = lab.log_of("x1");
        assert_eq!(all(&log), [DONE], "{host}: what was said is kept");
        assert_eq!(log.turns[0].origin, Origin::Host);
        let other = lab.talk(host, "x2");
        other.end("exit");
        if host != Host::GeminiCli {
            other.agent_stops("p1", "a1", "default");
        }
        assert_eq!(
            lab.log_ids().len(),
            1,
            "{host}: a thread that never started has no log"
        );
    }
}

#[test]
fn the_end_of_a_thread_that_never_started_leaves_nothing_durable() {
    for host in Host::ALL {
        let lab = Lab::new();
        lab.talk(host, "x1").end("other");
        assert!(lab.log_ids().is_empty());
        assert!(!lab.data_dir().join("by-host").exists(), "{host}");
        assert!(lab.open_entries().is_empty() && lab.faults().is_empty());
    }
}

#[test]
fn a_model_failure_fails_the_turn_with_the_hosts_kind() {
    for kind in ["rate_limit", "server_error", "authentication_failed", "unknown"] {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", "Do it");
        talk.model_fails("p1", kind, "API Error: it is so");
        let log = lab.log_of("s1");
        assert_eq!(all(&log), [("failed", kind, false)]);
        assert_eq!(
            log.turns[0].failure.as_ref().unwrap().message.as_str(),
            "API Error: it is so"
        );
        assert!(
            lab.state("s1").current_task.is_some(),
            "that is what resume is for"
        );
    }
}

#[test]
fn a_model_failure_that_comes_after_the_sessions_end_is_still_its_turns_end() {
    // A one-shot run ends at once; which of the two hooks is faster, nobody knows.
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.end("other");
    talk.model_fails("p1", "rate_limit", "API Error: 429");
    let log = lab.log_of("s1");
    assert_eq!(all(&log), [("failed", "rate_limit", false)]);
    assert_eq!(
        log.turns[0].failure.as_ref().unwrap().message.as_str(),
        "API Error: 429"
    );
    assert_eq!((log.status, log.limit.is_some()), ("failed", true));
    assert_eq!(lab.open_entries().len(), 1, "its task can be resumed");
}

#[test]
fn a_model_failure_of_a_subagent_ends_that_agent_only() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.agent_starts("p1", "a1", "coder");
    talk.agent_starts("p1", "a2", "tester");
    let before = lab.log_of("s1").turns;
    talk.says("StopFailure", json!({"prompt_id": "p1", "agent_id": "a1", "error": "server_error", "last_assistant_message": "500"}));
    assert_eq!(lab.log_of("s1").turns, before);
    let running: Vec<_> = lab
        .state("s1")
        .running()
        .map(|a| a.id.clone().unwrap().into_string())
        .collect();
    assert_eq!(running, ["a2"]);
}

#[test]
fn an_interrupt_is_a_presumed_end() {
    let lab = Lab::new();
    let talk = lab.codex("c1");
    talk.prompt("t1", "Do it");
    talk.says("Interrupt", json!({"turn_id": "t1"}));
    assert_eq!(all(&lab.log_of("c1")), [presumed("interrupted")]);
    assert!(lab.state("c1").current_task.is_some());
    talk.create("t1", "k1", "a");
    let log = lab.log_of("c1");
    assert_eq!(
        (
            log.turns.len(),
            log.turns[0].actions.len(),
            log.turns[0].late.len()
        ),
        (1, 1, 0)
    );
}

#[test]
fn an_interrupt_that_comes_after_the_next_prompt_ends_its_own_turn_only() {
    let lab = Lab::new();
    let talk = lab.codex("c1");
    talk.prompt("t1", "Do it");
    talk.prompt("t2", "No, that");
    talk.says("Interrupt", json!({"turn_id": "t1"}));
    assert_eq!(all(&lab.log_of("c1")), [presumed("interrupted"), OPEN]);
}

#[test]
fn a_session_end_with_the_turn_open_is_a_presumed_end_and_comes_once() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "Do it");
        for _ in 0..3 {
            talk.end("exit"); // Gemini CLI sends up to three
        }
        let log = lab.log_of("x1");
        assert_eq!(all(&log), [presumed("session_ended")], "{host}");
        assert_eq!(log.status, "failed");
        let ends = lab.kinds("x1").iter().filter(|k| *k == "session.end").count();
        assert_eq!(ends, 1, "{host}");
        assert!(
            lab.state("x1").current_task.is_some(),
            "{host}: it can be resumed"
        );
    }
}

#[test]
fn a_session_is_what_its_last_turn_is_and_a_later_turn_sets_it_back() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.stop("p1", "Done.");
    assert_eq!(
        lab.log_of("s1").status,
        "in_progress",
        "its host has not ended it"
    );
    talk.end("other");
    assert_eq!(lab.log_of("s1").status, "completed");
    talk.start("resume");
    talk.prompt("p2", "More");
    assert_eq!(lab.log_of("s1").status, "in_progress");
    talk.model_fails("p2", "server_error", "500");
    talk.end("other");
    assert_eq!(lab.log_of("s1").status, "failed");
    assert_eq!(lab.log_ids().len(), 1);
}

#[test]
fn a_tool_that_comes_after_the_stop_is_a_late_record_of_its_own_turn() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "Do it");
        talk.stop("p1", "Done.");
        let before = lab.log_of("x1");
        talk.create("p1", "c9", "/w/slow.rs");
        let after = lab.log_of("x1");
        assert_eq!(
            (all(&after), after.turns[0].actions.len()),
            (all(&before), 0),
            "{host}"
        );
        assert_eq!(after.turns[0].late.len(), 1, "{host}");
        assert_eq!(after.status, before.status);
        assert!(lab.open_entries().is_empty());
    }
}

#[test]
fn what_comes_late_for_an_earlier_turn_leaves_the_next_one_alone() {
    for host in [Host::ClaudeCode, Host::Codex] {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "First");
        talk.stop("p1", "Done.");
        talk.prompt("p2", "Second");
        talk.create("p2", "c2", "/w/two.rs");
        let before = lab.state("x1");
        talk.create("p1", "c1", "/w/one.rs");
        talk.stop("p1", "Really done.");
        let (log, after) = (lab.log_of("x1"), lab.state("x1"));
        assert_eq!(all(&log), [DONE, OPEN], "{host}");
        assert_eq!((log.turns[0].late.len(), log.turns[1].actions.len()), (2, 1));
        assert_eq!(log.turns[0].response.as_ref().unwrap().as_str(), "Done.");
        assert_eq!(after.current_task, before.current_task, "{host}");
        assert_eq!(after.turn_files, before.turn_files, "{host}");
        assert_eq!(lab.open_entries().len(), 1);
    }
}

#[test]
fn a_real_end_that_comes_after_the_next_prompt_replaces_the_presumed_one_and_only_that() {
    for host in [Host::ClaudeCode, Host::Codex] {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "First");
        talk.prompt("p2", "Second");
        talk.stop("p1", "First is done.");
        let log = lab.log_of("x1");
        assert_eq!(all(&log), [DONE, OPEN], "{host}");
        assert_eq!(log.turns[0].response.as_ref().unwrap().as_str(), "First is done.");
        assert_eq!(
            lab.state("x1").current_task.unwrap().description.as_str(),
            "Second"
        );
    }
}

#[test]
fn final_ends_are_immutable() {
    for first in ["stop", "failure"] {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", "Do it");
        if first == "stop" {
            talk.stop("p1", "Done.");
        } else {
            talk.model_fails("p1", "server_error", "500");
        }
        let before = all(&lab.log_of("s1"))
            .iter()
            .map(|t| (t.0.to_owned(), t.1.to_owned()))
            .collect::<Vec<_>>();
        let response = lab.log_of("s1").turns[0].response.clone();
        talk.model_fails("p1", "rate_limit", "429");
        talk.stop("p1", "Something else.");
        talk.end("other");
        let log = lab.log_of("s1");
        let after = all(&log)
            .iter()
            .map(|t| (t.0.to_owned(), t.1.to_owned()))
            .collect::<Vec<_>>();
        assert_eq!(after, before);
        assert_eq!(log.turns[0].response, response);
        let ends = ["turn.complete", "turn.fail", "turn.presumed"];
        let ends = lab
            .kinds("s1")
            .iter()
            .filter(|k| ends.contains(&k.as_str()))
            .count();
        assert_eq!(ends, 1, "{:?}", lab.kinds("s1"));
    }
}

// Ends that nobody reports

#[test]
fn a_presumed_end_gives_way_to_the_real_one_after_a_prune() {
    for host in [Host::ClaudeCode, Host::Codex] {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "A long one");
        talk.create("p1", "c1", "/w/a.rs");
        lab.age("x1", IDLE);
        lab.prune_away("x1");
        assert_eq!(all(&lab.log_of("x1")), [presumed("session_abandoned")], "{host}");
        talk.create("p1", "c2", "/w/b.rs");
        talk.stop("p1", "It took hours.");
        let log = lab.log_of("x1");
        assert_eq!(all(&log), [DONE], "{host}");
        assert_eq!(log.turns[0].actions.len(), 2);
        assert_eq!(log.turns[0].response.as_ref().unwrap().as_str(), "It took hours.");
        assert!(lab.open_entries().is_empty(), "{host}");
    }
}

#[test]
fn a_presumed_end_gives_way_to_the_real_one_after_a_reboot() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "Do it");
        talk.create("p1", "c1", "/w/a.rs");
        talk.end("other");
        assert_eq!(all(&lab.log_of("x1")), [presumed("session_ended")]);
        lab.reboot();
        talk.stop("p1", "Done after all.");
        let log = lab.log_of("x1");
        assert_eq!(all(&log), [DONE], "{host}");
        assert!(lab.open_entries().is_empty(), "{host}");
    }
}

#[test]
fn a_turn_goes_on_when_the_live_state_is_gone() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "Do it");
        lab.reboot();
        talk.create("p1", "c1", "/w/a.rs");
        talk.stop("p1", "Done.");
        let log = lab.log_of("x1");
        assert_eq!((all(&log), log.turns[0].actions.len()), (vec![DONE], 1), "{host}");
    }
}

#[test]
fn the_next_session_start_settles_a_turn_whose_host_is_gone() {
    let lab = Lab::new();
    let host = Process::begin();
    let gone = lab.claude("s1").run_by(&host);
    gone.start("startup");
    gone.prompt("p1", "Do it");
    lab.claude("s2").start("startup");
    assert_eq!(all(&lab.log_of("s1")), [OPEN], "it lives");
    host.kill();
    lab.claude("s3").start("startup");
    assert_eq!(all(&lab.log_of("s1")), [presumed("host_gone")]);
    assert_eq!(lab.log_of("s1").status, "failed", "its session is over too");
    gone.prompt("p2", "Go on");
    assert_eq!(
        lab.log_of("s1").status,
        "in_progress",
        "a later turn takes it up again"
    );
}

#[test]
fn a_host_that_names_no_process_is_found_among_the_ancestors() {
    for host in [Host::Codex, Host::GeminiCli] {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        let (event, hook) = if host == Host::Codex {
            ("UserPromptSubmit", Hook::TurnStart)
        } else {
            ("BeforeAgent", Hook::TurnStart)
        };
        let turn = if host == Host::Codex {
            json!({"turn_id": "t1", "prompt": "Do it"})
        } else {
            json!({"prompt": "Do it"})
        };
        let start = talk.bytes("SessionStart", json!({"source": "startup"}));
        through_a_host_that_dies(
            &lab,
            host.id(),
            &[(Hook::SessionStart, start), (hook, talk.bytes(event, turn))],
        );
        assert_eq!(all(&lab.log_of("x1")), [OPEN], "{host}");
        lab.talk(host, "x2").start("startup");
        assert_eq!(all(&lab.log_of("x1")), [presumed("host_gone")], "{host}");
        talk.stop("t1", "It was only moved.");
        assert_eq!(all(&lab.log_of("x1")), [DONE], "{host}");
    }
}

#[test]
fn an_abandoned_session_gets_its_end_before_its_state_goes() {
    let lab = Lab::new();
    let talk = lab.gemini("g1");
    talk.prompt("", "Do it");
    lab.age("g1", IDLE);
    lab.prune_away("g1");
    assert_eq!(all(&lab.log_of("g1")), [presumed("session_abandoned")]);
    let [entry] = &lab.open_entries()[..] else {
        panic!("its task can be resumed")
    };
    assert!(entry.settled && entry.turn.is_none() && entry.task.is_some());
}

#[test]
fn a_session_start_beside_its_prompt_does_not_end_the_turn() {
    // Where both run together, either may hold the lock first.
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "Do it");
        talk.start("startup");
        assert_eq!(all(&lab.log_of("x1")), [OPEN], "{host}");
    }
}

#[test]
fn a_session_that_is_resumed_has_no_open_turn() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "Do it");
        talk.start("resume");
        assert_eq!(all(&lab.log_of("x1")), [presumed("interrupted")], "{host}");
    }
    let lab = Lab::new();
    let host = Process::begin();
    lab.claude("s1").run_by(&host).prompt("p1", "Do it");
    host.kill();
    lab.claude("s1").start("resume");
    assert_eq!(all(&lab.log_of("s1")), [presumed("host_gone")]);
}

// Subagents in the background

#[test]
fn subagents_in_the_background_keep_the_task_until_the_last_has_stopped() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Look everywhere");
    talk.agent_starts("p1", "a1", "coder");
    talk.agent_starts("p1", "a2", "tester");
    talk.stop_with("p1", 2);
    assert_eq!(all(&lab.log_of("s1")), [DONE], "the turn is over");
    assert_eq!(lab.state("s1").running().count(), 2);
    talk.agent_stops("p1", "a1", "coder");
    assert!(lab.state("s1").current_task.is_some());
    assert_eq!(lab.open_entries().len(), 1);
    talk.agent_stops("p1", "a2", "tester");
    assert!(lab.state("s1").current_task.is_none());
    assert!(lab.open_entries().is_empty());
}

#[test]
fn the_stop_of_the_hosts_own_turn_ends_a_task_that_waits() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Look everywhere");
    talk.agent_starts("p1", "a1", "coder");
    talk.stop_with("p1", 1);
    talk.prompt("p2", NOTIFICATION);
    talk.stop("p2", "All seen.");
    let state = lab.state("s1");
    assert!(state.current_task.is_none() && !state.task_waits);
    assert_eq!(state.running().count(), 0);
    assert_eq!(all(&lab.log_of("s1")), [DONE, DONE]);
}

#[test]
fn a_roots_stop_without_subagents_in_the_background_ends_every_agent() {
    let lab = Lab::new();
    for talk in [lab.claude("s1"), lab.codex("c1")] {
        talk.prompt("p1", "Look");
        talk.agent_starts("p1", "a1", "coder");
        talk.stop("p1", "Done.");
        assert_eq!(lab.state(&talk.session).running().count(), 0, "{}", talk.host);
    }
    let gemini = lab.gemini("g1");
    gemini.prompt("", "Look");
    gemini.delegate("", "");
    assert_eq!(lab.state("g1").running().count(), 1);
    gemini.says(
        "AfterTool",
        with(
            payload("gemini-cli/AfterTool-invoke_agent"),
            json!({"session_id": "g1", "transcript_path": null, "timestamp": null}),
        ),
    );
    assert_eq!(lab.state("g1").running().count(), 0, "its delegation came back");
}

// The records

#[test]
fn every_record_stands_where_its_seq_says_and_ids_have_the_seeds_form() {
    let lab = Lab::new();
    for host in Host::ALL {
        let talk = lab.talk(host, &format!("{host}.x")); // a hashed key
        talk.start("startup");
        talk.prompt("p1", "One \"quoted\" # prompt: with é");
        talk.create("p1", "c1", "/w/ä.rs");
        talk.stop("p1", "Done.");
        talk.prompt("p2", "Two");
        talk.end("exit");
    }
    assert_eq!(lab.log_ids().len(), 3);
    let mut ids = BTreeSet::new();
    for id in lab.log_ids() {
        let path = lab.data_dir().join("log").join(id.as_str()).join("log.jsonl");
        let bytes = std::fs::read(path).unwrap();
        assert!(SessionId::try_from(id.as_str().to_owned()).is_ok());
        let suffix = id.as_str().rsplit('-').next().unwrap();
        assert!(
            suffix.len() == 8 && suffix.bytes().all(|b| b.is_ascii_hexdigit()),
            "{id}"
        );
        for record in lab.records(&id) {
            let line = &bytes[usize::try_from(record.seq).unwrap()..];
            let line: Value = serde_json::from_slice(line.split(|b| *b == b'\n').next().unwrap()).unwrap();
            assert_eq!(line["id"], record.id.as_str());
            assert_eq!(record.id.as_bytes()[14], b'7', "a uuidv7: {}", record.id);
            assert!(ids.insert(record.id.clone()));
            if let Body::TurnBegin { turn, .. } = record.body {
                assert!(
                    turn.as_str().ends_with("-turn-1") || turn.as_str().ends_with("-turn-2"),
                    "{turn}"
                );
                assert!(RequestId::try_from(turn.as_str().to_owned()).is_ok());
            }
        }
    }
}

#[test]
fn a_torn_last_line_of_the_log_is_cut_by_the_next_writer() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let id = lab.log_of("s1").session_id;
    let path = lab.data_dir().join("log").join(id.as_str()).join("log.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"v\":1,\"id\":\"torn");
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(
        lab.log_of("s1").problems.len(),
        1,
        "a reader ignores and reports it"
    );
    talk.stop("p1", "Done.");
    let log = lab.log_of("s1");
    assert_eq!((all(&log), log.problems.len()), (vec![DONE], 0));
    for record in lab.records(&id) {
        assert!(record.seq < std::fs::metadata(&path).unwrap().len());
    }
    assert_eq!(stands(&log.turns[0]), DONE);
}
