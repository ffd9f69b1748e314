//! Reading values as people and models write them: numbers in text, one for a list of one, null for nothing.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::phase::PhaseId;
use super::session::List;

fn text_of<E: serde::de::Error>(value: Value) -> Result<Option<String>, E> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        Value::Bool(flag) => Ok(Some(flag.to_string())),
        Value::Array(_) | Value::Object(_) => {
            Err(E::custom("a list or an object stands where a text belongs"))
        }
    }
}

pub(super) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    text_of(Value::deserialize(from)?).map(Option::unwrap_or_default)
}

pub(super) fn maybe<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    text_of(Value::deserialize(from)?)
}

/// A count; text that is a number counts as that.
pub(super) fn count_of(value: &Value) -> Option<u64> {
    match value {
        Value::Null => Some(0),
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    }
}

pub(super) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(from)?;
    count_of(&value).ok_or_else(|| serde::de::Error::custom(format!("{value} stands where a count belongs")))
}

pub(super) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(from)?;
    match value.as_str().or(value.is_null().then_some("false")) {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        _ => value
            .as_bool()
            .ok_or_else(|| serde::de::Error::custom(format!("{value} stands where true or false belongs"))),
    }
}

pub(super) fn list<'de, D: Deserializer<'de>>(from: D) -> Result<List, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        one => vec![one],
    })
}

pub(super) fn ids<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PhaseId>, D::Error> {
    let ids = list(from)?.into_iter().map(serde_json::from_value);
    ids.collect::<Result<_, _>>().map_err(serde::de::Error::custom)
}

pub(super) fn object_or_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + serde::de::DeserializeOwned,
{
    match Value::deserialize(from)? {
        Value::Null => Ok(T::default()),
        value => serde_json::from_value(value).map_err(serde::de::Error::custom),
    }
}
