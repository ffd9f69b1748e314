//! The live state: the journal is the state. What the design's page on it promises, through the real
//! executables; and with the files in the states in which a kill, a crash or a stranger leaves them.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use bookend::files::Dir;
use bookend::hook::Hook;
use bookend::hosts::Host;
use bookend::live::journal;
use bookend::live::key::SessionKey;
use bookend::live::session::Session;
use bookend::live::state::{Answered, Entry, State};
use bookend::redact::Redacted;
use serde_json::{Value, json};

use crate::harness::{Lab, with};
use crate::talk::{DONE, Process, Talk, all};

fn file(lab: &Lab, session: &str, name: &str) -> PathBuf {
    lab.hooks_dir().join(session).join(name)
}

fn checkpoint(lab: &Lab, session: &str) -> Value {
    serde_json::from_slice(&std::fs::read(file(lab, session, "state.json")).unwrap()).unwrap()
}

fn journal(lab: &Lab, session: &str) -> Vec<u8> {
    std::fs::read(file(lab, session, "events.jsonl")).unwrap()
}

fn locked(lab: &Lab, session: &str) -> Session {
    let key = SessionKey::of(session).unwrap();
    Session::lock(&lab.root().unwrap(), &key, Duration::from_secs(1)).unwrap()
}

/// What counts of a state: where its checkpoint stood is none of it.
fn meaning(state: &State) -> State {
    State {
        offset: 0,
        ..state.clone()
    }
}

/// A session in which all sorts of things happen.
fn eventful<'a>(lab: &'a Lab, session: &str) -> Talk<'a> {
    let talk = lab.claude(session);
    talk.start("startup");
    talk.prompt("p1", "Fix the cart");
    talk.agent_starts("p1", "a1", "maestro:code-reviewer");
    talk.create("p1", "c1", "/w/cart.rs");
    talk.tool(
        "p1",
        "c2",
        "TaskCreate",
        json!({"subject": "Test it"}),
        json!({"task": {"id": "1"}}),
    );
    talk.agent_stops("p1", "a1", "maestro:code-reviewer");
    talk.stop("p1", "Fixed.");
    talk.prompt("p2", "<task-notification>x</task-notification>");
    talk.create("p2", "c3", "/w/b.rs");
    talk.prompt("p3", "Next");
    talk.fails(
        "p3",
        "c4",
        "Bash",
        json!({"command": "curl x"}),
        "Exit code 1\nHTTP/1.1 429 Too Many Requests",
    );
    talk.model_fails("p3", "rate_limit", "429");
    talk.prompt("p4", "continue");
    talk.says("PreCompact", json!({"prompt_id": "p4", "trigger": "auto"}));
    talk.start("compact");
    talk
}

// Checkpoints

#[test]
fn a_checkpoint_is_written_at_the_beginning_and_at_a_turn_that_begins_behind_a_long_tail() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.start("startup");
    let first = checkpoint(&lab, "s1");
    assert_eq!(
        (&first["n"], &first["offset"]),
        (&json!(1), &json!(journal(&lab, "s1").len()))
    );
    talk.prompt("p1", "Do it");
    talk.create("p1", "c1", "/w/a.rs");
    talk.stop("p1", "Done.");
    talk.prompt("p2", "More");
    assert_eq!(checkpoint(&lab, "s1"), first, "the journal is enough");
    for n in 0..6 {
        talk.shell("p2", &format!("s{n}"), &format!("echo {}", "x".repeat(590)));
    }
    talk.stop("p2", "Done.");
    assert_eq!(checkpoint(&lab, "s1"), first);
    talk.prompt("p3", "Again");
    let there = checkpoint(&lab, "s1");
    assert_eq!(
        there["offset"],
        journal(&lab, "s1").len(),
        "its hooks read little"
    );
    assert_eq!(lab.state("s1").n, there["n"].as_u64().unwrap());
}

