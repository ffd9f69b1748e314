//! Every interrupted session has a place to resume from: the table "Resume" of the design, through the real
//! executables.

mod endings;

use std::time::Duration;

use bookend::dispatch::settle;
use bookend::hook::Hook;
use bookend::hosts::Host;
use bookend::log::open::OpenEntry;
use bookend::task::resume::MAX_TAKEN_OVER;
use serde_json::{Value, json};

use crate::harness::{Answer, Lab};
use crate::talk::{Process, Talk, all, presumed, through_a_host_that_dies};
use chrono::Utc;

/// The lines of a context.
fn lines(answer: &Answer) -> Vec<String> {
    answer.context().lines().map(str::to_owned).collect()
}

fn first(answer: &Answer) -> String {
    lines(answer).into_iter().next().unwrap_or_default()
}

#[track_caller]
fn assert_none(answer: &Answer, what: &str) {
    let context = answer.context();
    assert!(
        context.starts_with("Session log: ") && context.lines().count() == 1,
        "{what}: only the session's log is told: {context}"
    );
}

/// A session of a host that is gone: its task was begun, a file was made, then it was killed.
fn crashed(lab: &Lab, session: &str) {
    let host = Process::begin();
    let talk = lab.claude(session).run_by(&host);
    talk.start("startup");
    talk.prompt("p1", "Fix the cart");
    talk.create("p1", "c1", "/w/cart.rs");
    talk.shell("p1", "c2", "cargo test");
    host.kill();
}

fn todo(talk: &Talk<'_>, id: &str, text: &str) {
    talk.tool(
        "p1",
        &format!("todo-{id}"),
        "TaskCreate",
        json!({"subject": text}),
        json!({"task": {"id": id}}),
    );
}

// The same conversation

