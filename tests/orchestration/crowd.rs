//! Many processes, one session.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use bookend::config::Maestro;
use bookend::orchestration::Service;
use serde_json::{Value, json};

use super::{Desk, ID};

/// This test binary with the next test alone: a process that calls tools.
pub(crate) const CALLS: [&str; 5] = [
    "--exact",
    "orchestration::crowd::calls_from_stdin",
    "--ignored",
    "--test-threads=1",
    "--quiet",
];

const PROCESSES: usize = 16;
const TRANSITIONS: usize = 40;

#[test]
#[ignore = "no test: others run it as a process that calls tools"]
fn calls_from_stdin() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let mut service = Service::new(Maestro::from_env(), &std::env::current_dir().unwrap());
    for line in text.lines() {
        let (tool, params): (String, Value) = serde_json::from_str(line).unwrap();
        // On a busy machine the others may keep the lock from one for long: it does what the error says.
        let mut tries = 0;
        while let Err(e) = service.call(&tool, &params) {
            tries += 1;
            assert!(e.code() == "busy" && tries < 20, "{e:?}");
        }
    }
}

#[test]
fn sixteen_processes_with_forty_transitions_each_lose_none() {
    let _one = crate::concurrency::crowd();
    let phases: Vec<Value> = (0..PROCESSES)
        .map(|n| json!({"id": n, "name": "p", "agent": "coder"}))
        .collect();
    let desk = Desk::begun(json!(phases));
    let calls = |phase: usize| -> String {
        let one = |n: usize| {
            let to = match n {
                n if n % 2 == 0 => "in_progress",
                n if n + 1 == TRANSITIONS => "completed",
                _ => "failed",
            };
            let mut params = json!({"phase_id": phase.to_string(), "to": to, "files_created": [format!("{phase}-{n}")],
                "token_usage": {"input": 1, "output": "2"}});
            if to == "failed" {
                params["error"] = json!({"type": "timeout", "message": "t"});
            }
            json!(["transition_phase", params]).to_string() + "\n"
        };
        (0..TRANSITIONS).map(one).collect()
    };
    let mut running: Vec<_> = (0..PROCESSES)
        .map(|phase| {
            let mut command = desk
                .lab
                .command(std::env::current_exe().unwrap().to_str().unwrap());
            command
                .args(CALLS)
                .env("MAESTRO_MAX_RETRIES", "99")
                .env("MAESTRO_AUTO_ARCHIVE", "false");
            let mut child = spawn(&mut command);
            child
                .stdin
                .take()
                .unwrap()
                .write_all(calls(phase).as_bytes())
                .unwrap();
            child
        })
        .collect();
    for child in &mut running {
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{said}");
    }
    let front = desk.front();
    let all = (PROCESSES * TRANSITIONS) as u64;
    let usage = json!({"total_input": all, "total_output": 2 * all, "total_cached": 0,
        "by_agent": {"coder": {"input": all, "output": 2 * all, "cached": 0}}});
    assert_eq!(front["token_usage"], usage);
    for phase in front["phases"].as_array().unwrap() {
        let counts = (
            phase["files_created"].as_array().unwrap().len(),
            phase["errors"].as_array().unwrap().len(),
        );
        assert_eq!(counts, (TRANSITIONS, TRANSITIONS - 2), "{}", phase["id"]);
        assert_eq!(
            (&phase["status"], &phase["retry_count"]),
            (&json!("completed"), &json!(TRANSITIONS / 2 - 1))
        );
    }
    assert_eq!(
        (&front["status"], &front["session_id"]),
        (&json!("completed"), &json!(ID))
    );
    let names: Vec<String> = super::tree(&desk.file("docs/maestro/state"))
        .into_keys()
        .collect();
    assert_eq!(
        names,
        ["", ".gitignore", "active-session.md", "archive"],
        "nothing is left behind"
    );
}

fn spawn(command: &mut Command) -> std::process::Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

#[test]
fn of_many_that_create_at_once_one_does() {
    let desk = Desk::new();
    let created: usize = std::thread::scope(|scope| {
        let one = |n: usize| {
            let mut service = desk.service.clone();
            scope.spawn(move || {
                let params = json!({"session_id": format!("2026-04-09-x{n}"), "task": "t", "phases": [{"id": 1, "name": "n"}]});
                match service.call("create_session", &params) {
                    Ok(_) => 1,
                    Err(e) => {
                        assert_eq!(e.code(), "session_active");
                        0
                    }
                }
            })
        };
        let all: Vec<_> = (0..8).map(one).collect();
        all.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(created, 1);
}