#[test]
fn a_checkpoint_is_written_when_the_journals_tail_passes_8_kb() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let begin = checkpoint(&lab, "s1")["offset"].as_u64().unwrap();
    let mut n = 0;
    while checkpoint(&lab, "s1")["offset"].as_u64().unwrap() == begin {
        n += 1;
        talk.shell("p1", &format!("c{n}"), &format!("echo {}", "x".repeat(590)));
        assert!(n < 200, "no checkpoint after {} bytes", journal(&lab, "s1").len());
    }
    let passed = checkpoint(&lab, "s1")["offset"].as_u64().unwrap() - begin;
    assert!((8 * 1024 + 1..8 * 1024 + 4_096).contains(&passed), "{passed}");
}

#[test]
fn a_corrupt_checkpoint_is_moved_aside_reported_and_refolded() {
    for bad in ["", "{", "[]", "{}", "{\"version\":1,\"n\":\"x\"}", "\0\0\0\0"] {
        let lab = Lab::new();
        eventful(&lab, "s1");
        let before = lab.state("s1");
        std::fs::write(file(&lab, "s1", "state.json"), bad).unwrap();
        assert_eq!(
            meaning(&lab.state("s1")),
            meaning(&before),
            "{bad:?}: a reader folds the journal"
        );
        lab.claude("s1").shell("p4", "c9", "ls");
        let after = lab.state("s1");
        assert_eq!((after.n, &after.turns), (before.n + 1, &before.turns), "{bad:?}");
        assert_eq!(
            std::fs::read_to_string(file(&lab, "s1", "state.json.bad")).unwrap(),
            bad
        );
        assert!(
            after.faults.iter().any(|f| f.what.contains("state.json.bad")),
            "{:?}",
            after.faults
        );
        lab.claude("s1").stop("p4", "Done.");
        assert_eq!(all(&lab.log_of("s1")).last(), Some(&DONE));
    }
}

#[test]
fn a_corrupt_checkpoint_of_a_state_begun_again_from_the_log_loses_no_turn() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Fix the cart");
    talk.create("p1", "c1", "/w/a.rs");
    lab.reboot();
    talk.shell("p1", "c2", "ls");
    std::fs::write(file(&lab, "s1", "state.json"), "{").unwrap();
    talk.shell("p1", "c3", "pwd");
    let state = lab.state("s1");
    assert_eq!(state.turns.count, 1);
    assert_eq!(state.current_task.unwrap().description.as_str(), "Fix the cart");
    talk.stop("p1", "Fixed.");
    assert_eq!(all(&lab.log_of("s1")), [DONE]);
    assert!(lab.open_entries().is_empty());
}

#[test]
fn a_newer_version_is_read_and_never_rewritten() {
    let lab = Lab::new();
    let talk = eventful(&lab, "s1");
    let mut newer = checkpoint(&lab, "s1");
    newer["version"] = json!(2);
    newer["inventedLater"] = json!({"x": 1});
    let text = newer.to_string();
    std::fs::write(file(&lab, "s1", "state.json"), &text).unwrap();
    let turns = lab.state("s1").turns.count;
    talk.stop("p4", "Done.");
    talk.prompt("p5", "More");
    talk.start("compact");
    assert_eq!(
        lab.state("s1").turns.count,
        turns + 1,
        "it is read, and the journal goes on"
    );
    assert_eq!(
        std::fs::read_to_string(file(&lab, "s1", "state.json")).unwrap(),
        text
    );
}

#[test]
fn a_newer_version_that_cannot_be_read_is_left_where_it_is() {
    let lab = Lab::new();
    let talk = eventful(&lab, "s1");
    let before = lab.state("s1");
    let text = json!({"version": 2, "n": {"high": 1, "low": 2}, "turns": "elsewhere"}).to_string();
    std::fs::write(file(&lab, "s1", "state.json"), &text).unwrap();
    talk.stop("p4", "Done.");
    talk.prompt("p5", "More");
    assert_eq!(
        std::fs::read_to_string(file(&lab, "s1", "state.json")).unwrap(),
        text
    );
    assert!(!file(&lab, "s1", "state.json.bad").exists());
    assert_eq!(
        lab.state("s1").turns.count,
        before.turns.count + 1,
        "the journal is the state"
    );
    assert_eq!(
        all(&lab.log_of("s1")).len(),
        usize::try_from(before.turns.count).unwrap() + 1
    );
}

