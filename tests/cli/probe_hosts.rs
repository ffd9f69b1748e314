//! `probe` with the real hosts, where they are installed: what it proves, what it finds out, what it leaves.

#![expect(clippy::print_stdout, reason = "a test says why it is skipped")]

use std::env;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use bookend::host::Host;
use bookend::hosts::registration::rows;
use bookend::probe::driver;
use bookend::probe::record::Record;
use serde_json::json;

use super::probe::{BOOKEND, Machine, answer, only_host};
use super::snapshot;
use crate::harness::executable;

/// A machine with a real host on it; none (and a word on stdout) where it is not installed.
fn real(host: Host, variable: &str) -> Option<Machine> {
    let driver = driver(host).unwrap();
    let named = env::var_os(variable);
    match driver.find(named.as_deref(), env::var_os("PATH").as_deref()) {
        Ok(program) => {
            let machine = Machine::new();
            symlink(program, machine.lab.path("bin").join(driver.program)).unwrap();
            Some(machine)
        }
        Err(missing) => {
            println!("skipped: {missing} (name it in {variable})");
            None
        }
    }
}

/// What hosts need beside themselves: a shell, `git`, an interpreter.
fn with_system(machine: &Machine, mut command: Command) -> Command {
    let own = env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{own}", machine.path()));
    command
}

#[track_caller]
fn is_proven(machine: &Machine, host: Host) {
    std::fs::create_dir(machine.lab.data_dir()).unwrap();
    let command = machine.command(BOOKEND, &[host.id(), "--json"]);
    let said = answer(with_system(machine, command));
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{said:?}");
    let document = said.json();
    let found = only_host(&document);
    assert_eq!(document["ok"], true);
    assert_eq!(
        (
            &found["host"],
            &found["proven"],
            &found["contextReached"],
            &found["faults"],
            &found["problems"]
        ),
        (
            &json!(host.id()),
            &json!(true),
            &json!(true),
            &json!([]),
            &json!([])
        ),
        "{found:#}"
    );
    assert_eq!(
        (&found["turn"]["status"], &found["cutTurn"]["status"]),
        (&json!("completed"), &json!("failed")),
        "{found:#}"
    );
    let events = found["events"].as_array().unwrap();
    assert_eq!(events.len(), rows(host).len());
    for event in events {
        assert_eq!(event["provoked"], true, "{found:#}");
        assert!(event["medianMicros"].as_u64() > Some(0), "{found:#}");
    }
    let kept = snapshot(&machine.lab.data_dir());
    let names: Vec<&Path> = kept.iter().map(|(name, _)| Path::new(name)).collect();
    let file = machine.lab.data_dir().join(format!("probed/{host}.json"));
    assert_eq!(names, [file], "nothing but the record");
    let record = Record::read(&machine.lab.data(), host).unwrap().unwrap();
    assert_eq!(json!(record.host_version), found["version"]);
    assert_eq!(
        (record.events.len(), record.context_reached),
        (rows(host).len(), true)
    );
    machine.is_clean();
}

#[test]
fn claude_code_is_proven() {
    if let Some(machine) = real(Host::ClaudeCode, "BOOKEND_TEST_CLAUDE") {
        is_proven(&machine, Host::ClaudeCode);
    }
}

#[test]
fn codex_is_proven() {
    if let Some(machine) = real(Host::Codex, "BOOKEND_TEST_CODEX") {
        // As npm installs it: behind a launcher that waits for it.
        let program = machine.lab.path("bin/codex");
        let launched = std::fs::read_link(&program).unwrap();
        std::fs::remove_file(&program).unwrap();
        machine.script("codex", &format!("'{}' \"$@\"\nexit $?", launched.display()));
        is_proven(&machine, Host::Codex);
    }
}

#[test]
fn a_hook_that_does_nothing_is_found_out() {
    let Some(machine) = real(Host::Codex, "BOOKEND_TEST_CODEX") else {
        return;
    };
    let broken = machine.lab.path("broken");
    std::fs::create_dir(&broken).unwrap();
    std::fs::copy(BOOKEND, broken.join("bookend")).unwrap();
    for hook in bookend::hook::Hook::ALL {
        symlink(executable(hook), broken.join(hook.name())).unwrap();
    }
    std::fs::remove_file(broken.join("session-start")).unwrap();
    symlink("/bin/true", broken.join("session-start")).unwrap();
    let command = machine.command(broken.join("bookend").to_str().unwrap(), &["codex"]);
    let said = answer(with_system(&machine, command));
    assert_eq!(
        (said.code, said.stderr.as_str()),
        (
            Some(1),
            "bookend: codex is not proven: SessionStart did not fire; the resume text did not reach the model \
             (to see all that was kept: `bookend probe --keep`)\n"
        ),
        "{said:?}"
    );
    assert!(
        !machine.lab.data_dir().exists(),
        "a probe makes no data directory"
    );
    machine.is_clean();
}
