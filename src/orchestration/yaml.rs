//! Writes front matter: block YAML with every text in double quotes, each value on one line, so that the same
//! value is always the same text and no text in it can end the front matter.

use std::fmt::Write;

use serde_json::{Map, Value};

/// Top-level keys that have an empty line before them, as in the template.
const PARTS: [&str; 2] = ["token_usage", "phases"];
/// A key that is longer is written in the form for long keys.
const MAX_KEY: usize = 200;

/// The members of a map, one below the other, each line with its end.
#[must_use]
pub(super) fn write(map: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (key, value) in map {
        if PARTS.contains(&key.as_str()) && !text.is_empty() {
            text.push('\n');
        }
        member(key, value, 0, &mut text);
    }
    if text.is_empty() {
        text.push_str("{}\n");
    }
    text
}

fn indent(by: usize, text: &mut String) {
    text.extend(std::iter::repeat_n(' ', by));
}

/// A key and its value; the cursor stands where the key begins.
fn member(key: &str, value: &Value, at: usize, text: &mut String) {
    let key = if is_plain(key) {
        key.to_owned()
    } else {
        quoted(key)
    };
    if key.len() > MAX_KEY {
        let _ = writeln!(text, "? {key}");
        indent(at, text);
    } else {
        text.push_str(&key);
    }
    text.push(':');
    below(value, at, text);
}

/// A value behind a colon or a dash at column `at`.
fn below(value: &Value, at: usize, text: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            text.push('\n');
            for (key, value) in map {
                indent(at + 2, text);
                member(key, value, at + 2, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            for one in items {
                indent(at + 2, text);
                item(one, at + 2, text);
            }
        }
        leaf => {
            text.push(' ');
            scalar(leaf, text);
            text.push('\n');
        }
    }
}

/// An item: a map begins behind its dash.
fn item(value: &Value, at: usize, text: &mut String) {
    text.push('-');
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (n, (key, value)) in map.iter().enumerate() {
                if n == 0 {
                    text.push(' ');
                } else {
                    indent(at + 2, text);
                }
                member(key, value, at + 2, text);
            }
        }
        other => below(other, at, text),
    }
}

fn scalar(value: &Value, text: &mut String) {
    match value {
        Value::String(one) => text.push_str(&quoted(one)),
        Value::Array(_) => text.push_str("[]"),
        Value::Object(_) => text.push_str("{}"),
        plain => {
            let _ = write!(text, "{plain}");
        }
    }
}

/// In double quotes; what a reader or a terminal could take for more than a letter is escaped.
fn quoted(one: &str) -> String {
    let mut text = String::with_capacity(one.len() + 2);
    text.push('"');
    for c in one.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                let _ = write!(text, "\\u{:04X}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// Whether a key needs no quotes in any YAML.
fn is_plain(key: &str) -> bool {
    let begins = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    begins
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        && !words.contains(&key.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_always_the_same_text() {
        let value = json!({
            "task": "a \"b\": c\n---\u{7f}\u{2028}é", "current_phase": 1, "none": null, "yes": true, "a b": [],
            "token_usage": {"by_agent": {}, "m": 1.5},
            "phases": [{"id": 1, "agents": ["coder"], "more": {"x": [[1, []], {}]}}, {"id": "two"}],
        });
        let text = write(value.as_object().unwrap());
        assert_eq!(
            text,
            concat!(
                "task: \"a \\\"b\\\": c\\n---\\u007F\\u2028é\"\ncurrent_phase: 1\nnone: null\n\"yes\": true\n\"a b\": []\n",
                "\ntoken_usage:\n  by_agent: {}\n  m: 1.5\n",
                "\nphases:\n  - id: 1\n    agents:\n      - \"coder\"\n    more:\n      x:\n        -\n          - 1\n",
                "          - []\n        - {}\n  - id: \"two\"\n",
            )
        );
    }
}
