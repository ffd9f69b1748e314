//! Nothing is lost to hooks that run at the same time: parallel tools, parallel sessions, one event twice,
//! a lock that somebody holds, a prune beside late events.

mod commands;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bookend::config::{Config, LogPrompts, Resume};
use bookend::dispatch::{self, Stores};
use bookend::frame::{self, Arguments, Read};
use bookend::hook::Hook;
use bookend::hosts::Host;
use bookend::live::key::SessionKey;
use bookend::live::pending;
use bookend::live::{prune, session};
use bookend::log::view::SessionView;
use serde_json::{Value, json};

use crate::harness::{Lab, hook_of};

/// The machine is small: one crowd of processes at a time.
static CROWD: Mutex<()> = Mutex::new(());

pub(crate) fn crowd() -> MutexGuard<'static, ()> {
    CROWD.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs `count` jobs, `width` of them at once.
fn at_once(width: usize, count: usize, job: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..width {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        break;
                    }
                    job(i);
                }
            });
        }
    });
}

/// Runs `count` jobs that all begin at the same moment.
fn together(count: usize, job: impl Fn(usize) + Sync) {
    let (barrier, job) = (Barrier::new(count), &job);
    std::thread::scope(|scope| {
        for i in 0..count {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                job(i);
            });
        }
    });
}

/// The names of the events that wait for the next hook.
fn pending(lab: &Lab, session: &str) -> Vec<String> {
    let dir = lab.hooks_dir().join(SessionKey::of(session).unwrap().as_str());
    let names = std::fs::read_dir(dir).unwrap();
    names
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.starts_with("pending-"))
        .collect()
}

/// Sends small events until nothing waits any more; how many were needed.
fn fold_what_waits(lab: &Lab, session: &str) -> usize {
    for sent in 0..40 {
        if pending(lab, session).is_empty() {
            return sent;
        }
        lab.send("PreCompact", json!({"session_id": session, "trigger": "auto"}));
    }
    panic!("events wait for ever: {:?}", pending(lab, session));
}

fn count(lab: &Lab, session: &str, event: &str) -> u64 {
    lab.state(session).events.get(event).map_or(0, |e| e.count)
}

/// The tool-call ids of all actions of a log, with the turns they stand in; late ones too.
fn calls(log: &SessionView) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for turn in &log.turns {
        let actions = turn.actions.iter().map(|a| &a.action);
        let late = turn.late.iter().filter_map(|l| l.action.as_ref());
        for action in actions.chain(late) {
            let call = action.call.as_ref().map_or("", |c| c.as_str()).to_owned();
            all.push((turn.query_title.as_str().to_owned(), call));
        }
    }
    all.sort();
    all
}

/// The log holds whole records only, each at the offset that it names.
fn assert_whole(lab: &Lab) {
    for id in lab.log_ids() {
        let path = lab.data_dir().join("log").join(id.as_str()).join("log.jsonl");
        let mut ids = BTreeSet::new();
        let mut offset = 0_u64;
        for (line, record) in std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .zip(lab.records(&id))
        {
            assert_eq!(record.seq, offset, "{line}");
            assert!(ids.insert(record.id.clone()), "an id twice: {line}");
            offset += line.len() as u64 + 1;
        }
    }
}

fn tool(session: &str, turn: &str, call: &str) -> Value {
    json!({"session_id": session, "prompt_id": turn, "tool_name": "Write", "tool_use_id": call,
           "tool_input": {"file_path": format!("/p/{call}.rs"), "content": "x"},
           "tool_response": {"type": "create", "filePath": format!("/p/{call}.rs")}})
}

fn config(lab: &Lab) -> Config {
    Config {
        hook_root: Ok(lab.hooks_dir()),
        data_dir: Ok(lab.data_dir()),
        home: Some(lab.path("home")),
        resume: Resume::Auto,
        resume_days: 3,
        log_prompts: LogPrompts::Full,
        log_days: 0,
        disabled: false,
        state_dir: None,
        strictness: bookend::config::Strictness::Normal,
        current_agent: None,
    }
}

/// An event as a hook reads it, for calls of the library.
fn read(lab: &Lab, event: &str, fields: Value) -> Read {
    let base = json!({"hook_event_name": event, "cwd": lab.project(),
                      "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl"});
    let payload = crate::harness::with(base, fields);
    let arguments = Arguments {
        host: Some(Host::ClaudeCode),
        event: None,
    };
    let bytes = payload.to_string().into_bytes();
    frame::read(hook_of(event), &arguments, &payload, &bytes, &|_| None).unwrap()
}

