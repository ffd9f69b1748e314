//! What each hook takes here: the five executables that are registered, or those beside this command where none
//! are, each run several times with an ordinary payload, over stores of their own and in an environment built from nothing. One that is not
//! there, does not run, crashes, hangs, says something else than JSON, keeps nothing or is of another version than
//! this command is found by this.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::bad_hook::Bad;
use super::finding::Finding;
use super::report::Latency;
use super::sample::{SESSION, payload};
use crate::clock::Stopwatch;
use crate::config;
use crate::hook::Hook;
use crate::install::is_executable;
use crate::live::journal;
use crate::live::root::HookRoot;

/// Runs of each hook.
const RUNS: usize = 7;
/// A hook that takes longer than this hangs.
pub(super) const HANG: Duration = Duration::from_secs(5);
/// Most of an answer that is read.
const MAX_ANSWER: u64 = 1024 * 1024;

/// Measures those in that directory, or those beside this command; what is the matter with one goes to `findings`.
pub(super) fn measure(placed: Option<PathBuf>, findings: &mut Vec<Finding>) -> Latency {
    let mut latency = Latency::default();
    let beside = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .map(|exe| exe.parent().map(Path::to_owned).unwrap_or_default());
    let scratch = Scratch::new();
    let (beside, scratch) = match (beside, scratch) {
        (Ok(beside), Ok(scratch)) => (beside, scratch),
        (Err(e), _) | (_, Err(e)) => {
            let what = format!("The hooks could not be measured: {e}.");
            findings.push(
                Finding::problem("not-measured", "hooks", what)
                    .remedy("Make the temp directory writable (TMPDIR says where it is)."),
            );
            return latency;
        }
    };
    let dir = placed.unwrap_or_else(|| beside.clone());
    let remedy = remedy(&dir, &beside);
    for hook in Hook::ALL {
        let path = dir.join(hook.name());
        let median = scratch
            .median(hook, &path)
            .map_err(|bad| findings.push(bad.finding(&path, remedy)));
        latency.0.insert(hook.name(), median.ok());
    }
    latency
}

/// `bookend install` places what stands beside it, unless that is the place.
fn remedy(dir: &Path, beside: &Path) -> &'static str {
    let is_placed = dir.canonicalize().is_ok_and(|dir| dir == beside);
    let has_all = Hook::ALL
        .iter()
        .all(|hook| is_executable(&beside.join(hook.name())));
    if has_all && !is_placed {
        "Run `bookend install`, which places all executables anew."
    } else {
        "Run ./install.sh of Bookend, which places all executables anew."
    }
}

/// Stores that are gone when the measuring is over.
struct Scratch {
    dir: tempfile::TempDir,
    /// How long a run may take.
    patience: Duration,
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
            let payload = payload(hook, run, self.dir.path()).to_string();
            let (micros, answer) = self.run(path, &["--host", "claude-code"], payload.as_bytes())?;
            if !answer.is_empty() && serde_json::from_slice::<Value>(&answer).is_err() {
                return Err(Bad::NoJson);
            }
            times.push(micros);
        }
        if self.kept() < before + RUNS as u64 {
            return Err(Bad::KeepsNothing);
        }
        self.check_version(path)?;
        times.sort_unstable();
        times.get(RUNS / 2).copied().ok_or(Bad::KeepsNothing)
    }

    /// Whether it is of this command's version. An older one takes the question for an event without a payload, and
    /// says nothing.
    fn check_version(&self, path: &Path) -> Result<(), Bad> {
        let (_, said) = self.run(path, &["--version"], &[])?;
        let said = String::from_utf8_lossy(&said);
        match said.split_whitespace().last() {
            Some(env!("CARGO_PKG_VERSION")) => Ok(()),
            version => Err(Bad::Version(version.map(|v| v.chars().take(40).collect()))),
        }
    }

    /// Events of the session so far.
    fn kept(&self) -> u64 {
        let root = HookRoot::existing(&self.hooks()).ok().flatten();
        let dir = root.and_then(|root| root.dir().sub(SESSION).ok().flatten());
        dir.and_then(|dir| journal::fold(&dir).ok())
            .map_or(0, |loaded| loaded.state.n)
    }

    /// Runs it: what it took, and what it answered.
    fn run(&self, path: &Path, arguments: &[&str], payload: &[u8]) -> Result<(u32, Vec<u8>), Bad> {
        let watch = Stopwatch::start();
        let mut child = Command::new(path)
            .args(arguments)
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
        Ok((micros, answer))
    }
}

/// Gives it the payload, and reads its answer until it closes its stdout or too much time has passed. What
/// reads is a thread that ends with the child.
fn talk(child: &mut Child, payload: &[u8], patience: Duration) -> Result<Vec<u8>, Bad> {
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
    drop(stdin.write_all(payload));
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
        scratch
            .median(Hook::Stop, &path)
            .unwrap_err()
            .finding(&path, "Run ./install.sh.")
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
        assert_eq!(bad.finding(&nowhere, "").code, "hook-missing");
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
