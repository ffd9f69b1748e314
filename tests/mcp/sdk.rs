//! A real client: the official Python SDK. `.ci/run` installs it and names its environment in `BOOKEND_TEST_MCP`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{Lab, say};

/// Walks through a session of the log and an orchestration in that way of shaking hands; what it saw.
fn walk(mode: &str) -> Option<Value> {
    let Some(venv) = std::env::var_os("BOOKEND_TEST_MCP").map(PathBuf::from) else {
        say("skipped: no MCP SDK for Python (`pip install mcp` in a venv, and name it in BOOKEND_TEST_MCP)");
        return None;
    };
    let lab = Lab::new();
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/client.py");
    let output = lab
        .command(venv.join("bin/python").to_str().unwrap())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args([client, env!("CARGO_BIN_EXE_bookend"), mode])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{mode}: {said}");
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    let log = serde_json::from_str::<Value>(&lab.bookend(&["log", "show", "--json"]).stdout).unwrap();
    assert_eq!(log["turns"][0]["status"], "completed", "{log:#}");
    assert_eq!(log["turns"][0]["actions"].as_array().unwrap().len(), 2);
    Some(seen)
}

#[test]
fn the_python_sdk_walks_through_a_session_and_an_orchestration_in_both_ways_of_shaking_hands() {
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let Some(seen) = walk(mode) else { return };
        assert_eq!(seen["version"], version, "{seen:#}");
        assert_eq!(seen["server"], "bookend");
        assert!(seen["tools"].as_array().unwrap().len() >= 10);
        assert_eq!(seen["resources"].as_array().unwrap().len(), 3);
        assert_eq!(
            seen["refused"],
            json!({"argument": "invalid_parameter", "late": "turn_immutable", "tool": -32_602}),
            "{seen:#}"
        );
        assert_eq!(seen["found"], 1);
        // All that a client can bring about by itself.
        assert_eq!(
            seen["codes"],
            json!([
                "already_archived",
                "dependencies_incomplete",
                "invalid_parameter",
                "invalid_plan",
                "invalid_state",
                "invalid_transition",
                "invalid_workspace",
                "no_active_session",
                "phase_not_found",
                "phases_incomplete",
                "retries_exhausted",
                "session_active",
                "session_mismatch",
                "user_decision_required",
            ])
        );
    }
}