#[test]
fn two_hundred_tools_sixteen_at_once_are_each_counted_and_each_logged_once() {
    let _one = crowd();
    let lab = Lab::new();
    lab.prompt("p1", "Much");
    at_once(16, 200, |i| {
        lab.send("PostToolUse", tool("s1", "p1", &format!("call-{i:03}")));
    });
    fold_what_waits(&lab, "s1");
    assert_eq!(count(&lab, "s1", "PostToolUse"), 200);
    let log = lab.log_of("s1");
    let expected: Vec<_> = (0..200)
        .map(|i| ("Much".to_owned(), format!("call-{i:03}")))
        .collect();
    assert_eq!(calls(&log), expected);
    lab.stop("p1", "Done.");
    let log = lab.log_of("s1");
    assert_eq!((log.turns.len(), log.turns[0].status), (1, "completed"));
    assert!(lab.open_entries().is_empty());
    assert_whole(&lab);
    let numbers: Vec<u64> = lab.entries("s1").iter().map(|e| e.n).collect();
    assert_eq!(
        numbers,
        (1..=numbers.len() as u64).collect::<Vec<_>>(),
        "no number twice"
    );
    assert!(lab.faults().is_empty(), "{:?}", lab.faults());
}

#[test]
fn sixteen_sessions_at_once_keep_their_turns_apart() {
    let _one = crowd();
    let lab = Lab::new();
    together(16, |i| {
        let s = format!("session-{i}");
        let turn = format!("p-{i}");
        lab.send(
            "SessionStart",
            json!({"session_id": s, "source": "startup", "prompt_id": null}),
        );
        lab.send(
            "UserPromptSubmit",
            json!({"session_id": s, "prompt_id": turn, "prompt": format!("Prompt of {s}")}),
        );
        for call in 0..16 {
            lab.send("PostToolUse", tool(&s, &turn, &format!("{s}-{call:02}")));
        }
        lab.send(
            "Stop",
            json!({"session_id": s, "prompt_id": turn, "stop_hook_active": false,
                   "last_assistant_message": format!("Done in {s}"), "background_tasks": []}),
        );
        lab.send(
            "SessionEnd",
            json!({"session_id": s, "prompt_id": null, "reason": "other"}),
        );
    });
    for i in 0..16 {
        let s = format!("session-{i}");
        fold_what_waits(&lab, &s);
        let log = lab.log_of(&s);
        assert_eq!(log.turns.len(), 1, "{s}");
        assert_eq!(log.turns[0].status, "completed", "{s}");
        assert_eq!(
            log.turns[0].response.as_ref().unwrap().as_str(),
            format!("Done in {s}")
        );
        let title = format!("Prompt of {s}");
        let expected: Vec<_> = (0..16).map(|c| (title.clone(), format!("{s}-{c:02}"))).collect();
        assert_eq!(calls(&log), expected, "{s}");
        assert_eq!(log.status, "completed", "{s}");
        assert_eq!(lab.entries(&s).len(), 20, "{s}");
        assert!(lab.entries(&s).iter().all(|e| e.faults.is_empty()), "{s}");
    }
    assert!(lab.open_entries().is_empty());
    assert_eq!(lab.log_ids().len(), 16);
    assert_whole(&lab);
    assert!(lab.faults().is_empty(), "{:?}", lab.faults());
}

#[test]
fn hooks_of_all_kinds_in_parallel_lose_nothing() {
    let _one = crowd();
    for round in 0..3 {
        let lab = Lab::new();
        lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
        lab.prompt("p1", "One");
        together(18, |i| match i {
            0 => drop(lab.prompt("p2", "Two")),
            1 => drop(lab.stop("p1", "Done one.")),
            2..6 => drop(lab.send(
                "PreToolUse",
                json!({"tool_name": "Agent", "tool_use_id": format!("task-{i}"),
                       "tool_input": {"prompt": "x", "subagent_type": "general-purpose"}}),
            )),
            6..10 => drop(lab.send(
                "SubagentStart",
                json!({"agent_id": format!("agent-{i}"), "agent_type": "general-purpose"}),
            )),
            _ => drop(lab.send("PostToolUse", tool("s1", "p1", &format!("call-{i}")))),
        });
        fold_what_waits(&lab, "s1");
        for (event, expected) in [
            ("UserPromptSubmit", 2),
            ("Stop", 1),
            ("PreToolUse", 4),
            ("SubagentStart", 4),
            ("PostToolUse", 8),
        ] {
            assert_eq!(count(&lab, "s1", event), expected, "round {round}: {event}");
        }
        assert_eq!(lab.state("s1").agents.len(), 4, "round {round}");
        lab.stop("p2", "Done two.");
        let log = lab.log_of("s1");
        let ends: Vec<_> = log
            .turns
            .iter()
            .map(|t| {
                (
                    t.query_title.as_str(),
                    t.status,
                    t.response.as_ref().map_or("", |r| r.as_str()),
                )
            })
            .collect();
        assert_eq!(
            ends,
            [
                ("One", "completed", "Done one."),
                ("Two", "completed", "Done two.")
            ]
        );
        let mut expected: Vec<_> = (10..18)
            .map(|i| ("One".to_owned(), format!("call-{i}")))
            .collect();
        expected.sort();
        assert_eq!(calls(&log), expected, "round {round}");
        assert_eq!(lab.state("s1").running().count(), 0);
        assert!(!lab.hooks_dir().join("s1/active-agent").exists());
        assert!(lab.open_entries().is_empty());
        assert_whole(&lab);
    }
}

