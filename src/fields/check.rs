//! Strict checks: what is no parameter, of another type or out of its range is refused by its name and place.
//! What passes goes by its own name, and all text of it is redacted.

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Field, Form, MAX_ITEMS, MAX_LINE, MAX_TEXT, Type};
use crate::redact::Redacted;

/// Longest value that is shown again, in characters.
const MAX_SHOWN: usize = 120;

/// A parameter that is not what it has to be.
#[derive(Debug, Clone)]
pub struct Wrong {
    /// Which, with its place: `actions[1].order`.
    pub parameter: String,
    /// What was given, as it may be shown again; none when it is missing.
    pub value: Option<Box<Value>>,
    /// What it has to be.
    pub constraint: String,
    /// The form that it does not have, if that is what is wrong with it.
    pub form: Option<&'static Form>,
}

impl Wrong {
    /// What was given, or its absence.
    #[must_use]
    pub fn new(parameter: &str, value: Option<&Value>, constraint: impl Into<String>) -> Self {
        Self {
            parameter: parameter.to_owned(),
            value: value.map(|value| Box::new(shown(value))),
            constraint: constraint.into(),
            form: None,
        }
    }
}

/// A value as it may be shown again: without secrets, and short.
fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(Redacted::truncated(text, MAX_SHOWN)),
        Value::Array(_) | Value::Object(_) => json!(Redacted::truncated(&value.to_string(), MAX_SHOWN)),
        plain => plain.clone(),
    }
}

/// Parameters that were checked. Only [`check`] makes them, so that their text may be read as [`Redacted`].
#[derive(Debug, Clone, Default)]
pub struct Checked(Map<String, Value>);

impl Checked {
    /// They as a type of ours.
    ///
    /// # Errors
    /// When the table of parameters and the type differ: a fault of ours, in words.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_value(Value::Object(self.0.clone()))
            .map_err(|e| format!("the parameters do not fit their type: {e}"))
    }

    /// Whether a member of a parameter was given.
    #[must_use]
    pub fn has_in(&self, parameter: &str, name: &str) -> bool {
        self.0
            .get(parameter)
            .is_some_and(|value| value.get(name).is_some())
    }

    /// A parameter.
    #[must_use]
    pub fn get(&self, parameter: &str) -> Option<&Value> {
        self.0.get(parameter)
    }
}

/// Checks parameters against their fields.
///
/// # Errors
/// The first that is not what it has to be.
pub fn check<'f>(params: &Value, fields: impl Iterator<Item = &'f Field>) -> Result<Checked, Wrong> {
    let fields: Vec<&Field> = fields.collect();
    match params {
        Value::Null => object(&Map::new(), &fields, "").map(Checked),
        Value::Object(given) => object(given, &fields, "").map(Checked),
        other => Err(Wrong::new("params", Some(other), "an object")),
    }
}

fn object(given: &Map<String, Value>, fields: &[&Field], place: &str) -> Result<Map<String, Value>, Wrong> {
    let mut checked = Map::new();
    for (name, value) in given {
        let at = join(place, &Redacted::truncated(name, 60));
        let Some(field) = fields.iter().find(|f| f.is_called(name)) else {
            let known: Vec<&str> = fields.iter().map(|f| f.name).collect();
            let constraint = match known.as_slice() {
                [] => "the method has no parameters".to_owned(),
                known => format!("the parameters are {}", known.join(", ")),
            };
            return Err(Wrong::new(
                &at,
                Some(value),
                format!("it is not known; {constraint}"),
            ));
        };
        // What is null or an empty text is absent: it erases nothing.
        let blank = matches!(field.kind, Type::Line | Type::Text)
            && value.as_str().is_some_and(|t| t.trim().is_empty());
        if value.is_null() || (blank && !field.required) {
            continue;
        }
        let value = one(value, &field.kind, &at)?;
        let known = checked.insert(field.name.to_owned(), value);
        if known.is_some() && known.as_ref() != checked.get(field.name) {
            let names = [&[field.name], field.synonyms].concat().join(" and ");
            return Err(Wrong::new(
                &at,
                given.get(name),
                format!("{names} are one parameter: give it once"),
            ));
        }
    }
    for field in fields.iter().filter(|f| f.required) {
        if !checked.contains_key(field.name) {
            return Err(Wrong::new(
                &join(place, field.name),
                None,
                field.kind.constraint(),
            ));
        }
    }
    Ok(checked)
}

fn join(place: &str, name: &str) -> String {
    if place.is_empty() {
        name.to_owned()
    } else {
        format!("{place}.{name}")
    }
}

