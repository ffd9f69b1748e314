//! A payload with any field removed, null or of another type is a lesser event of the same kind, or none.

use serde_json::{Value, json};

use super::{Table, all, decode_in, env_of, kind_name};
use crate::hosts::Host;

/// What a field is turned into; `None`: removed.
fn replacements() -> Vec<Option<Value>> {
    let mut values = vec![None];
    values.extend(
        [
            json!(null),
            json!(7),
            json!(-1),
            json!(0.5),
            json!(1e300),
            json!("x"),
            json!(""),
            json!("true"),
            json!(true),
            json!([]),
            json!([1]),
            json!([{}]),
            json!({}),
            json!({"a": 1}),
        ]
        .map(Some),
    );
    values
}

/// The JSON pointers of every value below `value`.
fn paths(value: &Value, at: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(k, v)| (k.replace('~', "~0").replace('/', "~1"), v))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, v)| (i.to_string(), v))
            .collect(),
        _ => return,
    };
    for (name, child) in children {
        let path = format!("{at}/{name}");
        paths(child, &path, found);
        found.push(path);
    }
}

fn mutated(payload: &Value, path: &str, value: Option<&Value>) -> Value {
    let mut copy = payload.clone();
    if let Some(value) = value {
        *copy.pointer_mut(path).unwrap() = value.clone();
    } else {
        let (parent, name) = path.rsplit_once('/').unwrap();
        match copy.pointer_mut(parent).unwrap() {
            Value::Object(map) => drop(map.remove(&name.replace("~1", "/").replace("~0", "~"))),
            Value::Array(items) => drop(items.remove(name.parse().unwrap())),
            _ => unreachable!(),
        }
    }
    copy
}

fn for_each_mutation(payload: &Value, mut check: impl FnMut(&str, &Value)) -> usize {
    let mut found = Vec::new();
    paths(payload, "", &mut found);
    let mut count = 0;
    for path in &found {
        for value in replacements() {
            check(path, &mutated(payload, path, value.as_ref()));
            count += 1;
        }
    }
    count
}

#[test]
fn a_changed_field_never_makes_another_event() {
    let mut count = 0;
    for host in Host::ALL {
        for (stem, payload) in all(host.id()) {
            let env = env_of(host.id(), &payload);
            let decode_own = |payload: &Value| decode_in(Some(host), payload, &env, &[]);
            let original = kind_name(decode_own(&payload).as_ref());
            count += for_each_mutation(&payload, |path, changed| {
                let event = decode_own(changed);
                let kind = kind_name(event.as_ref());
                assert!(
                    kind == original || kind == "-",
                    "{host} {stem} {path}: {original} became {kind}: {changed}"
                );
                assert!(
                    event.is_none_or(|e| e.host == host),
                    "{host} {stem} {path}: another host"
                );
            });
        }
    }
    assert!(count > 10_000, "{count}");
}

#[test]
fn only_the_fields_that_name_the_event_can_lose_it() {
    for host in Host::ALL {
        for (stem, payload) in all(host.id()) {
            let env = env_of(host.id(), &payload);
            let decode_own = |payload: &Value| decode_in(Some(host), payload, &env, &[]);
            if decode_own(&payload).is_none() {
                continue;
            }
            for_each_mutation(&payload, |path, changed| {
                if decode_own(changed).is_none() {
                    let naming = ["/hook_event_name", "/tool_name", "/trigger"].contains(&path);
                    assert!(naming, "{host} {stem} {path}: {changed}");
                }
            });
        }
    }
}

#[test]
fn a_foreign_payload_stays_foreign() {
    for host in ["qwen-code", "copilot", "opencode"] {
        for (stem, payload) in all(host) {
            let env = env_of(host, &payload);
            for_each_mutation(&payload, |path, changed| {
                assert_eq!(
                    decode_in(None, changed, &env, &[]),
                    None,
                    "{host} {stem} {path}: {changed}"
                );
                for registered in Host::ALL {
                    drop(decode_in(Some(registered), changed, &Table::new(), &[]));
                }
            });
        }
    }
}

#[test]
fn what_is_no_object_is_nothing() {
    for value in [
        json!(null),
        json!(true),
        json!(1),
        json!("Stop"),
        json!([]),
        json!([{"hook_event_name": "Stop"}]),
        json!({}),
    ] {
        for registered in Host::ALL {
            assert_eq!(
                decode_in(Some(registered), &value, &Table::new(), &[]),
                None,
                "{value}"
            );
        }
    }
}
