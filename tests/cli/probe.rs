//! `probe` with programs that only have a host's name: what is said of them, and that nothing is left.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bookend::probe::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::snapshot;
use crate::harness::{Answer, Lab};

pub(super) const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");

/// A machine on whose PATH there is nothing but what the test puts there.
pub(super) struct Machine {
    pub(super) lab: Lab,
}

impl Machine {
    pub(super) fn new() -> Self {
        let lab = Lab::new();
        for folder in ["bin", "tmp"] {
            std::fs::create_dir(lab.path(folder)).unwrap();
        }
        Self { lab }
    }

    /// A shell script with the name of a host's program.
    pub(super) fn script(&self, name: &str, lines: &str) {
        let file = self.lab.path("bin").join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{lines}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(super) fn command(&self, bookend: &str, arguments: &[&str]) -> Command {
        let mut command = self.lab.command(bookend);
        command.arg("probe").args(arguments);
        command
            .env("PATH", self.path())
            .env("TMPDIR", self.lab.path("tmp"));
        command
    }

    pub(super) fn path(&self) -> String {
        self.lab.path("bin").to_string_lossy().into_owned()
    }

    fn probe(&self, arguments: &[&str]) -> Answer {
        let command = self.command(BOOKEND, arguments);
        answer(command)
    }

    /// Nothing is left: no scratch folder, nothing in HOME, no process that had this machine's environment.
    #[track_caller]
    pub(super) fn is_clean(&self) {
        for folder in ["tmp", "home"] {
            let left: Vec<_> = snapshot(&self.lab.path(folder));
            assert!(left.is_empty(), "{folder}: {left:?}");
            assert_eq!(std::fs::read_dir(self.lab.path(folder)).unwrap().count(), 0);
        }
        assert!(!self.lab.hooks_dir().exists());
        let tmp = self.lab.path("tmp").to_string_lossy().into_owned();
        assert!(
            wait_until(Duration::from_secs(2), || with_environment(&tmp).is_empty()),
            "{:?}",
            with_environment(&tmp)
        );
    }
}

pub(super) fn answer(mut command: Command) -> Answer {
    Answer::of(command.output().unwrap())
}

/// The processes in whose environment that text stands.
fn with_environment(text: &str) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = processes.map(|process| process.path()).collect();
    found.retain(|process| {
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(text)
    });
    found
}

pub(super) fn only_host(document: &Value) -> &Value {
    let hosts = document["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 1, "{document:#}");
    &hosts[0]
}

#[test]
fn a_host_that_is_not_there_is_said_with_the_remedy() {
    let machine = Machine::new();
    for (arguments, sentence) in [
        (
            &[][..],
            "bookend: no host is on your PATH: install Claude Code (`claude`) or Codex (`codex`), or add its folder to PATH\n",
        ),
        (
            &["codex", "--json"],
            "bookend: codex is not on your PATH: install it, or add the folder of `codex` to PATH\n",
        ),
        (&["gemini-cli"], "bookend: gemini-cli cannot be probed yet\n"),
    ] {
        let answer = machine.probe(arguments);
        assert_eq!(
            (answer.code, answer.stdout.as_str(), answer.stderr.as_str()),
            (Some(1), "", sentence)
        );
    }
    assert_eq!(machine.probe(&["emacs"]).code, Some(2));
    machine.is_clean();
}

/// A host that takes the plugin, as Claude Code does, and then runs no hook.
const REGISTERS: &str = r#"
folder=$HOME/.claude/plugins
case "$*" in
"plugin marketplace add "*)
    /bin/mkdir -p "$folder"
    echo "{\"bookend\":{\"source\":{\"source\":\"directory\",\"path\":\"$4\"}}}" >"$folder/known_marketplaces.json" ;;
"plugin install bookend@bookend")
    echo '{"plugins":{"bookend@bookend":[{}]}}' >"$folder/installed_plugins.json"
    echo '{"enabledPlugins":{"bookend@bookend":true}}' >"$HOME/.claude/settings.json" ;;
"plugin list --json") echo '[{"id":"bookend@bookend","enabled":true}]' ;;
*) echo '9.8.7 (A Code)' ;;
esac"#;

