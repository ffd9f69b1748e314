//! Claude Code, as people run it: `claude -p` with the plugin loaded.

#![expect(
    clippy::expect_used,
    reason = "a test stops at the first surprise; its helpers are tests too"
)]

mod orchestration;
mod todos;
mod tools;

use std::time::Duration;

use bookend::probe::{CLAUDE_CODE, Kind, Outcome};
use serde_json::{Value, json};

use super::lab::{Lab, list, only_turn, told};

const PROMPT: &str = "Add a price column to the orders page\nand keep the layout";
const FIRST_LINE: &str = "Add a price column to the orders page";

fn lab() -> Option<Lab> {
    Lab::with(CLAUDE_CODE, "BOOKEND_TEST_CLAUDE")
}

#[test]
fn a_turn_with_tools_and_a_subagent_is_completed_and_everything_in_it_is_kept() {
    let Some(lab) = lab() else { return };
    let script = "bash cmd:touch_made.txt write agent text:all_done";
    let outcome = lab.session().prompt(PROMPT).script(script).run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    assert!(
        outcome.requests.iter().any(|request| request.kind == Kind::Sub),
        "{}",
        told(&outcome)
    );
    assert!(
        outcome
            .requests
            .iter()
            .all(|request| request.kind != Kind::Unknown),
        "{}",
        told(&outcome)
    );
    assert!(lab.project().join("made.txt").is_file() && lab.project().join("orders.txt").is_file());
    assert_eq!(answer(&outcome)["result"], "all done");

    let show = lab.bookend(&["show", "--json"]);
    assert_eq!(show["sessionId"], answer(&outcome)["session_id"]);
    assert_eq!(show["host"], "claude-code");
    assert_eq!(show["turn"]["status"], "completed", "{show:#}");
    assert_eq!(show["currentTask"], Value::Null, "{show:#}");
    assert_eq!(show["live"], false, "the session has ended: {show:#}");
    assert!(
        list(&show, "agents")
            .iter()
            .all(|agent| agent["state"] != "running"),
        "{show:#}"
    );
    let expected = [
        ("SessionStart", 1),
        ("UserPromptSubmit", 1),
        // The delegation only: the other tools are not registered for it.
        ("PreToolUse", 1),
        ("SubagentStart", 1),
        // Two commands, a file, the subagent's command, the subagent.
        ("PostToolUse", 5),
        ("SubagentStop", 1),
        ("Stop", 1),
        ("SessionEnd", 1),
    ];
    for (event, count) in expected {
        assert_eq!(show["events"][event]["count"], count, "{event}: {show:#}");
    }

    let log = lab.bookend(&["log", "show", "--json"]);
    assert_eq!(log["sessionId"], show["logSession"]);
    assert_eq!(
        (&log["agent"], &log["status"]),
        (&json!("ClaudeCode"), &json!("completed")),
        "{log:#}"
    );
    let turn = only_turn(&log);
    assert_eq!(
        (&turn["status"], &turn["response"]),
        (&json!("completed"), &json!("all done")),
        "{log:#}"
    );
    assert_eq!(
        (&turn["queryTitle"], &turn["queryText"]),
        (&json!(FIRST_LINE), &json!(PROMPT)),
        "{log:#}"
    );
    assert_eq!(turn["origin"], "user");
    let actions = list(turn, "actions");
    let file = actions
        .iter()
        .find(|action| ends_with(&action["filePath"], "orders.txt"));
    assert_eq!(
        file.map(|action| &action["type"]),
        Some(&json!("create")),
        "{log:#}"
    );
    let touch = |action: &&Value| {
        action["description"]
            .as_str()
            .is_some_and(|text| text.contains("touch made.txt"))
    };
    assert_eq!(actions.iter().filter(touch).count(), 1, "{log:#}");
}

/// A host that runs a script does not wait for this hook: on a loaded machine it is ended before it begins. Then the
/// session's end ends the turn; that the limit is known shows in a run in which the hook came to its turn.
#[test]
fn a_rate_limit_fails_the_turn_and_keeps_the_task() {
    for _ in 0..5 {
        let Some(lab) = lab() else { return };
        let outcome = lab.session().prompt(PROMPT).script("bash http429").run().unwrap();
        assert_eq!(outcome.rc, Some(1), "{}", told(&outcome));

        let show = lab.bookend(&["show", "--json"]);
        assert_eq!(show["turn"]["status"], "failed", "{show:#}");
        assert_eq!(show["currentTask"]["description"], FIRST_LINE, "{show:#}");
        let log = lab.bookend(&["log", "show", "--json"]);
        let turn = only_turn(&log);
        if show["events"]["StopFailure"].is_null() {
            assert_eq!(
                (&turn["status"], &turn["presumed"]),
                (&json!("failed"), &json!(true)),
                "{log:#}"
            );
            continue;
        }
        assert!(show["rateLimit"].is_object(), "{show:#}");
        assert_eq!(
            (&turn["status"], &turn["failure"]["code"]),
            (&json!("failed"), &json!("rate_limit")),
            "{log:#}"
        );
        assert_ne!(turn["presumed"], true, "{log:#}");
        return;
    }
    panic!("the hook never came to its turn");
}