// The journal

#[test]
fn a_torn_last_line_is_ignored_and_cut_by_the_next_writer() {
    for torn in ["{\"n\":99,\"event\":{", "x", "{\"n\":99}\\n"] {
        let lab = Lab::new();
        let talk = eventful(&lab, "s1");
        let before = lab.state("s1");
        let whole = journal(&lab, "s1").len();
        let mut end = std::fs::OpenOptions::new()
            .append(true)
            .open(file(&lab, "s1", "events.jsonl"))
            .unwrap();
        end.write_all(torn.as_bytes()).unwrap();
        assert_eq!(meaning(&lab.state("s1")), meaning(&before));
        talk.stop("p4", "Done.");
        let bytes = journal(&lab, "s1");
        let line = bytes[whole..].split(|b| *b == b'\n').next().unwrap();
        let entry: Entry = serde_json::from_slice(line).unwrap();
        assert_eq!(entry.n, before.n + 1);
        assert!(
            entry.faults.iter().any(|f| f.contains("torn")),
            "it is told: {:?}",
            entry.faults
        );
        assert_eq!(lab.entries("s1").len(), usize::try_from(entry.n).unwrap());
    }
}

#[test]
fn a_journal_that_is_gone_is_begun_again_from_the_log() {
    let lab = Lab::new();
    let talk = eventful(&lab, "s1");
    let before = lab.state("s1");
    lab.reboot();
    talk.shell("p4", "c9", "ls");
    let after = lab.state("s1");
    assert_eq!(after.turns.count, before.turns.count);
    assert_eq!(
        after.current_task.unwrap().description,
        before.current_task.unwrap().description
    );
    assert_eq!(after.ui_todos.unwrap().items, before.ui_todos.unwrap().items);
    assert_eq!(after.log.unwrap().session, before.log.unwrap().session);
}

#[test]
fn a_journal_that_is_gone_beside_its_checkpoint_goes_on_from_that() {
    let lab = Lab::new();
    let talk = eventful(&lab, "s1");
    let before = lab.state("s1");
    std::fs::remove_file(file(&lab, "s1", "events.jsonl")).unwrap();
    let mut n = before.n;
    // One line may end just where the old journal's checkpoint stood.
    let offset = checkpoint(&lab, "s1")["offset"].as_u64().unwrap();
    while std::fs::metadata(file(&lab, "s1", "events.jsonl")).map_or(0, |m| m.len()) <= offset {
        n += 1;
        talk.shell("p4", &format!("x{n}"), "ls");
    }
    let state = lab.state("s1");
    assert_eq!((state.n, state.turns), (n, before.turns));
    let at = usize::try_from(checkpoint(&lab, "s1")["offset"].as_u64().unwrap()).unwrap();
    assert_ne!(
        u64::try_from(at).unwrap(),
        offset,
        "the old mark means nothing in the new journal"
    );
    assert!(at <= journal(&lab, "s1").len() && (at == 0 || journal(&lab, "s1")[at - 1] == b'\n'));
}

#[test]
fn past_1_mb_the_older_part_is_dropped_and_no_state_is_lost() {
    let lab = Lab::new();
    let talk = eventful(&lab, "s1");
    talk.create("p4", "c8", "/w/kept.rs");
    let model = lab.entries("s1").last().unwrap().clone();
    let mut session = locked(&lab, "s1");
    let mut entry = model;
    entry.event.key = None;
    entry.marks.clear();
    if let bookend::event::Kind::Tool(call) = &mut entry.event.kind {
        call.files.clear();
        call.target = Some(Redacted::new(&"x ".repeat(1_000)));
    }
    while journal(&lab, "s1").len() < 1_000_000 {
        session.append(entry.clone(), false).unwrap();
    }
    for n in 0.. {
        assert!(n < 100, "never dropped");
        let before = journal(&lab, "s1").len();
        session.append(entry.clone(), false).unwrap();
        if journal(&lab, "s1").len() < before {
            break;
        }
    }
    let held = session.state.clone();
    session.append(entry, true).unwrap();
    let held = State {
        n: held.n + 1,
        ..held
    };
    drop(session);
    assert!(
        journal(&lab, "s1").len() < 300_000,
        "{}",
        journal(&lab, "s1").len()
    );
    let read = lab.state("s1");
    assert_eq!(
        (read.n, &read.turns, &read.current_task, &read.ui_todos),
        (held.n, &held.turns, &held.current_task, &held.ui_todos)
    );
    assert_eq!(
        (&read.turn_files, &read.rate_limit, &read.log),
        (&held.turn_files, &held.rate_limit, &held.log)
    );
    talk.stop("p4", "Done.");
    assert_eq!(lab.state("s1").n, held.n + 1);

    // The checkpoint alone held the older part: without it the log does.
    std::fs::write(file(&lab, "s1", "state.json"), "{").unwrap();
    talk.prompt("p5", "More");
    let state = lab.state("s1");
    assert_eq!(state.turns.count, held.turns.count + 1);
    assert_eq!(state.ui_todos.unwrap().items, held.ui_todos.unwrap().items);
    assert_eq!(state.current_task.unwrap().description.as_str(), "More");
}

