//! `name = value` in its spellings: `.env`, shell, INI, JSON (also inside a
//! JSON string), YAML, TOML, code, headers, queries, connection strings, XML.
//!
//! The rule, by place (names: `keys.rs`, forms: `value.rs`):
//! * quoted value: any literal is a secret, a short word too; not a variable, a
//!   template, the name itself, a sentence; `token` alone needs more than a word;
//! * `NAME=value`, `--name=value`, `?name=value`, `a=b;name=value`, or a whole
//!   line `name=value`: any literal;
//! * elsewhere unquoted (`name: value`, `name = value`, arguments in code): only
//!   what no type, identifier or sentence would be: digits or symbols among
//!   letters. So `password: swordfish` stays and `password: hunter2` goes.

use super::keys::{self, Key, Kind};
use super::scan::Hit;
use super::site::{Name, Quoted, is_closing_quote};
use super::text::{Text, is_blank, is_newline, is_quote};
use super::{auth, marker, shapes, value};

/// Called at a `:` or `=`.
pub(super) fn at_separator(text: Text<'_>, sep: usize) -> Option<Hit<'_>> {
    let name = Name::before(text, sep)?;
    let mut key = keys::classify(name.bytes(text))?;
    if key.kind == Kind::Value {
        let sibling = name.sibling(text)?;
        key = keys::classify(sibling)?;
        // A variable's name: its value is never a mere word of a parser.
        key.compound |= !sibling.iter().any(u8::is_ascii_lowercase);
        if key.kind == Kind::Query {
            key.kind = Kind::Weak;
        }
    }
    let run = text.run(sep, |b| matches!(b, b':' | b'=' | b'>'));
    let separator = text.bytes(sep, run);
    if matches!(separator, [b':', b':', ..]) || separator.len() > 3 || text.has(sep, "://") {
        return None;
    }
    let start = text.blanks(run);
    let arrow = separator == b"=>";
    let colon = separator == b":";
    if let Some(quoted) = Quoted::at(text, start) {
        let closes = name.quote.is_none() && is_closing_quote(text, start);
        return (!closes).then(|| in_quotes(text, key, quoted)).flatten();
    }
    if arrow || is_newline(text.at(start)) || start >= text.len() {
        return None;
    }
    let place = Place {
        name,
        colon,
        spaced: name.spaced || start > run,
        start,
    };
    match key.kind {
        Kind::Authorization => auth::bare_header(text, start),
        Kind::Cookie => auth::bare_cookie(text, start),
        _ => place
            .end(text, key)
            .map(|end| hit(text, start, end, key.rule))
            .map(|hit| place.wrapped(text, hit))
            .or_else(|| typed(text, key, start)),
    }
}

/// `define('DB_PASSWORD', 'x')`, `.header("X-Api-Key", "x")`: called at a comma.
pub(super) fn at_comma(text: Text<'_>, comma: usize) -> Option<Hit<'_>> {
    if !is_quote(text.before(comma, 1)) {
        return None;
    }
    let name = Name::before(text, comma)?;
    let (mark, escapes) = name.quote?;
    let opened = name.start.checked_sub(escapes + 1)?;
    if text.at(name.start - 1) != mark || text.before(opened, 1) != b'(' {
        return None;
    }
    let key = keys::classify(name.bytes(text))?;
    let quoted = Quoted::at(text, text.blanks(comma + 1))?;
    let certain = name.is_caps(text)
        || matches!(key.kind, Kind::Authorization | Kind::Cookie)
        || is_setter(text, opened - 1);
    certain.then(|| in_quotes(text, key, quoted)).flatten()
}

/// True when the name before the parenthesis at `open` stores what it is given.
fn is_setter(text: Text, open: usize) -> bool {
    const SETTERS: &[&str] = &[
        "set",
        "header",
        "insert",
        "append",
        "put",
        "add",
        "env",
        "define",
        "setenv",
        "setdefault",
        "setproperty",
        "default",
        "with",
        "arg",
        "param",
        "option",
        "auth",
        "field",
        "store",
    ];
    let start = text.run_back(open, 32, |b| b.is_ascii_alphanumeric() || b == b'_');
    let name = text.bytes(start, open).to_ascii_lowercase();
    SETTERS.iter().any(|setter| name.ends_with(setter.as_bytes()))
}

/// `<password>x</password>`: called at the `>`.
pub(super) fn at_element(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    let start = text.run_back(at, 64, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
    });
    if text.before(start, 1) != b'<' {
        return None;
    }
    let key = keys::classify(text.bytes(start, at))?;
    let end = text.run(at + 1, |b| b != b'<' && !is_newline(b));
    if text.at(end) != b'<' || text.at(end + 1) != b'/' {
        return None;
    }
    let quoted = Quoted {
        start: at + 1,
        end,
        mark: b'"',
        format: false,
    };
    in_quotes(text, key, quoted)
}

/// The part of a quoted value that is secret.
pub(super) fn in_quotes<'a>(text: Text<'a>, key: Key, quoted: Quoted) -> Option<Hit<'a>> {
    let content = quoted.bytes(text);
    match key.kind {
        Kind::Authorization => return auth::header(text, quoted.start, quoted.end),
        Kind::Cookie => return auth::cookie(text, quoted.start, quoted.end),
        _ => {}
    }
    let deferred = content.starts_with(b"-----BEGIN") || is_address(content);
    let filled = quoted.format && content.contains(&b'{');
    let command = quoted.mark == b'`' && content.contains(&b' ');
    if deferred
        || filled
        || command
        || value::is_stand_in(content)
        || marker::within(text, quoted.start, quoted.end)
        || !is_literal(key, content)
    {
        return None;
    }
    Some(hit(text, quoted.start, quoted.end, key.rule))
}

