//! The commands that write into the stores, killed or refused at every system call: the next run completes,
//! and nothing that was acknowledged is missing.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use bookend::hosts::Host;
use bookend::log::data_dir::DataDir;
use bookend::log::view::SessionView;
use bookend::probe::record::Record;
use serde_json::json;

use super::after::{calls, go_on, go_on_without_log};
use super::scenes::{Scene, age, tool, with_dead_host};
use super::strace::{
    FOR_GOOD, PASSING, Point, Snapshot, calls_from, can_trace, changes, full, inject, is_file_call,
    one_sweep, places, sweep,
};
use crate::harness::{Answer, Lab, say, with};

/// A command in a prepared lab.
pub(super) struct Command {
    pub(super) name: &'static str,
    pub(super) prepare: fn(&Lab),
    pub(super) arguments: &'static [&'static str],
    /// What must hold after it was stopped anywhere.
    pub(super) holds: fn(&Lab, &Snapshot, &Command, &str),
}

/// A session in the middle of a turn with two events that wait, one that is stale, one whose host is gone.
fn much_to_do(lab: &Lab) {
    with_dead_host(lab, "gone");
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "stale", "prompt_id": "o1", "prompt": "Old"}),
    );
    lab.send("PostToolUse", tool("stale", "o1", "stale-call"));
    lab.prompt("p1", "First");
    lab.write("p1", "call-1", "/p/one.rs");
    let dir = File::open(lab.hooks_dir().join("s1")).unwrap();
    dir.lock().unwrap();
    lab.write("p1", "call-2", "/p/two.rs");
    lab.write("p1", "call-3", "/p/three.rs");
    age(&lab.hooks_dir().join("stale"));
}

/// The running session, as those that sweep hooks know one.
const RUNNING: Scene = Scene {
    name: "the session that runs",
    prepare: much_to_do,
    event: "PostToolUse",
    fields: || json!({}),
    session: "s1",
    turn: "p1",
    acknowledged: &["call-1", "call-2", "call-3", "old-call", "stale-call"],
};

const COMMANDS: &[Command] = &[
    Command {
        name: "prune",
        prepare: much_to_do,
        arguments: &["prune"],
        holds: |lab, before, command, place| {
            completes(lab, command, place);
            assert!(!lab.hooks_dir().join("stale").exists(), "{place}: still stale");
            goes_on_with_all_settled(lab, before, place);
        },
    },
    Command {
        name: "sessions",
        prepare: much_to_do,
        arguments: &["sessions", "--all"],
        holds: |lab, before, command, place| {
            completes(lab, command, place);
            goes_on_with_all_settled(lab, before, place);
        },
    },
    Command {
        name: "show",
        prepare: much_to_do,
        arguments: &["show", "s1"],
        holds: |lab, before, command, place| {
            completes(lab, command, place);
            goes_on_with_all_settled(lab, before, place);
        },
    },
    Command {
        name: "hook",
        prepare: |lab| {
            much_to_do(lab);
            set_input(lab, "call-4");
        },
        arguments: &["hook", "post-tool", "--host", "claude-code"],
        holds: |lab, before, command, place| {
            set_input(lab, "call-5");
            completes(lab, command, place);
            set_input(lab, "call-4");
            goes_on(lab, before, place);
            let logged = calls(lab).iter().any(|call| call == "call-5");
            assert!(logged || place.contains(FOR_GOOD), "{place}");
        },
    },
    Command {
        name: "a probe's record",
        prepare: |lab| {
            much_to_do(lab);
            Record {
                at: bookend::clock::now(),
                version: "0".to_owned(),
                host_version: None,
                events: std::collections::BTreeMap::new(),
                context_reached: true,
            }
            .write(&lab.data(), Host::Codex)
            .unwrap();
        },
        arguments: &["--exact", THIS_TEST, "--ignored", "--test-threads=1", "--quiet"],
        holds: |lab, _, command, place| {
            let version = || Record::read(&lab.data(), Host::Codex).unwrap().map(|r| r.version);
            let was = version();
            assert!(matches!(was.as_deref(), Some("0" | "01")), "{place}: {was:?}");
            completes(lab, command, place);
            assert_eq!(version(), was.map(|was| was + "1"), "{place}");
            // What the killed one left is removed once nobody can be writing it any more.
            age(&lab.data_dir().join("probed"));
            lab.bookend(&["prune"]);
            let left = std::fs::read_dir(lab.data_dir().join("probed")).unwrap();
            assert_eq!(left.count(), 1, "{place}: a temporary stays");
        },
    },
];

