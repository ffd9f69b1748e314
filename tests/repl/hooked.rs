//! A model writes in the session that real hooks keep.

use serde_json::{Value, json};

use super::{Repl, shown};
use crate::harness::Lab;

const ID: &str = "req-20260409T120002Z-cart";

/// A repl in the environment that Claude Code gives to its tools.
fn inside(lab: &Lab) -> Repl {
    let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
    command.arg("repl").env("CLAUDE_CODE_SESSION_ID", "s1");
    Repl::from(command)
}

fn begun(lab: &Lab) -> (Repl, Value) {
    lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
    lab.prompt("p1", "Make the cart\nwith all of it");
    let mut repl = inside(lab);
    let result = repl.ok(
        "beginTurn",
        json!({"requestId": ID, "queryTitle": "Cart", "queryText": "Make a cart"}),
    );
    (repl, result)
}

#[test]
fn the_hooks_open_turn_is_adopted_and_their_stop_ends_it() {
    let lab = Lab::new();
    let (mut repl, result) = begun(&lab);
    let own = lab.log_of("s1").turns[0].request_id.clone();
    assert_eq!(
        (&result["turnRequestId"], &result["status"], &result["adopted"]),
        (&json!(ID), &json!("in_progress"), &json!(own))
    );
    repl.ok(
        "updateTurn",
        json!({"turnRequestId": ID, "response": "The model's own answer", "tags": ["cart"]}),
    );
    repl.ok(
        "updateTurn",
        json!({"turnRequestId": own, "interpretation": "A cart"}),
    );
    assert_eq!(repl.ok("currentSession", json!({}))["currentTurnRequestId"], ID);
    lab.stop("p1", "What the host saw last");
    let log = lab.log_of("s1");
    let [turn] = log.turns.as_slice() else {
        panic!("one turn: {:#?}", log.turns)
    };
    assert_eq!(
        (turn.status, turn.presumed, turn.aliases.len()),
        ("completed", false, 1)
    );
    assert_eq!(
        (turn.query_title.as_str(), turn.query_text.as_str()),
        ("Cart", "Make a cart")
    );
    assert_eq!(
        turn.response.as_deref(),
        Some("The model's own answer"),
        "no hook replaces it"
    );
    assert_eq!(turn.interpretation.as_deref(), Some("A cart"));
    assert_eq!(
        repl.error("updateTurn", json!({"requestId": ID}))["code"],
        "turn_immutable"
    );
    let again = json!({"requestId": ID, "queryTitle": "Cart", "queryText": "x"});
    assert_eq!(repl.error("beginTurn", again)["code"], "turn_already_exists");
    // The next prompt begins the next turn as ever.
    lab.prompt("p2", "Next");
    lab.stop("p2", "Done");
    assert_eq!(lab.log_of("s1").turns.len(), 2);
    assert!(lab.faults().is_empty() && lab.open_entries().is_empty());
    repl.end();
}

#[test]
fn a_turn_that_the_model_ends_is_not_ended_again_by_the_hooks() {
    let lab = Lab::new();
    let (mut repl, _) = begun(&lab);
    let done = repl.ok("completeTurn", json!({"response": "Mine"}));
    lab.stop("p1", "The host's");
    let log = lab.log_of("s1");
    assert_eq!(
        (log.turns[0].status, log.turns[0].response.as_deref()),
        ("completed", Some("Mine"))
    );
    assert_eq!(log.turns[0].late.len(), 1, "what the host said is kept");
    assert_eq!(lab.state("s1").current_task, None);
    assert!(lab.open_entries().is_empty() && lab.faults().is_empty());
    assert_eq!(
        repl.ok("completeTurn", json!({"response": "Mine"})),
        done,
        "also behind the stop"
    );
    repl.end();
}