#[test]
fn any_prefix_of_a_journal_folds() {
    let lab = Lab::new();
    eventful(&lab, "s1");
    let bytes = journal(&lab, "s1");
    let entries = lab.entries("s1");
    let scratch = tempfile::tempdir().unwrap();
    let dir = Dir::open(scratch.path()).unwrap();
    for end in (0..=bytes.len()).filter(|end| end % 7 == 0 || bytes.get(*end) == Some(&b'\n')) {
        std::fs::write(scratch.path().join("events.jsonl"), &bytes[..end]).unwrap();
        let loaded = journal::fold(&dir).unwrap();
        let whole = bytes[..end].iter().filter(|b| **b == b'\n').count();
        assert_eq!(loaded.state.n, u64::try_from(whole).unwrap());
        let mut held = State::default();
        entries.iter().take(whole).for_each(|e| held.apply(e));
        assert_eq!(meaning(&loaded.state), meaning(&held), "after {whole} lines");
    }
}

#[test]
fn the_fold_after_a_restart_is_the_one_held_in_memory() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "s1");
        if host == Host::ClaudeCode {
            eventful(&lab, "s1");
        } else {
            talk.prompt("p1", "Fix it");
            talk.create("p1", "c1", "/w/a.rs");
            talk.delegate("p1", "c2");
            talk.end("exit");
        }
        let mut held = State::default();
        lab.entries("s1").iter().for_each(|e| held.apply(e));
        assert_eq!(meaning(&lab.state("s1")), meaning(&held), "{host}");
        let again: State = serde_json::from_slice(&serde_json::to_vec(&held).unwrap()).unwrap();
        assert_eq!(again, held, "{host}: a checkpoint says all of it");
        lab.entries("s1").iter().for_each(|e| held.apply(e));
        assert_eq!(
            meaning(&lab.state("s1")),
            meaning(&held),
            "{host}: folding twice changes nothing"
        );
    }
}

#[test]
fn a_journal_line_is_at_most_4_kb_whatever_the_payload() {
    let long = [
        "x".repeat(100_000),
        "日本語\n".repeat(10_000),
        "\u{1b}[31mred\u{1b}[0m \"q\" \\\n".repeat(5_000),
    ];
    for text in long {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", &text);
        talk.says("PreToolUse", json!({"prompt_id": "p1", "tool_name": "Agent", "tool_use_id": "c0", "tool_input": {"prompt": text, "subagent_type": "x"}}));
        talk.tool(
            "p1",
            "c1",
            "Bash",
            json!({"command": text, "description": text}),
            json!({"stdout": text, "stderr": text}),
        );
        talk.tool(
            "p1",
            "c2",
            "Write",
            json!({"file_path": format!("/w/{}", text.chars().take(6).collect::<String>()), "content": text}),
            json!({"type": "create", "content": text}),
        );
        talk.fails(
            "p1",
            "c3",
            "Bash",
            json!({"command": text}),
            &format!("Exit code 1\n{text}\nHTTP 429"),
        );
        talk.fails(
            "p1",
            "c4",
            "WebFetch",
            json!({"url": text, "prompt": text}),
            &text,
        );
        talk.says(
            "SubagentStop",
            json!({"prompt_id": "p1", "agent_id": "a1", "last_assistant_message": text}),
        );
        talk.model_fails("p1", "server_error", &text);
        talk.prompt("p2", &text);
        talk.stop("p2", &text);
        assert_eq!(lab.entries("s1").len(), 10);
        for line in journal(&lab, "s1").split(|b| *b == b'\n') {
            let head = String::from_utf8_lossy(&line[..line.len().min(120)]).into_owned();
            assert!(line.len() <= 4_096, "{} bytes: {head}", line.len());
        }
        let log = lab.log_of("s1");
        assert!(
            log.turns[1].response.as_ref().unwrap().chars().count() > 39_000,
            "the log has all of it"
        );
    }
}

