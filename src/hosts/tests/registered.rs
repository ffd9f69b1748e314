//! The registration documents.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::registration::{command_line, hooks_json, plugin_hooks_json, rows};
use super::{all, decode_own};
use crate::hook::Hook;
use crate::hosts::Host;

fn committed() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("hooks/hooks.json")
}

#[test]
fn the_committed_registration_is_the_generated_one() {
    let text = fs::read_to_string(committed()).unwrap();
    assert!(
        text == plugin_hooks_json(),
        "hooks/hooks.json is out of date: cargo test --lib write_the_committed_registration -- --ignored"
    );
}

#[test]
#[ignore = "writes hooks/hooks.json; run it after a change of the rows"]
#[expect(
    clippy::disallowed_methods,
    reason = "writes into the source tree, no hook does this"
)]
fn write_the_committed_registration() {
    fs::write(committed(), plugin_hooks_json()).unwrap();
}

#[test]
fn every_command_is_one_executable_with_a_quoted_path() {
    for host in Host::ALL {
        let document = hooks_json(host, |hook| {
            command_line(&format!("/home/a b/bin/{}", hook.name()), host)
        });
        let mut seen = 0;
        for groups in document["hooks"].as_object().unwrap().values() {
            for hook in groups
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|g| g["hooks"].as_array().unwrap())
            {
                let command = hook["command"].as_str().unwrap();
                let rest = command.strip_prefix("\"/home/a b/bin/").unwrap();
                let (name, rest) = rest.split_once('"').unwrap();
                assert!(Hook::from_name(name).is_some(), "{command}");
                assert_eq!(rest, format!(" --host {}", host.id()));
                assert_eq!(hook["type"], "command");
                seen += 1;
            }
        }
        assert_eq!(seen, rows(host).len());
    }
}

#[test]
fn paths_with_shell_characters_are_quoted_once_more() {
    let host = Host::Codex;
    assert_eq!(command_line("/a b/stop", host), "\"/a b/stop\" --host codex");
    assert_eq!(
        command_line("/it's/$HOME/stop", host),
        r"'/it'\''s/$HOME/stop' --host codex"
    );
    assert_eq!(command_line("/a`b\"/stop", host), "'/a`b\"/stop' --host codex");
    assert_eq!(
        command_line("${extensionPath}/stop", host),
        "\"${extensionPath}/stop\" --host codex"
    );
}

#[test]
fn timeouts_are_in_the_host_s_unit() {
    let timeout = |host, event: &str| -> Value {
        hooks_json(host, |hook| hook.name().to_owned())["hooks"][event][0]["hooks"][0]["timeout"].clone()
    };
    assert_eq!(timeout(Host::ClaudeCode, "Stop"), json!(5));
    assert_eq!(timeout(Host::ClaudeCode, "SessionEnd"), json!(1));
    assert_eq!(timeout(Host::Codex, "Interrupt"), json!(1));
    assert_eq!(timeout(Host::GeminiCli, "AfterAgent"), json!(5_000));
}

#[test]
fn only_delegations_and_real_compressions_are_matched() {
    let matchers = |host| {
        rows(host)
            .iter()
            .filter_map(|r| r.matcher.map(|m| (r.event, m)))
            .collect::<Vec<_>>()
    };
    assert_eq!(matchers(Host::ClaudeCode), [("PreToolUse", "Agent|Task")]);
    assert_eq!(matchers(Host::Codex), [("PreToolUse", ".*spawn_agent")]);
    assert_eq!(
        matchers(Host::GeminiCli),
        [("BeforeTool", "invoke_agent"), ("PreCompress", "manual")]
    );
}

#[test]
fn a_payload_that_is_decoded_belongs_to_a_registered_event() {
    for host in Host::ALL {
        for (stem, payload) in all(host.id()) {
            if decode_own(host, &payload).is_none() {
                continue;
            }
            let event = payload["hook_event_name"].as_str().unwrap();
            assert!(rows(host).iter().any(|row| row.event == event), "{host} {stem}");
        }
    }
}

#[test]
fn gemini_cli_hooks_have_names() {
    let document = hooks_json(Host::GeminiCli, |hook| hook.name().to_owned());
    assert_eq!(
        document["hooks"]["AfterTool"][0]["hooks"][0]["name"],
        "bookend-post-tool"
    );
    let document = hooks_json(Host::Codex, |hook| hook.name().to_owned());
    assert!(
        document["hooks"]["PostToolUse"][0]["hooks"][0]
            .get("name")
            .is_none()
    );
}
