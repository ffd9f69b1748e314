//! `scheme://user:password@host`: the password goes, the address stays.
//!
//! A host with a port (`http://host:80/a@2x.png`) is not mistaken for it, a
//! variable (`$PASSWORD`, `{password}`) is left alone.

use super::scan::Hit;
use super::text::{Text, is_quote};
use super::{marker, value};

/// Longer user parts are not looked at.
const LONGEST: usize = 1024;

/// Called at a colon; the address begins when two slashes follow.
pub(super) fn at_colon(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    if !text.has(at, "://") || !text.before(at, 1).is_ascii_alphanumeric() {
        return None;
    }
    let start = at + 3;
    let word = text
        .run(start, |b| {
            !b.is_ascii_whitespace() && !is_quote(b) && !matches!(b, b'\\' | b'<' | b'>' | 0)
        })
        .min(start + LONGEST);
    // Not beyond the word: the next `?` may be pages away.
    let until = |stop: fn(&u8) -> bool| {
        let found = text.bytes(start, word).iter().position(stop);
        found.map_or(word, |at| start + at)
    };
    let host = until(|b| matches!(b, b'/' | b'?' | b'#' | b',' | b')'));
    // A database's password may hold `@` and `/`, its path holds no `@`.
    let query = until(|b| matches!(b, b'?' | b'#'));
    let colon = until(|b| *b == b':').min(host);
    let user_end = colon;
    if marker::within(text, start, host) || text.at(start) == b'[' {
        return None;
    }
    if let Some(end) = last_at(text, start, host) {
        let end = if is_web(text, at) {
            end
        } else {
            last_at(text, start, query).unwrap_or(end)
        };
        return if user_end < end {
            password(text, user_end + 1, end)
        } else {
            user_alone(text, start, end)
        };
    }
    // An unescaped `/`, `?` or `#` in the password: not a port, an `@` later.
    let port = text.bytes(colon + 1, host);
    if colon == host || port.is_empty() || port.iter().all(u8::is_ascii_digit) {
        return None;
    }
    password(text, colon + 1, last_at(text, host, word)?)
}

fn is_web(text: Text, colon: usize) -> bool {
    let start = text.run_back(colon, 16, |b| b.is_ascii_alphanumeric() || b == b'+');
    let scheme = text.bytes(start, colon);
    scheme.starts_with(b"http")
        || scheme.starts_with(b"git")
        || scheme.starts_with(b"ssh")
        || scheme.starts_with(b"ws")
        || scheme.ends_with(b"https")
}

fn last_at(text: Text, start: usize, end: usize) -> Option<usize> {
    let found = text.bytes(start, end).iter().rposition(|b| *b == b'@')?;
    Some(start + found)
}

fn password(text: Text<'_>, start: usize, end: usize) -> Option<Hit<'_>> {
    let value = text.bytes(start, end);
    let empty = value.is_empty() || value::is_stand_in(value);
    (!empty).then(|| Hit::new(start, end, "url-password"))
}

/// `https://<token>@host`
fn user_alone(text: Text<'_>, start: usize, end: usize) -> Option<Hit<'_>> {
    let value = text.bytes(start, end);
    let random = value.len() >= 20 && value::is_opaque(value, 20) && !value.contains(&b'.');
    random.then(|| Hit::new(start, end, "url-password"))
}
