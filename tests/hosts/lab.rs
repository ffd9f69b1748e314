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
use std::path::{Path, PathBuf};
use std::process::Command;

use bookend::host::Host;
use bookend::hosts::registration;
use bookend::probe::{Driver, Outcome, Session};
use serde_json::{Value, json};

/// Holds no bookend; what the tests call is named by its full path.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const PLUGIN: &str = "a plugin";
const HOOKS: [&str; 5] = [
    "session-start",
    "turn-start",
    "pre-delegation",
    "post-tool",
    "stop",
];

/// One scratch machine.
pub(super) struct Lab {
    driver: Driver,
    program: PathBuf,
    scratch: tempfile::TempDir,
}

impl Lab {
    /// A machine with this host and Bookend's hooks; `None` (and a word on stdout) where the host is not installed.
    /// `variable` may name the host's program.
    pub(super) fn with(driver: Driver, variable: &str) -> Option<Self> {
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
        let lab = Self {
            driver,
            program,
            scratch,
        };
        match driver.name {
            "codex" => lab.register_with_codex(),
            _ => lab.assemble_plugin(),
        }
        Some(lab)
    }

    /// A session of the host with the hooks registered.
    pub(super) fn session(&self) -> Session {
        let session = Session::new(self.driver, &self.program, self.scratch.path());
        let session = session.plugin_dir(&self.folder(PLUGIN));
        self.stores()
            .into_iter()
            .fold(session, |session, (name, folder)| session.env(name, folder))
    }

    /// What a `bookend` command prints as JSON, in the project and with the stores of the sessions.
    pub(super) fn bookend(&self, arguments: &[&str]) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_bookend"))
            .args(arguments)
            .env_clear()
            .env("PATH", SYSTEM_PATH)
            .env("HOME", self.folder("home"))
            .env("TMPDIR", self.folder("tmp"))
            .envs(self.stores())
            .current_dir(self.folder("project"))
            .output()
            .expect("start bookend");
        let (said, complained) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(
            output.status.success(),
            "bookend {arguments:?}: {}\n{said}\n{complained}\n{}",
            output.status,
            self.kept()
        );
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("bookend {arguments:?}: {error}\n{said}"))
    }

    /// The project folder.
    pub(super) fn project(&self) -> PathBuf {
        self.folder("project")
    }

    /// Everything in the stores, for the message of a test that failed.
    pub(super) fn kept(&self) -> String {
        let mut text = String::new();
        for (_, folder) in self.stores() {
            describe(&folder, &mut text);
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

    /// Codex: a folder that is marketplace and plugin at once, added with Codex's own commands; the executables stay where
    /// they were built.
    fn register_with_codex(&self) {
        let plugin = self.folder(PLUGIN);
        Self::write_manifest(&plugin);
        let listed = json!({"name": "bookend", "source": "./", "description": "under test"});
        let market =
            json!({"name": "bookend", "owner": {"name": "The Bookend authors"}, "plugins": [listed]});
        fs::write(plugin.join(".claude-plugin/marketplace.json"), market.to_string()).unwrap();
        let built = Path::new(env!("CARGO_BIN_EXE_stop")).parent().unwrap();
        let hooks = registration::hooks_json(Host::Codex, |hook| {
            let executable = built.join(format!("{}{}", hook.name(), env::consts::EXE_SUFFIX));
            registration::command_line(executable.to_str().unwrap(), Host::Codex)
        });
        fs::write(plugin.join("hooks/hooks.json"), hooks.to_string()).unwrap();

        let session = self.session();
        session.prepare().unwrap();
        let folder = plugin.to_str().unwrap();
        for arguments in [
            ["plugin", "marketplace", "add", folder].as_slice(),
            &["plugin", "add", "bookend@bookend"],
        ] {
            let output = session.host_command(arguments).output().expect("start Codex");
            assert!(output.status.success(), "codex {arguments:?}: {output:?}");
        }
    }

    fn write_manifest(plugin: &Path) {
        for folder in [".claude-plugin", "hooks"] {
            fs::create_dir_all(plugin.join(folder)).unwrap();
        }
        let manifest =
            json!({"name": "bookend", "version": env!("CARGO_PKG_VERSION"), "description": "under test"});
        fs::write(plugin.join(".claude-plugin/plugin.json"), manifest.to_string()).unwrap();
    }

    /// Claude Code: the plugin as `install.sh` assembles it.
    fn assemble_plugin(&self) {
        let plugin = self.folder(PLUGIN);
        Self::write_manifest(&plugin);
        fs::create_dir_all(plugin.join("bin")).unwrap();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::copy(
            repository.join("hooks/hooks.json"),
            plugin.join("hooks/hooks.json"),
        )
        .unwrap();
        let built = Path::new(env!("CARGO_BIN_EXE_post-tool")).parent().unwrap();
        for hook in HOOKS {
            let name = format!("{hook}{}", env::consts::EXE_SUFFIX);
            fs::copy(built.join(&name), plugin.join("bin").join(&name)).unwrap();
        }
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
