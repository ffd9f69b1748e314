//! Whatever is sent: a named error, nothing written, and the next line is served.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{Repl, S, T, log, with_input};
use crate::harness::Lab;

#[test]
fn a_line_that_is_no_request_is_answered_and_the_next_one_served() {
    let lab = Lab::new();
    let mut repl = Repl::in_turn(&lab);
    let before = log(&lab, S);
    let request = |params: &str| {
        format!(
            r#"{{"type":"request","payload":{{"requestId":"r1","method":"workflow.sessionlog.updateTurn","params":{params}}}}}"#
        )
    };
    let long = request(&format!(r#"{{"response":"{}"}}"#, "x".repeat(10 * 1024 * 1024)));
    let mut not_utf8 = request(r#"{"response":"?"}"#).into_bytes();
    let at = not_utf8.iter().position(|b| *b == b'?').unwrap();
    not_utf8[at] = 0xff;
    let deep = request(&"[".repeat(100_000));
    for (line, id) in [
        (b"hello".as_slice(), "unknown"),
        (b"type: request", "unknown"),
        (b"{\"type\":\"request\"}", "unknown"),
        (request("{}").trim_end_matches('}').as_bytes(), "r1"),
        (request("[]").as_bytes(), "r1"),
        (request("{\"response\":\"a\0b\"}").as_bytes(), "r1"),
        (not_utf8.as_slice(), "r1"),
        (long.as_bytes(), "r1"),
        (deep.as_bytes(), "r1"),
    ] {
        let (kind, payload) = repl.line(line);
        let start = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        assert_eq!(
            (kind.as_str(), &payload["code"]),
            ("error", &json!("invalid_envelope")),
            "{start}"
        );
        assert_eq!(payload["requestId"], id, "{start}");
        assert!(payload["details"]["hint"].is_string());
    }
    repl.send(b"");
    repl.send(b"   \r");
    repl.ok("bootstrap", json!({}));
    assert_eq!(log(&lab, S), before);
    repl.end();
}

#[test]
fn a_parameter_that_is_wrong_is_named_and_nothing_is_written() {
    let lab = Lab::new();
    let mut repl = Repl::in_turn(&lab);
    let before = log(&lab, S);
    let item = |key: &str, value: Value| {
        let mut item = json!({"role": "model", "content": "c", "category": "decision"});
        item[key] = value;
        json!({"dialogItems": [item]})
    };
    let action = |key: &str, value: Value| {
        let mut action = json!({"order": 1, "description": "d", "type": "edit", "status": "completed"});
        action[key] = value;
        json!({"actions": [action]})
    };
    for (method, params, parameter) in [
        ("bootstrap", json!({"x": 1}), "x"),
        ("updateTurn", json!({"Response": "x"}), "Response"),
        ("updateTurn", json!({"response": 1}), "response"),
        ("updateTurn", json!({"response": "a\0b"}), "response"),
        (
            "updateTurn",
            json!({"response": "x".repeat(256 * 1024 + 1)}),
            "response",
        ),
        ("updateTurn", json!({"tokenCount": "1250"}), "tokenCount"),
        ("updateTurn", json!({"tokenCount": -1}), "tokenCount"),
        ("updateTurn", json!({"tags": "feature"}), "tags"),
        ("updateTurn", json!({"tags": ["ok", 1]}), "tags[1]"),
        ("appendDialog", json!({"dialogItems": []}), "dialogItems"),
        ("appendDialog", json!({"dialogItems": {"0": {}}}), "dialogItems"),
        (
            "appendDialog",
            item("role", json!("assistant")),
            "dialogItems[0].role",
        ),
        (
            "appendDialog",
            item("category", json!("thought")),
            "dialogItems[0].category",
        ),
        (
            "appendDialog",
            item("timestamp", json!("2026-02-30T12:00:00Z")),
            "dialogItems[0].timestamp",
        ),
        (
            "appendDialog",
            item("timestamp", json!("yesterday")),
            "dialogItems[0].timestamp",
        ),
        ("appendDialog", item("extra", json!(1)), "dialogItems[0].extra"),
        ("appendActions", json!({"actions": []}), "actions"),
        ("appendActions", json!({}), "actions"),
        ("appendActions", action("order", json!("1")), "actions[0].order"),
        ("appendActions", action("order", json!(1.5)), "actions[0].order"),
        (
            "appendActions",
            action("order", json!(i64::from(i32::MAX) + 1)),
            "actions[0].order",
        ),
        (
            "appendActions",
            action("status", json!("done")),
            "actions[0].status",
        ),
        ("appendActions", action("type", json!("")), "actions[0].type"),
        ("failTurn", json!({}), "errorMessage"),
        ("failTurn", json!({"errorMessage": null}), "errorMessage"),
        ("setSessionTitle", json!({"title": ""}), "title"),
        ("queryHistory", json!({"limit": 0}), "limit"),
        ("queryHistory", json!({"limit": 1001}), "limit"),
        ("queryHistory", json!({"offset": -1}), "offset"),
        ("queryHistory", json!({"status": "done"}), "status"),
        ("queryHistory", json!({"from": "2026-13-01T00:00:00Z"}), "from"),
        ("queryHistory", json!({"project": "here"}), "project"),
    ] {
        let error = repl.error(method, params.clone());
        assert_eq!(
            (&error["code"], &error["details"]["parameter"]),
            (&json!("invalid_parameter"), &json!(parameter)),
            "{method}"
        );
        assert!(error["details"]["constraint"].is_string());
    }
    assert_eq!(log(&lab, S), before);
    repl.end();
}

#[test]
fn what_the_disk_refuses_is_a_storage_error_and_the_log_as_before() {
    let lab = Lab::new();
    if lab.command("strace").arg("-V").output().is_err() {
        println!("skipped: strace is missing");
        return;
    }
    Repl::in_turn(&lab).end();
    let before = log(&lab, S);
    let path = lab.data_dir().join("log").join(S).join("log.jsonl");
    for (fault, method) in [
        ("write:error=ENOSPC", "completeTurn"),
        ("write:error=EROFS", "updateTurn"),
        ("write:error=EIO", "failTurn"),
        ("write:retval=7", "updateTurn"),
    ] {
        let mut command = lab.command("strace");
        command
            .args(["-f", "-o", "/dev/null", "-P"])
            .arg(&path)
            .args(["-e", &format!("inject={fault}")])
            .args([env!("CARGO_BIN_EXE_bookend"), "repl"]);
        let params = match method {
            "failTurn" => json!({"sessionId": S, "errorMessage": "x"}),
            _ => json!({"sessionId": S, "response": "x"}),
        };
        let method = super::full(method);
        let request =
            json!({"type": "request", "payload": {"requestId": "r1", "method": method, "params": params}});
        let output = with_input(command, format!("{request}\n").as_bytes());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["payload"]["code"], "storage_error", "{fault}: {answer}");
        assert_eq!(log(&lab, S), before, "{fault}");
    }
    let mut repl = Repl::of(&lab);
    assert_eq!(
        repl.ok("completeTurn", json!({"sessionId": S}))["turnRequestId"],
        T
    );
    repl.end();
    // A data directory that is none.
    let lab = Lab::new();
    std::fs::write(lab.data_dir(), "a file").unwrap();
    let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
    command.arg("repl").stderr(Stdio::null());
    let mut repl = Repl::from(command);
    for (method, params) in [
        ("bootstrap", json!({})),
        (
            "openSession",
            json!({"agent": "YourAgent", "sessionId": S, "title": "t"}),
        ),
        ("queryHistory", json!({})),
    ] {
        assert_eq!(repl.error(method, params)["code"], "storage_error", "{method}");
    }
}

#[test]
fn a_reader_that_has_gone_ends_it_in_silence() {
    let lab = Lab::new();
    let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
    let mut child = command
        .arg("repl")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let request =
        br#"{"type":"request","payload":{"requestId":"r","method":"workflow.sessionlog.bootstrap"}}"#;
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..3 {
        drop(std::io::Write::write_all(
            &mut stdin,
            &[request.as_slice(), b"\n"].concat(),
        ));
    }
    // Its stdin stays open: it ends because nobody reads.
    let output = {
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        output
    };
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), b"".as_slice())
    );
}