#[test]
fn the_same_event_twice_at_the_same_time_is_one() {
    let _one = crowd();
    for round in 0..6 {
        let lab = Lab::new();
        together(3, |_| drop(lab.prompt("p1", "Once")));
        together(3, |_| drop(lab.send("PostToolUse", tool("s1", "p1", "call-1"))));
        together(3, |_| drop(lab.stop("p1", "Done.")));
        fold_what_waits(&lab, "s1");
        for event in ["UserPromptSubmit", "PostToolUse", "Stop"] {
            assert_eq!(count(&lab, "s1", event), 1, "round {round}: {event}");
        }
        let log = lab.log_of("s1");
        assert_eq!(log.turns.len(), 1, "round {round}");
        assert_eq!(calls(&log).len(), 1, "round {round}");
        assert!(log.turns[0].late.is_empty(), "round {round}");
        let kinds = lab.records(&log.session_id);
        let completes = kinds
            .iter()
            .filter(|r| matches!(r.body, bookend::log::record::Body::TurnComplete { .. }));
        assert_eq!(completes.count(), 1, "round {round}");
    }
}

#[test]
fn hooks_that_create_the_same_session_at_the_same_time_are_all_counted() {
    let _one = crowd();
    let lab = Lab::new();
    for round in 0..40 {
        let s = format!("new-{round}");
        together(4, |i| {
            drop(lab.send("PostToolUse", tool(&s, "p1", &format!("call-{i}"))));
        });
        fold_what_waits(&lab, &s);
        assert_eq!(count(&lab, &s, "PostToolUse"), 4, "round {round}");
        let log = lab.log_of(&s);
        assert_eq!(calls(&log).len(), 4, "round {round}");
        assert_eq!(log.turns.len(), 1, "round {round}: one turn, begun by the first");
    }
    assert_whole(&lab);
}

#[test]
fn while_somebody_holds_the_lock_hooks_answer_and_what_they_saw_is_folded_later() {
    let _one = crowd();
    let lab = Lab::new();
    lab.prompt("p1", "Held");
    let dir = std::fs::File::open(lab.hooks_dir().join("s1")).unwrap();
    dir.lock().unwrap();
    let slowest = Mutex::new(Duration::ZERO);
    let began = Instant::now();
    together(30, |i| {
        let start = Instant::now();
        let answer = lab.send("PostToolUse", tool("s1", "p1", &format!("call-{i:02}")));
        assert_eq!(answer.stdout, "");
        let took = start.elapsed();
        let mut slowest = slowest.lock().unwrap();
        *slowest = took.max(*slowest);
    });
    let slowest = *slowest.lock().unwrap();
    // Hang detection only: 0.2 s is waited; thirty processes share two cores with others.
    assert!(slowest < Duration::from_secs(20), "{slowest:?}");
    println!("slowest of 30 hooks under a held lock: {slowest:?}");
    assert_eq!(pending(&lab, "s1").len(), 30);
    std::thread::sleep(Duration::from_secs(1).saturating_sub(began.elapsed()));
    drop(dir);
    lab.send("PostToolUse", tool("s1", "p1", "call-30"));
    println!(
        "hooks needed besides the next one: {}",
        fold_what_waits(&lab, "s1")
    );
    assert_eq!(count(&lab, "s1", "PostToolUse"), 31);
    let expected: Vec<_> = (0..31)
        .map(|i| ("Held".to_owned(), format!("call-{i:02}")))
        .collect();
    assert_eq!(calls(&lab.log_of("s1")), expected);
    lab.stop("p1", "Done.");
    assert_eq!(lab.log_of("s1").turns[0].status, "completed");
    assert!(lab.open_entries().is_empty());
}

