//! The change of a file as a diff.

use std::path::Path;

use similar::TextDiff;

use super::out::Out;
use super::span::{Line, Style};
use super::text;

/// The unified diff of a file; what is not there is `/dev/null`, as `diff` names it.
pub(super) fn unified(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let name =
        |bytes: Option<&[u8]>| bytes.map_or_else(|| "/dev/null".to_owned(), |_| path.display().to_string());
    let (old, new) = (text(before), text(after));
    let diff = TextDiff::from_lines(&old, &new);
    let mut unified = diff.unified_diff();
    unified.context_radius(3).header(&name(before), &name(after));
    unified.to_string()
}

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
