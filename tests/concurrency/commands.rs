//! Commands beside hooks, a lock that somebody died with or does not give, a reboot under running hooks.

use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{
    assert_whole, at_once, calls, count, crowd, fold_what_waits, pending, stale_session, together, tool,
};
use crate::harness::Lab;

/// Nothing takes this long unless it hangs: 0.2 s are waited for a lock, 0.8 s are a hook's deadline, and many
/// processes share two cores.
const HANG: Duration = Duration::from_secs(4);

fn expected(title: &str, names: impl IntoIterator<Item = String>) -> Vec<(String, String)> {
    let mut all: Vec<_> = names.into_iter().map(|call| (title.to_owned(), call)).collect();
    all.sort();
    all
}

#[test]
fn commands_beside_two_hundred_hooks_lose_nothing_and_nobody_hangs() {
    let _one = crowd();
    let lab = Lab::new();
    lab.prompt("p1", "Much");
    for n in 0..4 {
        stale_session(&lab, &format!("old-{n}"));
    }
    let over = AtomicBool::new(false);
    let slowest = Mutex::new(Duration::ZERO);
    let commands: [&[&str]; 6] = [
        &["prune"],
        &["sessions", "--all"],
        &["show", "s1", "--json"],
        &["log", "sessions"],
        &["log", "show", "s1"],
        &["doctor", "--json"],
    ];
    std::thread::scope(|scope| {
        for arguments in commands {
            let (lab, over) = (&lab, &over);
            scope.spawn(move || {
                while !over.load(Ordering::Acquire) {
                    let answer = lab.bookend(arguments);
                    // (Doctor finds that nothing is installed.)
                    let fine = answer.code == Some(0) || arguments[0] == "doctor" && answer.code == Some(1);
                    assert!(fine, "{arguments:?}: {answer:?}");
                }
            });
        }
        at_once(10, 200, |i| {
            let began = Instant::now();
            lab.send("PostToolUse", tool("s1", "p1", &format!("call-{i:03}")));
            let mut slowest = slowest.lock().unwrap();
            *slowest = slowest.max(began.elapsed());
        });
        over.store(true, Ordering::Release);
    });
    let slowest = slowest.into_inner().unwrap();
    println!(
        "slowest of 200 hooks beside {} commands: {slowest:?}",
        commands.len()
    );
    assert!(slowest < HANG, "{slowest:?}");
    fold_what_waits(&lab, "s1");
    assert_eq!(count(&lab, "s1", "PostToolUse"), 200);
    let all = (0..200).map(|i| format!("call-{i:03}"));
    assert_eq!(calls(&lab.log_of("s1")), expected("Much", all));
    lab.stop("p1", "Done.");
    assert_eq!(lab.log_of("s1").turns[0].status, "completed");
    for n in 0..4 {
        let log = lab.log_of(&format!("old-{n}"));
        assert_eq!((log.turns.len(), log.turns[0].presumed), (1, true), "old-{n}");
    }
    assert_whole(&lab);
    let faults: Vec<_> = lab.entries("s1").into_iter().flat_map(|e| e.faults).collect();
    assert!(
        faults.is_empty() && lab.faults().is_empty(),
        "{faults:?} {:?}",
        lab.faults()
    );
}

#[test]
fn while_somebody_holds_the_log_hooks_answer_in_time_and_what_they_saw_is_logged_later() {
    let _one = crowd();
    let lab = Lab::new();
    lab.prompt("p1", "Held");
    let id = lab.log_of("s1").session_id;
    let log = File::open(lab.data_dir().join("log").join(id.as_str()).join("log.jsonl")).unwrap();
    log.lock().unwrap();
    together(4, |i| {
        let began = Instant::now();
        lab.send("PostToolUse", tool("s1", "p1", &format!("call-{i}")));
        assert!(began.elapsed() < HANG, "{:?}", began.elapsed());
    });
    assert_eq!(pending(&lab, "s1").len(), 4);
    drop(log);
    lab.stop("p1", "Done.");
    assert!(pending(&lab, "s1").is_empty());
    let log = lab.log_of("s1");
    assert_eq!(calls(&log), expected("Held", (0..4).map(|i| format!("call-{i}"))));
    assert_eq!(log.turns[0].status, "completed");
}

