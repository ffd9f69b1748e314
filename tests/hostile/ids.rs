//! Ids that are paths, or longer than any name.

use std::path::Path;

use bookend::hook::Hook;
use bookend::live::key::SessionKey;
use bookend::live::names;
use serde_json::json;

use super::{picture, prompt};
use crate::harness::{Lab, with};

#[test]
fn an_id_is_never_a_path() {
    let long = "x".repeat(4096);
    let ids = [
        "../../etc",
        "..",
        ".",
        "/",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "..\\..\\x",
        "a\nb",
        "a\0b",
        "\0",
        " ",
        "\t",
        ".hidden",
        ".dead-s1",
        ".bookend",
        ".prune",
        "a.b",
        "state.json",
        "CON",
        "nul",
        "COM1.txt",
        "aux",
        "-rf",
        "--host",
        "$(touch x)",
        "`id`",
        "é",
        "\u{202E}gnp",
        "\u{FEFF}",
        "%2e%2e%2f",
        &long,
    ];
    let lab = Lab::new();
    // Deep inside, so that a path that climbs out of it is still within the lab.
    let (hooks, data) = (lab.path("a/b/c/hooks"), lab.path("d/e/f/data"));
    let set = |p: &Path| p.to_string_lossy().into_owned();
    for id in ids {
        for field in ["session_id", "prompt_id", "agent_id", "tool_use_id"] {
            let mut event = with(
                prompt(&lab, "plain"),
                json!({"hook_event_name": "SubagentStart", "agent_id": "a"}),
            );
            event[field] = json!(id);
            for (hook, name) in [
                (Hook::PreDelegation, "SubagentStart"),
                (Hook::Stop, "Stop"),
                (Hook::TurnStart, "UserPromptSubmit"),
            ] {
                event["hook_event_name"] = json!(name);
                lab.call(hook, &event)
                    .env("MAESTRO_HOOKS_DIR", &set(&hooks))
                    .env("BOOKEND_DATA_DIR", &set(&data))
                    .run()
                    .ok();
            }
        }
    }
    for id in [
        json!(7),
        json!(-1),
        json!(1.5),
        json!(true),
        json!(["s"]),
        json!({"s": 1}),
        json!(null),
        json!(""),
    ] {
        let answer = lab
            .call(
                Hook::TurnStart,
                &with(prompt(&lab, "x"), json!({"session_id": null})),
            )
            .raw(
                prompt(&lab, "@@")
                    .to_string()
                    .replace("\"@@\"", &id.to_string())
                    .as_bytes(),
            )
            .env("MAESTRO_HOOKS_DIR", &set(&hooks))
            .env("BOOKEND_DATA_DIR", &set(&data))
            .run()
            .ok();
        assert_eq!(answer.stdout, "", "{id}");
    }
    // Every directory is a key, every file a known name, and nothing stands anywhere else.
    for entry in std::fs::read_dir(&hooks).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if name == ".bookend" {
            continue;
        }
        assert!(SessionKey::from_name(&name).is_some(), "{name}");
        for file in std::fs::read_dir(entry.path()).unwrap().map(Result::unwrap) {
            assert!(
                names::is_known(file.file_name().to_str().unwrap()),
                "{:?}",
                file.path()
            );
        }
    }
    let mut names: Vec<_> = std::fs::read_dir(lab.path(""))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["a", "d", "home", "project"]);
    for (dir, only) in [
        ("a", "b"),
        ("a/b", "c"),
        ("a/b/c", "hooks"),
        ("d", "e"),
        ("d/e", "f"),
        ("d/e/f", "data"),
    ] {
        let inside: Vec<_> = std::fs::read_dir(lab.path(dir))
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(inside, [only]);
    }
    assert_eq!(picture(&lab.project()).len(), 1);
}

#[test]
fn long_ids_with_one_beginning_are_two_sessions_also_in_the_log() {
    let lab = Lab::new();
    let ids = ["a", "b"].map(|end| format!("{}{end}", "long/id/".repeat(60)));
    for id in &ids {
        lab.call(Hook::TurnStart, &prompt(&lab, id)).run().ok();
    }
    for id in &ids {
        assert_eq!(lab.state(id).turns.count, 1);
    }
    assert_eq!(lab.log_ids().len(), 2);
}
