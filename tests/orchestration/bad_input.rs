//! Whatever is sent: a named error, and nothing has changed.

use bookend::fields::{Field, MAX_TEXT, Type};
use bookend::orchestration::{TOOLS, Tool};
use serde_json::{Value, json};

use super::{ACTIVE, Desk, ID, two};

/// Arguments with which a tool does something.
fn good(tool: &str) -> Value {
    match tool {
        "initialize_workspace" => json!({"workspace_path": "/", "state_dir": "x"}),
        "create_session" => {
            json!({"session_id": "2026-04-10-x", "task": "t", "phases": two(), "workflow_mode": "standard",
            "design_document": "d.md", "implementation_plan": "p.md", "execution_mode": "parallel", "execution_backend": "native",
            "task_complexity": "simple"})
        }
        "update_session" => json!({"session_id": ID, "execution_mode": "parallel", "execution_backend": "b",
            "current_batch": "b", "task_complexity": "c"}),
        "transition_phase" => {
            json!({"session_id": ID, "phase_id": 1, "to": "in_progress", "user_decided": true,
            "error": {"agent": "a", "type": "runtime", "message": "m"}, "resolution": "r", "files_created": ["a"],
            "files_modified": ["a"], "files_deleted": ["a"], "agent_output": "o", "validation_result": "v", "batch_id": "b",
            "downstream_context": {"key_interfaces_introduced": ["a"], "patterns_established": ["a"],
                "integration_points": ["a"], "assumptions": ["a"], "warnings": ["a"]},
            "token_usage": {"agent": "a", "input": 1, "output": 1, "cached": 1}, "next_phase_ids": [2]})
        }
        "archive_session" => json!({"session_id": ID, "force": true, "reason": "r"}),
        "list_sessions" => json!({"limit": 1, "offset": 1}),
        "validate_plan" => json!({"plan": {"phases": two()}, "task_complexity": "simple"}),
        _ => json!({"session_id": ID}),
    }
}

/// Values that a field of that kind refuses.
fn wrong(kind: &Type) -> Vec<Value> {
    let long = json!("x".repeat(MAX_TEXT + 1));
    let common = vec![json!({"x": {}}), json!([[]]), json!("a\0b")];
    let more = match kind {
        Type::NotKept => return Vec::new(),
        Type::Line | Type::Text => vec![json!(1), json!(true), json!(["a"]), long],
        Type::Form(_) => vec![
            json!(1),
            json!(true),
            long,
            json!("../../x"),
            json!("/etc/passwd"),
            json!("C:\\x"),
            json!("a/b"),
            json!("a\n"),
        ],
        Type::Label(_) => vec![
            json!(-1),
            json!(1.5),
            json!(true),
            long,
            json!("../../x"),
            json!("/etc/passwd"),
            json!("..\\x"),
        ],
        Type::Labels(_) => vec![
            json!([-1]),
            json!([1, "../x"]),
            json!(true),
            json!("/x"),
            json!(vec![1; 1001]),
        ],
        Type::Integer(..) => vec![json!("1"), json!(-1), json!(1.5), json!(u64::MAX)],
        Type::Count(..) => vec![json!("one"), json!(-1), json!(1.5), json!(u64::MAX), json!("1.5")],
        Type::Flag => vec![json!("true"), json!(1)],
        Type::OneOf(_) => vec![json!(1), json!("Other"), json!("../x")],
        Type::Lines => vec![json!("a"), json!([1]), json!([long]), json!(vec!["a"; 1001])],
        Type::Texts => vec![json!(1), json!([1]), json!([long]), json!(vec!["a"; 1001])],
        Type::List(..) => vec![json!([]), json!("a"), json!([1]), json!(vec![json!({}); 1001])],
        Type::Object(_) => vec![json!("a"), json!(1), json!([])],
        Type::Time => vec![json!("now")],
    };
    common.into_iter().chain(more).collect()
}

/// Every place of a tool's arguments, with what belongs there.
fn places(fields: &'static [Field], at: &str) -> Vec<(String, &'static Field)> {
    let mut all = Vec::new();
    for field in fields {
        let here = format!("{at}/{}", field.name);
        match &field.kind {
            Type::Object(inner) => all.extend(places(inner, &here)),
            Type::List(inner, _) => all.extend(places(inner, &format!("{here}/0"))),
            _ => {}
        }
        all.push((here, field));
    }
    all
}

