//! Removing what is stale: never the living, never a turn, never what is not ours.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, SystemTime};

use bookend::event::{Event, Kind};
use bookend::hosts::Host;
use bookend::live::key::SessionKey;
use bookend::live::pending;
use bookend::live::prune::{self, Options, Report, STALE};
use bookend::live::session::Session;
use bookend::log::ledger::Ledger;
use bookend::log::record::By;
use bookend::redact::Redacted;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use crate::harness::Lab;
use crate::talk::{DONE, OPEN, all, presumed, set_mtime};

const OLD: Duration = Duration::from_secs(2 * 60 * 60 + 60);

fn hours(n: u64) -> Duration {
    Duration::from_secs(n * 60 * 60)
}

/// Sessions in the root that hold nothing but an old, empty journal.
fn strew(lab: &Lab, names: impl IntoIterator<Item = String>) {
    for name in names {
        let dir = lab.hooks_dir().join(&name);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("events.jsonl"), "").unwrap();
        lab.age(&name, OLD);
    }
}

/// A run with a clock of our own, that settles nothing.
fn run(lab: &Lab, own: Option<&str>, now: DateTime<Utc>, dry_run: bool) -> Report {
    let own = own.and_then(SessionKey::of);
    let options = Options {
        own: own.as_ref(),
        limit: None,
        budget: None,
        older_than: STALE,
        dry_run,
        now,
    };
    prune::run(&lab.root().unwrap(), options, &mut |_| Ok(false)).unwrap()
}

fn live(lab: &Lab) -> usize {
    let entries = std::fs::read_dir(lab.hooks_dir()).unwrap();
    entries.filter(|e| e.as_ref().unwrap().path().is_dir()).count()
}

#[test]
fn a_session_is_stale_when_no_file_of_ours_changed_for_more_than_two_hours() {
    let lab = Lab::new();
    for (name, by, stays) in [
        ("old", OLD, false),
        ("very-old", hours(24 * 400), false),
        ("younger", hours(2) - Duration::from_secs(60), true),
        ("new", Duration::ZERO, true),
    ] {
        let talk = lab.claude(name);
        talk.start("startup");
        lab.age(name, by);
        if stays {
            lab.prune_by("me");
            assert!(lab.is_live(name), "{name}");
        } else {
            lab.prune_away(name);
        }
    }
}

#[test]
fn a_run_whose_time_is_over_leaves_the_rest_to_the_next_ones() {
    for many in [5, 100] {
        let lab = Lab::new();
        lab.claude("me").start("startup");
        strew(&lab, (0..many).map(|n| format!("old-{n}")));
        let options = Options {
            own: None,
            limit: Some(prune::ENTRIES_PER_RUN),
            budget: Some(Duration::ZERO),
            older_than: STALE,
            dry_run: false,
            now: Utc::now(),
        };
        // One that cannot be settled holds up nobody.
        let mut settle = |session: &mut Session| match session.key.as_str() {
            "old-2" => Err("not now".to_owned()),
            _ => Ok(false),
        };
        let (mut runs, mut left) = (0, BTreeSet::new());
        while live(&lab) > 2 {
            let report = prune::run(&lab.root().unwrap(), options, &mut settle).unwrap();
            assert!(report.removed.len() <= 1, "{:?}", report.removed);
            left.extend(report.left.into_iter().map(|(name, _)| name));
            runs += 1;
            assert!(runs < 10 * many, "{} are left", live(&lab));
        }
        assert!(lab.is_live("old-2") && left.contains("old-2"), "{left:?}");
    }
}

#[test]
fn exactly_two_hours_is_kept_and_the_future_counts_as_now() {
    let lab = Lab::new();
    lab.claude("s1").start("startup");
    for nanos in [0, 1, 900_000_000, 999_999_999] {
        let at = SystemTime::UNIX_EPOCH + Duration::new(1_800_000_000, nanos);
        for file in ["events.jsonl", "state.json"] {
            set_mtime(&lab.hooks_dir().join("s1").join(file), at);
        }
        let two_hours_later = DateTime::<Utc>::from(at) + TimeDelta::hours(2);
        let removed = |now| run(&lab, None, now, true).removed;
        assert_eq!(removed(two_hours_later), [""; 0], "{nanos}");
        assert_eq!(
            removed(two_hours_later + TimeDelta::nanoseconds(1)),
            ["s1"],
            "{nanos}"
        );
        assert_eq!(
            removed(two_hours_later - TimeDelta::days(4_000)),
            [""; 0],
            "a file of the future"
        );
    }
}

