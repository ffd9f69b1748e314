//! Killed at any system call, or refused any: what was acknowledged stays, the next hook works, the turn
//! gets its ending. One run per system call of a traced run (`strace -e inject=NAME:…:when=K`).
//!
//! A call that changes nothing on disk leaves the state that the next one finds, so that killing at those
//! that change something, and at the exit, is killing everywhere; `BOOKEND_FULL_SWEEP=1` does it at every
//! call all the same, and refuses each call with each error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use bookend::log::view::SessionView;
use serde_json::{Value, json};

use crate::harness::{Answer, Lab, hook_of};

/// Sweeps run two processes at a time; one sweep is enough for the machine.
static SWEEP: Mutex<()> = Mutex::new(());

fn one_sweep() -> MutexGuard<'static, ()> {
    SWEEP.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Every pair of call and error, rather than one of each kind: what the CI does.
fn full() -> bool {
    std::env::var("BOOKEND_FULL_SWEEP").is_ok()
}

#[expect(clippy::print_stdout, reason = "who reads the run is told what it leaves out")]
fn skipped(why: &str) {
    println!("SKIPPED: {why}");
}

/// Whether strace works here; says so where it does not.
fn can_trace() -> bool {
    let tried = Command::new("strace")
        .args([
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "inject=openat:signal=KILL:when=1",
            "true",
        ])
        .stderr(Stdio::null())
        .status();
    let works = tried.is_ok_and(|s| s.code().is_none());
    if !works {
        skipped("the sweeps need strace, and the right to trace a child");
    }
    works
}

/// What is swept: a machine in some state, and one event.
struct Scene {
    name: &'static str,
    prepare: fn(&Lab),
    event: &'static str,
    fields: fn() -> Value,
    /// The session of the event.
    session: &'static str,
    /// The id of its turn, for the stop that follows.
    turn: &'static str,
    /// Tool calls that were acknowledged before, and must each be in the log once at the end.
    acknowledged: &'static [&'static str],
}

const SCENES: &[Scene] = &[
    Scene {
        name: "turn-start, a new session",
        prepare: |_| (),
        event: "UserPromptSubmit",
        fields: || json!({"prompt_id": "p1", "prompt": "First"}),
        session: "s1",
        turn: "p1",
        acknowledged: &[],
    },
    Scene {
        name: "turn-start over an open turn",
        prepare: |lab| {
            lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
        },
        event: "UserPromptSubmit",
        fields: || json!({"prompt_id": "p2", "prompt": "Second"}),
        session: "s1",
        turn: "p2",
        acknowledged: &["call-1"],
    },
    Scene {
        name: "post-tool with an action",
        prepare: |lab| {
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
        },
        event: "PostToolUse",
        fields: || tool("s1", "p1", "call-2"),
        session: "s1",
        turn: "p1",
        acknowledged: &["call-1"],
    },
    Scene {
        name: "post-tool that folds two events that waited",
        prepare: |lab| {
            lab.prompt("p1", "First");
            let dir = File::open(lab.hooks_dir().join("s1")).unwrap();
            dir.lock().unwrap();
            lab.write("p1", "call-1", "/p/one.rs");
            lab.write("p1", "call-2", "/p/two.rs");
        },
        event: "PostToolUse",
        fields: || tool("s1", "p1", "call-3"),
        session: "s1",
        turn: "p1",
        acknowledged: &["call-1", "call-2"],
    },
    Scene {
        name: "stop",
        prepare: |lab| {
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
        },
        event: "Stop",
        fields: || stop("p1"),
        session: "s1",
        turn: "p1",
        acknowledged: &["call-1"],
    },
    Scene {
        name: "stop that folds a prompt and a stop that waited",
        prepare: |lab| {
            lab.prompt("p1", "First");
            let dir = File::open(lab.hooks_dir().join("s1")).unwrap();
            dir.lock().unwrap();
            lab.stop("p1", "Done one.");
            lab.prompt("p2", "Second");
        },
        event: "Stop",
        fields: || stop("p2"),
        session: "s1",
        turn: "p2",
        acknowledged: &[],
    },
    Scene {
        name: "post-tool after the live state is gone",
        prepare: |lab| {
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
            wipe(&lab.hooks_dir());
        },
        event: "PostToolUse",
        fields: || tool("s1", "p1", "call-2"),
        session: "s1",
        turn: "p1",
        acknowledged: &["call-1"],
    },
    Scene {
        name: "session-start beside a session whose host is gone",
        prepare: |lab| {
            with_dead_host(lab, "old");
            lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
        },
        event: "SessionStart",
        fields: || json!({"session_id": "s2", "source": "startup", "prompt_id": null}),
        session: "s2",
        turn: "p1",
        acknowledged: &["old-call"],
    },
    Scene {
        name: "pre-delegation that prunes a stale session",
        prepare: |lab| {
            lab.send(
                "UserPromptSubmit",
                json!({"session_id": "old", "prompt_id": "o1", "prompt": "Old"}),
            );
            lab.send("PostToolUse", tool("old", "o1", "old-call"));
            lab.prompt("p1", "First");
            age(&lab.hooks_dir().join("old"));
        },
        event: "PreToolUse",
        fields: || {
            json!({"tool_name": "Agent", "tool_use_id": "task-1",
                   "tool_input": {"prompt": "x", "subagent_type": "general-purpose"}})
        },
        session: "s1",
        turn: "p1",
        acknowledged: &["old-call"],
    },
];

