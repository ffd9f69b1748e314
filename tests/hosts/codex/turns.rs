//! Turns of Codex: what is kept of them, and which end each gets.

use bookend::probe::{CODEX, Kind};
use serde_json::{Value, json};

use super::super::lab::{Lab, list, only_turn, told};
use super::{FIRST_LINE, PROMPT, counts, lab, steps, thread, until_the_model_hangs};

#[test]
fn a_turn_with_commands_and_a_patch_is_completed_and_everything_in_it_is_kept() {
    let Some(lab) = lab() else { return };
    let script = "bash cmd:touch_made.txt write text:all_done";
    let outcome = lab.session().prompt(PROMPT).script(script).run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    assert!(lab.project().join("made.txt").is_file() && lab.project().join("orders.txt").is_file());

    let show = lab.bookend(&["show", "--json"]);
    assert_eq!(
        (&show["sessionId"], &show["host"]),
        (&thread(&outcome), &json!("codex"))
    );
    assert_eq!(show["turn"]["status"], "completed", "{show:#}");
    assert_eq!(show["currentTask"], Value::Null, "{show:#}");
    assert_eq!(show["live"], false, "the session has ended: {show:#}");
    assert_eq!(show["headless"], true, "`codex exec` is a script: {show:#}");
    assert_eq!(show["faults"], json!([]), "{show:#}");
    let expected =
        json!({"SessionStart": 1, "UserPromptSubmit": 1, "PostToolUse": 3, "Stop": 1, "SessionEnd": 1});
    assert_eq!(counts(&show), expected, "{show:#}");

    let log = lab.bookend(&["log", "show", "--json"]);
    assert_eq!(log["sessionId"], show["logSession"]);
    assert_eq!(
        (&log["agent"], &log["status"], &log["filesModifiedCount"]),
        (&json!("Codex"), &json!("completed"), &json!(1)),
        "{log:#}"
    );
    let turn = only_turn(&log);
    assert_eq!(
        (&turn["status"], &turn["response"], &turn["origin"]),
        (&json!("completed"), &json!("all done"), &json!("user")),
        "{log:#}"
    );
    assert_eq!(
        (&turn["queryTitle"], &turn["queryText"]),
        (&json!(FIRST_LINE), &json!(PROMPT)),
        "{log:#}"
    );
    let actions = list(turn, "actions");
    let kept: Vec<_> = actions
        .iter()
        .map(|action| (&action["type"], &action["description"], &action["filePath"]))
        .collect();
    let expected = [
        // `echo hi` changes nothing and is no action.
        (json!("command"), json!("Ran touch made.txt"), Value::Null),
        (json!("create"), json!("Created orders.txt"), json!("orders.txt")),
    ];
    assert_eq!(kept, expected.each_ref().map(|(a, b, c)| (a, b, c)), "{log:#}");
}

#[test]
fn a_subagent_is_kept_with_its_end_and_what_it_did_is_its_own() {
    let Some(lab) = lab() else { return };
    let session = lab.session().prompt(PROMPT).script("agent wait text:all_done");
    let outcome = session
        .subagent("cmd:touch_made.txt text:sub_done")
        .run()
        .unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    assert_eq!(steps(&outcome, Kind::Sub).len(), 2, "{}", told(&outcome));

    let show = lab.bookend(&["show", "--json"]);
    let expected = json!({
        "SessionStart": 1, "UserPromptSubmit": 1, "PreToolUse": 1, "SubagentStart": 1,
        // The spawning, the subagent's command, the waiting.
        "PostToolUse": 3, "SubagentStop": 1, "Stop": 1, "SessionEnd": 1,
    });
    assert_eq!(counts(&show), expected, "{show:#}");
    let [agent] = list(&show, "agents") else {
        panic!("one agent: {show:#}");
    };
    assert_eq!(agent["state"], "ended", "{show:#}");
    assert_ne!(
        agent["id"], show["sessionId"],
        "the subagent has an id of its own"
    );
    let ended = |value: &Value| value["endedAt"].as_str().map(str::to_owned);
    assert!(
        ended(agent).is_some() && ended(agent) < ended(&show["turn"]),
        "{show:#}"
    );

    let log = lab.bookend(&["log", "show", "--json"]);
    let turn = only_turn(&log);
    assert_eq!(
        (&turn["status"], &turn["response"], &turn["late"]),
        (&json!("completed"), &json!("all done"), &json!([])),
        "{log:#}"
    );
    let [action] = list(turn, "actions") else {
        panic!("one action: {log:#}");
    };
    assert_eq!(
        (&action["description"], &action["agent"]["id"]),
        (&json!("Ran touch made.txt"), &agent["id"]),
        "{log:#}"
    );
}

