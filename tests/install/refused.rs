//! What cannot be done is refused before anything is changed, with the file, the place in it, and what to do.

use std::os::unix::fs::chown;
use std::process::Command;

use super::{Home, set_mode, tree};

#[test]
fn settings_that_do_not_parse_are_refused_with_their_line_and_nothing_is_changed() {
    let deep = format!("{{\"a\": {}", "[".repeat(100_000));
    for (settings, says) in [
        (&b"{\n \"a\": 1\n \"b\": 2\n}"[..], "line 2, column "),
        (b"[1]", "line 1, column 1: it is no JSON object"),
        (
            b"{\n\"a\": \"\xe9\"}",
            "line 2, column 7: a byte that is no UTF-8",
        ),
        (b"\xff\xfe{\0}\0", "line 1, column 1: a byte that is no UTF-8"),
        (b"{\"s\": \"\\ud800\"}", "line 1, column "),
        (b"// nothing\n", "line 1, column 1: "),
        (deep.as_bytes(), "maximum nesting depth"),
    ] {
        refused(&Home::new().with(settings), says);
    }
}

#[test]
fn members_of_the_wrong_kind_are_refused_before_anything_is_written() {
    for (settings, says) in [
        ("{\"hooks\": null}", "`hooks` in it is no object"),
        ("{\"hooks\": []}", "`hooks` in it is no object"),
        ("{\"hooks\": \"x\"}", "`hooks` in it is no object"),
        ("{\"hooks\": {\"Stop\": 7}}", "`hooks.Stop` in it is no list"),
        ("{\"hooks\": {\"Stop\": null}}", "`hooks.Stop` in it is no list"),
    ] {
        refused(&Home::new().with(settings), says);
    }
}

#[test]
fn a_configuration_of_codex_that_does_not_parse_is_refused_with_its_line() {
    for (file, text, says) in [
        ("config.toml", "model = \"x\"\n[oops\n", "line 2, column "),
        ("hooks.json", "{\n// c\n}", "line 2, column 1: a comment"),
        (
            "hooks.json",
            "{\"hooks\": {\"Stop\": {}}}",
            "`hooks.Stop` in it is no list",
        ),
    ] {
        let home = Home::new();
        std::fs::write(home.codex(file), text).unwrap();
        refused(&home, says);
    }
}

#[test]
fn what_is_no_regular_file_of_ours_is_refused_and_never_waited_for() {
    let fifo = Home::new();
    let made = Command::new("mkfifo").arg(fifo.claude("settings.json")).status();
    assert!(made.unwrap().success());
    assert!(
        fifo.fails(&["install", "claude-code"])
            .contains("it is no regular file")
    );

    let directory = Home::new();
    std::fs::create_dir(directory.claude("settings.json")).unwrap();
    refused(&directory, "it is no regular file");

    let huge = Home::new().with(vec![b' '; 17 << 20]);
    refused(&huge, "it is larger than 16 MiB");

    // Files that only a host writes do not hold us either.
    let odd = Home::new();
    std::fs::create_dir(odd.claude("plugins")).unwrap();
    let made = Command::new("mkfifo")
        .arg(odd.claude("plugins/known_marketplaces.json"))
        .status();
    assert!(made.unwrap().success());
    assert!(
        odd.fails(&["install", "claude-code"])
            .contains("known_marketplaces.json: it is no regular file")
    );
}

#[test]
fn settings_of_another_user_are_refused() {
    let home = Home::new().with("{}");
    if chown(home.claude("settings.json"), Some(12345), None).is_err() {
        crate::crash::skipped("only root can give a file away");
        return;
    }
    refused(&home, "it belongs to user 12345: run this as that user");
}

#[test]
fn a_directory_that_cannot_be_written_is_said_and_nothing_is_half_done() {
    let home = Home::new().with("{}");
    set_mode(&home.claude(""), 0o555);
    if std::fs::write(home.claude("probe"), "").is_ok() {
        std::fs::remove_file(home.claude("probe")).unwrap();
        crate::crash::skipped("root writes everywhere");
    } else {
        refused(&home, "Permission denied");
    }
    set_mode(&home.claude(""), 0o755);
    home.done(&["install"]);
}

/// Whatever stands in Claude Code's way is said with its file; its settings and Codex's are as before, and an
/// uninstall afterwards leaves nothing of a half installation.
#[track_caller]
fn refused(home: &Home, says: &str) {
    let before = home.hosts();
    let host = if home.codex("config.toml").exists() || home.codex("hooks.json").exists() {
        "codex"
    } else {
        "claude-code"
    };
    for arguments in [&["install", host][..], &["install", host, "--dry-run"]] {
        let said = home.fails(arguments);
        assert!(
            said.contains(says) && said.contains(&*home.path("").to_string_lossy()),
            "{said}"
        );
    }
    assert_eq!(home.hosts(), before);
    drop(home.bookend(&["uninstall", host]));
    assert_eq!(home.hosts(), before);
    assert!(
        !home.data("install").exists(),
        "{:?}",
        tree(&home.data("")).keys()
    );
}
