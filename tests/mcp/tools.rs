//! What the tools are, and what they do.

use serde_json::{Value, json};

use super::{S, Server, T, in_turn};
use crate::harness::Lab;

fn tools(server: &mut Server) -> Vec<Value> {
    let answer = server.ask("tools/list", json!({}));
    answer["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn every_tool_has_a_closed_schema_words_and_hints() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    let tools = tools(&mut server);
    let names: Vec<&str> = tools.iter().map(|t| t["name"].as_str().unwrap()).collect();
    for name in [
        "sessionlog_bootstrap",
        "sessionlog_open",
        "sessionlog_begin_turn",
        "sessionlog_update_turn",
        "sessionlog_append_dialog",
        "sessionlog_append_actions",
        "sessionlog_complete_turn",
        "sessionlog_fail_turn",
        "sessionlog_query",
        "sessionlog_submit",
        "initialize_workspace",
        "create_session",
        "update_session",
        "transition_phase",
        "get_session_status",
        "archive_session",
        "list_sessions",
        "validate_plan",
        "get_skill_content",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    for tool in &tools {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object", "{tool:#}");
        assert_eq!(schema["additionalProperties"], false, "{tool:#}");
        assert!(tool["description"].as_str().unwrap().len() > 10, "{tool:#}");
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name}: {tool:#}");
        }
        let hints = &tool["annotations"];
        let name = tool["name"].as_str().unwrap();
        let reads = [
            "sessionlog_query",
            "sessionlog_get",
            "sessionlog_current",
            "get_session_status",
            "list_sessions",
            "validate_plan",
            "get_skill_content",
        ]
        .contains(&name);
        assert_eq!(hints["readOnlyHint"], reads, "{tool:#}");
        assert_eq!(
            (&hints["destructiveHint"], &hints["openWorldHint"]),
            (&json!(name == "archive_session"), &json!(false)),
            "nothing is ever taken out of the log, and all is on this machine: {tool:#}"
        );
    }
    let hint = |name: &str| {
        tools.iter().find(|t| t["name"] == name).unwrap()["annotations"]["idempotentHint"].clone()
    };
    assert_eq!(
        (hint("sessionlog_complete_turn"), hint("sessionlog_append_dialog")),
        (json!(true), json!(false))
    );
    // They stand in every request of a model.
    let size = serde_json::to_string(&tools).unwrap().len();
    assert!(size < 32_000, "{size}");
    server.ends_well();
}

#[test]
fn the_seeds_walk() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    in_turn(&mut server);
    server.ok(
        "sessionlog_update_turn",
        json!({"interpretation": "JWT, to generate and to check", "tokenCount": 1250, "tags": ["feature"], "contextList": ["src/token.rs"]}),
    );
    let decision = json!({"role": "model", "content": "Decision: HS256.\nRationale: one service.", "category": "decision"});
    assert_eq!(
        server.ok("sessionlog_append_dialog", json!({"dialogItems": [decision]})),
        json!({"appended": 1, "totalDialogItems": 1})
    );
    let actions = json!([
        {"order": 1, "description": "Made it", "type": "create", "status": "completed", "filePath": "src/token.rs"},
        {"order": 2, "description": "Chose HS256", "type": "design_decision", "status": "completed", "filePath": ""},
    ]);
    assert_eq!(
        server.ok("sessionlog_append_actions", json!({"actions": actions})),
        json!({"appended": 2, "totalActions": 2})
    );
    let current = server.ok("sessionlog_current", json!({}));
    assert_eq!(
        (&current["sessionId"], &current["currentTurnRequestId"]),
        (&json!(S), &json!(T))
    );
    let done = server.ok("sessionlog_complete_turn", json!({"response": "It is in."}));
    assert_eq!(
        (&done["turnRequestId"], &done["status"]),
        (&json!(T), &json!("completed"))
    );
    assert_eq!(
        server.ok("sessionlog_complete_turn", json!({"response": "It is in."})),
        done,
        "once more is the same"
    );
    let late = server.error("sessionlog_update_turn", json!({"response": "Late"}));
    assert_eq!(late["code"], "turn_immutable");
    assert_eq!(late["details"]["turnRequestId"], T);

    let second = json!({"requestId": "req-20260409T130000Z-next", "queryTitle": "Next", "queryText": "Next"});
    server.ok("sessionlog_begin_turn", second);
    server.ok(
        "sessionlog_fail_turn",
        json!({"errorMessage": "a package is missing", "errorCode": "dependency_missing"}),
    );
    server.ok("sessionlog_set_title", json!({"title": "JWT"}));
    server.ok("sessionlog_close", json!({}));
    let found = server.ok("sessionlog_query", json!({"agent": "YourAgent", "text": "hs256"}));
    assert_eq!(
        (&found["totalCount"], &found["sessions"][0]["title"]),
        (&json!(1), &json!("JWT"))
    );
    let whole = server.ok("sessionlog_get", json!({"sessionId": S}));
    assert_eq!(whole["turns"][0]["actions"].as_array().unwrap().len(), 2);
    assert_eq!(whole["turns"][1]["failure"]["code"], "dependency_missing");
    server.ends_well();
}

#[test]
fn what_is_refused_is_a_result_that_says_what_to_do_and_writes_nothing() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    assert_eq!(
        server.error("sessionlog_current", json!({}))["code"],
        "session_not_found"
    );
    in_turn(&mut server);
    let log = lab.data_dir().join("log").join(S).join("log.jsonl");
    let before = std::fs::read(&log).unwrap();
    let action = |order: Value| json!({"actions": [{"order": order, "description": "d", "type": "edit", "status": "completed"}]});
    for (tool, arguments, code, parameter) in [
        (
            "sessionlog_append_actions",
            action(json!("1")),
            "invalid_parameter",
            "actions[0].order",
        ),
        (
            "sessionlog_append_actions",
            action(json!(1.5)),
            "invalid_parameter",
            "actions[0].order",
        ),
        (
            "sessionlog_append_actions",
            json!({}),
            "invalid_parameter",
            "actions",
        ),
        (
            "sessionlog_update_turn",
            json!({"respnse": "x"}),
            "invalid_parameter",
            "respnse",
        ),
        (
            "sessionlog_query",
            json!({"limit": 0}),
            "invalid_parameter",
            "limit",
        ),
        (
            "sessionlog_query",
            json!({"limit": 1001}),
            "invalid_parameter",
            "limit",
        ),
        ("sessionlog_bootstrap", json!({"x": 1}), "invalid_parameter", "x"),
    ] {
        let error = server.error(tool, arguments.clone());
        assert_eq!(
            (&error["code"], &error["details"]["parameter"]),
            (&json!(code), &json!(parameter)),
            "{tool} {arguments}"
        );
    }
    let again = json!({"agent": "YourAgent", "sessionId": S, "title": "t"});
    assert_eq!(
        server.error("sessionlog_open", again)["code"],
        "session_already_exists"
    );
    let id = json!({"requestId": "request-1", "queryTitle": "t", "queryText": "t"});
    let error = server.error("sessionlog_begin_turn", id);
    assert_eq!(
        (&error["code"], &error["details"]["providedId"]),
        (&json!("invalid_request_id"), &json!("request-1"))
    );
    assert_eq!(std::fs::read(&log).unwrap(), before);
    server.ends_well();
}