#[test]
fn a_host_that_runs_no_hook_is_not_proven_and_the_events_are_named() {
    let machine = Machine::new();
    std::fs::create_dir(machine.lab.data_dir()).unwrap();
    machine.script("claude", REGISTERS);
    let missing = "SessionStart, UserPromptSubmit, PostToolUse, Stop, SessionEnd did not fire";
    let said = machine.probe(&[]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stderr
            .starts_with(&format!("bookend: claude-code is not proven: {missing}; ")),
        "{said:?}"
    );
    for part in [
        "Claude Code 9.8.7  ",
        "  Stop                stop            did not fire",
        "  PreCompact          stop            not provoked by this run",
        "never asked the model: 9.8.7 (A Code)",
        &format!("Not proven: {missing}; the resume text did not reach the model; no turn is in the log."),
    ] {
        assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
    }
    let document = machine.probe(&["--json"]);
    assert_eq!(document.code, Some(1));
    let document = document.json();
    let host = only_host(&document);
    assert_eq!(document["ok"], false);
    assert_eq!(
        (&host["proven"], &host["contextReached"], &host["turn"]),
        (&json!(false), &json!(false), &Value::Null),
        "{host:#}"
    );
    let stop = host["events"]
        .as_array()
        .unwrap()
        .iter()
        .find(|e| e["event"] == "Stop");
    let expected =
        json!({"event": "Stop", "hook": "stop", "provoked": true, "fired": 0, "medianMicros": null});
    assert_eq!(stop, Some(&expected));
    assert!(
        snapshot(&machine.lab.data_dir()).is_empty(),
        "nothing is remembered"
    );
    machine.is_clean();
}

#[test]
fn a_host_that_hangs_is_ended_when_its_time_is_up() {
    let machine = Machine::new();
    for name in ["claude", "codex"] {
        let why = format!("run `{name} plugin marketplace add ");
        machine.script(name, "exec /bin/sleep 600");
        let host = if name == "claude" { "claude-code" } else { name };
        let began = Instant::now();
        let said = machine.probe(&[host, "--timeout", "1s"]);
        assert!(began.elapsed() < Duration::from_secs(30));
        assert!(
            said.code == Some(1)
                && said.stdout.contains(&why)
                && said.stdout.contains("it did not end within"),
            "{said:?}"
        );
    }
    machine.is_clean();
}

#[test]
fn ctrl_c_ends_the_host_and_leaves_nothing() {
    let machine = Machine::new();
    let reached = machine.lab.path("reached");
    let lines = format!("echo x >> '{}'\nexec /bin/sleep 600", reached.display());
    machine.script("claude", &lines);
    let mut command = machine.command(BOOKEND, &[]);
    let bookend = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(wait_until(Duration::from_secs(30), || reached.exists()));
    let pid = Pid::from_raw(i32::try_from(bookend.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let said = Answer::of(bookend.wait_with_output().unwrap());
    assert_eq!(
        (said.code, said.stderr.as_str()),
        (
            Some(1),
            "bookend: interrupted: the host was ended, nothing is proven\n"
        ),
        "{said:?}"
    );
    machine.is_clean();
}

#[test]
fn hooks_that_are_not_beside_the_command_are_missed_with_the_remedy() {
    let machine = Machine::new();
    machine.script("claude", "exit 0");
    let alone = machine.lab.path("alone");
    std::fs::create_dir(&alone).unwrap();
    std::fs::copy(BOOKEND, alone.join("bookend")).unwrap();
    let said = answer(machine.command(alone.join("bookend").to_str().unwrap(), &[]));
    let folder = alone.canonicalize().unwrap();
    let sentence = format!(
        "bookend: failed to find the hook session-start in {}: run ./install.sh\n",
        folder.display()
    );
    assert_eq!((said.code, said.stderr), (Some(1), sentence));
    machine.is_clean();
}

#[test]
fn the_scratch_folder_is_kept_on_request() {
    let machine = Machine::new();
    machine.script("claude", "exit 0");
    let document = machine.probe(&["--keep", "--json"]).json();
    let kept = Path::new(only_host(&document)["kept"].as_str().unwrap());
    assert!(
        kept.starts_with(machine.lab.path("tmp"))
            && kept.join("data/plugin/claude-code/hooks/hooks.json").is_file()
    );
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}