#[test]
fn a_resumed_conversation_is_told_task_action_anchor_files_and_why() {
    let lab = Lab::new();
    crashed(&lab, "s1");
    let answer = lab.claude("s1").start("resume");
    let lines = lines(&answer);
    assert_eq!(lines[0], "Resuming: Fix the cart");
    assert_eq!(lines[1], "Last action: Ran cargo test");
    let text = answer.context();
    for part in [
        "Where: cargo test",
        "Files changed in that turn: /w/cart.rs",
        "Why it stopped: the host vanished",
        "Skip welcome menus; continue from cargo test",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let id = lab.log_of("s1").session_id;
    assert_eq!(lines.last().unwrap(), &format!("Session log: {id}"));
}

#[test]
fn the_brief_is_the_same_when_the_live_state_is_gone() {
    let lab = Lab::new();
    crashed(&lab, "s1");
    lab.reboot();
    let text = lab.claude("s1").start("resume").context();
    for part in [
        "Resuming: Fix the cart\n",
        "Last action: Ran cargo test\n",
        "Files changed in that turn: /w/cart.rs",
        "Why it stopped: the host vanished",
        "continue from cargo test",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_conversation_that_met_a_limit_is_told_so_and_when() {
    for reboot in [false, true] {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", "Fix the cart");
        talk.model_fails("p1", "rate_limit", "API Error: 429");
        talk.end("other");
        if reboot {
            lab.reboot();
        }
        let text = talk.start("resume").context();
        assert!(text.starts_with("Resuming: Fix the cart\n"), "{text}");
        assert!(
            text.contains("Why it stopped: the model provider limited requests"),
            "{text}"
        );
        assert!(text.contains("Rate limit: met "), "reboot {reboot}: {text}");
    }
}

#[test]
fn a_fork_is_told_of_the_newest_conversation_of_its_host_and_project() {
    let lab = Lab::new();
    lab.claude("s0").prompt("p1", "An older one");
    std::thread::sleep(Duration::from_millis(5));
    lab.claude("s1").prompt("p1", "Fix the cart");
    std::thread::sleep(Duration::from_millis(5));
    lab.codex("c1").prompt("t1", "Another host's");
    lab.claude("s3")
        .project("elsewhere")
        .prompt("p1", "Another project's");
    let fork = lab.claude("s2");
    let answer = fork.start("fork");
    assert_eq!(first(&answer), "Resuming: Fix the cart");
    assert!(
        !answer.context().contains("left unfinished"),
        "it is the same conversation"
    );
    assert_eq!(
        lab.state("s2").current_task.unwrap().description.as_str(),
        "Fix the cart"
    );
    assert_eq!(
        lab.open_entries().len(),
        5,
        "the one that it was forked from goes on"
    );
    assert_eq!(lab.log_of("s1").notes, []);
}

#[test]
fn every_compaction_gets_its_own_brief() {
    for talk in [Lab::new(), Lab::new()]
        .iter()
        .zip(["claude", "codex"])
        .map(|(lab, host)| {
            if host == "claude" {
                lab.claude("x1")
            } else {
                lab.codex("x1")
            }
        })
    {
        talk.prompt("p1", "Fix the cart");
        talk.create("p1", "c1", "/w/cart.rs");
        for _ in 0..3 {
            talk.says("PreCompact", json!({"trigger": "auto"}));
            let answer = talk.start("compact");
            assert_eq!(first(&answer), "Resuming: Fix the cart", "{}", talk.host);
            assert!(answer.context().contains("Last action: Created /w/cart.rs"));
            assert!(
                !answer.context().contains("Why it stopped"),
                "it has not: {}",
                answer.context()
            );
        }
        talk.stop("p1", "Done.");
        assert_none(&talk.start("compact"), "nothing is open");
    }
}

#[test]
fn a_compaction_leaves_the_turn_open() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Fix the cart");
    talk.says("PreCompact", json!({"prompt_id": "p1", "trigger": "manual"}));
    talk.says(
        "SubagentStop",
        json!({"prompt_id": "p1", "agent_type": "", "stop_hook_active": false}),
    );
    talk.start("compact");
    talk.stop("p1", "Fixed.");
    assert_eq!(all(&lab.log_of("s1")), [crate::talk::DONE]);
}

#[test]
fn gemini_is_told_with_the_next_prompt_after_each_compaction() {
    let lab = Lab::new();
    let talk = lab.gemini("g1");
    talk.prompt("", "Plan it");
    let list = json!({"todos": [{"description": "first", "status": "in_progress"}, {"description": "second", "status": "completed"}]});
    talk.tool("", "", "write_todos", list, json!({"llmContent": "ok"}));
    talk.stop("", "Planned.");
    talk.says("PreCompress", json!({"trigger": "auto"}));
    assert_eq!(
        talk.prompt("", "one").context(),
        "",
        "that fires before every model turn"
    );
    talk.stop("", "One.");
    for n in 0..2 {
        talk.says("PreCompress", json!({"trigger": "manual"}));
        let text = talk.prompt("", &format!("next {n}")).context();
        assert!(text.contains("Open todos:\n- [in progress] first\n"), "{text}");
        assert!(!text.contains("second") && text.contains("write_todos"), "{text}");
        talk.stop("", "Next.");
        assert_eq!(talk.prompt("", &format!("and then {n}")).context(), "", "once");
        talk.stop("", "Then.");
    }
}

#[test]
fn a_task_that_was_left_for_another_is_not_resumed_when_that_one_is_done() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Rewrite it in COBOL");
    talk.prompt("p2", "No! In Rust"); // after Esc
    talk.stop("p2", "It is in Rust.");
    assert_none(&talk.start("compact"), "the user has said no");
    talk.end("other");
    assert_none(&talk.start("resume"), "the user has said no");
}

// A new conversation

#[test]
fn a_new_session_is_told_of_the_unfinished_task_once() {
    let lab = Lab::new();
    crashed(&lab, "s1");
    let answer = lab.claude("s2").start("startup");
    let text = answer.context();
    assert_eq!(first(&answer), "Resuming: Fix the cart");
    assert!(
        text.contains("This task was left unfinished by an earlier Claude Code session"),
        "{text}"
    );
    assert!(
        text.contains("Files changed in that turn: /w/cart.rs") && text.contains("the host vanished"),
        "{text}"
    );
    let own = lab.claude("s2");
    own.prompt("p1", "yes, go ahead");
    let id = &lab.log_of("s2").session_id;
    assert_eq!(text.lines().last(), Some(format!("Session log: {id}").as_str()));
    let old = lab.log_of("s1");
    assert_eq!(all(&old), [presumed("host_gone")]);
    assert!(
        old.notes[0].contains(id.as_str()),
        "marked as taken over: {:?}",
        old.notes
    );
    assert!(old.task.is_none());
    assert_none(&lab.claude("s3").start("startup"), "it is said once");
    let lab = Lab::new();
    crashed(&lab, "s1");
    lab.reboot();
    assert_eq!(
        first(&lab.claude("s2").start("startup")),
        "Resuming: Fix the cart"
    );
}

#[test]
fn a_task_taken_over_is_the_new_sessions_own() {
    let lab = Lab::new();
    crashed(&lab, "s1");
    let talk = lab.claude("s2");
    talk.start("startup");
    let task = lab.state("s2").current_task.unwrap();
    assert_eq!(
        (task.description.as_str(), task.last_action.as_str()),
        ("Fix the cart", "Ran cargo test")
    );
    assert_eq!(
        lab.open_entries()
            .iter()
            .map(|e| e.session_key.as_str())
            .collect::<Vec<_>>(),
        ["s2"]
    );
    talk.prompt("p1", "continue");
    assert_eq!(
        lab.state("s2").current_task.unwrap().description.as_str(),
        "Fix the cart"
    );
    talk.stop("p1", "Fixed.");
    assert!(lab.state("s2").current_task.is_none());
    assert!(lab.open_entries().is_empty());
}

#[test]
fn a_settlement_that_comes_late_brings_nothing_back_that_was_taken_over() {
    let lab = Lab::new();
    let host = Process::begin();
    let talk = lab.claude("s1").run_by(&host);
    talk.prompt("p1", "Fix the cart");
    todo(&talk, "1", "Write the test");
    host.kill();
    // A command looks at the entries, a session starts and takes over, and the command goes on.
    let seen = lab.open_entries();
    assert_eq!((seen.len(), seen[0].settled), (1, false));
    lab.claude("s2").start("startup");
    let late = settle::presume(&lab.data(), &seen[0], "host_gone", Utc::now()).unwrap();
    assert!(!late, "its turn has its end");
    let keys: Vec<String> = lab.open_entries().into_iter().map(|e| e.session_key).collect();
    assert_eq!(keys, ["s2"]);
}

#[test]
fn a_task_taken_over_and_lost_again_is_offered_again() {
    let lab = Lab::new();
    crashed(&lab, "s1");
    let host = Process::begin();
    lab.claude("s2").run_by(&host).start("startup");
    host.kill();
    assert_eq!(
        first(&lab.claude("s3").start("startup")),
        "Resuming: Fix the cart"
    );
}

#[test]
fn a_task_of_claude_code_is_resumed_by_codex_and_by_gemini() {
    for host in [Host::Codex, Host::GeminiCli] {
        let lab = Lab::new();
        crashed(&lab, "s1");
        let answer = lab.talk(host, "x1").start("startup");
        assert_eq!(first(&answer), "Resuming: Fix the cart", "{host}");
        assert!(answer.context().contains("an earlier Claude Code session"));
    }
}

#[test]
fn another_project_and_a_live_session_are_left_alone() {
    let lab = Lab::new();
    crashed(&lab, "s1");
    assert_none(
        &lab.claude("s2").project("elsewhere").start("startup"),
        "another project",
    );
    let live = lab.claude("s3");
    live.start("startup"); // takes s1's
    live.prompt("p1", "My own");
    let second = lab.claude("s4");
    assert_none(&second.start("startup"), "a live one");
    second.prompt("p1", "Mine");
    let third = lab.codex("c1");
    assert_none(&third.start("startup"), "two live ones");
    assert_eq!(all(&lab.log_of("s3")), [crate::talk::OPEN]);
    assert_eq!(all(&lab.log_of("s4")), [crate::talk::OPEN]);
}

#[test]
fn a_session_that_goes_on_after_its_end_is_live() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Fix the cart");
    talk.end("other");
    talk.create("p1", "c1", "/w/a.rs"); // a subagent in the background went on
    assert_none(&lab.claude("s2").start("startup"), "it is not over");
}

