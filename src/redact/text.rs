//! Bytes of the text under scan, read without a panic.
//!
//! A position past either end reads as NUL, which belongs to no class, so
//! that look-behind and look-ahead need no bounds code of their own. All
//! syntax of interest is ASCII: a byte of a longer character is never a stop,
//! hence every range found lies on character boundaries.

/// No unquoted secret is longer.
const LONGEST_RUN: usize = 8 * 1024;

/// The text under scan.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) str: &'a str,
    bytes: &'a [u8],
}

impl<'a> Text<'a> {
    pub(super) fn new(str: &'a str) -> Self {
        Self {
            str,
            bytes: str.as_bytes(),
        }
    }

    pub(super) fn len(self) -> usize {
        self.bytes.len()
    }

    /// The byte at `at`, NUL outside the text.
    #[inline]
    pub(super) fn at(self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The byte `back` before `at`, NUL before the start.
    #[inline]
    pub(super) fn before(self, at: usize, back: usize) -> u8 {
        at.checked_sub(back).map_or(0, |i| self.at(i))
    }

    /// The bytes of a range, empty when the range is not in the text.
    pub(super) fn bytes(self, start: usize, end: usize) -> &'a [u8] {
        self.bytes.get(start..end).unwrap_or_default()
    }

    pub(super) fn rest(self, start: usize) -> &'a [u8] {
        self.bytes.get(start..).unwrap_or_default()
    }

    pub(super) fn has(self, at: usize, literal: &str) -> bool {
        self.rest(at).starts_with(literal.as_bytes())
    }

    pub(super) fn has_ignoring_case(self, at: usize, literal: &str) -> bool {
        self.bytes(at, at + literal.len())
            .eq_ignore_ascii_case(literal.as_bytes())
    }

    /// Where the run of bytes of `class` that begins at `at` ends, or the
    /// longest that is looked at (so that no text makes the scan quadratic).
    pub(super) fn run(self, at: usize, class: impl Fn(u8) -> bool) -> usize {
        let run = self.rest(at).iter().take(LONGEST_RUN);
        let end = at + run.take_while(|b| class(**b)).count();
        if end - at < LONGEST_RUN {
            return end;
        }
        self.str.floor_char_boundary(end).max(at)
    }

    /// Where the run of at most `most` bytes of `class` that ends at `end` begins.
    pub(super) fn run_back(self, end: usize, most: usize, class: impl Fn(u8) -> bool) -> usize {
        let from = end.saturating_sub(most);
        let run = self.bytes(from, end).iter().rev();
        end - run.take_while(|b| class(**b)).count()
    }

    /// Where the line that holds `at` begins, looking back at most `most` bytes.
    pub(super) fn line_start(self, at: usize, most: usize) -> usize {
        self.run_back(at, most, |b| !is_newline(b))
    }

    pub(super) fn blanks(self, at: usize) -> usize {
        self.run(at, is_blank)
    }

    /// True where a token can begin: after anything but a letter or digit, and
    /// after an escape that only looks like one (`\n` in a JSON string, `%20`
    /// in a URL, the `m` of a terminal colour).
    pub(super) fn word_starts(self, at: usize) -> bool {
        let last = self.before(at, 1);
        if !last.is_ascii_alphanumeric() {
            return true;
        }
        if matches!(last, b'n' | b'r' | b't') && self.before(at, 2) == b'\\' {
            return true;
        }
        if last.is_ascii_hexdigit() && self.before(at, 2).is_ascii_hexdigit() && self.before(at, 3) == b'%' {
            return true;
        }
        if last != b'm' {
            return false;
        }
        let digits = self.run_back(at - 1, 12, |b| b.is_ascii_digit() || b == b';');
        self.before(digits, 1) == b'['
            && (self.before(digits, 2) == 0x1b
                || matches!(
                    self.bytes(digits.saturating_sub(4), digits),
                    b"x1b[" | b"01b[" | b"01B[" | b"033["
                ))
    }

    /// True when the bytes at `at`, a run of backslashes included, are an
    /// escaped line end, tab or quote: the end of a value in an escaped text.
    pub(super) fn escape_ends_value(self, at: usize) -> bool {
        let after = self.run(at, |b| b == b'\\');
        after > at && (matches!(self.at(after), b'n' | b'r' | b't' | b'"' | b'\'' | b'`' | 0))
    }
}

pub(super) fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t')
}

pub(super) fn is_newline(b: u8) -> bool {
    matches!(b, b'\n' | b'\r')
}

pub(super) fn is_quote(b: u8) -> bool {
    matches!(b, b'"' | b'\'' | b'`')
}

/// Letters, digits, `_`, `-`: what most tokens are made of.
pub(super) fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

/// A token byte or one of the base64 and RFC 6750 extras.
pub(super) fn is_token68(b: u8) -> bool {
    is_token(b) || matches!(b, b'.' | b'~' | b'+' | b'/' | b'=')
}
