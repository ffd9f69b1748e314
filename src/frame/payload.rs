//! Bytes to JSON, forgiving what hosts have been seen to send: byte-order marks, invalid UTF-8, lone
//! surrogates, raw control characters, nesting beyond what a parser takes. The strict parser goes first;
//! only what it refuses is repaired.

use serde_json::Value;

/// Deeper values are dropped: `serde_json` stops at 128.
const MAX_DEPTH: usize = 100;
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Finds the end of the first complete JSON value in a stream of bytes.
#[derive(Debug, Default)]
pub struct Scanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    begun: bool,
    complete: bool,
}

impl Scanner {
    /// Takes the next bytes; how many of them belong to the value (and to what stands before it).
    pub fn take(&mut self, bytes: &[u8]) -> usize {
        for (i, b) in bytes.iter().enumerate() {
            if self.complete {
                return i;
            }
            self.step(*b);
        }
        bytes.len()
    }

    /// Whether the value has ended. A value that is no object or list never does: nothing that we model.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    fn step(&mut self, byte: u8) {
        if self.escaped {
            self.escaped = false;
        } else if self.in_string {
            match byte {
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    self.depth += 1;
                    self.begun = true;
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.complete = self.begun && self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

/// Parses a payload.
///
/// # Errors
/// A short clause when it is no JSON even after repair; never a part of the payload itself.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    let mut bytes = bytes;
    while let Some(rest) = bytes.trim_ascii_start().strip_prefix(BOM) {
        bytes = rest;
    }
    serde_json::from_slice(bytes)
        .or_else(|_| serde_json::from_str(&repair(bytes)))
        .map_err(|e| {
            format!(
                "it is no JSON at line {} column {} ({} bytes)",
                e.line(),
                e.column(),
                bytes.len()
            )
        })
}

/// The same text with what a strict parser refuses replaced.
fn repair(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let kept = depth <= MAX_DEPTH;
        if in_string {
            match c {
                '"' => {
                    in_string = false;
                    push(&mut out, kept, '"');
                }
                '\\' => escape(&mut chars, &mut out, kept),
                c if c.is_control() => {
                    if kept {
                        out.push_str(&format!("\\u{:04x}", u32::from(c)));
                    }
                }
                c => push(&mut out, kept, c),
            }
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                push(&mut out, kept, c);
            }
            '{' | '[' => {
                depth += 1;
                if depth == MAX_DEPTH + 1 {
                    out.push_str("null");
                }
                push(&mut out, depth <= MAX_DEPTH, c);
            }
            '}' | ']' => {
                push(&mut out, kept, c);
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            c => push(&mut out, kept, c),
        }
    }
    out
}

fn push(out: &mut String, kept: bool, c: char) {
    if kept {
        out.push(c);
    }
}

/// An escape after its backslash: half a surrogate pair becomes U+FFFD, one that is none stands for itself.
fn escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String, kept: bool) {
    let Some(c) = chars.next() else { return };
    let text = match c {
        'u' => {
            let unit = hex4(chars);
            match unit {
                Some(high @ 0xD800..=0xDBFF) => {
                    let mut ahead = chars.clone();
                    let low = (ahead.next() == Some('\\') && ahead.next() == Some('u'))
                        .then(|| hex4(&mut ahead))
                        .flatten();
                    if let Some(low @ 0xDC00..=0xDFFF) = low {
                        *chars = ahead;
                        format!("\\u{high:04x}\\u{low:04x}")
                    } else {
                        "\u{FFFD}".to_owned()
                    }
                }
                Some(0xDC00..=0xDFFF) | None => "\u{FFFD}".to_owned(),
                Some(unit) => format!("\\u{unit:04x}"),
            }
        }
        '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => format!("\\{c}"),
        other => format!("\\\\{other}"),
    };
    if kept {
        out.push_str(&text);
    }
}

fn hex4(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<u32> {
    let mut unit = 0;
    for _ in 0..4 {
        let digit = chars.peek()?.to_digit(16)?;
        chars.next();
        unit = unit * 16 + digit;
    }
    Some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(bytes: &[u8]) -> (usize, bool) {
        let mut scanner = Scanner::default();
        (scanner.take(bytes), scanner.is_complete())
    }

    #[test]
    fn the_first_complete_value_ends_the_reading() {
        assert_eq!(first(br#"{"a":"}\"{"} {"b":1}"#), (12, true));
        assert_eq!(first(b"\xEF\xBB\xBF [1,[2]]\n"), (11, true));
        assert_eq!(first(br#"{"a":{"#), (6, false));
        assert_eq!(first(b"null"), (4, false));
        let mut scanner = Scanner::default();
        for b in br#"{"k":"\\"}"# {
            scanner.take(&[*b]);
        }
        assert!(scanner.is_complete(), "also byte by byte");
    }

    #[test]
    fn what_hosts_send_is_read_and_what_is_no_json_is_an_error_that_does_not_quote_it() {
        let parsed = |b: &[u8]| parse(b).unwrap();
        assert_eq!(parsed(b"\xEF\xBB\xBF\xEF\xBB\xBF {\"a\":1}")["a"], 1);
        assert_eq!(parsed(b"{\"a\":\"x\xFFy\"}")["a"], "x\u{FFFD}y");
        assert_eq!(
            parsed(br#"{"a":"\ud83d!","b":"\ude00","c":"\ud83d\ude00"}"#),
            serde_json::json!({"a":"\u{FFFD}!","b":"\u{FFFD}","c":"😀"})
        );
        assert_eq!(parsed(b"{\"a\":\"x\x01\ny\"}")["a"], "x\u{1}\ny");
        assert_eq!(parsed(b"{\"a\":\"\\q\"}")["a"], "\\q");
        let deep = format!(
            "{{\"a\":1,\"deep\":{}{},\"b\":[2]}}",
            "[".repeat(5_000),
            "]".repeat(5_000)
        );
        let deep = parsed(deep.as_bytes());
        assert_eq!((&deep["a"], &deep["b"][0]), (&1.into(), &2.into()));
        let error = parse(b"{\"secret\":hunter2}").unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
        assert!(parse(b"").is_err() && parse(b"{\"a\":").is_err() && parse(b"\xEF\xBB").is_err());
    }
}
