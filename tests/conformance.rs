//! The reference implementations' own test cases, as far as hooks have to do with them: C (Maestro), S, P, T, R and D
//! (the session-log plugins). Each test names its cases and holds our outcome. Cases with a test of their own elsewhere:
//!
//! | case | outcome here | where |
//! | --- | --- | --- |
//! | C3, C8 | the active agent is cleared when it stops; `code-reviewer` is shown as `code_reviewer` | live_state: active_agent_names_… |
//! | C11, C15 | plain ids are directory names; every other one is hashed, never refused, never a path | live_state: an_id_that_is_no_plain_name_… |
//! | C12 | a fresh directory is kept | prune: a_session_is_stale_when_… |
//! | S2, T1 | the stop completes the turn | turns: a_stop_completes_… |
//! | S9 | a stop after `<task-notification>` blocks nothing; it is a turn of the host | turns: a_stop_after_a_prompt_by_the_host_… |
//! | P2, P3 | the same prompt within 2 minutes opens nothing, another one does | turns: the_same_prompt_again_…, a_prompt_while_… |
//! | T14 | a turn that is open when the next begins is ended first (theirs: `canceled`; ours: presumed, `interrupted`) | turns: a_prompt_while_… |
//! | T17 | what comes twice is written once | live_state: the_same_event_twice_… |
//! | R4 | nothing changes a turn after its end | turns: final_ends_are_immutable |
//!
//! Decided differently:
//!
//! * C2, C6, C20, C21 (a report's missing headings deny, the phase is told): only what a user's orchestration asks for is
//!   ever denied or told; with orchestration.md.
//! * C7, C13, C14 (`agent: coder`, `@coder`, "delegate to coder" in a prompt): an agent is whom the host started, never words.
//! * C10 (the directory goes at the session's end): it stays for two hours; hosts send events after the end.
//! * C19 (broken JSON blocks the session): a fault of ours never blocks.
//! * S3, T5 (library or REPL missing): there is none; a hook is one executable.
//! * S5, S6, S8, S16–S18 (a stop is blocked for code edits or a failed build): no gate of our own; orchestration.md.
//! * S7 (`stop_hook_active` allows without closing): the host says that the turn is over, so it is.
//! * S10–S14 (a turn older than 30 hours, a server's proof): there is no server, and an old turn ends like any other.
//! * P6, T11, T12 (plan map, workspace marker): no such files.
//! * T2, T3 (a second completion, one without a turn): what was said is kept; see the tests below.
//!
//! Later parts: C24–C28, C35–C44 (MCP server, workspace, policies), C29–C34 (orchestration), C17's exit 2 and C20 (Qwen Code),
//! T15, T16, T19, T21, T23, Q, F (shipping), H1 (install). The cases about methods (T, R, D) are in repl::conformance.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use bookend::files::{Dir, Durability};
use bookend::hook::Hook;
use bookend::hosts::Host;
use bookend::log::ledger::Ledger;
use bookend::log::record::{ActionKind, By};
use serde_json::{Value, json};

use crate::harness::{Answer, Lab, executable};
use crate::talk::{DONE, OPEN, all, copy_program};

/// C1, C4, S1, S4: a stop with no agent, no turn, or a hook's own prolonging is allowed, in silence.
#[test]
fn a_stop_is_never_held_up() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        assert_eq!(talk.stop("p0", "Nothing was asked.").stdout, "", "{host}");
        talk.prompt("p1", "Do it");
        talk.create("p1", "c1", "/w/a.rs");
        assert_eq!(talk.stop("p1", "Done.").stdout, "", "{host}");
        assert_eq!(talk.stop("p1", "Done again.").stdout, "", "{host}");
        if host != Host::GeminiCli {
            let report = json!({"agent_id": "a1", "agent_type": "coder", "stop_hook_active": true, "last_assistant_message": "no headings"});
            assert_eq!(talk.says("SubagentStop", report).stdout, "", "{host}");
        }
    }
}

/// C5: a prompt without a text is a turn all the same; it may be an image.
#[test]
fn a_prompt_without_text_is_a_turn_with_a_task_that_can_be_named() {
    let lab = Lab::new();
    for prompt in [json!(null), json!(""), json!(" \n"), json!(7)] {
        let talk = lab.claude(&format!("s{}", lab.log_ids().len()));
        let answer = talk.says("UserPromptSubmit", json!({"prompt_id": "p1", "prompt": prompt}));
        assert_eq!(answer.stdout, "");
        assert_eq!(all(&lab.log_of(&talk.session)), [OPEN], "{prompt}");
        let first = talk.start("compact").context();
        assert!(first.starts_with("Resuming: A prompt without text\n"), "{first}");
        talk.says("UserPromptSubmit", json!({"prompt_id": "p2", "prompt": prompt}));
        assert_eq!(
            lab.log_of(&talk.session).turns.len(),
            2,
            "{prompt}: another image is no resend"
        );
    }
}