/// The pointer `/phases/0/id` as an argument is named: `phases[0].id`.
fn named(pointer: &str) -> String {
    pointer
        .trim_start_matches('/')
        .replace("/0/", "[0].")
        .replace('/', ".")
}

fn desk_for(tool: &Tool) -> Desk {
    match tool.name {
        "create_session" => Desk::new(),
        _ => Desk::begun(two()),
    }
}

#[test]
fn every_argument_missing_mistyped_too_long_or_a_path_is_named_and_nothing_changes() {
    let mut tried = 0;
    for tool in TOOLS {
        let mut desk = desk_for(tool);
        for (pointer, field) in places(tool.fields, "") {
            let mut cases: Vec<Option<Value>> = wrong(&field.kind).into_iter().map(Some).collect();
            cases.extend(field.required.then_some(None));
            for case in cases {
                let mut params = good(tool.name);
                let (above, name) = pointer.rsplit_once('/').unwrap();
                let place = params.pointer_mut(above).unwrap().as_object_mut().unwrap();
                match &case {
                    Some(value) => drop(place.insert(name.to_owned(), value.clone())),
                    None => drop(place.remove(name)),
                }
                let shown = case
                    .as_ref()
                    .map(|c| c.to_string().chars().take(40).collect::<String>());
                let e = desk.refused(tool.name, params);
                assert_eq!(
                    e.code(),
                    "invalid_parameter",
                    "{} {pointer} {shown:?}: {e:?}",
                    tool.name
                );
                let found = e.details()["parameter"].as_str().unwrap().to_owned();
                assert!(
                    found.starts_with(&named(&pointer)),
                    "{} {pointer} {shown:?}: {found}",
                    tool.name
                );
                assert!(e.message().contains(&found), "{}", e.message());
                tried += 1;
            }
        }
        let mut unknown = good(tool.name);
        unknown["Session"] = json!(1);
        assert_eq!(
            desk.refused(tool.name, unknown).details()["parameter"],
            "Session",
            "{}",
            tool.name
        );
        for params in [json!([]), json!("x"), json!(1)] {
            assert_eq!(desk.refused(tool.name, params).code(), "invalid_parameter");
        }
    }
    assert!(tried > 400, "{tried}");
    assert_eq!(Desk::new().refused("no_tool", json!({})).code(), "unknown_tool");
}

#[test]
fn what_is_not_said_whole_is_refused_by_name() {
    let mut desk = Desk::begun(two());
    for (tool, params, parameter) in [
        ("update_session", json!({"session_id": ID}), "execution_mode"),
        ("transition_phase", json!({}), "phase_id"),
        ("transition_phase", json!({"phase_id": 1}), "to"),
        ("transition_phase", json!({"to": "completed"}), "phase_id"),
        (
            "transition_phase",
            json!({"phase_id": 1, "completed_phase_id": 1}),
            "completed_phase_id",
        ),
        (
            "transition_phase",
            json!({"completed_phase_id": 1, "to": "failed"}),
            "to",
        ),
        (
            "transition_phase",
            json!({"phase_id": 1, "to": "failed"}),
            "error",
        ),
        (
            "transition_phase",
            json!({"phase_id": 1, "to": "in_progress", "next_phase_id": 2, "next_phase_ids": [1]}),
            "next_phase_id",
        ),
        (
            "archive_session",
            json!({"session_id": ID, "force": true}),
            "reason",
        ),
        (
            "initialize_workspace",
            json!({"workspace_path": "relative"}),
            "workspace_path",
        ),
        (
            "initialize_workspace",
            json!({"workspace_path": "/x/${workspacePath}"}),
            "workspace_path",
        ),
    ] {
        let e = desk.refused(tool, params.clone());
        let found = e.details()["parameter"].as_str().unwrap_or_default().to_owned();
        // (Which of two names is met first is not said.)
        assert!(found.starts_with(parameter), "{tool} {params}: {found}");
    }
}

#[test]
fn a_document_outside_the_workspace_is_refused() {
    let mut desk = Desk::new();
    std::os::unix::fs::symlink("/etc", desk.file("out")).unwrap();
    for name in ["design_document", "implementation_plan"] {
        for path in [
            "/etc/passwd",
            "../x.md",
            "a\\..\\..\\b",
            "C:\\x.md",
            "\\\\srv\\x",
            "out/passwd",
            ".",
        ] {
            let mut params = json!({"session_id": ID, "task": "t", "phases": two()});
            params[name] = json!(path);
            let e = desk.refused("create_session", params);
            assert_eq!(e.details()["parameter"], name, "{path}");
        }
    }
}

