//! The log's tools, called by Claude Code's model in a session that the hooks keep.

use serde_json::{Value, json};

use super::super::lab::{list, only_turn, told};
use super::{PROMPT, lab};

/// How Claude Code names a tool of the plugin.
const TOOL: &str = "mcp__plugin_bookend_bookend__sessionlog_";
const ID: &str = "req-20260409T120002Z-price-column";

#[test]
fn a_model_writes_with_the_tools_into_the_turn_that_the_hooks_opened() {
    let Some(lab) = lab() else { return };
    let tools = ["begin_turn", "append_dialog", "append_actions"].map(|t| format!("{TOOL}{t}"));
    let script = [
        // Not offered from the start: their names are.
        format!("find:select:{}", tools.join(",")),
        format!(r#"tool:sessionlog_begin_turn={{"requestId":"{ID}","queryTitle":"Price","queryText":"Add\u0020it"}}"#),
        r#"tool:sessionlog_append_dialog={"dialogItems":[{"role":"model","content":"Decided","category":"decision"}]}"#.to_owned(),
        r#"tool:sessionlog_append_actions={"actions":[{"order":1,"description":"Decided","type":"design_decision","status":"completed"}]}"#.to_owned(),
        r#"tool:sessionlog_append_actions={"actions":[{"order":"1"}]}"#.to_owned(),
        "write".to_owned(),
        "text:all_done".to_owned(),
    ];
    let outcome = lab
        .session()
        .prompt(PROMPT)
        .script(&script.join(" "))
        .run()
        .unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));

    let log = lab.bookend(&["log", "show", "--json"]);
    let show = lab.bookend(&["show", "--json"]);
    assert_eq!(log["sessionId"], show["logSession"], "the host's own session");
    let turn = only_turn(&log);
    assert_eq!(turn["aliases"], json!([ID]), "{log:#}\n{}", told(&outcome));
    assert_eq!(turn["queryTitle"], "Price");
    assert_eq!(turn["dialog"][0]["content"], "Decided", "{log:#}");
    assert_eq!(
        (&turn["status"], &turn["response"]),
        (&json!("completed"), &json!("all done")),
        "the stop ends it: {log:#}"
    );
    let kinds: Vec<&Value> = list(turn, "actions").iter().map(|a| &a["type"]).collect();
    assert_eq!(
        kinds,
        ["design_decision", "create"],
        "a call of a tool of ours is no action: {log:#}"
    );
    // What was refused says what to do, and the model reads it.
    assert!(
        outcome.requests.iter().any(|r| r.contains("actions[0].order")),
        "{}",
        told(&outcome)
    );
    let doctor = lab.doctor();
    assert_eq!(doctor["hosts"][0]["tools"], true, "{doctor:#}");
}

#[test]
fn a_command_of_the_model_finds_the_log_session_in_its_environment() {
    let Some(lab) = lab() else { return };
    let script = "cmd:echo_in=$BOOKEND*SESSION. text:all_done";
    let outcome = lab.session().prompt(PROMPT).script(script).run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    let log = lab.bookend(&["log", "show", "--json"]);
    let said = format!("in={}.", log["sessionId"].as_str().unwrap());
    assert!(
        outcome.requests.iter().any(|r| r.contains(&said)),
        "{said}: {}",
        told(&outcome)
    );
}
