//! Tokens that are known by how they begin: `prefix` + a run of one class.
//!
//! The table is in `families.rs`. A word is compared with it only when its
//! first three bytes begin some prefix (a 4 KiB set made at compile time).

use super::families::FAMILIES;
use super::scan::Hit;
use super::text::{Text, is_token};

/// One family of tokens.
pub(super) struct Family {
    pub(super) rule: &'static str,
    pub(super) prefix: &'static str,
    pub(super) body: Body,
    /// Bytes after the prefix, at least and at most.
    pub(super) min: usize,
    pub(super) max: usize,
    /// The prefix stays, only the body is replaced (webhook addresses).
    pub(super) keep: bool,
    /// A body that the rule must replace. Kept apart from the prefix, so that
    /// no scanner takes this source for a leak.
    #[cfg(test)]
    pub(super) sample: &'static str,
}

impl Family {
    /// By these the table is sorted.
    pub(super) fn letters(&self) -> &'static [u8] {
        self.prefix.as_bytes().get(..2).unwrap_or_default()
    }
}

/// Of what a token's body is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Alnum,
    /// Upper-case letters and digits.
    Upper,
    Hex,
    /// Letters, digits, `_`.
    Word,
    /// Letters, digits, `_`, `-`.
    Token,
    /// As `Token`, and not made of ordinary words: the prefix is a short one.
    Random,
    /// As `Token`, and no part of base64 data, in which a short prefix of letters stands by accident.
    Alone,
    /// As `Token`, and `.`, `=`, `%`.
    Dotted,
    /// As `Token`, and `/`, `+`, `=`.
    Path,
    /// As `Dotted` and `Path`, and `,`, `:`.
    Any,
}

impl Body {
    fn has(self, b: u8) -> bool {
        match self {
            Self::Alnum => b.is_ascii_alphanumeric(),
            Self::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Hex => b.is_ascii_hexdigit(),
            Self::Word => b.is_ascii_alphanumeric() || b == b'_',
            Self::Token | Self::Random | Self::Alone => is_token(b),
            Self::Dotted => is_token(b) || matches!(b, b'.' | b'=' | b'%'),
            Self::Path => is_token(b) || matches!(b, b'/' | b'+' | b'='),
            Self::Any => is_token(b) || matches!(b, b'.' | b'=' | b'%' | b'/' | b'+' | b',' | b':'),
        }
    }
}

/// Words that `at_word`, `odd.rs`, `auth.rs` and `shell.rs` look at besides.
const OTHER: &[&str] = &["eyJ", "Bearer", "bearer", "BEARER", "Basic", "basic", "machine"];

/// The first three bytes of each known word, five bits of each: a set of
/// 2^15 bits, made at compile time.
static BEGINNINGS: [u64; 512] = beginnings();

const fn beginnings() -> [u64; 512] {
    let mut set = [0; 512];
    let mut families = FAMILIES;
    while let [family, rest @ ..] = families {
        note(&mut set, family.prefix.as_bytes());
        families = rest;
    }
    let mut words = OTHER;
    while let [word, rest @ ..] = words {
        note(&mut set, word.as_bytes());
        words = rest;
    }
    set
}

const fn note(set: &mut [u64; 512], prefix: &[u8]) {
    match prefix {
        [a, b, c, ..] => insert(set, slot(*a, *b, *c)),
        // A two-letter prefix is followed by hex.
        [a, b] => {
            let mut digits: &[u8] = b"0123456789abcdef";
            while let [digit, rest @ ..] = digits {
                insert(set, slot(*a, *b, *digit));
                digits = rest;
            }
        }
        _ => {}
    }
}

const fn insert(set: &mut [u64; 512], slot: usize) {
    if let Some((_, from)) = set.split_at_mut_checked(slot / 64)
        && let Some(word) = from.first_mut()
    {
        *word |= 1 << (slot % 64);
    }
}

const fn slot(a: u8, b: u8, c: u8) -> usize {
    ((a & 31) as usize) << 10 | ((b & 31) as usize) << 5 | (c & 31) as usize
}

/// False when no known word begins with these three bytes.
#[inline]
pub(super) fn may_begin(a: u8, b: u8, c: u8) -> bool {
    let slot = slot(a, b, c);
    BEGINNINGS
        .get(slot / 64)
        .is_some_and(|word| (word >> (slot % 64)) & 1 == 1)
}

/// The known token that begins at `at`.
pub(super) fn at_word(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    let letters = text.bytes(at, at + 2);
    let from = FAMILIES.partition_point(|family| family.letters() < letters);
    let mut alike = FAMILIES
        .iter()
        .skip(from)
        .take_while(|family| family.letters() == letters);
    alike.find_map(|family| {
        if !text.has(at, family.prefix) {
            return None;
        }
        let start = at + family.prefix.len();
        let end = body_end(text, start, family.body);
        let size = end - start;
        let whole = family.body != Body::Alone || stands_alone(text, at, end);
        if size < family.min || size > family.max || !whole || !plausible(family, text.bytes(start, end)) {
            return None;
        }
        Some(Hit::new(if family.keep { start } else { at }, end, family.rule))
    })
}

/// Where the body ends; the marks of a sentence behind it are none of it.
fn body_end(text: Text, start: usize, body: Body) -> usize {
    let mut end = text.run(start, |b| body.has(b));
    // As some write a slash in a JSON string.
    while body.has(b'/') && text.has(end, "\\/") {
        end = text.run(end + 1, |b| body.has(b));
    }
    while end > start && matches!(text.before(end, 1), b'.' | b',' | b':') {
        end -= 1;
    }
    end
}

/// False in the middle of base64 data, which is longer than the steps of a path.
fn stands_alone(text: Text, start: usize, end: usize) -> bool {
    const DATA: usize = 24;
    let is_data = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+');
    let before = text.run_back(start, DATA, is_data);
    let after = text
        .bytes(end, end + DATA)
        .iter()
        .take_while(|b| is_data(**b))
        .count();
    start - before < DATA && after < DATA
}

/// False for a stand-in (`ghp_xxxxxxxxxxxxxxxx`) and, where the prefix is too
/// short to tell by itself, for a name made of words (`sk-estimator-doc-link`).
fn plausible(family: &Family, body: &[u8]) -> bool {
    if body.iter().all(|b| matches!(b, b'x' | b'X' | b'-' | b'_')) {
        return false;
    }
    if family.body != Body::Random {
        return true;
    }
    // The front of a token tells.
    let body = body.get(..256).unwrap_or(body);
    let long = body
        .split(|b| matches!(b, b'-' | b'_'))
        .any(|part| part.len() >= 16);
    let any = |class: fn(&u8) -> bool| body.iter().any(class);
    long || (any(u8::is_ascii_digit) && any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase))
}
