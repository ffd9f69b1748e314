//! Tokens that no prefix betrays but a byte in their middle does.
//!
//! Each function is called at that byte (`:`, `.`, `~`, `-`) and looks both
//! ways. JSON web tokens live here too: their shape is three dotted runs.

use super::scan::Hit;
use super::text::{Text, is_token};
use super::value;

/// `eyJ….eyJ….…`: signed, unsigned (empty last part), encrypted (five parts)
/// or cut after the second part.
pub(super) fn jwt(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    if !text.has(at, "eyJ") {
        return None;
    }
    let header = text.run(at, is_token);
    if header - at < 10 || text.at(header) != b'.' {
        return None;
    }
    let payload = text.run(header + 1, is_token);
    let encrypted = payload == header + 1 && text.at(payload) == b'.';
    if payload - header < 5 && !encrypted {
        return None;
    }
    let mut end = payload;
    for _ in 0..3 {
        if text.at(end) != b'.' {
            break;
        }
        end = text.run(end + 1, is_token);
    }
    // The full stop of a sentence is not a part.
    if text.before(end, 1) == b'.' {
        end -= 1;
    }
    Some(Hit::new(at, end, "jwt"))
}

/// `<8 to 10 digits>:<35 token bytes>`, called at the colon.
pub(super) fn telegram(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    if text.at(at) != b':' || !text.before(at, 1).is_ascii_digit() {
        return None;
    }
    let start = text.run_back(at, 16, |b| b.is_ascii_digit());
    let end = text.run(at + 1, is_token);
    let fits = (8..=11).contains(&(at - start)) && (34..=36).contains(&(end - at - 1));
    (fits && text.at(at + 1) == b'A').then(|| Hit::new(start, end, "telegram-token"))
}

/// Called at a dot.
pub(super) fn at_dot(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    discord(text, at)
        .or_else(|| terraform(text, at))
        .or_else(|| vault(text, at))
        .or_else(|| airtable(text, at))
}

/// `<user id>.<6>.<27 or more>`, called at the first dot.
fn discord(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    if text.at(at + 7) != b'.' {
        return None;
    }
    let start = text.run_back(at, 64, is_token);
    let end = text.run(at + 8, is_token);
    let fits = (23..=30).contains(&(at - start))
        && matches!(text.at(start), b'M' | b'N' | b'O')
        && text.bytes(at + 1, at + 7).iter().all(|b| is_token(*b))
        && (27..=45).contains(&(end - at - 8));
    fits.then(|| Hit::new(start, end, "discord-token"))
}

/// `<14>.atlasv1.<60 or more>`, called at the first dot.
fn terraform(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    const MIDDLE: &str = ".atlasv1.";
    if !text.has(at, MIDDLE) {
        return None;
    }
    let start = text.run_back(at, 20, |b| b.is_ascii_alphanumeric());
    let end = text.run(at + MIDDLE.len(), |b| is_token(b) || b == b'=');
    let fits = at - start >= 10 && end - at >= MIDDLE.len() + 20;
    fits.then(|| Hit::new(start, end, "terraform-token"))
}

/// `s.<24>`, as Vault made them before its prefixes; called at the dot.
fn vault(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    let start = at.checked_sub(1)?;
    let end = text.run(at + 1, is_token);
    let fits = text.at(start) == b's' && end - at == 25 && text.word_starts(start);
    let body = text.bytes(at + 1, end);
    let plain = body.iter().all(u8::is_ascii_alphanumeric) && !matches!(text.at(end), b'(' | b'.');
    (fits && plain && value::is_mixed(body)).then(|| Hit::new(start, end, "vault-token"))
}

/// `pat<14>.<64 hex>`, called at the dot.
fn airtable(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    let start = at.checked_sub(17)?;
    let end = text.run(at + 1, |b| b.is_ascii_hexdigit());
    let name = text.bytes(start, at);
    let fits = end - at == 65 && text.has(start, "pat") && text.word_starts(start);
    (fits && name.iter().all(u8::is_ascii_alphanumeric)).then(|| Hit::new(start, end, "airtable-token"))
}

/// `<3><digit>Q~<31 or more>`, called at the tilde.
pub(super) fn azure_client_secret(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    let class = |b: u8| is_token(b) || matches!(b, b'.' | b'~');
    if text.before(at, 1) != b'Q' || !text.before(at, 2).is_ascii_digit() {
        return None;
    }
    let start = text.run_back(at - 2, 3, class);
    let end = text.run(at + 1, class);
    let fits = at - start == 5 && end - at > 28;
    fits.then(|| Hit::new(start, end, "azure-client-secret"))
}

/// `<32 hex>-us<1 or 2 digits>`, called at the dash.
pub(super) fn mailchimp(text: Text<'_>, at: usize) -> Option<Hit<'_>> {
    if !text.has(at, "-us") {
        return None;
    }
    let start = text.run_back(at, 40, |b| b.is_ascii_hexdigit());
    let end = text.run(at + 3, |b| b.is_ascii_digit());
    let fits = at - start == 32 && (1..=2).contains(&(end - at - 3));
    fits.then(|| Hit::new(start, end, "mailchimp-key"))
}