#[test]
fn the_newest_file_counts_and_not_the_directory() {
    let lab = Lab::new();
    let names = [
        "fresh-checkpoint",
        "fresh-agent",
        "fresh-directory",
        "old-directory",
    ];
    for name in names {
        lab.claude(name).start("startup");
        lab.claude(name).agent_starts("p1", "a1", "coder");
    }
    for name in names {
        lab.age(name, OLD);
    }
    let path = |name: &str, file: &str| lab.hooks_dir().join(name).join(file);
    set_mtime(&path("fresh-checkpoint", "state.json"), SystemTime::now());
    set_mtime(&path("fresh-agent", "active-agent"), SystemTime::now());
    set_mtime(&path("fresh-directory", ""), SystemTime::now());
    set_mtime(&path("old-directory", "events.jsonl"), SystemTime::now());
    set_mtime(&path("old-directory", ""), SystemTime::now() - hours(100));
    lab.prune_away("fresh-directory");
    assert!(lab.is_live("fresh-checkpoint") && lab.is_live("fresh-agent") && lab.is_live("old-directory"));
}

#[test]
fn session_starts_and_delegations_prune_and_nothing_else_does() {
    for (event, prunes) in [
        ("SessionStart", true),
        ("PreToolUse", true),
        ("SubagentStart", true),
        ("UserPromptSubmit", false),
        ("PostToolUse", false),
        ("Stop", false),
        ("SessionEnd", false),
    ] {
        let lab = Lab::new();
        strew(&lab, ["stale".to_owned()]);
        std::fs::set_permissions(
            lab.hooks_dir(),
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )
        .unwrap();
        for n in 0..10 {
            if !lab.is_live("stale") {
                break;
            }
            lab.claude("me").says(
            event,
            json!({"source": "startup", "prompt": "x", "prompt_id": "p1", "tool_name": "Agent", "tool_use_id": format!("c{n}"),
                   "tool_input": {"prompt": "x"}, "tool_response": {}, "agent_id": if event == "SubagentStart" { json!("a1") } else { json!(null) }}),
        );
        }
        assert_eq!(lab.is_live("stale"), !prunes, "{event}");
    }
}

#[test]
fn the_callers_own_session_is_never_removed() {
    let lab = Lab::new();
    lab.claude("s1").start("startup");
    lab.claude("s2").start("startup");
    let later = bookend::clock::now() + TimeDelta::days(3);
    let report = run(&lab, Some("s1"), later, false);
    assert_eq!(report.removed, ["s2"]);
    assert!(lab.is_live("s1"));
}

#[test]
fn a_session_whose_lock_is_held_is_never_removed() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    lab.age("s1", OLD);
    let key = SessionKey::of("s1").unwrap();
    let held = Session::lock(&lab.root().unwrap(), &key, Duration::from_secs(1)).unwrap();
    let begun = std::time::Instant::now();
    lab.prune_by("me");
    assert!(begun.elapsed() < Duration::from_secs(10), "it is tried once");
    assert!(lab.is_live("s1"));
    assert_eq!(all(&lab.log_of("s1")), [OPEN]);
    drop(held);
    lab.prune_away("s1");
}

#[test]
fn what_is_not_ours_is_left_and_told() {
    let lab = Lab::new();
    lab.claude("me").start("startup");
    let root = lab.hooks_dir();
    strew(&lab, ["with-a-note".to_owned(), "with-a-directory".to_owned()]);
    std::fs::write(root.join("with-a-note/notes.txt"), "mine").unwrap();
    std::fs::create_dir(root.join("with-a-directory/events.jsonl.d")).unwrap();
    std::fs::create_dir(root.join("foreign")).unwrap();
    std::fs::write(root.join("foreign/data.db"), "theirs").unwrap();
    std::fs::create_dir(root.join("empty")).unwrap();
    std::fs::create_dir(root.join("no key.d")).unwrap();
    std::fs::write(root.join("no key.d/events.jsonl"), "").unwrap();
    std::fs::write(root.join("a-file"), "").unwrap();
    for name in ["with-a-note", "with-a-directory", "foreign", "no key.d"] {
        lab.age(name, hours(100));
    }
    let report = run(&lab, Some("me"), bookend::clock::now(), true);
    assert_eq!(report.removed, [""; 0]);
    let left: BTreeSet<&str> = report.left.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(left, ["with-a-directory", "with-a-note"].into());
    let foreign: BTreeSet<&str> = report.foreign.iter().map(String::as_str).collect();
    assert_eq!(foreign, ["a-file", "empty", "foreign", "no key.d"].into());
    lab.prune_by("me");
    for path in [
        "with-a-note/notes.txt",
        "with-a-note/events.jsonl",
        "with-a-directory/events.jsonl.d",
        "foreign/data.db",
        "empty",
        "no key.d/events.jsonl",
        "a-file",
    ] {
        assert!(root.join(path).exists(), "{path}");
    }
    assert!(
        lab.faults().iter().any(|f| f.what.contains("notes.txt")),
        "{:?}",
        lab.faults()
    );
}

