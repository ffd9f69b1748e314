//! What a value looks like, apart from where it stands.
//!
//! `is_stand_in`: holds no secret itself (variable, template, `null`, stars).
//! `is_opaque`: no word, number, date, version or path, so that even prose
//! would not say it by accident. `is_prose` and `is_code` tell words that
//! speak about a secret from the secret.

use super::keys;

/// Words that stand where a value could.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "null", "nil", "none", "true", "false", "undefined", "required", "optional", "string", "str",
    "bytes", "boolean", "bool", "number", "integer", "int", "any", "text", "unknown", "never",
    "missing", "invalid", "valid", "expired", "empty", "redacted", "removed", "hidden", "masked",
    "omitted", "filtered", "placeholder", "todo", "tbd", "n/a", "unset", "set", "yes", "no", "on",
    "off", "ok", "prompt", "object", "array", "include", "omit", "same-origin", "self", "this",
    "disabled", "enabled", "varchar", "char", "nullable", "default", "private", "public", "read",
    "write", "await", "new", "error", "not_set", "notset", "not-set", "inherit", "auto", "type",
];

/// Words that no password phrase needs but a sentence does.
#[rustfmt::skip]
const SENTENCE: &[&str] = &[
    "an", "and", "are", "be", "can't", "cannot", "characters", "does", "enter", "field", "for",
    "from", "has", "invalid", "is", "it", "least", "missing", "must", "not", "of", "or", "our",
    "please", "provide", "required", "should", "that", "the", "this", "to", "too", "use", "used",
    "was", "when", "will", "with", "you", "your",
];

/// True when the value holds no secret itself.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let (Some(first), Some(last)) = (value.first(), value.last()) else {
        return true;
    };
    let has = |part: &str| value.windows(part.len()).any(|w| w == part.as_bytes());
    let template = match first {
        // `$`, `$$` and `%` begin passwords, too: a name must follow.
        b'$' => is_variable(value),
        b'%' => {
            is_windows_variable(value)
                || (value.starts_with(b"%(") && matches!(value, [.., b')', b's' | b'd']))
                || value.len() == 2
        }
        b'<' => *last == b'>',
        b'{' => *last == b'}',
        b'[' => *last == b']',
        b'@' => value.starts_with(b"@{") || value.starts_with(b"@Microsoft."),
        // A regular expression's class.
        b'\\' => matches!(value, [_, b's' | b'S' | b'w' | b'd' | b'b', ..]),
        b'#' => value.starts_with(b"#{") || is_color(value),
        _ => false,
    };
    let dots = value.iter().all(|b| {
        matches!(
            b,
            b'.' | b'*' | b'x' | b'X' | b'-' | b'_' | b'#' | b'?' | 0xe2 | 0x80 | 0xa2 | 0xa6 | 0x97 | 0x8f
        )
    });
    template
        || (dots && !matches!(value, [b'x' | b'X'] | [b'x' | b'X', _]))
        || has("${")
        || has("{{")
        || has("$(")
        || has("#{")
        || value.starts_with("…".as_bytes())
        || is_word(value)
        || is_invitation(value)
}