/// C9, P5, R1: a session start tells and makes what it needs, any number of times, and says so also when nothing can be kept.
#[test]
fn a_session_start_succeeds_whatever_is_there() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    for _ in 0..3 {
        assert!(
            talk.start("startup")
                .context()
                .starts_with("Session log: ClaudeCode-")
        );
    }
    assert!(lab.is_live("s1"));
    assert_eq!(lab.state("s1").events["SessionStart"].count, 3);
    let nowhere = lab.path("a-file");
    std::fs::write(&nowhere, "").unwrap();
    let nowhere = nowhere.to_str().unwrap();
    let lost = talk
        .env("BOOKEND_DATA_DIR", nowhere)
        .env("MAESTRO_HOOKS_DIR", nowhere);
    assert_eq!(lost.start("startup").stdout, "");
    let no_log = talk.env("BOOKEND_DATA_DIR", nowhere);
    no_log.start("resume");
    no_log.prompt("p1", "Do it");
    assert_eq!(
        lab.state("s1").current_task.unwrap().description.as_str(),
        "Do it"
    );
}

/// C10: an end is taken quietly, for a session that is there, for one that is not, for `../hack`.
#[test]
fn an_end_is_taken_quietly_and_the_state_stays_for_what_comes_late() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    for id in ["s1", "never-seen", "../hack"] {
        let answer = lab
            .claude(id)
            .says("SessionEnd", json!({"reason": "other", "transcript_path": null}));
        assert_eq!(answer.stdout, "", "{id}");
    }
    assert!(lab.is_live("s1"));
    assert!(!lab.path("hack").exists());
}

/// C16: the fields of Claude Code's payloads; those that are absent or of another type are as good as none.
#[test]
fn fields_that_are_missing_or_wrong_are_as_good_as_none() {
    let lab = Lab::new();
    for wrong in [
        json!(null),
        json!(7),
        json!([]),
        json!({}),
        json!(true),
        json!(""),
    ] {
        let talk = lab.claude("s1");
        for (event, fields) in [
            (
                "PreToolUse",
                json!({"tool_name": "Agent", "tool_input": wrong, "tool_use_id": wrong}),
            ),
            ("PreToolUse", json!({"tool_name": wrong})),
            (
                "PostToolUse",
                json!({"tool_name": "Write", "tool_input": wrong, "tool_response": wrong}),
            ),
            (
                "SubagentStop",
                json!({"agent_id": wrong, "agent_type": wrong, "stop_hook_active": wrong}),
            ),
            (
                "Stop",
                json!({"prompt_id": wrong, "stop_hook_active": wrong, "last_assistant_message": wrong, "background_tasks": wrong}),
            ),
            (
                "StopFailure",
                json!({"error": wrong, "last_assistant_message": wrong}),
            ),
            ("SessionStart", json!({"source": wrong, "model": wrong})),
            ("SessionEnd", json!({"reason": wrong})),
        ] {
            talk.says(event, fields);
        }
    }
    assert!(lab.faults().is_empty(), "{:?}", lab.faults());
}

/// C17: allowing is silence, and a fault exits 0.
#[test]
fn allowing_is_silence() {
    let lab = Lab::new();
    for host in Host::ALL {
        let talk = lab.talk(host, &format!("{host}"));
        for answer in [
            talk.prompt("p1", "Do it"),
            talk.delegate("p1", "c1"),
            talk.create("p1", "c2", "/w/a.rs"),
            talk.stop("p1", "Done."),
            talk.end("exit"),
        ] {
            assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{host}");
        }
    }
}

fn run(lab: &Lab, program: PathBuf, host: &str, stdin: &[u8]) -> Answer {
    let file = lab.path("stdin");
    std::fs::write(&file, stdin).unwrap();
    let output = lab
        .command(program.to_str().unwrap())
        .args(["--host", host])
        .stdin(Stdio::from(std::fs::File::open(file).unwrap()))
        .output()
        .unwrap();
    Answer::of(output)
}

/// C18: every entry point takes the barest payload, also as a copy in a directory whose name has blanks.
#[test]
fn every_executable_takes_the_barest_payload_from_any_place() {
    let lab = Lab::new();
    let copies = lab.path("a copy of bin");
    std::fs::create_dir(&copies).unwrap();
    for hook in Hook::ALL {
        let copy = copies.join(hook.name());
        copy_program(executable(hook), &copy);
        for host in Host::ALL {
            let bare = json!({"cwd": lab.project(), "session_id": "s1"}).to_string();
            let answer = run(&lab, copy.clone(), host.id(), bare.as_bytes()).ok();
            assert_eq!(answer.stdout, "", "{hook:?} {host}: no event is named");
            let named = json!({"session_id": "s1", "hook_event_name": "SessionStart"}).to_string();
            run(&lab, copy.clone(), host.id(), named.as_bytes()).ok();
        }
    }
}

