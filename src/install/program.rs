//! A host's own program, asked for something: bounded in time, its network shut as far as that can be done
//! from outside, and told to be quiet. It runs in the user's own environment, since it is to find the same
//! configuration as when the user starts it; in a scratch HOME it gets nothing of it.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::error::InstallError;
use super::place::{FoundHost, Lends, Place};
use crate::host::Host;
use crate::probe::{Capture, OFFLINE, wait_until};

/// How long a program may take that is no host's.
const PATIENCE: Duration = Duration::from_secs(60);
/// A host that needs longer for a look is stuck.
pub(super) const LOOK: Duration = Duration::from_secs(10);
/// Of what it calls its version.
const MAX_VERSION: usize = 40;
/// Its output is there by then.
const SETTLE: Duration = Duration::from_millis(500);

/// Claude Code's own switches, and that nobody wants colour.
const QUIET: [(&str, &str); 5] = [
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("NO_COLOR", "1"),
];

/// A program with the environment that it is asked in.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    env: Vec<(String, OsString)>,
    bare: bool,
    patience: Duration,
}

/// What it said.
#[derive(Debug)]
pub struct Said {
    /// It exited with 0.
    pub ok: bool,
    /// On stdout.
    pub out: String,
    /// On stderr.
    pub err: String,
}

impl Program {
    /// The program at that path, in our own environment.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            env: Vec::new(),
            bare: false,
            patience: PATIENCE,
        }
    }

    /// The program of a host that is on PATH, for the configuration that was found.
    #[must_use]
    pub fn of(found: &FoundHost, place: &Place) -> Option<Self> {
        let mut program = Self::new(found.program.as_deref()?);
        program.bare = place.lends == Lends::PathAndHome;
        program.patience = place.patience;
        if let Some(path) = &place.path {
            program = program.with("PATH", path);
        }
        if let Some(home) = &place.home {
            program = program.with("HOME", home);
        }
        Some(match found.host {
            Host::ClaudeCode if place.claude.is_some() => program.with("CLAUDE_CONFIG_DIR", &found.config),
            Host::Codex => program.with("CODEX_HOME", &found.config),
            _ => program,
        })
    }

    /// With a variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// With another time that it may take.
    #[must_use]
    pub fn within(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// How people would type it.
    #[must_use]
    pub fn line(&self, arguments: &[&str]) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        let word = |text: &str| {
            if text.contains(|c: char| c.is_whitespace() || "'\"$`\\!*?&|;<>()[]{}~#".contains(c)) {
                format!("'{}'", text.replace('\'', r"'\''"))
            } else {
                text.to_owned()
            }
        };
        let words = arguments.iter().map(|a| word(a));
        std::iter::once(name.to_string_lossy().into_owned())
            .chain(words)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Starts it, with what we say to it and what it says back piped.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&self, arguments: &[&str], folder: &Path) -> Result<Child, InstallError> {
        let mut command = Command::new(&self.path);
        if self.bare {
            command.env_clear();
        }
        command.args(arguments).envs(OFFLINE).envs(QUIET);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        // A host in a terminal of its own could ask something there.
        command.env("TERM", "dumb").current_dir(folder).process_group(0);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .stdin(Stdio::piped());
        command
            .spawn()
            .map_err(|e| self.failed(arguments, &e.to_string()))
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// It cannot be started, or does not end in time.
    pub fn ask(&self, arguments: &[&str]) -> Result<Said, InstallError> {
        let mut child = self.start(arguments, Path::new("/"))?;
        drop(child.stdin.take());
        let (out, err) = (Capture::of(child.stdout.take()), Capture::of(child.stderr.take()));
        let mut status = None;
        wait_until(self.patience, || {
            status = child.try_wait().ok().flatten();
            status.is_some()
        });
        let Some(status) = status else {
            end(&mut child);
            let seconds = self.patience.as_secs();
            return Err(self.failed(
                arguments,
                &format!("it did not end within {seconds} s, and was ended"),
            ));
        };
        Ok(Said {
            ok: status.success(),
            out: out.text(SETTLE),
            err: err.text(SETTLE),
        })
    }

    /// Runs it, and takes a failure as an error.
    ///
    /// # Errors
    /// As [`Program::ask`]; it failed.
    pub fn demand(&self, arguments: &[&str]) -> Result<Said, InstallError> {
        let said = self.ask(arguments)?;
        if said.ok {
            return Ok(said);
        }
        let lines = said.err.lines().chain(said.out.lines()).map(str::trim);
        let why = lines
            .filter(|l| !l.is_empty() && !l.starts_with("WARNING"))
            .take(4);
        let why = why.collect::<Vec<_>>().join(" ");
        Err(self.failed(
            arguments,
            if why.is_empty() {
                "it failed and did not say why"
            } else {
                &why
            },
        ))
    }

    /// Its version, out of `--version`.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        // Codex makes a directory in its home even for that, unless it has no home.
        let mut nowhere = self.clone().with("CODEX_HOME", "/dev/null/none");
        nowhere.patience = LOOK;
        let said = nowhere.ask(&["--version"]).ok().filter(|said| said.ok)?;
        let mut words = said.out.split_whitespace();
        let version = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        // Whatever stands on PATH under that name: what is shown is short and plain.
        let plain = |c: &char| c.is_ascii_alphanumeric() || ".-+_".contains(*c);
        Some(version.chars().take_while(plain).take(MAX_VERSION).collect())
    }

    fn failed(&self, arguments: &[&str], said: &str) -> InstallError {
        InstallError::Command {
            command: self.line(arguments),
            said: said.to_owned(),
        }
    }
}

/// Ends a program that we started, with its children, and waits for it.
pub(super) fn end(child: &mut Child) {
    // Not yet waited for, so the number is still its own.
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::TERM);
        let deadline = Instant::now() + Duration::from_secs(2);
        wait_until(deadline.saturating_duration_since(Instant::now()), || {
            !matches!(child.try_wait(), Ok(None))
        });
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_pasted() {
        let program = Program::new(Path::new("/x/claude"));
        assert_eq!(
            program.line(&["plugin", "add", "/a b/it's", "x@y"]),
            r"claude plugin add '/a b/it'\''s' x@y"
        );
    }

    #[test]
    fn what_a_program_says_is_told_when_it_fails() {
        let shell = Program::new(Path::new("/bin/sh")).with("X", "/y");
        assert_eq!(
            shell.demand(&["-c", "echo $X $GIT_ALLOW_PROTOCOL"]).unwrap().out,
            "/y file\n"
        );
        let error = shell.demand(&["-c", "echo no way >&2; exit 3"]).unwrap_err();
        assert_eq!(error.to_string(), "run `sh -c 'echo no way >&2; exit 3'`: no way");
        let hangs = shell.clone().within(Duration::from_millis(200));
        let started = Instant::now();
        let error = hangs.ask(&["-c", "sleep 60 & sleep 60"]).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("it did not end within 0 s, and was ended"),
            "{error}"
        );
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "its children are ended too"
        );
        let missing = Program::new(Path::new("/no/such")).ask(&[]).unwrap_err();
        assert!(missing.to_string().starts_with("run `such`: "), "{missing}");
    }
}