#[test]
fn a_limit_named_at_the_end_of_a_long_error_is_known_from_the_journal_too() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let error = format!(
        "Exit code 1\n{}\nHTTP/1.1 429 Too Many Requests\n{}",
        "x ".repeat(700),
        "y ".repeat(200)
    );
    talk.fails("p1", "c1", "Bash", json!({"command": "curl"}), &error);
    assert!(lab.state("s1").rate_limit.is_some());
    let mut held = State::default();
    lab.entries("s1").iter().for_each(|e| held.apply(e));
    assert!(held.rate_limit.is_some());
}

// Duplicates

/// Sends the same bytes twice; whether the second time changed anything.
fn twice(talk: &Talk<'_>, lab: &Lab, hook: Hook, event: &str, fields: Value) -> bool {
    let bytes = talk.bytes(event, fields);
    talk.raw(hook, &bytes);
    let id = &talk.session;
    let log = || {
        lab.log_ids()
            .iter()
            .map(|id| lab.records(id).len())
            .sum::<usize>()
    };
    let before = (lab.state(id), lab.entries(id).len(), log());
    let answer = talk.raw(hook, &bytes);
    let after = (lab.state(id), lab.entries(id).len(), log());
    if before == after {
        assert_eq!(answer.stdout, "", "{event}: context and notices are not repeated");
    }
    before != after
}

#[test]
fn the_same_event_twice_changes_nothing() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    let p1 = json!({"prompt_id": "p1"});
    let tool = json!({"prompt_id": "p1", "tool_name": "Write", "tool_use_id": "c1", "tool_input": {"file_path": "/w/a"}, "tool_response": {"type": "create"}});
    let failed = with(tool.clone(), json!({"tool_response": null, "error": "no"}));
    let agent =
        json!({"prompt_id": "p1", "tool_name": "Agent", "tool_use_id": "c2", "tool_input": {"prompt": "x"}});
    let stop = with(
        p1.clone(),
        json!({"stop_hook_active": false, "last_assistant_message": "Done."}),
    );
    let sub = with(stop.clone(), json!({"agent_id": "a1"}));
    for (hook, event, fields) in [
        (
            Hook::TurnStart,
            "UserPromptSubmit",
            with(p1.clone(), json!({"prompt": "Do it"})),
        ),
        (Hook::PostTool, "PostToolUse", tool),
        (Hook::PostTool, "PostToolUseFailure", failed),
        (Hook::PreDelegation, "PreToolUse", agent),
        (Hook::Stop, "SubagentStop", sub),
        (Hook::Stop, "Stop", stop.clone()),
    ] {
        assert!(!twice(&talk, &lab, hook, event, fields), "{event}");
    }
    let n = lab.state("s1").n;
    talk.says("Stop", with(stop.clone(), json!({"stop_hook_active": true})));
    talk.says(
        "Stop",
        with(stop.clone(), json!({"last_assistant_message": "More."})),
    );
    talk.says("Stop", with(stop, json!({"prompt_id": "p2"})));
    assert_eq!(lab.state("s1").n, n + 3, "these are others");
}

#[test]
fn the_same_prompt_event_twice_gives_its_context_once() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Fix it");
    assert!(!talk.prompt("p2", "continue").context().is_empty());
    assert_eq!(talk.prompt("p2", "continue").stdout, "");
}

