//! The marker `[REDACTED:<rule>]` that takes a secret's place.
//!
//! Markers are opaque to the scanner, which is what makes redaction
//! idempotent. Only the names of our own rules make a marker: a secret that
//! somebody wraps in brackets is still scanned.

use super::families::FAMILIES;
use super::text::Text;

const OPEN: &str = "[REDACTED:";

/// Rules that are not in the table of token families.
pub(super) const RULES: &[&str] = &[
    "access-key",
    "airtable-token",
    "api-key",
    "authorization",
    "azure-client-secret",
    "basic-auth",
    "bearer-token",
    "cookie",
    "credential",
    "discord-token",
    "jwt",
    "mailchimp-key",
    "password",
    "private-key",
    "secret",
    "signature",
    "telegram-token",
    "terraform-token",
    "token",
    "url-password",
];

/// Appends the marker of `rule`.
pub(super) fn push(out: &mut String, rule: &str) {
    out.push_str(OPEN);
    out.push_str(rule);
    out.push(']');
}

/// The end of the marker that begins at `at`, if one does.
pub(super) fn end(text: Text, at: usize) -> Option<usize> {
    if !text.has(at, OPEN) {
        return None;
    }
    let name = at + OPEN.len();
    let close = text.run(name, |b| {
        b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'
    });
    let rule = text.bytes(name, close);
    let known =
        RULES.iter().any(|r| r.as_bytes() == rule) || FAMILIES.iter().any(|f| f.rule.as_bytes() == rule);
    (known && text.at(close) == b']').then_some(close + 1)
}

/// True when a marker begins somewhere in the range.
pub(super) fn within(text: Text, start: usize, end: usize) -> bool {
    text.bytes(start, end)
        .iter()
        .enumerate()
        .any(|(i, b)| *b == b'[' && self::end(text, start + i).is_some())
}

/// The first byte at or before `cut` that does not lie inside a marker.
pub(super) fn before_cut(text: &str, cut: usize) -> usize {
    let whole = Text::new(text);
    // The longest marker is shorter than this.
    let from = cut.saturating_sub(64);
    (from..cut)
        .find(|at| end(whole, *at).is_some_and(|end| end > cut))
        .unwrap_or(cut)
}
