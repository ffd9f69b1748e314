//! The `bookend` command over stores that real hooks wrote: each verb for people and as JSON, and what must
//! never happen on the way (a raw escape sequence, a panic on a closed pipe, a directory made by a look).

mod history;
mod journal;
mod output;
mod resume;
mod run;
mod sessions;

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Answer, Lab, hook_of, with};

/// A host process that is not the test: alive until it is killed.
struct Host(Child);

impl Host {
    fn new() -> Self {
        let child = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn();
        Self(child.unwrap())
    }

    /// An event of a session that runs in this process.
    fn send(&self, lab: &Lab, session: &str, event: &str, fields: Value) -> Answer {
        let project = lab.project();
        let base = json!({
            "session_id": session, "prompt_id": "p1", "cwd": project, "hook_event_name": event,
        });
        lab.call(hook_of(event), &with(base, fields))
            .env("CLAUDE_PROJECT_DIR", &project.to_string_lossy())
            .env("CLAUDE_PID", &self.0.id().to_string())
            .run()
            .ok()
    }

    fn dies(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A session whose host vanished in the middle of `task`.
fn crashed(lab: &Lab, session: &str, task: &str) {
    let mut host = Host::new();
    host.send(lab, session, "UserPromptSubmit", json!({"prompt": task}));
    host.send(
        lab,
        session,
        "PostToolUse",
        json!({"tool_name": "Write", "tool_use_id": "w1",
               "tool_input": {"file_path": "/p/cart.rs", "content": "x"},
               "tool_response": {"type": "create", "filePath": "/p/cart.rs"}}),
    );
    host.dies();
}

/// What a command prints as JSON.
#[track_caller]
fn json_of(lab: &Lab, arguments: &[&str]) -> Value {
    let answer = lab.bookend(arguments);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    answer.json()
}

/// What a command prints for people.
#[track_caller]
fn text_of(lab: &Lab, arguments: &[&str]) -> String {
    let answer = lab.bookend(arguments);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    answer.stdout
}

/// A command that fails: one sentence on stderr, nothing on stdout.
#[track_caller]
fn complaint_of(lab: &Lab, arguments: &[&str]) -> String {
    let answer = lab.bookend(arguments);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(1), ""), "{answer:?}");
    assert!(
        answer.stderr.lines().last().unwrap().starts_with("bookend: "),
        "{answer:?}"
    );
    answer.stderr
}

/// Every file below a directory with its content.
fn snapshot(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(snapshot(&entry.path()));
        } else {
            files.push((
                entry.path().display().to_string(),
                std::fs::read(entry.path()).unwrap(),
            ));
        }
    }
    files.sort();
    files
}

/// Makes everything that a file of JSON lines says older.
fn older(file: &Path, by: chrono::TimeDelta) {
    fn shift(value: &mut Value, by: chrono::TimeDelta) {
        match value {
            Value::Object(members) => members.values_mut().for_each(|v| shift(v, by)),
            Value::Array(items) => items.iter_mut().for_each(|v| shift(v, by)),
            Value::String(text) => {
                if let Ok(at) = text.parse::<chrono::DateTime<chrono::Utc>>() {
                    *text = (at - by).to_rfc3339();
                }
            }
            _ => {}
        }
    }
    let mut text = String::new();
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        shift(&mut value, by);
        text.push_str(&format!("{value}\n"));
    }
    std::fs::write(file, text).unwrap();
}

/// Makes all files of a live session as old as that.
fn age(lab: &Lab, session: &str, hours: u64) {
    let then = std::time::SystemTime::UNIX_EPOCH
        + std::time::Duration::from_millis(u64::try_from(bookend::clock::now().timestamp_millis()).unwrap())
        - std::time::Duration::from_secs(hours * 3_600);
    for entry in std::fs::read_dir(lab.hooks_dir().join(session)).unwrap() {
        let file = std::fs::File::options()
            .append(true)
            .open(entry.unwrap().path())
            .unwrap();
        file.set_modified(then).unwrap();
    }
}