#[test]
fn an_event_without_an_id_is_known_by_its_bytes_if_they_hold_a_time() {
    let lab = Lab::new();
    let gemini = lab.gemini("g1");
    let tool = json!({"tool_name": "write_file", "tool_input": {"file_path": "a"}, "tool_response": {"llmContent": "ok"}});
    for (hook, event, fields) in [
        (Hook::SessionStart, "SessionStart", json!({"source": "startup"})),
        (Hook::TurnStart, "BeforeAgent", json!({"prompt": "Do it"})),
        (
            Hook::PreDelegation,
            "BeforeTool",
            json!({"tool_name": "invoke_agent", "tool_input": {"agent_name": "x", "prompt": "y"}}),
        ),
        (Hook::PostTool, "AfterTool", tool),
        (Hook::Stop, "PreCompress", json!({"trigger": "manual"})),
        (
            Hook::Stop,
            "AfterAgent",
            json!({"prompt": "Do it", "prompt_response": "Done.", "stop_hook_active": false}),
        ),
        (Hook::Stop, "SessionEnd", json!({"reason": "exit"})),
    ] {
        assert!(!twice(&gemini, &lab, hook, event, fields.clone()), "{event}");
        let n = lab.state("g1").n;
        gemini.says(event, fields);
        assert_eq!(lab.state("g1").n, n + 1, "{event}: at another time it is another");
    }
}

#[test]
fn two_compactions_are_two() {
    let lab = Lab::new();
    for talk in [lab.claude("s1"), lab.codex("c1")] {
        talk.prompt("p1", "Do it");
        let before = lab.state(&talk.session).n;
        for _ in 0..2 {
            assert!(twice(
                &talk,
                &lab,
                Hook::Stop,
                "PreCompact",
                json!({"trigger": "auto"})
            ));
            assert!(twice(
                &talk,
                &lab,
                Hook::SessionStart,
                "SessionStart",
                json!({"source": "compact"})
            ));
        }
        let state = lab.state(&talk.session);
        assert_eq!(state.n, before + 8, "{}", talk.host);
        assert_eq!(
            (
                state.events["PreCompact"].count,
                state.events["SessionStart"].count
            ),
            (4, 4)
        );
    }
}

#[test]
fn a_denial_is_repeated_to_its_double() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.delegate("p1", "c1");
    let mut entry = lab.entries("s1").last().unwrap().clone();
    entry.event.key = Some("PreToolUse:c2".to_owned());
    entry.answered = Answered {
        denied: Some(Redacted::new("Not in this phase")),
        ..Answered::default()
    };
    locked(&lab, "s1").append(entry, false).unwrap();
    let answer = talk.delegate("p1", "c2").json();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(
        answer["hookSpecificOutput"]["permissionDecisionReason"],
        "Not in this phase"
    );
    assert_eq!(talk.delegate("p1", "c1").stdout, "");
}

// Who is active

#[test]
fn active_agent_names_the_agent_that_works() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    let name = || std::fs::read_to_string(file(&lab, "s1", "active-agent")).ok();
    talk.prompt("p1", "Do it");
    assert_eq!(name(), None);
    talk.agent_starts("p1", "a1", "maestro:code-reviewer");
    assert_eq!(name().as_deref(), Some("code_reviewer"));
    talk.agent_starts("p1", "a2", "tester");
    assert_eq!(
        name().as_deref(),
        Some("tester"),
        "the newest of those in parallel"
    );
    talk.shell("p1", "c1", "ls");
    talk.agent_stops("p1", "a2", "tester");
    assert_eq!(name().as_deref(), Some("code_reviewer"));
    talk.agent_stops("p1", "a1", "maestro:code-reviewer");
    assert_eq!(name(), None);
    talk.agent_starts("p1", "a3", "coder");
    talk.stop("p1", "Done.");
    assert_eq!(name(), None, "nothing pins it");
}

