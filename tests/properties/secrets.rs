//! A secret at any depth and in any string of a payload is in no event and in no file.

use bookend::frame::{self, Arguments, payload::parse};
use bookend::hosts::Host;
use bookend::redact::{Redacted, redact};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::cases;
use super::story::{Machine, SESSION};
use crate::harness::{hook_of, payload};

/// Shapes that are secrets wherever they stand. No source line holds one whole.
fn tokens() -> Vec<String> {
    [
        ["gh", "p_x7Kd93mQpL2vB8nR4tY6wZ1cF5gH0jSaEuIo"],
        ["sk-", "ant-api03-x7Kd93mQpL2vB8nR4tY6wZ1c"],
        ["AK", "IAQ7KD93MXPL2VB8NR"],
        ["glpat", "-x7Kd93mQpL2vB8nR4tY6"],
        ["xox", "b-123456789012-123456789012-x7Kd93mQpL2vB8nR4tY6wZ1c"],
        [
            "eyJhbGciOiJIUzI1NiJ9.",
            "eyJzdWIiOiIxMjM0In0.x7Kd93mQpL2vB8nR4tY6wZ1c",
        ],
    ]
    .map(|parts| parts.concat())
    .to_vec()
}

/// Words, and the characters that end one.
fn around() -> impl Strategy<Value = String> {
    "([a-z]{0,8}[ \n\t\"',:;(){}<>=/|]){0,4}"
}

/// A string that holds the token.
fn string(token: String) -> impl Strategy<Value = String> {
    (around(), around()).prop_map(move |(before, after)| format!("{before} {token} {after}"))
}

/// Any JSON in whose strings, names included, the token stands.
fn document(token: String) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => string(token.clone()).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(6, 48, 5, move |inner| {
        let name = prop_oneof![
            6 => "[a-z_]{1,10}",
            1 => string(token.clone()),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name, inner.clone()), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
            // JSON in a string of JSON, as tools return it.
            inner.prop_map(|value| json!(value.to_string())),
        ]
    })
}

fn token_and_document() -> impl Strategy<Value = (String, Value)> {
    prop::sample::select(tokens()).prop_flat_map(|token| (Just(token.clone()), document(token)))
}

/// The document with every string redacted.
fn redacted(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(redact(text)),
        Value::Array(items) => items.iter().map(redacted).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(k, v)| (redact(k).into_owned(), redacted(v)))
            .collect(),
        other => other.clone(),
    }
}

/// What a prompt or an answer says; no secret in it.
fn prose() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        12 => "[a-z]{1,9}",
        2 => "[A-Z][a-z]{1,9}",
        1 => prop::sample::select(vec![
            "the secret: to good tests", "token: 5 tokens left", "the password is wrong", "(secretly)", "API keys",
            "naïve", "漢字", "…", "src/lib.rs:12", "README.md", "42", "3.14", "v1.2.3", "--release",
        ]).prop_map(str::to_owned),
        1 => "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}",
        1 => "[0-9a-f]{40}",
    ];
    prop::collection::vec(
        (word, prop::sample::select(vec![" ", ", ", ". ", "\n", "? "])),
        0..40,
    )
    .prop_map(|words| words.into_iter().map(|(w, s)| w + s).collect())
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn a_token_at_any_depth_and_in_any_string_is_gone((token, value) in token_and_document()) {
        let text = value.to_string();
        let out = redact(&text);
        prop_assert!(!out.contains(&token), "{}", out);
        prop_assert!(serde_json::from_str::<Value>(&out).is_ok(), "{}\n{}", text, out);
        prop_assert_eq!(redact(&out), out.as_ref());
        let each = redacted(&value);
        prop_assert!(!each.to_string().contains(&token), "{}", each);
        prop_assert_eq!(redacted(&each), each);
    }

    #[test]
    fn prose_stays_as_it_is(text in prose()) {
        prop_assert_eq!(redact(&text), text.as_str());
    }

    #[test]
    fn what_is_redacted_stays_as_it_is(text in any::<String>(), (_, value) in token_and_document(), max in 1..120_usize) {
        for text in [text, value.to_string()] {
            let once = Redacted::new(&text);
            prop_assert_eq!(Redacted::new(&once), once.clone());
            prop_assert_eq!(Redacted::truncated(&once, usize::MAX), once);
            prop_assert!(Redacted::truncated(&text, max).chars().count() <= max);
        }
    }
}

/// Puts the text behind every string below `value`, and the event's and the tool's names left as they are.
fn plant(value: &mut Value, text: &str, count: &mut usize) {
    match value {
        Value::String(old) => {
            *count += 1;
            old.push_str(text);
        }
        Value::Array(items) => items.iter_mut().for_each(|v| plant(v, text, count)),
        Value::Object(map) => {
            let named = [
                "hook_event_name",
                "tool_name",
                "trigger",
                "source",
                "timestamp",
                "transcript_path",
                "type",
            ];
            let planted = map.iter_mut().filter(|(name, _)| !named.contains(&name.as_str()));
            planted.for_each(|(_, v)| plant(v, text, count));
        }
        _ => {}
    }
}

#[test]
fn a_token_in_every_string_of_every_captured_payload_reaches_no_event_and_no_file() {
    let token = &tokens()[0];
    let mut count = 0;
    for host in Host::ALL {
        let mut machine = Machine::new(host);
        for stem in crate::payloads::stems(host.id()) {
            let mut value = payload(&format!("{}/{stem}", host.id()));
            plant(&mut value, &format!(" {token} "), &mut count);
            let name = value["hook_event_name"].as_str().unwrap().to_owned();
            let bytes = value.to_string().into_bytes();
            let arguments = Arguments {
                host: Some(host),
                event: None,
            };
            let read = frame::read(
                hook_of(&name),
                &arguments,
                &parse(&bytes).unwrap(),
                &bytes,
                &|_| None,
            );
            if let Some(read) = read {
                let text = serde_json::to_string(&read.event).unwrap();
                assert!(
                    !text.contains(token) && !read.key.as_str().contains(token),
                    "{host} {stem}: {text}"
                );
                assert!(
                    text.contains("[REDACTED:"),
                    "{host} {stem}: something was planted: {text}"
                );
            }
            value["session_id"] = json!(SESSION);
            machine.send(&value);
        }
        let mut paths = vec![machine.lab.hooks_dir(), machine.lab.data_dir()];
        let mut marked = 0;
        while let Some(path) = paths.pop() {
            assert!(!path.to_string_lossy().contains(token), "{}", path.display());
            if path.is_dir() {
                paths.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains(token), "{}", path.display());
            marked += usize::from(text.contains("[REDACTED:"));
        }
        assert!(marked >= 2, "{host}: journal and log");
    }
    assert!(count > 500, "{count}");
}
