//! One pass over the text: each byte that can begin or betray a secret is
//! handed to the file that knows the shape.
//!
//! Candidates are rare (a separator, a two-byte token start, a dash), so the
//! usual byte costs one comparison. Hits come out in order and never overlap.

use super::text::Text;
use super::{assign, auth, marker, odd, pem, shapes, shell, url};

/// A range of the text to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) rule: &'static str,
    /// Put on both sides of the marker, where a bare JSON number was.
    pub(super) wrap: &'a str,
}

impl Hit<'_> {
    pub(super) fn new(start: usize, end: usize, rule: &'static str) -> Self {
        Self {
            start,
            end,
            rule,
            wrap: "",
        }
    }
}

/// The text with every secret found replaced, `None` when there is none.
pub(super) fn pass(text: &str) -> Option<String> {
    let text = Text::new(text);
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while at < text.len() {
        let Some(step) = candidate(text, at) else {
            at += 1;
            continue;
        };
        let hit = match step {
            Step::Skip(to) => {
                at = to;
                continue;
            }
            Step::Hit(hit) => hit,
        };
        // A look-behind may reach into what was already replaced.
        let start = hit.start.max(copied);
        let (Some(kept), true) = (text.str.get(copied..start), hit.end > start) else {
            at += 1;
            continue;
        };
        out.push_str(kept);
        out.push_str(hit.wrap);
        marker::push(&mut out, hit.rule);
        out.push_str(hit.wrap);
        copied = hit.end;
        at = hit.end;
    }
    if copied == 0 {
        return None;
    }
    out.push_str(text.str.get(copied..).unwrap_or_default());
    Some(out)
}

enum Step<'a> {
    Skip(usize),
    Hit(Hit<'a>),
}

#[inline]
fn candidate(text: Text<'_>, at: usize) -> Option<Step<'_>> {
    let hit = match text.at(at) {
        b'a'..=b'z' | b'A'..=b'Z' | b'1' => {
            if !shapes::may_begin(text.at(at), text.at(at + 1), text.at(at + 2)) {
                return None;
            }
            word(text, at)
        }
        b':' | b'=' => odd::telegram(text, at)
            .or_else(|| url::at_colon(text, at))
            .or_else(|| assign::at_separator(text, at)),
        b'-' => pem::at_dash(text, at)
            .or_else(|| shell::at_dash(text, at))
            .or_else(|| odd::mailchimp(text, at)),
        b'>' => assign::at_element(text, at),
        b',' => assign::at_comma(text, at),
        b'.' => odd::at_dot(text, at),
        b'~' => odd::azure_client_secret(text, at),
        b'[' => return marker::end(text, at).map(Step::Skip),
        _ => None,
    };
    hit.map(Step::Hit)
}

fn word(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    if !text.word_starts(at) {
        return None;
    }
    odd::jwt(text, at)
        .or_else(|| shapes::at_word(text, at))
        .or_else(|| auth::at_scheme(text, at))
        .or_else(|| shell::netrc(text, at))
}