#[test]
fn parallel_subagents_have_an_entry_each() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    std::thread::scope(|scope| {
        for i in 0..8 {
            let talk = &talk;
            scope.spawn(move || talk.agent_starts("p1", &format!("a{i}"), "coder"));
        }
    });
    assert_eq!(lab.state("s1").running().count(), 8);
    talk.agent_starts("p1", "a0", "coder");
    assert_eq!(lab.state("s1").running().count(), 8, "a start sent twice is one");
    talk.agent_stops("p1", "a3", "coder");
    talk.agent_stops("p1", "a-never-seen", "coder");
    talk.says(
        "SubagentStop",
        json!({"prompt_id": "p1", "agent_type": "", "stop_hook_active": false}),
    );
    assert_eq!(lab.state("s1").running().count(), 7);
}

// Places and names

#[test]
fn an_id_that_is_no_plain_name_gets_a_safe_directory() {
    let lab = Lab::new();
    let long = "x".repeat(4_096);
    for id in [
        "plain-1_A",
        "../../etc",
        "a.b",
        "a b",
        "line\nbreak",
        "é",
        &long,
        "/",
        "..",
    ] {
        let talk = lab.claude("s1");
        talk.says(
            "UserPromptSubmit",
            json!({"session_id": id, "prompt_id": "p1", "prompt": "Do it", "transcript_path": null}),
        );
        let key = SessionKey::of(id).unwrap();
        assert!(lab.is_live(key.as_str()), "{id:?}");
        assert!(key.as_str() == id || key.as_str().len() == 33);
    }
    assert_eq!(
        std::fs::read_dir(lab.hooks_dir())
            .unwrap()
            .filter(|e| e.as_ref().unwrap().path().is_dir())
            .count(),
        9
    );
    assert_eq!(lab.log_ids().len(), 9);
    let nothing = lab
        .claude("s1")
        .says("UserPromptSubmit", json!({"session_id": "", "prompt": "Do it"}));
    assert_eq!(nothing.stdout, "");
    assert_eq!(lab.log_ids().len(), 9, "no id: nothing is stored");
}

#[test]
fn a_root_in_use_is_recorded_also_when_the_data_directory_was_lost() {
    let lab = Lab::new();
    lab.claude("s1").prompt("p1", "Do it");
    lab.claude("s2").prompt("p1", "Do it");
    assert_eq!(lab.data().roots(), [lab.hooks_dir()], "once");
    assert_eq!(
        std::fs::read_to_string(lab.hooks_dir().join(".bookend")).unwrap(),
        "1\n"
    );
    std::fs::remove_dir_all(lab.data_dir()).unwrap();
    lab.claude("s3").prompt("p1", "Do it");
    assert_eq!(lab.data().roots(), [lab.hooks_dir()]);
    let other = lab.path("other-root");
    lab.claude("s4")
        .env("MAESTRO_HOOKS_DIR", other.to_str().unwrap())
        .prompt("p1", "Do it");
    assert_eq!(lab.data().roots(), [lab.hooks_dir(), other]);
}

#[test]
fn files_are_private() {
    let lab = Lab::new();
    eventful(&lab, "s1");
    for (path, mode) in [
        (lab.hooks_dir(), 0o700),
        (lab.hooks_dir().join("s1"), 0o700),
        (file(&lab, "s1", "events.jsonl"), 0o600),
        (file(&lab, "s1", "state.json"), 0o600),
        (lab.data_dir(), 0o700),
        (lab.data_dir().join("log"), 0o700),
        (lab.data_dir().join("open"), 0o700),
        (lab.data_dir().join("roots"), 0o600),
    ] {
        let is = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(is, mode, "{}", path.display());
    }
}

// What is known and told