/// This test binary with the next test alone: the process that writes a probe's record, without a host.
const THIS_TEST: &str = "crash::commands::a_record_is_written_anew";

#[test]
#[ignore = "no test: the sweep runs it under strace"]
fn a_record_is_written_anew() {
    let data = DataDir::open(&Ok(std::env::var_os("BOOKEND_DATA_DIR").unwrap().into())).unwrap();
    let mut record = Record::read(&data, Host::Codex).unwrap().unwrap();
    record.version.push('1');
    record.write(&data, Host::Codex).unwrap();
}

/// The next run of the same command.
#[track_caller]
pub(super) fn completes(lab: &Lab, command: &Command, place: &str) {
    let answer = run(lab, command, &[]);
    assert_eq!(answer.code, Some(0), "{place}: the next run: {answer:?}");
}

/// The running session ends as if nothing had been.
fn goes_on(lab: &Lab, before: &Snapshot, place: &str) {
    if place.contains(FOR_GOOD) {
        // The live state goes on without the log, as with hooks, and says so.
        go_on_without_log(lab, before, &RUNNING, place);
    } else {
        go_on(lab, before, &RUNNING, place);
    }
}

/// And the others have their presumed end.
fn goes_on_with_all_settled(lab: &Lab, before: &Snapshot, place: &str) {
    goes_on(lab, before, place);
    for id in lab.log_ids() {
        let log = SessionView::read(&lab.data(), &id).unwrap().unwrap();
        let own = log
            .host_session
            .as_ref()
            .is_some_and(|host| host.as_str() == "s1");
        let ends: Vec<_> = log.turns.iter().map(|t| (t.status, t.presumed)).collect();
        // The stale one is only pruned, and so settled, by `prune`: its host is this test, and lives.
        let stale = log.host_session.as_ref().is_some_and(|h| h.as_str() == "stale");
        let lives = stale && lab.hooks_dir().join("stale").exists();
        assert!(own || lives || ends == [("failed", true)], "{place}: {ends:?}");
    }
}

/// The payload of a hook that is run by hand; without it, stdin is empty.
fn input(lab: &Lab) -> PathBuf {
    lab.path("input.json")
}

fn set_input(lab: &Lab, call: &str) {
    let base = json!({"cwd": lab.project(), "hook_event_name": "PostToolUse"});
    std::fs::write(input(lab), with(base, tool("s1", "p1", call)).to_string()).unwrap();
}

/// The command that a lab runs: its own copy where it has one.
fn program(lab: &Lab, command: &Command) -> PathBuf {
    if command.arguments.contains(&THIS_TEST) {
        return std::env::current_exe().unwrap();
    }
    let own = lab.path("built/bookend");
    if own.exists() {
        own
    } else {
        env!("CARGO_BIN_EXE_bookend").into()
    }
}

/// The command, under strace if there are options for it. No host is on its PATH.
pub(super) fn run(lab: &Lab, command: &Command, options: &[&str]) -> Answer {
    let stdin = File::open(input(lab)).unwrap_or_else(|_| File::open("/dev/null").unwrap());
    let own_path = format!("PATH={}", lab.path("nobody").display());
    let mut process = if options.is_empty() {
        let mut process = lab.command(program(lab, command).to_str().unwrap());
        process.env("PATH", lab.path("nobody"));
        process
    } else {
        let mut process = lab.command("strace");
        let threads = command.arguments.contains(&THIS_TEST).then_some("-f");
        process
            .arg("-qq")
            .args(threads)
            .args(options)
            .args(["-E", &own_path])
            .arg(program(lab, command));
        process
    };
    let output = process.args(command.arguments).stdin(stdin).output();
    Answer::of(output.unwrap())
}

/// The traced calls, from the first one on that has to do with a place of ours.
pub(super) fn trace(lab: &Lab, command: &Command) -> (Vec<String>, Vec<Point>) {
    let out = lab.path("trace");
    let answer = run(lab, command, &["-o", out.to_str().unwrap(), "-y", "-s", "300"]);
    // (Doctor finds faults.)
    assert!(matches!(answer.code, Some(0 | 1)), "{}: {answer:?}", command.name);
    let text = of_one_thread(lab, &std::fs::read_to_string(&out).unwrap());
    let (lines, points) = calls_from(&text, |line| is_ours(lab, line));
    assert!(points.len() > 10, "{text}");
    (lines, points)
}

