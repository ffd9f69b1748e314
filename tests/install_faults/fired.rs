//! When which event last fired, and what has not fired that should have.

use bookend::clock;
use bookend::hook::Hook;
use bookend::host::Host;
use bookend::probe::record::Record;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{Machine, codes, text};

fn machine() -> Machine {
    Machine::installed(Host::ClaudeCode)
}

/// A finished session with these events.
fn session(machine: &Machine, id: &str, events: &[&str]) {
    for event in events {
        let fields = match *event {
            "SessionStart" => json!({"session_id": id, "source": "startup", "prompt_id": null}),
            "UserPromptSubmit" => json!({"session_id": id, "prompt": format!("Work on {id}")}),
            "PostToolUse" => json!({"session_id": id, "tool_name": "Write", "tool_use_id": "w1",
                "tool_input": {"file_path": "/p/cart.rs", "content": "x"},
                "tool_response": {"type": "create", "filePath": "/p/cart.rs"}}),
            "SessionEnd" => json!({"session_id": id, "reason": "other", "prompt_id": null}),
            _ => json!({"session_id": id, "stop_hook_active": false,
                "last_assistant_message": "Done.", "background_tasks": []}),
        };
        machine.lab.send(event, fields);
    }
}

const WHOLE: [&str; 5] = [
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "Stop",
    "SessionEnd",
];

fn event(host: &Value, name: &str) -> Value {
    let events = host["events"].as_array().unwrap();
    events.iter().find(|e| e["event"] == name).unwrap().clone()
}

fn at(value: &Value) -> Option<DateTime<Utc>> {
    value.as_str().map(|text| text.parse().unwrap())
}

#[test]
fn each_events_last_time_is_told_and_the_first_event_proves_the_installation() {
    let machine = machine();
    assert_eq!(codes(&machine.doctor(), "not-proven"), ["never-fired"]);
    let before = clock::now();
    session(&machine, "s1", &WHOLE);
    session(&machine, "s2", &["SessionStart"]);
    let report = machine.doctor();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    let host = machine.of(&report);
    let (start, stop) = (event(&host, "SessionStart"), event(&host, "Stop"));
    assert_eq!((&start["count"], &stop["count"]), (&json!(2), &json!(1)));
    assert!(at(&start["lastAt"]) > at(&stop["lastAt"]) && at(&stop["lastAt"]) > Some(before));
    assert!(stop["lastMicros"].as_u64() > Some(0));
    assert_eq!(host["lastFired"], start["lastAt"]);
    assert_eq!(event(&host, "PreCompact")["lastAt"], Value::Null);
}

#[test]
fn after_a_prune_the_log_still_tells_when_what_fired() {
    let machine = machine();
    session(&machine, "s1", &WHOLE);
    let live = machine.of(&machine.doctor());
    std::fs::remove_dir_all(machine.lab.hooks_dir()).unwrap();
    let report = machine.doctor();
    assert_eq!(report["findings"], json!([]), "it is proven still: {report:#}");
    let logged = machine.of(&report);
    for name in ["UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"] {
        let (live, logged) = (event(&live, name), event(&logged, name));
        let apart = at(&logged["lastAt"]).unwrap() - at(&live["lastAt"]).unwrap();
        assert!(apart.num_milliseconds().abs() < 1_000, "{name}: {live} {logged}");
        assert_eq!(
            (&logged["count"], &logged["lastMicros"]),
            (&json!(0), &Value::Null)
        );
    }
    assert_eq!(
        event(&logged, "SessionStart")["lastAt"],
        Value::Null,
        "the log does not say"
    );
}

#[test]
fn a_new_installation_is_not_proven_by_what_fired_before_and_an_inferred_end_is_no_event() {
    let machine = machine();
    let mut host = crate::cli::Host::new();
    host.send(&machine.lab, "s1", "UserPromptSubmit", json!({"prompt": "Work"}));
    host.dies();
    assert_eq!(machine.doctor()["findings"], json!([]));
    machine.bookend(&["install", "claude-code", "--force"]);
    machine.edit(&machine.hooks(), |v| {
        v["hooks"].as_object_mut().unwrap().remove("Stop");
    });
    machine.install(&[]);
    assert_eq!(codes(&machine.doctor(), "not-proven"), ["never-fired"]);
    // The end of the turn whose host is gone is written now, by a look of somebody.
    machine.bookend(&["prune"]);
    std::fs::remove_dir_all(machine.lab.hooks_dir()).unwrap();
    let report = machine.doctor();
    assert_eq!(codes(&report, "not-proven"), ["never-fired"], "{report:#}");
    session(&machine, "s2", &WHOLE);
    assert_eq!(machine.doctor()["findings"], json!([]));
}

#[test]
fn a_probe_that_proved_the_host_proves_the_installation_until_the_next_one() {
    let machine = machine();
    record(&machine);
    let report = machine.doctor();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    assert!(machine.of(&report)["lastProbed"].is_string());
    machine.edit(&machine.hooks(), |v| {
        v["hooks"].as_object_mut().unwrap().remove("Stop");
    });
    machine.install(&[]);
    assert_eq!(codes(&machine.doctor(), "not-proven"), ["never-fired"]);
}

/// As a probe leaves it that proved the host.
fn record(machine: &Machine) {
    let record = Record {
        at: clock::now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host_version: None,
        events: std::collections::BTreeMap::new(),
        context_reached: true,
    };
    record.write(&machine.lab.data(), machine.host).unwrap();
}

#[test]
fn prompts_without_any_stop_over_several_finished_sessions_are_found_and_a_probe_settles_it() {
    let machine = machine();
    let cut = ["SessionStart", "UserPromptSubmit", "SessionEnd"];
    session(&machine, "s1", &cut);
    session(&machine, "s2", &cut);
    // One that works is not over, and two may have been interrupted.
    let host = crate::cli::Host::new();
    host.send(&machine.lab, "s3", "UserPromptSubmit", json!({"prompt": "Work"}));
    machine.is_content();
    drop(host);
    let finding = machine.problem("event-silent");
    assert!(
        text(&finding, "what").starts_with("Stop has fired in none of the last 3 finished sessions"),
        "{finding:#}"
    );
    assert!(text(&finding, "remedy").contains("`bookend probe claude-code`"));
    record(&machine);
    machine.is_content();
}

#[test]
fn one_stop_in_several_sessions_is_enough_and_sessions_before_the_installation_do_not_count() {
    let machine = machine();
    for id in ["s1", "s2", "s3"] {
        session(&machine, id, &["UserPromptSubmit", "Stop"]);
        session(&machine, id, &["SessionEnd"]);
    }
    let finding = machine.problem("event-silent");
    assert!(text(&finding, "what").starts_with("SessionStart "), "{finding:#}");
    session(&machine, "s4", &WHOLE);
    machine.is_content();
    std::fs::remove_file(machine.executable(Hook::Stop)).unwrap();
    machine.problem("hook-missing");
}
