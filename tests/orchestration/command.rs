//! `bookend orchestration`: which paths are refused, what is written and how, what is shown.

use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

use serde_json::json;

use super::{ACTIVE, Desk, ID, tree, two};
use crate::harness::Answer;

fn run(desk: &Desk, arguments: &[&str]) -> Answer {
    desk.lab.bookend(&[&["orchestration"], arguments].concat())
}

fn write(desk: &Desk, path: &str, stdin: &[u8]) -> Answer {
    let mut command = desk.lab.command(env!("CARGO_BIN_EXE_bookend"));
    let command = command.args(["orchestration", "write", path]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let bytes = stdin.to_vec();
    let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Answer::of(output)
}

#[test]
fn a_path_that_is_not_in_the_project_is_refused_for_reading_and_writing() {
    let desk = Desk::new();
    symlink("/etc", desk.file("out")).unwrap();
    symlink("/etc/passwd", desk.file("file-out")).unwrap();
    symlink("nowhere", desk.file("dangling")).unwrap();
    std::fs::create_dir(desk.file("dir")).unwrap();
    let fifo = desk.file("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let before = tree(&desk.lab.project());
    let long = format!("docs/{}", "x".repeat(300));
    for (path, says) in [
        ("/etc/passwd", "must be relative"),
        ("C:\\x", "must be relative"),
        ("c:/x", "must be relative"),
        ("\\\\srv\\share\\x", "must be relative"),
        ("../x", "two dots"),
        ("foo/../bar", "two dots"),
        ("inside\\..\\outside", "two dots"),
        ("a\\b", "separated by /"),
        ("out/passwd", "leads out"),
        ("file-out", "leads out"),
        ("dangling", "leads out"),
        ("dir", "no regular file"),
        ("fifo", "no regular file"),
        ("fifo/x", "no regular file"),
        (".", "names no file"),
        ("", "names no file"),
        (&long, "too long"),
    ] {
        for answer in [run(&desk, &["read", path]), write(&desk, path, b"text")] {
            assert_eq!(
                (answer.code, answer.stdout.as_str()),
                (Some(1), ""),
                "{path}: {answer:?}"
            );
            assert!(answer.stderr.contains(says), "{path}: {}", answer.stderr);
            assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
        }
    }
    let missing = run(&desk, &["read", "no/file"]);
    assert!(
        missing.code == Some(1) && missing.stderr.contains("no such file"),
        "{missing:?}"
    );
    std::fs::File::create(desk.file("large"))
        .unwrap()
        .set_len(9 * 1024 * 1024)
        .unwrap();
    let large = run(&desk, &["read", "large"]);
    assert!(
        large.code == Some(1) && large.stderr.contains("more than"),
        "{large:?}"
    );
    std::fs::remove_file(desk.file("large")).unwrap();
    for (stdin, says) in [
        (&b""[..], "empty"),
        (b"\xff", "UTF-8"),
        (&vec![b'x'; 1024 * 1024 + 1], "more than 1048576"),
    ] {
        let answer = write(&desk, "docs/x.md", stdin);
        assert!(
            answer.code == Some(1) && answer.stderr.contains(says),
            "{answer:?}"
        );
    }
    assert_eq!(tree(&desk.lab.project()), before);
}

#[test]
fn a_file_is_written_whole_privately_and_read_back() {
    let desk = Desk::new();
    let text = "x".repeat(1024 * 1024);
    let written = write(&desk, "./docs//maestro/plans/plan.md", text.as_bytes());
    assert_eq!(
        (written.code, written.stdout.as_str(), written.stderr.as_str()),
        (Some(0), "", "")
    );
    let path = desk.file("docs/maestro/plans/plan.md");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(run(&desk, &["read", "docs/maestro/plans/plan.md"]).stdout, text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    write(
        &desk,
        "docs/maestro/plans/plan.md",
        "two\r\n\u{1b}[31m".as_bytes(),
    );
    assert_eq!(
        run(&desk, &["read", "docs/maestro/plans/plan.md"]).stdout,
        "two\r\n\u{1b}[31m"
    );
    assert_eq!(
        path.metadata().unwrap().permissions().mode() & 0o777,
        0o644,
        "its mode stays"
    );
    let secret = "ghp_0000Zk3VxQ8rT1mW6yB9cN4dF7gH2jL5pS0a";
    let warned = write(
        &desk,
        "docs/maestro/plans/plan.md",
        format!("token {secret}").as_bytes(),
    );
    assert!(
        warned.code == Some(0) && warned.stderr.contains("secret"),
        "{warned:?}"
    );
    assert!(!desk.text("docs/maestro/plans/plan.md").contains(secret));
    // A link inside is followed, and stays one.
    symlink("docs/maestro/plans/plan.md", desk.file("plan")).unwrap();
    write(&desk, "plan", b"three");
    assert!(desk.file("plan").is_symlink() && desk.text("docs/maestro/plans/plan.md") == "three");
    let names: Vec<String> = tree(&desk.lab.project()).into_keys().collect();
    assert!(!names.iter().any(|name| name.contains("bookend")), "{names:?}");
}

#[test]
fn paths_are_from_the_git_top_level_on() {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.file(".git")).unwrap();
    std::fs::create_dir_all(desk.file("src/deep")).unwrap();
    desk.put("docs/x.md", "here");
    let mut command = desk.lab.command(env!("CARGO_BIN_EXE_bookend"));
    let output = command
        .current_dir(desk.file("src/deep"))
        .args(["orchestration", "read", "docs/x.md"])
        .output();
    assert_eq!(Answer::of(output.unwrap()).stdout, "here");
}

#[test]
fn a_session_is_shown_and_archived() {
    let none = Desk::new();
    let shown = run(&none, &["show"]);
    assert!(
        shown.code == Some(0) && shown.stdout.contains("no active orchestration session"),
        "{shown:?}"
    );
    assert_eq!(run(&none, &["show", "--json"]).json()["exists"], false);
    assert!(!none.file("docs").exists(), "looking makes nothing");
    let refused = run(&none, &["archive"]);
    assert!(
        refused.code == Some(1) && refused.stderr.contains("no active session"),
        "{refused:?}"
    );

    let mut desk = Desk::begun(two());
    desk.go(1, "in_progress");
    let shown = run(&desk, &["show"]);
    for part in [
        ID,
        "Add JWT",
        "○ in progress",
        "□ pending",
        "continue phase 1",
        "architect",
        "Design",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let json = run(&desk, &["show", "--json"]).json();
    assert_eq!(
        (&json["next"]["action"], &json["phases"][1]["waits_for"]),
        (&json!("continue"), &json!([1]))
    );
    let refused = run(&desk, &["archive"]);
    assert!(
        refused.code == Some(1) && refused.stderr.contains("have not ended: 1, 2"),
        "{refused:?}"
    );
    assert_eq!(run(&desk, &["archive", "--force", " "]).code, Some(1));
    assert!(desk.file(ACTIVE).exists());
    let done = run(&desk, &["archive", "--force", "given up", "--json"]).json();
    assert_eq!(
        (&done["session_id"], &done["already_archived"]),
        (&json!(ID), &json!(false))
    );
    assert!(!desk.file(ACTIVE).exists());
}

#[test]
fn the_state_directory_is_the_environments_else_that_of_the_env_file_else_docs_maestro() {
    for (variable, env_file, wanted) in [
        (None, "", Some("docs/maestro")),
        (
            None,
            "export MAESTRO_STATE_DIR='notes/own' # here",
            Some("notes/own"),
        ),
        (Some("set"), "MAESTRO_STATE_DIR=other", Some("set")),
        (Some("./a//b/"), "", Some("a/b")),
        (Some("ABSOLUTE/in"), "", Some("in")),
        (Some("/tmp/elsewhere"), "", None),
        (Some("../x"), "", None),
        (Some("a\\..\\b"), "", None),
    ] {
        let desk = Desk::new();
        desk.put(".env", env_file);
        let variable = variable.map(|v| v.replace("ABSOLUTE", desk.lab.project().to_str().unwrap()));
        let settings = bookend::config::Maestro {
            state_dir: variable,
            ..Default::default()
        };
        let mut service = bookend::orchestration::Service::new(settings, &desk.lab.project());
        let made = service.call(
            "create_session",
            &json!({"session_id": ID, "task": "t", "phases": two()}),
        );
        match (wanted, made) {
            (Some(dir), Ok(made)) => {
                assert_eq!(made["path"], format!("{dir}/state/active-session.md"));
                assert!(desk.file(dir).join("state/active-session.md").exists());
            }
            (None, Err(e)) => assert_eq!(e.code(), "invalid_workspace"),
            (_, other) => panic!("{wanted:?}: {other:?}"),
        }
    }
}
