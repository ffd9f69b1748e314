//! The reference implementations' own cases about the methods, with our outcome (numbers as in the conformance table of
//! `tests/conformance.rs`). Cases with a test of their own:
//!
//! | case | outcome here | where |
//! | --- | --- | --- |
//! | T1, T2, T3 | complete: completed; again: the same answer or `turn_immutable`; without a turn: `turn_not_found` | walk, place |
//! | T4, F1 | what cannot be written is `storage_error`, and the turn goes on | bad_input |
//! | T9 | an update keeps what it does not say, the title only when it is given | merge |
//! | T10, T24 | another agent's session is refused | place |
//! | T12 | a caller in another project writes to no session of this one | place |
//! | T17, R8 | the same again is written once; a whole session is merged | merge |
//! | T22 | what is refused is not counted | bad_input |
//! | D1–D6 | no secret is written, nor said again | merge |
//! | R7 | `deprecated: true` on every `workflow.*` result, absent on `client.*` | every call of these tests |
//!
//! Decided differently: T5, T15, T16, T18–T21, F2, Q (a server that is down, queues): there is no server. T6–T8, T11
//! (counters in a local file): the log itself is counted. P6, T11, T12's marker, H1: no such files.

use serde_json::{Value, json};

use super::{Repl, S, T, log};
use crate::harness::Lab;

/// One case: what was done before, then a method, its parameters and what comes of it (`ok` or a code).
type Case = (
    &'static str,
    &'static [(&'static str, fn() -> Value)],
    &'static str,
    fn() -> Value,
    &'static str,
);

const OPEN: (&str, fn() -> Value) = (
    "openSession",
    || json!({"agent": "YourAgent", "sessionId": S, "title": "t"}),
);
const BEGIN: (&str, fn() -> Value) = (
    "beginTurn",
    || json!({"requestId": T, "queryTitle": "t", "queryText": ""}),
);
const COMPLETE: (&str, fn() -> Value) = ("completeTurn", || json!({"response": "r"}));
const FAIL: (&str, fn() -> Value) = ("failTurn", || json!({"errorMessage": "e"}));

fn open(agent: &str, id: &str) -> Value {
    json!({"agent": agent, "sessionId": id, "title": "t"})
}

fn begin(id: &str) -> Value {
    json!({"requestId": id, "queryTitle": "t", "queryText": "q"})
}