fn one(value: &Value, kind: &Type, at: &str) -> Result<Value, Wrong> {
    let refused = || Wrong::new(at, Some(value), kind.constraint());
    let text = || value.as_str().ok_or_else(refused);
    match kind {
        Type::Line => kept(text()?, MAX_LINE)
            .filter(|t| !t.trim().is_empty())
            .map(|t| json!(t))
            .ok_or_else(refused),
        Type::Text => kept(text()?, MAX_TEXT).map(|t| json!(t)).ok_or_else(refused),
        Type::Integer(least, most) => match value.as_u64() {
            Some(n) if (*least..=*most).contains(&n) => Ok(json!(n)),
            _ => Err(refused()),
        },
        Type::Time => match DateTime::parse_from_rfc3339(text()?) {
            Ok(at) => Ok(json!(at.with_timezone(&Utc))),
            Err(_) => Err(refused()),
        },
        Type::OneOf(words) => match words.iter().find(|w| Some(**w) == value.as_str()) {
            Some(word) => Ok(json!(word)),
            None => Err(refused()),
        },
        // Only that it was given.
        Type::NotKept => Ok(json!(true)),
        Type::Count(least, most) => {
            let written = || value.as_str().and_then(|t| t.trim().parse().ok());
            match value.as_u64().or_else(written) {
                Some(n) if (*least..=*most).contains(&n) => Ok(json!(n)),
                _ => Err(refused()),
            }
        }
        Type::Flag => value.as_bool().map(|flag| json!(flag)).ok_or_else(refused),
        Type::Form(form) => match text()? {
            text if (form.fits)(text) => Ok(json!(text)),
            _ => Err(Wrong {
                form: Some(form),
                ..refused()
            }),
        },
        Type::Label(form) => match value.as_str() {
            Some(text) if (form.fits)(text) => Ok(json!(text)),
            None if value.is_u64() => Ok(value.clone()),
            _ => Err(refused()),
        },
        Type::Labels(form) => several(value, &Type::Label(form), at, refused),
        Type::Texts => several(value, &Type::Text, at, refused),
        Type::Lines => {
            list(value, 0, refused)?;
            several(value, &Type::Line, at, refused)
        }
        Type::List(fields, least) => {
            let fields: Vec<&Field> = fields.iter().collect();
            let item = |(i, item): (usize, &Value)| {
                let at = format!("{at}[{i}]");
                let given = item
                    .as_object()
                    .ok_or_else(|| Wrong::new(&at, Some(item), "an object"))?;
                object(given, &fields, &at).map(Value::Object)
            };
            list(value, *least, refused)?
                .iter()
                .enumerate()
                .map(item)
                .collect()
        }
        Type::Object(fields) => {
            let given = value.as_object().ok_or_else(refused)?;
            object(given, &fields.iter().collect::<Vec<_>>(), at).map(Value::Object)
        }
    }
}

/// A list of such values; one alone is a list of one.
fn several(value: &Value, kind: &Type, at: &str, refused: impl Fn() -> Wrong) -> Result<Value, Wrong> {
    if !value.is_array() {
        return Ok(json!([one(value, kind, at)?]));
    }
    let items = list(value, 0, refused)?.iter().enumerate();
    items
        .map(|(i, item)| one(item, kind, &format!("{at}[{i}]")))
        .collect()
}

fn list(value: &Value, least: usize, refused: impl Fn() -> Wrong) -> Result<&Vec<Value>, Wrong> {
    let items = value.as_array().ok_or_else(&refused)?;
    if (least..=MAX_ITEMS).contains(&items.len()) {
        Ok(items)
    } else {
        Err(refused())
    }
}

