//! New values in the form of the text that they come into, and the change of an object: known keys where
//! they stand, new ones behind the last.

use super::json::{Edit, Form, Object, Value};

/// A new value.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// JSON as it is.
    Raw(String),
    /// An object.
    Object(Vec<(&'static str, Node)>),
    /// A list.
    List(Vec<Node>),
}

impl Node {
    pub(super) fn null() -> Self {
        Self::Raw("null".to_owned())
    }

    pub(super) fn string(text: &str) -> Self {
        Self::Raw(serde_json::Value::from(text).to_string())
    }

    /// A text, or null.
    pub(super) fn maybe(text: Option<&str>) -> Self {
        text.map_or_else(Self::null, Self::string)
    }

    /// As text; `indent`: the blanks of the line on which it begins, `None`: on one line.
    pub(super) fn render(&self, form: &Form, indent: Option<&str>) -> String {
        let (open, close, parts) = match self {
            Self::Raw(text) => return text.clone(),
            Self::Object(members) => {
                let colon = if form.spaced || indent.is_some() {
                    ": "
                } else {
                    ":"
                };
                let inner = indent.map(|blanks| format!("{blanks}{}", form.unit));
                let member = |(key, node): &(&str, Self)| {
                    format!("\"{key}\"{colon}{}", node.render(form, inner.as_deref()))
                };
                ('{', '}', members.iter().map(member).collect::<Vec<_>>())
            }
            Self::List(items) => {
                let inner = indent.map(|blanks| format!("{blanks}{}", form.unit));
                let item = |node: &Self| node.render(form, inner.as_deref());
                ('[', ']', items.iter().map(item).collect())
            }
        };
        let Some(indent) = indent.filter(|_| !parts.is_empty()) else {
            return format!(
                "{open}{}{close}",
                parts.join(if form.spaced { ", " } else { "," })
            );
        };
        let begin = format!("{}{indent}{}", form.newline, form.unit);
        let parts = parts.join(&format!(",{begin}"));
        format!("{open}{begin}{parts}{}{indent}{close}", form.newline)
    }

    fn is(&self, old: Value<'_>) -> bool {
        match self {
            Self::Raw(text) if text.starts_with('"') => {
                let new = Value { at: 0, text };
                old.text.starts_with('"') && old.string() == new.string()
            }
            Self::Raw(text) => old.text == text,
            Self::Object(_) | Self::List(_) => false,
        }
    }
}

/// The change of one object.
pub(super) struct Change<'o, 'a> {
    object: &'o Object<'a>,
    form: &'o Form,
    edits: Vec<Edit>,
    added: Vec<(&'static str, Node)>,
}

impl<'o, 'a> Change<'o, 'a> {
    pub(super) fn of(object: &'o Object<'a>, form: &'o Form) -> Self {
        Self {
            object,
            form,
            edits: Vec::new(),
            added: Vec::new(),
        }
    }

    /// Gives a member a value, unless it says that already.
    pub(super) fn set(&mut self, key: &'static str, node: Node) {
        match self.object.get(key) {
            Some(old) if node.is(old) => {}
            Some(old) => {
                let text = node.render(self.form, self.object.indent());
                self.edits.push((old.span(), text));
            }
            None => self.added.push((key, node)),
        }
    }

    /// Takes the edits inside of one of its members.
    pub(super) fn inside(&mut self, edits: Vec<Edit>) {
        self.edits.extend(edits);
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.edits.is_empty() && self.added.is_empty()
    }

    /// The edits, in order; `indent`: the blanks of the line on which the object begins, `None` where it
    /// stands in something that is on one line.
    pub(super) fn edits(mut self, indent: Option<&str>) -> Vec<Edit> {
        if self.added.is_empty() {
            self.edits.sort_by_key(|(span, _)| span.start);
            return self.edits;
        }
        let Some(end) = self.object.end_of_last() else {
            let whole = Node::Object(self.added).render(self.form, indent);
            return vec![(self.object.whole.span(), whole)];
        };
        let inner = self.object.indent();
        let begin = match inner {
            Some(blanks) => format!(",{}{blanks}", self.form.newline),
            None if self.form.spaced => ", ".to_owned(),
            None => ",".to_owned(),
        };
        let colon = if inner.is_some() || self.form.spaced {
            ": "
        } else {
            ":"
        };
        let members = self.added.iter().map(|(key, node)| {
            let value = node.render(self.form, inner);
            format!("{begin}\"{key}\"{colon}{value}")
        });
        self.edits.push((end..end, members.collect()));
        self.edits.sort_by_key(|(span, _)| (span.start, span.end));
        self.edits
    }
}
