//! Where a name and its value stand: what is left and right of a separator.
//!
//! The same `password: x` is a secret in a YAML file, a type in code and two
//! words in a letter. The name's quotes, its case, what precedes it and how
//! the line ends tell which.

use super::text::{Text, is_blank, is_newline, is_quote};

/// Longer names are not looked at.
const LONGEST_NAME: usize = 64;

/// A name left of a separator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The quote that closes the name, and the backslashes before it.
    pub(super) quote: Option<(u8, usize)>,
    /// Blanks stand between name and separator.
    pub(super) spaced: bool,
}

impl Name {
    /// The name that ends before the separator at `sep`.
    pub(super) fn before(text: Text, sep: usize) -> Option<Self> {
        let close = text.run_back(sep, 8, is_blank);
        let spaced = close < sep;
        let mut end = text.run_back(close, 2, |b| matches!(b, b'!' | b'?' | b'|' | b'+' | b'*'));
        if end < close {
            end = text.run_back(end, 8, is_blank);
        }
        if text.before(end, 1) == b']' {
            // `name["password"] = `, `char password[] = `, `Secret Key [None]: `
            let inside = text.run_back(end - 1, 24, |b| b != b'[' && !is_quote(b));
            let default = text.before(inside, 1) == b'[' && is_blank(text.before(inside, 2));
            end = if default {
                text.run_back(inside - 1, 8, is_blank)
            } else if text.before(end, 2) == b'[' {
                end - 2
            } else {
                end - 1
            };
        }
        let mut quote = None;
        if is_quote(text.before(end, 1)) {
            let mark = text.before(end, 1);
            let escapes = text.run_back(end - 1, 8, |b| b == b'\\');
            quote = Some((mark, end - 1 - escapes));
            end = escapes;
        }
        let name = Self::ending_at(text, end)?;
        Some(Self {
            quote,
            spaced,
            ..name
        })
    }

    fn ending_at(text: Text, end: usize) -> Option<Self> {
        let mut start = text.run_back(end, LONGEST_NAME, is_name);
        // `\n` in an escaped text is not the name's first letter.
        if text.before(start, 1) == b'\\' && matches!(text.at(start), b'n' | b'r' | b't') {
            start += 1;
        }
        // The rule's name in a marker is no name of a value.
        let in_marker = text.bytes(start.saturating_sub(10), start) == b"[REDACTED:";
        if start >= end || in_marker {
            return None;
        }
        let name = text.bytes(start, end);
        // `API key: …`, `password string = …`
        let typed = matches!(name, b"string" | b"is");
        let partial = typed || name.eq_ignore_ascii_case(b"key");
        if partial && text.before(start, 1) == b' ' {
            let first = text.run_back(start - 1, LONGEST_NAME, is_name);
            if first < start - 1 {
                let end = if typed { start - 1 } else { end };
                start = first;
                return Some(Self {
                    start,
                    end,
                    quote: None,
                    spaced: true,
                });
            }
        }
        Some(Self {
            start,
            end,
            quote: None,
            spaced: false,
        })
    }

    pub(super) fn bytes<'a>(&self, text: Text<'a>) -> &'a [u8] {
        text.bytes(self.start, self.end)
    }

    /// True when the quote at the value's place ends the text that the name stands in: `"{\"name\":"`.
    pub(super) fn is_last_before(&self, quoted: &Quoted) -> bool {
        self.quote
            .is_some_and(|(mark, escapes)| quoted.mark == mark && quoted.level < escapes)
    }

    /// The name of the pair in front: `"name":"API_KEY","` before `value`.
    pub(super) fn sibling<'a>(&self, text: Text<'a>) -> Option<&'a [u8]> {
        let gap = text.run_back(self.start, 48, |b| {
            b.is_ascii_whitespace() || is_quote(b) || matches!(b, b',' | b':' | b'\\' | b'=' | b'{')
        });
        let joined = text.bytes(gap, self.start).iter().all(|b| is_blank(*b));
        if joined {
            return None;
        }
        // The `n` of an escaped line end belongs to the gap.
        let mut end = gap;
        if text.before(gap, 1) == b'n' && text.before(gap, 2) == b'\\' {
            end = text.run_back(gap - 2, 8, |b| b == b'\\' || is_quote(b) || b == b',');
        }
        let sibling = Self::ending_at(text, end)?;
        Some(sibling.bytes(text))
    }

    /// Upper case, as variables of the environment are.
    pub(super) fn is_caps(&self, text: Text) -> bool {
        let name = self.bytes(text);
        !name.iter().any(u8::is_ascii_lowercase) && name.iter().any(u8::is_ascii_uppercase)
    }

    /// In the query of an address.
    pub(super) fn is_query(&self, text: Text) -> bool {
        matches!(text.before(self.start, 1), b'?' | b'&')
            || (text.before(self.start, 1) == b';'
                && text.bytes(self.start.saturating_sub(5), self.start) == b"&amp;")
    }

    /// A long option: `--name=value`.
    pub(super) fn is_flag(&self, text: Text) -> bool {
        text.has(self.start, "--") || text.has(self.start, "-D")
    }

    /// After another `name=value;` of a connection string.
    pub(super) fn is_connection(&self, text: Text) -> bool {
        let after = text.run_back(self.start, 2, |b| b == b' ');
        if text.before(after, 1) != b';' {
            return false;
        }
        let pair = text.run_back(after - 1, 256, |b| {
            !is_newline(b) && !is_quote(b) && !matches!(b, b';' | b'(' | b'{')
        });
        text.bytes(pair, after).contains(&b'=')
    }

    /// First on its line, list marks, `export` and line numbers aside.
    pub(super) fn begins_line(&self, text: Text) -> bool {
        let mut at = self.start;
        loop {
            at = text.run_back(at, 128, is_blank);
            let last = text.before(at, 1);
            let scope = last == b':' && text.at(self.start) == b'_';
            if at == 0 || is_newline(last) || is_quote(last) || last == b'\\' || scope {
                return true;
            }
            if last == b'n' && text.before(at, 2) == b'\\' {
                return true;
            }
            let word = text.run_back(at, 8, |b| !b.is_ascii_whitespace() && !is_quote(b));
            if word == at {
                // A form feed: the first line of a page.
                return true;
            }
            let known = matches!(
                text.bytes(word, at),
                b"-" | b"+"
                    | b"#"
                    | b"//"
                    | b">"
                    | b"export"
                    | b"set"
                    | b"env"
                    | b"ENV"
                    | b"ARG"
                    | b"declare"
                    | b"-x"
                    | b"-e"
            ) || text
                .bytes(word, at)
                .iter()
                .all(|b| b.is_ascii_digit() || !b.is_ascii());
            if !known {
                return false;
            }
            at = word;
        }
    }
}

