//! It grows with the logs, whoever writes them and whatever the command is doing.

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use bookend::log::id::SessionId;
use bookend::log::ledger::Ledger;
use bookend::log::record::{Body, By};
use bookend::redact::Redacted;
use serde_json::json;

use super::{asked, event, found, index, log_file, logged, marks, session, turn};
use crate::harness::Lab;

#[test]
fn what_hooks_and_models_write_is_found_by_the_next_question_and_only_that_is_read() {
    let lab = Lab::new();
    turn(&lab, "one", "p1", "Add a price column", "The column is there.");
    assert!(
        !lab.data_dir().join("grown").exists(),
        "hooks mark nothing for nobody"
    );
    assert_eq!((found(&lab, "column"), found(&lab, "cart")), (1, 0));
    assert_eq!(marks(&lab), [""; 0], "what was read is not marked any more");

    turn(&lab, "one", "p2", "Mend the cart", "Mended.");
    assert_eq!(marks(&lab).len(), 1);
    turn(&lab, "two", "p1", "Another cart", "Yes.");
    assert_eq!((marks(&lab).len(), found(&lab, "cart")), (2, 2));
    lab.write("p2", "w1", "/p/basket.rs");
    assert_eq!(found(&lab, "basket"), 1);
    let call = lab.bookend(&["call", "start", "--agent", "Tester", "--title", "By a model"]);
    assert_eq!(call.code, Some(0));
    assert_eq!(found(&lab, "model"), 1);
    let again = asked(&lab, &["reindex"]);
    assert_eq!(
        (&again["read"], &again["sessions"]),
        (&json!(0), &json!(4)),
        "{again}"
    );
}

#[test]
fn a_session_is_in_the_index_as_it_is_in_its_log() {
    let lab = Lab::new();
    session(&lab, "one", "Add a price column", "The column is there.");
    lab.prompt("p1", "Mend the cart");
    lab.write("p1", "w1", "/p/cart.rs");
    for id in lab.log_ids() {
        let shown = asked(&lab, &["show", id.as_str()]);
        let list = asked(&lab, &["sessions"]);
        let all = list["sessions"].as_array().unwrap();
        let row = all.iter().find(|s| s["sessionId"] == id.as_str()).unwrap();
        for (name, value) in row.as_object().unwrap().iter().filter(|(n, _)| *n != "tags") {
            assert_eq!(shown[name], *value, "{name}");
        }
    }
}

#[test]
fn its_files_are_the_users_alone() {
    let lab = Lab::new();
    session(&lab, "one", "Add a price column", "Yes.");
    found(&lab, "column");
    std::fs::set_permissions(index(&lab), std::fs::Permissions::from_mode(0o644)).unwrap();
    found(&lab, "column");
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(lab.data_dir()).unwrap() {
        let (name, mode) = entry
            .map(|e| {
                (
                    e.file_name().into_string().unwrap(),
                    e.metadata().unwrap().permissions().mode(),
                )
            })
            .unwrap();
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
        names.push(name);
    }
    assert!(names.contains(&"index.sqlite".to_owned()), "{names:?}");
}

#[test]
fn a_log_that_somebody_removed_cut_or_replaced_is_noticed() {
    let lab = Lab::new();
    let ids: Vec<String> = (0..3)
        .map(|n| logged(&lab, n, 1, &format!("alpha beta{n}")))
        .collect();
    assert_eq!(found(&lab, "alpha"), 3);
    std::fs::remove_dir_all(log_file(&lab, &ids[0]).parent().unwrap()).unwrap();
    assert_eq!(found(&lab, "alpha"), 2, "a log is gone");
    let new = logged(&lab, 7, 1, "alpha gamma");
    assert_eq!(found(&lab, "alpha"), 3, "one was put there");

    // In place: the sessions that are shown are looked at, a reindex looks at all.
    let text = std::fs::read_to_string(log_file(&lab, &ids[1])).unwrap();
    std::fs::write(
        log_file(&lab, &ids[1]),
        text.lines().next().unwrap().to_owned() + "\n",
    )
    .unwrap();
    let list = asked(&lab, &["sessions"]);
    let cut = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["sessionId"] == ids[1].as_str());
    assert_eq!(cut.unwrap()["turnCount"], 0, "{list:#}");
    let text = std::fs::read_to_string(log_file(&lab, &new)).unwrap();
    std::fs::write(log_file(&lab, &new), text.replace("gamma", "delta")).unwrap();
    assert_eq!(asked(&lab, &["reindex"])["read"], 1);
    assert_eq!((found(&lab, "gamma"), found(&lab, "delta")), (0, 1));
}