#[test]
fn no_secret_is_written_or_said_again() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    in_turn(&mut server);
    let secret = "ghp_0000Zk3VxQ8rT1mW6yB9cN4dF7gH2jL5pS0a";
    server.ok(
        "sessionlog_update_turn",
        json!({"response": format!("with {secret}")}),
    );
    let error = server.error("sessionlog_query", json!({"status": secret}));
    assert!(!error.to_string().contains(secret), "{error:#}");
    let whole = server.ok("sessionlog_get", json!({"sessionId": S}));
    assert!(!whole.to_string().contains(secret) && whole.to_string().contains("[REDACTED:"));
    server.ends_well();
}

#[test]
fn what_get_answers_may_be_submitted_again() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    in_turn(&mut server);
    let item = json!({"role": "model", "content": "Decided.", "category": "decision"});
    server.ok("sessionlog_append_dialog", json!({"dialogItems": [item]}));
    let action =
        json!({"order": 1, "description": "d", "type": "edit", "status": "completed", "filePath": "a.rs"});
    server.ok("sessionlog_append_actions", json!({"actions": [action]}));
    server.ok(
        "sessionlog_fail_turn",
        json!({"errorMessage": "no", "errorCode": "nope"}),
    );
    let whole = server.ok("sessionlog_get", json!({"sessionId": S}));
    let same = server.ok("sessionlog_submit", json!({"sessionLog": whole}));
    assert_eq!(
        (&same["created"], &same["turnsUnchanged"], &same["turnsAdded"]),
        (&json!(false), &json!(1), &json!(0)),
        "{same:#}"
    );
    let other = Lab::new();
    let mut elsewhere = Server::of(&other);
    let copied = elsewhere.ok("sessionlog_submit", json!({"sessionLog": whole}));
    assert_eq!(
        (&copied["created"], &copied["turnsAdded"]),
        (&json!(true), &json!(1))
    );
    let copy = elsewhere.ok("sessionlog_get", json!({"sessionId": S}));
    for member in ["title", "model", "agent"] {
        assert_eq!(copy[member], whole[member], "{member}");
    }
    for member in [
        "requestId",
        "queryTitle",
        "queryText",
        "status",
        "startedAt",
        "failure",
        "dialog",
    ] {
        assert_eq!(copy["turns"][0][member], whole["turns"][0][member], "{member}");
    }
    server.ends_well();
    elsewhere.ends_well();
}
