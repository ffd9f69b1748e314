//! One hook under strace: traced, killed or refused at a system call; a sweep over all of them.

use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use serde_json::json;

use super::scenes::Scene;
use crate::harness::{Answer, Lab, hook_of, say};

/// Sweeps run two processes at a time; one sweep is enough for the machine.
pub(super) static SWEEP: Mutex<()> = Mutex::new(());

/// What may pass, for a call to answer.
pub(super) const PASSING: [&str; 3] = ["ENOSPC", "EIO", "EMFILE"];

/// What is for good.
pub(super) const FOR_GOOD: &str = "EACCES";

pub(crate) fn one_sweep() -> MutexGuard<'static, ()> {
    SWEEP.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Every pair of call and error, rather than one of each kind: what the CI does.
pub(super) fn full() -> bool {
    std::env::var("BOOKEND_FULL_SWEEP").is_ok()
}

#[expect(clippy::print_stdout, reason = "who reads the run is told what it leaves out")]
pub(crate) fn skipped(why: &str) {
    println!("SKIPPED: {why}");
}

/// Whether strace works here; says so where it does not.
pub(crate) fn can_trace() -> bool {
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
        say("SKIPPED: the sweeps need strace, and the right to trace a child");
    }
    works
}

pub(super) fn wipe(dir: &Path) {
    if dir.exists() {
        std::fs::remove_dir_all(dir).unwrap();
    }
}

/// Everything below the stores and HOME, to be put back before each run.
pub(super) struct Snapshot(Vec<(PathBuf, Content)>);

/// What stands at a path.
pub(super) enum Content {
    Dir(u32),
    File(Vec<u8>, SystemTime, u32),
    Link(PathBuf),
}

impl Snapshot {
    pub(super) fn take(lab: &Lab) -> Self {
        let mut all = Vec::new();
        for root in places(lab) {
            for entry in walkdir::WalkDir::new(&root).into_iter().filter_map(Result::ok) {
                let path = entry.path().to_owned();
                let meta = entry.metadata().unwrap();
                let mode = meta.permissions().mode() & 0o7777;
                let content = if meta.is_dir() {
                    Content::Dir(mode)
                } else if meta.is_symlink() {
                    Content::Link(std::fs::read_link(&path).unwrap())
                } else {
                    Content::File(std::fs::read(&path).unwrap(), meta.modified().unwrap(), mode)
                };
                all.push((path, content));
            }
        }
        Self(all)
    }

    pub(super) fn restore(&self, lab: &Lab) {
        places(lab).iter().for_each(|root| wipe(root));
        for (path, content) in &self.0 {
            match content {
                Content::Dir(mode) => {
                    std::fs::create_dir(path).unwrap();
                    std::fs::set_permissions(path, Permissions::from_mode(*mode)).unwrap();
                }
                Content::Link(to) => symlink(to, path).unwrap(),
                Content::File(bytes, modified, mode) => {
                    let mut file = File::options().write(true).create_new(true).open(path).unwrap();
                    std::io::Write::write_all(&mut file, bytes).unwrap();
                    file.set_permissions(Permissions::from_mode(*mode)).unwrap();
                    file.set_modified(*modified).unwrap();
                }
            }
        }
    }

    /// The logs as they were.
    pub(super) fn logs(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        let files = self.0.iter().filter(|(path, _)| path.ends_with("log.jsonl"));
        files.filter_map(|(path, content)| match content {
            Content::File(bytes, ..) => Some((path.as_path(), bytes.as_slice())),
            _ => None,
        })
    }

    /// A file's bytes as they were.
    pub(super) fn file(&self, path: &Path) -> Option<&[u8]> {
        let found = self.0.iter().find(|(known, _)| known == path);
        found.and_then(|(_, content)| match content {
            Content::File(bytes, ..) => Some(bytes.as_slice()),
            _ => None,
        })
    }
}

/// Where anything is ever written.
pub(super) fn places(lab: &Lab) -> [PathBuf; 4] {
    [lab.hooks_dir(), lab.data_dir(), lab.project(), lab.path("home")]
}

/// One system call of a run: its name and which call of that name it is.
pub(super) type Point = (String, usize);

/// The scene's hook under strace with these options.
pub(super) fn strace(lab: &Lab, scene: &Scene, options: &[&str]) -> Answer {
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

pub(super) fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

/// The traced run's lines, from the first look at stdin on: what came before is the loader's.
pub(super) fn trace(lab: &Lab, scene: &Scene, options: &[&str]) -> (Vec<String>, Vec<Point>) {
    let out = lab.path("trace");
    let mut all = vec!["-o", out.to_str().unwrap(), "-y", "-s", "96"];
    all.extend(options);
    strace(lab, scene, &all).ok();
    let text = std::fs::read_to_string(&out).unwrap();
    let (lines, points) = calls_from(&text, |line| line.contains("POLLIN"));
    assert!(points.len() > 20, "{text}");
    (lines, points)
}

/// The calls of a trace from the first one on that `begins`, as lines and as points.
pub(super) fn calls_from(text: &str, begins: impl Fn(&str) -> bool) -> (Vec<String>, Vec<Point>) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut lines, mut points) = (Vec::new(), Vec::new());
    for line in text
        .lines()
        .filter(|l| l.starts_with(|c: char| c.is_ascii_lowercase()))
    {
        let name = line.split('(').next().unwrap().to_owned();
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        if !lines.is_empty() || begins(line) {
            points.push((name, *count));
            lines.push(line.to_owned());
        }
    }
    (lines, points)
}

/// Runs `check` for every point of a prepared lab, two at a time; how many of them failed.
pub(super) fn sweep<T: Sync>(
    prepare: fn(&Lab),
    points: &[T],
    check: impl Fn(&Lab, &Snapshot, &T) + Sync,
) -> usize {
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let lab = Lab::new();
                prepare(&lab);
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

pub(crate) fn inject(name: &str, what: &str, when: usize) -> Vec<String> {
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

/// Calls that change a file, a lock or the answer, and the exit. (An `openat` may make a file.)
pub(crate) fn changes(name: &str) -> bool {
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

/// Calls that cannot be refused, or whose refusal is no file's: memory, clocks, signals, the exit.
pub(super) fn is_file_call(name: &str) -> bool {
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
