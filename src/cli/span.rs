//! Text on its way to a terminal. A [`Line`] takes any stored text and holds only harmless one: control
//! characters, escape sequences and marks that turn the writing direction are shown, not sent. So there is
//! no way to print a raw one by mistake.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

/// How a part of a line is shown where there is colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Style {
    /// As it is.
    #[default]
    Plain,
    /// A heading, a name.
    Strong,
    /// Less important.
    Faint,
    /// Well.
    Good,
    /// Worth a look.
    Notice,
    /// Failed.
    Bad,
}

impl Style {
    /// The parameters of the escape sequence.
    pub(super) fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Faint => Some("2"),
            Self::Good => Some("32"),
            Self::Notice => Some("33"),
            Self::Bad => Some("31"),
        }
    }
}

/// One line for people.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    spans: Vec<(Style, String)>,
}

impl Line {
    /// A line of one part.
    pub(super) fn of(style: Style, text: &str) -> Self {
        Self::default().and(style, text)
    }

    /// With a further part.
    #[must_use]
    pub(super) fn and(mut self, style: Style, text: &str) -> Self {
        self.spans.push((style, visible(text).into_owned()));
        self
    }

    /// With a further part that is nothing special.
    #[must_use]
    pub(super) fn then(self, text: &str) -> Self {
        self.and(Style::Plain, text)
    }

    /// With all parts of another.
    #[must_use]
    pub(super) fn join(mut self, other: Self) -> Self {
        self.spans.extend(other.spans);
        self
    }

    /// Its columns on a terminal.
    pub(super) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.width()).sum()
    }

    /// At most `max` columns.
    #[must_use]
    pub(super) fn cut(mut self, max: usize) -> Self {
        if self.width() <= max {
            return self;
        }
        let mut left = max;
        for (_, text) in &mut self.spans {
            *text = cut(text, left).into_owned();
            left -= text.width().min(left);
        }
        self
    }

    /// The bytes, with colour or without; blanks at the end are left out.
    pub(super) fn render(&self, colour: bool) -> String {
        let mut text = String::new();
        let last = self.spans.iter().rposition(|(_, t)| !t.trim_end().is_empty());
        for (i, (style, part)) in self.spans.iter().enumerate().take(last.map_or(0, |l| l + 1)) {
            let part = if Some(i) == last { part.trim_end() } else { part };
            match style.code().filter(|_| colour && !part.is_empty()) {
                Some(code) => {
                    text.push_str("\u{1b}[");
                    text.push_str(code);
                    text.push('m');
                    text.push_str(part);
                    text.push_str("\u{1b}[0m");
                }
                None => text.push_str(part),
            }
        }
        text
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::of(Style::Plain, text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::of(Style::Plain, &text)
    }
}

/// Whether a terminal might do something with it instead of showing it.
pub(super) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{61c}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        // The joiners of emoji and of several scripts are harmless.
            && !matches!(c, '\u{200c}' | '\u{200d}')
}

/// The same text with everything that a terminal might act on made visible: `␛` for an escape, `␊` for a
/// newline, `\u{202e}` for what has no picture.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\t' => shown.push(' '),
            '\u{7f}' => shown.push('␡'),
            c if u32::from(c) < 0x20 => {
                shown.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'))
            }
            c if is_unsafe(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// At most `max` columns, the last of them `…` when something was cut.
pub(super) fn cut(text: &str, max: usize) -> Cow<'_, str> {
    let text = visible(text);
    if text.width() <= max {
        return text;
    }
    if max == 0 {
        return Cow::Borrowed("");
    }
    let mut short = String::new();
    let mut columns = 0;
    for c in text.chars() {
        columns += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if columns + 1 > max {
            break;
        }
        short.push(c);
    }
    short.push('…');
    Cow::Owned(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_shown() {
        for (raw, shown) in [
            ("a\u{1b}[31mb", "a␛[31mb"),
            ("a\nb\tc\r\u{7f}", "a␊b c␍␡"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("ab\u{202e}cd", "ab\\u{202e}cd"),
            ("übergroß 👩‍💻 日本", "übergroß 👩‍💻 日本"),
        ] {
            assert_eq!(visible(raw), shown);
        }
    }

    #[test]
    fn a_line_is_cut_by_columns_and_coloured_only_when_asked() {
        assert_eq!(cut("日本語テキスト", 7), "日本語…");
        assert_eq!(cut("short", 5), "short");
        let line = Line::of(Style::Bad, "x\u{1b}").then("  ").then(" ");
        assert_eq!(line.render(false), "x␛");
        assert_eq!(line.render(true), "\u{1b}[31mx␛\u{1b}[0m");
    }
}