fn tool(session: &str, turn: &str, call: &str) -> Value {
    json!({"session_id": session, "prompt_id": turn, "tool_name": "Write", "tool_use_id": call,
           "tool_input": {"file_path": format!("/p/{call}.rs"), "content": "x"},
           "tool_response": {"type": "create", "filePath": format!("/p/{call}.rs")}})
}

fn stop(turn: &str) -> Value {
    json!({"prompt_id": turn, "stop_hook_active": false, "last_assistant_message": "Done.", "background_tasks": []})
}

/// A session with an open turn, whose host process has ended.
fn with_dead_host(lab: &Lab, session: &str) {
    let mut host = Command::new("sleep").arg("60").spawn().unwrap();
    let prompt = json!({"session_id": session, "prompt_id": "o1", "prompt": "Old"});
    for (event, fields) in [
        ("UserPromptSubmit", prompt),
        ("PostToolUse", tool(session, "o1", "old-call")),
    ] {
        let base = json!({"cwd": lab.project(), "hook_event_name": event});
        lab.call(hook_of(event), &crate::harness::with(base, fields))
            .env("CLAUDE_PID", &host.id().to_string())
            .env("CLAUDE_PROJECT_DIR", &lab.project().to_string_lossy())
            .run()
            .ok();
    }
    host.kill().unwrap();
    host.wait().unwrap();
}

fn age(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let file = File::open(entry.unwrap().path()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3 * 60 * 60))
            .unwrap();
    }
}

fn wipe(dir: &Path) {
    if dir.exists() {
        std::fs::remove_dir_all(dir).unwrap();
    }
}

/// Everything below the two stores, to be put back before each run.
struct Snapshot(Vec<(PathBuf, Content)>);

/// A file's bytes and its time; a directory has none.
type Content = Option<(Vec<u8>, SystemTime)>;

impl Snapshot {
    fn take(lab: &Lab) -> Self {
        let mut all = Vec::new();
        for root in [lab.hooks_dir(), lab.data_dir()] {
            for entry in walkdir::WalkDir::new(&root).into_iter().filter_map(Result::ok) {
                let path = entry.path().to_owned();
                let content = entry.file_type().is_file().then(|| {
                    (
                        std::fs::read(&path).unwrap(),
                        entry.metadata().unwrap().modified().unwrap(),
                    )
                });
                all.push((path, content));
            }
        }
        Self(all)
    }

