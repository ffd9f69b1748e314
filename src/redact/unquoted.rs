//! Unquoted values: where they end, and whether they are secrets there.
//!
//! A strong place (`NAME=value`, `--name=value`, `?name=value`, a pair of a
//! connection string, a whole line `name=value`, a header) makes any literal a
//! secret. In a weak place only a form that no type, identifier or sentence
//! has is one.

use super::keys::{self, Key, Kind};
use super::scan::Hit;
use super::site::Name;
use super::text::{Text, is_newline, is_quote};
use super::{marker, value};

/// An unquoted value's place.
pub(super) struct Place {
    pub(super) name: Name,
    /// The separator is a colon.
    pub(super) colon: bool,
    /// Blanks stand before or behind the separator.
    pub(super) spaced: bool,
    /// Where the value begins.
    pub(super) start: usize,
}

impl Place {
    /// Where the secret ends, if the value is one.
    pub(super) fn end(&self, text: Text, key: Key) -> Option<usize> {
        let word = word_end(text, self.start);
        let rest = text.blanks(word);
        let ends_line = rest >= text.len()
            || is_newline(text.at(rest))
            || is_quote(text.at(rest))
            || text.escape_ends_value(rest);
        let whole_line = ends_line && self.name.quote.is_none() && self.name.begins_line(text);
        let caps = self.name.is_caps(text) && self.name.quote.is_none();
        let query = self.name.is_query(text) && !self.colon;
        let connection = !self.colon && self.name.is_connection(text);
        let close = !self.colon && !self.spaced;
        let strong = query
            || connection
            || (close && (caps || whole_line || self.name.is_flag(text)))
            || (self.colon && whole_line && (caps || is_header(self.name.bytes(text))));
        // What stands between a colon and an equals sign is a type.
        let typed = self.colon && text.at(rest) == b'=';
        if typed || (key.kind == Kind::Query && !query) {
            return None;
        }
        let end = if connection {
            let end = text.run(self.start, |b| b != b';' && !is_newline(b) && !is_quote(b));
            // The backslashes before a quote are the quote's.
            let escapes = end - text.run_back(end, end - self.start, |b| b == b'\\');
            end - if is_quote(text.at(end)) { escapes } else { 0 }
        } else if query {
            text.run(self.start, |b| {
                !b.is_ascii_whitespace()
                    && !is_quote(b)
                    && !matches!(
                        b,
                        b'&' | b'#' | b';' | b',' | b')' | b']' | b'}' | b'<' | b'>' | b'\\' | b'|'
                    )
            })
        } else if strong && whole_line {
            word - text
                .bytes(self.start, word)
                .iter()
                .rev()
                .take_while(|b| matches!(b, b',' | b';'))
                .count()
        } else {
            argument_end(text, self.start, word)
        };
        let content = text.bytes(self.start, end);
        if value::is_stand_in(content)
            || value::is_path(content)
            || is_address(content)
            || marker::within(text, self.start, end)
            || content.starts_with(b"[REDACTED:")
            || is_call(text, self.start, end, word)
        {
            return None;
        }
        let secret = if strong {
            is_strong_literal(key, content)
                && !(content.contains(&b'.') && value::is_code(content) && keys::names_a_secret(content))
        } else {
            self.is_certain(text, key, content, end, whole_line)
        };
        secret.then_some(end)
    }

    /// Without a strong place, the form must tell.
    fn is_certain(&self, text: Text, key: Key, content: &[u8], end: usize, whole_line: bool) -> bool {
        let min = match key.kind {
            Kind::Password => {
                if self.colon {
                    6
                } else {
                    4
                }
            }
            Kind::Secret => 6,
            Kind::Token | Kind::Query => 8,
            _ => 12,
        };
        if content.iter().all(u8::is_ascii_digit) {
            let needed = if whole_line || self.name.quote.is_some() {
                4
            } else {
                6
            };
            return key.kind == Kind::Password && content.len() >= needed;
        }
        let next = text.at(end);
        let word = content.iter().all(u8::is_ascii_alphabetic);
        if word && !self.colon && !self.spaced && matches!(key.kind, Kind::Password | Kind::Secret) {
            return content.len() >= 3
                && !keys::names_a_secret(content)
                && !matches!(next, b',' | b')' | b'.' | b';');
        }
        !value::is_code(content) && value::is_opaque(content, min)
    }