#[test]
fn a_lock_that_is_held_before_a_session_has_any_event_loses_none() {
    let _one = crowd();
    let lab = Lab::new();
    lab.send(
        "SessionStart",
        json!({"session_id": "other", "source": "startup"}),
    );
    let path = lab.hooks_dir().join("s1");
    std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700)
        .create(&path)
        .unwrap();
    let dir = std::fs::File::open(&path).unwrap();
    dir.lock().unwrap();
    together(2, |i| match i {
        0 => drop(lab.prompt("p1", "First")),
        _ => drop(lab.send("PostToolUse", tool("s1", "p1", "call-1"))),
    });
    assert_eq!(pending(&lab, "s1").len(), 2);
    drop(dir);
    // What came earlier is folded first: the stop finds its turn.
    lab.stop("p1", "Done.");
    assert!(pending(&lab, "s1").is_empty());
    let log = lab.log_of("s1");
    let titles: Vec<_> = log
        .turns
        .iter()
        .map(|t| (t.query_title.as_str(), t.status))
        .collect();
    assert!(titles.contains(&("First", "completed")), "{titles:?}");
    assert_eq!(calls(&log).len(), 1);
}

/// A session that nobody has touched for three hours, with an open turn.
fn stale_session(lab: &Lab, session: &str) {
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": session, "prompt_id": "p1", "prompt": format!("Old {session}")}),
    );
    age(lab, session);
}

fn age(lab: &Lab, session: &str) {
    let then = std::time::SystemTime::now() - Duration::from_secs(3 * 60 * 60);
    for entry in std::fs::read_dir(lab.hooks_dir().join(session)).unwrap() {
        let file = std::fs::File::open(entry.unwrap().path()).unwrap();
        file.set_modified(then).unwrap();
    }
}

#[test]
fn a_prune_beside_late_events_loses_neither_turn_nor_event() {
    let _one = crowd();
    let lab = Lab::new();
    let names: Vec<String> = (0..24).map(|i| format!("old-{i}")).collect();
    at_once(4, names.len(), |i| stale_session(&lab, &names[i]));
    let config = config(&lab);
    together(12, |i| match i {
        // Late events, from either end of the list.
        0..4 => {
            let (from, odd) = (i % 2, i / 2);
            for n in (0..names.len()).filter(|n| n % 2 == odd) {
                let n = if from == 0 { n } else { names.len() - 1 - n };
                let call = format!("late-{i}");
                lab.send("PostToolUse", tool(&names[n], "p1", &call));
            }
        }
        // Hooks of other sessions that prune.
        4..8 => {
            for n in 0..4 {
                lab.send(
                    "SubagentStart",
                    json!({"session_id": format!("pruner-{i}"), "agent_id": format!("a-{n}"),
                           "agent_type": "general-purpose"}),
                );
            }
        }
        // And the library's own.
        _ => {
            for _ in 0..6 {
                let mut stores = Stores::open(&config, "test");
                let options = prune::Options {
                    own: None,
                    limit: None,
                    budget: None,
                    older_than: prune::STALE,
                    dry_run: false,
                    now: bookend::clock::now(),
                };
                let watch = bookend::clock::Stopwatch::start();
                dispatch::prune(&mut stores, &config, options, watch)
                    .unwrap()
                    .unwrap();
            }
        }
    });
    for (n, name) in names.iter().enumerate() {
        fold_what_waits(&lab, name);
        let log = lab.log_of(name);
        assert_eq!(log.turns.len(), 1, "{name}");
        let expected = (0..4_usize)
            .filter(|i| {
                let place = if i % 2 == 0 { n } else { names.len() - 1 - n };
                place % 2 == i / 2
            })
            .map(|i| (format!("Old {name}"), format!("late-{i}")))
            .collect::<Vec<_>>();
        assert_eq!(calls(&log), expected, "{name}");
        assert_eq!(count(&lab, name, "PostToolUse"), expected.len() as u64, "{name}");
        lab.send(
            "Stop",
            json!({"session_id": name, "stop_hook_active": false, "last_assistant_message": "Done.",
                   "background_tasks": []}),
        );
        assert_eq!(lab.log_of(name).turns[0].status, "completed", "{name}");
    }
    assert!(lab.open_entries().is_empty());
    assert_whole(&lab);
    let left = std::fs::read_dir(lab.hooks_dir()).unwrap();
    let dead: Vec<_> = left
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.starts_with(".dead-"))
        .collect();
    assert!(dead.is_empty(), "{dead:?}");
}