    fn restore(&self, lab: &Lab) {
        wipe(&lab.hooks_dir());
        wipe(&lab.data_dir());
        for (path, content) in &self.0 {
            match content {
                None => std::fs::DirBuilder::new().mode(0o700).create(path).unwrap(),
                Some((bytes, modified)) => {
                    let mut file = File::options()
                        .write(true)
                        .create_new(true)
                        .mode(0o600)
                        .open(path)
                        .unwrap();
                    std::io::Write::write_all(&mut file, bytes).unwrap();
                    file.set_modified(*modified).unwrap();
                }
            }
        }
    }

    /// The logs as they were.
    fn logs(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        let files = self.0.iter().filter(|(path, _)| path.ends_with("log.jsonl"));
        files.filter_map(|(path, content)| Some((path.as_path(), content.as_ref()?.0.as_slice())))
    }
}

/// One system call of a run: its name and which call of that name it is.
type Point = (String, usize);

/// The scene's hook under strace with these options.
fn strace(lab: &Lab, scene: &Scene, options: &[&str]) -> Answer {
    let base = json!({
        "session_id": "s1", "prompt_id": "p1", "cwd": lab.project(), "hook_event_name": scene.event,
        "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl",
    });
    let payload = lab.path("payload.json");
    let text = crate::harness::with(base, (scene.fields)()).to_string();
    write(&payload, text.as_bytes());
    let output = lab
        .command("strace")
        .arg("-qq")
        .args(options)
        .arg(crate::harness::executable(hook_of(scene.event)))
        .args(["--host", "claude-code"])
        .env("CLAUDE_PROJECT_DIR", lab.project())
        .stdin(File::open(&payload).unwrap())
        .output()
        .unwrap();
    Answer::of(output)
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

/// The traced run's lines, from the first look at stdin on: what came before is the loader's.
fn trace(lab: &Lab, scene: &Scene, options: &[&str]) -> (Vec<String>, Vec<Point>) {
    let out = lab.path("trace");
    let mut all = vec!["-o", out.to_str().unwrap(), "-y", "-s", "96"];
    all.extend(options);
    strace(lab, scene, &all).ok();
    let text = std::fs::read_to_string(&out).unwrap();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut lines, mut points) = (Vec::new(), Vec::new());
    for line in text
        .lines()
        .filter(|l| l.starts_with(|c: char| c.is_ascii_lowercase()))
    {
        let name = line.split('(').next().unwrap().to_owned();
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        if !lines.is_empty() || line.contains("POLLIN") {
            points.push((name, *count));
            lines.push(line.to_owned());
        }
    }
    assert!(points.len() > 20, "{text}");
    (lines, points)
}

/// Runs `check` for every point of a scene, two at a time; how many of them failed.
fn sweep<T: Sync>(scene: &Scene, points: &[T], check: impl Fn(&Lab, &Snapshot, &T) + Sync) -> usize {
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let lab = Lab::new();
                (scene.prepare)(&lab);
                let snapshot = Snapshot::take(&lab);
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    snapshot.restore(&lab);
                    // One that fails has said so; the others tell more.
                    let one = std::panic::AssertUnwindSafe(|| check(&lab, &snapshot, point));
                    let bad = std::panic::catch_unwind(one).is_err();
                    failed.fetch_add(usize::from(bad), Ordering::Relaxed);
                }
            });
        }
    });
    failed.into_inner()
}

fn inject(name: &str, what: &str, when: usize) -> Vec<String> {
    // (`--seccomp-bpf` would be faster, and injects nothing at all on some kernels.)
    [
        "-o",
        "/dev/null",
        "-e",
        &format!("trace={name}"),
        "-e",
        &format!("inject={name}:{what}:when={when}"),
    ]
    .map(str::to_owned)
    .to_vec()
}