fn is_windows_variable(value: &[u8]) -> bool {
    matches!(value, [b'%', name @ .., b'%'] if name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_'))
}

fn is_color(value: &[u8]) -> bool {
    matches!(value.len(), 4 | 7 | 9) && value.iter().skip(1).all(u8::is_ascii_hexdigit)
}

fn is_variable(value: &[u8]) -> bool {
    match value {
        [b'$', b'{' | b'(' | b'<', ..] => true,
        [b'$', first, rest @ ..] => {
            (first.is_ascii_alphabetic() || *first == b'_')
                && rest.iter().all(|b| {
                    b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.' | b'-' | b'>' | b'$')
                })
        }
        [b'$'] => true,
        _ => false,
    }
}

fn is_word(value: &[u8]) -> bool {
    let value = trim_punctuation(value);
    WORDS.iter().any(|w| value.eq_ignore_ascii_case(w.as_bytes()))
}

/// `your-token`, `YOUR_API_KEY`, `<…>`, `my_token_here`, and the name of a
/// variable in place of its value (`"token": "GITHUB_TOKEN"`).
fn is_invitation(value: &[u8]) -> bool {
    let lower = value.get(..5).map(<[u8]>::to_ascii_lowercase);
    if matches!(lower.as_deref(), Some(b"your_" | b"your-" | b"your ")) {
        return true;
    }
    let ends = |tail: &[u8]| {
        value.len() > tail.len()
            && value
                .get(value.len() - tail.len()..)
                .is_some_and(|t| t.eq_ignore_ascii_case(tail))
    };
    if ends(b"_here") || ends(b"-here") {
        return true;
    }
    let constant = value
        .iter()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    constant && value.contains(&b'_') && keys::names_a_secret(value)
}

/// True when the value is the name of such a value: `password`, `Token`.
pub(super) fn is_own_name(value: &[u8]) -> bool {
    keys::classify(value).is_some_and(|key| !key.compound) && !value.iter().any(u8::is_ascii_digit)
}

/// True for letters alone, with the marks that join or end words.
pub(super) fn is_plain(value: &[u8]) -> bool {
    trim_punctuation(value)
        .iter()
        .all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'\'' | b',' | 0x80..))
}

/// True for at least `min` bytes that are no word, number, date or path.
pub(super) fn is_opaque(value: &[u8], min: usize) -> bool {
    let value = trim_punctuation(value);
    let number = value.starts_with(b"0x") && value.len() < 19;
    if number || value.len() < min || is_date(value) || is_version(value) || is_path(value) {
        return false;
    }
    let any = |class: fn(&u8) -> bool| value.iter().any(class);
    let letters = any(u8::is_ascii_alphabetic);
    let symbols = value.iter().any(|b| {
        matches!(
            b,
            b'@' | b'#' | b'$' | b'^' | b'&' | b'*' | b'!' | b'+' | b'=' | b'~' | b'%' | b'?'
        )
    });
    letters && (any(u8::is_ascii_digit) || symbols || is_random(value))
}

/// True for letters whose case changes too often for words.
fn is_random(value: &[u8]) -> bool {
    if value.len() < 16 {
        return false;
    }
    let turns = value
        .windows(2)
        .filter(|w| matches!(w, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
        .count();
    turns * 6 > value.len() || (value.len() >= 24 && value.iter().all(u8::is_ascii_lowercase))
}

/// True for a word that a sentence needs.
pub(super) fn is_sentence_word(word: &[u8]) -> bool {
    let word = trim_punctuation(word);
    SENTENCE.iter().any(|s| word.eq_ignore_ascii_case(s.as_bytes()))
}

fn is_date(value: &[u8]) -> bool {
    matches!(value, [a, b, c, d, b'-', ..] if [a, b, c, d].iter().all(|b| b.is_ascii_digit()))
        && value
            .iter()
            .all(|b| b.is_ascii_digit() || matches!(b, b'-' | b':' | b'T' | b'Z' | b'.' | b'+'))
}

fn is_version(value: &[u8]) -> bool {
    let value = match value {
        [b'v' | b'V' | b'^' | b'~' | b'=', rest @ ..] => rest,
        all => all,
    };
    value.first().is_some_and(u8::is_ascii_digit)
        && value.contains(&b'.')
        && value
            .split(|b| *b == b'.')
            .take(2)
            .all(|part| part.iter().all(u8::is_ascii_digit))
}

/// `/var/run/x`, `./x`, `~/x`, `C:\x`: more separators and words than noise.
pub(super) fn is_path(value: &[u8]) -> bool {
    let begins = matches!(
        value,
        [b'/', ..] | [b'.', b'/', ..] | [b'.', b'.', b'/', ..] | [b'~', b'/', ..]
    ) || matches!(value, [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    let count = |class: fn(&&u8) -> bool| value.iter().filter(class).count();
    begins
        && count(|b| matches!(b, b'/' | b'\\')) >= 2
        && count(|b| b.is_ascii_digit()) * 4 < value.len()
        && count(|b| b.is_ascii_uppercase()) * 3 < value.len()
        && value.iter().all(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'/' | b'\\' | b'.' | b'-' | b'_' | b':' | b'~')
        })
}

/// True for several words that speak, rather than a phrase to remember.
pub(super) fn is_prose(value: &[u8]) -> bool {
    if !value.contains(&b' ') {
        return false;
    }
    let capital = matches!(value, [a, b, ..] if a.is_ascii_uppercase() && b.is_ascii_lowercase());
    let numbers = value.iter().any(u8::is_ascii_digit);
    (capital && !numbers) || value.split(|b| *b == b' ').any(is_sentence_word)
}

/// True for what code says without quotes: a path of names (`self.password`),
/// a type (`Uint8Array`), the name of another variable (`userPassword`).
pub(super) fn is_code(value: &[u8]) -> bool {
    let mut value = value;
    while let [b'&' | b'*' | b'!' | b'@' | b'?' | b'+', rest @ ..] = value {
        value = rest;
    }
    let value = trim_punctuation(value);
    let names = value.split(|b| *b == b'.').all(|part| {
        part.first()
            .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
    }) && value
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'?'));
    if !names {
        return is_file(value);
    }
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return !is_random(value);
    }
    let dotted = value.contains(&b'.')
        && digits * 5 < value.len()
        && !is_random(value)
        && !value
            .split(|b| *b == b'.')
            .any(|part| (part.len() >= 16 && turns(part) > 2) || is_jumbled(part));
    dotted || is_file(value) || is_type(value) || (value.len() < 40 && keys::names_a_secret(value))
}