#[test]
fn a_session_that_ended_with_its_task_open_is_offered_at_once() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Fix the cart");
    talk.end("prompt_input_exit");
    let answer = lab.claude("s2").start("startup");
    assert_eq!(first(&answer), "Resuming: Fix the cart");
    assert!(answer.context().contains("Why it stopped: the session ended"));
}

#[test]
fn a_finished_session_leaves_nothing_to_say() {
    let lab = Lab::new();
    let host = Process::begin();
    let talk = lab.claude("s1").run_by(&host);
    talk.prompt("p1", "Do it");
    talk.stop("p1", "Done.");
    host.kill();
    assert_none(&talk.start("resume"), "resume");
    assert_none(&lab.claude("s2").start("startup"), "startup");
    assert_none(&lab.claude("s3").start("fork"), "fork");
    assert_none(&lab.claude("s4").start("clear"), "clear");
    assert_none(&lab.claude("s4").start("compact"), "compact");
}

#[test]
fn a_clear_wants_a_clean_start() {
    let lab = Lab::new();
    let host = Process::begin();
    let talk = lab.claude("s1").run_by(&host);
    talk.prompt("p1", "Fix the cart");
    // Claude Code gives the conversation a new id; the end of the old one may be lost.
    let answer = lab.claude("s2").run_by(&host).start("clear");
    assert_none(&answer, "clear");
    assert_eq!(all(&lab.log_of("s1")), [presumed("session_ended")]);
    assert!(lab.open_entries().is_empty());
    host.kill();
    assert_none(&lab.claude("s3").start("startup"), "nobody wants it back");
}

