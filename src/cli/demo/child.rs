//! Child processes of the demo: each bounded in time, and ended and reaped with its guard, also on an error.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::clock::Stopwatch;

/// How long a process may take. A hook gives itself 0.8 s; the rest is for a machine with a lot to do.
pub(super) const BOUND: Duration = Duration::from_secs(10);
/// A pause between two looks at a process that is about to end.
const PAUSE: Duration = Duration::from_micros(50);
/// Most of an answer that is read.
const MAX_ANSWER: u64 = 256 * 1024;

/// A child process; dropping it ends and reaps it.
#[derive(Debug)]
pub(super) struct Guarded(Child);

/// What a program did.
#[derive(Debug)]
pub(super) struct Ran {
    /// How it ended.
    pub(super) status: ExitStatus,
    /// What it printed.
    pub(super) stdout: Vec<u8>,
    /// From before its start to its end.
    pub(super) micros: u32,
}

impl Guarded {
    /// Starts it.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(Self)
    }

    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Ends it as `kill -9` does. It is reaped only with the guard, so its number cannot be another's before.
    pub(super) fn kill(&mut self) -> io::Result<()> {
        self.0.kill()?;
        let Some(pid) = i32::try_from(self.pid()).ok().and_then(Pid::from_raw) else {
            return Ok(());
        };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let deadline = Instant::now() + BOUND;
        while waitid(WaitId::Pid(pid), look)?.is_none() {
            pause(deadline)?;
        }
        Ok(())
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Runs a program with `input` on its stdin to its end, or ends it when it takes longer than `bound`. The
/// input has to fit into a pipe.
pub(super) fn run(command: &mut Command, input: &[u8], bound: Duration) -> io::Result<Ran> {
    let watch = Stopwatch::start();
    let deadline = Instant::now() + bound;
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = Guarded::start(command)?;
    if let Some(mut stdin) = child.0.stdin.take() {
        match stdin.write_all(input) {
            // It has read what it wanted, or ended: its answer says more.
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => return Err(e),
            _ => {}
        }
    }
    let mut stdout = Vec::new();
    if let Some(mut from) = child.0.stdout.take() {
        let mut part = [0; 4096];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&timeout)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Err(rustix::io::Errno::INTR) => continue,
                ready => ready?,
            };
            let n = from.read(&mut part)?;
            let room = MAX_ANSWER.saturating_sub(u64::try_from(stdout.len()).unwrap_or(u64::MAX));
            if n == 0 || room == 0 {
                break;
            }
            stdout.extend(part.iter().take(n));
        }
    }
    // Its stdout is closed, so its end is near.
    let status = loop {
        match child.0.try_wait()? {
            Some(status) => break status,
            None => pause(deadline)?,
        }
    };
    Ok(Ran {
        status,
        stdout,
        micros: watch.micros(),
    })
}

fn pause(deadline: Instant) -> io::Result<()> {
    if Instant::now() >= deadline {
        return Err(io::ErrorKind::TimedOut.into());
    }
    thread::sleep(PAUSE);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{HostProcess, Pulse};

    #[test]
    fn a_program_gets_its_input_and_its_output_comes_back() {
        let ran = run(Command::new("sh").args(["-c", "cat; exit 3"]), b"hello", BOUND).unwrap();
        assert_eq!(
            (ran.status.code(), ran.stdout.as_slice()),
            (Some(3), &b"hello"[..])
        );
        assert!(ran.micros > 0);
    }

    #[test]
    fn a_program_that_does_not_read_is_no_failure() {
        let ran = run(&mut Command::new("true"), b"hello", BOUND).unwrap();
        assert!(ran.status.success() && ran.stdout.is_empty());
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_and_reaped() {
        let scratch = tempfile::tempdir().unwrap();
        // With its stdout open, and with it closed.
        for close in ["", "exec >&-;"] {
            let script = format!("{close} echo $$ > pid; exec sleep 71");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).current_dir(scratch.path());
            let error = run(&mut shell, b"", Duration::from_millis(300)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            let pid = std::fs::read_to_string(scratch.path().join("pid")).unwrap();
            assert!(!std::fs::exists(format!("/proc/{}", pid.trim())).unwrap());
        }
    }

    #[test]
    fn a_killed_process_is_dead_at_once_and_gone_with_its_guard() {
        let mut child = Guarded::start(Command::new("cat").stdin(Stdio::piped())).unwrap();
        let process = HostProcess::find(Some(child.pid())).unwrap();
        assert_eq!(process.pulse(), Pulse::Alive);
        child.kill().unwrap();
        assert_eq!(process.pulse(), Pulse::Dead);
        let stat = format!("/proc/{}/stat", child.pid());
        assert!(std::fs::exists(&stat).unwrap(), "it is not reaped yet");
        drop(child);
        assert!(!std::fs::exists(&stat).unwrap());
    }
}