#[test]
fn while_hooks_write_and_commands_ask_and_reindex_nothing_is_lost() {
    let lab = Lab::new();
    session(&lab, "first", "Begin", "Begun.");
    found(&lab, "begin");
    let done = AtomicBool::new(false);
    let (writers, turns) = (4, 12);
    std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..writers)
            .map(|w| {
                let lab = &lab;
                scope.spawn(move || {
                    for t in 0..turns {
                        turn(
                            lab,
                            &format!("s{w}"),
                            &format!("p{t}"),
                            &format!("word{w}x{t}"),
                            "Yes.",
                        );
                    }
                })
            })
            .collect();
        let asks: Vec<_> = [
            &["reindex"][..],
            &["sessions"],
            &["search", "yes"],
            &["reindex", "--anew"],
        ]
        .into_iter()
        .map(|verb| {
            let (lab, done) = (&lab, &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    super::answered(lab, verb);
                }
            })
        })
        .collect();
        for hook in hooks {
            hook.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for ask in asks {
            ask.join().unwrap();
        }
    });
    for w in 0..writers {
        for t in 0..turns {
            assert_eq!(found(&lab, &format!("word{w}x{t}")), 1, "word{w}x{t}");
        }
    }
    assert_eq!(
        asked(&lab, &["reindex"])["read"],
        0,
        "a question left something unread"
    );
    assert_eq!(asked(&lab, &["stats"])["turns"], 1 + writers * turns);
}

#[test]
fn a_mark_outlives_a_question_that_is_asked_while_somebody_writes() {
    let lab = Lab::new();
    session(&lab, "one", "Begin", "Begun.");
    found(&lab, "begin");
    let id: SessionId = lab.log_ids().remove(0);
    let note = |text: &str| Body::Note {
        text: Redacted::new(text),
    };
    let wait = std::time::Duration::from_secs(1);
    let mut ledger = Ledger::open(&lab.data(), &id, By::Person, false, wait)
        .unwrap()
        .unwrap();
    ledger.append(vec![note("first")], bookend::clock::now()).unwrap();
    found(&lab, "begin");
    assert_eq!(marks(&lab).len(), 1, "its writer is not done");
    ledger
        .append(vec![note("second")], bookend::clock::now())
        .unwrap();
    drop(ledger);
    found(&lab, "begin");
    assert_eq!(marks(&lab), [""; 0]);
    assert_eq!(asked(&lab, &["reindex"])["read"], 0);
}

#[test]
fn a_reindex_that_is_interrupted_does_no_harm_and_the_next_one_goes_on() {
    let lab = Lab::new();
    for n in 0..2_500 {
        logged(&lab, n, 1, &format!("alpha beta{n}"));
    }
    for pause in [5, 20, 60, 120] {
        let mut child = lab
            .command(env!("CARGO_BIN_EXE_bookend"))
            .args(["log", "reindex"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(pause));
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT);
        child.wait().unwrap();
    }
    assert_eq!((found(&lab, "alpha"), found(&lab, "beta2499")), (2_500, 1));
    assert_eq!(asked(&lab, &["sessions"])["totalCount"], 2_500);
    event(&lab, "s9", "SessionStart", json!({"source": "startup"}));
}
