//! What each hook takes here: the five executables beside this command, each run several times with an
//! ordinary payload, over stores of their own and in an environment built from nothing. One that is not
//! there, does not run, crashes, hangs, says something else than JSON or keeps nothing is found by this.

use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::finding::Finding;
use super::report::Latency;
use crate::clock::Stopwatch;
use crate::config;
use crate::hook::Hook;
use crate::live::journal;
use crate::live::root::HookRoot;

/// Runs of each hook.
const RUNS: usize = 7;
/// A hook that takes longer than this hangs.
const HANG: Duration = Duration::from_secs(5);
/// Most of an answer that is read.
const MAX_ANSWER: u64 = 1024 * 1024;
/// The session that they are run in.
const SESSION: &str = "doctor";
const REMEDY: &str = "Run ./install.sh of Bookend, which places all executables anew.";

/// Measures them; what is the matter with one goes to `findings`.
pub(super) fn measure(findings: &mut Vec<Finding>) -> Latency {
    let mut latency = Latency::default();
    let beside = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .map(|exe| exe.parent().map(Path::to_owned).unwrap_or_default());
    let scratch = Scratch::new();
    let (dir, scratch) = match (beside, scratch) {
        (Ok(dir), Ok(scratch)) => (dir, scratch),
        (Err(e), _) | (_, Err(e)) => {
            let what = format!("The hooks could not be measured: {e}.");
            findings.push(
                Finding::problem("not-measured", "hooks", what)
                    .remedy("Make the temp directory writable (TMPDIR says where it is)."),
            );
            return latency;
        }
    };
    for hook in Hook::ALL {
        let path = dir.join(hook.name());
        let median = scratch
            .median(hook, &path)
            .map_err(|bad| findings.push(bad.finding(&path)));
        latency.0.insert(hook.name(), median.ok());
    }
    latency
}

/// Stores that are gone when the measuring is over.
struct Scratch {
    dir: tempfile::TempDir,
    /// How long a run may take.
    patience: Duration,
}

/// What is wrong with an executable.
#[derive(Debug)]
enum Bad {
    Start(io::Error),
    Hangs,
    Fails(ExitStatus),
    NoJson,
    KeepsNothing,
    Run(io::Error),
}

impl Bad {
    fn finding(&self, path: &Path) -> Finding {
        let (code, what) = match self {
            Self::Start(e) => match (e.kind(), path.exists()) {
                (io::ErrorKind::NotFound, false) => (
                    "hook-missing",
                    "It is not there, so its events are lost.".to_owned(),
                ),
                (io::ErrorKind::PermissionDenied, _) => (
                    "hook-not-executable",
                    "It may not be executed, so its events are lost.".to_owned(),
                ),
                // A program of another machine, or one whose loader is not here.
                (io::ErrorKind::NotFound, true) => ("hook-foreign", foreign(e)),
                _ if e.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
                    ("hook-foreign", foreign(e))
                }
                _ => ("hook-fails", format!("It cannot be started: {e}.")),
            },
            Self::Hangs => (
                "hook-hangs",
                format!("It did not end within {} seconds.", HANG.as_secs()),
            ),
            Self::Fails(status) => match status.signal() {
                Some(signal) => ("hook-crashes", format!("It was ended by signal {signal}.")),
                None => (
                    "hook-crashes",
                    format!(
                        "It exits {}, which some hosts take for a denial.",
                        status.code().unwrap_or(-1)
                    ),
                ),
            },
            Self::NoJson => (
                "hook-answers-wrong",
                "It says something that is not one JSON document.".to_owned(),
            ),
            Self::KeepsNothing => (
                "hook-keeps-nothing",
                "It runs, and keeps nothing of its events: it is not the hook of that name, or of another \
                 version."
                    .to_owned(),
            ),
            Self::Run(e) => ("hook-fails", format!("It cannot be run: {e}.")),
        };
        Finding::problem(code, path.to_string_lossy(), what).remedy(REMEDY)
    }
}

fn foreign(e: &io::Error) -> String {
    format!("It is no program of this machine ({e}), so its events are lost.")
}

