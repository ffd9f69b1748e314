//! What Codex's model is told of what was not done: after a crash, an interrupt, a limit, a compaction.

use bookend::probe::{Kind, Outcome};
use serde_json::{Value, json};

use super::super::lab::{Lab, list, only_turn, told};
use super::{BRIEF, PROMPT, counts, lab, thread, until_the_model_hangs};

#[test]
fn after_a_crash_the_next_session_is_told_and_the_turn_gets_its_end() {
    let Some(lab) = lab() else { return };
    let running = lab
        .session()
        .prompt(PROMPT)
        .script("write hang:30")
        .spawn()
        .unwrap();
    let reached = until_the_model_hangs(&running);
    let crashed = running.kill().unwrap();
    assert!(reached && crashed.signal == Some(9), "{}", told(&crashed));
    let show = lab.bookend(&["show", "--json"]);
    let expected = json!({"SessionStart": 1, "UserPromptSubmit": 1, "PostToolUse": 1});
    assert_eq!(counts(&show), expected, "{show:#}");
    assert_eq!(show["live"], false, "the host is gone: {show:#}");

    is_told(&lab, &show, "the host vanished", "host_gone");
}

#[test]
fn after_an_interrupt_the_next_session_is_told() {
    let Some(lab) = lab() else { return };
    let running = lab
        .session()
        .prompt(PROMPT)
        .script("write hang:30")
        .spawn()
        .unwrap();
    let reached = until_the_model_hangs(&running);
    running.interrupt();
    let interrupted = running.wait().unwrap();
    assert!(reached, "{}", told(&interrupted));
    let show = lab.bookend(&["show", "--json"]);
    is_told(&lab, &show, "it was interrupted", "interrupted");
}

#[test]
fn after_a_model_limit_the_next_session_is_told() {
    let Some(lab) = lab() else { return };
    let limited = lab
        .session()
        .prompt(PROMPT)
        .script("write http429")
        .run()
        .unwrap();
    assert_eq!(limited.rc, Some(1), "{}", told(&limited));
    let show = lab.bookend(&["show", "--json"]);
    // Codex does not tell its hooks why; what they know is that the session ended over it.
    is_told(&lab, &show, "the session ended", "session_ended");
}

#[test]
fn a_script_is_not_given_another_sessions_task_unless_the_user_says_so() {
    let Some(lab) = lab() else { return };
    let limited = lab
        .session()
        .prompt(PROMPT)
        .script("write http429")
        .run()
        .unwrap();
    assert_eq!(limited.rc, Some(1), "{}", told(&limited));
    let session = lab.session().prompt("Now the invoices").script("text:all_done");
    let next = session.run().unwrap();
    assert_eq!(next.rc, Some(0), "{}", told(&next));
    assert!(
        next.model_requests_containing("Resuming:").is_empty(),
        "{}",
        lab.kept()
    );
    // The answer as such did reach the model.
    assert_eq!(next.model_requests_containing("Session log: Codex-"), [1]);
}

#[test]
fn a_resumed_session_goes_on_in_the_same_log() {
    let Some(lab) = lab() else { return };
    let first = lab.session().prompt(PROMPT).script("text:done").run().unwrap();
    let second = resumed(&lab, "And a total", "text:done_again");
    assert_eq!(
        (first.rc, second.rc),
        (Some(0), Some(0)),
        "{}{}",
        told(&first),
        told(&second)
    );
    assert_eq!(thread(&first), thread(&second));

    let show = lab.bookend(&["show", "--json"]);
    assert_eq!(show["sessionId"], thread(&first), "{show:#}");
    let expected = json!({"SessionStart": 2, "UserPromptSubmit": 2, "Stop": 2, "SessionEnd": 2});
    assert_eq!(counts(&show), expected, "{show:#}");
    let log = lab.bookend(&["log", "show", "--json"]);
    let ends: Vec<_> = list(&log, "turns")
        .iter()
        .map(|turn| (&turn["queryText"], &turn["status"], &turn["response"]))
        .collect();
    let expected = [(PROMPT, "done"), ("And a total", "done again")]
        .map(|(prompt, said)| (json!(prompt), json!("completed"), json!(said)));
    assert_eq!(ends, expected.each_ref().map(|(a, b, c)| (a, b, c)), "{log:#}");
    assert!(
        second.model_requests_containing("Resuming:").is_empty(),
        "nothing was interrupted"
    );
}

