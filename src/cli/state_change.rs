//! What differs between two states, field by field, as `bookend hook` shows it.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::span::cut;
use crate::live::state::State;

/// Widest value that is shown.
const WIDE: usize = 90;
/// How the state is stored, not what it says.
const STORAGE: &[&str] = &["n", "offset", "seen", "log.end", "version"];

/// One field that changed; `null` where it was or is absent.
#[derive(Debug, Serialize, PartialEq)]
pub(super) struct Change {
    /// Its path: `turns.latest[0].status.is`.
    pub(super) field: String,
    before: Value,
    after: Value,
}

impl Change {
    /// The old value for people.
    pub(super) fn before_text(&self) -> String {
        shown(&self.before)
    }

    /// The new value for people.
    pub(super) fn after_text(&self) -> String {
        shown(&self.after)
    }
}

/// The changes, in the order of the state's fields.
pub(super) fn between(before: &State, after: &State) -> Vec<Change> {
    changes(&json!(before), &json!(after))
}

/// The fields of a document that say something, each on its own line.
pub(super) fn fields(value: &Value) -> Vec<(String, String)> {
    let mut leaves = Vec::new();
    flatten(value, String::new(), &mut leaves);
    leaves
        .iter()
        .map(|(field, value)| (field.clone(), shown(value)))
        .collect()
}

fn changes(before: &Value, after: &Value) -> Vec<Change> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    flatten(before, String::new(), &mut old);
    flatten(after, String::new(), &mut new);
    let value = |leaves: &[(String, Value)], field: &str| {
        let found = leaves.iter().find(|(f, _)| f == field);
        found.map_or(Value::Null, |(_, v)| v.clone())
    };
    let mut seen = BTreeSet::new();
    new.iter()
        .chain(&old)
        .map(|(field, _)| field)
        .filter(|field| !is_storage(field) && seen.insert(field.as_str()))
        .map(|field| Change {
            before: value(&old, field),
            after: value(&new, field),
            field: field.clone(),
        })
        .filter(|c| c.before != c.after)
        .collect()
}

fn is_storage(field: &str) -> bool {
    STORAGE.contains(&field) || field.starts_with("seen[")
}

/// The leaves of a document with their paths; `null` and empty ones are no leaves.
fn flatten(value: &Value, path: String, leaves: &mut Vec<(String, Value)>) {
    match value {
        Value::Null => {}
        Value::String(text) if text.is_empty() => {}
        Value::Object(members) => {
            for (name, member) in members {
                let dot = if path.is_empty() { "" } else { "." };
                flatten(member, format!("{path}{dot}{name}"), leaves);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                flatten(item, format!("{path}[{i}]"), leaves);
            }
        }
        leaf => leaves.push((path, leaf.clone())),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => cut(text, WIDE).into_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_leaves_by_path() {
        let before = json!({"n": 1, "turns": {"count": 0, "latest": []}, "ended": {"reason": "exit"}});
        let after = json!({"n": 2, "turns": {"count": 1, "latest": [{"id": "t"}]}, "ended": null});
        let found: Vec<(String, Value, Value)> = changes(&before, &after)
            .into_iter()
            .map(|c| (c.field, c.before, c.after))
            .collect();
        assert_eq!(
            found,
            [
                ("turns.count".into(), json!(0), json!(1)),
                ("turns.latest[0].id".into(), Value::Null, json!("t")),
                ("ended.reason".into(), json!("exit"), Value::Null),
            ]
        );
    }
}
