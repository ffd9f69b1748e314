//! Files that do not read, events that wait, faults: what is the matter inside the stores.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{codes, found, of_level, one, said, touch, used};
use crate::harness::Lab;

fn journal(lab: &Lab) -> PathBuf {
    lab.hooks_dir().join("s1/events.jsonl")
}

fn log(lab: &Lab) -> PathBuf {
    lab.data_dir()
        .join("log")
        .join(lab.log_ids()[0].as_str())
        .join("log.jsonl")
}

fn append(path: &Path, bytes: &[u8]) {
    let mut how = std::fs::File::options();
    let mut file = how.append(true).create(true).mode(0o600).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// Writes over the middle of the second line.
fn damage(path: &Path) {
    let mut text = std::fs::read_to_string(path).unwrap();
    let second = text.find('\n').unwrap() + 5;
    text.replace_range(second..second + 6, "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}");
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_line_that_no_kill_explains_is_a_problem_and_a_torn_tail_is_none() {
    let lab = used();
    damage(&journal(&lab));
    let finding = one(&found(&lab, &[]), "journal-corrupt");
    assert_eq!(
        (&finding["level"], &finding["subject"]),
        (&json!("problem"), &json!(lab.hooks_dir().join("s1")))
    );
    assert!(
        finding["what"].as_str().unwrap().contains("at line 2,"),
        "{finding:#}"
    );

    let lab = used();
    damage(&log(&lab));
    let finding = one(&found(&lab, &[]), "log-corrupt");
    assert_eq!(
        (&finding["level"], &finding["subject"]),
        (&json!("problem"), &json!(log(&lab)))
    );
    assert!(
        finding["what"].as_str().unwrap().contains("read line 2: "),
        "{finding:#}"
    );

    let lab = used();
    append(&journal(&lab), b"{\"n\":9,\"ev");
    append(&log(&lab), b"{\"v\":1,\"id\"");
    append(&lab.data_dir().join("errors.jsonl"), b"{\"at\"");
    let report = found(&lab, &[]);
    assert_eq!(
        codes(&report, "note"),
        ["torn-tail", "torn-tail"],
        "one a store: {report:#}"
    );
    assert_eq!(of_level(&report, "problem"), 0);
    // The next event cuts it off and notes a fault: mended, so no problem either.
    lab.prompt("p2", "More");
    let report = found(&lab, &[]);
    assert_eq!(of_level(&report, "problem"), 0, "{report:#}");
    assert!(
        one(&report, "fault")["what"]
            .as_str()
            .unwrap()
            .contains("torn bytes were ignored")
    );
}

#[test]
fn a_record_of_a_newer_version_is_not_corrupt() {
    let lab = used();
    append(
        &log(&lab),
        b"{\"v\":2,\"kind\":\"turn.sung\",\"at\":\"2026-11-30T06:13:37Z\"}\n",
    );
    assert_eq!(found(&lab, &[])["findings"], json!([]));
    let state = lab.hooks_dir().join("s1/state.json");
    std::fs::write(&state, "{\"version\": 99, \"turns\": \"of another kind\"}").unwrap();
    let report = found(&lab, &[]);
    assert_eq!(
        (codes(&report, "note"), of_level(&report, "problem")),
        (vec!["version-newer".to_owned()], 0)
    );
}

#[test]
fn a_checkpoint_that_does_not_read_is_a_problem_until_a_hook_has_moved_it_aside() {
    let lab = used();
    let state = lab.hooks_dir().join("s1/state.json");
    std::fs::write(&state, "{\"n\": 1").unwrap();
    let finding = one(&found(&lab, &[]), "checkpoint-corrupt");
    assert_eq!(finding["subject"], json!(lab.hooks_dir().join("s1")));
    assert!(state.exists(), "a look leaves it");
    lab.prompt("p2", "More");
    let report = found(&lab, &[]);
    assert_eq!(of_level(&report, "problem"), 0, "{report:#}");
    assert!(
        one(&report, "moved-aside")["what"]
            .as_str()
            .unwrap()
            .contains("s1/state.json.bad")
    );
}

#[test]
fn what_stands_in_the_place_of_our_files_is_named_and_waits_for_nobody() {
    for (name, code) in [
        ("hooks/s1/events.jsonl", "session-unreadable"),
        ("data/log.jsonl", "log-unreadable"),
        ("data/open/entry", "entry-unreadable"),
        ("data/by-host/claude-code/s1", "entry-unreadable"),
        ("data/errors.jsonl", "file-unreadable"),
        ("data/roots", "file-unreadable"),
    ] {
        for kind in ["link", "fifo", "directory"] {
            let lab = Lab::new();
            lab.prompt("p1", "Work");
            let id = lab.log_ids()[0].clone();
            let place = match name {
                "data/log.jsonl" => log(&lab),
                "data/open/entry" => lab.data_dir().join("open").join(id.as_str()),
                other => lab.path(other),
            };
            if place.exists() {
                std::fs::remove_file(&place).unwrap();
            }
            match kind {
                "link" => std::os::unix::fs::symlink("/etc/passwd", &place).unwrap(),
                "fifo" => assert!(Command::new("mkfifo").arg(&place).status().unwrap().success()),
                _ => std::fs::create_dir(&place).unwrap(),
            }
            let finding = one(&found(&lab, &[]), code);
            assert_eq!(
                (&finding["subject"], &finding["level"], &finding["fixable"]),
                (&json!(place), &json!("problem"), &json!(false)),
                "{name} as a {kind}"
            );
        }
    }
}

#[test]
fn events_that_wait_for_long_are_told_with_who_takes_them_in() {
    let lab = used();
    let leave = |event: &str, fields: Value| {
        let dir = std::fs::File::open(lab.hooks_dir().join("s1")).unwrap();
        dir.lock().unwrap();
        lab.send(event, fields);
    };
    let age = || {
        for entry in std::fs::read_dir(lab.hooks_dir().join("s1")).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().contains("pending-") {
                touch(&path, -1);
            }
        }
    };
    leave("UserPromptSubmit", json!({"prompt_id": "p2", "prompt": "More"}));
    assert_eq!(found(&lab, &[])["findings"], json!([]), "it has only just come");
    age();
    let finding = one(&found(&lab, &[]), "events-wait");
    assert_eq!(finding["what"], "1 event waits to be taken in, since 1 h.");
    assert!(
        finding["level"] == "problem" && finding["remedy"].as_str().unwrap().contains("bookend sessions")
    );
    lab.bookend(&["sessions"]);
    assert_eq!(found(&lab, &[])["findings"], json!([]), "the remedy helps");

    leave("SessionStart", json!({"source": "resume", "prompt_id": null}));
    age();
    assert_eq!(
        one(&found(&lab, &[]), "events-wait")["level"],
        "note",
        "only a hook takes that in"
    );
}

#[test]
fn faults_of_the_last_day_are_counted_and_pass_when_a_hook_runs_well() {
    let lab = used();
    let now = bookend::clock::now();
    let fault = |hours: i64, what: &str| {
        let at = now - chrono::TimeDelta::hours(hours);
        let line = json!({"at": at, "hook": "stop", "what": what}).to_string() + "\n";
        append(&lab.data_dir().join("errors.jsonl"), line.as_bytes());
    };
    fault(30, "read the tea leaves");
    fault(3, "write the session log: No space left on device");
    fault(2, "write the session log: No space left on device");
    let finding = one(&found(&lab, &[]), "fault");
    assert_eq!(
        (&finding["level"], &finding["what"]),
        (
            &json!("note"),
            &json!(
                "It failed to write the session log: No space left on device (2 times in the last day, last 2 h ago)."
            )
        )
    );
    fault(0, "open the session's live state: Permission denied");
    let report = found(&lab, &[]);
    assert_eq!(
        (codes(&report, "problem"), codes(&report, "note").len()),
        (vec!["fault".to_owned()], 1)
    );

    lab.prompt("p2", "More");
    assert_eq!(of_level(&found(&lab, &[]), "problem"), 0, "a hook ran well");

    // One that a hook itself notes, in its journal, and that doctor looks at itself.
    let lab = Lab::new();
    std::fs::create_dir(lab.hooks_dir()).unwrap();
    super::chmod(&lab.hooks_dir(), 0o755);
    lab.prompt("p1", "Work");
    let report = found(&lab, &[]);
    assert_eq!(codes(&report, "problem"), ["root-unsafe"], "{report:#}");
    let finding = one(&report, "fault");
    assert!(
        finding["what"].as_str().unwrap().contains("mode is 755") && finding["subject"] == "UserPromptSubmit"
    );
    assert_eq!(said(&lab, &["--fix"]).0, Some(0), "it is said once, and mended");
}

#[test]
fn files_from_the_future_and_foreign_ones_are_only_mentioned() {
    let lab = used();
    touch(&journal(&lab), 23);
    assert_eq!(found(&lab, &[])["findings"], json!([]));
    touch(&journal(&lab), 48);
    assert!(
        one(&found(&lab, &[]), "clock")["what"]
            .as_str()
            .unwrap()
            .contains("s1/events.jsonl")
    );
    std::fs::write(lab.hooks_dir().join("notes.txt"), "x").unwrap();
    std::fs::write(lab.data_dir().join("notes.txt"), "x").unwrap();
    std::fs::create_dir(lab.hooks_dir().join("somebody")).unwrap();
    std::fs::write(lab.hooks_dir().join("somebody/x"), "x").unwrap();
    std::fs::write(lab.data_dir().join("log/readme"), "x").unwrap();
    let report = found(&lab, &[]);
    assert_eq!(
        (codes(&report, "note"), of_level(&report, "problem")),
        (vec!["foreign".into(), "clock".into(), "foreign".into()], 0),
        "{report:#}"
    );
    let all = report.to_string();
    for name in ["notes.txt", "somebody", "log/readme"] {
        assert!(all.contains(name), "{name}: {report:#}");
    }
}

#[test]
fn of_many_sessions_the_newest_are_looked_at_and_it_says_how_many() {
    let lab = used();
    let template = std::fs::read(log(&lab)).unwrap();
    for i in 0..250 {
        let dir = lab
            .data_dir()
            .join(format!("log/ClaudeCode-20200101T000000Z-{i}"));
        std::fs::create_dir(&dir).unwrap();
        super::chmod(&dir, 0o700);
        std::fs::write(
            dir.join("log.jsonl"),
            if i == 7 { &b"broken\n"[..] } else { &template },
        )
        .unwrap();
        super::chmod(&dir.join("log.jsonl"), 0o600);
        touch(&dir.join("log.jsonl"), if i == 7 { -1000 } else { -100 });
    }
    let report = found(&lab, &[]);
    assert_eq!(report["findings"], json!([]), "the broken one is the oldest");
    let data = &report["stores"][1];
    assert_eq!((&data["sessions"], &data["lookedAt"]), (&json!(251), &json!(200)));
    assert!(said(&lab, &[]).1.contains("251, the newest 200 looked at"));
    touch(
        &lab.data_dir().join("log/ClaudeCode-20200101T000000Z-7/log.jsonl"),
        0,
    );
    one(&found(&lab, &[]), "log-corrupt");
}
