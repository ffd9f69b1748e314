//! Which names hold a secret.
//!
//! A name is judged by how it ends, without regard to case, `_`, `-`, `.` and
//! spaces: `apiKey`, `API_KEY`, `X-Api-Key` and `openai.api-key` are one row.
//! `max_tokens`, `token_count`, `secret_name`, `primary_key` end otherwise.

/// What a name promises about its value, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any literal is a secret, a dictionary word and a phrase too.
    Password,
    /// Any literal without prose in it is a secret.
    Secret,
    /// A secret unless it is a short plain word: parsers have tokens, too.
    Token,
    /// A secret only when it looks random.
    Weak,
    /// Only in the query of an address.
    Query,
    /// `Authorization`: scheme and credentials.
    Authorization,
    /// `Cookie`, `Set-Cookie`: the header's whole value.
    Cookie,
    /// `value`, whose name stands in front of it: `"name":"API_KEY","value":"…"`.
    Value,
}

/// A name that holds a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) kind: Kind,
    pub(super) rule: &'static str,
    /// More stands before the ending: `auth_token`, not `token`.
    pub(super) compound: bool,
}

/// What may stand before the ending.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Anything,
    /// Nothing, or a word that ends here: `db_pass`, `dbPass`, not `compass`.
    Word,
    /// A word that ends here.
    SomeWord,
    Nothing,
}

#[rustfmt::skip]
const ENDINGS: &[(&str, Kind, &str, Before)] = &[
    ("password", Kind::Password, "password", Before::Anything),
    ("passwd", Kind::Password, "password", Before::Anything),
    ("passphrase", Kind::Password, "password", Before::Anything),
    ("passcode", Kind::Password, "password", Before::Anything),
    ("pwd", Kind::Password, "password", Before::Word),
    ("pswd", Kind::Password, "password", Before::Word),
    ("passwort", Kind::Password, "password", Before::Word),
    ("pass", Kind::Password, "password", Before::SomeWord),
    ("pw", Kind::Password, "password", Before::SomeWord),
    ("secret", Kind::Secret, "secret", Before::Anything),
    ("secrets", Kind::Weak, "secret", Before::Word),
    ("apikey", Kind::Secret, "api-key", Before::Anything),
    ("apitoken", Kind::Secret, "api-key", Before::Anything),
    ("appkey", Kind::Secret, "api-key", Before::Word),
    ("authkey", Kind::Secret, "api-key", Before::Word),
    ("subscriptionkey", Kind::Secret, "api-key", Before::Anything),
    ("servicekey", Kind::Secret, "api-key", Before::Anything),
    ("servicerolekey", Kind::Secret, "api-key", Before::Anything),
    ("integrationkey", Kind::Secret, "api-key", Before::Anything),
    ("licensekey", Kind::Secret, "api-key", Before::Anything),
    ("secretkey", Kind::Secret, "access-key", Before::Anything),
    ("accesskey", Kind::Secret, "access-key", Before::Anything),
    ("accountkey", Kind::Secret, "access-key", Before::Anything),
    ("storagekey", Kind::Weak, "access-key", Before::Anything),
    ("accesskeyid", Kind::Weak, "access-key", Before::Anything),
    ("accesssignature", Kind::Secret, "signature", Before::Anything),
    ("privatekey", Kind::Secret, "private-key", Before::Anything),
    ("signingkey", Kind::Secret, "private-key", Before::Anything),
    ("encryptionkey", Kind::Secret, "private-key", Before::Anything),
    ("decryptionkey", Kind::Secret, "private-key", Before::Anything),
    ("masterkey", Kind::Secret, "private-key", Before::Anything),
    ("sharedkey", Kind::Secret, "private-key", Before::Anything),
    ("hmackey", Kind::Secret, "private-key", Before::Anything),
    ("deploykey", Kind::Weak, "private-key", Before::Anything),
    ("sessionkey", Kind::Weak, "private-key", Before::Anything),
    ("secretkeybase", Kind::Secret, "secret", Before::Anything),
    ("token", Kind::Token, "token", Before::Anything),
    ("bearer", Kind::Weak, "bearer-token", Before::Nothing),
    ("jwt", Kind::Weak, "token", Before::Word),
    ("credential", Kind::Weak, "credential", Before::Anything),
    ("credentials", Kind::Weak, "credential", Before::Anything),
    ("creds", Kind::Weak, "credential", Before::Word),
    ("auth", Kind::Weak, "credential", Before::Nothing),
    ("dsn", Kind::Weak, "credential", Before::Nothing),
    ("authorization", Kind::Authorization, "authorization", Before::Anything),
    ("xauth", Kind::Authorization, "authorization", Before::Nothing),
    ("cookie", Kind::Cookie, "cookie", Before::Nothing),
    ("setcookie", Kind::Cookie, "cookie", Before::Nothing),
    ("gitlabsession", Kind::Secret, "cookie", Before::Nothing),
    ("value", Kind::Value, "secret", Before::Nothing),
    ("sig", Kind::Query, "signature", Before::Nothing),
    ("signature", Kind::Query, "signature", Before::Word),
    ("hmac", Kind::Query, "signature", Before::Nothing),
    ("key", Kind::Query, "api-key", Before::Nothing),
    ("code", Kind::Query, "token", Before::Nothing),
];

