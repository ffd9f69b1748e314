//! A command in a prepared lab: run, traced, killed or refused at each of its system calls.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::strace::{
    FOR_GOOD, PASSING, Point, Snapshot, calls_from, changes, full, inject, is_file_call, places, sweep,
};
use crate::harness::{Answer, Lab, say};

/// A command in a prepared lab.
pub(super) struct Command {
    pub(super) name: &'static str,
    pub(super) prepare: fn(&Lab),
    pub(super) arguments: &'static [&'static str],
    /// What must hold after it was stopped anywhere.
    pub(super) holds: fn(&Lab, &Snapshot, &Command, &str),
}

impl Command {
    /// A thousand looks at what it does not change would take an hour to refuse.
    fn looks_at_much(&self) -> bool {
        self.name.starts_with("doctor")
    }

    /// Whether it is this test binary with one test, in place of a command that there is not.
    fn is_a_test(&self) -> bool {
        self.arguments.contains(&"--exact")
    }
}

/// Commands open much: what is only opened is as it was.
fn is_change(line: &str, name: &str) -> bool {
    changes(name) && (name != "openat" || line.contains("O_CREAT"))
}

/// This test binary with the next test alone: the process that writes a probe's record, without a host.
pub(super) const THIS_TEST: &str = "crash::commands::a_record_is_written_anew";

/// The next run of the same command.
#[track_caller]
pub(super) fn completes(lab: &Lab, command: &Command, place: &str) {
    let answer = run(lab, command, &[]);
    assert_eq!(answer.code, Some(0), "{place}: the next run: {answer:?}");
}

/// The payload of a hook that is run by hand; without it, stdin is empty.
pub(super) fn input(lab: &Lab) -> PathBuf {
    lab.path("input.json")
}

/// The command that a lab runs: its own copy where it has one.
fn program(lab: &Lab, command: &Command) -> PathBuf {
    if command.is_a_test() {
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
        let threads = command.is_a_test().then_some("-f");
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
    // (The working directory stands in every line with a path that is not relative to it, too.)
    let line = line.replace(&format!("AT_FDCWD<{}>", lab.project().display()), "AT_FDCWD");
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
        let points = lines.iter().zip(points);
        let points: Vec<Point> = points
            .filter(|(line, (name, _))| is_change(line, name) || full() && !command.looks_at_much())
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
        let of_files = |line: &str, name: &str| {
            let is_worth_it = is_change(line, name) || !command.looks_at_much();
            is_file_call(name) && is_ours(&lab, line) && is_worth_it
        };
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
            let is_told = said.starts_with("bookend: ") || command.looks_at_much();
            let is_fine = answer.code == Some(0) || answer.code == Some(1) && is_told;
            // (A test that is refused something panics.)
            let is_test = command.is_a_test();
            assert!(is_fine || is_test, "{place}: {answer:?}");
            assert!(!answer.stderr.contains("panicked"), "{place}: {answer:?}");
            (command.holds)(lab, before, command, &place);
        });
        say(&format!("{}: {} errors", command.name, refused.len()));
    }
    failed
}