#[test]
fn a_lock_whose_holder_was_killed_holds_nobody_up() {
    let lab = Lab::new();
    lab.prompt("p1", "First");
    let dir = lab.hooks_dir().join("s1");
    let mut holder = Command::new("flock")
        .args(["--no-fork", "--exclusive"])
        .arg(&dir)
        .args(["sh", "-c", "echo held; exec sleep 60"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 5];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut said).unwrap();
    assert!(File::open(&dir).unwrap().try_lock().is_err(), "it is held");
    holder.kill().unwrap();
    holder.wait().unwrap();
    lab.write("p1", "call-1", "/p/x.rs");
    assert!(pending(&lab, "s1").is_empty(), "nobody waited");
    assert_eq!(count(&lab, "s1", "PostToolUse"), 1);
}

#[test]
fn after_a_reboot_in_a_turn_hooks_in_parallel_begin_its_state_anew_and_keep_every_action() {
    let _one = crowd();
    for round in 0..4 {
        let lab = Lab::new();
        lab.prompt("p1", "Long work");
        together(6, |i| {
            drop(lab.send("PostToolUse", tool("s1", "p1", &format!("a-{i}"))))
        });
        fold_what_waits(&lab, "s1");
        // The temp directory is new, and the host goes on with several tools at once.
        std::fs::remove_dir_all(lab.hooks_dir()).unwrap();
        together(8, |i| match i {
            0 => drop(lab.send("SessionStart", json!({"source": "resume", "prompt_id": null}))),
            _ => drop(lab.send("PostToolUse", tool("s1", "p1", &format!("b-{i}")))),
        });
        fold_what_waits(&lab, "s1");
        lab.stop("p1", "Done.");
        let log = lab.log_of("s1");
        let all = (0..6)
            .map(|i| format!("a-{i}"))
            .chain((1..8).map(|i| format!("b-{i}")));
        assert_eq!(calls(&log), expected("Long work", all), "round {round}");
        assert_eq!(
            (log.turns.len(), log.turns[0].status),
            (1, "completed"),
            "round {round}"
        );
        assert!(lab.open_entries().is_empty());
        assert_whole(&lab);
    }
}

#[test]
fn a_hook_root_that_vanishes_under_running_hooks_costs_the_log_nothing_that_it_had() {
    let _one = crowd();
    let lab = Lab::new();
    lab.prompt("p1", "Swept away");
    lab.write("p1", "call-0", "/p/x.rs");
    together(10, |i| match i {
        // A cleaner of the temp directory, three times.
        0 => {
            for n in 0..3 {
                std::thread::sleep(Duration::from_millis(30));
                let aside = lab.path(&format!("aside-{n}"));
                drop(std::fs::rename(lab.hooks_dir(), &aside));
                drop(std::fs::remove_dir_all(aside));
            }
        }
        _ => {
            for n in 0..6 {
                lab.send("PostToolUse", tool("s1", "p1", &format!("call-{i}-{n}")));
            }
        }
    });
    fold_what_waits(&lab, "s1");
    lab.stop("p1", "Done.");
    let log = lab.log_of("s1");
    let mut all = calls(&log);
    assert!(all.contains(&("Swept away".to_owned(), "call-0".to_owned())));
    let before = all.len();
    all.dedup();
    assert_eq!(all.len(), before, "no action twice");
    // Only events that waited for the lock in the directory itself can go with it.
    println!("{before} of 55 actions are in the log");
    assert_eq!((log.turns.len(), log.turns[0].status), (1, "completed"));
    assert!(lab.open_entries().is_empty());
    assert_whole(&lab);
}

#[test]
fn an_event_sent_again_after_its_hook_was_killed_between_log_and_journal_is_logged_once() {
    let lab = Lab::new();
    lab.prompt("p1", "Once");
    let journal = lab.hooks_dir().join("s1/events.jsonl");
    let before = std::fs::read(&journal).unwrap();
    lab.send("PostToolUse", tool("s1", "p1", "call-1"));
    std::fs::write(&journal, before).unwrap();
    lab.send("PostToolUse", tool("s1", "p1", "call-1"));
    assert_eq!(calls(&lab.log_of("s1")), expected("Once", ["call-1".to_owned()]));
    assert_eq!(count(&lab, "s1", "PostToolUse"), 1);
    // Also where its session began with it.
    let lab = Lab::new();
    lab.send("PostToolUse", tool("s1", "p1", "call-1"));
    std::fs::remove_dir_all(lab.hooks_dir()).unwrap();
    lab.send("PostToolUse", tool("s1", "p1", "call-1"));
    assert_eq!(calls(&lab.log_of("s1")).len(), 1);
    assert_eq!(lab.log_of("s1").turns.len(), 1);
}