#[test]
fn links_are_not_followed() {
    let lab = Lab::new();
    lab.claude("me").start("startup");
    let outside = lab.path("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("events.jsonl"), "precious").unwrap();
    std::fs::write(outside.join("state.json"), "precious").unwrap();
    for file in ["events.jsonl", "state.json"] {
        set_mtime(&outside.join(file), SystemTime::now() - hours(100));
    }
    symlink(&outside, lab.hooks_dir().join("linked")).unwrap();
    symlink(&outside, lab.hooks_dir().join(".dead-linked")).unwrap();
    strew(&lab, ["holds-a-link".to_owned()]);
    let inner = lab.hooks_dir().join("holds-a-link/state.json");
    symlink(outside.join("state.json"), &inner).unwrap();
    let touched = Command::new("touch")
        .args(["-h", "-d", "2001-01-01"])
        .arg(&inner)
        .status()
        .unwrap();
    assert!(touched.success());
    lab.prune_by("me");
    for file in ["events.jsonl", "state.json"] {
        assert_eq!(std::fs::read_to_string(outside.join(file)).unwrap(), "precious");
    }
    assert!(lab.hooks_dir().join("linked").is_symlink());
}

#[test]
fn what_a_killed_run_left_is_finished() {
    let lab = Lab::new();
    lab.claude("me").start("startup");
    strew(&lab, [".dead-s1".to_owned(), ".dead-s2".to_owned()]);
    std::fs::write(lab.hooks_dir().join(".dead-s2/notes.txt"), "mine").unwrap();
    lab.prune_away(".dead-s1");
    assert!(
        lab.hooks_dir().join(".dead-s2/notes.txt").exists(),
        "only known names are unlinked"
    );
}

#[test]
fn a_run_looks_at_16_entries_of_a_large_root_and_the_next_goes_on_there() {
    let lab = Lab::new();
    let me = lab.claude("me");
    me.start("startup");
    let names: BTreeSet<String> = (0..300).map(|i| format!("session-{i:03}")).collect();
    strew(&lab, names.iter().cloned());
    let (mut before, mut runs) = (live(&lab), 0);
    while live(&lab) > 1 {
        me.delegate("p1", &format!("c{runs}"));
        let now = live(&lab);
        assert!(before - now <= 16, "{} in one run", before - now);
        (before, runs) = (now, runs + 1);
        // (More than 19, where its time is over before it has removed 16.)
        assert!(runs <= 300, "{now} are left after {runs} runs");
    }
    assert!(lab.is_live("me"));
    assert!(runs >= 18, "{runs}");
}

#[test]
fn the_mark_goes_round_a_root_in_which_nothing_is_stale_at_first() {
    let lab = Lab::new();
    let me = lab.claude("me");
    me.start("startup");
    strew(&lab, (0..300).map(|i| format!("session-{i:03}")));
    for i in 0..300 {
        lab.age(&format!("session-{i:03}"), Duration::ZERO);
    }
    let mark = || std::fs::read_to_string(lab.hooks_dir().join(".prune")).unwrap_or_default();
    let mut marks = Vec::new();
    for n in 0..6 {
        me.delegate("p1", &format!("a{n}"));
        marks.push(mark());
    }
    assert!(
        marks.iter().collect::<BTreeSet<_>>().len() >= 4,
        "it moves: {marks:?}"
    );
    // One becomes stale, wherever it stands: a round finds it.
    for name in ["session-000", "session-150", "session-299"] {
        lab.age(name, OLD);
        for n in 0..22 {
            me.delegate("p1", &format!("{name}-{n}"));
        }
        assert!(!lab.is_live(name), "{name}: {:?}", mark());
    }
    assert_eq!(live(&lab), 298);
    std::fs::write(lab.hooks_dir().join(".prune"), "not a number").unwrap();
    lab.age("session-077", OLD);
    for n in 0..22 {
        me.delegate("p1", &format!("z{n}"));
    }
    assert!(!lab.is_live("session-077"), "a broken mark is none");
}

#[test]
fn a_dry_run_removes_nothing() {
    let lab = Lab::new();
    lab.claude("me").start("startup");
    strew(&lab, ["s1".to_owned(), ".dead-s2".to_owned()]);
    assert_eq!(run(&lab, Some("me"), bookend::clock::now(), true).removed, ["s1"]);
    assert!(lab.is_live("s1") && lab.is_live(".dead-s2"));
}

// What it holds goes into the log first

#[test]
fn a_turn_gets_its_presumed_end_before_its_state_goes() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "Do it");
        talk.create("p1", "c1", "/w/a.rs");
        lab.age("x1", OLD);
        lab.prune_away("x1");
        assert_eq!(all(&lab.log_of("x1")), [presumed("session_abandoned")], "{host}");
        let open = lab.open_entries();
        assert!(
            open.iter()
                .any(|e| e.session_key == "x1" && e.settled && e.task.is_some()),
            "{host}: it can be resumed"
        );
    }
}

