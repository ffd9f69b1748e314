//! In which session and project a call is, when it names none.

use std::process::Command;

use serde_json::{Value, json};

use super::{Server, command};
use crate::harness::Lab;

const ID: &str = "req-20260409T120002Z-cart";

fn begin() -> Value {
    json!({"requestId": ID, "queryTitle": "Cart", "queryText": "Make a cart"})
}

fn in_host(lab: &Lab, session: &str) -> Command {
    let mut command = command(lab);
    command.env("CLAUDE_CODE_SESSION_ID", session);
    command
}

#[test]
fn in_a_hooked_session_the_hooks_turn_is_adopted_and_their_stop_ends_it() {
    let lab = Lab::new();
    // A host starts its servers before it runs a hook.
    let mut server = Server::agreed(in_host(&lab, "s1"), json!({}));
    lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
    lab.prompt("p1", "Make the cart");
    let own = lab.log_of("s1").turns[0].request_id.clone();
    assert_eq!(server.ok("sessionlog_begin_turn", begin())["adopted"], json!(own));
    server.ok("sessionlog_update_turn", json!({"response": "Mine"}));
    lab.stop("p1", "The host's");
    let log = lab.log_of("s1");
    let [turn] = log.turns.as_slice() else {
        panic!("one turn: {:#?}", log.turns)
    };
    assert_eq!(
        (turn.status, turn.response.as_deref()),
        ("completed", Some("Mine"))
    );
    server.ends_well();
}

/// The hooks see those calls too: they are no work of the turn.
#[test]
fn a_call_of_a_tool_of_the_log_is_no_action_and_not_what_was_done_last() {
    let lab = Lab::new();
    lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
    lab.prompt("p1", "Make the cart");
    lab.write("p1", "w1", "/p/cart.rs");
    let before = lab.state("s1").current_task.unwrap();
    for (event, how) in [
        ("PostToolUse", json!({"tool_response": {"ok": true}})),
        (
            "PostToolUseFailure",
            json!({"error": "429 Too Many Requests: rate limit exceeded", "is_interrupt": false}),
        ),
    ] {
        let call = json!({
            "tool_name": "mcp__plugin_bookend_bookend__sessionlog_update_turn", "tool_use_id": event,
            "tool_input": {"response": "x", "path": "/p/other.rs"},
        });
        lab.send(event, crate::harness::with(call, how));
    }
    let state = lab.state("s1");
    let task = state.current_task.unwrap();
    assert_eq!(
        (&task.last_action, &task.context_anchor),
        (&before.last_action, &before.context_anchor)
    );
    assert!(state.rate_limit.is_none());
    let log = lab.log_of("s1");
    assert_eq!(log.turns[0].actions.len(), 1, "{:#?}", log.turns[0].actions);
}

/// A server keeps the environment of the session in which its host started it.
#[test]
fn after_a_clear_calls_are_in_the_new_session_of_the_same_host() {
    let lab = Lab::new();
    let mut server = Server::agreed(in_host(&lab, "s1"), json!({}));
    lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
    lab.prompt("p1", "Before");
    lab.stop("p1", "Done");
    let before = lab.log_of("s1").session_id;
    assert_eq!(
        server.ok("sessionlog_current", json!({}))["sessionId"],
        json!(before)
    );
    lab.send("SessionEnd", json!({"reason": "clear", "prompt_id": null}));
    lab.send(
        "SessionStart",
        json!({"session_id": "s2", "source": "clear", "prompt_id": null}),
    );
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "s2", "prompt_id": "p2", "prompt": "Behind"}),
    );
    let behind = lab.log_of("s2").session_id;
    assert_ne!(before, behind);
    assert_eq!(
        server.ok("sessionlog_current", json!({}))["sessionId"],
        json!(behind)
    );
    server.ok("sessionlog_begin_turn", begin());
    assert_eq!(lab.log_of("s2").turns[0].aliases.len(), 1);
    server.ends_well();
}

#[test]
fn with_two_live_sessions_of_a_host_that_names_none_the_error_lists_them() {
    let lab = Lab::new();
    for session in ["a1", "a2"] {
        lab.send(
            "SessionStart",
            json!({"session_id": session, "source": "startup", "prompt_id": null}),
        );
        lab.send(
            "UserPromptSubmit",
            json!({"session_id": session, "prompt_id": "p", "prompt": format!("Of {session}")}),
        );
    }
    let mut server = Server::of(&lab);
    let error = server.error("sessionlog_begin_turn", begin());
    assert_eq!(error["code"], "session_not_found");
    let candidates = error["details"]["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 2, "{error:#}");
    let chosen = &candidates[0]["sessionId"];
    let mut named = begin();
    named["sessionId"] = chosen.clone();
    server.ok("sessionlog_begin_turn", named);
    server.ends_well();
}

#[test]
fn the_project_is_the_clients_first_root() {
    let lab = Lab::new();
    let root = lab.path("my wörk");
    std::fs::create_dir_all(root.join(".git")).unwrap();
    let mut server = Server::agreed(command(&lab), json!({"roots": {"listChanged": true}}));
    // Calls wait for the answer, so that none is in another project.
    let open = |suffix: &str| {
        let id = format!("YourAgent-20260409T120001Z-{suffix}");
        json!({"name": "sessionlog_open", "arguments": {"agent": "YourAgent", "sessionId": id, "title": "t"}})
    };
    let early = server.request("tools/call", open("early"));
    let asked = server.receive();
    assert_eq!(asked["method"], "roots/list");
    let uri = format!("file://{}", root.to_str().unwrap().replace(' ', "%20"));
    server.send(
        &json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": uri, "name": "w"}]}}),
    );
    assert_eq!(server.receive()["id"], early);
    let project = |server: &mut Server, suffix: &str| {
        let id = format!("YourAgent-20260409T120001Z-{suffix}");
        server.ok("sessionlog_get", json!({"sessionId": id}))["projectRoot"].clone()
    };
    let real = root.canonicalize().unwrap();
    assert_eq!(project(&mut server, "early"), json!(real));

    // It moves; and a client that does not answer, or tells nothing of use, changes nothing.
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    let asked = server.receive();
    let roots = json!({"roots": [{"uri": "https://example.org/"}, {"uri": "file:///no/such"}]});
    server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": roots}));
    let late = server.ask("tools/call", open("late"));
    assert_eq!(late["result"]["isError"], false);
    assert_eq!(project(&mut server, "late"), json!(real));
    server.ends_well();
}

#[test]
fn without_roots_it_is_the_directory_that_the_host_names_else_the_process_own() {
    let lab = Lab::new();
    let elsewhere = lab.path("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let mut named = command(&lab);
    named.env("CLAUDE_PROJECT_DIR", &elsewhere);
    for (command, suffix, project) in [(named, "named", elsewhere), (command(&lab), "own", lab.project())] {
        let mut server = Server::agreed(command, json!({}));
        let id = format!("YourAgent-20260409T120001Z-{suffix}");
        server.ok(
            "sessionlog_open",
            json!({"agent": "YourAgent", "sessionId": id, "title": "t"}),
        );
        let found = server.ok("sessionlog_get", json!({"sessionId": id}))["projectRoot"].clone();
        assert_eq!(found, json!(project.canonicalize().unwrap()));
        server.ends_well();
    }
}