/// The text without its secrets, if it may be kept: no store takes a NUL.
fn kept(text: &str, max: usize) -> Option<Redacted> {
    let fits = text.len() <= max || text.chars().count() <= max;
    (fits && !text.contains('\0')).then(|| Redacted::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: Form = Form {
        name: "name",
        constraint: "a name in PascalCase",
        pattern: "^[A-Z][A-Za-z0-9]*$",
        fits: |text| text.starts_with(|c: char| c.is_ascii_uppercase()) && !text.contains('-'),
    };
    const INNER: &[Field] = &[
        Field::required("order", Type::Integer(0, 9), ""),
        Field::optional("at", Type::Time, ""),
    ];
    const FIELDS: &[Field] = &[
        Field::required("title", Type::Line, ""),
        Field::optional("text", Type::Text, ""),
        Field::optional("agent", Type::Form(&NAME), "").or(&["sourceType"]),
        Field::optional("role", Type::OneOf(&["model", "user"]), ""),
        Field::optional("tags", Type::Lines, ""),
        Field::optional("actions", Type::List(INNER, 1), ""),
        Field::optional("sessionLog", Type::Object(INNER), ""),
        Field::optional("count", Type::Count(1, 9), ""),
        Field::optional("flag", Type::Flag, ""),
        Field::optional("label", Type::Label(&NAME), ""),
        Field::optional("labels", Type::Labels(&NAME), ""),
        Field::optional("texts", Type::Texts, ""),
    ];

    #[test]
    fn what_is_not_as_it_has_to_be_is_refused_by_name_and_place() {
        for (params, parameter) in [
            (json!({}), "title"),
            (json!({"title": " "}), "title"),
            (json!({"title": 1}), "title"),
            (json!({"title": null}), "title"),
            (json!({"title": "a\0b"}), "title"),
            (json!({"title": "x".repeat(MAX_LINE + 1)}), "title"),
            (json!({"title": "t", "Text": ""}), "Text"),
            (json!({"title": "t", "agent": "your-agent"}), "agent"),
            (
                json!({"title": "t", "agent": "A", "sourceType": "B"}),
                "sourceType",
            ),
            (json!({"title": "t", "role": "Model"}), "role"),
            (json!({"title": "t", "tags": "a"}), "tags"),
            (json!({"title": "t", "tags": ["a", 1]}), "tags[1]"),
            (json!({"title": "t", "actions": []}), "actions"),
            (json!({"title": "t", "actions": ["a"]}), "actions[0]"),
            (
                json!({"title": "t", "actions": [{"order": 1}, {"order": "1"}]}),
                "actions[1].order",
            ),
            (
                json!({"title": "t", "actions": [{"order": 1.0}]}),
                "actions[0].order",
            ),
            (
                json!({"title": "t", "actions": [{"order": -1}]}),
                "actions[0].order",
            ),
            (
                json!({"title": "t", "actions": [{"order": 10}]}),
                "actions[0].order",
            ),
            (
                json!({"title": "t", "actions": [{"order": true}]}),
                "actions[0].order",
            ),
            (json!({"title": "t", "actions": [{}]}), "actions[0].order"),
            (
                json!({"title": "t", "actions": [{"order": 1, "at": "2026-02-30T00:00:00Z"}]}),
                "actions[0].at",
            ),
            (
                json!({"title": "t", "actions": [{"order": 1, "at": "2026-02-03"}]}),
                "actions[0].at",
            ),
            (
                json!({"title": "t", "sessionLog": {"order": "1"}}),
                "sessionLog.order",
            ),
            (json!({"title": "t", "count": "ten"}), "count"),
            (json!({"title": "t", "count": "10"}), "count"),
            (json!({"title": "t", "count": 1.5}), "count"),
            (json!({"title": "t", "flag": "true"}), "flag"),
            (json!({"title": "t", "label": "../x"}), "label"),
            (json!({"title": "t", "label": -1}), "label"),
            (json!({"title": "t", "labels": [1, "a"]}), "labels[1]"),
            (json!({"title": "t", "labels": {}}), "labels"),
            (json!({"title": "t", "texts": [1]}), "texts[0]"),
            (json!([]), "params"),
        ] {
            match check(&params, FIELDS.iter()) {
                Err(wrong) => assert_eq!(wrong.parameter, parameter, "{params}"),
                Ok(checked) => panic!("{params}: {checked:?}"),
            }
        }
    }

    #[test]
    fn numbers_may_be_text_and_one_may_be_a_list_of_one_where_the_table_says_so() {
        let given = json!({"title": "t", "count": " 7", "label": "One", "labels": 2, "texts": "a"});
        let checked = check(&given, FIELDS.iter()).unwrap().0;
        let wanted = json!({"title": "t", "count": 7, "label": "One", "labels": [2], "texts": ["a"]});
        assert_eq!(json!(checked), wanted);
    }

    #[test]
    fn what_passes_goes_by_its_own_name_and_has_no_secret() {
        let secret = "ghp_0000Zk3VxQ8rT1mW6yB9cN4dF7gH2jL5pS0a";
        let given = json!({"title": format!("with {secret}"), "sourceType": "A", "text": "", "tags": [secret], "actions": null});
        let checked = check(&given, FIELDS.iter()).unwrap().0;
        assert_eq!(checked["agent"], "A");
        assert!(!checked.contains_key("text") && !checked.contains_key("actions"));
        assert!(!json!(checked).to_string().contains(secret), "{checked:?}");
        assert_eq!(
            check(
                &json!({"title": "t", "agent": "A", "sourceType": "A"}),
                FIELDS.iter()
            )
            .unwrap()
            .0["agent"],
            "A"
        );
    }
}
