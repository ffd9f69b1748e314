//! Every kind of ending, and what it leaves to resume from: what `bookend resume` says afterwards, what the
//! next session's hook says (the same), and what the conversation itself is told when it goes on.
//! `cargo test --test integration endings -- --nocapture` prints the texts.

use bookend::hosts::Host;
use serde_json::{Value, json};

use super::{lines, todo};
use crate::harness::{Answer, Lab};
use crate::talk::{Process, Talk};

/// One ending.
struct Row {
    name: &'static str,
    host: Host,
    /// What happens after a prompt, a new file and two todos; the host's process, if it lives on.
    ends: fn(&Lab, &Talk<'_>, Process) -> Option<Process>,
    /// What the next session is told of why, or why it is told nothing.
    told: Result<&'static str, &'static str>,
    /// The event by which the conversation itself goes on, if it may, and what it is told of why.
    own: Option<(Goes, &'static str)>,
}

#[derive(Clone, Copy)]
enum Goes {
    /// A prompt that says so, in the same process.
    Continue,
    /// The host is started with `--resume`.
    Resume,
    /// The context was compacted.
    Compact,
}

fn rows() -> Vec<Row> {
    let claude = |name, ends, told, own| Row {
        name,
        host: Host::ClaudeCode,
        ends,
        told,
        own,
    };
    vec![
        claude(
            "stop: the turn is done, and so are the todos",
            |_, talk, host| {
                for (call, id) in [("u1", "1"), ("u2", "2")] {
                    let done = json!({"taskId": id, "status": "completed"});
                    talk.tool("p1", call, "TaskUpdate", done, json!({"success": true}));
                }
                talk.stop("p1", "Fixed.");
                talk.end("prompt_input_exit");
                host.kill();
                None
            },
            Err("no session of this project is unfinished"),
            None,
        ),
        claude(
            "stop with open todos",
            |_, talk, host| {
                talk.stop("p1", "Half of it.");
                talk.end("prompt_input_exit");
                host.kill();
                None
            },
            Ok(""),
            Some((Goes::Resume, "")),
        ),
        claude(
            "Esc: no event at all, and the host goes on",
            |_, _, host| Some(host),
            Err("none is offered"),
            Some((Goes::Continue, "it was interrupted")),
        ),
        claude(
            "Esc, then the host is quit",
            |_, talk, host| {
                talk.end("prompt_input_exit");
                host.kill();
                None
            },
            Ok("the session ended"),
            Some((Goes::Resume, "the session ended")),
        ),
        claude(
            "kill",
            |_, _, host| {
                host.kill();
                None
            },
            Ok("the host vanished (crash, kill or reboot)"),
            Some((Goes::Resume, "the host vanished (crash, kill or reboot)")),
        ),
        claude(
            "429, then the host is quit",
            |_, talk, host| {
                talk.model_fails("p1", "rate_limit", "API Error: Request rejected (429)");
                talk.end("prompt_input_exit");
                host.kill();
                None
            },
            Ok("the model provider limited requests"),
            Some((Goes::Resume, "the model provider limited requests")),
        ),
        claude(
            "compaction",
            |_, talk, host| {
                talk.says("PreCompact", json!({"prompt_id": "p1", "trigger": "auto"}));
                Some(host)
            },
            Err("none is offered"),
            Some((Goes::Compact, "")),
        ),
        claude(
            "/clear",
            |lab, talk, host| {
                talk.end("clear");
                lab.claude("cleared").run_by(&host).start("clear");
                host.kill();
                None
            },
            Err("no session of this project is unfinished"),
            None,
        ),
        claude(
            "/clear whose session end was lost",
            |lab, _, host| {
                lab.claude("cleared").run_by(&host).start("clear");
                host.kill();
                None
            },
            Err("no session of this project is unfinished"),
            None,
        ),
        claude(
            "reboot: the hook root is gone",
            |lab, _, host| {
                host.kill();
                lab.reboot();
                None
            },
            Ok("the host vanished (crash, kill or reboot)"),
            Some((Goes::Resume, "the host vanished (crash, kill or reboot)")),
        ),
        Row {
            name: "interrupt (Codex)",
            host: Host::Codex,
            ends: |_, talk, _| {
                talk.says("Interrupt", json!({"turn_id": "p1"}));
                talk.end("other");
                None
            },
            told: Ok("it was interrupted"),
            own: Some((Goes::Resume, "it was interrupted")),
        },
        Row {
            name: "a limit of which no hook hears (Codex)",
            host: Host::Codex,
            ends: |_, talk, _| {
                talk.end("other");
                None
            },
            told: Ok("the session ended"),
            own: Some((Goes::Resume, "the session ended")),
        },
    ]
}

/// A machine after that ending, and the host's process, if it lives on.
fn ended(row: &Row) -> (Lab, Option<Process>) {
    let lab = Lab::new();
    let host = Process::begin();
    let talk = lab.talk(row.host, "s1").run_by(&host);
    talk.start("startup");
    talk.prompt("p1", "Fix the cart");
    if row.host == Host::ClaudeCode {
        todo(&talk, "1", "Write the test");
        todo(&talk, "2", "Fix the bug");
    } else {
        let plan = json!({"plan": [{"step": "Write the test", "status": "pending"}, {"step": "Fix the bug", "status": "pending"}]});
        talk.tool("p1", "t1", "update_plan", plan, json!("Plan updated"));
    }
    talk.create("p1", "c1", "/w/cart.rs");
    let host = (row.ends)(&lab, &talk, host);
    (lab, host)
}

fn resume(lab: &Lab) -> (String, Value) {
    let text = lab.bookend(&["resume"]);
    let document = lab.bookend(&["resume", "--json"]);
    for answer in [&text, &document] {
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    }
    (text.stdout, document.json())
}

/// A brief without its ages, which go on.
fn timeless(brief: &str) -> Vec<String> {
    let ages = |line: &str| {
        line.split(" ago")
            .next()
            .map(|l| l.trim_end_matches(|c: char| !c.is_alphabetic()).to_owned())
    };
    brief
        .lines()
        .filter(|l| !l.starts_with("Session log: "))
        .filter_map(|l| {
            if l.contains(" ago") {
                ages(l.rsplit_once(' ').map_or(l, |(a, _)| a))
            } else {
                Some(l.to_owned())
            }
        })
        .collect()
}

#[track_caller]
fn assert_brief(answer: &str, row: &Row, why: &str) {
    let has_task = row.name != "stop with open todos";
    assert_eq!(
        answer.starts_with("Resuming: Fix the cart\nLast action: Created /w/cart.rs\n"),
        has_task,
        "{}: {answer}",
        row.name
    );
    for part in [
        "- [pending] Write the test",
        "- [pending] Fix the bug",
        "Restore these todos with ",
    ] {
        assert!(answer.contains(part), "{}: {part}: {answer}", row.name);
    }
    assert_eq!(
        answer.contains("Skip welcome menus; continue from /w/cart.rs"),
        has_task,
        "{answer}"
    );
    let said = answer.lines().find_map(|l| l.strip_prefix("Why it stopped: "));
    let said = said.map(|s| s.rsplit_once(", ").map_or(s, |(s, _)| s));
    assert_eq!(said.unwrap_or_default(), why, "{}: {answer}", row.name);
    assert_eq!(
        answer.contains("\nRate limit: met "),
        why.contains("limited requests"),
        "{answer}"
    );
}

#[test]
fn after_each_ending_resume_says_what_the_next_session_is_told() {
    for row in rows() {
        let (lab, _host) = ended(&row);
        let (text, document) = resume(&lab);
        println!("=== {}\n{text}", row.name);
        let told = lab.talk(row.host, "s2").start("startup").context();
        match row.told {
            Ok(why) => {
                let brief = document["brief"]
                    .as_str()
                    .unwrap_or_else(|| panic!("{}: {document:#}", row.name));
                assert_brief(brief, &row, why);
                assert_eq!(timeless(&told), timeless(brief), "{}", row.name);
                assert!(
                    text.contains("Session log: <its own id>") && text.contains("chosen"),
                    "{text}"
                );
                let (_, again) = resume(&lab);
                assert_eq!(
                    again["brief"],
                    Value::Null,
                    "{}: it is taken over: {again:#}",
                    row.name
                );
            }
            Err(why) => {
                assert_eq!(document["brief"], Value::Null, "{}: {document:#}", row.name);
                assert!(text.contains(why), "{}: {text}", row.name);
                assert!(told.starts_with("Session log: "), "{}: {told}", row.name);
            }
        }
    }
}

#[test]
fn after_each_ending_the_conversation_itself_is_told_when_it_goes_on() {
    for row in rows() {
        let (lab, _host) = ended(&row);
        let talk = lab.talk(row.host, "s1");
        let Some((goes, why)) = row.own else {
            let answer = talk.start("resume");
            assert_eq!(lines(&answer).len(), 1, "{}: {answer:?}", row.name);
            let said = lab.bookend(&["resume", "s1"]).stdout;
            assert!(
                said.contains("neither a task nor an open todo is left of it"),
                "{}: {said}",
                row.name
            );
            continue;
        };
        let go = |goes| -> Answer {
            match goes {
                Goes::Continue => talk.prompt("p2", "continue"),
                Goes::Resume => talk.start("resume"),
                Goes::Compact => talk.start("compact"),
            }
        };
        if matches!(goes, Goes::Resume) {
            let said = lab.bookend(&["resume", "s1", "--json"]).json();
            assert_eq!(said["session"], "s1", "{said:#}");
            assert_brief(said["brief"].as_str().unwrap_or_default(), &row, why);
            let text = lab.bookend(&["resume", "s1"]).stdout;
            assert!(
                text.contains("the session s1 of it, would be told, if it went on now:"),
                "{text}"
            );
        }
        let answer = go(goes).context();
        println!("=== {}\n{answer}\n", row.name);
        assert_brief(&answer, &row, why);
        // It is its own: nobody else is offered it.
        let (_, document) = resume(&lab);
        assert_eq!(document["brief"], Value::Null, "{}: {document:#}", row.name);
    }
}
