//! Redaction of any text: twice is once, a text without a find is borrowed, JSON stays JSON, a cut is short
//! and holds nothing new, and a planted token is gone.
#![no_main]

use std::borrow::Cow;

use bookend::redact::{Redacted, redact};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let once = redact(&text);
    if let Cow::Borrowed(same) = once {
        assert_eq!(same, text);
    } else {
        assert_ne!(once, text);
    }
    assert_eq!(redact(&once), once, "twice is once");
    // The first byte chooses what else is looked at, and how much.
    let max = data.first().map_or(0, |b| usize::from(*b));
    match max % 4 {
        0 => cut(&text, &once, max),
        1 => json(&text),
        _ => planted(&text, max),
    }
});

fn cut(text: &str, once: &str, max: usize) {
    let short = Redacted::truncated(text, max);
    assert!(short.chars().count() <= max && once.starts_with(short.strip_suffix('…').unwrap_or(&short)));
    assert!(Redacted::first_line(text, max).chars().count() <= max);
}

/// A quote that one string opens and another one closes is taken for one value, with what is between: too much
/// goes rather than too little. So only the quotes that JSON escapes are looked at.
fn json(text: &str) {
    if !text.contains(['\'', '`']) {
        let document = json!({"a": text, "list": [text, 1], "password": text}).to_string();
        let out = redact(&document);
        assert!(serde_json::from_str::<Value>(&out).is_ok(), "{document}\n{out}");
    }
}

/// No source line holds the token whole.
fn planted(text: &str, max: usize) {
    let token = ["gh", "p_x7Kd93mQpL2vB8nR4tY6wZ1cF5gH0jSaEuIo"].concat();
    let (before, after) = text.split_at(text.floor_char_boundary(max));
    let planted = format!("{before} {token} {after}");
    assert!(!redact(&planted).contains(&token), "{planted}");
}
