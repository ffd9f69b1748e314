//! What a parameter may be, as data: the strict check, the help and the JSON Schema of a tool are made of it.

use serde_json::{Map, Value, json};

use crate::log::id::{REQUEST_REGEX, SESSION_REGEX};

/// Longest text, in characters.
pub const MAX_TEXT: usize = crate::event::MAX_TEXT;
/// Longest line: a title, a path, a tag.
pub const MAX_LINE: usize = crate::event::MAX_LINE;
/// Most items of a list.
pub const MAX_ITEMS: usize = 1_000;

/// One parameter.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub synonyms: &'static [&'static str],
    /// Whether it must be given.
    pub required: bool,
    /// What it may be.
    pub kind: Type,
    /// What it means.
    pub about: &'static str,
}

/// What a value may be.
#[derive(Debug)]
pub enum Type {
    /// Text of one line's length that is not blank.
    Line,
    /// Text, maybe empty.
    Text,
    /// A whole number in a range.
    Integer(u64, u64),
    /// A date and time that exists, with its zone.
    Time,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// Whatever it is, it is taken and not kept: what an answer says and the log says itself.
    NotKept,
    /// The name of an agent in PascalCase.
    Agent,
    /// The id of a session.
    SessionId,
    /// The id of a turn.
    RequestId,
    /// A list of lines.
    Lines,
    /// A list of objects with these fields, at least so many.
    List(&'static [Field], usize),
    /// An object with these fields.
    Object(&'static [Field]),
}

impl Field {
    /// One that must be given.
    #[must_use]
    pub const fn required(name: &'static str, kind: Type, about: &'static str) -> Self {
        Self {
            name,
            synonyms: &[],
            required: true,
            kind,
            about,
        }
    }

    /// One that may be given.
    #[must_use]
    pub const fn optional(name: &'static str, kind: Type, about: &'static str) -> Self {
        Self {
            required: false,
            ..Self::required(name, kind, about)
        }
    }

    /// One that is taken because an answer has it, and not kept.
    #[must_use]
    pub const fn answered(name: &'static str) -> Self {
        Self::optional(name, Type::NotKept, "not kept: the log says it")
    }

    /// The same with other names.
    #[must_use]
    pub const fn or(self, synonyms: &'static [&'static str]) -> Self {
        Self { synonyms, ..self }
    }

    /// Whether it goes by that name.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.synonyms.contains(&name)
    }
}

impl Type {
    /// What it has to be, in words.
    #[must_use]
    pub fn constraint(&self) -> String {
        match self {
            Self::Line => format!("text that is not blank, at most {MAX_LINE} characters"),
            Self::Text => format!("text, at most {MAX_TEXT} characters"),
            Self::Integer(least, most) => format!("an integer from {least} to {most}, not text"),
            Self::Time => "a date and time that exists, like 2026-04-09T12:00:04Z".to_owned(),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Flag => "true or false".to_owned(),
            Self::NotKept => "anything; it is not kept".to_owned(),
            Self::Agent => "the agent's name in PascalCase, like YourAgent".to_owned(),
            Self::SessionId => "a session id".to_owned(),
            Self::RequestId => "a request id".to_owned(),
            Self::Lines => format!("a list of at most {MAX_ITEMS} texts"),
            Self::List(_, 0) => format!("a list of at most {MAX_ITEMS} objects"),
            Self::List(_, least) => format!("a list of {least} to {MAX_ITEMS} objects"),
            Self::Object(_) => "an object".to_owned(),
        }
    }

    /// Its JSON Schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        match self {
            Self::Line => json!({"type": "string", "minLength": 1, "maxLength": MAX_LINE}),
            Self::Text => json!({"type": "string", "maxLength": MAX_TEXT}),
            Self::Integer(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Self::Time => json!({"type": "string", "format": "date-time"}),
            Self::OneOf(words) => json!({"type": "string", "enum": words}),
            Self::Flag => json!({"type": "boolean"}),
            Self::NotKept => json!({}),
            Self::Agent => json!({"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*$"}),
            Self::SessionId => json!({"type": "string", "pattern": SESSION_REGEX}),
            Self::RequestId => json!({"type": "string", "pattern": REQUEST_REGEX}),
            Self::Lines => json!({"type": "array", "items": {"type": "string"}, "maxItems": MAX_ITEMS}),
            Self::List(fields, least) => {
                json!({"type": "array", "items": schema(fields.iter()), "minItems": least, "maxItems": MAX_ITEMS})
            }
            Self::Object(fields) => schema(fields.iter()),
        }
    }
}

/// The JSON Schema of an object with these fields. A field goes by its own name there, not by its synonyms.
#[must_use]
pub fn schema<'f>(fields: impl Iterator<Item = &'f Field>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in fields {
        let mut one = field.kind.schema();
        if let Some(one) = one.as_object_mut() {
            one.insert("description".to_owned(), json!(field.about));
        }
        properties.insert(field.name.to_owned(), one);
        if field.required {
            required.push(field.name);
        }
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
