//! Front matter and body of a Markdown file: YAML or JSON between two lines of `---`, LF or CRLF, with or
//! without a byte-order mark. What stands behind it is not looked at.

use std::fmt;

use serde_json::{Map, Value};

use super::yaml;

/// Deepest nesting that is read; JSON itself stops before.
const MAX_DEPTH: usize = 300;

/// A file in its two parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// The members of the front matter, in their order.
    pub front: Map<String, Value>,
    /// All behind the line that ends it, as it is.
    pub body: Vec<u8>,
    /// How the file is written.
    pub form: Form,
}

/// What of the way in which a file is written is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Form {
    /// It begins with a byte-order mark.
    pub mark: bool,
    /// Its first line ends with CRLF.
    pub crlf: bool,
}

/// Why a file has no front matter that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Form {
    /// How a line ends.
    #[must_use]
    pub fn newline(self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }
}

impl Parts {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Broken`]: no front matter, or none that can be read.
    pub fn parse(bytes: &[u8]) -> Result<Self, Broken> {
        let (mark, text) = match bytes.strip_prefix("\u{feff}".as_bytes()) {
            Some(rest) => (true, rest),
            None => (false, bytes),
        };
        let broken = |why: &str| Broken(why.to_owned());
        let mut lines = text.split_inclusive(|b| *b == b'\n');
        let first = lines.next().unwrap_or_default();
        if !is_line(first) {
            return Err(broken("it does not begin with a line of three dashes"));
        }
        let mut end = first.len();
        let front = loop {
            let line = lines
                .next()
                .ok_or_else(|| broken("its front matter has no end: a line of three dashes"))?;
            let begin = end;
            end += line.len();
            if is_line(line) {
                break text.get(first.len()..begin).unwrap_or_default();
            }
        };
        let front = std::str::from_utf8(front).map_err(|_| broken("its front matter is no UTF-8"))?;
        Ok(Self {
            front: members(front)?,
            body: text.get(end..).unwrap_or_default().to_vec(),
            form: Form {
                mark,
                crlf: first.ends_with(b"\r\n"),
            },
        })
    }

    /// The file, its front matter as YAML.
    #[must_use]
    pub fn render(&self) -> Vec<u8> {
        let newline = self.form.newline();
        let mut text = String::new();
        if self.form.mark {
            text.push('\u{feff}');
        }
        let front = yaml::write(&self.front).replace('\n', newline);
        text.push_str(&format!("---{newline}{front}---{newline}"));
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

fn is_line(line: &[u8]) -> bool {
    line.trim_ascii_end() == b"---"
}

/// JSON is a part of YAML, but not to the letter: what is JSON is read as that.
fn members(text: &str) -> Result<Map<String, Value>, Broken> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let json = text
        .trim_start()
        .starts_with('{')
        .then(|| serde_json::from_str(text).ok());
    let value = match json.flatten() {
        Some(value) => value,
        None => read_yaml(text)?,
    };
    match value {
        Value::Object(map) => Ok(map),
        _ => Err(Broken("its front matter is no list of keys".to_owned())),
    }
}

fn read_yaml(text: &str) -> Result<Value, Broken> {
    let budget = serde_saphyr::budget! { max_depth: MAX_DEPTH };
    let options = serde_saphyr::options! {
        budget: budget,
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|e| {
        let why = e.to_string();
        Broken(format!(
            "its front matter is no YAML: {}",
            why.lines().next().unwrap_or_default()
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_way_of_writing_it_reads_the_same_and_the_body_stays() {
        let yaml = "---\na: \"x: y\"\nb:\n  - 1\n---\nbody\r\n---\nmore\n";
        let wanted = json!({"a": "x: y", "b": [1]});
        for text in [
            yaml.to_owned(),
            format!("\u{feff}{yaml}"),
            "---\n{\n  \"a\": \"x: y\",\n  \"b\": [1]\n}\n---\nbody\r\n---\nmore\n".to_owned(),
            "---\r\na: 'x: y' # it\r\nb: [1]\r\n---\r\nbody\r\n---\nmore\n".to_owned(),
        ] {
            let parts = Parts::parse(text.as_bytes()).unwrap();
            assert_eq!(json!(parts.front), wanted, "{text}");
            assert_eq!(parts.body, b"body\r\n---\nmore\n", "{text}");
            let again = Parts::parse(&parts.render()).unwrap();
            assert_eq!(again, parts, "{text}");
            assert_eq!(again.render(), parts.render(), "{text}");
        }
        let odd = Parts::parse(b"---\n---").unwrap();
        assert!(odd.front.is_empty() && odd.body.is_empty());
        let raw = Parts::parse(b"---\na: 1\n---\n\xff\xfe\0").unwrap();
        assert_eq!(raw.body, b"\xff\xfe\0");
    }

    #[test]
    fn what_has_none_says_so() {
        for text in [
            "",
            "a: 1",
            "---\na: 1\n",
            "---\n- 1\n---\n",
            "---\na: [\n---\n",
            "---\na: 1\na: 2\n---\n",
            "---\n{]\n---\n",
            " ---\na: 1\n---\n",
        ] {
            assert!(Parts::parse(text.as_bytes()).is_err(), "{text:?}");
        }
        assert!(Parts::parse(b"---\na: \xff\n---\n").is_err());
    }
}
