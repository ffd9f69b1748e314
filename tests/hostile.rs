//! A hostile machine: roots and directories that are not what they should be, ids that are paths, streams
//! that are closed, held or endless, signals. Nothing is written outside, nothing hangs, the host goes on.

mod clock;
mod disk;
mod files;
mod ids;
mod machine;
mod roots;
mod signals;
mod streams;

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bookend::hook::Hook;
use bookend::live::journal;
use bookend::live::key::SessionKey;
use bookend::live::root::HookRoot;
use bookend::live::state::State;
use serde_json::{Value, json};

use crate::harness::{Answer, Lab, executable};

/// Nothing takes this long unless it hangs.
const HANG: Duration = Duration::from_secs(20);
/// Another user than root and than whoever runs the tests.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn prompt(lab: &Lab, session: &str) -> Value {
    json!({"session_id": session, "prompt_id": "p1", "cwd": lab.project(), "prompt": "Hello",
           "hook_event_name": "UserPromptSubmit", "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl"})
}

fn stop(lab: &Lab, session: &str) -> Value {
    json!({"session_id": session, "prompt_id": "p1", "cwd": lab.project(), "stop_hook_active": false,
           "last_assistant_message": "Done.", "hook_event_name": "Stop", "background_tasks": [],
           "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl"})
}

fn mkdir(path: &Path) {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .unwrap();
}

fn mkfifo(path: &Path) {
    let done = Command::new("mkfifo")
        .arg("-m")
        .arg("600")
        .arg(path)
        .status()
        .unwrap();
    assert!(done.success());
}

/// Everything below a directory: names, kinds, contents, times. Links are not followed.
fn picture(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in walkdir::WalkDir::new(dir).into_iter().filter_map(Result::ok) {
        let meta = entry.metadata().unwrap();
        let content = if meta.is_file() {
            std::fs::read(entry.path()).unwrap_or_default()
        } else {
            Vec::new()
        };
        let text = format!("{:o} {} {} {:?}", meta.mode(), meta.uid(), meta.mtime(), content);
        all.insert(entry.path().to_owned(), text);
    }
    all
}

/// The folded state of a session in a root that may be the fallback.
fn state_in(root: &Path, session: &str) -> State {
    let root = HookRoot::existing(root).unwrap().expect("a hook root");
    let key = SessionKey::of(session).unwrap();
    let dir = root
        .dir()
        .sub(key.as_str())
        .unwrap()
        .expect("a session directory");
    journal::fold(&dir).unwrap().state
}

/// All faults that anybody could be told.
fn told(lab: &Lab, root: &Path, session: &str) -> Vec<String> {
    let live = state_in(root, session).faults.into_iter();
    let noted = if lab.data_dir().is_dir() {
        lab.faults()
    } else {
        Vec::new()
    };
    live.chain(noted).map(|f| f.what.as_str().to_owned()).collect()
}

/// Waits for a child without hanging with it.
#[track_caller]
fn ends(mut child: Child) -> (Answer, Duration) {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > HANG {
            child.kill().unwrap();
            panic!("it hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let took = began.elapsed();
    (Answer::of(child.wait_with_output().unwrap()), took)
}

/// The hook with pipes, and its stdin in our hands.
fn spawn(lab: &Lab, hook: Hook) -> (Child, std::process::ChildStdin) {
    let mut child = lab
        .command(executable(hook))
        .args(["--host", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    (child, stdin)
}

/// The hook under a shell that prepares its streams; `$0` is the executable.
fn shell(lab: &Lab, script: &str, hook: Hook, input: &Value) -> Answer {
    let file = lab.path("input.json");
    std::fs::write(&file, input.to_string()).unwrap();
    let child = lab
        .command("sh")
        .args(["-c", script, executable(hook)])
        .stdin(File::open(file).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    ends(child).0
}
