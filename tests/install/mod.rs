//! `bookend install` and `uninstall`: what they promise about files that are not ours. The settings route needs
//! no host; the plugin route runs against played hosts, and against the real ones where they are.

mod bytes;
mod foreign;
mod killed;
mod machine;
mod played;
mod purge;
mod real;
mod refused;

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::Answer;

/// A scratch machine: a home in which Claude Code and Codex have their directories and no program.
struct Home {
    dir: tempfile::TempDir,
    name: String,
    env: Vec<(String, String)>,
}

/// What stands at each path below a directory: mode and content (a link's target).
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl Home {
    fn new() -> Self {
        Self::named("home of é")
    }

    fn named(name: &str) -> Self {
        let home = Self {
            dir: tempfile::tempdir().unwrap(),
            name: name.to_owned(),
            env: Vec::new(),
        };
        for dir in [home.claude(""), home.codex(""), home.root("links")] {
            std::fs::create_dir_all(dir).unwrap();
        }
        home
    }

    fn root(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root(&self.name).join(name)
    }

    fn claude(&self, name: &str) -> PathBuf {
        self.path(".claude").join(name)
    }

    fn codex(&self, name: &str) -> PathBuf {
        self.path(".codex").join(name)
    }

    fn data(&self, name: &str) -> PathBuf {
        self.path(".local/share/bookend").join(name)
    }

    fn env(mut self, name: &str, value: &Path) -> Self {
        self.env.push((name.into(), value.to_str().unwrap().into()));
        self
    }

    /// Claude Code's settings.
    fn with(self, settings: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.claude("settings.json"), settings).unwrap();
        self
    }

    fn settings(&self) -> Vec<u8> {
        std::fs::read(self.claude("settings.json")).unwrap()
    }

    fn value(&self) -> Value {
        serde_json::from_slice(&self.settings()).unwrap()
    }

    /// A program with this machine's environment.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:/usr/bin:/bin", self.root("links").display());
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.path(""))
            .env("MAESTRO_HOOKS_DIR", self.root("hooks"))
            .envs(self.env.iter().cloned())
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
    }

    fn bookend(&self, arguments: &[&str]) -> Answer {
        let mut command = self.command(env!("CARGO_BIN_EXE_bookend"));
        Answer::of(command.args(arguments).output().unwrap())
    }

    #[track_caller]
    fn done(&self, arguments: &[&str]) -> String {
        let answer = self.bookend(arguments);
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
        answer.stdout
    }

    #[track_caller]
    fn fails(&self, arguments: &[&str]) -> String {
        let answer = self.bookend(arguments);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        answer.stderr
    }

    /// The files of the hosts.
    fn hosts(&self) -> Tree {
        let mut all = tree(&self.claude(""));
        all.extend(tree(&self.codex("")));
        all
    }

    /// Which command lines Claude Code's settings hold.
    fn commands(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect(&self.value()["hooks"], &mut found);
        found
    }
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("command").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|v| collect(v, found));
        }
        Value::Array(items) => items.iter().for_each(|v| collect(v, found)),
        _ => {}
    }
}

fn tree(dir: &Path) -> Tree {
    let entries = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    entries
        .map(|entry| {
            let (path, meta) = (entry.path(), entry.path().symlink_metadata().unwrap());
            let content = if meta.is_symlink() {
                std::fs::read_link(path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else if meta.is_file() {
                std::fs::read(path).unwrap()
            } else {
                Vec::new()
            };
            (path.to_owned(), (meta.mode(), content))
        })
        .collect()
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A hook of that command line, as it stands with an event.
fn hook(command: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": command}]})
}
