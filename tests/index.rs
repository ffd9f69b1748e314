//! The index of the history: it knows what the logs say, whatever happens to it, and the logs go when they are to go.

mod damage;
mod export;
mod forget;
mod growth;
mod retention;
mod search;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{Answer, Lab, hook_of, with};

/// A session of that host id in the lab's project, from the prompt to its end.
fn session(lab: &Lab, id: &str, prompt: &str, answer: &str) {
    turn(lab, id, "p1", prompt, answer);
    event(lab, id, "SessionEnd", json!({"reason": "exit"}));
}

fn turn(lab: &Lab, id: &str, turn: &str, prompt: &str, answer: &str) {
    event(
        lab,
        id,
        "UserPromptSubmit",
        json!({"prompt_id": turn, "prompt": prompt}),
    );
    event(
        lab,
        id,
        "Stop",
        json!({"prompt_id": turn, "last_assistant_message": answer}),
    );
}

fn event(lab: &Lab, id: &str, name: &str, fields: Value) {
    let base = json!({"session_id": id, "prompt_id": "p1", "cwd": lab.project(), "hook_event_name": name});
    lab.call(hook_of(name), &with(base, fields))
        .env("CLAUDE_PROJECT_DIR", &lab.project().to_string_lossy())
        .run()
        .ok();
}

/// A log as hooks would have written it so many days ago; its only turn has the words.
fn logged(lab: &Lab, n: usize, days: i64, words: &str) -> String {
    let at = chrono::TimeDelta::days(days);
    let at = bookend::clock::now() - at;
    let (stamp, compact) = (bookend::clock::stamp(at), bookend::clock::compact(at));
    let id = format!("ClaudeCode-{compact}-{n:08x}");
    let turn = format!("req-{compact}-turn-1");
    let bodies = [
        json!({"kind": "session.open", "agent": "ClaudeCode", "host": "claude-code", "hostSession": format!("old-{n}"),
               "title": words, "projectRoot": lab.project()}),
        json!({"kind": "turn.begin", "turn": turn, "origin": "user", "title": words, "text": words}),
        json!({"kind": "turn.complete", "turn": turn, "response": "Done."}),
        json!({"kind": "session.end", "reason": "exit"}),
    ];
    let mut text = String::new();
    for body in bodies {
        let head = json!({"v": 1, "id": uuid::Uuid::now_v7().to_string(), "seq": text.len(), "at": stamp, "by": "hook"});
        text.push_str(&with(head, body).to_string());
        text.push('\n');
    }
    let dir = lab.data_dir().join("log").join(&id);
    lab.data();
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("log.jsonl"), text).unwrap();
    let file = std::fs::File::open(dir.join("log.jsonl")).unwrap();
    file.set_modified(at.into()).unwrap();
    id
}

fn log_file(lab: &Lab, id: &str) -> PathBuf {
    lab.data_dir().join("log").join(id).join("log.jsonl")
}

fn index(lab: &Lab) -> PathBuf {
    lab.data_dir().join("index.sqlite")
}

/// What a verb prints as JSON; a warning is none of its business.
#[track_caller]
fn asked(lab: &Lab, arguments: &[&str]) -> Value {
    let answer = answered(lab, arguments);
    assert_eq!(answer.stderr, "", "{answer:?}");
    answer.json()
}

#[track_caller]
fn answered(lab: &Lab, arguments: &[&str]) -> Answer {
    let answer = lab.bookend(&[&["log"], arguments, &["--json"]].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    answer
}

/// How many turns hold the words.
#[track_caller]
fn found(lab: &Lab, words: &str) -> u64 {
    asked(lab, &["search", words])["totalCount"].as_u64().unwrap()
}

/// The host sessions that are listed.
#[track_caller]
fn listed(lab: &Lab, arguments: &[&str]) -> String {
    let list = asked(lab, &[&["sessions"], arguments].concat());
    let sessions = list["sessions"].as_array().unwrap();
    let ids: Vec<&str> = sessions
        .iter()
        .map(|s| s["hostSession"].as_str().unwrap())
        .collect();
    ids.join(" ")
}

/// The sessions that are marked as grown.
fn marks(lab: &Lab) -> Vec<String> {
    let names = std::fs::read_dir(lab.data_dir().join("grown")).unwrap();
    let mut names: Vec<String> = names
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
