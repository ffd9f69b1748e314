//! Planted faults of an installation: `doctor` names each with its code and exit 1, changes nothing by looking, and
//! what its remedy says (the command, or the edit) really mends it.

mod fired;
mod plugin;
mod programs;
mod settings;
mod switches;
mod trust;

use std::env;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use bookend::hook::Hook;
use bookend::host::Host;
use bookend::probe::driver;
use serde_json::{Value, json};

use crate::harness::{Answer, Lab, executable};

/// A machine with one host on it, by its settings or with its real program, and the executables in place.
struct Machine {
    lab: Lab,
    host: Host,
}

impl Machine {
    /// With the host's settings directory alone: the hooks go into the user's settings.
    fn with_settings(host: Host) -> Self {
        let machine = Self {
            lab: Lab::new(),
            host,
        };
        std::fs::create_dir_all(machine.bin()).unwrap();
        chmod(&machine.lab.data_dir(), 0o700);
        std::fs::create_dir(machine.lab.path("links")).unwrap();
        std::fs::create_dir(machine.config()).unwrap();
        // Not copied: the command takes a link to the executable beside it for the same.
        for hook in Hook::ALL {
            symlink(executable(hook), machine.executable(hook)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_bookend"), machine.bin().join("bookend")).unwrap();
        machine
    }

    /// The same, the hooks installed.
    fn installed(host: Host) -> Self {
        let machine = Self::with_settings(host);
        machine.install(&[]);
        machine.is_content();
        machine
    }

    /// With the host's real program; none (and a word on stdout) where it is not installed.
    fn real(host: Host) -> Option<Self> {
        let variable = match host {
            Host::Codex => "BOOKEND_TEST_CODEX",
            _ => "BOOKEND_TEST_CLAUDE",
        };
        let named = env::var_os(variable);
        let found = driver(host)
            .unwrap()
            .find(named.as_deref(), env::var_os("PATH").as_deref());
        match found {
            Ok(program) => {
                let machine = Self::with_settings(host);
                symlink(program, machine.program()).unwrap();
                Some(machine)
            }
            Err(missing) => {
                say(&format!("skipped: {missing} (name it in {variable})"));
                None
            }
        }
    }

    /// The same, the plugin installed and trusted.
    fn with_plugin(host: Host) -> Option<Self> {
        let machine = Self::real(host)?;
        let installed = machine.install(if host == Host::Codex { &["--trust"] } else { &[] });
        assert_eq!(installed["hosts"][0]["means"], "plugin", "{installed:#}");
        machine.is_content();
        Some(machine)
    }

    fn program(&self) -> PathBuf {
        let name = if self.host == Host::Codex {
            "codex"
        } else {
            "claude"
        };
        self.lab.path("links").join(name)
    }

    fn bin(&self) -> PathBuf {
        self.lab.data_dir().join("bin")
    }

    fn executable(&self, hook: Hook) -> PathBuf {
        self.bin().join(hook.name())
    }

    /// The host's settings directory.
    fn config(&self) -> PathBuf {
        let name = if self.host == Host::Codex {
            ".codex"
        } else {
            ".claude"
        };
        self.lab.path("home").join(name)
    }

    /// The user's file that holds hooks.
    fn hooks(&self) -> PathBuf {
        self.config().join(match self.host {
            Host::Codex => "hooks.json",
            _ => "settings.json",
        })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.lab.command(program);
        let links = self.lab.path("links");
        command.env("PATH", format!("{}:/usr/bin:/bin", links.display()));
        command
    }

    fn bookend(&self, arguments: &[&str]) -> Answer {
        let mut command = self.command(env!("CARGO_BIN_EXE_bookend"));
        Answer::of(command.args(arguments).output().unwrap())
    }

    fn install(&self, arguments: &[&str]) -> Value {
        let answer = self.bookend(&[&["install", self.host.id(), "--json"], arguments].concat());
        assert_eq!(answer.code, Some(0), "{answer:?}");
        answer.json()
    }

    /// What doctor finds; exit 1 if and only if something needs doing.
    #[track_caller]
    fn doctor(&self) -> Value {
        let answer = self.bookend(&["doctor", "--json"]);
        let report = answer.json();
        let problems = codes(&report, "problem").len();
        assert_eq!(
            (answer.code, answer.stderr.as_str()),
            (Some(i32::from(problems > 0)), ""),
            "{answer:?}"
        );
        report
    }

    /// Nothing needs doing, and the hooks are registered.
    #[track_caller]
    fn is_content(&self) {
        let report = self.doctor();
        assert_eq!(codes(&report, "problem"), [""; 0], "{:#}", report["findings"]);
        assert_ne!(self.of(&report)["means"], Value::Null, "{report:#}");
    }

    /// What the report says of the host.
    #[track_caller]
    fn of(&self, report: &Value) -> Value {
        let hosts = report["hosts"].as_array().unwrap();
        let mut ours = hosts.iter().filter(|h| h["host"] == json!(self.host));
        ours.next().cloned().unwrap_or_else(|| panic!("{report:#}"))
    }

    /// The one problem is of that code, and looking at it changed nothing.
    #[track_caller]
    fn problem(&self, code: &str) -> Value {
        let before = self.picture();
        let report = self.doctor();
        assert_eq!(codes(&report, "problem"), [code], "{:#}", report["findings"]);
        assert_eq!(before, self.picture(), "a look changes nothing");
        let all = report["findings"].as_array().unwrap();
        all.iter().find(|f| f["code"] == code).unwrap().clone()
    }

    /// Everything in HOME, the data directory and the project.
    fn picture(&self) -> Vec<std::collections::BTreeMap<PathBuf, String>> {
        let all = ["home", "data", "project", "hooks"];
        all.iter().map(|name| picture(&self.lab.path(name))).collect()
    }

    /// Runs the command that a remedy names first.
    #[track_caller]
    fn follow(&self, finding: &Value) {
        let remedy = text(finding, "remedy");
        let line = remedy.split('`').nth(1).unwrap_or_else(|| panic!("{remedy}"));
        let mut words = line.split(' ');
        let program = match words.next().unwrap() {
            "bookend" => env!("CARGO_BIN_EXE_bookend").to_owned(),
            other => self.lab.path("links").join(other).display().to_string(),
        };
        let answer = Answer::of(self.command(&program).args(words).output().unwrap());
        assert_eq!(answer.code, Some(0), "{line}: {answer:?}");
    }

    /// `doctor --fix` mends it, and shows a diff of it first.
    #[track_caller]
    fn fixes(&self) -> String {
        let answer = self.bookend(&["doctor", "--fix"]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert!(answer.stdout.starts_with("Will be changed\n"), "{answer:?}");
        self.is_content();
        answer.stdout
    }

    /// Changes a JSON file.
    fn edit(&self, file: &Path, change: impl FnOnce(&mut Value)) {
        let mut value = std::fs::read(file).map_or(json!({}), |b| serde_json::from_slice(&b).unwrap());
        change(&mut value);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("{value:#}\n")).unwrap();
    }

    /// Both findings and remedy are of a fault that only an edit mends: the remedy names the file and what to take out.
    #[track_caller]
    fn names(&self, finding: &Value, file: &Path, setting: &str) {
        let remedy = text(finding, "remedy");
        assert_eq!(finding["fixable"], false, "{finding:#}");
        assert!(
            remedy.contains(&file.display().to_string()) && remedy.contains(setting),
            "{finding:#}"
        );
    }
}

/// The codes of all findings of a level.
fn codes(report: &Value, level: &str) -> Vec<String> {
    let all = report["findings"].as_array().unwrap();
    let of_level = all.iter().filter(|f| f["level"] == level);
    of_level.map(|f| f["code"].as_str().unwrap().to_owned()).collect()
}

fn text<'v>(finding: &'v Value, member: &str) -> &'v str {
    finding[member].as_str().unwrap()
}

/// Names, modes, times and contents; what a look reads is not counted.
fn picture(dir: &Path) -> std::collections::BTreeMap<PathBuf, String> {
    let entries = walkdir::WalkDir::new(dir).into_iter().filter_map(Result::ok);
    entries
        .map(|entry| {
            let meta = entry.metadata().unwrap();
            let content = if meta.is_file() {
                std::fs::read(entry.path()).unwrap_or_default()
            } else {
                Vec::new()
            };
            let mode = meta.permissions().mode();
            let text = format!("{mode:o} {:?} {content:?}", meta.modified().unwrap());
            (entry.path().to_owned(), text)
        })
        .collect()
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A script, written by another process: a descriptor that a fork of another test took along would make it busy.
fn script(path: &Path, lines: &str) {
    let done = Command::new("sh")
        .args([
            "-c",
            "rm -f \"$0\"; printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\"; chmod 755 \"$0\"",
        ])
        .arg(path)
        .arg(lines)
        .status();
    assert!(done.unwrap().success());
}

#[expect(clippy::print_stdout, reason = "a test says why it is skipped")]
fn say(word: &str) {
    println!("{word}");
}