#[test]
fn a_state_that_cannot_be_read_says_why_and_stays() {
    for (text, why) in [
        ("", "three dashes"),
        ("no front matter", "three dashes"),
        ("---\nsession_id: x\n", "no end"),
        ("---\nsession_id: [\n---\n", "no YAML"),
        ("---\n{\"session_id\": \"x\",}\n---\n", ""),
        ("---\ntask: x\n---\n", "session_id"),
        ("---\nsession_id: x\nphases: 3\n---\n", ""),
        ("---\nsession_id: x\nphases:\n  - name: no id\n---\n", "id"),
        (
            "---\nsession_id: x\ntoken_usage:\n  total_input: many\n---\n",
            "count",
        ),
        ("---\nsession_id: x\nsession_id: y\n---\n", ""),
    ] {
        let mut desk = Desk::new();
        desk.put(ACTIVE, text);
        for (tool, params) in [
            ("get_session_status", json!({})),
            ("transition_phase", json!({"phase_id": 1, "to": "in_progress"})),
            ("update_session", json!({"session_id": "x", "current_batch": "b"})),
            ("archive_session", json!({"session_id": "x"})),
        ] {
            // (JSON with a comma too much is YAML.)
            if text.contains(",}") && tool == "get_session_status" {
                desk.ok(tool, params);
                continue;
            }
            let e = match desk.service.call(tool, &params) {
                Err(e) => e,
                Ok(_) if text.contains(",}") => continue,
                Ok(answer) => panic!("{text:?} {tool}: {answer}"),
            };
            if !text.contains(",}") {
                assert_eq!(e.code(), "invalid_state", "{text:?} {tool}: {e:?}");
                assert!(e.message().contains(why), "{text:?}: {}", e.message());
                assert_eq!(desk.text(ACTIVE), text);
            }
        }
    }
}

#[test]
fn what_is_no_file_or_too_large_or_a_link_is_refused_at_once() {
    let state = "docs/maestro/state";
    for make in ["fifo", "directory", "link", "large", "loop"] {
        let mut desk = Desk::new();
        std::fs::create_dir_all(desk.file(state)).unwrap();
        let path = desk.file(ACTIVE);
        match make {
            "fifo" => assert!(
                std::process::Command::new("mkfifo")
                    .arg(&path)
                    .status()
                    .unwrap()
                    .success()
            ),
            "directory" => std::fs::create_dir(&path).unwrap(),
            "link" => std::os::unix::fs::symlink("/etc/passwd", &path).unwrap(),
            "loop" => std::os::unix::fs::symlink(&path, &path).unwrap(),
            _ => std::fs::File::create(&path)
                .unwrap()
                .set_len(9 * 1024 * 1024)
                .unwrap(),
        }
        for (tool, params) in [
            ("get_session_status", json!({})),
            ("transition_phase", json!({"phase_id": 1, "to": "in_progress"})),
            (
                "create_session",
                json!({"session_id": ID, "task": "t", "phases": two()}),
            ),
        ] {
            assert_eq!(
                desk.service.call(tool, &params).unwrap_err().code(),
                "invalid_state",
                "{make} {tool}"
            );
        }
        assert!(path.symlink_metadata().is_ok(), "{make} stays");
        desk.ok("list_sessions", json!({}));
    }
    // A state directory that leads out.
    let mut desk = Desk::new();
    let elsewhere = desk.lab.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, desk.file("docs")).unwrap();
    let e = desk.refused(
        "create_session",
        json!({"session_id": ID, "task": "t", "phases": two()}),
    );
    assert_eq!(e.code(), "path_leads_out");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    std::fs::remove_file(desk.file("docs")).unwrap();
    std::fs::create_dir(desk.file("papers")).unwrap();
    std::os::unix::fs::symlink("papers", desk.file("docs")).unwrap();
    desk.ok(
        "create_session",
        json!({"session_id": ID, "task": "t", "phases": two()}),
    );
    assert!(
        desk.file("papers/maestro/state/active-session.md").exists(),
        "a link inside is followed"
    );
}