/// `Uint8Array`, `X25519Key`: a digit run is followed by a capital.
fn is_type(value: &[u8]) -> bool {
    value.len() < 32
        && value.first().is_some_and(u8::is_ascii_uppercase)
        && value.last().is_some_and(u8::is_ascii_lowercase)
        && turns(value) <= 4
        && value.windows(2).all(|w| match w {
            [a, b] => !a.is_ascii_digit() || b.is_ascii_digit() || b.is_ascii_uppercase(),
            _ => true,
        })
        && !is_random(value)
        && !is_jumbled(value)
        && !value.contains(&b'_')
}

/// How often letters give way to digits, or digits to letters.
fn turns(value: &[u8]) -> usize {
    let pairs = value.windows(2);
    pairs
        .filter(|w| matches!(w, [a, b] if a.is_ascii_digit() != b.is_ascii_digit()))
        .count()
}

/// True for a piece in which hardly two neighbours are of one kind: `pixAs9YC`.
fn is_jumbled(value: &[u8]) -> bool {
    let kind = |b: &u8| (b.is_ascii_digit(), b.is_ascii_uppercase());
    let changes = value
        .windows(2)
        .filter(|w| matches!(w, [a, b] if kind(a) != kind(b)));
    value.len() >= 8 && changes.count() * 5 > value.len() * 2
}

/// True for letters and digits mixed as no name mixes them: `computeSha256` turns twice.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    turns(value) > 2 || (turns(value) > 0 && is_random(value))
}

fn is_file(value: &[u8]) -> bool {
    const EXTENSIONS: &[&[u8]] = &[
        b"rs", b"go", b"py", b"js", b"ts", b"tsx", b"json", b"yaml", b"yml", b"toml", b"txt", b"md", b"pem",
        b"key", b"env", b"html", b"css", b"svg", b"png", b"java", b"cs", b"rb",
    ];
    let Some(dot) = value.iter().rposition(|b| *b == b'.') else {
        return false;
    };
    let extension = value.get(dot + 1..).unwrap_or_default();
    dot > 0 && EXTENSIONS.contains(&extension)
}

pub(super) fn trim_punctuation(value: &[u8]) -> &[u8] {
    let mut value = value;
    while let [
        rest @ ..,
        b'.' | b',' | b';' | b':' | b'!' | b'?' | b')' | b'*' | b'_',
    ] = value
    {
        value = rest;
    }
    value
}
