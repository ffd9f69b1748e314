//! What is written before what.

use serde_json::{Value, json};

use super::scenes::{SCENES, Scene, stop, with_planner};
use super::strace::{can_trace, one_sweep, trace};
use crate::harness::Lab;

/// The traced lines of one event in the lab.
fn lines_of(prepare: fn(&Lab), event: &'static str, fields: fn() -> Value) -> Vec<String> {
    let scene = Scene {
        name: event,
        prepare,
        event,
        fields,
        session: "s1",
        turn: "p1",
        acknowledged: &[],
    };
    let lab = Lab::new();
    prepare(&lab);
    trace(&lab, &scene, &[]).0
}

/// The place of the only call of that name on a file whose path ends so (`1<`: stdout).
#[track_caller]
fn place(lines: &[String], call: &str, on: &str) -> usize {
    let is = |l: &&String| l.starts_with(&format!("{call}(")) && l.split(',').next().unwrap().contains(on);
    let found: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, l)| is(l))
        .map(|(i, _)| i)
        .collect();
    let [one] = found[..] else {
        panic!("{call} on {on}: {} times in {lines:#?}", found.len())
    };
    one
}

#[test]
fn the_log_is_written_before_the_journal_and_the_journal_before_the_answer() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    // A new session's start says its log; a compacted one is told what it was doing.
    let begun = |lab: &Lab| {
        lab.prompt("p1", "First");
    };
    let lines = lines_of(
        begun,
        "SessionStart",
        || json!({"source": "resume", "prompt_id": null}),
    );
    let log = place(&lines, "write", "/log.jsonl>");
    let journal = place(&lines, "write", "/events.jsonl>");
    let answer = place(&lines, "write", "1<");
    assert!(log < journal && journal < answer, "{lines:#?}");

    let lines = lines_of(|_| (), "UserPromptSubmit", || json!({"prompt": "First"}));
    let open = lines
        .iter()
        .position(|l| l.starts_with("openat") && l.contains("/open>") && l.contains("O_CREAT"))
        .unwrap();
    let log = place(&lines, "write", "/log.jsonl>");
    assert!(
        open < log && log < place(&lines, "write", "/events.jsonl>"),
        "{lines:#?}"
    );
    assert!(
        !lines
            .iter()
            .any(|l| l.starts_with("fdatasync") || l.starts_with("fsync")),
        "only ends are synced"
    );
}

#[test]
fn an_ending_is_on_the_disk_before_its_open_entry_goes_and_before_the_answer() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    // A failed turn leaves a notice for the user, which this stop shows.
    let limited = |lab: &Lab| {
        lab.prompt("p1", "First");
        lab.send(
            "StopFailure",
            json!({"error": "rate_limit", "last_assistant_message": "Limit reached"}),
        );
    };
    let lines = lines_of(limited, "Stop", || stop("p2"));
    let log = place(&lines, "write", "/log.jsonl>");
    let sync = place(&lines, "fdatasync", "/log.jsonl>");
    let journal = place(&lines, "write", "/events.jsonl>");
    let removed = lines
        .iter()
        .position(|l| l.starts_with("unlinkat") && l.contains("/open>"))
        .unwrap();
    // The journal comes before the wait for the disk: a hook that is killed while it waits has written all.
    assert!(log < journal && journal < sync && sync < removed, "{lines:#?}");
    assert!(removed < place(&lines, "write", "1<"), "{lines:#?}");
}

#[test]
fn an_agents_file_is_replaced_whole_and_on_the_disk_after_the_journal_and_before_the_answer() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    let begun = |lab: &Lab| {
        with_planner(lab);
        lab.prompt("p1", "First");
        lab.send(
            "StopFailure",
            json!({"error": "rate_limit", "last_assistant_message": "Limit reached"}),
        );
    };
    let lines = lines_of(begun, "Stop", || stop("p2"));
    let journal = place(&lines, "write", "/events.jsonl>");
    let log = place(&lines, "fdatasync", "/log.jsonl>");
    let temp = "/docs/.planner-state.json.bookend>";
    let (write, sync) = (place(&lines, "write", temp), place(&lines, "fdatasync", temp));
    let rename = place(&lines, "renameat", "/docs>");
    let dir = place(&lines, "fsync", "/docs>");
    assert!(journal < log && log < write, "{lines:#?}");
    assert!(write < sync && sync < rename && rename < dir, "{lines:#?}");
    assert!(dir < place(&lines, "write", "1<"), "{lines:#?}");
    // Between the last look at the old file and the new one's name there is nothing.
    let look = lines[rename - 1].as_str();
    assert!(
        look.contains("stat") && look.contains("planner-state.json"),
        "{lines:#?}"
    );
    // The lock is taken while the session's is held, so that hooks of one session write in their order.
    let locks: Vec<&String> = lines.iter().filter(|l| l.starts_with("flock")).collect();
    assert!(locks.iter().any(|l| l.contains("/docs>")), "{locks:#?}");
}

#[test]
fn a_hook_starts_no_process_and_no_thread_opens_no_socket_and_looks_into_no_transcript() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    for scene in SCENES {
        let lab = Lab::new();
        (scene.prepare)(&lab);
        let (lines, _) = trace(&lab, scene, &[]);
        for line in lines {
            let name = line.split('(').next().unwrap();
            let starts = [
                "clone", "clone3", "fork", "vfork", "execve", "socket", "connect", "dup2",
            ];
            assert!(!starts.contains(&name), "{}: {line}", scene.name);
            assert!(!line.contains("/.claude/"), "{}: {line}", scene.name);
        }
    }
}