/// C19, C22: what is no JSON, too little or a lot, never blocks anybody.
#[test]
fn broken_and_large_payloads_block_nothing() {
    let lab = Lab::new();
    for hook in Hook::ALL {
        for stdin in [
            &b""[..],
            b" \n",
            b"not-json",
            b"{",
            b"[]",
            b"null",
            b"\xff\xfe",
            b"{\"session_id\":",
        ] {
            let answer = run(&lab, executable(hook).into(), "claude-code", stdin).ok();
            assert_eq!(answer.stdout, "", "{hook:?} {:?}", String::from_utf8_lossy(stdin));
        }
    }
    let talk = lab.claude("s1");
    talk.prompt("p1", &"x".repeat(3 * 1024 * 1024));
    assert_eq!(
        all(&lab.log_of("s1")),
        [OPEN],
        "more than a mebibyte is no reason to refuse"
    );
}

/// C23: a replacement is whole or not there, leaves no temporary, and passes errors on.
#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let lab = Lab::new();
    let path = lab.path("deep/er/still");
    let dir = Dir::open_or_make(&path).unwrap();
    for content in [&b"first"[..], b"second", b""] {
        dir.replace("state.json", "state.json.new", content, Durability::Power)
            .unwrap();
        assert_eq!(std::fs::read(path.join("state.json")).unwrap(), content);
    }
    std::fs::write(path.join("state.json.new"), "a leftover that is longer").unwrap();
    dir.replace("state.json", "state.json.new", b"third", Durability::Process)
        .unwrap();
    assert_eq!(std::fs::read(path.join("state.json")).unwrap(), b"third");
    std::fs::create_dir(path.join("taken")).unwrap();
    assert!(
        dir.replace("taken", "taken.new", b"x", Durability::Process)
            .is_err()
    );
    let names: Vec<_> = dir.entries().unwrap().into_iter().map(|e| e.name).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// S7, T2, T3: the host's word that a turn is over counts; a second stop keeps what was said and changes nothing.
#[test]
fn a_stop_that_a_hook_prolonged_ends_the_turn_and_the_next_is_kept_beside_it() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let stop = |again, text| {
        talk.says(
            "Stop",
            json!({"prompt_id": "p1", "stop_hook_active": again, "last_assistant_message": text}),
        )
    };
    stop(false, "First.");
    stop(true, "And then.");
    let log = lab.log_of("s1");
    assert_eq!(all(&log), [DONE]);
    assert_eq!(log.turns[0].response.as_ref().unwrap().as_str(), "First.");
    assert_eq!(
        log.turns[0].late[0].message.as_ref().unwrap().as_str(),
        "And then."
    );
}

/// S10, S11, S15: a state of yesterday, or one whose times make no sense, holds nobody up.
#[test]
fn an_old_or_senseless_state_holds_nobody_up() {
    for times in ["2001-01-01T00:00:00Z", "not-a-date", ""] {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", "Do it");
        let path = lab.hooks_dir().join("s1/state.json");
        let mut state: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        state["lastEventAt"] = json!(times);
        state["startedAt"] = json!(times);
        std::fs::write(&path, state.to_string()).unwrap();
        assert_eq!(talk.stop("p1", "Done.").stdout, "");
        assert_eq!(all(&lab.log_of("s1")), [DONE], "{times:?}");
    }
}

/// P1: a prompt opens a turn whose id has the form of the seed.
#[test]
fn a_turns_id_begins_with_req() {
    let lab = Lab::new();
    lab.claude("s1").prompt("p1", "Do it");
    let id = lab.log_of("s1").turns[0].request_id.to_string();
    assert!(
        id.starts_with("req-2")
            && id.ends_with("Z-turn-1")
            && id.len() == "req-20261130T061337Z-turn-1".len(),
        "{id}"
    );
}

/// P4, T4, T16, T18: what cannot be written now is written later, once; until then the turn stays in progress.
#[test]
fn an_end_that_cannot_be_written_now_is_written_later_and_once() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let id = lab.log_of("s1").session_id;
    let held = Ledger::open(&lab.data(), &id, By::Model, false, Duration::from_secs(1)).unwrap();
    assert_eq!(talk.stop("p1", "Done.").stdout, "");
    assert_eq!(
        all(&lab.log_of("s1")),
        [OPEN],
        "nothing is claimed that is not written"
    );
    drop(held);
    talk.end("other");
    talk.start("resume");
    let log = lab.log_of("s1");
    assert_eq!(all(&log), [DONE]);
    let ends = lab.kinds("s1").iter().filter(|k| *k == "turn.complete").count();
    assert_eq!(ends, 1);
}