/// A test runs in a thread of its own: of a trace with thread ids, the lines of the one that touches our files.
fn of_one_thread(lab: &Lab, text: &str) -> String {
    let thread = |line: &str| line.split_once(' ').and_then(|(id, _)| id.parse::<u32>().ok());
    let of = text.lines().find(|line| is_ours(lab, line)).and_then(thread);
    let Some(of) = of else { return text.to_owned() };
    let lines = text.lines().filter(|line| thread(line) == Some(of));
    let calls = lines.filter_map(|line| line.split_once(' '));
    calls
        .map(|(_, call)| format!("{}\n", call.trim_start()))
        .collect()
}

/// Whether a call has to do with a place of ours.
fn is_ours(lab: &Lab, line: &str) -> bool {
    let is_in = |place: &Path| line.contains(place.to_str().unwrap());
    !line.contains("execve(") && places(lab).iter().any(|place| is_in(place))
}

/// Kills each command at each call that changes something; how many times something was lost.
pub(super) fn kill_each(commands: &[Command]) -> usize {
    let mut failed = 0;
    for command in commands {
        let lab = Lab::new();
        (command.prepare)(&lab);
        let (lines, points) = trace(&lab, command);
        // (Commands look at much: what is only opened is as it was.)
        let is_change =
            |line: &str, name: &str| changes(name) && (name != "openat" || line.contains("O_CREAT"));
        let points = lines.iter().zip(points);
        let points: Vec<Point> = points
            .filter(|(line, (name, _))| full() || is_change(line, name))
            .map(|(_, point)| point)
            .collect();
        let killed = AtomicUsize::new(0);
        failed += sweep(command.prepare, &points, |lab, before, (name, when)| {
            let options = inject(name, "signal=KILL", *when);
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let place = format!("{}: killed at {name} {when}", command.name);
            let answer = run(lab, command, &options);
            assert!(matches!(answer.code, None | Some(0 | 1)), "{place}: {answer:?}");
            killed.fetch_add(usize::from(answer.code.is_none()), Ordering::Relaxed);
            (command.holds)(lab, before, command, &place);
        });
        let killed = killed.into_inner();
        say(&format!("{}: {killed} kills", command.name));
        assert!(killed * 10 >= points.len() * 9, "{killed} of {}", points.len());
    }
    failed
}

/// Refuses each command each call that has to do with a file of ours; how many times that did harm.
pub(super) fn refuse_each(commands: &[Command]) -> usize {
    let errors: Vec<&str> = PASSING.into_iter().chain([FOR_GOOD]).collect();
    let mut failed = 0;
    for command in commands {
        let lab = Lab::new();
        (command.prepare)(&lab);
        let (lines, points) = trace(&lab, command);
        let of_files = |line: &str, name: &str| is_file_call(name) && is_ours(&lab, line);
        let points = lines
            .iter()
            .zip(points)
            .filter(|(line, (name, _))| of_files(line, name));
        let refused: Vec<(Point, &str)> = points
            .enumerate()
            .flat_map(|(i, (_, point))| {
                let chosen = errors
                    .iter()
                    .enumerate()
                    .filter(move |(n, _)| full() || *n == i % 4);
                chosen.map(move |(_, error)| (point.clone(), *error))
            })
            .collect();
        failed += sweep(command.prepare, &refused, |lab, before, ((name, when), error)| {
            let place = format!("{}: {error} at {name} {when}", command.name);
            let options = inject(name, &format!("error={error}"), *when);
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let answer = run(lab, command, &options);
            // It may fail, but then it says so in a sentence.
            let said = answer.stderr.lines().last().unwrap_or_default();
            let is_told = said.starts_with("bookend: ") || command.name.starts_with("doctor");
            let is_fine = answer.code == Some(0) || answer.code == Some(1) && is_told;
            // (A test that is refused something panics.)
            let is_test = command.arguments.contains(&THIS_TEST);
            assert!(is_fine || is_test, "{place}: {answer:?}");
            assert!(!answer.stderr.contains("panicked"), "{place}: {answer:?}");
            (command.holds)(lab, before, command, &place);
        });
        say(&format!("{}: {} errors", command.name, refused.len()));
    }
    failed
}

#[test]
fn a_command_killed_at_any_system_call_loses_nothing_and_its_next_run_completes() {
    let _one = one_sweep();
    if can_trace() {
        assert_eq!(kill_each(COMMANDS), 0, "kill points that lost something");
    }
}

#[test]
fn a_command_that_is_refused_any_call_on_a_file_says_so_or_goes_on_and_loses_nothing() {
    let _one = one_sweep();
    if can_trace() {
        assert_eq!(refuse_each(COMMANDS), 0, "errors that did harm");
    }
}