const CASES: &[Case] = &[
    (
        "R1",
        &[("bootstrap", || json!({})), ("bootstrap", || json!({}))],
        "bootstrap",
        || json!({}),
        "ok",
    ),
    (
        "R2 case",
        &[],
        "openSession",
        || open("copilot", "copilot-20260304T113901Z-test"),
        "invalid_parameter",
    ),
    (
        "R2 case of the id",
        &[],
        "openSession",
        || open("Copilot", "copilot-20260304T113901Z-test"),
        "invalid_session_id",
    ),
    (
        "R2 no time",
        &[],
        "openSession",
        || open("Copilot", "Copilot-20260304-test"),
        "invalid_session_id",
    ),
    (
        "R2 no such date",
        &[],
        "openSession",
        || open("Copilot", "Copilot-20260230T113901Z-test"),
        "invalid_session_id",
    ),
    (
        "R2 agent",
        &[],
        "openSession",
        || open("Copilot", S),
        "invalid_session_id",
    ),
    (
        "R2 twice",
        &[OPEN],
        "openSession",
        || open("YourAgent", S),
        "session_already_exists",
    ),
    (
        "R2 blank title",
        &[],
        "openSession",
        || json!({"agent": "YourAgent", "sessionId": S, "title": ""}),
        "invalid_parameter",
    ),
    (
        "R2 sourceType",
        &[],
        "openSession",
        || json!({"sourceType": "YourAgent", "sessionId": S, "title": "t"}),
        "ok",
    ),
    (
        "R3 no session",
        &[],
        "beginTurn",
        || begin(T),
        "session_not_found",
    ),
    (
        "R3 prefix",
        &[OPEN],
        "beginTurn",
        || begin("request-20260409T120001Z-task"),
        "invalid_request_id",
    ),
    (
        "R3 no time",
        &[OPEN],
        "beginTurn",
        || begin("req-20260304-task"),
        "invalid_request_id",
    ),
    (
        "R3 twice",
        &[OPEN, BEGIN],
        "beginTurn",
        || begin(T),
        "turn_already_exists",
    ),
    (
        "R3 twice, after its end",
        &[OPEN, BEGIN, COMPLETE],
        "beginTurn",
        || begin(T),
        "turn_already_exists",
    ),
    (
        "R4 no turn",
        &[OPEN],
        "updateTurn",
        || json!({"response": "x"}),
        "turn_not_found",
    ),
    (
        "R4 completed",
        &[OPEN, BEGIN, COMPLETE],
        "updateTurn",
        || json!({"response": "x"}),
        "turn_immutable",
    ),
    (
        "R4 failed",
        &[OPEN, BEGIN, FAIL],
        "appendActions",
        || json!({"actions": [{"order": 1, "description": "d", "type": "edit", "status": "completed"}]}),
        "turn_immutable",
    ),
    // Ours: what is empty erases nothing, so it is no error either.
    (
        "R5 null",
        &[OPEN, BEGIN],
        "completeTurn",
        || json!({"response": null}),
        "ok",
    ),
    (
        "R5 empty",
        &[OPEN, BEGIN],
        "completeTurn",
        || json!({"response": ""}),
        "ok",
    ),
    (
        "R5 no dialog",
        &[OPEN, BEGIN],
        "appendDialog",
        || json!({"dialogItems": []}),
        "invalid_parameter",
    ),
    (
        "R5 no actions",
        &[OPEN, BEGIN],
        "appendActions",
        || json!({"actions": []}),
        "invalid_parameter",
    ),
    (
        "R6 limit",
        &[],
        "queryHistory",
        || json!({"limit": -1}),
        "invalid_parameter",
    ),
    (
        "R6 offset",
        &[],
        "client.SessionLog.QueryAsync",
        || json!({"offset": -1}),
        "invalid_parameter",
    ),
    (
        "R6 nothing found",
        &[],
        "queryHistory",
        || json!({"agent": "Nobody"}),
        "ok",
    ),
    (
        "T2",
        &[OPEN, BEGIN, COMPLETE],
        "completeTurn",
        || json!({"response": "r"}),
        "ok",
    ),
    (
        "T3",
        &[OPEN],
        "completeTurn",
        || json!({"response": "r"}),
        "turn_not_found",
    ),
    (
        "T7",
        &[OPEN, BEGIN],
        "appendActions",
        || json!({"actions": [{"order": 1, "description": "d", "type": "commit", "status": "completed"}]}),
        "ok",
    ),
    (
        "T13",
        &[OPEN, BEGIN],
        "updateTurn",
        || json!({"requestId": "req-20260409T120009Z-other", "response": "x"}),
        "turn_not_found",
    ),
    (
        "T13 end",
        &[OPEN, BEGIN],
        "completeTurn",
        || json!({"turnRequestId": "req-20260409T120009Z-other"}),
        "turn_not_found",
    ),
    (
        "T14",
        &[OPEN, BEGIN],
        "beginTurn",
        || begin("req-20260409T120009Z-other"),
        "ok",
    ),
    (
        "no such method",
        &[],
        "session.init",
        || json!({}),
        "method_not_found",
    ),
    (
        "no such method here",
        &[],
        "workflow.todo.query",
        || json!({}),
        "method_not_found",
    ),
    (
        "no such method here",
        &[],
        "workflow.sessionlog.getHistory",
        || json!({}),
        "method_not_found",
    ),
    (
        "a placeholder is not taken for a turn",
        &[OPEN],
        "failTurn",
        || json!({"errorMessage": "e"}),
        "turn_not_found",
    ),
];

#[test]
fn the_references_cases() {
    for (case, before, method, params, outcome) in CASES {
        let lab = Lab::new();
        let mut repl = Repl::of(&lab);
        for (method, params) in *before {
            repl.ok(method, params());
        }
        let written = log(&lab, S);
        if *outcome == "ok" {
            repl.ok(method, params());
        } else {
            // Methods that are not of the namespace are asked as they are.
            let error = repl.error(method, params());
            assert_eq!(error["code"], *outcome, "{case}: {error:#}");
            assert_eq!(log(&lab, S), written, "{case}");
        }
        repl.end();
    }
}

#[test]
fn wrong_ids_say_what_they_should_be() {
    let lab = Lab::new();
    let mut repl = Repl::of(&lab);
    let error = repl.error(
        "openSession",
        open("Youragent", "youragent-20260409T120000Z-task"),
    );
    assert_eq!(
        error["details"],
        json!({
            "providedId": "youragent-20260409T120000Z-task",
            "expectedFormat": "<Agent>-<yyyyMMddTHHmmssZ>-<suffix>",
            "regex": r"^[A-Z][A-Za-z0-9]*-\d{8}T\d{6}Z-[a-z0-9]+(?:-[a-z0-9]+)*$",
            "hint": error["details"]["hint"],
        })
    );
    repl.open(S);
    let error = repl.error("beginTurn", begin("req-20260409-task"));
    assert_eq!(error["details"]["providedId"], "req-20260409-task");
    assert_eq!(
        error["details"]["regex"],
        r"^req-\d{8}T\d{6}Z-[a-z0-9]+(?:-[a-z0-9]+)*$"
    );
    repl.begin(T);
    let error = repl.error("beginTurn", begin(T));
    assert_eq!(
        (
            &error["details"]["requestId"],
            &error["details"]["sessionId"],
            &error["details"]["existingTurnStatus"]
        ),
        (&json!(T), &json!(S), &json!("in_progress"))
    );
    repl.end();
}

