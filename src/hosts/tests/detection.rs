//! Whose payload it is.

use serde_json::{Value, json};

use super::{Table, Vars, all, decode_in, env_of, read};
use crate::hosts::payload::Payload;
use crate::hosts::{Host, detect};

fn detected(registered: Option<Host>, payload: &Value, env: &Table) -> Option<Host> {
    detect(registered, &Payload::new(payload).unwrap(), &|name| {
        env.get(name).cloned()
    })
}

fn table(vars: Vars) -> Table {
    vars.iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

#[test]
fn a_payload_says_whose_it_is_whatever_is_registered_or_set() {
    let misleading = [
        Table::new(),
        table(&[("CLAUDECODE", "1"), ("CLAUDE_PROJECT_DIR", "/x")]),
        table(&[
            ("COPILOT_CLI", "1"),
            ("GEMINI_PROJECT_DIR", "/x"),
            ("QWEN_PROJECT_DIR", "/x"),
        ]),
    ];
    for host in Host::ALL {
        for (stem, payload) in all(host.id()) {
            for registered in Host::ALL.map(Some).into_iter().chain([None]) {
                for env in misleading.iter().chain([&env_of(host.id(), &payload)]) {
                    assert_eq!(
                        detected(registered, &payload, env),
                        Some(host),
                        "{host} {stem} {registered:?} {env:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_host_that_is_not_modelled_is_none() {
    for host in ["qwen-code", "copilot", "opencode"] {
        for (stem, payload) in all(host) {
            let own = env_of(host, &payload);
            for registered in Host::ALL.map(Some).into_iter().chain([None]) {
                // Copilot's starts and ends look like Gemini CLI's; it does not run Gemini CLI's hooks.
                if host == "copilot" && registered == Some(Host::GeminiCli) {
                    continue;
                }
                for env in [&own, &Table::new()] {
                    assert_eq!(
                        decode_in(registered, &payload, env, &[]),
                        None,
                        "{host} {stem} {registered:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn homes_may_be_moved_and_lie_in_each_other() {
    let id = "4ce16ae1-8612-4c32-a512-22d960fc7555";
    let rows = [
        (
            format!("/srv/claude/projects/-x/{id}.jsonl"),
            Some(Host::ClaudeCode),
        ),
        (
            "/srv/codex/sessions/2026/11/30/rollout-2026-11-30T03-57-45-01a2.jsonl".to_owned(),
            Some(Host::Codex),
        ),
        (
            "/srv/gemini/tmp/shop/chats/session-2026-11-30T04-06-3907efa5.jsonl".to_owned(),
            Some(Host::GeminiCli),
        ),
        (
            format!("/w/.gemini/tmp/x/.claude/projects/-x/{id}.jsonl"),
            Some(Host::ClaudeCode),
        ),
        (
            format!(r"C:\Users\dev\.codex\sessions\{id}.jsonl"),
            Some(Host::Codex),
        ),
        (format!("/home/dev/.qwen/projects/-x/chats/{id}.jsonl"), None),
        (
            format!("/home/dev/.copilot/session-state/{id}/events.jsonl"),
            None,
        ),
        ("/somewhere/else.jsonl".to_owned(), None),
    ];
    for (path, expected) in rows {
        let payload = json!({"session_id": id, "transcript_path": path, "hook_event_name": "SessionStart"});
        assert_eq!(detected(None, &payload, &Table::new()), expected, "{path}");
    }
}

#[test]
fn without_a_transcript_the_shape_decides() {
    for (host, but) in [
        (Host::ClaudeCode, &["SessionStart", "SessionEnd"][..]),
        (Host::Codex, &["SessionEnd"]),
    ] {
        for (stem, mut payload) in all(host.id()) {
            payload["transcript_path"] = Value::Null;
            let event = payload["hook_event_name"].as_str().unwrap();
            let modelled = decode_in(Some(host), &payload, &Table::new(), &[]).is_some();
            if modelled && !but.contains(&event) {
                for registered in Host::ALL {
                    assert_eq!(
                        detected(Some(registered), &payload, &Table::new()),
                        Some(host),
                        "{host} {stem}"
                    );
                }
            }
        }
    }
}

#[test]
fn without_evidence_the_registration_counts_and_then_the_environment() {
    let bare = json!({"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"});
    let claude = table(&[("CLAUDECODE", "1"), ("CLAUDE_PROJECT_DIR", "/x")]);
    for host in Host::ALL {
        assert_eq!(detected(Some(host), &bare, &claude), Some(host));
    }
    let rows: [(Vars, Option<Host>); 9] = [
        (&[("CLAUDECODE", "1")], Some(Host::ClaudeCode)),
        (
            &[("GEMINI_PROJECT_DIR", "/x"), ("CLAUDE_PROJECT_DIR", "/x")],
            Some(Host::GeminiCli),
        ),
        (
            &[("PLUGIN_ROOT", "/home/dev/.codex/plugins/cache/m/p/0.1.0")],
            Some(Host::Codex),
        ),
        (&[("QWEN_PROJECT_DIR", "/x"), ("GEMINI_PROJECT_DIR", "/x")], None),
        (&[("COPILOT_CLI", "1"), ("CLAUDECODE", "1")], None),
        (
            &[
                ("COPILOT_CLI", "1"),
                ("CLAUDECODE", "1"),
                ("CLAUDE_CODE_SESSION_ID", "s1"),
            ],
            Some(Host::ClaudeCode),
        ),
        (
            &[("QWEN_CODE_SESSION_ID", "s1"), ("GEMINI_SESSION_ID", "s0")],
            None,
        ),
        (
            &[("CLAUDE_CODE_SESSION_ID", "s0"), ("GEMINI_SESSION_ID", "s1")],
            Some(Host::GeminiCli),
        ),
        (&[], None),
    ];
    for (vars, expected) in rows {
        assert_eq!(detected(None, &bare, &table(vars)), expected, "{vars:?}");
    }
}

#[test]
fn a_stamped_start_is_gemini_s_or_nobody_s() {
    let mut payload = read("gemini-cli/SessionStart-startup.json");
    payload["transcript_path"] = Value::Null;
    let gemini = env_of("gemini-cli", &payload);
    assert_eq!(
        detected(Some(Host::GeminiCli), &payload, &Table::new()),
        Some(Host::GeminiCli)
    );
    assert_eq!(detected(None, &payload, &gemini), Some(Host::GeminiCli));
    assert_eq!(
        detected(Some(Host::ClaudeCode), &payload, &gemini),
        Some(Host::GeminiCli)
    );
    assert_eq!(
        detected(Some(Host::ClaudeCode), &payload, &table(&[("CLAUDECODE", "1")])),
        None
    );
}