impl Scratch {
    fn new() -> io::Result<Self> {
        let temp = config::temp_dir().unwrap_or_else(|| PathBuf::from("/tmp"));
        let dir = tempfile::Builder::new()
            .prefix("bookend-doctor-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .tempdir_in(temp)?;
        Ok(Self { dir, patience: HANG })
    }

    fn hooks(&self) -> PathBuf {
        self.dir.path().join("hooks")
    }

    /// The median of its runs, in microseconds.
    fn median(&self, hook: Hook, path: &Path) -> Result<u32, Bad> {
        let before = self.kept();
        let mut times = Vec::with_capacity(RUNS);
        for run in 0..RUNS {
            times.push(self.run(path, &payload(hook, run, self.dir.path()))?);
        }
        if self.kept() < before + RUNS as u64 {
            return Err(Bad::KeepsNothing);
        }
        times.sort_unstable();
        times.get(RUNS / 2).copied().ok_or(Bad::KeepsNothing)
    }

    /// Events of the session so far.
    fn kept(&self) -> u64 {
        let root = HookRoot::existing(&self.hooks()).ok().flatten();
        let dir = root.and_then(|root| root.dir().sub(SESSION).ok().flatten());
        dir.and_then(|dir| journal::fold(&dir).ok())
            .map_or(0, |loaded| loaded.state.n)
    }

    fn run(&self, path: &Path, payload: &Value) -> Result<u32, Bad> {
        let watch = Stopwatch::start();
        let mut child = Command::new(path)
            .args(["--host", "claude-code"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.dir.path())
            .env("MAESTRO_HOOKS_DIR", self.hooks())
            .env("BOOKEND_DATA_DIR", self.dir.path().join("data"))
            .current_dir(self.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Bad::Start)?;
        let deadline = Instant::now() + self.patience;
        let talked = talk(&mut child, payload, self.patience);
        let ended = ended(&mut child, deadline);
        let micros = watch.micros();
        if !matches!(&ended, Ok(Some(_))) || talked.is_err() {
            // Ours, and not yet waited for: its number is still its own.
            drop(child.kill());
            drop(child.wait());
        }
        let (answer, status) = (talked?, ended.map_err(Bad::Run)?.ok_or(Bad::Hangs)?);
        if !status.success() {
            return Err(Bad::Fails(status));
        }
        if !answer.is_empty() && serde_json::from_slice::<Value>(&answer).is_err() {
            return Err(Bad::NoJson);
        }
        Ok(micros)
    }
}

/// Gives it the payload, and reads its answer until it closes its stdout or too much time has passed. What
/// reads is a thread that ends with the child.
fn talk(child: &mut Child, payload: &Value, patience: Duration) -> Result<Vec<u8>, Bad> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Bad::Run(io::ErrorKind::BrokenPipe.into()));
    };
    let (give, answer) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(MAX_ANSWER).read_to_end(&mut bytes);
        // Nobody waits for it any more when it hung.
        drop(give.send(read.map(|_| bytes)));
    });
    // A payload is smaller than a pipe, so this does not wait; what does not read it is judged by its end.
    drop(stdin.write_all(payload.to_string().as_bytes()));
    drop(stdin);
    answer
        .recv_timeout(patience)
        .map_err(|_| Bad::Hangs)?
        .map_err(Bad::Run)
}

/// How it ended, if it did by then.
fn ended(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        match child.try_wait()? {
            None if Instant::now() < deadline => thread::sleep(Duration::from_micros(50)),
            status => return Ok(status),
        }
    }
}

/// An ordinary payload of that hook.
fn payload(hook: Hook, run: usize, dir: &Path) -> Value {
    let fields = match hook {
        Hook::SessionStart => json!({"hook_event_name": "SessionStart", "source": "startup"}),
        Hook::TurnStart => json!({
            "hook_event_name": "UserPromptSubmit", "prompt_id": format!("p{run}"),
            "prompt": format!("Add the discount to the cart's total, step {run}"),
        }),
        Hook::PreDelegation => json!({
            "hook_event_name": "PreToolUse", "prompt_id": "p6", "tool_name": "Agent",
            "tool_use_id": format!("a{run}"),
            "tool_input": {"description": "Look for callers", "prompt": "Find who calls total()",
                           "subagent_type": "Explore"},
        }),
        Hook::PostTool => json!({
            "hook_event_name": "PostToolUse", "prompt_id": "p6", "tool_name": "Bash",
            "tool_use_id": format!("t{run}"),
            "tool_input": {"command": "cargo test cart", "description": "Run the tests"},
            "tool_response": {"stdout": "test result: ok. 12 passed", "stderr": "", "interrupted": false},
        }),
        Hook::Stop => json!({
            "hook_event_name": "Stop", "prompt_id": format!("p{run}"), "stop_hook_active": false,
            "last_assistant_message": format!("Done, step {run}."), "background_tasks": [],
        }),
    };
    let mut payload = json!({"session_id": SESSION, "cwd": dir});
    if let (Some(all), Value::Object(fields)) = (payload.as_object_mut(), fields) {
        all.extend(fields);
    }
    payload
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// What is found when that script stands in the place of a hook.
    fn found(script: &str, mode: u32, patience: Duration) -> Finding {
        let mut scratch = Scratch::new().unwrap();
        scratch.patience = patience;
        let path = scratch.dir.path().join("stop");
        // Written by another process: a descriptor that a fork of another test took along would be busy text.
        let mut sh = Command::new("sh")
            .args(["-c", "cat > \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        sh.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(sh.wait().unwrap().success());
        set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        scratch.median(Hook::Stop, &path).unwrap_err().finding(&path)
    }

    #[test]
    fn what_is_no_hook_is_told_from_one_that_does_not_run() {
        for (script, mode, code) in [
            ("#!/bin/sh\nexit 0\n", 0o700, "hook-keeps-nothing"),
            ("#!/bin/sh\necho Hello\n", 0o700, "hook-answers-wrong"),
            ("#!/bin/sh\nexit 2\n", 0o700, "hook-crashes"),
            ("#!/bin/sh\nkill -SEGV $$\n", 0o700, "hook-crashes"),
            ("#!/nowhere/ld.so\n", 0o700, "hook-foreign"),
            ("\u{7f}ELF of another machine", 0o700, "hook-foreign"),
            ("#!/bin/sh\nexit 0\n", 0o600, "hook-not-executable"),
        ] {
            let finding = found(script, mode, HANG);
            assert_eq!(finding.code, code, "{script}: {finding:?}");
            assert!(finding.remedy.contains("./install.sh"));
        }
        let scratch = Scratch::new().unwrap();
        let nowhere = scratch.dir.path().join("nowhere");
        let bad = scratch.median(Hook::Stop, &nowhere).unwrap_err();
        assert_eq!(bad.finding(&nowhere).code, "hook-missing");
    }

    #[test]
    fn one_that_hangs_is_ended() {
        let soon = Duration::from_millis(300);
        for script in ["exec sleep 600\n", "exec >&-\nexec sleep 600\n"] {
            let began = Instant::now();
            let finding = found(&format!("#!/bin/sh\n{script}"), 0o700, soon);
            assert_eq!(finding.code, "hook-hangs", "{script}: {finding:?}");
            assert!(began.elapsed() < HANG);
        }
    }
}
