//! What is written out is what was kept.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{event, log_file, logged, session};
use crate::harness::Lab;

#[test]
fn every_record_is_exported_as_it_was_written() {
    let lab = Lab::new();
    session(
        &lab,
        "one",
        "Add a \"price\" column\u{7f}",
        "It is there: größe 日本.",
    );
    logged(&lab, 1, 10, "common");
    let id = logged(&lab, 2, 20, "common");
    let path = log_file(&lab, &id);
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{ \"v\": 9, \"kind\": \"of.later\", \"what\": [1, 2.50]}\nnot json\n{\"v\":1,\"torn\":");
    std::fs::write(&path, text).unwrap();

    let export = lab.bookend(&["log", "export"]);
    assert_eq!(export.code, Some(0), "{export:?}");
    assert!(export.stderr.contains("2 lines in the log of"), "{export:?}");
    let file = lab.path("out.jsonl");
    let to = lab.bookend(&["log", "export", "-o", &file.to_string_lossy()]);
    assert!(to.stdout.contains("3 sessions written to"), "{to:?}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    for text in [export.stdout, std::fs::read_to_string(&file).unwrap()] {
        let mut exported: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let mut sessions: Vec<String> = Vec::new();
        for id in lab.log_ids() {
            let of_it: Vec<Value> = exported
                .extract_if(.., |r| r["session"] == id.as_str())
                .map(|mut r| {
                    r.as_object_mut().unwrap().remove("session");
                    r
                })
                .collect();
            let log = std::fs::read_to_string(log_file(&lab, id.as_str())).unwrap();
            let records: Vec<Value> = log.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
            assert_eq!(of_it, records, "{id}");
            sessions.push(id.to_string());
        }
        assert!(exported.is_empty() && sessions.len() == 3);
    }
    let first = std::fs::read_to_string(&file).unwrap();
    assert!(
        first.starts_with(&format!("{{\"session\":\"{id}\",\"v\":1")),
        "the oldest comes first: {first}"
    );
}

#[test]
fn one_session_or_what_the_filters_leave_is_exported() {
    let lab = Lab::new();
    session(&lab, "one", "Add a price column", "Yes.");
    let id = logged(&lab, 1, 10, "common");
    let lines = |arguments: &[&str]| {
        let answer = lab.bookend(&[&["log", "export"], arguments].concat());
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
        answer.stdout.lines().count()
    };
    let all = lines(&[]);
    assert_eq!((lines(&[&id]), lines(&["--to", "5d"])), (4, 4));
    assert_eq!(lines(&["one"]), all - 4);
    let none = lab.bookend(&["log", "export", "--agent", "Codex"]);
    assert!(
        none.code == Some(1) && none.stdout.is_empty() && none.stderr.contains("of that kind"),
        "{none:?}"
    );
    assert_eq!(
        lab.bookend(&["log", "export", "one", "--agent", "Codex"]).code,
        Some(2)
    );
}

#[test]
fn markdown_holds_the_turns_and_what_they_say_is_quoted() {
    let lab = Lab::new();
    event(
        &lab,
        "one",
        "UserPromptSubmit",
        json!({"prompt": "Add a *price* column\n# and keep the layout"}),
    );
    event(
        &lab,
        "one",
        "PostToolUse",
        json!({"tool_name": "Write", "tool_use_id": "w1", "tool_input": {"file_path": "/p/a_b.rs", "content": "x"},
               "tool_response": {"type": "create", "filePath": "/p/a_b.rs"}}),
    );
    event(
        &lab,
        "one",
        "Stop",
        json!({"last_assistant_message": "Done:\n\n## With a heading"}),
    );
    let text = lab
        .bookend(&["log", "export", "one", "--format", "markdown"])
        .stdout;
    for part in [
        "# Add a \\*price\\* column\n",
        "* status: in progress",
        "## Add a \\*price\\* column\n",
        "> # and keep the layout\n",
        "* create: Created /p/a\\_b.rs\n",
        "> ## With a heading\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn where_it_cannot_be_written_the_old_file_stays_and_a_reader_that_has_gone_is_no_fault() {
    let lab = Lab::new();
    for n in 0..300 {
        logged(&lab, n, 10, &format!("common {}", "long ".repeat(200)));
    }
    for place in ["missing/out.jsonl", "."] {
        let answer = lab.bookend(&["log", "export", "-o", place]);
        assert_eq!(
            (answer.code, answer.stderr.lines().count()),
            (Some(1), 1),
            "{answer:?}"
        );
    }
    let link = lab.path("link");
    std::fs::write(lab.path("real"), "old").unwrap();
    std::os::unix::fs::symlink(lab.path("real"), &link).unwrap();
    lab.bookend(&["log", "export", "-o", &link.to_string_lossy()]);
    assert!(link.is_symlink() && std::fs::read_to_string(lab.path("real")).unwrap().lines().count() == 1_200);
    for verb in [
        &["export"][..],
        &["export", "--format", "markdown"],
        &["search", "common", "--limit", "300"],
        &["stats"],
    ] {
        let mut child = lab
            .command(env!("CARGO_BIN_EXE_bookend"))
            .arg("log")
            .args(verb)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), output.stderr.len()),
            (Some(0), 0),
            "{verb:?}: {output:?}"
        );
    }
}
