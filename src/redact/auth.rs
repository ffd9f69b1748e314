//! `Authorization` and cookies: scheme kept, credentials replaced; also
//! `Bearer …` and `Basic …` where no header name stands before them.

use super::scan::Hit;
use super::text::{Text, is_blank, is_newline, is_quote, is_token, is_token68};
use super::{marker, value};

/// Schemes whose credentials are one word, with the rule's name.
const ONE_WORD: &[(&str, &str)] = &[
    ("bearer", "bearer-token"),
    ("basic", "basic-auth"),
    ("token", "token"),
    ("apikey", "api-key"),
    ("api-key", "api-key"),
    ("bot", "token"),
    ("jwt", "token"),
    ("negotiate", "authorization"),
    ("ntlm", "authorization"),
    ("genie-key", "api-key"),
    ("sso-key", "api-key"),
    ("key", "api-key"),
    ("oauth", "token"),
    ("splunk", "token"),
    ("ghost", "token"),
    ("discogs", "token"),
    ("flyv1", "token"),
];

/// Schemes whose credentials go to the end of the header.
const TO_THE_END: &[&str] = &[
    "digest",
    "aws4-hmac-sha256",
    "hmac",
    "hawk",
    "signature",
    "sharedkey",
    "sharedkeylite",
    "sharedaccesssignature",
    "scram-sha-256",
    "mac",
    "aws",
    "dpop",
    "gnap",
    "vapid",
];

