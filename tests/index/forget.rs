//! What is forgotten is gone everywhere; what is in use stays.

use std::time::Duration;

use bookend::files;
use bookend::log::id::SessionId;
use bookend::log::ledger::{FILE, Ledger};
use bookend::log::record::{Body, By};
use bookend::redact::Redacted;
use serde_json::json;

use super::{answered, asked, event, found, listed, log_file, logged, session, turn};
use crate::cli::Host;
use crate::harness::Lab;

fn holds(lab: &Lab, name: &str, word: &str) -> bool {
    let bytes = std::fs::read(lab.data_dir().join(name)).unwrap_or_default();
    bytes
        .windows(word.len())
        .any(|w| w.eq_ignore_ascii_case(word.as_bytes()))
}

#[test]
fn a_forgotten_session_leaves_nothing_behind() {
    let lab = Lab::new();
    for (id, word) in [("one", "anchovy"), ("two", "cuttlefish")] {
        session(&lab, id, &format!("Cook the {word}"), "Yes.");
    }
    assert_eq!(found(&lab, "anchovy"), 1);
    assert!(
        holds(&lab, "index.sqlite", "anchovy"),
        "the test looks in the right place"
    );
    let dry = asked(&lab, &["forget", "one", "--dry-run"]);
    assert_eq!(
        (dry["removed"].as_array().unwrap().len(), found(&lab, "anchovy")),
        (1, 1)
    );
    assert!(dry["bytes"].as_u64().unwrap() > 100, "{dry}");
    let refused = lab.bookend(&["log", "forget", "one"]);
    assert!(
        refused.code == Some(1) && refused.stderr.contains("say --yes"),
        "{refused:?}"
    );

    let gone = asked(&lab, &["forget", "one", "--yes"]);
    let id = gone["removed"][0]["sessionId"].as_str().unwrap();
    assert!(!log_file(&lab, id).parent().unwrap().exists());
    assert!(!lab.data_dir().join("by-host/claude-code/one").exists());
    assert!(lab.data_dir().join("by-host/claude-code/two").exists());
    for name in ["index.sqlite", "index.sqlite-wal"] {
        assert!(!holds(&lab, name, "anchovy"), "{name} still has the word");
    }
    assert_eq!(
        (listed(&lab, &[]).as_str(), found(&lab, "cuttlefish")),
        ("two", 1)
    );
    let again = lab.bookend(&["log", "forget", "one", "--yes"]);
    assert!(
        again.code == Some(1) && again.stderr.contains("no session of the log begins with one"),
        "{again:?}"
    );
    // The host goes on with it: that is a new session.
    turn(&lab, "one", "p2", "Cook it again", "Yes.");
    assert_eq!((listed(&lab, &[]).as_str(), found(&lab, "again")), ("one two", 1));
}