#[test]
fn a_resumed_session_is_told_once_of_its_own_task_and_finishes_it() {
    let Some(lab) = lab() else { return };
    let limited = lab
        .session()
        .prompt(PROMPT)
        .script("write http429")
        .run()
        .unwrap();
    let second = resumed(&lab, "continue", "text:all_done");
    assert_eq!(second.rc, Some(0), "{}{}", told(&limited), told(&second));
    let first = second.requests.first().expect("a request");
    let briefs = first.body.to_string().matches("Resuming: ").count();
    assert_eq!(briefs, 1, "{:#}\n{}", first.body["input"], lab.kept());

    let show = lab.bookend(&["show", "--json"]);
    assert_eq!(show["currentTask"], Value::Null, "{show:#}");
    assert_eq!(show["interruptedTask"], Value::Null, "{show:#}");
    let log = lab.bookend(&["log", "show", "--json"]);
    let ends: Vec<_> = list(&log, "turns").iter().map(|turn| &turn["status"]).collect();
    assert_eq!(ends, ["failed", "completed"], "{log:#}");
}

#[test]
fn after_a_compaction_the_model_is_told_what_it_was_doing() {
    let Some(lab) = lab() else { return };
    let outcome = lab
        .session()
        .prompt(PROMPT)
        .script("bash! write bash! bash text:all_done")
        .arg("-c")
        .arg("model_auto_compact_token_limit=30000")
        .run()
        .unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));

    let compaction = outcome
        .requests
        .iter()
        .position(|request| request.kind == Kind::Compaction)
        .expect("a compaction");
    let (before, after) = outcome.requests.split_at(compaction);
    assert!(before.iter().all(|request| !request.contains("Resuming:")));
    let next = after.get(1).expect("the session goes on");
    assert_eq!(next.kind, Kind::Main, "{}", told(&outcome));
    assert!(next.contains(BRIEF), "{:#}\n{}", next.body["input"], lab.kept());
    let show = lab.bookend(&["show", "--json"]);
    let expected = json!({
        "SessionStart": 2, "UserPromptSubmit": 1, "PreCompact": 1, "PostToolUse": 4, "Stop": 1, "SessionEnd": 1,
    });
    assert_eq!(counts(&show), expected, "{show:#}");
    let log = lab.bookend(&["log", "show", "--json"]);
    assert_eq!(only_turn(&log)["status"], "completed", "{log:#}");
}

/// The last session of this HOME and project goes on.
fn resumed(lab: &Lab, prompt: &str, script: &str) -> Outcome {
    let session = lab.session().prompt(prompt).script(script);
    session.resume().run().unwrap()
}

/// The next session's first request holds the brief about the session in `before`, whose one turn failed with `code`.
fn is_told(lab: &Lab, before: &Value, why: &str, code: &str) {
    let first = before["logSession"].as_str().expect("a log session");
    let session = lab.session().prompt("Now the invoices").script("text:all_done");
    let outcome = session.env("BOOKEND_RESUME", "always").run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    for said in [
        BRIEF,
        "Last action: Created orders.txt\n",
        &format!("Why it stopped: {why}"),
    ] {
        let said_in = outcome.model_requests_containing(said);
        assert_eq!(said_in.first(), Some(&1), "{said}\n{}", lab.kept());
    }

    let log = lab.bookend(&["log", "show", first, "--json"]);
    let turn = only_turn(&log);
    assert_eq!(
        (&turn["status"], &turn["presumed"], &turn["failure"]["code"]),
        (&json!("failed"), &json!(true), &json!(code)),
        "{log:#}"
    );
    let second = lab.bookend(&["show", "--json"]);
    assert_ne!(second["sessionId"], before["sessionId"]);
    assert_eq!(second["turn"]["status"], "completed", "{second:#}");
}