#[test]
fn a_hook_that_waited_while_its_session_was_pruned_begins_it_anew() {
    let _one = crowd();
    let lab = Lab::new();
    lab.prompt("p1", "Old");
    let (path, dead) = (lab.hooks_dir().join("s1"), lab.hooks_dir().join(".dead-s1"));
    for round in 0..3 {
        let dir = std::fs::File::open(&path).unwrap();
        dir.lock().unwrap();
        let call = format!("call-{round}");
        std::thread::scope(|scope| {
            let hook = scope.spawn(|| lab.send("PostToolUse", tool("s1", "p1", &call)));
            // It has opened the directory and waits for its lock; a prune takes the directory away.
            std::thread::sleep(Duration::from_millis(80));
            std::fs::rename(&path, &dead).unwrap();
            std::fs::remove_dir_all(&dead).unwrap();
            drop(dir);
            hook.join().unwrap();
        });
        fold_what_waits(&lab, "s1");
        assert_eq!(count(&lab, "s1", "PostToolUse"), 1, "the new one has the event");
    }
    assert_eq!(calls(&lab.log_of("s1")).len(), 3);
}

#[test]
fn an_event_that_was_left_while_its_session_was_being_pruned_is_kept() {
    let lab = Lab::new();
    stale_session(&lab, "s1");
    let root = lab.root().unwrap();
    let options = prune::Options {
        own: None,
        limit: None,
        budget: None,
        older_than: prune::STALE,
        dry_run: false,
        now: bookend::clock::now(),
    };
    let late = read(&lab, "PostToolUse", tool("s1", "p1", "late"));
    // The prune holds the lock; a hook that waited 0.2 s for it leaves its event at this very moment.
    let mut meanwhile = |_: &mut session::Session| {
        pending::leave(&root, &late.key, late.event.clone()).unwrap();
        Ok(false)
    };
    prune::run(&root, options, &mut meanwhile).unwrap();
    assert_eq!(pending(&lab, "s1").len(), 1);
    lab.send(
        "Stop",
        json!({"stop_hook_active": false, "last_assistant_message": "Done.", "background_tasks": []}),
    );
    assert_eq!(calls(&lab.log_of("s1")).len(), 1);
    assert_eq!(count(&lab, "s1", "PostToolUse"), 1);
}

#[test]
fn a_stale_session_whose_only_event_still_waits_is_folded_before_it_is_pruned() {
    let lab = Lab::new();
    lab.send(
        "SessionStart",
        json!({"session_id": "other", "source": "startup"}),
    );
    let root = lab.root().unwrap();
    let late = read(&lab, "PostToolUse", tool("s1", "p1", "late"));
    pending::leave(&root, &late.key, late.event).unwrap();
    age(&lab, "s1");
    lab.send(
        "SubagentStart",
        json!({"session_id": "other", "agent_id": "a", "agent_type": "general-purpose"}),
    );
    assert!(!lab.hooks_dir().join("s1").exists(), "pruned");
    let log = lab.log_of("s1");
    assert_eq!(calls(&log).len(), 1);
    assert_eq!((log.turns[0].status, log.turns[0].presumed), ("failed", true));
    assert!(
        lab.open_entries().iter().all(|e| e.settled),
        "its turn has had its end"
    );
}

#[test]
fn an_event_that_is_being_left_is_never_read_half() {
    let lab = Lab::new();
    lab.prompt("p1", "Race");
    let root = lab.root().unwrap();
    let key = SessionKey::of("s1").unwrap();
    let total = 150;
    // Large ones, so that writing them takes its time.
    let message = "a long last message ".repeat(10_000);
    let left = AtomicUsize::new(0);
    let config = config(&lab);
    together(2, |i| {
        if i == 0 {
            for n in 0..total {
                let said = json!({"session_id": "s1", "agent_id": format!("a-{n}"), "agent_type": "x",
                                  "last_assistant_message": message});
                let event = read(&lab, "SubagentStop", said).event;
                pending::leave(&root, &key, event).unwrap();
                left.fetch_add(1, Ordering::Release);
            }
        } else {
            // A hook that folds what waits, over and over.
            while left.load(Ordering::Acquire) < total {
                let mut stores = Stores::open(&config, Hook::PostTool.name());
                let mut session = session::Session::lock(&root, &key, Duration::from_secs(5)).unwrap();
                let watch = bookend::clock::Stopwatch::start();
                dispatch::fold_pending(&mut session, &mut stores, &config, watch);
                assert!(session.problems.is_empty(), "{:?}", session.problems);
            }
        }
    });
    fold_what_waits(&lab, "s1");
    assert_eq!(count(&lab, "s1", "SubagentStop"), total as u64);
}
