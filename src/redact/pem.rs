//! PEM private keys, whole: with real line ends, with a literal `\n` inside a
//! JSON string, behind line numbers or diff marks, and cut before the END
//! line (then up to the end of the base64 block).

use super::scan::Hit;
use super::text::Text;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

/// An END line further away than this belongs to something else.
const FARTHEST_END: usize = 32 * 1024;

/// A line of the block is at least this long, the last one aside.
const FULL_LINE: usize = 40;

/// Called at a dash.
pub(super) fn at_dash(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    if !text.has(at, BEGIN) {
        return None;
    }
    let name = at + BEGIN.len();
    let close = text.run(name, |b| {
        b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' '
    });
    let label = text.bytes(name, close);
    if !label.windows(11).any(|w| w == b"PRIVATE KEY") {
        return None;
    }
    let body = text.run(close, |b| b == b'-');
    let end = end_line(text, body).unwrap_or_else(|| block(text, body));
    (end > body).then(|| Hit::new(at, end, "private-key"))
}

/// The end of the END line, when a base64 body lies between.
fn end_line(text: Text, body: usize) -> Option<usize> {
    let window = text.bytes(body, text.len().min(body + FARTHEST_END));
    let begin = window.windows(11).position(|w| w == BEGIN.as_bytes());
    let window = window.get(..begin.unwrap_or(window.len()))?;
    // Another key of a JSON object, or the end of its list, is no part of it.
    let other = window
        .windows(2)
        .position(|w| matches!(w, [b'"', b':'] | [b'{' | b'}' | b'[' | b']', _]));
    let window = window.get(..other.unwrap_or(window.len()))?;
    let found = window.windows(9).position(|w| w == END.as_bytes())?;
    let has_body = window
        .get(..found)?
        .split(|b| !is_base64(*b))
        .any(|run| run.len() >= 12);
    let label = text.run(body + found + END.len(), |b| {
        b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' '
    });
    has_body.then(|| text.run(label, |b| b == b'-'))
}

/// The end of the base64 lines that begin at `body`.
fn block(text: Text, body: usize) -> usize {
    let mut end = body;
    loop {
        let start = header_lines(text, between_lines(text, end));
        let stop = text.run(start, is_base64);
        let run = text.bytes(start, stop);
        let full = run.len() >= FULL_LINE;
        // The last line may be short, but it is not a word of what follows.
        let last = end > body || run.len() >= 12;
        let random = run.iter().any(|b| !b.is_ascii_lowercase());
        if run.is_empty() || !(full || (last && random)) {
            return end;
        }
        end = stop;
        if !full {
            return end;
        }
    }
}

/// Past line ends, escaped ones, diff marks and line numbers.
fn between_lines(text: Text, at: usize) -> usize {
    let mut at = at;
    loop {
        let next = match text.at(at) {
            b' ' | b'\t' | b'\r' | b'\n' | b'>' | b'|' => at + 1,
            b'\\' => {
                let after = text.run(at, |b| b == b'\\');
                after + usize::from(matches!(text.at(after), b'n' | b'r' | b't'))
            }
            b'+' if matches!(text.before(at, 1), b'\n' | b' ') => at + 1,
            b'0'..=b'9' => {
                let after = text.run(at, |b| b.is_ascii_digit());
                if !matches!(text.at(after), b'\t' | b'|' | b':') && !text.has(after, "→") {
                    return at;
                }
                after + if text.has(after, "→") { "→".len() } else { 1 }
            }
            _ => return at,
        };
        at = next;
    }
}

/// Past `Proc-Type: 4,ENCRYPTED` and its like.
fn header_lines(text: Text, at: usize) -> usize {
    let mut at = at;
    for header in ["Proc-Type:", "DEK-Info:", "Version:", "Comment:"] {
        if text.has(at, header) {
            let end = text.run(at, |b| !matches!(b, b'\n' | b'\r' | b'\\'));
            at = between_lines(text, end);
        }
    }
    at
}

fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}
