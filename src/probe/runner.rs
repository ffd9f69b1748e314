//! One headless session of a real host: scratch folders, an environment built from nothing, the stub model behind it.
//!
//! [`Session`] says what to run; [`Session::run`] runs it to its end, [`Session::spawn`] hands it over while it runs (so
//! that a test can kill it). A host is data: a [`Driver`] with its names and the function that makes its arguments and
//! environment. The host gets no variable of ours but those named here, and talks to 127.0.0.1 only.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::driver::{Driver, Launch};
use super::error::ProbeError;
use super::offline::OFFLINE;
use super::outcome::Outcome;
use super::running::Running;
use super::script::Script;
use super::server::Server;

const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// One session to run. Made for a scratch folder, then given what differs from the defaults.
#[derive(Debug, Clone)]
#[must_use]
pub struct Session {
    pub(super) driver: Driver,
    pub(super) program: PathBuf,
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    pub(super) tmp: PathBuf,
    pub(super) prompt: String,
    pub(super) resume: bool,
    pub(super) args: Vec<OsString>,
    pub(super) path: OsString,
    command: Option<Vec<OsString>>,
    env: Vec<(OsString, OsString)>,
    script: String,
    subagent: Option<String>,
    timeout: Duration,
}

impl Session {
    /// A session of `program` whose HOME, project and TMPDIR are the folders `home`, `project` and `tmp` in `scratch`; they
    /// are made when it starts. A second session in the same scratch folder finds what the first one left.
    pub fn new(driver: Driver, program: &Path, scratch: &Path) -> Self {
        // The host runs in the project folder, so a relative path would mean another file there.
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let scratch = absolute(scratch);
        Self {
            driver,
            program: absolute(program),
            home: scratch.join("home"),
            project: scratch.join("project"),
            tmp: scratch.join("tmp"),
            prompt: "Add a price column to the orders page".to_owned(),
            resume: false,
            args: Vec::new(),
            path: SYSTEM_PATH.into(),
            command: None,
            env: Vec::new(),
            script: "bash write agent wait text:all_done".to_owned(),
            subagent: None,
            timeout: Duration::from_secs(60),
        }
    }

    /// The user's prompt.
    pub fn prompt(mut self, prompt: &str) -> Self {
        prompt.clone_into(&mut self.prompt);
        self
    }

    /// The model's turns, in the language of [`Script`].
    pub fn script(mut self, steps: &str) -> Self {
        steps.clone_into(&mut self.script);
        self
    }

    /// What a subagent does.
    pub fn subagent(mut self, steps: &str) -> Self {
        self.subagent = Some(steps.to_owned());
        self
    }

    /// The project folder, when it is not the one in the scratch folder.
    pub fn project(mut self, project: &Path) -> Self {
        self.project = std::path::absolute(project).unwrap_or_else(|_| project.to_owned());
        self
    }

    /// Continues the last session of this HOME and project.
    pub fn resume(mut self) -> Self {
        self.resume = true;
        self
    }

    /// One more variable for the host, and so for its hooks.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// One more argument for the host.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// No conversation: the host runs with these arguments alone, in the environment of one.
    pub fn command<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command = Some(args.into_iter().map(|arg| arg.as_ref().to_owned()).collect());
        self
    }

    /// The PATH that the host and its tools get (the system's folders): a host that is a script needs its interpreter.
    pub fn path(mut self, path: impl AsRef<OsStr>) -> Self {
        path.as_ref().clone_into(&mut self.path);
        self
    }

    /// After this time the host's process group is ended (60 s).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// HOME of the session.
    #[must_use]
    pub fn home_folder(&self) -> &Path {
        &self.home
    }

    /// The project folder.
    #[must_use]
    pub fn project_folder(&self) -> &Path {
        &self.project
    }

    /// Runs the session to its end.
    ///
    /// # Errors
    /// The session could not be started, or not waited for.
    pub fn run(&self) -> Result<Outcome, ProbeError> {
        self.spawn()?.wait()
    }

    /// Starts the session. What it returns ends the host when dropped.
    ///
    /// # Errors
    /// The script does not parse, a folder cannot be made, the port or the program cannot be opened.
    pub fn spawn(&self) -> Result<Running, ProbeError> {
        self.prepare()?;
        let mut script = Script::new(&self.script, &self.project)?;
        if let Some(steps) = &self.subagent {
            script = script.subagent(steps)?;
        }
        let server = Server::start(script).map_err(ProbeError::Listen)?;
        let launch = self.launch(&server.base_url());
        Running::start(&self.program, &self.project, launch, server, self.timeout)
    }

    fn launch(&self, base_url: &str) -> Launch {
        let launch = (self.driver.launch)(self, base_url);
        Launch {
            args: self.command.clone().unwrap_or(launch.args),
            env: [self.base_env(), launch.env, self.env.clone()].concat(),
        }
    }

    /// Makes the session's folders and the files that the host needs in its HOME, so that something can be installed
    /// there before the first run; a run does it by itself. What is there already stays as it is.
    ///
    /// # Errors
    /// A folder or file could not be made.
    pub fn prepare(&self) -> Result<(), ProbeError> {
        for folder in [&self.home, &self.project, &self.tmp] {
            make_folder(folder)?;
        }
        for (path, content) in self.driver.seeds {
            let file = self.home.join(path);
            file.parent().map_or(Ok(()), make_folder)?;
            match File::options().write(true).create_new(true).open(&file) {
                Ok(mut new) => new.write_all(content.as_bytes()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                Err(error) => Err(error),
            }
            .map_err(|error| ProbeError::Make { path: file, error })?;
        }
        Ok(())
    }

    fn base_env(&self) -> Vec<(OsString, OsString)> {
        let base = Launch::default()
            .env("PATH", &self.path)
            .env("HOME", &self.home)
            .env("TMPDIR", &self.tmp);
        let base = base.env("TERM", "dumb").env("LANG", "C.UTF-8");
        OFFLINE
            .iter()
            .fold(base, |base, (name, value)| base.env(name, value))
            .env
    }
}

fn make_folder(folder: &Path) -> Result<(), ProbeError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| ProbeError::Make {
        path: folder.to_owned(),
        error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_seed_is_written_once_and_what_is_there_stays() {
        const SEEDED: Driver = Driver {
            name: "x",
            program: "x",
            seeds: &[("a/b", "seed")],
            launch: |_, _| Launch::default(),
        };
        let scratch = tempfile::tempdir().unwrap();
        let session = Session::new(SEEDED, Path::new("/bin/true"), scratch.path());
        session.prepare().unwrap();
        let file = session.home_folder().join("a/b");
        assert_eq!(fs::read_to_string(&file).unwrap(), "seed");
        fs::OpenOptions::new()
            .append(true)
            .open(&file)
            .unwrap()
            .write_all(b" and more")
            .unwrap();
        session.prepare().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "seed and more");
    }

    #[test]
    fn a_script_with_an_unknown_step_starts_nothing() {
        const NONE: Driver = Driver {
            name: "x",
            program: "x",
            seeds: &[],
            launch: |_, _| Launch::default(),
        };
        let scratch = tempfile::tempdir().unwrap();
        let error = Session::new(NONE, Path::new("/bin/true"), scratch.path())
            .script("bsah")
            .run()
            .unwrap_err();
        assert_eq!(error.to_string(), "`bsah` is no step of a probe script");
    }
}
