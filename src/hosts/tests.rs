//! The wire against what real hosts sent: `tests/payloads/<host>/` are captured payloads.

mod answers;
mod decoding;
mod detection;
mod mutation;
mod registered;
mod variants;

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{Host, Surroundings, decode};
use crate::event::Event;
use crate::hook::Hook;

/// The environment of a hook, as a table.
type Table = HashMap<String, String>;

/// Some variables and their values.
type Vars = &'static [(&'static str, &'static str)];

fn payloads() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/payloads")
}

fn read(file: &str) -> Value {
    let path = payloads().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// All captured payloads of a host as (`file stem`, payload), in the order of their names.
fn all(host: &str) -> Vec<(String, Value)> {
    let mut found: Vec<(String, Value)> = fs::read_dir(payloads().join(host))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()))
        .filter(|stem| stem != "env")
        .map(|stem| (stem.clone(), read(&format!("{host}/{stem}.json"))))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!found.is_empty(), "no payloads of {host}");
    found
}

/// The variables that the host set for the event of a payload (or for its first event).
fn env_of(host: &str, payload: &Value) -> Table {
    let all = read(&format!("{host}/env.json"));
    let name = payload["hook_event_name"].as_str().unwrap_or_default();
    let table = all
        .get(name)
        .or_else(|| all.as_object().unwrap().values().next())
        .unwrap();
    table
        .as_object()
        .unwrap()
        .iter()
        .map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned()))
        .collect()
}

fn at() -> DateTime<Utc> {
    DateTime::from_timestamp(1_796_011_200, 0).unwrap()
}

/// Decodes in that environment and under a host with those arguments.
fn decode_in(registered: Option<Host>, payload: &Value, env: &Table, args: &[&str]) -> Option<Event> {
    let env = |name: &str| env.get(name).cloned();
    let host_args = || args.iter().map(|&a| a.to_owned()).collect();
    let around = Surroundings {
        hook: Hook::PostTool,
        event: None,
        env: &env,
        host_args: &host_args,
        at: at(),
    };
    decode(registered, payload, &around)
}

/// Decodes a payload as its own host would send it, registered as that host.
fn decode_own(host: Host, payload: &Value) -> Option<Event> {
    decode_in(Some(host), payload, &env_of(host.id(), payload), &[])
}

/// What kind of event it is: `Stop`, `Tool`, …, or `-` for none.
fn kind_name(event: Option<&Event>) -> String {
    let Some(event) = event else { return "-".to_owned() };
    match serde_json::to_value(&event.kind).unwrap() {
        Value::String(name) => name,
        other => other.as_object().unwrap().keys().next().unwrap().clone(),
    }
}
