//! The `bookend` command over stores that real hooks wrote: each verb for people and as JSON, and what must
//! never happen on the way (a raw escape sequence, a panic on a closed pipe, a directory made by a look).

mod demo;
mod doctor;
mod first;
mod history;
mod journal;
mod output;
mod probe;
mod probe_hosts;
mod resume;
mod run;
mod sessions;
mod todos;
mod upkeep;

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Answer, Lab, hook_of, with};

/// A host process that is not the test: alive until it is killed.
pub(crate) struct Host(Child);

impl Host {
    pub(crate) fn new() -> Self {
        let child = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn();
        Self(child.unwrap())
    }

    /// An event of a session that runs in this process.
    pub(crate) fn send(&self, lab: &Lab, session: &str, event: &str, fields: Value) -> Answer {
        let project = lab.project();
        let base = json!({
            "session_id": session, "prompt_id": "p1", "cwd": project, "hook_event_name": event,
        });
        lab.call(hook_of(event), &with(base, fields))
            .env("CLAUDE_PROJECT_DIR", &project.to_string_lossy())
            .env("CLAUDE_PID", &self.0.id().to_string())
            .run()
            .ok()
    }

    pub(crate) fn dies(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A session whose host vanished in the middle of `task`.
fn crashed(lab: &Lab, session: &str, task: &str) {
    let mut host = Host::new();
    host.send(lab, session, "UserPromptSubmit", json!({"prompt": task}));
    host.send(
        lab,
        session,
        "PostToolUse",
        json!({"tool_name": "Write", "tool_use_id": "w1",
               "tool_input": {"file_path": "/p/cart.rs", "content": "x"},
               "tool_response": {"type": "create", "filePath": "/p/cart.rs"}}),
    );
    host.dies();
}

/// What a command prints as JSON.
#[track_caller]
fn json_of(lab: &Lab, arguments: &[&str]) -> Value {
    let answer = lab.bookend(arguments);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    answer.json()
}

/// What a command prints for people.
#[track_caller]
fn text_of(lab: &Lab, arguments: &[&str]) -> String {
    let answer = lab.bookend(arguments);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    answer.stdout
}

/// A command that fails: one sentence on stderr, nothing on stdout.
#[track_caller]
fn complaint_of(lab: &Lab, arguments: &[&str]) -> String {
    let answer = lab.bookend(arguments);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(1), ""), "{answer:?}");
    assert!(
        answer.stderr.lines().last().unwrap().starts_with("bookend: "),
        "{answer:?}"
    );
    answer.stderr
}

/// Every file below a directory with its content.
fn snapshot(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(snapshot(&entry.path()));
        } else {
            files.push((
                entry.path().display().to_string(),
                std::fs::read(entry.path()).unwrap(),
            ));
        }
    }
    files.sort();
    files
}

/// Makes everything that a file of JSON lines says older.
fn older(file: &Path, by: chrono::TimeDelta) {
    fn shift(value: &mut Value, by: chrono::TimeDelta) {
        match value {
            Value::Object(members) => members.values_mut().for_each(|v| shift(v, by)),
            Value::Array(items) => items.iter_mut().for_each(|v| shift(v, by)),
            Value::String(text) => {
                if let Ok(at) = text.parse::<chrono::DateTime<chrono::Utc>>() {
                    *text = (at - by).to_rfc3339();
                }
            }
            _ => {}
        }
    }
    let mut text = String::new();
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        shift(&mut value, by);
        text.push_str(&format!("{value}\n"));
    }
    std::fs::write(file, text).unwrap();
}
