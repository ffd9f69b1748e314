//! What a parameter may be, as data: the strict [`check()`], the help and the JSON Schema of a tool are made of it.
//!
//! Whoever offers methods to models keeps a table of them, each with its [`Field`]s: `log::methods::table`,
//! `orchestration::tools`. Nothing on this side of the check knows what a parameter is for.

mod check;

use serde_json::{Map, Value, json};

pub use check::{Checked, Wrong, check};

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
    /// The same, which may also be written as text.
    Count(u64, u64),
    /// True or false.
    Flag,
    /// Text of that form: an id, a name.
    Form(&'static Form),
    /// Text of that form, or a whole number.
    Label(&'static Form),
    /// A list of labels; one alone is a list of one.
    Labels(&'static Form),
    /// Whatever it is, it is taken and not kept: what an answer says and the log says itself.
    NotKept,
    /// A list of lines.
    Lines,
    /// A list of texts; one alone is a list of one.
    Texts,
    /// A list of objects with these fields, at least so many.
    List(&'static [Field], usize),
    /// An object with these fields.
    Object(&'static [Field]),
}

/// A form that a text has.
#[derive(Debug)]
pub struct Form {
    /// What has it, in words: `session id`.
    pub name: &'static str,
    /// What it has to be, in words.
    pub constraint: &'static str,
    /// A regular expression for schemas; it may let pass what [`Form::fits`] refuses (a day that is none).
    pub pattern: &'static str,
    /// Whether a text has it.
    pub fits: fn(&str) -> bool,
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
            Self::Count(least, most) => format!("an integer from {least} to {most}"),
            Self::Flag => "true or false".to_owned(),
            Self::Form(form) => form.constraint.to_owned(),
            Self::Label(form) => format!("an integer, or {}", form.constraint),
            Self::Labels(form) => format!(
                "a list of at most {MAX_ITEMS}, each an integer, or {}",
                form.constraint
            ),
            Self::Texts => format!("a list of at most {MAX_ITEMS} texts, or one text"),
            Self::NotKept => "anything; it is not kept".to_owned(),
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
            Self::Count(least, most) => json!({"anyOf": [
                {"type": "integer", "minimum": least, "maximum": most}, {"type": "string", "pattern": "^[0-9]+$"},
            ]}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Form(form) => json!({"type": "string", "pattern": form.pattern}),
            Self::Label(form) => label(form),
            Self::Labels(form) => {
                json!({"anyOf": [{"type": "array", "items": label(form), "maxItems": MAX_ITEMS}, label(form)]})
            }
            Self::Texts => json!({"anyOf": [
                {"type": "array", "items": {"type": "string"}, "maxItems": MAX_ITEMS}, {"type": "string"},
            ]}),
            Self::NotKept => json!({}),
            Self::Lines => json!({"type": "array", "items": {"type": "string"}, "maxItems": MAX_ITEMS}),
            Self::List(fields, least) => {
                json!({"type": "array", "items": schema(fields.iter()), "minItems": least, "maxItems": MAX_ITEMS})
            }
            Self::Object(fields) => schema(fields.iter()),
        }
    }
}

fn label(form: &Form) -> Value {
    json!({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": form.pattern}]})
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