#[test]
fn open_todos_alone_make_a_brief_without_the_first_line() {
    let lab = Lab::new();
    let host = Process::begin();
    let talk = lab.claude("s1").run_by(&host);
    talk.prompt("p1", "Plan it");
    todo(&talk, "1", "Write the test");
    todo(&talk, "2", "Fix the bug");
    talk.tool(
        "p1",
        "c9",
        "TaskUpdate",
        json!({"taskId": "1", "status": "completed"}),
        json!({"success": true}),
    );
    talk.stop("p1", "Planned.");
    let own = [
        ("compact", talk.start("compact")),
        ("resume", talk.start("resume")),
    ];
    host.kill();
    for (what, answer) in own
        .into_iter()
        .chain([("startup", lab.claude("s2").start("startup"))])
    {
        let text = answer.context();
        assert!(
            !text.contains("Resuming:") && !text.contains("Write the test"),
            "{what}: {text}"
        );
        assert!(text.contains("- [pending] Fix the bug"), "{what}: {text}");
        // Claude Code keeps them where the conversation goes on, and would double them.
        let gone = if what == "startup" {
            ""
        } else {
            ", if they are not there any more"
        };
        let restore = format!("Restore these todos with TaskCreate{gone}; at most one in progress");
        assert!(text.contains(&restore), "{what}: {text}");
    }
    assert_eq!(
        lab.state("s2").ui_todos.unwrap().items.len(),
        2,
        "they are the new session's now"
    );
}

// Who gets one

#[test]
fn a_person_chooses_who_gets_a_brief() {
    for (choice, headless, startup, resume) in [
        ("", false, true, true),
        ("", true, false, true),
        ("auto", false, true, true),
        ("auto", true, false, true),
        ("always", false, true, true),
        ("always", true, true, true),
        ("off", false, false, false),
        ("off", true, false, false),
        ("nonsense", true, false, true),
    ] {
        let lab = Lab::new();
        crashed(&lab, "s1");
        let entrypoint = if headless { "sdk-cli" } else { "cli" };
        let talk = |id: &str| {
            lab.claude(id)
                .env("BOOKEND_RESUME", choice)
                .env("CLAUDE_CODE_ENTRYPOINT", entrypoint)
        };
        let answer = talk("s2").start("startup");
        let what = format!("{choice:?} headless {headless}: {}", answer.context());
        assert_eq!(answer.context().starts_with("Resuming: "), startup, "{what}");
        assert!(answer.context().contains("Session log: "), "{what}");
        let taken = lab.open_entries().iter().all(|e| e.session_key != "s1");
        assert_eq!(taken, startup, "{what}: who is not told takes nothing over");
        if !startup {
            let answer = talk("s1").start("resume");
            assert_eq!(answer.context().starts_with("Resuming: "), resume, "{what}");
            let answer = talk("s1").start("compact");
            assert_eq!(answer.context().starts_with("Resuming: "), resume, "{what}");
        }
    }
}

