//! What a person types to search, as a query of the full text. Nothing that is typed can be an error of its syntax:
//! every word is quoted.

/// Words that all have to stand in a turn: `price column`, `"price column"` (one after the other), `migrat*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(String);

impl Words {
    /// Reads them; `None` when no word is among them.
    #[must_use]
    pub fn parse(typed: &str) -> Option<Self> {
        Self::of(typed, false)
    }

    /// The same, each word being the beginning of one.
    #[must_use]
    pub fn beginnings(typed: &str) -> Option<Self> {
        Self::of(typed, true)
    }

    fn of(typed: &str, beginnings: bool) -> Option<Self> {
        let mut parts: Vec<String> = Vec::new();
        let mut rest = typed;
        while let Some(first) = rest.trim_start().chars().next() {
            rest = rest.trim_start();
            let is_phrase = first == '"';
            let (word, behind) = if is_phrase {
                let inner = rest.get(1..).unwrap_or_default();
                // A quote that nobody closes goes to the end.
                inner.split_once('"').unwrap_or((inner, ""))
            } else {
                let end = rest.find(|c: char| c.is_whitespace() || c == '"');
                rest.split_at_checked(end.unwrap_or(rest.len()))
                    .unwrap_or((rest, ""))
            };
            rest = behind;
            let (word, star) = match word.strip_suffix('*').filter(|_| !is_phrase) {
                Some(word) => (word, true),
                None => (word, false),
            };
            let star = star || beginnings || (is_phrase && rest.starts_with('*'));
            rest = rest.strip_prefix('*').filter(|_| is_phrase).unwrap_or(rest);
            // A phrase without a word would match nothing, whatever stands beside it.
            if word.chars().any(char::is_alphanumeric) {
                let word = word.replace(['"', '\0'], " ");
                parts.push(format!("\"{word}\"{}", if star { "*" } else { "" }));
            }
        }
        (!parts.is_empty()).then(|| Self(parts.join(" ")))
    }

    /// As the full text takes it.
    pub(super) fn query(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_quoted() {
        for (typed, query) in [
            ("price column", r#""price" "column""#),
            (r#""price column" page"#, r#""price column" "page""#),
            ("migrat*", r#""migrat"*"#),
            (r#""price col"*"#, r#""price col"*"#),
            (r#"open "quote here"#, r#""open" "quote here""#),
            ("a AND b NOT (c) NEAR:", r#""a" "AND" "b" "NOT" "(c)" "NEAR:""#),
            ("title:x ^y -z src/log.rs", r#""title:x" "^y" "-z" "src/log.rs""#),
            (r#"a"b"#, r#""a" "b""#),
            ("nul\0here * ** ' ) -", "\"nul here\""),
            ("日本 größe", r#""日本" "größe""#),
        ] {
            assert_eq!(Words::parse(typed).unwrap().query(), query, "{typed}");
        }
        for nothing in ["", "  ", "*", "\"\"", "-- ()", "\"", "\0"] {
            assert_eq!(Words::parse(nothing), None, "{nothing:?}");
        }
        assert_eq!(Words::beginnings("pri col").unwrap().query(), r#""pri"* "col"*"#);
    }
}
