//! The change of a file, shown as a diff.

use super::out::Out;
use super::span::{Line, Style};
use super::text;

/// Prints it, set in by two.
pub(super) fn print(out: &mut Out, diff: &str) {
    for line in diff.lines() {
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => Style::Strong,
            [b'+', ..] => Style::Good,
            [b'-', ..] => Style::Bad,
            [b'@', ..] => Style::Faint,
            _ => Style::Plain,
        };
        let line = match line.strip_prefix("--- ").or_else(|| line.strip_prefix("+++ ")) {
            Some(path) => format!("{}{}", line.get(..4).unwrap_or_default(), text::home(path)),
            None => line.replace('\t', "    "),
        };
        out.line(Line::from("  ").and(style, &line));
    }
}
