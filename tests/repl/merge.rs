//! What was written is never replaced by less.

use serde_json::{Value, json};

use super::{Repl, S, T, log, shown};
use crate::harness::Lab;

const SECRET: &str = "ghp_0000Zk3VxQ8rT1mW6yB9cN4dF7gH2jL5pS0a";

fn turn(repl: &mut Repl) -> Value {
    repl.ok("client.SessionLog.GetAsync", json!({"sessionId": S}))["turns"][0].take()
}

#[test]
fn absent_and_empty_keep_and_lists_grow_once() {
    let lab = Lab::new();
    let mut repl = Repl::in_turn(&lab);
    repl.ok("updateTurn", json!({"response": "r", "interpretation": "i", "tokenCount": 5, "tags": ["a", "b"], "contextList": ["f"]}));
    let before = log(&lab, S);
    for nothing in [
        json!({}),
        json!({"tags": [], "contextList": []}),
        json!({"response": "", "interpretation": null}),
        json!({"tags": ["b", "a"], "tokenCount": 5, "response": "r"}),
    ] {
        assert_eq!(repl.ok("updateTurn", nothing.clone())["updated"], true);
        assert_eq!(log(&lab, S), before, "{nothing} changes nothing");
    }
    repl.ok(
        "updateTurn",
        json!({"tags": ["c", "a"], "queryTitle": "New title", "tokenCount": 6}),
    );
    let found = turn(&mut repl);
    assert_eq!(
        (&found["tags"], &found["contextList"]),
        (&json!(["a", "b", "c"]), &json!(["f"]))
    );
    assert_eq!(
        (&found["queryTitle"], &found["queryText"]),
        (&json!("New title"), &json!("Implement it"))
    );
    assert_eq!(
        (&found["response"], &found["tokenCount"]),
        (&json!("r"), &json!(6))
    );
    repl.end();
}

#[test]
fn list_items_are_appended_once() {
    let lab = Lab::new();
    let mut repl = Repl::in_turn(&lab);
    let action = |order: u32, text: &str| json!({"order": order, "description": text, "type": "pr_comment", "status": "completed"});
    let actions = json!({"actions": [action(1, "one"), action(2, "two")]});
    assert_eq!(
        repl.ok("appendActions", actions.clone()),
        json!({"appended": 2, "totalActions": 2})
    );
    assert_eq!(
        repl.ok("appendActions", actions),
        json!({"appended": 0, "totalActions": 2})
    );
    let more = json!({"actions": [action(2, "two"), action(3, "two"), action(3, "two")]});
    assert_eq!(
        repl.ok("appendActions", more),
        json!({"appended": 1, "totalActions": 3})
    );

    let timed = json!({"dialogItems": [{"role": "tool", "content": "ok", "category": "tool_result", "timestamp": "2026-04-09T12:00:04Z"}]});
    assert_eq!(
        repl.ok("appendDialog", timed.clone()),
        json!({"appended": 1, "totalDialogItems": 1})
    );
    assert_eq!(
        repl.ok("appendDialog", timed),
        json!({"appended": 0, "totalDialogItems": 1})
    );
    let untimed = json!({"dialogItems": [{"role": "tool", "content": "ok", "category": "tool_result"}]});
    assert_eq!(
        repl.ok("appendDialog", untimed.clone()),
        json!({"appended": 1, "totalDialogItems": 2})
    );
    assert_eq!(
        repl.ok("appendDialog", untimed),
        json!({"appended": 1, "totalDialogItems": 3}),
        "said again"
    );
    repl.end();
}

