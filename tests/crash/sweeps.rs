//! Every kill, every refusal.

use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::after::{calls, counted, go_on, go_on_without_log, is_told};
use super::scenes::{SCENES, Scene, tool};
use super::strace::{
    FOR_GOOD, PASSING, Point, can_trace, changes, full, inject, is_file_call, one_sweep, strace, sweep,
    trace, write,
};
use crate::harness::Lab;

#[test]
fn a_hook_killed_at_any_system_call_loses_nothing_that_was_acknowledged() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    let mut failed = 0;
    for scene in SCENES {
        let lab = Lab::new();
        (scene.prepare)(&lab);
        let (_, points) = trace(&lab, scene, &[]);
        let points: Vec<Point> = points
            .into_iter()
            .filter(|(name, _)| full() || changes(name))
            .collect();
        let began = std::time::Instant::now();
        let killed = AtomicUsize::new(0);
        failed += sweep(scene.prepare, &points, |lab, before, (name, when)| {
            let options = inject(name, "signal=KILL", *when);
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let code = strace(lab, scene, &options).code;
            assert!(matches!(code, None | Some(0)), "{name} {when}: {code:?}");
            killed.fetch_add(usize::from(code.is_none()), Ordering::Relaxed);
            go_on(
                lab,
                before,
                scene,
                &format!("{}: killed at {name} {when}", scene.name),
            );
        });
        let killed = killed.into_inner();
        println!(
            "{}: {killed} kills, {:.1} s",
            scene.name,
            began.elapsed().as_secs_f32()
        );
        // A run may take a call less than the traced one.
        assert!(killed * 10 >= points.len() * 9, "{killed} of {}", points.len());
    }
    assert_eq!(failed, 0, "kill points that lost something");
}

#[test]
fn a_hook_that_is_refused_any_system_call_leaves_the_host_alone_and_the_old_state_whole() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    let mut failed = 0;
    for scene in SCENES {
        let lab = Lab::new();
        (scene.prepare)(&lab);
        let (_, points) = trace(&lab, scene, &[]);
        let mut refused: Vec<(Point, &str)> = Vec::new();
        for (i, point) in points
            .into_iter()
            .filter(|(name, _)| is_file_call(name))
            .enumerate()
        {
            let passing = PASSING
                .iter()
                .enumerate()
                .filter(|(n, _)| full() || *n == i % PASSING.len());
            refused.extend(passing.map(|(_, error)| (point.clone(), *error)));
            // (Only names are ever refused for good: what is open can be read and written.)
            if full() || point.0.ends_with("at") {
                refused.push((point, FOR_GOOD));
            }
        }
        let began = std::time::Instant::now();
        failed += sweep(scene.prepare, &refused, |lab, before, ((name, when), error)| {
            let place = format!("{}: {error} at {name} {when}", scene.name);
            let options = inject(name, &format!("error={error}"), *when);
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let count_before = counted(lab, scene);
            let answer = strace(lab, scene, &options);
            assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{place}");
            answer.ok();
            if *error == FOR_GOOD {
                // Refused for good: the live state goes on without the log, and says so.
                go_on_without_log(lab, before, scene, &place);
            } else {
                go_on(lab, before, scene, &place);
            }
            // Its event was read and acknowledged: it is in the journal, or somebody is told.
            let by_the_others = u64::from(scene.event == "PostToolUse");
            let is_in = counted(lab, scene) > count_before + by_the_others;
            let was_read = !["poll", "ppoll", "read", "ioctl"].contains(&name.as_str());
            assert!(
                is_in || is_told(lab, scene) || !was_read,
                "{place}: lost, and nobody is told"
            );
        });
        println!(
            "{}: {} errors, {:.1} s",
            scene.name,
            refused.len(),
            began.elapsed().as_secs_f32()
        );
    }
    assert_eq!(failed, 0, "errors that did harm");
}

#[test]
fn a_hook_killed_while_it_leaves_its_event_leaves_it_whole_or_not_at_all() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    let scene = Scene {
        name: "post-tool under a held lock",
        prepare: |lab| drop(lab.prompt("p1", "First")),
        event: "PostToolUse",
        fields: || tool("s1", "p1", "call-1"),
        session: "s1",
        turn: "p1",
        acknowledged: &[],
    };
    let hold = |lab: &Lab| {
        let dir = File::open(lab.hooks_dir().join("s1")).unwrap();
        dir.lock().unwrap();
        dir
    };
    let lab = Lab::new();
    (scene.prepare)(&lab);
    let held = hold(&lab);
    let (lines, points) = trace(&lab, &scene, &[]);
    drop(held);
    // From the last try for the lock on.
    let last = lines.iter().rposition(|l| l.starts_with("flock")).unwrap();
    let points: Vec<Point> = points[last..]
        .iter()
        .filter(|(n, _)| n != "flock")
        .cloned()
        .collect();
    assert!(points.iter().any(|(n, _)| n == "renameat"), "{points:?}");
    let failed = sweep(scene.prepare, &points, |lab, before, (name, when)| {
        let place = format!("{}: killed at {name} {when}", scene.name);
        let held = hold(lab);
        let options = inject(name, "signal=KILL", *when);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let code = strace(lab, &scene, &options).code;
        drop(held);
        go_on(lab, before, &scene, &place);
        let left = calls(lab).iter().filter(|c| *c == "call-1").count();
        assert!(left == 1 || (left == 0 && code.is_none()), "{place}: {left}");
        let problems: Vec<_> = lab.entries("s1").into_iter().flat_map(|e| e.faults).collect();
        assert!(problems.is_empty(), "{place}: {problems:?}");
    });
    println!("{}: {} kill points", scene.name, points.len());
    assert_eq!(failed, 0);
}