#[test]
fn the_hooks_record_of_an_edit_and_the_models_are_one_action() {
    let lab = Lab::new();
    let (mut repl, _) = begun(&lab);
    let path = |name: &str| lab.project().join(name).to_string_lossy().into_owned();
    lab.write("p1", "w1", &path("src/cart.rs"));
    lab.write("p1", "w2", &path("src/shop.rs"));
    let action = |order: u32, kind: &str, path: &str| json!({"order": order, "description": format!("Model's word on {path}"), "type": kind, "status": "completed", "filePath": path});
    let given = json!({"actions": [
        action(1, "create", "src/cart.rs"), action(2, "create", &path("src/late.rs")),
        action(3, "edit", "src/cart.rs"), action(4, "design_decision", "src/cart.rs"),
    ]});
    assert_eq!(
        repl.ok("appendActions", given.clone()),
        json!({"appended": 4, "totalActions": 5})
    );
    assert_eq!(
        repl.ok("appendActions", given),
        json!({"appended": 0, "totalActions": 5}),
        "sent again"
    );
    // A hook that comes after the model's word.
    lab.write("p1", "w3", &path("src/late.rs"));
    lab.write("p1", "w4", &path("src/late.rs"));
    lab.stop("p1", "Done");
    let log = lab.log_of("s1");
    let found: Vec<(&str, String, bool)> = log.turns[0]
        .actions
        .iter()
        .map(|a| {
            let name = a.action.file_path.as_deref().unwrap().rsplit('/').next().unwrap();
            (name, a.action.description.to_string(), a.action.tool.is_some())
        })
        .collect();
    let said = |path: &str| format!("Model's word on {path}");
    assert_eq!(found.len(), 6, "{found:#?}");
    assert_eq!(found[0], ("cart.rs", said("src/cart.rs"), true));
    assert_eq!((found[1].0, found[1].2), ("shop.rs", true), "only a hook saw it");
    assert_eq!(found[2], ("late.rs", said(&path("src/late.rs")), true));
    assert_eq!(
        found[3],
        ("cart.rs", said("src/cart.rs"), false),
        "another kind of change"
    );
    assert_eq!(
        (found[5].0, found[5].2),
        ("late.rs", true),
        "a second write is a second action"
    );
    assert_eq!(log.files_modified_count, 3);
    repl.end();
}

#[test]
fn an_open_session_inside_a_hooked_one_is_the_callers_and_the_hooks_stay() {
    let lab = Lab::new();
    let (mut repl, _) = begun(&lab);
    let hooked = lab.log_of("s1").session_id;
    let taken = json!({"agent": "ClaudeCode", "sessionId": hooked, "title": "x"});
    assert_eq!(repl.error("openSession", taken)["code"], "session_already_exists");
    let own = "ClaudeCode-20260409T120000Z-own";
    repl.open(own);
    repl.begin("req-20260409T120005Z-own");
    lab.stop("p1", "Done");
    assert_eq!(lab.log_of("s1").turns[0].status, "completed");
    assert_eq!(shown(&lab, own)["turns"][0]["status"], "in_progress");
    repl.ok("closeSession", json!({}));
    assert_eq!(
        repl.ok("currentSession", json!({}))["sessionId"],
        json!(hooked),
        "its own is closed"
    );
    repl.end();

    // A session whose id was told to the model, and that has no record yet, is the hooks' too.
    let lab = Lab::new();
    let told = lab
        .send("SessionStart", json!({"source": "startup", "prompt_id": null}))
        .context();
    let id = told.rsplit(' ').next().unwrap().trim();
    let mut repl = Repl::of(&lab);
    let error = repl.error(
        "openSession",
        json!({"agent": "ClaudeCode", "sessionId": id, "title": "x"}),
    );
    assert_eq!(error["code"], "session_already_exists", "{told}");
    repl.end();
    lab.prompt("p1", "Go");
    assert_eq!(lab.log_of("s1").turns.len(), 1);
}

#[test]
fn a_subagents_turn_does_not_hold_up_the_hooks() {
    let lab = Lab::new();
    let (mut repl, _) = begun(&lab);
    let own = "req-20260409T120003Z-sub";
    repl.ok(
        "beginTurn",
        json!({"requestId": own, "queryTitle": "Sub", "queryText": "", "subagent": "reviewer"}),
    );
    lab.shell("p1", "c1", "make all");
    lab.stop("p1", "Done");
    let log = lab.log_of("s1");
    let states: Vec<&str> = log.turns.iter().map(|t| t.status).collect();
    assert_eq!(states, ["completed", "in_progress"]);
    assert_eq!(log.turns[0].actions.len(), 1);
    lab.send("SessionEnd", json!({"reason": "exit"}));
    let log = lab.log_of("s1");
    assert_eq!(
        (log.turns[1].status, log.turns[1].presumed),
        ("failed", true),
        "nobody is there to end it"
    );
    repl.end();
}

#[test]
fn a_turn_that_only_the_model_began_is_ended_by_the_hooks() {
    let lab = Lab::new();
    lab.prompt("p1", "One");
    lab.stop("p1", "Done");
    let mut repl = inside(&lab);
    repl.begin(ID);
    // Its prompt's hook was lost; the stop's was not.
    lab.stop("p2", "Done too");
    let log = lab.log_of("s1");
    assert_eq!(
        (log.turns[1].request_id.as_str(), log.turns[1].status),
        (ID, "completed")
    );
    repl.begin("req-20260409T120004Z-next");
    lab.prompt("p3", "Three");
    let log = lab.log_of("s1");
    assert_eq!((log.turns[2].status, log.turns[2].presumed), ("failed", true));
    assert_eq!(log.turns[3].status, "in_progress");
    repl.end();
}
