//! JSON that a person wrote, changed without changing its form: comments, order, indentation, a byte-order
//! mark and the end of lines stay; only what differs is touched.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::errors::ParseError;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::error::Broken;

const MARK: &str = "\u{feff}";

/// A parsed text.
#[derive(Debug, Clone)]
pub(super) struct Json {
    marks: String,
    text: String,
    value: Value,
}

impl Json {
    /// Parses a JSON object, in which comments and trailing commas are let pass; an empty text is `{}`.
    ///
    /// # Errors
    /// Where it does not parse, or that it is no object.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Broken> {
        let text = std::str::from_utf8(bytes).map_err(|e| not_utf8(bytes, e.valid_up_to()))?;
        let bare = text.trim_start_matches(MARK);
        let marks = MARK.repeat((text.len() - bare.len()) / MARK.len());
        let root = CstRootNode::parse(bare, &lenient()).map_err(|e| broken(&e))?;
        let value = match root.value() {
            None => json!({}),
            Some(node) => node.to_serde_value().unwrap_or(Value::Null),
        };
        if !value.is_object() {
            return Err(Broken {
                line: 1,
                column: 1,
                why: "it is no JSON object".to_owned(),
            });
        }
        Ok(Self {
            marks,
            text: bare.to_owned(),
            value,
        })
    }

    /// What it says.
    #[must_use]
    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    /// Where a reader that takes no comments and no trailing commas stops.
    #[must_use]
    pub(super) fn not_strict(&self) -> Option<Broken> {
        if self.text.trim().is_empty() {
            return None;
        }
        let error = serde_json::from_str::<IgnoredAny>(&self.text).err()?;
        let line = self
            .text
            .lines()
            .nth(error.line().saturating_sub(1))
            .unwrap_or_default();
        let why = match line.as_bytes().get(error.column().saturating_sub(1)) {
            Some(b'/') => "a comment",
            Some(b']' | b'}') => "a comma before a closing bracket",
            _ => "a character that has to be escaped",
        };
        Some(Broken {
            line: error.line(),
            column: error.column(),
            why: why.to_owned(),
        })
    }

    /// Its comments, in the order of the text.
    ///
    /// # Errors
    /// None that parsing did not have.
    pub(super) fn remarks(&self) -> Result<Vec<String>, Broken> {
        let root = CstRootNode::parse(&self.text, &lenient()).map_err(|e| broken(&e))?;
        let mut found = Vec::new();
        let mut nodes = root.children();
        while let Some(node) = nodes.pop() {
            if node.is_comment() {
                found.push(node.to_string().trim().to_owned());
            }
            nodes.extend(node.children());
        }
        Ok(found)
    }

    /// The text with what is needed changed so that it says `wanted`.
    ///
    /// # Errors
    /// It cannot be made to say it.
    pub(super) fn saying(&self, wanted: &Value) -> Result<Vec<u8>, Broken> {
        if alike(wanted, &self.value) {
            return Ok(self.bytes(&self.text));
        }
        if self.text.trim().is_empty() {
            return Ok(self.bytes(&format!("{wanted:#}\n")));
        }
        let root = CstRootNode::parse(&self.text, &lenient()).map_err(|e| broken(&e))?;
        if let (Some(object), Value::Object(from), Value::Object(to)) =
            (root.object_value(), &self.value, wanted)
        {
            change_object(&object, from, to);
        }
        let text = root.to_string();
        match Self::parse(text.as_bytes()) {
            Ok(said) if alike(&said.value, wanted) => Ok(self.bytes(&text)),
            _ => Err(Broken {
                line: 1,
                column: 1,
                why: "it cannot be changed without rewriting it".to_owned(),
            }),
        }
    }

    fn bytes(&self, text: &str) -> Vec<u8> {
        format!("{}{text}", self.marks).into_bytes()
    }
}

/// Says the same to a host. Claude Code writes `1.0` as `1` and `1e3` as `1000` (2.1.332).
#[must_use]
pub(super) fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let same = |(name, a): (&String, &Value)| b.get(name).is_some_and(|b| alike(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => a == b,
    }
}

fn change_object(object: &CstObject, from: &Map<String, Value>, to: &Map<String, Value>) {
    let properties = object.properties();
    let names: Vec<Option<String>> = properties.iter().map(CstObjectProp::decoded_name).collect();
    for (at, (property, name)) in properties.into_iter().zip(&names).enumerate() {
        let Some(name) = name else { continue };
        // Of those that stand there twice the last one counts.
        let counts = !names
            .iter()
            .skip(at + 1)
            .any(|later| later.as_ref() == Some(name));
        match (from.get(name), to.get(name)) {
            (_, None) => property.remove(),
            (Some(was), Some(wanted)) if counts && !alike(was, wanted) => match property.value() {
                Some(node) if change_inside(&node, was, wanted) => {}
                _ => property.set_value(input(wanted)),
            },
            _ => {}
        }
    }
    for (name, value) in to.iter().filter(|(name, _)| !from.contains_key(*name)) {
        object.append(name, input(value));
    }
}