#[test]
fn an_old_task_is_offered_for_three_days_or_as_many_as_are_wished() {
    for (days, age_hours, offered) in [
        ("", 71, true),
        ("", 73, false),
        ("7", 24 * 7 - 1, true),
        ("7", 24 * 7 + 1, false),
        ("0", 1, false),
        ("x", 71, true),
        ("4000000000", 24 * 365, true),
    ] {
        let lab = Lab::new();
        crashed(&lab, "s1");
        lab.reboot(); // unknown is not dead: then the age of the last record counts
        let [entry] = &lab.open_entries()[..] else {
            panic!("one is open")
        };
        let since = entry.since - chrono::TimeDelta::hours(age_hours);
        lab.data()
            .set_open(&OpenEntry {
                since,
                ..entry.clone()
            })
            .unwrap();
        let answer = lab.claude("s2").env("BOOKEND_RESUME_DAYS", days).start("startup");
        assert_eq!(
            answer.context().starts_with("Resuming: "),
            offered,
            "{days:?} after {age_hours} h: {answer:?}"
        );
        assert!(answer.context().contains("Session log: "), "{days:?}: {answer:?}");
        assert!(lab.faults().is_empty(), "{:?}", lab.faults());
    }
}

#[test]
fn a_session_that_has_its_own_turn_is_not_given_anothers_task() {
    let lab = Lab::new();
    crashed(&lab, "s1");
    let talk = lab.claude("s2");
    talk.prompt("p1", "Something else");
    assert_none(&talk.start("startup"), "the prompt was faster");
    assert_eq!(
        lab.state("s2").current_task.unwrap().description.as_str(),
        "Something else"
    );
    assert!(
        lab.open_entries().iter().any(|e| e.session_key == "s1"),
        "it is kept for another"
    );
}

#[test]
fn an_entry_too_old_for_anybody_is_forgotten_and_its_own_conversation_still_resumes() {
    for (days, age_days, kept) in [
        ("", 29, true),
        ("", 31, false),
        ("60", 31, true),
        ("60", 61, false),
        ("4000000000", 900, true),
    ] {
        let lab = Lab::new();
        crashed(&lab, "s1");
        let live = lab.claude("s2");
        live.prompt("p1", "My own");
        lab.claude("s3").project("elsewhere").start("startup"); // settles s1's
        for entry in lab.open_entries() {
            let since = entry.since - chrono::TimeDelta::days(age_days);
            lab.data().set_open(&OpenEntry { since, ..entry }).unwrap();
        }
        lab.claude("s4")
            .project("elsewhere")
            .env("BOOKEND_RESUME_DAYS", days)
            .start("startup");
        let left: Vec<String> = lab.open_entries().into_iter().map(|e| e.session_key).collect();
        assert_eq!(
            left.contains(&"s1".to_owned()),
            kept,
            "{days:?} after {age_days} days"
        );
        assert!(left.contains(&"s2".to_owned()), "what is not settled stays");
        assert_eq!(first(&lab.claude("s1").start("resume")), "Resuming: Fix the cart");
    }
}

// A prompt that goes on

#[test]
fn continue_after_an_interruption_gets_the_brief_and_a_correction_gets_none() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Fix the cart");
    talk.create("p1", "c1", "/w/cart.rs");
    let text = talk.prompt("p2", "continue").context(); // after Esc
    assert!(
        text.starts_with("Resuming: Fix the cart\nLast action: Created /w/cart.rs\n"),
        "{text}"
    );
    assert!(text.contains("Files changed in that turn: /w/cart.rs"), "{text}");
    assert!(text.contains("Why it stopped: it was interrupted"), "{text}");
    assert_eq!(
        talk.prompt("p3", "No, fix the list").context(),
        "",
        "a correction is not argued with"
    );
    talk.stop("p3", "Fixed.");
    assert_eq!(
        talk.prompt("p4", "continue").context(),
        "",
        "nothing was interrupted"
    );
    let codex = lab.codex("c1");
    codex.prompt("t1", "Fix the cart");
    codex.says("Interrupt", json!({"turn_id": "t1"}));
    assert!(
        codex
            .prompt("t2", "go on")
            .context()
            .starts_with("Resuming: Fix the cart\n")
    );
}