    /// A bare JSON number becomes a string, for the marker is no number.
    pub(super) fn wrapped<'a>(&self, text: Text<'a>, hit: Hit<'a>) -> Hit<'a> {
        let Some((_, escapes)) = self.name.quote else {
            return hit;
        };
        let quote = text.str.get(self.name.end..=self.name.end + escapes);
        Hit {
            wrap: quote.unwrap_or_default(),
            ..hit
        }
    }
}

fn is_strong_literal(key: Key, content: &[u8]) -> bool {
    let digits = content.iter().all(u8::is_ascii_digit);
    match key.kind {
        Kind::Password => !digits || content.len() > 1,
        Kind::Secret => content.len() > 1 && !(digits && content.len() < 4),
        Kind::Token => content.len() > 2 && (!digits || content.len() > 9),
        Kind::Query => value::is_opaque(content, 16) || (content.len() >= 16 && key.rule == "signature"),
        _ => value::is_opaque(content, 8),
    }
}

/// `X-Api-Key`, `api-key`: a header's name.
fn is_header(name: &[u8]) -> bool {
    name.contains(&b'-') && !name.contains(&b'_')
}

/// `get_secret(name)`, `tokens[0]`, `Option<String>`, `env::var(…)`.
fn is_call(text: Text, start: usize, end: usize, word: usize) -> bool {
    let opens = text
        .run(start, |b| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'!' | b'?')
        })
        .min(word);
    let name = text.bytes(start, opens);
    // `base64.b64encode(`: a path of names before a parenthesis, digits or not;
    // `GetTokenFromCmdOutput(`: a name, however often its case changes.
    let path = name.contains(&b'.') || name.iter().all(u8::is_ascii_alphabetic);
    let path = text.at(opens) == b'(' && path && name.len() < 48;
    let named = value::is_code(name) || name.contains(&b':') || path;
    (named && matches!(text.at(opens), b'(' | b'[' | b'<' | b'{'))
        || text.at(start) == b'('
        || text.bytes(start, end).windows(2).any(|w| w == b"::")
}

/// Up to a blank, a quote or an escape that ends the text around.
fn word_end(text: Text, start: usize) -> usize {
    let mut at = start;
    loop {
        at = text.run(at, |b| {
            !b.is_ascii_whitespace() && !is_quote(b) && b != b'\\' && b != 0
        });
        if text.at(at) != b'\\' || text.escape_ends_value(at) {
            return at;
        }
        at = text.run(at, |b| b == b'\\');
    }
}

/// Up to what ends an argument, the full stop of a sentence aside.
fn argument_end(text: Text, start: usize, word: usize) -> usize {
    let end = text
        .run(start, |b| {
            !matches!(
                b,
                b',' | b';' | b')' | b'(' | b']' | b'[' | b'}' | b'{' | b'&' | b'|' | b'<' | b'>'
            )
        })
        .min(word);
    let stops = text.bytes(start, end).iter().rev();
    end - stops.take_while(|b| matches!(b, b'.' | b':')).count()
}

/// `https://…`: its own secrets are found by `url.rs`.
pub(super) fn is_address(content: &[u8]) -> bool {
    let scheme = content.windows(3).position(|w| w == b"://");
    scheme.and_then(|end| content.get(..end)).is_some_and(|scheme| {
        scheme.len() > 2
            && scheme
                .iter()
                .all(|b| b.is_ascii_lowercase() || matches!(b, b'+' | b':'))
    })
}
