//! Codex CLI, as scripts run it: `codex exec` with the hooks that `bookend install` registered and made trusted.

mod resuming;
mod skill;
mod tools;
mod turns;

use std::time::Duration;

use bookend::probe::{CODEX, Kind, Outcome, Request, Running};
use serde_json::{Map, Value};

use super::lab::{Lab, told};

const PROMPT: &str = "Add a price column to the orders page\nand keep the layout";
const FIRST_LINE: &str = "Add a price column to the orders page";
/// What the first line of a brief about it is, with the end of that line.
const BRIEF: &str = "Resuming: Add a price column to the orders page\n";

fn lab() -> Option<Lab> {
    Lab::with(CODEX, "BOOKEND_TEST_CODEX")
}

/// Waits until the model hangs over its second request: the first tool's hook has ended by then.
fn until_the_model_hangs(running: &Running) -> bool {
    running.wait_until(Duration::from_secs(30), |model| model.model_request_count() == 2)
}

/// How often each event came.
fn counts(show: &Value) -> Value {
    let events = show["events"].as_object().expect("events");
    let count = |(name, event): (&String, &Value)| (name.clone(), event["count"].clone());
    events.iter().map(count).collect::<Map<_, _>>().into()
}

/// The requests of a session by kind and step; every one is of the scripted conversation.
fn steps(outcome: &Outcome, kind: Kind) -> Vec<&str> {
    let known = |request: &Request| request.is_model() && request.kind != Kind::Unknown;
    assert!(outcome.requests.iter().all(known), "{}", told(outcome));
    let of_kind = outcome.requests.iter().filter(|request| request.kind == kind);
    of_kind.map(|request| request.step.as_str()).collect()
}

/// The session id that `codex exec --json` printed.
fn thread(outcome: &Outcome) -> Value {
    let mut lines = outcome.stdout.lines().map(serde_json::from_str::<Value>);
    let first = lines.next().expect("a first line").expect("JSON");
    assert_eq!(first["type"], "thread.started", "{}", told(outcome));
    first["thread_id"].clone()
}