/// T14: the turn that was open reads as failed, its end as inferred, and it gives way to a real one.
#[test]
fn a_turn_that_is_open_when_the_next_begins_is_presumed_to_be_interrupted() {
    let lab = Lab::new();
    let mut repl = Repl::in_turn(&lab);
    repl.begin("req-20260409T120009Z-other");
    let turns =
        |repl: &mut Repl| repl.ok("client.SessionLog.GetAsync", json!({"sessionId": S}))["turns"].take();
    let found = turns(&mut repl);
    assert_eq!(
        (
            &found[0]["status"],
            &found[0]["presumed"],
            &found[0]["failure"]["code"],
            &found[1]["status"]
        ),
        (
            &json!("failed"),
            &json!(true),
            &json!("interrupted"),
            &json!("in_progress")
        )
    );
    repl.ok(
        "completeTurn",
        json!({"requestId": T, "response": "done after all"}),
    );
    let found = turns(&mut repl);
    assert_eq!(
        (&found[0]["status"], &found[0]["presumed"]),
        (&json!("completed"), &json!(false))
    );
    repl.end();
}

#[test]
fn the_history_is_filtered_and_paged() {
    let lab = Lab::new();
    let mut repl = Repl::of(&lab);
    for (n, agent) in ["A", "B", "A"].into_iter().enumerate() {
        let id = format!("{agent}-20260409T12000{n}Z-s");
        repl.ok(
            "openSession",
            json!({"agent": agent, "sessionId": id, "title": format!("Session {n}")}),
        );
        repl.ok(
            "beginTurn",
            json!({"requestId": T, "queryTitle": "t", "queryText": format!("about Ünder {n}")}),
        );
        if n == 1 {
            repl.ok("failTurn", json!({"errorMessage": "e"}));
            repl.ok("closeSession", json!({}));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let project = lab.project().canonicalize().unwrap();
    for method in ["queryHistory", "client.SessionLog.QueryAsync"] {
        for (params, found, total) in [
            (json!({}), vec![2, 1, 0], 3),
            (json!({"agent": "A"}), vec![2, 0], 2),
            (json!({"sourceType": "B"}), vec![1], 1),
            (json!({"limit": 1, "offset": 1}), vec![1], 3),
            (json!({"offset": 9}), vec![], 3),
            (json!({"text": "ünder 0"}), vec![0], 1),
            (json!({"text": "session 2"}), vec![2], 1),
            (json!({"text": "ünder", "agent": "A", "limit": 1}), vec![2], 2),
            (json!({"status": "failed"}), vec![1], 1),
            (json!({"status": "in_progress", "limit": 1}), vec![2], 2),
            (json!({"from": "2100-01-01T00:00:00Z"}), vec![], 0),
            (json!({"to": "2020-01-01T00:00:00Z"}), vec![], 0),
            (
                json!({"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00+02:00"}),
                vec![2, 1, 0],
                3,
            ),
            (json!({"project": project}), vec![2, 1, 0], 3),
            (json!({"project": project.parent()}), vec![2, 1, 0], 3),
            (json!({"project": "/nowhere"}), vec![], 0),
        ] {
            let list = repl.ok(method, params.clone());
            let titles: Vec<&str> = list["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s["title"].as_str().unwrap())
                .collect();
            let expected: Vec<String> = found.iter().map(|n| format!("Session {n}")).collect();
            assert_eq!(
                (titles, &list["totalCount"]),
                (expected.iter().map(String::as_str).collect(), &json!(total)),
                "{params}"
            );
        }
    }
    repl.end();
}

#[test]
fn a_session_is_named_and_closed() {
    let lab = Lab::new();
    let mut repl = Repl::in_turn(&lab);
    assert_eq!(
        repl.ok("setSessionTitle", json!({"title": "Better"})),
        json!({"sessionId": S, "title": "Better", "retitled": true})
    );
    let current = repl.ok("currentSession", json!({}));
    assert_eq!(
        (
            &current["sessionId"],
            &current["title"],
            &current["currentTurnRequestId"],
            &current["currentTurnStatus"],
            &current["turnCount"]
        ),
        (
            &json!(S),
            &json!("Better"),
            &json!(T),
            &json!("in_progress"),
            &json!(1)
        )
    );
    let closed = repl.ok("closeSession", json!({}));
    assert_eq!(
        closed,
        json!({"sessionId": S, "status": "failed", "closed": true})
    );
    let before = log(&lab, S);
    assert_eq!(repl.ok("closeSession", json!({"sessionId": S})), closed);
    assert_eq!(log(&lab, S), before, "closed once");
    // A later turn takes it up again.
    repl.ok(
        "beginTurn",
        json!({"sessionId": S, "requestId": "req-20260409T120009Z-on", "queryTitle": "t", "queryText": ""}),
    );
    assert_eq!(
        repl.ok("currentSession", json!({"sessionId": S}))["status"],
        "in_progress"
    );
    repl.end();
}