#[test]
fn an_empty_machine_is_told_so_and_left_as_it_is() {
    let lab = Lab::new();
    for list in [&["sessions"][..], &["events"], &["log", "sessions"], &["prune"]] {
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
    for verb in ["sessions", "show", "events", "resume", "prune", "hook"] {
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

#[test]
fn prune_removes_what_is_stale_in_every_root_and_gives_its_turn_an_end() {
    let lab = Lab::new();
    lab.prompt("p1", "Stale work");
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "fresh", "prompt": "Fresh work"}),
    );
    std::fs::create_dir(lab.hooks_dir().join("somebody")).unwrap();
    std::fs::write(lab.hooks_dir().join("somebody/notes.txt"), "x").unwrap();
    age(&lab, "s1", 3);
    let before = (snapshot(&lab.hooks_dir()), snapshot(&lab.data_dir()));
    let dry = json_of(&lab, &["prune", "--dry-run", "--json"]);
    let stale = lab.hooks_dir().join("s1").display().to_string();
    let foreign = lab.hooks_dir().join("somebody").display().to_string();
    assert_eq!(
        (&dry["removed"], &dry["foreign"]),
        (&json!([stale]), &json!([foreign]))
    );
    assert!(text_of(&lab, &["prune", "-n"]).contains("would be removed"));
    assert_eq!(
        before,
        (snapshot(&lab.hooks_dir()), snapshot(&lab.data_dir())),
        "a dry run changes nothing"
    );
    assert_eq!(
        json_of(&lab, &["prune", "--older-than", "1d", "--json"])["removed"],
        json!([])
    );

    // The host is the test itself, which lives: the open turn gets its end by the prune.
    let said = text_of(&lab, &["prune"]);
    assert!(
        said.contains("1 session without a change for more than 2 h removed"),
        "{said}"
    );
    assert!(
        said.contains("1 turn still open") && said.contains("None of Bookend's"),
        "{said}"
    );
    assert!(!lab.hooks_dir().join("s1").exists() && lab.hooks_dir().join("fresh").is_dir());
    let log = json_of(&lab, &["log", "show", "s1", "--json"]);
    assert_eq!(log["turns"][0]["failure"]["code"], "session_abandoned", "{log:#}");
    assert!(foreign.ends_with("somebody") && lab.hooks_dir().join("somebody/notes.txt").is_file());
}

#[test]
fn a_notice_waits_for_somebody_who_hears_it() {
    let lab = Lab::new();
    let mut host = Host::new();
    host.send(&lab, "s1", "UserPromptSubmit", json!({"prompt": "Work"}));
    host.send(&lab, "s1", "StopFailure", json!({"error": "rate_limit"}));
    assert_eq!(lab.state("s1").notices.len(), 1);
    // Its hook cannot get the lock and leaves the event.
    let dir = std::fs::File::open(lab.hooks_dir().join("s1")).unwrap();
    dir.lock().unwrap();
    let left = host.send(
        &lab,
        "s1",
        "UserPromptSubmit",
        json!({"prompt_id": "p2", "prompt": "Other work"}),
    );
    assert_eq!(left.stdout, "");
    let waits = json_of(&lab, &["show", "--json"]);
    assert_eq!(
        (&waits["pending"], waits["notices"].as_array().unwrap().len()),
        (&json!(1), 1)
    );
    assert!(text_of(&lab, &["show"]).contains("1 event for the next hook"));
    drop(dir);

    let show = json_of(&lab, &["show", "--json"]);
    assert_eq!(show["pending"], 0, "a command folds it in: {show:#}");
    assert_eq!(show["events"]["UserPromptSubmit"]["count"], 2);
    assert_eq!(
        show["notices"].as_array().unwrap().len(),
        1,
        "nobody was shown it: {show:#}"
    );
    let next = host.send(
        &lab,
        "s1",
        "UserPromptSubmit",
        json!({"prompt_id": "p3", "prompt": "More"}),
    );
    assert!(next.notice().contains("RATE LIMITED"), "{next:?}");
    host.dies();
}

#[test]
fn a_command_that_folds_events_in_takes_nobody_for_their_host() {
    let lab = Lab::new();
    // A session whose host is not known: no /proc, or another machine's journal.
    lab.send("UserPromptSubmit", json!({"session_id": "s2", "prompt": "Work"}));
    let left = lab.hooks_dir().join("s2");
    let journal = std::fs::read_to_string(left.join("events.jsonl")).unwrap();
    let mut entry: Value = serde_json::from_str(journal.trim()).unwrap();
    entry
        .as_object_mut()
        .unwrap()
        .remove("process")
        .expect("a process");
    std::fs::write(left.join("events.jsonl"), format!("{entry}\n")).unwrap();
    std::fs::remove_file(left.join("state.json")).unwrap();
    let dir = std::fs::File::open(&left).unwrap();
    dir.lock().unwrap();
    lab.send(
        "PostToolUse",
        json!({"session_id": "s2", "tool_name": "Read", "tool_use_id": "r1"}),
    );
    drop(dir);
    assert_eq!(lab.entries("s2").len(), 1, "it was left");
    let show = json_of(&lab, &["show", "s2", "--json"]);
    assert_eq!(
        (&show["pending"], &show["events"]["PostToolUse"]["count"]),
        (&json!(0), &json!(1)),
        "{show:#}"
    );
    assert_eq!(
        (&show["hostProcess"], &show["live"]),
        (&Value::Null, &json!(true)),
        "known by its last event"
    );

    // A session's start tells the process: it waits for a hook.
    let dir = std::fs::File::open(&left).unwrap();
    dir.lock().unwrap();
    lab.send(
        "SessionStart",
        json!({"session_id": "s2", "source": "resume", "prompt_id": null}),
    );
    drop(dir);
    assert_eq!(json_of(&lab, &["show", "s2", "--json"])["pending"], 1);
    lab.send(
        "Stop",
        json!({"session_id": "s2", "last_assistant_message": "Done."}),
    );
    let show = json_of(&lab, &["show", "s2", "--json"]);
    assert_eq!(
        (&show["pending"], show["hostProcess"].is_object()),
        (&json!(0), true),
        "{show:#}"
    );
}