/// An unquoted header value: to the end of the line or of the string around.
pub(super) fn bare_header(text: Text<'_>, start: usize) -> Option<Hit<'_>> {
    let word = text.run(start, is_token);
    // The parameters of these have quotes of their own.
    let quotes = is_scheme_to_the_end(text.bytes(start, word));
    let end = if quotes && !is_quoted_line(text, start) {
        text.run(start, |b| !is_newline(b) && b != b'\\' && b != b'\'' && b != 0)
    } else {
        line_end(text, start)
    };
    header(text, start, end)
}

fn is_scheme_to_the_end(word: &[u8]) -> bool {
    TO_THE_END.iter().any(|s| word.eq_ignore_ascii_case(s.as_bytes()))
}

/// True when the header stands in double quotes: `-H "Authorization: …"`.
fn is_quoted_line(text: Text, start: usize) -> bool {
    let line = text.line_start(start, 512);
    text.bytes(line, start).iter().filter(|b| **b == b'"').count() % 2 == 1
}

/// The credentials in the value of an `Authorization` header.
pub(super) fn header(text: Text<'_>, start: usize, end: usize) -> Option<Hit<'_>> {
    let start = text.blanks(start);
    let first = text.run(start, |b| !b.is_ascii_whitespace()).min(end);
    let word = text.bytes(start, first);
    let next = text.blanks(first);
    if marker::within(text, start, end) {
        return None;
    }
    if next >= end {
        return bare(text, start, first);
    }
    let scheme = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let credentials = text.run(next, |b| !b.is_ascii_whitespace()).min(end);
    let content = text.bytes(next, credentials);
    if let Some((_, rule)) = ONE_WORD.iter().find(|(name, _)| scheme(name)) {
        // `Bearer FlyV1 …`: a scheme in the scheme.
        let inner = |(name, _): &(&str, &str)| content.eq_ignore_ascii_case(name.as_bytes());
        if ONE_WORD.iter().any(inner) && text.blanks(credentials) < end {
            return header(text, next, end);
        }
        let stands = value::is_stand_in(content)
            || value::is_own_name(value::trim_punctuation(content))
            || is_talk(content)
            || content.first().is_some_and(|b| is_quote(*b));
        // `Bearer token required`: what follows is a sentence.
        let follows = text.blanks(credentials) < end && value::is_plain(content);
        return (!stands && !follows).then(|| Hit::new(next, one_word_end(text, next, credentials), rule));
    }
    if is_scheme_to_the_end(word) {
        let all = text.bytes(next, end);
        let told = all.contains(&b'=') || value::is_opaque(content, 12);
        return (told && !value::is_stand_in(all)).then(|| Hit::new(next, end, "authorization"));
    }
    if value::is_opaque(word, 8) && !value::is_code(word) {
        return bare(text, start, first);
    }
    let told = value::is_opaque(content, 10) && !value::is_stand_in(content) && !value::is_code(content);
    told.then(|| Hit::new(next, credentials, "authorization"))
}

/// No scheme: `authorization: tok_1234567890`.
fn bare(text: Text<'_>, start: usize, end: usize) -> Option<Hit<'_>> {
    let end = one_word_end(text, start, end);
    let content = text.bytes(start, end);
    let is_call = content.iter().any(|b| matches!(b, b'(' | b'<' | b'{' | b'['));
    let told = value::is_opaque(content, 6) && !value::is_stand_in(content) && !value::is_code(content);
    (told && !is_call).then(|| super::assign::hit(text, start, end, "authorization"))
}

/// Without what a list or a call puts behind the value.
fn one_word_end(text: Text, start: usize, end: usize) -> usize {
    let behind = text.bytes(start, end).iter().rev();
    end - behind
        .take_while(|b| matches!(b, b',' | b';' | b')' | b'}' | b']'))
        .count()
}

/// Words that follow a scheme in a sentence.
fn is_talk(content: &[u8]) -> bool {
    const TALK: &[&str] = &[
        "authentication",
        "auth",
        "authorization",
        "tokens",
        "scheme",
        "header",
        "headers",
        "credentials",
        "realm",
        "and",
        "or",
        "is",
        "format",
        "based",
        "token-based",
        "access",
    ];
    let word = value::trim_punctuation(content);
    TALK.iter().any(|t| word.eq_ignore_ascii_case(t.as_bytes())) || content.starts_with(b"realm=")
}

/// `TOKEN=Bearer x7Kd…`: what was taken for the value is only the scheme.
pub(super) fn behind_scheme(text: Text<'_>, start: usize) -> Option<Hit<'_>> {
    let first = text.run(start, is_token);
    let (_, rule) = ONE_WORD
        .iter()
        .find(|(name, _)| text.bytes(start, first).eq_ignore_ascii_case(name.as_bytes()))?;
    let next = text.blanks(first);
    let end = text.run(next, |b| is_token68(b) || b == b',');
    let content = text.bytes(next, end);
    let told = next > first && value::is_opaque(content, 8) && !value::is_code(content);
    told.then(|| Hit::new(next, one_word_end(text, next, end), rule))
}

/// `Bearer <token>` and `Basic <base64 of user:password>` by themselves.
pub(super) fn at_scheme(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    let bearer = text.has_ignoring_case(at, "bearer");
    let basic = !bearer && text.has_ignoring_case(at, "basic");
    if !bearer && !basic {
        return None;
    }
    let blank = at + if bearer { 6 } else { 5 };
    let start = text.run(blank, |b| is_blank(b) || b == b'+').min(blank + 4);
    let start = if text.has(blank, "%20") { blank + 3 } else { start };
    if start == blank {
        return None;
    }
    let mut end = text.run(start, is_token68);
    while end > start && text.before(end, 1) == b'.' {
        end -= 1;
    }
    let content = text.bytes(start, end);
    let digit = content.iter().any(u8::is_ascii_digit);
    let (told, rule) = if bearer {
        let told = digit && value::is_opaque(content, 8) || value::is_opaque(content, 20);
        (told && !value::is_code(content), "bearer-token")
    } else {
        (content.len() >= 8 && is_user_and_password(content), "basic-auth")
    };
    told.then(|| Hit::new(start, end, rule))
}

/// True for the base64 of printable text with a colon in it.
fn is_user_and_password(content: &[u8]) -> bool {
    let mut colon = false;
    let (mut bits, mut held) = (0u32, 0u32);
    for b in content {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => continue,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(six)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            let Ok(byte) = u8::try_from(bits >> held & 0xff) else {
                return false;
            };
            if byte < b' ' || byte == 0x7f {
                return false;
            }
            colon |= byte == b':';
        }
    }
    colon
}

/// An unquoted cookie header.
pub(super) fn bare_cookie(text: Text<'_>, start: usize) -> Option<Hit<'_>> {
    cookie(text, start, line_end(text, start))
}

/// `name=value; name=value`, whole.
pub(super) fn cookie(text: Text<'_>, start: usize, end: usize) -> Option<Hit<'_>> {
    let name = text.run(start, |b| is_token68(b) && b != b'=').min(end);
    let content = text.bytes(name, end);
    let pair = name > start
        && content.first() == Some(&b'=')
        && content
            .get(1)
            .is_some_and(|b| !matches!(b, b' ' | b'=' | b'$' | b'<' | b'{' | b'>'));
    let template = [&b"${"[..], b"{{", b"+ "]
        .iter()
        .any(|t| content.windows(2).any(|w| w == *t));
    (pair && !template && !marker::within(text, start, end)).then(|| Hit::new(start, end, "cookie"))
}

/// The end of the line, of the quotes or of the escaped line around.
fn line_end(text: Text, start: usize) -> usize {
    let mut at = start;
    loop {
        at = text.run(at, |b| !is_newline(b) && b != b'\\' && !is_quote(b) && b != 0);
        if text.at(at) != b'\\' || text.escape_ends_value(at) {
            return at;
        }
        at = text.run(at, |b| b == b'\\');
    }
}