#[test]
fn a_session_that_is_at_work_stays() {
    let lab = Lab::new();
    let mut host = Host::new();
    host.send(
        &lab,
        "busy",
        "UserPromptSubmit",
        json!({"prompt": "Mend the cart"}),
    );
    let idle = Host::new();
    idle.send(&lab, "idle", "UserPromptSubmit", json!({"prompt": "Paint it"}));
    idle.send(
        &lab,
        "idle",
        "Stop",
        json!({"last_assistant_message": "Painted."}),
    );
    session(&lab, "ended", "Add a column", "Yes.");
    let kept = asked(&lab, &["forget", "--all", "--yes"]);
    assert_eq!(kept["removed"].as_array().unwrap().len(), 1, "{kept:#}");
    for one in kept["kept"].as_array().unwrap() {
        assert_eq!(one["why"], "its host runs", "{kept:#}");
    }
    assert_eq!(listed(&lab, &[]), "idle busy");
    let named = lab.bookend(&["log", "forget", "busy", "--yes"]);
    assert!(
        named.code == Some(1) && named.stderr.contains("stays: its host runs"),
        "{named:?}"
    );
    assert_eq!(lab.open_entries().len(), 1);

    host.dies();
    // What was left to be resumed goes with it.
    assert_eq!(
        asked(&lab, &["forget", "busy", "--yes"])["removed"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        (lab.open_entries().len(), listed(&lab, &[])),
        (0, "idle".to_owned())
    );
    drop(idle);
}

#[test]
fn a_project_is_forgotten_with_what_is_below_it_and_nothing_beside_it() {
    let lab = Lab::new();
    session(&lab, "here", "Add a column", "Yes.");
    for (id, dir) in [("below", "project/sub"), ("beside", "project2")] {
        let dir = lab.path(dir);
        std::fs::create_dir_all(&dir).unwrap();
        for (name, fields) in [
            ("UserPromptSubmit", json!({"prompt": "Do it"})),
            ("Stop", json!({"last_assistant_message": "Yes."})),
            ("SessionEnd", json!({"reason": "exit"})),
        ] {
            let base = json!({"session_id": id, "prompt_id": "p1", "cwd": dir, "hook_event_name": name});
            let payload = crate::harness::with(base, fields);
            let call = lab.call(crate::harness::hook_of(name), &payload);
            call.env("CLAUDE_PROJECT_DIR", &dir.to_string_lossy()).run().ok();
        }
    }
    assert_eq!(
        asked(&lab, &["forget", "--project", ".", "--yes"])["removed"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(listed(&lab, &[]), "beside");
    assert_eq!(
        lab.bookend(&["log", "forget", "--yes"]).code,
        Some(2),
        "nothing was named"
    );
}

#[test]
fn a_hook_that_waits_while_its_log_is_forgotten_begins_a_new_one() {
    let lab = Lab::new();
    let id: SessionId = logged(&lab, 1, 1, "common").try_into().unwrap();
    let data = lab.data();
    let wait = Duration::from_secs(5);
    let note = || Body::Note {
        text: Redacted::new("kept"),
    };
    for make in [true, false] {
        // As `forget` does: under the lock.
        let dir = data.session(&id).unwrap().unwrap();
        let (file, _) = dir.open_read(FILE).unwrap().unwrap();
        files::acquire(&file, wait).unwrap();
        let written = std::thread::scope(|scope| {
            let hook = scope.spawn(|| {
                let ledger = Ledger::open(&lab.data(), &id, By::Hook, make, wait).unwrap();
                ledger.map(|mut l| l.append(vec![note()], bookend::clock::now()).unwrap())
            });
            std::thread::sleep(Duration::from_millis(100));
            dir.remove(FILE).unwrap();
            data.dir()
                .sub("log")
                .unwrap()
                .unwrap()
                .remove_sub(id.as_str())
                .unwrap();
            drop(file);
            hook.join().unwrap()
        });
        assert_eq!(written.is_some(), make);
        if make {
            assert_eq!(lab.records(&id).len(), 1, "what was acknowledged is there");
        }
    }
    assert_eq!(asked(&lab, &["sessions"])["totalCount"], 0);
}

#[test]
fn while_hooks_write_forgetting_all_takes_only_what_is_over() {
    let lab = Lab::new();
    for n in 0..20 {
        logged(&lab, n, 1, "common");
    }
    let host = Host::new();
    std::thread::scope(|scope| {
        let (lab, host) = (&lab, &host);
        let hooks = scope.spawn(move || {
            for t in 0..15 {
                let id = format!("p{t}");
                host.send(
                    lab,
                    "live",
                    "UserPromptSubmit",
                    json!({"prompt_id": id, "prompt": format!("word{t}")}),
                );
                host.send(
                    lab,
                    "live",
                    "Stop",
                    json!({"prompt_id": id, "last_assistant_message": "Yes."}),
                );
            }
        });
        while !hooks.is_finished() {
            answered(lab, &["forget", "--all", "--yes"]);
        }
    });
    assert_eq!(listed(&lab, &[]), "live");
    for t in 0..15 {
        assert_eq!(found(&lab, &format!("word{t}")), 1, "word{t}");
    }
}

#[test]
fn a_project_with_the_file_leaves_no_log_and_everybody_says_so() {
    let lab = Lab::new();
    session(&lab, "before", "Add a column", "Yes.");
    std::fs::write(lab.project().join(".bookend-off"), "").unwrap();
    event(&lab, "off", "SessionStart", json!({"source": "startup"}));
    session(&lab, "off", "Keep this secret", "Yes.");
    lab.write("p1", "w1", "/p/a.rs");
    assert_eq!(lab.log_ids().len(), 1);
    assert!(!lab.data_dir().join("by-host/claude-code/off").exists());
    assert_eq!(lab.state("off").turns.count, 1, "the live state is kept");
    assert!(lab.faults().is_empty(), "{:?}", lab.faults());
    let list = lab.bookend(&["log", "sessions", "--json"]);
    assert!(
        list.stderr.contains(".bookend-off") && list.json()["totalCount"] == 1,
        "{list:?}"
    );
    let call = lab.bookend(&["call", "start", "--agent", "Tester", "--title", "x"]);
    assert!(
        call.code == Some(1) && call.stdout.contains("The log is off in"),
        "{call:?}"
    );
    let doctor = lab.bookend(&["doctor", "--json"]).json();
    assert!(
        doctor["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|f| f["code"] == "log-off"),
        "{doctor:#}"
    );
    std::fs::remove_file(lab.project().join(".bookend-off")).unwrap();
    session(&lab, "after", "Add another", "Yes.");
    assert_eq!(lab.log_ids().len(), 2);
}