/// Whether the change could be made within.
fn change_inside(node: &CstNode, was: &Value, wanted: &Value) -> bool {
    match (was, wanted) {
        (Value::Object(from), Value::Object(to)) => match node.as_object() {
            Some(object) if !from.is_empty() && !to.is_empty() => {
                change_object(&object, from, to);
                true
            }
            _ => false,
        },
        (Value::Array(from), Value::Array(to)) => match node.as_array() {
            Some(array) if !from.is_empty() && !to.is_empty() => change_array(&array, from, to),
            _ => false,
        },
        _ => false,
    }
}

/// Elements that stay keep their text, those behind them are appended; anything else is no small change.
fn change_array(array: &CstArray, from: &[Value], to: &[Value]) -> bool {
    let nodes = array.elements();
    if from.len() == to.len() {
        for ((node, was), wanted) in nodes.iter().zip(from).zip(to) {
            if !alike(was, wanted) && !change_inside(node, was, wanted) {
                return false;
            }
        }
        return true;
    }
    let mut next = to.iter().peekable();
    let mut gone = Vec::new();
    for (node, was) in nodes.into_iter().zip(from) {
        if next.next_if(|wanted| alike(wanted, was)).is_none() {
            gone.push(node);
        }
    }
    if gone.len() == from.len() {
        return false;
    }
    gone.into_iter().for_each(CstNode::remove);
    for value in next {
        array.append(input(value));
    }
    true
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(b) => CstInputValue::Bool(*b),
        Value::Number(n) => CstInputValue::Number(n.to_string()),
        Value::String(s) => CstInputValue::String(s.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(k, v)| (k.clone(), input(v))).collect())
        }
    }
}

fn lenient() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn broken(error: &ParseError) -> Broken {
    let text = error.kind().to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase());
    let why = first.into_iter().chain(letters).collect();
    Broken {
        line: error.line_display(),
        column: error.column_display(),
        why,
    }
}

fn not_utf8(bytes: &[u8], at: usize) -> Broken {
    let before = bytes.get(..at).unwrap_or_default();
    let lines = before.iter().filter(|b| **b == b'\n').count();
    let column = before.iter().rev().take_while(|b| **b != b'\n').count();
    Broken {
        line: lines + 1,
        column: column + 1,
        why: "a byte that is no UTF-8".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, change: impl Fn(&mut Value)) -> String {
        let json = Json::parse(text.as_bytes()).unwrap();
        let mut wanted = json.value().clone();
        change(&mut wanted);
        String::from_utf8(json.saying(&wanted).unwrap()).unwrap()
    }

    #[test]
    fn comments_order_and_form_stay_and_only_the_change_is_made() {
        let text =
            "\u{feff}{\r\n\t// mine\r\n\t\"model\": \"sonnet\",   /* why */\r\n\t\"b\": {\"x\":1}\r\n}\r\n";
        let added = changed(text, |v| v["enabledPlugins"] = json!({"a@b": true}));
        assert_eq!(
            added,
            text.replace(
                "{\"x\":1}\r\n}",
                "{\"x\":1},\r\n\t\"enabledPlugins\": {\r\n\t\t\"a@b\": true\r\n\t}\r\n}"
            )
        );
        let back = changed(&added, |v| {
            v.as_object_mut().unwrap().shift_remove("enabledPlugins");
        });
        assert_eq!(back, text);
    }

    #[test]
    fn a_hook_goes_into_a_list_beside_foreign_ones_and_out_again() {
        let text = r#"{
  "hooks": {
    "Stop": [
      { "hooks": [ { "type": "command", "command": "say done" } ] } // keep
    ]
  }
}
"#;
        let ours = json!({"hooks": [{"type": "command", "command": "ours"}]});
        let added = changed(text, |v| {
            v["hooks"]["Stop"].as_array_mut().unwrap().push(ours.clone());
        });
        assert!(
            added.contains("// keep")
                && added.contains(r#"[ { "type": "command", "command": "say done" } ]"#)
        );
        let back = changed(&added, |v| {
            v["hooks"]["Stop"].as_array_mut().unwrap().pop();
        });
        let squeeze = |s: &str| s.split_whitespace().collect::<String>();
        assert_eq!(squeeze(&back), squeeze(text));
    }

    #[test]
    fn what_does_not_parse_is_said_with_its_line() {
        let at = |text: &str| Json::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(
            at("{\n  \"a\": 1,\n  \"b\": [1, 2\n}\n").starts_with("line 4"),
            "{}",
            at("{\n  \"a\": 1,\n  \"b\": [1, 2\n}\n")
        );
        assert!(at("[1]").ends_with("it is no JSON object"));
        let bytes = b"{\n\"a\": \"\xff\"}";
        assert_eq!(Json::parse(bytes).unwrap_err().line, 2);
        let commented = Json::parse(b"{\n // x\n \"a\": 1\n}").unwrap();
        assert_eq!(
            commented.not_strict().unwrap().to_string(),
            "line 2, column 2: a comment"
        );
        assert!(Json::parse(b"{\"a\": 1}").unwrap().not_strict().is_none());
        assert_eq!(*Json::parse(b" \n").unwrap().value(), json!({}));
    }

    #[test]
    fn of_a_key_that_stands_there_twice_the_last_one_counts() {
        let json = Json::parse(b"{\"hooks\": {}, \"hooks\": {\"a\": 1}}").unwrap();
        let text = json.saying(&json!({"hooks": {"a": 2}})).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "{\"hooks\": {}, \"hooks\": {\"a\": 2}}"
        );
    }
}