/// Words after the ending that do not change what it is: `API_KEY_PROD`.
const TAILS: &[&str] = &[
    "prod",
    "production",
    "dev",
    "development",
    "staging",
    "stage",
    "test",
    "testing",
    "live",
    "old",
    "new",
    "value",
    "base64",
    "b64",
    "primary",
    "secondary",
    "current",
    "previous",
    "raw",
    "plain",
    "plaintext",
    "local",
    "main",
    "backup",
    "default",
    "ro",
    "rw",
    "override",
    "string",
];

/// Tokens that say where a list or a task goes on, and open nothing.
const BOOKMARKS: &[&[u8]] = &[b"progress", b"page", b"next", b"continuation", b"cancellation"];

/// What the name, written as found, holds.
pub(super) fn classify(name: &[u8]) -> Option<Key> {
    let name = without_number(name);
    find(name).or_else(|| {
        let (head, tail) = last_word(name)?;
        let known = TAILS.iter().any(|t| tail.eq_ignore_ascii_case(t.as_bytes()));
        known.then(|| find(without_number(head))).flatten()
    })
}

/// True when the name is one that holds a password, a secret or a token.
pub(super) fn names_a_secret(name: &[u8]) -> bool {
    classify(name).is_some_and(|key| matches!(key.kind, Kind::Password | Kind::Secret | Kind::Token))
}

fn find(name: &[u8]) -> Option<Key> {
    if !may_end(name) {
        return None;
    }
    ENDINGS.iter().find_map(|(ending, kind, rule, before)| {
        let head = strip_ending(name, ending.as_bytes())?;
        let word_ends = ends_word(name, head);
        let fits = match before {
            Before::Anything => true,
            Before::Word => head.is_empty() || word_ends,
            Before::SomeWord => !head.is_empty() && word_ends,
            Before::Nothing => head.is_empty(),
        };
        (fits && !(*kind == Kind::Token && is_bookmark(head))).then_some(Key {
            kind: *kind,
            rule,
            compound: !head.is_empty(),
        })
    })
}

/// `pageToken`, `nextPageToken`; not `FB_PAGE_TOKEN`, which is one.
fn is_bookmark(head: &[u8]) -> bool {
    let mut before = BOOKMARKS.iter().filter_map(|word| strip_ending(head, word));
    before.any(|rest| rest.is_empty() || rest.eq_ignore_ascii_case(b"next"))
}

/// For each last letter the letters that stand before it in some ending.
static LAST_TWO: [u32; 32] = last_two();

const fn last_two() -> [u32; 32] {
    let mut table = [0; 32];
    let mut endings = ENDINGS;
    while let [(ending, ..), rest @ ..] = endings {
        if let [.., a, b] = ending.as_bytes()
            && let Some((_, from)) = table.split_at_mut_checked((*b & 31) as usize)
            && let Some(before) = from.first_mut()
        {
            *before |= 1 << (*a & 31);
        }
        endings = rest;
    }
    table
}

/// False for most names, by their last two letters.
fn may_end(name: &[u8]) -> bool {
    let [.., a, b] = name else { return false };
    let before = LAST_TWO.get(usize::from(b & 31)).copied().unwrap_or(0);
    before >> (a & 31) & 1 == 1
}

/// What stands before the ending, separators trimmed.
fn strip_ending<'n>(name: &'n [u8], ending: &[u8]) -> Option<&'n [u8]> {
    let mut rest = name;
    for wanted in ending.iter().rev() {
        loop {
            let (last, before) = rest.split_last()?;
            rest = before;
            if last.to_ascii_lowercase() == *wanted {
                break;
            }
            if !is_separator(*last) {
                return None;
            }
        }
    }
    while let [before @ .., last] = rest
        && is_separator(*last)
    {
        rest = before;
    }
    Some(rest)
}

/// True when a word ends between `head` and the rest of the name.
fn ends_word(name: &[u8], head: &[u8]) -> bool {
    let next = name.get(head.len()).copied().unwrap_or(0);
    is_separator(next) || (next.is_ascii_uppercase() && head.last().is_some_and(u8::is_ascii_lowercase))
}

fn last_word(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = name.iter().rposition(|b| is_separator(*b))?;
    Some((name.get(..at)?, name.get(at + 1..)?))
}

/// `password2`, `TOKEN_1`, `secretV2`
fn without_number(name: &[u8]) -> &[u8] {
    let mut rest = name;
    while let [before @ .., last] = rest
        && last.is_ascii_digit()
    {
        rest = before;
    }
    if rest.len() == name.len() {
        return name;
    }
    if let [before @ .., b'v' | b'V'] = rest {
        rest = before;
    }
    while let [before @ .., last] = rest
        && is_separator(*last)
    {
        rest = before;
    }
    rest
}

pub(super) fn is_separator(b: u8) -> bool {
    matches!(b, b'_' | b'-' | b'.' | b' ')
}
