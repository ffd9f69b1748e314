//! A host while it runs: its process group, its output, its end.
//!
//! The host leads a process group of its own, and only that group is ever signalled: TERM, then KILL after two seconds (a
//! crash and a Ctrl-C are played to its leader alone). The host stays a zombie until it is reaped here, last, so its pid
//! cannot have become another's. Output is read by two threads; they are not waited for long, since a process that
//! outlives the host may hold the pipe open.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use super::capture::Capture;
use super::driver::Launch;
use super::error::ProbeError;
use super::outcome::Outcome;
use super::server::Server;

const POLL: Duration = Duration::from_millis(10);
const GRACE: Duration = Duration::from_secs(2);
/// Hooks that the host does not wait for, and the rest of its output, get this much time after its end.
const SETTLE: Duration = Duration::from_millis(300);

/// A host that runs. Dropping it ends its process group.
#[derive(Debug)]
#[must_use = "dropping it ends the host"]
pub struct Running {
    child: Child,
    pid: Option<Pid>,
    server: Server,
    stdout: Capture,
    stderr: Capture,
    began: Instant,
    deadline: Instant,
}

impl Running {
    pub(super) fn start(
        program: &Path,
        folder: &Path,
        launch: Launch,
        server: Server,
        timeout: Duration,
    ) -> Result<Self, ProbeError> {
        let began = Instant::now();
        let mut child = Command::new(program)
            .args(launch.args)
            .env_clear()
            .envs(launch.env)
            .current_dir(folder)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| ProbeError::Start {
                program: program.to_owned(),
                error,
            })?;
        let (stdout, stderr) = (Capture::of(child.stdout.take()), Capture::of(child.stderr.take()));
        Ok(Self {
            pid: i32::try_from(child.id()).ok().and_then(Pid::from_raw),
            child,
            server,
            stdout,
            stderr,
            began,
            deadline: began + timeout,
        })
    }

    /// The host's pid, which is also its process group.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The stub model behind the host.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Whether the host's process has ended (it is not reaped by this).
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let Some(pid) = self.pid else { return true };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(pid), look), Ok(None))
    }

    /// Waits until the condition holds; false when the host ended first or the bound passed.
    pub fn wait_until(&self, bound: Duration, mut condition: impl FnMut(&Server) -> bool) -> bool {
        wait_until(bound, || condition(&self.server) || self.has_ended()) && condition(&self.server)
    }

    /// Ends the host as a crash does: SIGKILL to its process alone, no chance to say goodbye. A hook that runs at that
    /// moment may finish; whatever of its process group is left 300 ms later is ended too.
    ///
    /// # Errors
    /// The process could not be signalled or waited for.
    pub fn kill(mut self) -> Result<Outcome, ProbeError> {
        self.child.kill().map_err(ProbeError::Wait)?;
        let ended = self.wait_for_the_end(Instant::now() + GRACE);
        self.outcome(!ended)
    }

    /// Interrupts the host as Ctrl-C does, but its process alone: SIGINT. What it does then is its own business, so it is
    /// waited for with [`Running::wait`].
    pub fn interrupt(&self) {
        // Not reaped yet, so the number is still this host's; one that has ended takes no harm.
        if let Some(pid) = self.pid {
            let _ = kill_process(pid, Signal::INT);
        }
    }

    /// Waits for the host's end, or ends it when its time is up. Whatever of its process group is left 300 ms later is
    /// ended too.
    ///
    /// # Errors
    /// The process could not be waited for.
    pub fn wait(mut self) -> Result<Outcome, ProbeError> {
        let ended = self.wait_for_the_end(self.deadline);
        if !ended {
            self.end_group();
        }
        self.outcome(!ended)
    }

    fn outcome(&mut self, timed_out: bool) -> Result<Outcome, ProbeError> {
        let elapsed = self.began.elapsed();
        // Hooks that the host did not wait for finish here; nothing of it stays.
        thread::sleep(SETTLE);
        self.signal_group(Signal::KILL);
        let (stdout, stderr) = (self.stdout.text(SETTLE), self.stderr.text(SETTLE));
        let status = self.child.wait().map_err(ProbeError::Wait)?;
        // Reaped: from here on the number may be another's.
        self.pid = None;
        let requests = self.server.requests();
        Ok(Outcome {
            rc: status.code(),
            signal: status.signal(),
            timed_out,
            elapsed,
            stdout,
            stderr,
            requests,
        })
    }

    fn wait_for_the_end(&self, deadline: Instant) -> bool {
        wait_until(deadline.saturating_duration_since(Instant::now()), || {
            self.has_ended()
        })
    }

    fn end_group(&self) {
        self.signal_group(Signal::TERM);
        self.wait_for_the_end(Instant::now() + GRACE);
        // Also for the children of a host that did end.
        self.signal_group(Signal::KILL);
        self.wait_for_the_end(Instant::now() + GRACE);
    }

    fn signal_group(&self, signal: Signal) {
        if let Some(pid) = self.pid {
            // A group that is gone needs no signal.
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.pid.is_some() {
            self.end_group();
            let _ = self.child.wait();
        }
    }
}