#[test]
fn the_state_says_who_runs_the_session_and_where() {
    let lab = Lab::new();
    let host = Process::begin();
    let talk = lab
        .claude("s1")
        .run_by(&host)
        .env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    talk.start("startup");
    talk.prompt("p1", "Do it");
    talk.says("PostToolUse", json!({"cwd": "/elsewhere", "prompt_id": "p1", "tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": "cd /elsewhere"}, "tool_response": {}}));
    let state = lab.state("s1");
    assert_eq!(
        (state.session_id.as_str(), state.host, state.headless),
        ("s1", Some(Host::ClaudeCode), Some(true))
    );
    assert_eq!(state.cwd.as_ref().unwrap().as_str(), "/elsewhere");
    assert_eq!(
        state.project_root.as_ref().unwrap().as_str(),
        lab.project().to_str().unwrap()
    );
    assert_eq!(state.log.as_ref().unwrap().session, lab.log_of("s1").session_id);
    assert!(
        state.alive(bookend::clock::now())
            && state.ended.is_none()
            && state.started_at <= state.last_event_at
    );
    assert_eq!(state.events["PostToolUse"].count, 1);
    assert!(state.events["PostToolUse"].last_micros > 0);
    host.kill();
    assert!(!lab.state("s1").alive(bookend::clock::now()));
    talk.end("other");
    assert_eq!(lab.state("s1").ended.unwrap().reason.as_str(), "other");
}

#[test]
fn camel_case_is_what_a_checkpoint_is_spelled_in() {
    let lab = Lab::new();
    eventful(&lab, "s1");
    let state = checkpoint(&lab, "s1");
    for key in [
        "version",
        "sessionId",
        "host",
        "hostProcess",
        "headless",
        "cwd",
        "projectRoot",
        "startedAt",
        "lastEventAt",
        "ended",
        "source",
        "currentTask",
        "interruptedTask",
        "uiTodos",
        "rateLimit",
        "agents",
        "events",
        "aliases",
        "blocks",
        "notices",
    ] {
        assert!(state.get(key).is_some(), "{key}");
    }
    assert!(state["startedAt"].as_str().unwrap().ends_with('Z'), "UTC");
}

#[test]
fn a_fault_of_ours_leaves_the_host_alone_and_is_in_the_state() {
    let lab = Lab::new();
    let talk = lab.claude("s1").env("BOOKEND_DATA_DIR", "relative/data");
    let answer = talk.prompt("p1", "Do it");
    assert_eq!(answer.stdout, "");
    let state = lab.state("s1");
    assert!(
        state.faults.iter().any(|f| f.what.contains("relative path")),
        "{:?}",
        state.faults
    );
    assert!(
        state.current_task.is_some(),
        "the live state goes on without the log"
    );

    let lab = Lab::new();
    std::fs::create_dir(lab.hooks_dir()).unwrap();
    std::fs::set_permissions(lab.hooks_dir(), std::fs::Permissions::from_mode(0o777)).unwrap();
    lab.claude("s1").prompt("p1", "Do it");
    assert_eq!(
        std::fs::read_dir(lab.hooks_dir()).unwrap().count(),
        0,
        "a root that others may use is not used"
    );
    let fallback = lab.data_dir().join("hooks/s1/events.jsonl");
    let text = std::fs::read_to_string(fallback).unwrap();
    assert!(text.contains("others may use it: chmod 700"), "{text}");
    assert_eq!(lab.log_of("s1").turns.len(), 1);
}

#[test]
fn the_tools_of_a_host_are_told_of_the_log_session_where_it_lets_a_hook_do_so() {
    let lab = Lab::new();
    let dir = lab.path("session-env");
    std::fs::create_dir(&dir).unwrap();
    let file = dir.join("sessionstart-hook-0.sh");
    std::fs::write(&file, "export OTHER=1\n").unwrap();
    let talk = lab.claude("s1").env("CLAUDE_ENV_FILE", file.to_str().unwrap());
    talk.start("startup");
    talk.prompt("p1", "Go");
    let id = lab.log_ids()[0].to_string();
    let expected = format!("export OTHER=1\nexport BOOKEND_SESSION='{id}'\n");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    // Nowhere but in a file of the host's: no link, nothing that is missing, no other host's.
    let link = dir.join("link.sh");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for path in [
        link.to_str().unwrap(),
        "relative.sh",
        "/nowhere/at/all.sh",
        "/dev/stdout",
        "",
    ] {
        let answer = lab.claude("s1").env("CLAUDE_ENV_FILE", path).start("resume");
        assert!(!answer.stdout.contains("export"), "{path}: {answer:?}");
    }
    let codex = lab.codex("s2").env("CLAUDE_ENV_FILE", file.to_str().unwrap());
    codex.start("startup");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    assert!(!std::path::Path::new("relative.sh").exists());
}
