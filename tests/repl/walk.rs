//! The seed's own examples, in its order, with its results field by field.

use serde_json::{Value, json};

use super::{Repl, S, T, log, shown};
use crate::harness::Lab;

/// A time to the second, in UTC.
#[track_caller]
fn is_stamp(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("no time: {value}"));
    assert!(
        text.len() == 20 && text.parse::<chrono::DateTime<chrono::Utc>>().is_ok(),
        "{text}"
    );
}

#[track_caller]
fn keys(value: &Value, expected: &[&str]) {
    let found: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(found, expected);
}

#[test]
fn the_seeds_walk_from_bootstrap_to_history() {
    let lab = Lab::new();
    let mut repl = Repl::of(&lab);
    // Its first envelope, byte for byte as one line.
    let (kind, payload) = repl.line(
        br#"{"type":"request","payload":{"requestId":"req-20260409T120000Z-bootstrap-001","method":"workflow.sessionlog.bootstrap","params":{}}}"#,
    );
    assert_eq!(kind, "result");
    assert_eq!(
        payload,
        json!({"requestId": "req-20260409T120000Z-bootstrap-001", "result": {"initialized": true}, "deprecated": true})
    );
    assert_eq!(repl.ok("bootstrap", json!({})), json!({"initialized": true}));

    let opened = repl.ok(
        "openSession",
        json!({"agent": "YourAgent", "sessionId": S, "title": "Implement JWT authentication", "model": "model-1"}),
    );
    keys(&opened, &["sessionId", "started"]);
    assert_eq!(opened["sessionId"], S);
    is_stamp(&opened["started"]);

    let begun = repl.ok(
        "beginTurn",
        json!({"requestId": T, "queryTitle": "Add JWT authentication",
               "queryText": "Implement JWT token generation and validation for the API"}),
    );
    keys(&begun, &["turnRequestId", "status", "timestamp"]);
    assert_eq!(
        (&begun["turnRequestId"], &begun["status"]),
        (&json!(T), &json!("in_progress"))
    );
    is_stamp(&begun["timestamp"]);

    let updated = repl.ok(
        "updateTurn",
        json!({"response": "Created TokenService and JwtValidator classes",
               "interpretation": "User wants JWT authentication with token generation and validation",
               "tokenCount": 1250, "tags": ["feature", "security", "FR-AUTH-001"],
               "contextList": ["src/Services/TokenService.cs", "src/Services/JwtValidator.cs"]}),
    );
    keys(&updated, &["updated", "lastUpdated"]);
    assert_eq!(updated["updated"], true);
    is_stamp(&updated["lastUpdated"]);

    let dialog = repl.ok(
        "appendDialog",
        json!({"dialogItems": [
            {"timestamp": "2026-04-09T12:00:04Z", "role": "model", "category": "reasoning",
             "content": "Analyzing authentication requirements and existing patterns..."},
            {"timestamp": "2026-04-09T12:00:05Z", "role": "model", "category": "decision",
             "content": "Decision: Use HS256 for JWT signing.\nRationale: Symmetric key simplifies key management.\n"},
        ]}),
    );
    assert_eq!(dialog, json!({"appended": 2, "totalDialogItems": 2}));

    let actions = repl.ok(
        "appendActions",
        json!({"actions": [
            {"order": 1, "description": "Created TokenService with JWT generation", "type": "create", "status": "completed", "filePath": "src/Services/TokenService.cs"},
            {"order": 2, "description": "Created JwtValidator for token validation", "type": "create", "status": "completed", "filePath": "src/Services/JwtValidator.cs"},
            {"order": 3, "description": "Chose HS256 for JWT signing", "type": "design_decision", "status": "completed", "filePath": ""},
        ]}),
    );
    assert_eq!(actions, json!({"appended": 3, "totalActions": 3}));

    let answer = "JWT authentication implemented:\n- All unit tests passing\n";
    let completed = repl.ok("completeTurn", json!({"response": answer}));
    keys(&completed, &["turnRequestId", "status", "completedAt"]);
    assert_eq!(
        (&completed["turnRequestId"], &completed["status"]),
        (&json!(T), &json!("completed"))
    );
    is_stamp(&completed["completedAt"]);

    let second = "req-20260409T120007Z-package";
    repl.begin(second);
    let failed = repl.ok(
        "failTurn",
        json!({"errorMessage": "Unable to complete - missing System.IdentityModel.Tokens.Jwt package", "errorCode": "dependency_missing"}),
    );
    keys(&failed, &["turnRequestId", "status", "failedAt", "errorCode"]);
    assert_eq!(
        (&failed["turnRequestId"], &failed["status"], &failed["errorCode"]),
        (&json!(second), &json!("failed"), &json!("dependency_missing"))
    );
    is_stamp(&failed["failedAt"]);

    let history = repl.ok(
        "queryHistory",
        json!({"agent": "YourAgent", "limit": 10, "offset": 0}),
    );
    assert_eq!(
        (&history["totalCount"], &history["offset"], &history["limit"]),
        (&json!(1), &json!(0), &json!(10))
    );
    let session = &history["sessions"][0];
    keys(
        session,
        &[
            "agent",
            "sessionId",
            "title",
            "model",
            "started",
            "lastUpdated",
            "status",
            "turnCount",
            "filesModifiedCount",
            "tags",
        ],
    );
    is_stamp(&session["started"]);
    is_stamp(&session["lastUpdated"]);
    assert_eq!(
        (
            &session["title"],
            &session["model"],
            &session["status"],
            &session["turnCount"]
        ),
        (
            &json!("Implement JWT authentication"),
            &json!("model-1"),
            &json!("in_progress"),
            &json!(2)
        )
    );
    assert_eq!(
        (&session["filesModifiedCount"], &session["tags"]),
        (&json!(2), &json!(["FR-AUTH-001", "feature", "security"]))
    );
    repl.ok("closeSession", json!({}));
    repl.end();

    // What a person sees is the same.
    let view = shown(&lab, S);
    let turn = &view["turns"][0];
    assert_eq!(
        (&view["status"], &turn["status"], &turn["origin"]),
        (&json!("failed"), &json!("completed"), &json!("model"))
    );
    assert_eq!(
        (&turn["response"], &turn["tokenCount"]),
        (&json!(answer), &json!(1250))
    );
    assert_eq!(
        turn["contextList"],
        json!(["src/Services/TokenService.cs", "src/Services/JwtValidator.cs"])
    );
    assert_eq!(
        (&turn["dialog"][1]["category"], &turn["dialog"][1]["timestamp"]),
        (&json!("decision"), &json!("2026-04-09T12:00:05Z"))
    );
    assert_eq!(
        (
            &turn["actions"][2]["order"],
            &turn["actions"][2]["type"],
            turn["actions"][2].get("filePath")
        ),
        (&json!(3), &json!("design_decision"), None)
    );
    assert_eq!(view["turns"][1]["failure"]["code"], "dependency_missing");
    let text = lab.bookend(&["log", "show", S]).stdout;
    for part in [
        "User wants JWT",
        "Decision: Use HS256",
        "FR-AUTH-001",
        "JwtValidator.cs",
        "1250 tokens",
        "design_decision",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_turn_that_has_its_end_is_immutable_and_the_same_end_again_is_the_same_answer() {
    let lab = Lab::new();
    let mut repl = Repl::in_turn(&lab);
    let done = repl.ok("completeTurn", json!({"response": "Done."}));
    let before = log(&lab, S);
    assert_eq!(repl.ok("completeTurn", json!({"response": "Done."})), done);
    assert_eq!(
        repl.ok("completeTurn", json!({"response": "Done.", "turnRequestId": T})),
        done
    );
    for (method, params) in [
        ("completeTurn", json!({"response": "Done!"})),
        ("completeTurn", json!({})),
        ("failTurn", json!({"errorMessage": "Done."})),
        ("updateTurn", json!({"response": "Done."})),
        (
            "appendDialog",
            json!({"dialogItems": [{"role": "model", "content": "x", "category": "decision"}]}),
        ),
        (
            "appendActions",
            json!({"actions": [{"order": 1, "description": "x", "type": "edit", "status": "completed"}]}),
        ),
    ] {
        let error = repl.error(method, params);
        assert_eq!(
            (&error["code"], &error["message"]),
            (
                &json!("turn_immutable"),
                &json!("Turn is immutable (status: completed)")
            ),
            "{method}"
        );
        let details = &error["details"];
        assert_eq!(
            (
                &details["turnRequestId"],
                &details["currentStatus"],
                &details["completedAt"],
                &details["hint"]
            ),
            (
                &json!(T),
                &json!("completed"),
                &done["completedAt"],
                &json!("Begin a new turn instead")
            )
        );
    }
    assert_eq!(log(&lab, S), before, "nothing was written");

    repl.begin("req-20260409T120003Z-two");
    let failed = repl.ok("failTurn", json!({"errorMessage": "No.", "errorCode": "no"}));
    let before = log(&lab, S);
    assert_eq!(
        repl.ok("failTurn", json!({"errorMessage": "No.", "errorCode": "no"})),
        failed
    );
    assert_eq!(
        repl.error("failTurn", json!({"errorMessage": "No."}))["code"],
        "turn_immutable"
    );
    assert_eq!(
        repl.error("completeTurn", json!({}))["details"]["currentStatus"],
        "failed"
    );
    assert_eq!(log(&lab, S), before);
    repl.end();
}
