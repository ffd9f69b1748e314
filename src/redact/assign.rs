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
use super::unquoted::{Place, is_address};
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
        let closes =
            (name.quote.is_none() && is_closing_quote(text, quoted.open)) || name.is_last_before(&quoted);
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
            .map(|hit| auth::behind_scheme(text, start).unwrap_or_else(|| place.wrapped(text, hit)))
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
    (certain && !name.is_last_before(&quoted))
        .then(|| in_quotes(text, key, quoted))
        .flatten()
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
        open: at,
        mark: b'"',
        level: 0,
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
            let number = digits && !(key.compound && content.len() > 9);
            !short && !word && !number && !blanks && !value::is_own_name(content) && !value::is_path(content)
        }
        Kind::Weak => !blanks && value::is_opaque(content, 8),
        Kind::Query => false,
        Kind::Authorization | Kind::Cookie | Kind::Value => true,
    }
}

/// Speaks about a secret instead of being one.
fn is_about(content: &[u8]) -> bool {
    let content = content.trim_ascii();
    value::is_own_name(content)
        || value::is_prose(content)
        || (value::is_path(content) && !content.iter().any(u8::is_ascii_uppercase))
}

/// `const apiKey: &str = "…"`: the value behind the type.
fn typed<'a>(text: Text<'a>, key: Key, start: usize) -> Option<Hit<'a>> {
    let is_type = |b: &&u8| b.is_ascii_alphanumeric() || b"_<>&' |?.[]:".contains(b);
    let end = start + text.rest(start).iter().take(48).take_while(is_type).count();
    if text.at(end) != b'=' {
        return None;
    }
    let quoted = Quoted::at(text, text.blanks(end + 1))?;
    (!is_closing_quote(text, quoted.open))
        .then(|| in_quotes(text, key, quoted))
        .flatten()
}

/// The hit, under the token family's name when the value is a known token.
pub(super) fn hit<'a>(text: Text<'a>, start: usize, end: usize, rule: &'static str) -> Hit<'a> {
    let known = shapes::at_word(text, start).filter(|hit| hit.start == start && hit.end == end);
    known.unwrap_or(Hit::new(start, end, rule))
}