/// True when the quote at `at` closes a string instead of opening one, as in
/// `input("Password: ")`: what follows is no value, and the quotes left of it
/// on its line do not pair (on a very long line nobody counts).
pub(super) fn is_closing_quote(text: Text, at: usize) -> bool {
    const LINE: usize = 2048;
    let escapes = text.run(at, |b| b == b'\\');
    let (level, mark) = (escapes - at, text.at(escapes));
    let next = text.at(escapes + 1);
    let value = !matches!(
        next,
        b',' | b'}'
            | b']'
            | b')'
            | b':'
            | b';'
            | b'+'
            | b'>'
            | b'/'
            | b'|'
            | b'\\'
            | b'\n'
            | b'\r'
            | b' '
            | 0
    );
    if !is_quote(mark) || value {
        return false;
    }
    let start = text.line_start(at, LINE);
    let marks = (start..at).filter(|i| {
        let apostrophe = mark == b'\''
            && text.before(*i, 1).is_ascii_alphanumeric()
            && text.at(i + 1).is_ascii_alphanumeric();
        text.at(*i) == mark && *i - text.run_back(*i, 8, |b| b == b'\\') == level && !apostrophe
    });
    at - start == LINE || marks.count() % 2 == 1
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
}

/// A quoted value: what is between the quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quoted {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where its opening quote stands, with the backslashes before it.
    pub(super) open: usize,
    pub(super) mark: u8,
    /// The backslashes before the quote that opens it.
    pub(super) level: usize,
    /// Text is put into it: `f"…"`, `$"…"`.
    pub(super) format: bool,
}

impl Quoted {
    /// The quoted value that begins at `at`, with the quotes' own escapes:
    /// a quote behind k backslashes is closed by one behind k, not 2k+1.
    pub(super) fn at(text: Text, at: usize) -> Option<Self> {
        let letters = text.run(at, |b| {
            matches!(
                b,
                b'f' | b'b' | b'r' | b'u' | b'F' | b'B' | b'R' | b'U' | b'@' | b'$'
            )
        });
        let letters = if letters - at <= 2 { letters } else { at };
        let escapes = text.run(letters, |b| b == b'\\');
        let level = escapes - letters;
        let mark = text.at(escapes);
        if !is_quote(mark) || level > 7 {
            return None;
        }
        let mut start = escapes + 1;
        if text.at(start) == mark && text.at(start + 1) == mark {
            start += 2;
        }
        let format = text
            .bytes(at, letters)
            .iter()
            .any(|b| matches!(b, b'f' | b'F' | b'$'));
        let end = close(text, start, mark, level)?;
        Some(Self {
            start,
            end,
            open: letters,
            mark,
            level,
            format,
        })
    }

    pub(super) fn bytes<'a>(&self, text: Text<'a>) -> &'a [u8] {
        text.bytes(self.start, self.end)
    }
}

/// Where the content ends. A text that was cut has no closing quote: then the
/// line's end, except for `'`, which is an apostrophe or a lifetime more often.
fn close(text: Text, start: usize, mark: u8, level: usize) -> Option<usize> {
    let mut escapes = 0;
    let mut at = start;
    while at < text.len() {
        let b = text.at(at);
        if b == b'\\' {
            escapes += 1;
        } else {
            if b == mark
                && let Some(kept) = ends(escapes, level)
            {
                return Some(at - kept);
            }
            if is_newline(b) {
                return (mark == b'"').then_some(at);
            }
            escapes = 0;
        }
        at += 1;
    }
    (mark == b'"').then_some(at)
}

/// Whether a quote behind that many backslashes ends a value whose own quotes stand behind `level` of them, and
/// how many of these belong to the quote. The text is a string in a string, once for each binary digit of
/// `level`; a quote that an outer one does not escape ends it, and the value with it.
fn ends(escapes: usize, level: usize) -> Option<usize> {
    if !(level + 1).is_power_of_two() {
        // No string in a string is spelt so.
        return (escapes < level || escapes % (2 * (level + 1)) == level).then_some(escapes.min(level));
    }
    let (mut escapes, mut layer) = (escapes, 0);
    while layer < level {
        if escapes.is_multiple_of(2) {
            return Some(layer);
        }
        escapes /= 2;
        layer = 2 * layer + 1;
    }
    escapes.is_multiple_of(2).then_some(level)
}