/// True when the kind of name makes a literal of this form a secret.
fn is_literal(key: Key, content: &[u8]) -> bool {
    let digits = content.iter().all(u8::is_ascii_digit);
    let blanks = content.iter().any(|b| is_blank(*b));
    match key.kind {
        Kind::Password => {
            let short = digits && content.len() < 2;
            !(short || is_about(content))
        }
        Kind::Secret => {
            let short = digits && content.len() < 4;
            !(short || is_about(content))
        }
        Kind::Token => {
            let short = content.len() < if key.compound { 3 } else { 6 };
            let word = value::is_plain(content) && content.len() < 16 && !key.compound;
            !short && !word && !digits && !blanks && !value::is_own_name(content) && !value::is_path(content)
        }
        Kind::Weak => !blanks && value::is_opaque(content, 8),
        Kind::Query => false,
        Kind::Authorization | Kind::Cookie | Kind::Value => true,
    }
}

/// `https://…`: its own secrets are found by `url.rs`.
fn is_address(content: &[u8]) -> bool {
    let scheme = content.windows(3).position(|w| w == b"://");
    scheme.and_then(|end| content.get(..end)).is_some_and(|scheme| {
        scheme.len() > 2
            && scheme
                .iter()
                .all(|b| b.is_ascii_lowercase() || matches!(b, b'+' | b':'))
    })
}

/// Speaks about a secret instead of being one.
fn is_about(content: &[u8]) -> bool {
    value::is_own_name(content)
        || value::is_prose(content)
        || (value::is_path(content) && !content.iter().any(u8::is_ascii_uppercase))
}

/// `const apiKey: &str = "…"`: the value behind the type.
fn typed<'a>(text: Text<'a>, key: Key, start: usize) -> Option<Hit<'a>> {
    let end = text.run(start, |b| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'_' | b'<' | b'>' | b'&' | b'\'' | b' ' | b'|' | b'?' | b'.' | b'[' | b']' | b':'
            )
    });
    if end - start > 48 || text.at(end) != b'=' {
        return None;
    }
    in_quotes(text, key, Quoted::at(text, text.blanks(end + 1))?)
}

/// An unquoted value's place.
struct Place {
    name: Name,
    colon: bool,
    spaced: bool,
    start: usize,
}

impl Place {
    /// Where the secret ends, if the value is one.
    fn end(&self, text: Text, key: Key) -> Option<usize> {
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
        if key.kind == Kind::Query && !query {
            return None;
        }
        let end = if connection {
            text.run(self.start, |b| b != b';' && !is_newline(b) && !is_quote(b))
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
    fn wrapped<'a>(&self, text: Text<'a>, hit: Hit<'a>) -> Hit<'a> {
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
    matches!(text.at(opens), b'(' | b'[' | b'<' | b'{') && (value::is_code(name) || name.contains(&b':'))
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

/// The hit, under the token family's name when the value is a known token.
pub(super) fn hit<'a>(text: Text<'a>, start: usize, end: usize, rule: &'static str) -> Hit<'a> {
    let known = shapes::at_word(text, start).filter(|hit| hit.start == start && hit.end == end);
    known.unwrap_or(Hit::new(start, end, rule))
}