/// The logs are whole: what was acknowledged is still their beginning, and every line is a record at its place.
fn assert_logs_whole(lab: &Lab, before: &Snapshot, place: &str) {
    for (path, old) in before.logs() {
        let now = std::fs::read(path).unwrap_or_default();
        assert!(
            now.starts_with(old),
            "{place}: the log lost what it had: {}",
            path.display()
        );
    }
    for id in lab.log_ids() {
        let Some(view) = SessionView::read(&lab.data(), &id).unwrap() else {
            continue;
        };
        assert!(view.problems.is_empty(), "{place}: {:?}", view.problems);
        let mut offset = 0;
        let path = lab.data_dir().join("log").join(id.as_str()).join("log.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        for (record, line) in lab.records(&id).iter().zip(text.lines()) {
            assert_eq!(record.seq, offset, "{place}: {line}");
            offset += line.len() as u64 + 1;
        }
    }
}

/// Every tool call in all logs, late ones too.
fn calls(lab: &Lab) -> Vec<String> {
    let mut all = Vec::new();
    for id in lab.log_ids() {
        let Some(view) = SessionView::read(&lab.data(), &id).unwrap() else {
            continue;
        };
        for turn in &view.turns {
            let late = turn.late.iter().filter_map(|l| l.action.as_ref());
            for action in turn.actions.iter().map(|a| &a.action).chain(late) {
                all.extend(action.call.as_ref().map(|c| c.as_str().to_owned()));
            }
        }
    }
    all.sort();
    all
}

/// What happens after a killed or refused hook: the next hooks of the session work, and the turn ends.
fn go_on(lab: &Lab, before: &Snapshot, scene: &Scene, place: &str) {
    assert_logs_whole(lab, before, place);
    lab.send("PostToolUse", tool(scene.session, scene.turn, "next-call"));
    assert_logs_whole(lab, before, place);
    lab.send(
        "Stop",
        crate::harness::with(stop(scene.turn), json!({"session_id": scene.session})),
    );
    assert_logs_whole(lab, before, place);

    let all = calls(lab);
    let once: BTreeSet<&String> = all.iter().collect();
    assert_eq!(all.len(), once.len(), "{place}: an action twice: {all:?}");
    for call in scene.acknowledged.iter().chain(&["next-call"]) {
        assert!(
            all.iter().any(|c| c == call),
            "{place}: {call} is missing: {all:?}"
        );
    }
    let state = lab.state(scene.session);
    assert!(state.turns.open().is_none(), "{place}: {:?}", state.turns);
    let numbers: Vec<u64> = lab.entries(scene.session).iter().map(|e| e.n).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{place}: {numbers:?}");
    let log = lab.log_of(scene.session);
    for turn in &log.turns {
        assert_ne!(turn.status, "in_progress", "{place}: {turn:#?}");
    }
    assert_eq!(log.turns.last().unwrap().status, "completed", "{place}");
    // The stop above may come after the killed one's; an earlier turn has heard its stop once.
    let earlier = log.turns.iter().rev().skip(1).flat_map(|t| &t.late);
    let said: Vec<_> = earlier.filter(|l| l.message.is_some()).collect();
    assert!(said.is_empty(), "{place}: {said:?}");
    let open: Vec<_> = lab
        .open_entries()
        .into_iter()
        .filter(|e| e.session == log.session_id)
        .collect();
    assert!(open.is_empty(), "{place}: {open:?}");
    assert_only_known_names(lab, place);
}

