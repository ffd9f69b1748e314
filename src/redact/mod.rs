//! Takes secrets out of a text before the text is written.
//!
//! [`redact`] replaces each secret whole by `[REDACTED:<rule>]` and leaves the
//! syntax around it valid; twice is the same as once. [`Redacted`] is a text
//! that went through it: a store that accepts nothing else cannot leak by a
//! forgotten call. Hand-written for the hook path: no tables are built at run
//! time, a text without a find is borrowed. Data: `families.rs`, `keys.rs`;
//! the rule for `name = value`: `assign.rs`; the loop: `scan.rs`.

mod assign;
mod auth;
mod families;
mod keys;
mod marker;
mod odd;
mod pem;
mod scan;
mod shapes;
mod shell;
mod site;
mod text;
mod unquoted;
mod url;
mod value;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// A replacement can put two halves side by side that make a new find, so the
/// result is scanned until nothing changes. Each pass leaves less text that is
/// no marker; usually the second finds nothing.
const MOST_PASSES: usize = 16;

/// How much text behind the part that is kept [`Redacted::truncated`] reads.
const MARGIN: usize = 16 * 1024;

/// The text with every secret replaced; borrowed when there is none.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let Some(mut redacted) = scan::pass(text) else {
        return Cow::Borrowed(text);
    };
    for _ in 1..MOST_PASSES {
        let Some(again) = scan::pass(&redacted) else {
            break;
        };
        redacted = again;
    }
    Cow::Owned(redacted)
}

/// A text without secrets. Only the redactor makes one.
///
/// Deserializing is for reading back our own files: their text was redacted
/// when it was written and is, for speed, not scanned again.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Redacted(String);

impl Redacted {
    /// The whole text, redacted.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(redact(text).into_owned())
    }

    /// At most `max_chars` characters of the redacted text, the last of them
    /// `…` when something was cut. Redacts first, so that a cut shows no part
    /// of a secret, and never cuts a marker in two.
    #[must_use]
    pub fn truncated(text: &str, max_chars: usize) -> Self {
        Self(cut(&redact_front(text, max_chars), max_chars))
    }

    /// The first line that is not blank, without the blanks around it, cut as
    /// [`Redacted::truncated`] cuts.
    #[must_use]
    pub fn first_line(text: &str, max_chars: usize) -> Self {
        let text = text.trim_start();
        let redacted = redact_front(text, max_chars);
        let line = redacted.trim_start().lines().next().unwrap_or_default();
        Self(cut(line.trim_end(), max_chars))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Enough of the redacted text for its first `max_chars` characters. A long
/// text is not scanned to its end: a secret that the window's edge cuts lies
/// behind what is kept, or else the whole text is redacted after all.
fn redact_front(text: &str, max_chars: usize) -> Cow<'_, str> {
    let needed = max_chars.saturating_mul(4).saturating_add(2 * MARGIN);
    if text.len() <= needed {
        return redact(text);
    }
    let window = text.get(..text.floor_char_boundary(needed)).unwrap_or(text);
    let front = redact(window);
    let kept = front.char_indices().nth(max_chars).map(|(at, _)| at);
    match kept {
        Some(kept) if kept + MARGIN <= front.len() => front,
        _ => redact(text),
    }
}

/// `text` itself when it is short enough, else cut before the last character
/// that would fit, so that `…` takes its place.
fn cut(text: &str, max_chars: usize) -> String {
    let mut starts = text.char_indices().map(|(at, _)| at);
    let Some(last) = max_chars.checked_sub(1) else {
        return String::new();
    };
    let (Some(at), Some(_)) = (starts.nth(last), starts.next()) else {
        return text.to_owned();
    };
    let at = marker::before_cut(text, at);
    let mut short = text.get(..at).unwrap_or_default().to_owned();
    short.push('…');
    short
}

impl Deref for Redacted {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Redacted {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