#[test]
fn a_subagents_turn_is_its_own() {
    let lab = Lab::new();
    let mut repl = Repl::in_turn(&lab);
    let own = "req-20260409T120003Z-review";
    repl.ok(
        "beginTurn",
        json!({"requestId": own, "queryTitle": "Review", "queryText": "", "subagent": "reviewer"}),
    );
    repl.ok("updateTurn", json!({"response": "of the root"}));
    repl.ok(
        "updateTurn",
        json!({"response": "of the reviewer", "subagent": "reviewer"}),
    );
    let third = "req-20260409T120004Z-review-2";
    repl.ok(
        "beginTurn",
        json!({"requestId": third, "queryTitle": "Again", "queryText": "", "subagent": "reviewer"}),
    );
    repl.ok("completeTurn", json!({"subagent": "reviewer"}));
    assert_eq!(
        repl.error("updateTurn", json!({"subagent": "reviewer"}))["code"],
        "turn_immutable"
    );
    assert_eq!(
        repl.error("updateTurn", json!({"subagent": "tester"}))["code"],
        "turn_not_found"
    );
    assert_eq!(repl.ok("currentSession", json!({}))["currentTurnRequestId"], T);
    let view = repl.ok("client.SessionLog.GetAsync", json!({"sessionId": S}));
    let states: Vec<(&str, &str, bool)> = view["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| {
            (
                t["requestId"].as_str().unwrap(),
                t["status"].as_str().unwrap(),
                t["presumed"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        states,
        [
            (T, "in_progress", false),
            (own, "failed", true),
            (third, "completed", false)
        ]
    );
    assert_eq!(
        (&view["turns"][0]["response"], &view["turns"][1]["response"]),
        (&json!("of the root"), &json!("of the reviewer"))
    );
    assert_eq!(
        (&view["turns"][1]["agent"], view["turns"][0].get("agent")),
        (&json!("reviewer"), None)
    );
    repl.end();
}

#[test]
fn a_whole_session_is_merged_in_and_erases_nothing() {
    let lab = Lab::new();
    let mut repl = Repl::of(&lab);
    let submit = |log: Value| json!({"sessionLog": log});
    let whole = json!({
        "sourceType": "YourAgent", "sessionId": S, "title": "T", "model": "m", "started": "2026-04-09T12:00:01Z", "turnCount": 2,
        "entries": [
            {"requestId": T, "timestamp": "2026-04-09T12:00:02Z", "queryTitle": "One", "queryText": "1", "response": "R", "status": "completed",
             "tags": ["a"], "contextList": ["f"], "tokenCount": 3,
             "actions": [{"order": 1, "description": "d", "type": "edit", "status": "completed", "filePath": "a.rs"}],
             "processingDialog": [{"role": "model", "content": "c", "category": "decision"}]},
            {"requestId": "req-20260409T120003Z-two", "queryTitle": "Two", "tags": ["x"], "interpretation": "I",
             "dialog": [{"role": "model", "content": "c", "category": "reasoning"}]},
        ],
    });
    let first = repl.ok("client.SessionLog.SubmitAsync", submit(whole.clone()));
    assert_eq!(
        first,
        json!({"sessionId": S, "created": true, "turnsAdded": 2, "turnsUpdated": 0, "turnsUnchanged": 0, "notKept": ["started", "turnCount"]})
    );
    let view = repl.ok(
        "client.SessionLog.GetAsync",
        json!({"sessionId": S, "agent": "YourAgent"}),
    );
    assert_eq!(
        (&view["turns"][0]["startedAt"], &view["started"]),
        (&json!("2026-04-09T12:00:02Z"), &json!("2026-04-09T12:00:02Z"))
    );
    assert_eq!(
        (&view["turns"][0]["response"], &view["turns"][0]["status"]),
        (&json!("R"), &json!("completed"))
    );
    assert_eq!(
        (
            &view["turns"][0]["dialog"][0]["content"],
            &view["filesModifiedCount"]
        ),
        (&json!("c"), &json!(1))
    );

    let before = log(&lab, S);
    let again = repl.ok("client.SessionLog.SubmitAsync", submit(whole));
    assert_eq!(
        (&again["created"], &again["turnsUnchanged"]),
        (&json!(false), &json!(2))
    );
    assert_eq!(log(&lab, S), before, "the same again writes nothing");
    let sparse = json!({
        "agent": "YourAgent", "sessionId": S, "title": "", "turns": [
            {"requestId": T, "response": "other", "status": "in_progress", "tags": ["late"]},
            {"requestId": "req-20260409T120003Z-two", "queryTitle": "", "tags": [], "interpretation": "", "processingDialog": []},
        ],
    });
    let result = repl.ok("client.SessionLog.SubmitAsync", submit(sparse));
    assert_eq!(result["turnsUnchanged"], 2);
    assert_eq!(log(&lab, S), before, "a sparse one erases nothing");
    let richer = json!({
        "agent": "YourAgent", "sessionId": S, "turns": [
            {"requestId": "req-20260409T120003Z-two", "tags": ["x", "y"], "status": "failed", "failureNote": "no", "errorCode": "e"},
        ],
    });
    assert_eq!(
        repl.ok("client.SessionLog.SubmitAsync", submit(richer))["turnsUpdated"],
        1
    );
    let view = repl.ok("client.SessionLog.GetAsync", json!({"sessionId": S}));
    let two = &view["turns"][1];
    assert_eq!(
        (&two["tags"], &two["interpretation"], &two["failure"]),
        (
            &json!(["x", "y"]),
            &json!("I"),
            &json!({"code": "e", "message": "no"})
        )
    );

    let bad = json!({"sessionLog": {"agent": "YourAgent", "sessionId": S, "turns": [{"requestId": T, "actions": [
        {"order": 1, "description": "d", "type": "edit", "status": "completed"},
        {"order": "1", "description": "d", "type": "edit", "status": "completed"}]}]}});
    let before = log(&lab, S);
    let error = repl.error("client.SessionLog.SubmitAsync", bad);
    assert_eq!(
        (
            &error["code"],
            &error["details"]["parameter"],
            &error["details"]["value"]
        ),
        (
            &json!("invalid_parameter"),
            &json!("sessionLog.turns[0].actions[1].order"),
            &json!("1")
        )
    );
    assert_eq!(log(&lab, S), before);
    repl.end();
}

#[test]
fn no_secret_is_written_or_said_again() {
    let lab = Lab::new();
    let mut repl = Repl::of(&lab);
    repl.ok(
        "openSession",
        json!({"agent": "YourAgent", "sessionId": S, "title": format!("t {SECRET}"), "model": SECRET}),
    );
    repl.ok(
        "beginTurn",
        json!({"requestId": T, "queryTitle": SECRET, "queryText": format!("Bearer {SECRET}")}),
    );
    repl.ok(
        "updateTurn",
        json!({"response": SECRET, "interpretation": SECRET, "tags": [SECRET], "contextList": [SECRET]}),
    );
    repl.ok("appendDialog", json!({"dialogItems": [{"role": "tool", "content": format!("token={SECRET}"), "category": "tool_call"}]}));
    repl.ok("appendActions", json!({"actions": [{"order": 1, "description": SECRET, "type": SECRET, "status": "failed", "filePath": SECRET}]}));
    repl.ok("failTurn", json!({"errorMessage": SECRET, "errorCode": SECRET}));
    repl.ok("setSessionTitle", json!({"title": format!("again {SECRET}")}));
    for (method, params) in [
        ("updateTurn", json!({SECRET: 1})),
        ("updateTurn", json!({"tokenCount": SECRET})),
        ("updateTurn", json!({"sessionId": SECRET})),
        ("updateTurn", json!({"requestId": SECRET})),
        (SECRET, json!({})),
    ] {
        let (kind, payload) = repl.ask(method, params);
        assert!(
            kind == "error" && !payload.to_string().contains(SECRET),
            "{payload}"
        );
    }
    repl.end();
    assert!(!String::from_utf8_lossy(&log(&lab, S)).contains(SECRET));
    assert!(shown(&lab, S).to_string().contains("[REDACTED:"));
}

#[test]
fn the_prompt_is_kept_as_the_user_wants_it() {
    for (keeps, title, text) in [("full", "Title", "Text"), ("title", "Title", ""), ("off", "", "")] {
        let lab = Lab::new();
        let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
        command.arg("repl").env("BOOKEND_LOG_PROMPTS", keeps);
        let mut repl = Repl::from(command);
        repl.open(S);
        repl.ok(
            "beginTurn",
            json!({"requestId": T, "queryTitle": "Title", "queryText": "Text"}),
        );
        let found = turn(&mut repl);
        assert_eq!(
            (&found["queryTitle"], &found["queryText"]),
            (&json!(title), &json!(text)),
            "{keeps}"
        );
        repl.end();
    }
}
