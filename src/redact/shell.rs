//! Secrets that a command line gives without a separator: `--password x`,
//! `curl -u user:x`, `mysql -px`, `sshpass -p x`, and `.netrc` lines.
//!
//! Called at a dash. A short option is a secret only behind the command that
//! means it so: `mkdir -p`, `docker run -u 1000:1000` stay.

use super::assign;
use super::keys::{self, Kind};
use super::scan::Hit;
use super::site::{Quoted, is_closing_quote};
use super::text::{Text, is_blank, is_newline, is_quote};
use super::{auth, marker, value};

/// How far back the command of an option is looked for.
const LINE: usize = 512;

/// Commands, their option, and whether a blank may stand between (or must not).
const OPTIONS: &[(&str, &str, bool)] = &[
    ("mysql", "-p", false),
    ("mariadb", "-p", false),
    ("sshpass", "-p", true),
    ("docker login", "-p", true),
    ("podman login", "-p", true),
    ("redis-cli", "-a", true),
    ("sqlcmd", "-P", true),
    ("ldapsearch", "-w", true),
    ("unzip", "-P", true),
];

pub(super) fn at_dash(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    if text.before(at, 1) == b'-' {
        return None;
    }
    if text.has(at, "--") {
        return long_option(text, at);
    }
    let before = text.before(at, 1);
    if !(is_blank(before) || is_quote(before)) || !text.at(at + 1).is_ascii_alphabetic() {
        return None;
    }
    if matches!(text.at(at + 1), b'u' | b'U' | b'x') {
        return user(text, at, at + 2);
    }
    short_option(text, at)
}

/// `--password x`, `--user name:x`; `--password=x` is an assignment.
fn long_option(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    let start = at + 2;
    let end = text.run(start, |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    let name = text.bytes(start, end);
    if matches!(name, b"user" | b"proxy-user") {
        return user(text, at, end);
    }
    // In a list of arguments a quote, a comma and a quote stand between.
    let gap = text.run(end, |b| is_blank(b) || is_quote(b) || matches!(b, b',' | b'\\'));
    let listed = text.bytes(end, gap).contains(&b',');
    if gap == end || !(listed || text.bytes(end, gap).first().is_some_and(|b| is_blank(*b))) {
        return None;
    }
    if listed && !is_quote(text.before(gap, 1)) {
        return None;
    }
    let key = keys::classify(name)?;
    if !matches!(key.kind, Kind::Password | Kind::Secret | Kind::Token | Kind::Weak) {
        return None;
    }
    let from = text.blanks(end);
    if !listed && let Some(quoted) = argument(text, from) {
        return assign::in_quotes(text, key, quoted);
    }
    let start = if listed { gap } else { from };
    let end = word_end(text, start);
    let content = text.bytes(start, end);
    if content.first().is_none_or(|b| *b == b'-') || !usable(text, start, end) || value::is_path(content) {
        return None;
    }
    let digits = content.iter().all(u8::is_ascii_digit);
    let certain = match key.kind {
        Kind::Weak => value::is_opaque(content, 8),
        _ if digits => key.kind == Kind::Password && content.len() > 3,
        _ => {
            value::is_opaque(content, 4)
                || (ends_option(text, end)
                    && content.len() > 2
                    && !value::is_sentence_word(content)
                    && !value::is_own_name(content))
        }
    };
    let hit = || auth::behind_scheme(text, start).unwrap_or_else(|| assign::hit(text, start, end, key.rule));
    certain.then(hit)
}

/// What follows a plain word that is an option's value and no sentence.
fn ends_option(text: Text, end: usize) -> bool {
    let next = text.blanks(end);
    let last = text.at(next);
    next >= text.len()
        || is_newline(last)
        || is_quote(last)
        || text.escape_ends_value(next)
        || matches!(last, b'-' | b'|' | b'&' | b';' | b'>' | b'/' | b'\\')
        || text.has(next, "http")
}

/// `-u user:x` of curl and its like; the user stays.
fn user(text: Text<'_>, at: usize, end: usize) -> Option<Hit<'_>> {
    let gap = text.run(end, |b| {
        is_blank(b) || is_quote(b) || matches!(b, b'=' | b'\\' | b',')
    });
    let word = word_end(text, gap);
    let colon = text.run(gap, |b| b != b':').min(word);
    let start = colon + 1;
    if gap > end + 8 || colon >= word || colon == gap || text.at(start) == b'/' {
        return None;
    }
    let mut stop = word;
    // A quoted password may hold blanks.
    if is_quote(text.before(gap, 1)) {
        let mark = text.before(gap, 1);
        let quoted = text.run(start, |b| b != mark && b != b'\\' && !is_newline(b));
        stop = if text.at(quoted) == mark { quoted } else { word };
    }
    let content = text.bytes(start, stop);
    let numbers = content.iter().all(u8::is_ascii_digit);
    (usable(text, start, stop) && !numbers && line_has(text, at, &["curl", "http", "wget", "xh "]))
        .then(|| Hit::new(start, stop, "basic-auth"))
}

fn short_option(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    let (_, _, blank) = OPTIONS
        .iter()
        .find(|(command, option, _)| text.has(at, option) && line_starts_with(text, at, command))?;
    let mut start = at + 2;
    if *blank {
        start = text.blanks(start);
    }
    if let Some(quoted) = argument(text, start) {
        let (start, end) = (quoted.start, quoted.end);
        return usable(text, start, end).then(|| Hit::new(start, end, "password"));
    }
    let end = word_end(text, start);
    let option = text.at(start) == b'-';
    (!option && usable(text, start, end)).then(|| Hit::new(start, end, "password"))
}

/// A quoted argument; letters before the quote are a part of a word here, and the quote may end what is around.
fn argument(text: Text, at: usize) -> Option<Quoted> {
    Quoted::at(text, at).filter(|q| !text.at(at).is_ascii_alphabetic() && !is_closing_quote(text, q.open))
}

/// `machine h login u password x`
pub(super) fn netrc(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    const PASSWORD: &[u8] = b" password ";
    if !text.has(at, "machine ") {
        return None;
    }
    let end = text.run(at, |b| !is_newline(b)).min(at + LINE);
    let line = text.bytes(at, end);
    if !line.windows(7).any(|w| w == b" login ") {
        return None;
    }
    let found = line.windows(PASSWORD.len()).position(|w| w == PASSWORD)?;
    let start = at + found + PASSWORD.len();
    let end = word_end(text, start);
    usable(text, start, end).then(|| Hit::new(start, end, "password"))
}

fn usable(text: Text, start: usize, end: usize) -> bool {
    end > start
        && !value::is_stand_in(text.bytes(start, end))
        && !marker::within(text, start, end)
        && !text.has(start, "[REDACTED:")
}

/// True when the command, or one that begins so (`mysqldump`), is on the line.
fn line_starts_with(text: Text, at: usize, command: &str) -> bool {
    let start = text.line_start(at, LINE);
    let line = text.bytes(start, at);
    line.windows(command.len()).any(|w| w == command.as_bytes())
}

fn line_has(text: Text, at: usize, words: &[&str]) -> bool {
    let start = text.line_start(at, LINE);
    let end = text.run(at, |b| !is_newline(b)).min(at + LINE);
    let line = text.bytes(start, end);
    words
        .iter()
        .any(|word| line.windows(word.len()).any(|w| w == word.as_bytes()))
}

fn word_end(text: Text, start: usize) -> usize {
    text.run(start, |b| {
        !b.is_ascii_whitespace()
            && !is_quote(b)
            && !matches!(b, b'\\' | b';' | b'|' | b'&' | b'<' | b'>' | b')' | 0)
    })
}
