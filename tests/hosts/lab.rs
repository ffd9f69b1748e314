//! A scratch machine for one test: HOME, project, data and hook root of its own, and Bookend's hooks registered with the
//! host. Its folders have a space in their names, on purpose.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test reads its environment, makes its own folders, says why it is skipped, and stops at the first surprise"
)]

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bookend::probe::{Driver, Outcome, Session};
use serde_json::Value;

/// Holds no bookend; what the tests call is named by its full path.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// One scratch machine.
pub(super) struct Lab {
    driver: Driver,
    program: PathBuf,
    scratch: tempfile::TempDir,
}

impl Lab {
    /// A machine with this host, into which Bookend was installed; `None` (and a word on stdout) where the host is not installed.
    /// `variable` may name the host's program.
    pub(super) fn with(driver: Driver, variable: &str) -> Option<Self> {
        let lab = Self::without_hooks(driver, variable)?;
        let installed = lab.install(if driver.name == "codex" { &["--trust"] } else { &[] });
        assert_eq!(installed["hosts"][0]["means"], "plugin", "{installed:#}");
        Some(lab)
    }

    /// The same machine before Bookend was installed.
    pub(super) fn without_hooks(driver: Driver, variable: &str) -> Option<Self> {
        let program = match driver.find(env::var_os(variable).as_deref(), env::var_os("PATH").as_deref()) {
            Ok(program) => program,
            Err(missing) => {
                println!("skipped: {missing} (name it in {variable})");
                return None;
            }
        };
        let scratch = tempfile::Builder::new()
            .prefix("bookend hosts ")
            .tempdir()
            .unwrap();
        Some(Self {
            driver,
            program,
            scratch,
        })
    }

    /// A session of the host with the hooks registered.
    pub(super) fn session(&self) -> Session {
        let session = Session::new(self.driver, &self.program, self.scratch.path());
        self.stores()
            .into_iter()
            .fold(session, |session, (name, folder)| session.env(name, folder))
    }

    /// What a `bookend` command prints as JSON, in the project and with the stores of the sessions.
    pub(super) fn bookend(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "bookend {arguments:?}: {output:?}\n{}",
            self.kept()
        );
        self.json(arguments, &output)
    }

    /// What `bookend doctor` finds, whether something needs doing or not.
    pub(super) fn doctor(&self) -> Value {
        let arguments = ["doctor", "--json"];
        self.json(&arguments, &self.run(&arguments))
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
        command
            .args(arguments)
            .env_clear()
            .env(
                "PATH",
                format!("{}:{SYSTEM_PATH}", self.folder("links").display()),
            )
            .env("HOME", self.folder("home"))
            .env("TMPDIR", self.folder("tmp"))
            .envs(self.stores())
            .current_dir(self.folder("project"));
        command.output().expect("start bookend")
    }

    fn json(&self, arguments: &[&str], output: &Output) -> Value {
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("bookend {arguments:?}: {error}\n{output:?}"))
    }

    /// The project folder.
    pub(super) fn project(&self) -> PathBuf {
        self.folder("project")
    }

    /// Everything in the stores, for the message of a test that failed.
    pub(super) fn kept(&self) -> String {
        let mut text = String::new();
        for folder in [
            "data dir/log",
            "data dir/open",
            "data dir/errors.jsonl",
            "hook root",
        ] {
            describe(&self.folder(folder), &mut text);
        }
        text
    }

    fn stores(&self) -> [(&'static str, PathBuf); 2] {
        [
            ("BOOKEND_DATA_DIR", self.folder("data dir")),
            ("MAESTRO_HOOKS_DIR", self.folder("hook root")),
        ]
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Installs as a user does: the host's program on PATH, an empty HOME.
    pub(super) fn install(&self, arguments: &[&str]) -> Value {
        let (home, links) = (self.folder("home"), self.folder("links"));
        for folder in [&home, &links, &self.folder("project"), &self.folder("tmp")] {
            fs::create_dir_all(folder).unwrap();
        }
        let link = links.join(self.driver.program);
        if !link.exists() {
            symlink(&self.program, link).unwrap();
        }
        let arguments = [&["install", self.driver.name, "--json"], arguments].concat();
        self.bookend(&arguments)
    }
}

/// A list of a document; empty where it has none.
pub(super) fn list<'v>(value: &'v Value, member: &str) -> &'v [Value] {
    value[member].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The turn of a log that has one.
pub(super) fn only_turn(log: &Value) -> &Value {
    let turns = list(log, "turns");
    assert_eq!(turns.len(), 1, "{log:#}");
    &turns[0]
}

/// What a session did, in a few lines, for the message of a test that failed.
pub(super) fn told(outcome: &Outcome) -> String {
    let steps: Vec<_> = outcome
        .requests
        .iter()
        .map(|request| format!("{:?}:{}", request.kind, request.step))
        .collect();
    let Outcome {
        rc,
        signal,
        timed_out,
        elapsed,
        stdout,
        stderr,
        ..
    } = outcome;
    format!(
        "rc {rc:?}, signal {signal:?}, timed out {timed_out}, {elapsed:.2?}\n{steps:?}\n{stdout}\n{stderr}"
    )
}

fn describe(path: &Path, text: &mut String) {
    if let Ok(entries) = fs::read_dir(path) {
        entries.flatten().for_each(|entry| describe(&entry.path(), text));
    } else if path.is_file() {
        let content = fs::read(path).unwrap_or_default();
        text.push_str(&format!(
            "--- {}\n{}\n",
            path.display(),
            String::from_utf8_lossy(&content)
        ));
    }
}