#[test]
fn continue_after_a_limit_gets_the_brief() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Fix the cart");
    talk.model_fails("p1", "rate_limit", "429");
    let text = talk.prompt("p2", "continue").context();
    assert!(text.starts_with("Resuming: Fix the cart\n"), "{text}");
    assert!(
        text.contains("the model provider limited requests") && text.contains("Rate limit: met "),
        "{text}"
    );
}

#[test]
fn continue_right_after_a_resume_that_told_the_brief_does_not_tell_it_again() {
    let lab = Lab::new();
    for talk in [lab.claude("s1"), lab.codex("c1")] {
        talk.prompt("p1", "Fix the cart");
        talk.end("other");
        assert_eq!(first(&talk.start("resume")), "Resuming: Fix the cart");
        assert_eq!(talk.prompt("p2", "continue").context(), "");
        talk.end("other");
        // Not told at the start: told at the prompt.
        assert_none(&talk.env("BOOKEND_RESUME", "off").start("resume"), "off");
        assert_eq!(first(&talk.prompt("p3", "continue")), "Resuming: Fix the cart");
    }
}

#[test]
fn continue_is_no_brief_for_another_session() {
    let lab = Lab::new();
    crashed(&lab, "s1");
    assert_eq!(lab.claude("s2").prompt("p1", "continue").context(), "");
    let off = lab.claude("s3").env("BOOKEND_RESUME", "off");
    off.prompt("p1", "Fix the cart");
    assert_eq!(off.prompt("p2", "continue").context(), "", "nobody gets one");
}

// Sizes

#[test]
fn a_brief_is_never_longer_than_2000_characters_and_anothers_task_than_600() {
    let lab = Lab::new();
    let host = Process::begin();
    let talk = lab.claude("s1").run_by(&host);
    talk.prompt("p1", &"Füge Preise hinzu ".repeat(100));
    for i in 0..12 {
        talk.create("p1", &format!("c{i}"), &format!("/w/{}/{i}.rs", "ä".repeat(180)));
    }
    for i in 0..60 {
        todo(&talk, &i.to_string(), &format!("{i} {}", "ü".repeat(200)));
    }
    let own = talk.start("compact").context();
    host.kill();
    let other = lab.claude("s2").start("startup").context();
    for text in [&own, &other] {
        assert!(text.chars().count() <= 2_000, "{}", text.chars().count());
        assert!(text.starts_with("Resuming: Füge Preise hinzu"), "{text}");
        assert!(text.contains("Open todos:") && text.contains(" more"), "{text}");
        assert!(text.contains("Restore these todos with TaskCreate"), "{text}");
        assert!(text.contains("Skip welcome menus; continue from "), "{text}");
        assert!(
            text.lines()
                .last()
                .unwrap()
                .starts_with("Session log: ClaudeCode-"),
            "{text}"
        );
    }
    let task = other.split("\nOpen todos:").next().unwrap();
    assert!(task.chars().count() <= MAX_TAKEN_OVER, "{}", task.chars().count());
}

#[test]
fn the_session_log_is_told_at_every_start_and_is_where_the_turns_go() {
    for host in Host::ALL {
        for source in [
            "startup",
            "resume",
            "compact",
            "clear",
            "fork",
            "a word of tomorrow",
        ] {
            let lab = Lab::new();
            let talk = lab.talk(host, "x1");
            let told = talk.start(source).context();
            talk.prompt("p1", "Do it");
            let id = lab.log_of("x1").session_id;
            assert_eq!(told, format!("Session log: {id}"), "{host} {source}");
        }
    }
}

#[test]
fn a_description_stands_on_one_line_whatever_it_holds() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Fix: \"the\" #cart 'and' \\n {json}\nsecond");
    let answer = talk.start("compact");
    assert_eq!(first(&answer), "Resuming: Fix: \"the\" #cart 'and' \\n {json}");
    let document: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(document["hookSpecificOutput"]["hookEventName"], "SessionStart");
}

// What was told and left