#[test]
fn a_continued_session_goes_on_in_the_same_log() {
    let Some(lab) = lab() else { return };
    let first = lab.session().prompt(PROMPT).script("text:done").run().unwrap();
    let second = lab
        .session()
        .prompt("And a total")
        .script("text:done_again")
        .resume()
        .run()
        .unwrap();
    assert_eq!(
        (first.rc, second.rc),
        (Some(0), Some(0)),
        "{}{}",
        told(&first),
        told(&second)
    );
    assert_eq!(answer(&first)["session_id"], answer(&second)["session_id"]);

    let show = lab.bookend(&["show", "--json"]);
    assert_eq!(show["events"]["SessionStart"]["count"], 2, "{show:#}");
    let log = lab.bookend(&["log", "show", "--json"]);
    let turns = list(&log, "turns");
    let ends: Vec<_> = turns
        .iter()
        .map(|turn| (&turn["queryText"], &turn["status"], &turn["response"]))
        .collect();
    let expected = [(json!(PROMPT), "done"), (json!("And a total"), "done again")];
    assert_eq!(ends.len(), 2, "{log:#}");
    for ((text, status, response), (prompt, said)) in ends.into_iter().zip(&expected) {
        assert_eq!(
            (text, status.as_str(), response.as_str()),
            (prompt, Some("completed"), Some(*said)),
            "{log:#}"
        );
    }
    assert!(
        second.model_requests_containing("Resuming:").is_empty(),
        "nothing was interrupted"
    );
}

#[test]
fn after_a_compaction_the_model_is_told_what_it_was_doing() {
    let Some(lab) = lab() else { return };
    let session = lab
        .session()
        .prompt(PROMPT)
        .script("bash! write bash! bash text:all_done");
    let outcome = session.arg("--autocompact").arg("100k").run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));

    let mut after = outcome
        .requests
        .iter()
        .skip_while(|request| request.kind != Kind::Compaction)
        .skip(1);
    let next = after
        .find(|request| request.kind == Kind::Main)
        .expect("the session goes on");
    assert!(
        next.contains(&format!("Resuming: {FIRST_LINE}")),
        "{:#}\n{}",
        next.body["messages"],
        lab.kept()
    );
    let before = outcome
        .requests
        .iter()
        .take_while(|request| request.kind != Kind::Compaction);
    assert!(before.into_iter().all(|request| !request.contains("Resuming:")));
    let log = lab.bookend(&["log", "show", "--json"]);
    assert_eq!(only_turn(&log)["status"], "completed", "{log:#}");
}

#[test]
fn after_a_crash_the_next_session_is_told_and_the_turn_gets_its_end() {
    let Some(lab) = lab() else { return };
    let running = lab
        .session()
        .prompt(PROMPT)
        .script("write hang:30")
        .spawn()
        .unwrap();
    // The second request: the first tool's hook has ended, the model is at work.
    let reached = running.wait_until(Duration::from_secs(30), |model| model.model_request_count() == 2);
    let crashed = running.kill().unwrap();
    assert!(reached && crashed.signal == Some(9), "{}", told(&crashed));
    let show = lab.bookend(&["show", "--json"]);
    let first = show["logSession"].as_str().expect("a log session").to_owned();
    assert_eq!(show["live"], false, "the host is gone: {show:#}");

    let session = lab.session().prompt("Now the invoices").script("text:all_done");
    let outcome = session.env("BOOKEND_RESUME", "always").run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    let brief = format!("Resuming: {FIRST_LINE}\n");
    assert_eq!(
        outcome.model_requests_containing(&brief).first(),
        Some(&1),
        "{}",
        lab.kept()
    );

    let log = lab.bookend(&["log", "show", &first, "--json"]);
    let turn = only_turn(&log);
    assert_eq!(
        (&turn["status"], &turn["presumed"]),
        (&json!("failed"), &json!(true)),
        "{log:#}"
    );
    assert_eq!(turn["failure"]["code"], "host_gone", "{log:#}");
    let second = lab.bookend(&["show", "--json"]);
    assert_ne!(second["sessionId"], show["sessionId"]);
    assert_eq!(second["turn"]["status"], "completed", "{second:#}");
}

#[test]
fn a_subagents_limit_tells_the_model_to_wait() {
    let Some(lab) = lab() else { return };
    let session = lab.session().prompt(PROMPT).script("agent text:all_done");
    let outcome = session.subagent("http429").run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    let wait = "Do nothing further until the user answers";
    let mut main = outcome
        .requests
        .iter()
        .filter(|request| request.kind == Kind::Main);
    assert!(main.any(|request| request.contains(wait)), "{}", told(&outcome));
}

/// What the host printed at its end.
fn answer(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).expect("one JSON document")
}

fn ends_with(value: &Value, end: &str) -> bool {
    value.as_str().is_some_and(|text| text.ends_with(end))
}
