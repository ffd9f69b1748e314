//! The protocol, line by line.

use std::os::unix::process::ExitStatusExt;

use serde_json::{Value, json};

use super::{S, Server, command, in_turn, initialize};
use crate::harness::Lab;

#[test]
fn the_version_is_the_clients_where_it_is_known_and_else_ours() {
    let lab = Lab::new();
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut server = Server::new(command(&lab));
        let answer = server.ask("initialize", initialize(asked, json!({})));
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], agreed, "{asked}: {answer:#}");
        assert_eq!(result["serverInfo"]["name"], "bookend");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert!(result["capabilities"]["tools"].is_object());
        let instructions = result["instructions"].as_str().unwrap();
        assert!(instructions.contains("sessionlog_begin_turn") && instructions.len() < 1_500);
        server.ends_well();
    }
}

#[test]
fn the_newest_protocol_needs_no_handshake() {
    let lab = Lab::new();
    let mut server = Server::new(command(&lab));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {"listChanged": true}},
    });
    let found = server.ask("server/discover", json!({"_meta": meta}));
    assert!(
        found["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28")),
        "{found:#}"
    );
    let tools = server.ask("tools/list", json!({"_meta": meta}));
    assert!(tools["result"]["tools"].as_array().unwrap().len() >= 10);
    let call = json!({"_meta": meta, "name": "sessionlog_bootstrap", "arguments": {}});
    let called = server.ask("tools/call", call);
    assert_eq!(
        called["result"]["structuredContent"],
        json!({"initialized": true})
    );
    server.ends_well();
}

#[test]
fn what_is_no_message_is_passed_over_and_the_next_line_is_served() {
    let lab = Lab::new();
    let mut server = Server::new(command(&lab));
    // Before the handshake too.
    for line in [&b"not json"[..], b"{", b"", b"\xff\xfe", b"\0", b"   "] {
        server.raw(line);
    }
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    server.ask("initialize", initialize("2025-06-18", json!({})));
    for line in [&b"not json"[..], b"{\"jsonrpc\":", b"\xff\xfe"] {
        server.raw(line);
        assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    }
    for line in [
        "[]",
        "7",
        "{\"id\":13}",
        "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
    ] {
        server.raw(line.as_bytes());
        assert_eq!(server.receive()["error"]["code"], -32_600, "{line}");
    }
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/nobody/knows"}));
    // A mark, and the other line end.
    server.raw("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"text\",\"method\":\"ping\"}\r".as_bytes());
    assert_eq!(server.receive()["id"], "text");
    server.ends_well();
}

#[test]
fn what_there_is_not_is_an_error_of_the_protocol() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    for (method, params, code, says) in [
        (
            "tools/call",
            json!({"name": "no_such"}),
            -32_602,
            "Unknown tool: no_such",
        ),
        ("tools/call", json!({"name": ""}), -32_602, "Unknown tool"),
        ("tools/call", json!({"name": 7}), -32_602, "name (text)"),
        ("tools/call", json!({"arguments": {}}), -32_602, "name (text)"),
        (
            "tools/call",
            json!({"name": "sessionlog_current", "arguments": []}),
            -32_602,
            "arguments (an object)",
        ),
        (
            "resources/read",
            json!({"uri": "skill://none"}),
            -32_002,
            "no such resource",
        ),
        ("resources/read", json!({}), -32_602, "uri (text)"),
        ("no/such", json!({}), -32_601, "There is no method no/such"),
        ("prompts/list", json!({}), -32_601, "prompts/list"),
    ] {
        let answer = server.ask(method, params.clone());
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer:#}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{method} {params}: {message}");
    }
    // Of a message whose params are no object the SDK knows no id.
    server.request("tools/call", json!([]));
    assert_eq!(server.receive()["error"]["code"], -32_600);
    server.ends_well();
}

#[test]
fn the_skills_are_resources() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    let list = server.ask("resources/list", json!({}));
    let uris: Vec<&Value> = list["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["uri"])
        .collect();
    assert_eq!(
        uris,
        [
            "skill://orchestration/SKILL.md",
            "skill://session-log/SKILL.md",
            "skill://task-state/SKILL.md"
        ]
    );
    let read = server.ask("resources/read", json!({"uri": "skill://session-log/SKILL.md"}));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("---\nname: session-log\n"), "{read:#}");
    server.ends_well();
}