/// Waits until the condition holds, looking every 10 ms; false when the bound passed first.
pub fn wait_until(bound: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + bound;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{Driver, OFFLINE, Session};
    use std::path::PathBuf;

    /// `/bin/sh` as a host: its prompt is its program.
    const SHELL: Driver = Driver {
        name: "shell",
        program: "sh",
        seeds: &[],
        launch: |session, url| Launch::default().args(["-c", &session.prompt]).env("URL", url),
    };

    fn session(scratch: &tempfile::TempDir, program: &str) -> Session {
        Session::new(SHELL, &PathBuf::from("/bin/sh"), scratch.path()).prompt(program)
    }

    #[test]
    fn the_environment_is_built_from_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let outcome = session(&scratch, "env; pwd >&2; exit 3")
            .env("MORE", "1")
            .run()
            .unwrap();
        let mut names: Vec<_> = outcome
            .stdout
            .lines()
            .filter_map(|line| line.split('=').next())
            .filter(|name| !matches!(*name, "PWD" | "_" | "SHLVL" | "OLDPWD"))
            .collect();
        names.sort_unstable();
        let offline = OFFLINE.map(|(name, _)| name);
        let mut expected = ["HOME", "LANG", "MORE", "PATH", "TERM", "TMPDIR", "URL"].to_vec();
        expected.extend(offline);
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert_eq!((outcome.rc, outcome.timed_out), (Some(3), false));
        assert!(outcome.stderr.trim_end().ends_with("/project"));
    }

    #[test]
    fn a_host_that_does_not_end_is_ended_with_its_children() {
        let scratch = tempfile::tempdir().unwrap();
        let began = Instant::now();
        let outcome = session(&scratch, "sleep 71 & echo $!; trap '' TERM; wait; sleep 71")
            .timeout(Duration::from_millis(300))
            .run()
            .unwrap();
        assert!(outcome.timed_out && began.elapsed() < Duration::from_secs(10));
        assert_eq!(outcome.signal, Some(9));
        assert!(gone(&outcome.stdout), "{}", outcome.stdout);
    }

    #[test]
    fn nothing_of_a_host_that_ended_by_itself_stays() {
        let scratch = tempfile::tempdir().unwrap();
        let outcome = session(&scratch, "sleep 72 >/dev/null 2>&1 & echo $!")
            .run()
            .unwrap();
        assert!(outcome.rc == Some(0) && gone(&outcome.stdout), "{outcome:?}");
    }

    #[test]
    fn a_killed_host_ends_by_signal_9() {
        let scratch = tempfile::tempdir().unwrap();
        let running = session(&scratch, "sleep 71").spawn().unwrap();
        assert!(!running.has_ended());
        let outcome = running.kill().unwrap();
        assert_eq!(
            (outcome.rc, outcome.signal, outcome.timed_out),
            (None, Some(9), false)
        );
    }

    #[test]
    fn an_interrupted_host_ends_in_its_own_way() {
        let scratch = tempfile::tempdir().unwrap();
        let program = "trap 'echo interrupted; exit 7' INT; echo ready >&2; while :; do sleep 0.05; done";
        let running = session(&scratch, program).spawn().unwrap();
        assert!(wait_until(Duration::from_secs(30), || running
            .stderr
            .text(Duration::ZERO)
            .contains("ready")));
        running.interrupt();
        let outcome = running.wait().unwrap();
        assert_eq!((outcome.rc, outcome.timed_out), (Some(7), false));
        assert_eq!(outcome.stdout, "interrupted\n");
    }

    #[test]
    fn a_child_that_holds_the_output_open_is_not_waited_for() {
        let scratch = tempfile::tempdir().unwrap();
        let began = Instant::now();
        let outcome = session(&scratch, "sleep 30 & echo said").run().unwrap();
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!(outcome.stdout, "said\n");
    }

    /// Whether the process whose number was printed is gone or a zombie.
    fn gone(printed: &str) -> bool {
        let stat = PathBuf::from("/proc").join(printed.trim()).join("stat");
        wait_until(Duration::from_secs(2), || {
            std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "))
        })
    }
}