#[test]
fn an_interrupted_turn_ends_as_interrupted_and_keeps_its_task() {
    let Some(lab) = lab() else { return };
    let running = lab
        .session()
        .prompt(PROMPT)
        .script("write hang:30")
        .spawn()
        .unwrap();
    let reached = until_the_model_hangs(&running);
    running.interrupt();
    let outcome = running.wait().unwrap();
    assert!(
        reached && outcome.rc == Some(1) && !outcome.timed_out,
        "{}",
        told(&outcome)
    );

    let show = lab.bookend(&["show", "--json"]);
    let expected =
        json!({"SessionStart": 1, "UserPromptSubmit": 1, "PostToolUse": 1, "Interrupt": 1, "SessionEnd": 1});
    assert_eq!(counts(&show), expected, "{show:#}");
    assert_eq!(
        (&show["turn"]["status"], &show["turn"]["code"]),
        (&json!("failed"), &json!("interrupted")),
        "{show:#}"
    );
    assert_eq!(show["currentTask"]["description"], FIRST_LINE, "{show:#}");
    assert_eq!(show["live"], false, "{show:#}");
    let log = lab.bookend(&["log", "show", "--json"]);
    assert_eq!(only_turn(&log)["failure"]["code"], "interrupted", "{log:#}");
}