/// A session that took the task over, in which `does` happened, and that is gone.
fn took_over(lab: &Lab, does: impl Fn(&Talk<'_>)) {
    crashed(lab, "s1");
    let host = Process::begin();
    let talk = lab.claude("s2").run_by(&host);
    assert_eq!(first(&talk.start("startup")), "Resuming: Fix the cart");
    does(&talk);
    talk.end("prompt_input_exit");
    host.kill();
}

#[test]
fn a_task_taken_over_is_offered_again_until_somebody_has_worked_on_it() {
    type Does = fn(&Talk<'_>);
    let table: [(&str, Does, bool); 6] = [
        ("nothing", |_| (), true),
        (
            "a question",
            |t| {
                t.prompt("p1", "What time is it?");
                t.shell("p1", "c1", "date");
                t.stop("p1", "Noon.");
            },
            true,
        ),
        (
            "two questions",
            |t| {
                t.prompt("p1", "What time is it?");
                t.stop("p1", "Noon.");
                t.prompt("p2", "And now?");
                t.stop("p2", "Noon.");
            },
            true,
        ),
        (
            "the task in other words",
            |t| {
                t.prompt("p1", "Yes, do that");
                t.create("p1", "c1", "/w/cart.rs");
                t.stop("p1", "Fixed.");
            },
            false,
        ),
        (
            "the task itself",
            |t| {
                t.prompt("p1", "continue");
                t.stop("p1", "It was fixed already.");
            },
            false,
        ),
        ("a clear", |t| drop(t.end("clear")), false),
    ];
    for (what, does, offered) in table {
        for reboot in [false, true] {
            let lab = Lab::new();
            took_over(&lab, does);
            if reboot {
                lab.reboot();
            }
            let answer = lab.claude("s3").start("startup");
            let told = answer.context().starts_with("Resuming: Fix the cart\n");
            assert_eq!(told, offered, "{what}, reboot {reboot}: {answer:?}");
            if told {
                assert_none(&lab.claude("s4").start("startup"), "s3 has it");
                assert!(lab.log_of("s2").interrupted.is_none() && lab.log_of("s2").task.is_none());
            }
        }
    }
}

#[test]
fn sessions_that_start_at_once_do_not_all_take_the_task_over() {
    for _ in 0..5 {
        let lab = Lab::new();
        crashed(&lab, "s1");
        let told: Vec<bool> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8)
                .map(|n| {
                    let talk = lab.claude(&format!("new-{n}"));
                    scope.spawn(move || first(&talk.start("startup")) == "Resuming: Fix the cart")
                })
                .collect();
            starts.into_iter().map(|s| s.join().unwrap()).collect()
        });
        assert_eq!(told.iter().filter(|t| **t).count(), 1, "{told:?}");
        assert_eq!(lab.log_of("s1").notes.len(), 1, "taken over once");
    }
}

#[test]
fn a_clear_ends_the_conversation_that_was_cleared_and_no_other_of_its_process() {
    // Claude Code: one that was left for another before keeps its task.
    let lab = Lab::new();
    let host = Process::begin();
    let left = lab.claude("left").run_by(&host);
    left.prompt("p1", "Fix the cart");
    left.end("resume");
    lab.claude("cleared").run_by(&host).prompt("p1", "Try something");
    lab.claude("new").run_by(&host).start("clear");
    assert_eq!(all(&lab.log_of("cleared")), [presumed("session_ended")]);
    host.kill();
    assert_eq!(
        first(&lab.claude("s2").start("startup")),
        "Resuming: Fix the cart"
    );

    // A Codex server: any number of threads in one process, and nobody says which was cleared.
    let lab = Lab::new();
    for thread in ["one", "two"] {
        lab.codex(thread).prompt("t1", "Fix the cart");
    }
    lab.codex("new").start("clear");
    for thread in ["one", "two"] {
        assert_eq!(all(&lab.log_of(thread)), [crate::talk::OPEN]);
    }

    // Codex at a terminal: the newest of its process.
    let lab = Lab::new();
    let (old, new) = (lab.codex("old"), lab.codex("new"));
    let events = [
        (
            Hook::SessionStart,
            old.bytes("SessionStart", json!({"source": "startup"})),
        ),
        (
            Hook::TurnStart,
            old.bytes(
                "UserPromptSubmit",
                json!({"prompt": "Fix the cart", "turn_id": "t1"}),
            ),
        ),
        (
            Hook::SessionStart,
            new.bytes("SessionStart", json!({"source": "clear"})),
        ),
    ];
    through_a_host_that_dies(&lab, "codex", &events);
    assert_eq!(all(&lab.log_of("old")), [presumed("session_ended")]);
    assert_none(&lab.codex("next").start("startup"), "nobody wants it back");
}