/// T6, T7, T8: edits are counted by file, whatever else is done beside them.
#[test]
fn changed_files_are_counted_once_each() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.create("p1", "c1", "/w/a.rs");
    talk.create("p1", "c2", "/w/b.rs");
    assert_eq!(lab.log_of("s1").files_modified_count, 2);
    talk.create("p1", "c3", "/w/a.rs");
    talk.shell("p1", "c4", "git commit -am x");
    talk.shell("p1", "c5", "make");
    let log = lab.log_of("s1");
    assert_eq!(log.files_modified_count, 2);
    let kinds: Vec<_> = log.turns[0]
        .actions
        .iter()
        .map(|a| (a.order, a.action.kind.clone()))
        .collect();
    assert_eq!(
        kinds,
        [
            (1, ActionKind::Create),
            (2, ActionKind::Create),
            (3, ActionKind::Create),
            (4, ActionKind::Commit),
            (5, ActionKind::Command)
        ]
    );
}

/// T10, T13: two sessions at once, and a stop with somebody else's ids: each ends its own turn only.
#[test]
fn a_stop_ends_the_turn_of_its_own_session() {
    let lab = Lab::new();
    let (a, b) = (lab.claude("a"), lab.claude("b"));
    a.prompt("p1", "One");
    b.prompt("p1", "Two");
    b.stop("p1", "Two is done.");
    assert_eq!(all(&lab.log_of("a")), [OPEN]);
    assert_eq!(all(&lab.log_of("b")), [DONE]);
    assert_eq!(
        lab.open_entries()
            .iter()
            .map(|e| e.session_key.as_str())
            .collect::<Vec<_>>(),
        ["a"]
    );
}

/// T20: directories whose names hold blanks and `#`.
#[test]
fn blanks_and_hashes_in_directory_names_are_nothing_special() {
    let lab = Lab::new();
    let (hooks, data) = (lab.path("hook root #1"), lab.path("data # 'dir\""));
    let talk = lab
        .claude("s1")
        .project("my project #2")
        .env("MAESTRO_HOOKS_DIR", hooks.to_str().unwrap())
        .env("BOOKEND_DATA_DIR", data.to_str().unwrap());
    talk.prompt("p1", "Do it");
    talk.create("p1", "c1", "/w/a #1.rs");
    assert!(hooks.join("s1/events.jsonl").is_file());
    assert_eq!(std::fs::read_dir(data.join("open")).unwrap().count(), 1);
    assert!(talk.start("compact").context().contains("Where: /w/a #1.rs"));
    assert_eq!(
        std::fs::read_to_string(data.join("roots")).unwrap().trim_end(),
        hooks.to_str().unwrap()
    );
}

/// T24: an agent that runs under another inherits its environment and is still what it is.
#[test]
fn an_agent_under_another_is_what_it_is() {
    let lab = Lab::new();
    let codex = lab
        .codex("c1")
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "s1")
        .env("CLAUDE_PROJECT_DIR", "/elsewhere");
    codex.prompt("t1", "Do it");
    let log = lab.log_of("c1");
    assert_eq!((log.agent.as_str(), log.host), ("Codex", Some(Host::Codex)));
    assert_eq!(
        log.project_root.unwrap().as_str(),
        lab.project().to_str().unwrap()
    );
}

/// D1–D6: a secret is replaced wherever it stands, before anything is written.
#[test]
fn no_secret_reaches_a_file() {
    let lab = Lab::new();
    let secret =
        "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-AbCdEfGhAA";
    let talk = lab.claude("s1");
    talk.prompt("p1", &format!("Use {secret} please"));
    talk.tool(
        "p1",
        "c1",
        "Bash",
        json!({"command": format!("curl -H 'X-Api-Key: {secret}' x")}),
        json!({"stdout": secret}),
    );
    talk.create("p1", "c2", &format!("/w/{secret}.txt"));
    talk.fails(
        "p1",
        "c3",
        "Bash",
        json!({"command": "x"}),
        &format!("Exit code 1\nbad key {secret}"),
    );
    talk.tool(
        "p1",
        "c4",
        "TaskCreate",
        json!({"subject": format!("Rotate {secret}")}),
        json!({"task": {"id": "1"}}),
    );
    talk.delegate("p1", "c5");
    talk.model_fails("p1", "unknown", &format!("429 for {secret}"));
    let told = talk.prompt("p2", "continue");
    talk.stop("p2", &format!("I used {secret}"));
    assert!(!told.stdout.contains("AbCdEf"), "{}", told.stdout);
    let mut files = vec![lab.hooks_dir(), lab.data_dir()];
    let mut seen = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("AbCdEf"), "{}", path.display());
            seen += usize::from(text.contains("[REDACTED:"));
        }
    }
    assert!(seen >= 3, "journal, checkpoint and log");
}
