//! Lenient reading of a host's JSON object.
//!
//! Hosts rename fields between versions and send numbers as text; a field of the wrong type is as good as
//! none. So every accessor takes all spellings of a field, answers with the first that has the right type,
//! and never fails. Text leaves this file only as [`Redacted`] or as a borrowed `str` that the host files
//! match against known words.

use serde_json::{Map, Value};

use crate::event::{MAX_ID, MAX_LINE};
use crate::redact::Redacted;

/// Most parts of a command line or path list that are joined into one text.
const MAX_PARTS: usize = 200;

/// A JSON object of a host.
#[derive(Debug, Clone, Copy)]
pub struct Payload<'a> {
    map: &'a Map<String, Value>,
}

impl<'a> Payload<'a> {
    /// The object in `value`; `None` for every other JSON type.
    #[must_use]
    pub fn new(value: &'a Value) -> Option<Self> {
        value.as_object().map(|map| Self { map })
    }

    /// Whether any of the fields is there and not null.
    #[must_use]
    pub fn has(&self, names: &[&str]) -> bool {
        self.find(names, |v| (!v.is_null()).then_some(())).is_some()
    }

    /// The first of the fields that is a string, empty ones too.
    #[must_use]
    pub fn str(&self, names: &[&str]) -> Option<&'a str> {
        self.find(names, Value::as_str)
    }

    /// The first of the fields that is a string with more than blanks in it, trimmed.
    #[must_use]
    pub fn word(&self, names: &[&str]) -> Option<&'a str> {
        self.find(names, |v| v.as_str().map(str::trim).filter(|s| !s.is_empty()))
    }

    /// The first of the fields that is a string, redacted and cut to `max_chars`.
    #[must_use]
    pub fn text(&self, names: &[&str], max_chars: usize) -> Option<Redacted> {
        self.str(names).map(|s| Redacted::truncated(s, max_chars))
    }

    /// The first of the fields that says something, cut to [`MAX_LINE`]: a path, an error, a command line.
    /// A list of strings is joined with blanks (some hosts send `["bash", "-c", …]`).
    #[must_use]
    pub fn line(&self, names: &[&str]) -> Option<Redacted> {
        self.find(names, |v| match v {
            Value::String(s) if !s.trim().is_empty() => Some(Redacted::truncated(s, MAX_LINE)),
            Value::Array(parts) => joined(parts),
            _ => None,
        })
    }

    /// The first of the fields that is an identifier: text with something in it, or a whole number.
    #[must_use]
    pub fn id(&self, names: &[&str]) -> Option<Redacted> {
        self.find(names, |v| match v {
            Value::String(s) if !s.trim().is_empty() => Some(Redacted::truncated(s, MAX_ID)),
            Value::Number(n) if n.is_i64() || n.is_u64() => Some(Redacted::new(&n.to_string())),
            _ => None,
        })
    }

    /// The first of the fields that is a truth value, as JSON or as `"true"` or `"false"`.
    #[must_use]
    pub fn flag(&self, names: &[&str]) -> Option<bool> {
        self.find(names, |v| match v {
            Value::Bool(b) => Some(*b),
            Value::String(s) if s.eq_ignore_ascii_case("true") => Some(true),
            Value::String(s) if s.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        })
    }

    /// The first of the fields that is a whole number, as JSON or as text.
    #[must_use]
    pub fn int(&self, names: &[&str]) -> Option<i64> {
        self.find(names, |v| match v {
            Value::Number(n) => n.as_i64(),
            Value::String(s) => s.trim().parse().ok(),
            _ => None,
        })
    }

    /// A line number: a whole number from 1 on.
    #[must_use]
    pub fn line_number(&self, names: &[&str]) -> Option<u32> {
        self.int(names)
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| *n > 0)
    }

    /// The first of the fields that is an object.
    #[must_use]
    pub fn object(&self, names: &[&str]) -> Option<Payload<'a>> {
        self.find(names, Payload::new)
    }

    /// The first of the fields that is an array.
    #[must_use]
    pub fn array(&self, names: &[&str]) -> Option<&'a [Value]> {
        self.find(names, |v| v.as_array().map(Vec::as_slice))
    }

    fn find<T>(&self, names: &[&str], read: impl Fn(&'a Value) -> Option<T>) -> Option<T> {
        names.iter().find_map(|name| self.map.get(*name).and_then(&read))
    }
}

fn joined(parts: &[Value]) -> Option<Redacted> {
    let words: Option<Vec<&str>> = parts.iter().take(MAX_PARTS).map(Value::as_str).collect();
    let line = words?.join(" ");
    (!line.trim().is_empty()).then(|| Redacted::truncated(&line, MAX_LINE))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_object_is_a_payload() {
        for value in [json!(null), json!(1), json!("x"), json!([{}]), json!(true)] {
            assert!(Payload::new(&value).is_none(), "{value}");
        }
        assert!(Payload::new(&json!({})).is_some());
    }

    #[test]
    fn the_first_spelling_with_the_right_type_wins() {
        let value =
            json!({"session_id": 7.5, "sessionId": "abc", "n": "12", "m": 3, "on": "True", "off": false});
        let payload = Payload::new(&value).unwrap();
        assert_eq!(payload.str(&["session_id", "sessionId"]), Some("abc"));
        assert_eq!(payload.id(&["session_id", "sessionId"]).as_deref(), Some("abc"));
        assert_eq!(payload.id(&["m"]).as_deref(), Some("3"));
        assert_eq!(payload.int(&["n"]), Some(12));
        assert_eq!(payload.flag(&["on"]), Some(true));
        assert_eq!(payload.flag(&["off"]), Some(false));
        assert_eq!(payload.flag(&["m"]), None);
        assert!(payload.object(&["n"]).is_none());
        assert!(payload.array(&["n"]).is_none());
    }

    #[test]
    fn empty_text_is_text_but_no_word_no_line_and_no_id() {
        let value = json!({"t": " ", "n": null});
        let payload = Payload::new(&value).unwrap();
        assert_eq!(payload.str(&["t"]), Some(" "));
        assert_eq!(payload.word(&["t"]), None);
        assert_eq!(payload.line(&["t"]), None);
        assert_eq!(payload.id(&["t"]), None);
        assert!(payload.has(&["t"]));
        assert!(!payload.has(&["n", "absent"]));
    }

    #[test]
    fn a_command_line_may_be_a_list() {
        let value = json!({"command": ["bash", "-lc", "echo hi"], "mixed": ["a", 1], "none": []});
        let payload = Payload::new(&value).unwrap();
        assert_eq!(payload.line(&["command"]).as_deref(), Some("bash -lc echo hi"));
        assert_eq!(payload.line(&["mixed"]), None);
        assert_eq!(payload.line(&["none"]), None);
    }
}