/// The least that holds after a refusal that does not pass: the logs are whole, the hooks work, no turn is
/// open in the live state, and what was not written is told.
fn go_on_without_log(lab: &Lab, before: &Snapshot, scene: &Scene, place: &str) {
    lab.send("PostToolUse", tool(scene.session, scene.turn, "next-call"));
    let stop = crate::harness::with(stop(scene.turn), json!({"session_id": scene.session}));
    lab.send("Stop", stop);
    assert_logs_whole(lab, before, place);
    let state = lab.state(scene.session);
    assert!(state.turns.open().is_none(), "{place}: {:?}", state.turns);
    let all = calls(lab);
    let once: BTreeSet<&String> = all.iter().collect();
    assert_eq!(all.len(), once.len(), "{place}: an action twice: {all:?}");
    // (Where the name of the old log could not be read, there is a second one; settlement ends the old turn.)
    let second = lab.log_ids().len() > before.logs().count().max(1);
    let open = lab.open_entries().into_iter();
    let open = open.filter(|e| e.session_key == scene.session).count();
    assert!(open == 0 || second, "{place}");
    let mut expected = scene.acknowledged.iter().chain(&["next-call"]);
    let all_there = expected.all(|call| all.iter().any(|a| a == call));
    assert!(
        all_there || is_told(lab, scene),
        "{place}: lost, and nobody is told"
    );
    assert_only_known_names(lab, place);
}

fn is_told(lab: &Lab, scene: &Scene) -> bool {
    let mut entries = lab.entries(scene.session).into_iter();
    // (Where the root was refused, the event and the refusal stand in the fallback.)
    let fallback = lab
        .data_dir()
        .join("hooks")
        .join(scene.session)
        .join("events.jsonl");
    let fallback = std::fs::read_to_string(fallback).unwrap_or_default();
    !lab.faults().is_empty()
        || entries.any(|e| !e.faults.is_empty())
        || fallback.contains("use the hook root")
}

/// How many events of the scene's name its session has.
fn counted(lab: &Lab, scene: &Scene) -> u64 {
    if !lab.hooks_dir().join(scene.session).exists() {
        return 0;
    }
    let state = lab.state(scene.session);
    state.events.get(scene.event).map_or(0, |e| e.count)
}

fn assert_only_known_names(lab: &Lab, place: &str) {
    for (root, depth) in [(lab.hooks_dir(), 2), (lab.data_dir(), 3)] {
        for entry in walkdir::WalkDir::new(root).into_iter().map(Result::unwrap) {
            let name = entry.file_name().to_str().unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            let expected = if entry.file_type().is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, expected, "{place}: {}", entry.path().display());
            assert!(entry.depth() <= depth, "{place}: {}", entry.path().display());
            assert!(!name.ends_with(".bad"), "{place}: {}", entry.path().display());
        }
    }
}

/// Calls that change a file, a lock or the answer, and the exit. (An `openat` may make a file.)
fn changes(name: &str) -> bool {
    name.starts_with("mkdir")
        || name.starts_with("rename")
        || name.starts_with("unlink")
        || name.starts_with("write")
        || name.starts_with("pwrite")
        || [
            "openat",
            "ftruncate",
            "fchmod",
            "flock",
            "fdatasync",
            "fsync",
            "exit_group",
        ]
        .contains(&name)
}

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
        failed += sweep(scene, &points, |lab, before, (name, when)| {
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

/// What may pass, for a call to answer; and what is for good.
const PASSING: [&str; 3] = ["ENOSPC", "EIO", "EMFILE"];
const FOR_GOOD: &str = "EACCES";

/// Calls that cannot be refused, or whose refusal is no file's: memory, clocks, signals, the exit.
fn is_file_call(name: &str) -> bool {
    ![
        "exit_group",
        "mmap",
        "munmap",
        "brk",
        "mremap",
        "mprotect",
        "madvise",
        "close",
        "getrandom",
    ]
    .contains(&name)
        && !name.starts_with("rt_sig")
        && !name.starts_with("get")
        && !name.starts_with("clock")
        || name.starts_with("getdents")
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
        failed += sweep(scene, &refused, |lab, before, ((name, when), error)| {
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
    let failed = sweep(&scene, &points, |lab, before, (name, when)| {
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
                entry["event"]["kind"]["target"] = json!(format!("/p/{}.rs", "x".repeat(600)));
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
    let failed = sweep(&scene, &points, |lab, before, (name, when)| {
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
            "{event}"
        );
        assert!(lab.state("s1").turns.open().is_none(), "{event}");
        assert!(lab.open_entries().iter().all(|e| e.settled), "{event}");
    }
}

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