#[test]
fn a_hook_killed_while_the_journals_older_part_is_dropped_forgets_nothing() {
    const ENTRIES: u64 = 1_300;
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    let scene = Scene {
        name: "turn-start over a journal of more than a megabyte",
        prepare: |lab| {
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
            // As long as many tools would have made it.
            let path = lab.hooks_dir().join("s1/events.jsonl");
            let text = std::fs::read_to_string(&path).unwrap();
            let (first, tool) = text.trim_end().split_once('\n').unwrap();
            let mut entry: Value = serde_json::from_str(tool).unwrap();
            entry.as_object_mut().unwrap().remove("log");
            let mut lines = format!("{first}\n");
            for n in 2..ENTRIES + 2 {
                entry["n"] = json!(n);
                entry["event"]["key"] = json!(format!("PostToolUse:call-{n}"));
                entry["event"]["kind"]["tool"]["target"] = json!(format!("/p/{}.rs", "x".repeat(600)));
                lines.push_str(&format!("{entry}\n"));
            }
            assert!(lines.len() > 1024 * 1024, "{}", lines.len());
            std::fs::write(path, lines).unwrap();
        },
        event: "UserPromptSubmit",
        fields: || json!({"prompt_id": "p2", "prompt": "Second"}),
        session: "s1",
        turn: "p2",
        acknowledged: &["call-1"],
    };
    let lab = Lab::new();
    (scene.prepare)(&lab);
    let (lines, points) = trace(&lab, &scene, &[]);
    let journal = |l: &String| l.starts_with("write") && l.contains("/events.jsonl>");
    let from = lines.iter().position(journal).unwrap();
    assert!(
        lines.iter().any(|l| l.contains("events.jsonl.new")),
        "the older part is dropped"
    );
    let points: Vec<Point> = points[from..]
        .iter()
        .filter(|(n, _)| full() || changes(n))
        .cloned()
        .collect();
    let failed = sweep(scene.prepare, &points, |lab, before, (name, when)| {
        let place = format!("{}: killed at {name} {when}", scene.name);
        let options = inject(name, "signal=KILL", *when);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        strace(lab, &scene, &options);
        go_on(lab, before, &scene, &place);
        let count = lab.state("s1").events["PostToolUse"].count;
        assert_eq!(count, ENTRIES + 1, "{place}");
    });
    println!("{}: {} kill points", scene.name, points.len());
    assert_eq!(failed, 0);
}

#[test]
fn the_end_of_a_session_ends_a_turn_that_only_the_log_knows_of() {
    for (event, fields) in [
        ("SessionEnd", json!({"prompt_id": null, "reason": "other"})),
        ("SessionStart", json!({"prompt_id": null, "source": "resume"})),
        ("SessionStart", json!({"prompt_id": null, "source": "clear"})),
    ] {
        let lab = Lab::new();
        lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
        let files = ["events.jsonl", "state.json"].map(|n| lab.hooks_dir().join("s1").join(n));
        let before = files.clone().map(|f| std::fs::read(f).unwrap());
        lab.prompt("p1", "First");
        // As if its hook had been killed between the log and the journal.
        for (file, bytes) in files.iter().zip(&before) {
            write(file, bytes);
        }
        lab.send(event, fields);
        let log = lab.log_of("s1");
        assert_eq!(
            (log.turns[0].status, log.turns[0].presumed),
            ("failed", true),
            "{event}: {log:#?}"
        );
        assert!(lab.state("s1").turns.open().is_none(), "{event}");
        let open = lab.open_entries();
        assert!(open.iter().all(|e| e.settled), "{event}: {open:#?}");
    }
}

#[test]
fn an_event_that_was_refused_a_call_and_comes_again_is_logged_once() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    let mut failed = 0;
    let again = SCENES.iter().filter(|s| s.event == "PostToolUse");
    for scene in again {
        let call = (scene.fields)()["tool_use_id"].as_str().unwrap().to_owned();
        let lab = Lab::new();
        (scene.prepare)(&lab);
        let (_, points) = trace(&lab, scene, &[]);
        let refused: Vec<(Point, &str)> = points
            .into_iter()
            .filter(|(name, _)| is_file_call(name))
            .enumerate()
            .map(|(i, point)| (point, PASSING[i % PASSING.len()]))
            .collect();
        failed += sweep(scene.prepare, &refused, |lab, before, ((name, when), error)| {
            let place = format!("{}: {error} at {name} {when}, and again", scene.name);
            let options = inject(name, &format!("error={error}"), *when);
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            strace(lab, scene, &options).ok();
            lab.send(scene.event, (scene.fields)());
            let all = calls(lab);
            let count = all.iter().filter(|c| **c == call).count();
            assert_eq!(count, 1, "{place}: {all:?}");
            go_on(lab, before, scene, &place);
        });
    }
    assert_eq!(
        failed, 0,
        "errors after which a call stands in the log twice, or never"
    );
}
