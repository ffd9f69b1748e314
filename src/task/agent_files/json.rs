//! JSON that others write too. An object is read into an ordered list of members whose values stay text;
//! a change replaces the spans of those values and nothing else, so whatever we do not know (keys, order,
//! spacing, numbers of any length, a byte-order mark, the ends of lines) stays byte for byte.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

const MARK: char = '\u{feff}';

/// Why a text cannot be used, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The line, from 1.
    pub line: usize,
    /// What is the matter, a clause: `a comma is missing`.
    pub why: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// A whole text that is one JSON object.
#[derive(Debug)]
pub(super) struct Document<'a> {
    text: &'a str,
    pub(super) root: Object<'a>,
    pub(super) form: Form,
}

/// A value: its text, and where that begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) at: usize,
    pub(super) text: &'a str,
}

/// An object: its own text and its members in their order.
#[derive(Debug)]
pub(super) struct Object<'a> {
    pub(super) whole: Value<'a>,
    members: Vec<(String, Value<'a>)>,
    /// Where a key stands for the second time.
    pub(super) twice: Option<usize>,
}

/// How the text is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) newline: &'static str,
    pub(super) unit: String,
    /// A blank after `:` and `,` where all stands on one line.
    pub(super) spaced: bool,
}

/// A span and what is to stand there.
pub(super) type Edit = (Range<usize>, String);

struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ordered;
        impl<'de> Visitor<'de> for Ordered {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Ordered)
    }
}

impl<'a> Document<'a> {
    /// Reads a text.
    ///
    /// # Errors
    /// Where it is no JSON, or that it is no object, or names a key twice.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Broken> {
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let before = bytes.get(..e.valid_up_to()).unwrap_or_default();
            broken(before, "it is no UTF-8")
        })?;
        let bare = text.trim_start_matches(MARK).trim();
        if bare.is_empty() {
            return Err(broken(b"", "it is empty"));
        }
        if !bare.starts_with('{') {
            return Err(broken(b"", "it is no JSON object"));
        }
        let at = offset(text, bare);
        let whole = Value { at, text: bare };
        let root = whole.members().map_err(|e| {
            // (Its message says the line within the object, and no content.)
            let message = e.to_string();
            let why = message.split(" at line ").next().unwrap_or_default();
            let above = text.get(..at).unwrap_or_default().matches('\n').count();
            Broken {
                line: above + e.line().max(1),
                why: format!("it is no JSON: {why}"),
            }
        })?;
        if let Some(twice) = root.twice {
            return Err(broken(
                text.as_bytes().get(..twice).unwrap_or_default(),
                "a key stands there twice",
            ));
        }
        let form = Form::of(text, &root);
        Ok(Self { text, root, form })
    }

    /// The line on which a place stands, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.text.get(..at).unwrap_or_default().matches('\n').count() + 1
    }

    /// The text with its edits; `None` when there are none.
    pub(super) fn with(&self, mut edits: Vec<Edit>) -> Option<Vec<u8>> {
        if edits.is_empty() {
            return None;
        }
        edits.sort_by_key(|(span, _)| (span.start, span.end));
        Some(splice(self.text, 0, &edits).into_bytes())
    }
}

/// A text that begins at `base`, with edits that are in order and apart.
pub(super) fn splice(text: &str, base: usize, edits: &[Edit]) -> String {
    let mut new = String::with_capacity(text.len() + 256);
    let mut done = base;
    for (span, put) in edits {
        new.push_str(text.get(done - base..span.start - base).unwrap_or_default());
        new.push_str(put);
        done = span.end;
    }
    new.push_str(text.get(done - base..).unwrap_or_default());
    new
}

fn broken(before: &[u8], why: &str) -> Broken {
    Broken {
        line: before.iter().filter(|b| **b == b'\n').count() + 1,
        why: why.to_owned(),
    }
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize)
}

impl<'a> Value<'a> {
    /// Its type, for people.
    pub(super) fn kind(self) -> &'static str {
        match self.text.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "a list",
            Some(b'"') => "a text",
            Some(b'n') => "null",
            Some(b't' | b'f') => "true or false",
            _ => "a number",
        }
    }

    pub(super) fn is_null(self) -> bool {
        self.text == "null"
    }

    /// A text's content.
    pub(super) fn string(self) -> Option<String> {
        serde_json::from_str(self.text).ok()
    }

    /// An object's members.
    pub(super) fn object(self) -> Option<Object<'a>> {
        self.text.starts_with('{').then(|| self.members().ok()).flatten()
    }

    /// A list's items.
    pub(super) fn items(self) -> Option<Vec<Value<'a>>> {
        let items: Vec<&'a RawValue> = serde_json::from_str(self.text).ok()?;
        Some(items.into_iter().map(|raw| self.part(raw)).collect())
    }

    pub(super) fn span(self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    fn part(self, raw: &'a RawValue) -> Value<'a> {
        Value {
            at: self.at + offset(self.text, raw.get()),
            text: raw.get(),
        }
    }

    fn members(self) -> serde_json::Result<Object<'a>> {
        let Members(raw) = serde_json::from_str(self.text)?;
        let mut object = Object {
            whole: self,
            members: Vec::with_capacity(raw.len()),
            twice: None,
        };
        for (key, raw) in raw {
            let value = self.part(raw);
            if object.get(&key).is_some() {
                object.twice = object.twice.or(Some(value.at));
            }
            object.members.push((key, value));
        }
        Ok(object)
    }
}

impl<'a> Object<'a> {
    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        self.members.iter().find(|(k, _)| k == key).map(|(_, v)| *v)
    }

    /// A member that is a text, under the first of these names that is one.
    pub(super) fn string(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name)?.string())
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(key, _)| key.as_str())
    }

    /// Where its last member ends.
    pub(super) fn end_of_last(&self) -> Option<usize> {
        self.members.last().map(|(_, value)| value.span().end)
    }

    /// The blanks before each member; `None`: all stands on one line.
    pub(super) fn indent(&self) -> Option<&'a str> {
        indent(self.whole.text)
    }
}

/// The blanks before what first stands inside brackets, if a line begins there.
pub(super) fn indent(brackets: &str) -> Option<&str> {
    let inside = brackets.get(1..)?;
    let gap = inside.get(..inside.len() - inside.trim_start().len())?;
    gap.rsplit_once('\n').map(|(_, blanks)| blanks)
}

impl Form {
    /// That of a new file.
    pub(super) fn usual() -> Self {
        Self {
            newline: "\n",
            unit: "  ".to_owned(),
            spaced: true,
        }
    }

    fn of(text: &str, root: &Object<'_>) -> Self {
        let unit = match (root.members.is_empty(), root.indent()) {
            (false, Some(blanks)) => blanks,
            _ => "  ",
        };
        let first = root.members.first();
        let colon = first.and_then(|(_, v)| text.get(..v.at));
        Self {
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            unit: unit.to_owned(),
            spaced: colon.is_none_or(|before| before.ends_with([' ', '\t', '\n'])),
        }
    }
}