#[test]
fn a_model_limit_that_no_hook_tells_of_still_ends_the_turn() {
    let Some(lab) = lab() else { return };
    let outcome = lab
        .session()
        .prompt(PROMPT)
        .script("write http429")
        .run()
        .unwrap();
    assert_eq!(outcome.rc, Some(1), "{}", told(&outcome));
    assert!(
        lab.kept().contains(r#""kind":"turn.presumed""#),
        "by the hook, before anybody looks: {}",
        lab.kept()
    );

    let show = lab.bookend(&["show", "--json"]);
    let expected = json!({"SessionStart": 1, "UserPromptSubmit": 1, "PostToolUse": 1, "SessionEnd": 1});
    assert_eq!(counts(&show), expected, "no Stop comes: {show:#}");
    assert_eq!(show["currentTask"]["description"], FIRST_LINE, "{show:#}");
    let log = lab.bookend(&["log", "show", "--json"]);
    let turn = only_turn(&log);
    assert_eq!(
        (&turn["status"], &turn["presumed"], &turn["failure"]["code"]),
        (&json!("failed"), &json!(true), &json!("session_ended")),
        "{log:#}"
    );
}

#[test]
fn a_subagents_limit_leaves_no_agent_at_work_and_the_turn_goes_on_to_its_end() {
    let Some(lab) = lab() else { return };
    let session = lab.session().prompt(PROMPT).script("agent wait text:all_done");
    let outcome = session.subagent("http429").run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    assert_eq!(steps(&outcome, Kind::Sub), ["http429"], "{}", told(&outcome));

    let show = lab.bookend(&["show", "--json"]);
    assert_eq!(show["events"]["SubagentStart"]["count"], 1, "{show:#}");
    assert_eq!(
        show["events"]["SubagentStop"],
        Value::Null,
        "Codex does not say that it ended: {show:#}"
    );
    let states: Vec<_> = list(&show, "agents")
        .iter()
        .map(|agent| &agent["state"])
        .collect();
    assert_eq!(states, ["ended"], "{show:#}");
    assert_eq!(
        (&show["turn"]["status"], &show["currentTask"]),
        (&json!("completed"), &Value::Null),
        "{show:#}"
    );
}

#[test]
fn a_stop_is_never_sent_back() {
    let Some(lab) = lab() else { return };
    let script = "bash text:all_done text:not_asked_for";
    let outcome = lab.session().prompt(PROMPT).script(script).run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    assert_eq!(
        steps(&outcome, Kind::Main),
        ["bash", "text:all_done"],
        "{}",
        told(&outcome)
    );
    let show = lab.bookend(&["show", "--json"]);
    assert_eq!(show["events"]["Stop"]["count"], 1, "{show:#}");
    assert_eq!(show["blocks"], 0, "{show:#}");
}

#[test]
fn a_stop_that_somebody_elses_hook_sent_back_ends_the_turn_once_and_keeps_what_was_said_then() {
    let Some(lab) = lab() else { return };
    // Sends back every stop but one that was sent back before.
    let other =
        r#"grep -q '"stop_hook_active":true' || echo '{"decision":"block","reason":"run the tests"}'"#;
    let command = json!(other);
    let outcome = lab
        .session()
        .prompt(PROMPT)
        .script("text:done bash text:really_done text:not_asked_for")
        // That one is trusted by nobody.
        .arg("--dangerously-bypass-hook-trust")
        .arg("-c")
        .arg(format!(
            "hooks.Stop=[{{hooks=[{{type=\"command\",command={command}}}]}}]"
        ))
        .run()
        .unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    assert_eq!(
        steps(&outcome, Kind::Main),
        ["text:done", "bash", "text:really_done"],
        "{}",
        told(&outcome)
    );

    let show = lab.bookend(&["show", "--json"]);
    assert_eq!(show["events"]["Stop"]["count"], 2, "{show:#}");
    assert_eq!(show["blocks"], 0, "neither was ours: {show:#}");
    let log = lab.bookend(&["log", "show", "--json"]);
    let turn = only_turn(&log);
    assert_eq!(
        (&turn["status"], &turn["response"]),
        (&json!("completed"), &json!("done")),
        "{log:#}"
    );
    let late = list(turn, "late");
    assert_eq!(late.len(), 1, "{log:#}");
    assert_eq!(late[0]["message"], "really done", "{log:#}");
}

#[test]
fn hooks_that_nobody_has_trusted_do_not_run_and_only_doctor_says_so() {
    let Some(lab) = Lab::without_hooks(CODEX, "BOOKEND_TEST_CODEX") else {
        return;
    };
    let installed = lab.install(&[]);
    assert_eq!(installed["hosts"][0]["trust"], "untrusted", "{installed:#}");
    let session = lab.session().prompt(PROMPT).script("bash write text:all_done");
    let outcome = session.run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    assert!(lab.project().join("orders.txt").is_file(), "{}", told(&outcome));
    assert_eq!(lab.kept(), "", "both stores are empty");
    let said = format!("{}{}", outcome.stdout, outcome.stderr).to_lowercase();
    assert!(!said.contains("trust") && !said.contains("hook"), "{said}");

    let doctor = lab.doctor();
    let found = list(&doctor, "findings")
        .iter()
        .find(|f| f["code"] == "hooks-untrusted");
    let remedy = found.expect("a finding")["remedy"].as_str().unwrap_or_default();
    assert!(remedy.contains("bookend install codex --trust"), "{doctor:#}");
    assert_eq!(
        (&doctor["ok"], &doctor["hosts"][1]["trusted"]),
        (&json!(false), &json!(false))
    );

    let installed = lab.install(&["--trust"]);
    assert_eq!(installed["hosts"][0]["trust"], "trusted", "{installed:#}");
    let outcome = lab
        .session()
        .prompt(PROMPT)
        .script("bash text:all_done")
        .run()
        .unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    assert_eq!(lab.bookend(&["show", "--json"])["turn"]["status"], "completed");
    let doctor = lab.doctor();
    assert_eq!(
        (&doctor["ok"], &doctor["hosts"][1]["trusted"]),
        (&json!(true), &json!(true)),
        "{doctor:#}"
    );
}
