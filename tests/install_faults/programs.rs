//! Programs on PATH that only have a host's name: doctor ends, soon, and leaves nothing of them running.

use std::time::{Duration, Instant};

use bookend::host::Host;
use serde_json::Value;

use super::{Machine, codes, say, script};

/// A machine on which both programs are that script, and the hooks are in the settings of Codex, which is asked most.
fn with(lines: &str) -> Machine {
    let machine = Machine::installed(Host::Codex);
    std::fs::create_dir(machine.lab.path("home/.claude")).unwrap();
    for name in ["claude", "codex"] {
        script(&machine.lab.path("links").join(name), lines);
    }
    machine
}

#[test]
fn a_program_that_hangs_or_talks_without_end_is_ended_within_seconds() {
    let scripts = [
        "trap '' TERM\nwhile :; do sleep 60; done",
        "exec yes '{\"id\": 7}'",
        "exec tr '\\\\0' x < /dev/zero",
    ];
    std::thread::scope(|scope| {
        for lines in scripts {
            scope.spawn(move || {
                let machine = with(lines);
                let before = machine.picture();
                let began = Instant::now();
                let report = machine.doctor();
                let took = began.elapsed();
                assert!(took < Duration::from_secs(20), "{lines}: {took:?}");
                assert_eq!(before, machine.picture(), "{lines}");
                for host in report["hosts"].as_array().unwrap() {
                    assert_eq!((&host["version"], &host["trusted"]), (&Value::Null, &Value::Null));
                }
                assert!(
                    codes(&report, "not-proven").contains(&"trust-unknown".to_owned()),
                    "{report:#}"
                );
            });
        }
    });
}

#[test]
fn what_a_program_says_instead_of_a_version_is_not_shown_as_it_is() {
    for (lines, version) in [
        ("exit 0", Value::Null),
        ("echo 1.0; exit 3", Value::Null),
        ("printf 'codex \\\\033[31mred\\\\n'", Value::Null),
        ("printf 'x 1.2.3\\\\033[31m\\\\n'", "1.2.3".into()),
        (
            "echo; echo 9999999999999999999999999999999999999999999999999999",
            "9".repeat(40).into(),
        ),
    ] {
        let machine = with(lines);
        let report = machine.doctor();
        for host in report["hosts"].as_array().unwrap() {
            assert_eq!(host["version"], version, "{lines}");
        }
        let codes = codes(&report, "not-proven");
        assert!(codes.contains(&"trust-unknown".to_owned()), "{lines}: {report:#}");
    }
}

/// Whether more wants to run than there are processors.
fn is_busy() -> bool {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Option<usize> = load.split('.').next().and_then(|load| load.parse().ok());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    load.is_some_and(|load| load >= processors)
}

#[test]
fn with_both_real_hosts_a_look_takes_no_two_seconds_and_leaves_no_trace() {
    let (Some(machine), Some(other)) = (Machine::with_plugin(Host::Codex), Machine::real(Host::ClaudeCode))
    else {
        return;
    };
    std::fs::rename(other.program(), machine.lab.path("links/claude")).unwrap();
    let installed = machine.bookend(&["install", "claude-code", "--json"]);
    assert_eq!(installed.code, Some(0), "{installed:?}");
    machine.doctor();
    let before = machine.picture();
    // The fastest of three: this machine may be busy.
    let took = (0..3).map(|_| {
        let began = Instant::now();
        let report = machine.doctor();
        let hosts = report["hosts"].as_array().unwrap();
        assert!(
            hosts
                .iter()
                .all(|host| host["version"].is_string() && host["means"] == "plugin")
        );
        began.elapsed()
    });
    let fastest = took.min().unwrap();
    // On a machine with more to do than it can, time says nothing of the program.
    if is_busy() {
        say(&format!("not judged on a busy machine: {fastest:?}"));
    } else {
        assert!(fastest < Duration::from_secs(2), "{fastest:?}");
    }
    assert_eq!(before, machine.picture());
}