#[test]
fn pending_events_are_folded_before_it_goes() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let key = SessionKey::of("s1").unwrap();
    let entry = lab.entries("s1").pop().unwrap();
    let stop = Event {
        name: "Stop".to_owned(),
        kind: Kind::Stop {
            message: Some(Redacted::new("Done.")),
            again: false,
            background: None,
        },
        key: None,
        ..entry.event
    };
    pending::leave(&lab.root().unwrap(), &key, stop).unwrap();
    lab.age("s1", OLD);
    lab.prune_away("s1");
    let log = lab.log_of("s1");
    assert_eq!(all(&log), [DONE], "its end is the real one");
    assert_eq!(log.turns[0].response.as_ref().unwrap().as_str(), "Done.");
    assert!(lab.open_entries().is_empty());
}

#[test]
fn a_session_whose_log_cannot_be_written_now_stays() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    lab.age("s1", OLD);
    let id = lab.log_of("s1").session_id;
    let held = Ledger::open(&lab.data(), &id, By::Model, false, Duration::from_secs(1)).unwrap();
    lab.prune_by("me");
    assert!(lab.is_live("s1"), "no state goes before its turn has an end");
    assert!(
        lab.faults().iter().any(|f| f.what.contains("s1")),
        "{:?}",
        lab.faults()
    );
    drop(held);
    lab.prune_away("s1");
    assert_eq!(all(&lab.log_of("s1")), [presumed("session_abandoned")]);
}

#[test]
fn a_host_that_was_only_idle_goes_on_where_it_was() {
    for host in Host::ALL {
        let lab = Lab::new();
        let talk = lab.talk(host, "x1");
        talk.start("startup");
        talk.prompt("p1", "Do it");
        talk.create("p1", "c1", "/w/a.rs");
        let id = lab.log_of("x1").session_id;
        lab.age("x1", OLD);
        lab.prune_away("x1");
        talk.create("p1", "c2", "/w/b.rs");
        let state = lab.state("x1");
        assert_eq!(
            state.log.as_ref().unwrap().session,
            id,
            "{host}: the same log session"
        );
        let task = state.current_task.unwrap();
        assert_eq!(
            (task.description.as_str(), task.last_action.as_str()),
            ("Do it", "Created /w/b.rs")
        );
        assert_eq!(
            lab.log_of("x1").turns[0].actions.len(),
            2,
            "{host}: the turn continues"
        );
        talk.stop("p1", "Done.");
        assert_eq!(
            all(&lab.log_of("x1")),
            [DONE],
            "{host}: the real end replaces the presumed one"
        );
        talk.prompt("p2", "More");
        let log = lab.log_of("x1");
        assert_eq!(all(&log), [DONE, OPEN], "{host}");
        assert!(log.turns[1].request_id.as_str().ends_with("-turn-2"));
        assert_eq!(lab.log_ids().len(), 1);
    }
}

#[test]
fn a_session_that_only_waits_for_the_next_prompt_is_pruned_without_an_end() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.stop("p1", "Done.");
    let before = lab.log_text("s1");
    lab.age("s1", OLD);
    lab.prune_away("s1");
    assert_eq!(lab.log_text("s1"), before);
    talk.prompt("p2", "More");
    assert_eq!(all(&lab.log_of("s1")), [DONE, OPEN]);
}
