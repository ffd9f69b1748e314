//! Several processes at one log, and one that is killed.

use std::io::Write as _;

use serde_json::json;

use super::{Repl, S, T, call, log, shown};
use crate::harness::Lab;

#[test]
fn sixteen_processes_that_append_to_one_turn_lose_nothing() {
    let lab = Lab::new();
    Repl::in_turn(&lab).end();
    std::thread::scope(|scope| {
        for process in 0..16 {
            let lab = &lab;
            scope.spawn(move || {
                let mut repl = Repl::of(lab);
                for n in 0..40 {
                    let text = format!("{process}/{n}");
                    let added = if n % 2 == 0 {
                        repl.ok("appendDialog", json!({"sessionId": S, "dialogItems": [{"role": "model", "content": text, "category": "reasoning"}]}))
                    } else {
                        repl.ok("appendActions", json!({"sessionId": S, "actions": [{"order": process * 40 + n, "description": text, "type": "edit", "status": "completed"}]}))
                    };
                    assert_eq!(added["appended"], 1);
                }
                repl.end();
            });
        }
    });
    let view = shown(&lab, S);
    assert!(view.get("problems").is_none(), "{view}");
    let turn = &view["turns"][0];
    assert_eq!(
        (
            turn["dialog"].as_array().unwrap().len(),
            turn["actions"].as_array().unwrap().len()
        ),
        (320, 320)
    );
    let ends = view["turns"][0]["status"].as_str();
    assert_eq!(ends, Some("in_progress"));
}

#[test]
fn of_two_that_begin_or_end_at_once_one_does() {
    let lab = Lab::new();
    let mut first = Repl::of(&lab);
    first.open(S);
    let outcomes = |method: &str, params: fn(usize) -> serde_json::Value| -> Vec<String> {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let (lab, method) = (&lab, method.to_owned());
                (Repl::of(lab), method, params(n))
            })
            .collect();
        std::thread::scope(|scope| {
            let running: Vec<_> = threads
                .into_iter()
                .map(|(mut repl, method, params)| scope.spawn(move || repl.ask(&method, params).0))
                .collect();
            running.into_iter().map(|r| r.join().unwrap()).collect()
        })
    };
    let results = |kinds: Vec<String>| kinds.iter().filter(|k| *k == "result").count();
    let begun = outcomes(
        "beginTurn",
        |_| json!({"sessionId": S, "requestId": T, "queryTitle": "t", "queryText": ""}),
    );
    assert_eq!(results(begun), 1);
    let ended = outcomes(
        "completeTurn",
        |n| json!({"sessionId": S, "response": format!("by {n}")}),
    );
    assert_eq!(results(ended), 1);
    assert_eq!(shown(&lab, S)["turns"].as_array().unwrap().len(), 1);
    let opened = outcomes(
        "openSession",
        |_| json!({"agent": "B", "sessionId": "B-20260409T120000Z-b", "title": "t"}),
    );
    assert_eq!(results(opened), 1);
}

#[test]
fn what_a_killed_repl_left_is_read_by_the_next_one() {
    let lab = Lab::new();
    let mut repl = Repl::in_turn(&lab);
    repl.ok("updateTurn", json!({"response": "kept"}));
    let before = log(&lab, S);
    // Killed with half a request on its stdin.
    let stdin = repl.stdin.as_mut().unwrap();
    stdin
        .write_all(br#"{"type":"request","payload":{"requestId":"r","method":"workflow.sessionlog.comp"#)
        .unwrap();
    stdin.flush().unwrap();
    repl.child.kill().unwrap();
    repl.child.wait().unwrap();
    assert_eq!(log(&lab, S), before);
    // Killed in the middle of a write: a torn last line.
    let path = lab.data_dir().join("log").join(S).join("log.jsonl");
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    file.write_all(br#"{"v":1,"id":"x","seq":99,"at":"2026"#).unwrap();
    let mut next = Repl::of(&lab);
    next.ok("completeTurn", json!({"sessionId": S}));
    next.end();
    let view = shown(&lab, S);
    assert!(view.get("problems").is_none(), "{view:#}");
    assert_eq!(
        (&view["turns"][0]["status"], &view["turns"][0]["response"]),
        (&json!("completed"), &json!("kept"))
    );
}

#[test]
fn a_turns_end_is_on_the_disk_before_it_is_answered() {
    let lab = Lab::new();
    Repl::in_turn(&lab).end();
    if lab.command("strace").arg("-V").output().is_err() {
        println!("skipped: strace is missing");
        return;
    }
    let trace = lab.path("trace");
    let run = |method: &str| {
        let mut command = lab.command("strace");
        command
            .args(["-f", "-e", "trace=fdatasync,write", "-o"])
            .arg(&trace)
            .arg(env!("CARGO_BIN_EXE_bookend"))
            .args(["call", method, "--params", "-"]);
        super::with_input(command, format!("sessionId: {S}").as_bytes());
        std::fs::read_to_string(&trace).unwrap_or_default()
    };
    assert!(!run("workflow.sessionlog.currentSession").contains("fdatasync"));
    let traced = run("workflow.sessionlog.completeTurn");
    let (sync, answer) = (traced.find("fdatasync("), traced.rfind("write(1, "));
    assert!(sync.is_some() && sync < answer, "{traced}");
    assert_eq!(
        call(
            &lab,
            &["workflow.sessionlog.completeTurn"],
            Some(&format!("sessionId: {S}"))
        )
        .code,
        Some(0)
    );
}
