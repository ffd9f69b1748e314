//! The first contact: an empty machine, help, wrong usage, stores that cannot be used.

use serde_json::{Value, json};

use super::{complaint_of, json_of, text_of};
use crate::harness::{Answer, Lab};

#[test]
fn an_empty_machine_is_told_so_and_left_as_it_is() {
    let lab = Lab::new();
    for list in [
        &["sessions"][..],
        &["events"],
        &["log", "sessions"],
        &["prune"],
        &["todos"],
    ] {
        let said = text_of(&lab, list);
        assert!(
            said.contains("othing is kept yet: start a session"),
            "{list:?}: {said}"
        );
    }
    assert_eq!(json_of(&lab, &["sessions", "--json"]), json!([]));
    assert_eq!(
        json_of(&lab, &["log", "sessions", "--json"]),
        json!({"sessions": [], "totalCount": 0, "offset": 0, "limit": 20})
    );
    assert_eq!(json_of(&lab, &["prune", "--json"])["removed"], json!([]));
    assert_eq!(text_of(&lab, &["events", "--json"]), "");
    assert!(text_of(&lab, &["resume"]).contains("no session of this project is unfinished"));
    assert_eq!(json_of(&lab, &["resume", "--json"])["brief"], Value::Null);
    for one in [&["show"][..], &["show", "--json"], &["log", "show"]] {
        assert!(complaint_of(&lab, one).contains("nothing is kept yet"), "{one:?}");
    }
    assert!(
        !lab.hooks_dir().exists() && !lab.data_dir().exists(),
        "a look makes nothing"
    );
    assert_eq!(std::fs::read_dir(lab.path("home")).unwrap().count(), 0);
}

#[test]
fn without_a_live_session_the_way_to_the_log_is_shown() {
    let lab = Lab::new();
    lab.prompt("p1", "Work");
    lab.stop("p1", "Done.");
    std::fs::remove_dir_all(lab.hooks_dir()).unwrap();
    assert!(text_of(&lab, &["sessions"]).starts_with("No session is live: `bookend log sessions`"));
    assert!(text_of(&lab, &["events"]).starts_with("No session is live"));
    assert!(complaint_of(&lab, &["show"]).contains("no session is live: `bookend log sessions`"));
    assert_eq!(json_of(&lab, &["log", "show", "--json"])["turnCount"], 1);
    assert!(!lab.hooks_dir().exists());
}

#[test]
fn a_data_directory_that_is_none_is_named_with_the_remedy() {
    let lab = Lab::new();
    lab.prompt("p1", "Work");
    let run = |arguments: &[&str]| {
        let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
        Answer::of(
            command
                .args(arguments)
                .env("BOOKEND_DATA_DIR", "/etc/passwd")
                .output()
                .unwrap(),
        )
    };
    let remedy =
        "failed to use the data directory /etc/passwd: Not a directory (os error 20); set BOOKEND_DATA_DIR";
    let live = run(&["sessions"]);
    assert_eq!(live.code, Some(0));
    assert!(
        live.stdout.contains("Work") && live.stderr.contains(remedy),
        "{live:?}"
    );
    for verb in [&["log", "show"], &["log", "sessions"]] {
        let log = run(verb);
        assert_eq!(
            (log.code, log.stdout.as_str(), log.stderr.lines().count()),
            (Some(1), "", 1),
            "{log:?}"
        );
        assert!(log.stderr.contains(remedy), "{log:?}");
    }
}

#[test]
fn help_has_examples_and_every_variable_and_wrong_usage_is_two() {
    let lab = Lab::new();
    let help = text_of(&lab, &["--help"]);
    assert!(
        help.contains("bookend events --follow") && help.contains("BOOKEND_RESUME_DAYS"),
        "{help}"
    );
    assert!(text_of(&lab, &["--version"]).starts_with("bookend "));
    for verb in [
        "install",
        "uninstall",
        "sessions",
        "show",
        "events",
        "resume",
        "todos",
        "probe",
        "prune",
        "doctor",
        "hook",
        "demo",
    ] {
        assert!(text_of(&lab, &[verb, "--help"]).contains("--json: "), "{verb}");
    }
    for wrong in [
        &["nonsense"][..],
        &["sessions", "--nonsense"],
        &["prune", "--older-than", "soon"],
        &["hook", "stop", "--host", "emacs"],
        &["hook", "start", "--host", "codex"],
        &["log", "sessions", "--status", "odd"],
    ] {
        let answer = lab.bookend(wrong);
        assert_eq!(
            (answer.code, answer.stdout.as_str()),
            (Some(2), ""),
            "{wrong:?}: {answer:?}"
        );
    }
    assert_eq!(lab.bookend(&[]).code, Some(2));
}