/// A client may send what it has to say at once, and go.
#[test]
fn requests_without_waiting_are_done_in_their_order_and_answered_before_the_end() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    in_turn(&mut server);
    let mut wanted = Vec::new();
    for n in 1..=60 {
        let item = json!({"role": "model", "content": format!("step {n}"), "category": "reasoning"});
        let call = json!({"name": "sessionlog_append_dialog", "arguments": {"dialogItems": [item]}});
        wanted.push((server.request("tools/call", call), n));
    }
    let (answers, status) = server.end();
    assert_eq!(status.code(), Some(0));
    assert_eq!(answers.len(), 60);
    for (id, n) in wanted {
        let answer = answers.iter().find(|a| a["id"] == id).unwrap();
        assert_eq!(
            answer["result"]["structuredContent"]["totalDialogItems"], n,
            "{answer:#}"
        );
    }
}

#[test]
fn a_call_that_waits_for_a_lock_holds_up_no_ping_and_those_cancelled_behind_it_are_not_done() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    in_turn(&mut server);
    let log = lab.data_dir().join("log").join(S).join("log.jsonl");
    let held = std::fs::File::open(&log).unwrap();
    held.lock().unwrap();
    let update = |text: &str| json!({"name": "sessionlog_update_turn", "arguments": {"tags": [text]}});
    let first = server.request("tools/call", update("first"));
    let second = server.request("tools/call", update("second"));
    let third = server.request("tools/call", update("third"));
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": second, "reason": "enough"}});
    server.send(&cancelled);
    // It was read when the next one is answered.
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    held.unlock().unwrap();
    for id in [first, third] {
        let answer = server.receive();
        assert_eq!(
            (&answer["id"], &answer["result"]["isError"]),
            (&json!(id), &json!(false))
        );
    }
    let tags = server.ok("sessionlog_get", json!({"sessionId": S}))["turns"][0]["tags"].clone();
    assert_eq!(tags, json!(["first", "third"]));
    server.ends_well();
}

#[test]
fn ten_megabytes_are_taken_and_what_is_longer_than_a_line_may_be_is_passed_over() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    in_turn(&mut server);
    // More than a parameter may hold: refused by its name, and nothing of it comes back.
    let long = "x".repeat(10 * 1024 * 1024);
    let error = server.error("sessionlog_update_turn", json!({"response": long}));
    assert_eq!(
        (&error["code"], &error["details"]["parameter"]),
        (&json!("invalid_parameter"), &json!("response"))
    );
    assert!(error.to_string().len() < 2_000);
    // As much in many parameters is kept.
    let item = json!({"role": "model", "content": "y".repeat(10_000), "category": "observation"});
    let items = vec![item; 1_000];
    let kept = server.ok("sessionlog_append_dialog", json!({"dialogItems": items}));
    assert_eq!(kept["appended"], 1_000);
    server.raw(&vec![b'z'; 40 * 1024 * 1024]);
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    server.ends_well();
}

#[test]
fn it_ends_with_stdin_and_with_a_signal() {
    let lab = Lab::new();
    Server::new(command(&lab)).ends_well();
    let mut server = Server::of(&lab);
    in_turn(&mut server);
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(server.child.wait().unwrap().signal(), Some(15));
    // What was answered before is there.
    let mut again = Server::of(&lab);
    assert_eq!(
        again.ok("sessionlog_get", json!({"sessionId": S}))["turnCount"],
        1
    );
    again.ends_well();
}

/// Whoever reads stdout has gone: the server goes on to the end of stdin, and does no harm.
#[test]
fn a_closed_stdout_harms_nothing() {
    let lab = Lab::new();
    let mut server = Server::of(&lab);
    in_turn(&mut server);
    let stdout = std::process::Command::new("true")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap()
        .stdout
        .take()
        .unwrap();
    server.stdout = std::io::BufReader::new(stdout);
    server.request(
        "tools/call",
        json!({"name": "sessionlog_update_turn", "arguments": {"tags": ["unheard"]}}),
    );
    let (_, status) = server.end();
    assert_eq!(status.code(), Some(0));
    let mut again = Server::of(&lab);
    let tags = again.ok("sessionlog_get", json!({"sessionId": S}))["turns"][0]["tags"].clone();
    assert_eq!(tags, json!(["unheard"]));
    again.ends_well();
}
