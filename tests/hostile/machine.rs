//! The working directory, the switch, the umask, and the secrets of others.

use std::fs::{File, Permissions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use bookend::hook::Hook;
use bookend::live::key::SessionKey;
use serde_json::{Value, json};

use super::{mkdir, prompt, shell, stop};
use crate::harness::{Lab, payload, with};

#[test]
fn a_working_directory_that_is_gone_is_not_needed() {
    let lab = Lab::new();
    let gone = lab.path("gone");
    let event = with(prompt(&lab, "s1"), json!({"cwd": gone}));
    let script = format!(
        "mkdir '{0}' && cd '{0}' && rmdir '{0}' && exec \"$0\" --host claude-code",
        gone.display()
    );
    shell(&lab, &script, Hook::TurnStart, &event).ok();
    assert_eq!(lab.state("s1").turns.count, 1);
    assert!(!gone.exists());
    assert_eq!(lab.log_of("s1").turns.len(), 1);
}

#[test]
fn disabled_is_disabled() {
    let lab = Lab::new();
    for hook in Hook::ALL {
        for event in [prompt(&lab, "s1"), stop(&lab, "s1")] {
            let answer = lab.call(hook, &event).env("BOOKEND_DISABLE", "1").run().ok();
            assert_eq!(answer.stdout, "");
        }
        lab.call(hook, &Value::Null)
            .raw(b"{no json")
            .env("BOOKEND_DISABLE", "1")
            .run()
            .ok();
    }
    assert!(!lab.hooks_dir().exists() && !lab.data_dir().exists());
}

#[test]
fn files_are_for_their_owner_alone_under_any_umask() {
    let lab = Lab::new();
    for (hook, event) in [
        (
            Hook::SessionStart,
            with(
                prompt(&lab, "s1"),
                json!({"hook_event_name": "SessionStart", "source": "startup"}),
            ),
        ),
        (Hook::TurnStart, prompt(&lab, "s1")),
        (
            Hook::PreDelegation,
            with(
                prompt(&lab, "s1"),
                json!({"hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": "explorer"}),
            ),
        ),
        (Hook::Stop, json!({"no": "event"})),
        (Hook::Stop, stop(&lab, "s2")),
    ] {
        shell(&lab, r#"umask 0; exec "$0" --host claude-code"#, hook, &event).ok();
    }
    shell(
        &lab,
        r#"umask 0; echo '{bad' | "$0" --host claude-code"#,
        Hook::Stop,
        &json!(0),
    )
    .ok();
    let held = File::open(lab.hooks_dir().join("s1")).unwrap();
    held.lock().unwrap();
    shell(
        &lab,
        r#"umask 0; exec "$0" --host claude-code"#,
        Hook::TurnStart,
        &with(prompt(&lab, "s1"), json!({"prompt_id": "p2"})),
    )
    .ok();
    drop(held);
    let mut seen = 0;
    for root in [lab.hooks_dir(), lab.data_dir()] {
        for entry in walkdir::WalkDir::new(root).into_iter().map(Result::unwrap) {
            let expected = if entry.file_type().is_dir() { 0o700 } else { 0o600 };
            let mode = entry.metadata().unwrap().mode() & 0o7777;
            assert_eq!(mode, expected, "{}", entry.path().display());
            seen += 1;
        }
    }
    let pending = std::fs::read_dir(lab.hooks_dir().join("s1")).unwrap();
    assert!(
        pending
            .map(|e| e.unwrap().file_name())
            .any(|n| n.to_string_lossy().starts_with("pending-"))
    );
    assert!(
        seen > 15 && lab.data_dir().join("errors.jsonl").exists(),
        "{seen}"
    );
}

/// Key number `n`, of a family that every scanner knows.
fn key(n: usize) -> String {
    let tail: String = format!("{n:04}")
        .bytes()
        .chain(*b"Zk3VxQ8rT1mW6yB9cN4dF7gH2jL5pS0a")
        .map(char::from)
        .collect();
    match n % 3 {
        0 => format!("ghp_{tail}"),
        1 => format!("sk-ant-api03-{tail}{tail}{tail}"),
        _ => format!("AKIA{}", tail.to_uppercase().get(..16).unwrap()),
    }
}

/// Plants a key in every string of a value; how many.
fn plant(value: &mut Value, skip: &[&str], planted: &mut Vec<String>) {
    match value {
        Value::String(s) => {
            let key = key(planted.len());
            // Alone, and in the middle of what was there.
            *s = if planted.len().is_multiple_of(2) || s.is_empty() {
                key.clone()
            } else {
                format!("{s} {key} {s}")
            };
            planted.push(key);
        }
        Value::Array(items) => items.iter_mut().for_each(|v| plant(v, skip, planted)),
        Value::Object(map) => {
            for (_, v) in map.iter_mut().filter(|(k, _)| !skip.contains(&k.as_str())) {
                plant(v, skip, planted);
            }
        }
        _ => {}
    }
}

#[test]
fn no_planted_key_is_in_any_file_nor_in_a_files_name() {
    let mut total = 0;
    for (hook, name) in [
        (Hook::SessionStart, "claude-code/SessionStart-resume"),
        (Hook::TurnStart, "claude-code/UserPromptSubmit"),
        (Hook::PreDelegation, "claude-code/PreToolUse-agent"),
        (Hook::PreDelegation, "claude-code/SubagentStart"),
        (Hook::PostTool, "claude-code/PostToolUse-bash"),
        (Hook::PostTool, "claude-code/PostToolUse-write"),
        (Hook::PostTool, "claude-code/PostToolUse-taskcreate"),
        (Hook::PostTool, "claude-code/PostToolUseFailure-bash-429"),
        (Hook::Stop, "claude-code/Stop"),
        (Hook::Stop, "claude-code/StopFailure-rate_limit"),
        (Hook::Stop, "claude-code/SubagentStop"),
        (Hook::Stop, "claude-code/SessionEnd"),
        (Hook::TurnStart, "codex/UserPromptSubmit"),
        (Hook::PostTool, "codex/PostToolUse-apply_patch"),
        (Hook::Stop, "codex/Stop"),
        (Hook::TurnStart, "gemini-cli/BeforeAgent"),
        (Hook::PostTool, "gemini-cli/AfterTool-write_file"),
        (Hook::PostTool, "gemini-cli/AfterTool-write_todos"),
        (Hook::Stop, "gemini-cli/AfterAgent"),
    ] {
        for skip in [
            &["hook_event_name", "tool_name", "session_id"][..],
            &["hook_event_name", "tool_name"],
            &["hook_event_name"],
        ] {
            for held in [false, true] {
                let lab = Lab::new();
                let host = name.split('/').next().unwrap();
                let mut event = payload(name);
                let mut planted = Vec::new();
                plant(&mut event, skip, &mut planted);
                let session = event["session_id"].as_str().unwrap().to_owned();
                // Also through the file of an event that waits.
                let dir = lab.hooks_dir().join(SessionKey::of(&session).unwrap().as_str());
                let lock = held.then(|| {
                    mkdir(&dir);
                    std::fs::set_permissions(lab.hooks_dir(), Permissions::from_mode(0o700)).unwrap();
                    let lock = File::open(&dir).unwrap();
                    lock.lock().unwrap();
                    lock
                });
                if held && skip.len() != 3 {
                    continue;
                }
                lab.call(hook, &event).host(host).run().ok();
                drop(lock);
                total += planted.len();
                let mut files = 0;
                for root in [lab.hooks_dir(), lab.data_dir()] {
                    for entry in walkdir::WalkDir::new(root).into_iter().filter_map(Result::ok) {
                        let mut text = entry.path().to_string_lossy().into_owned();
                        if entry.file_type().is_file() {
                            files += 1;
                            let mut bytes = Vec::new();
                            File::open(entry.path()).unwrap().read_to_end(&mut bytes).unwrap();
                            text.push_str(&String::from_utf8_lossy(&bytes));
                        }
                        for key in &planted {
                            assert!(!text.contains(key.as_str()), "{name}: {key} in {text}");
                            assert!(
                                !text.contains(key.get(8..).unwrap()),
                                "{name}: a part of {key} in {text}"
                            );
                        }
                    }
                }
                assert!(files > 0 || skip.len() == 1, "{name}: nothing was written");
            }
        }
    }
    assert!(total > 500, "{total}");
}
