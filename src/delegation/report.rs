//! What a subagent reports when it is done: two sections, `Task Report` and `Downstream Context`, each under a
//! heading at a line's start and outside of code fences. Models write the fields in many ways: as a list item, in
//! bold, as a heading, with the values behind the colon, in brackets, or as a list below.

use serde::{Deserialize, Serialize};

use crate::redact::Redacted;

/// The headings that a report has.
pub const SECTIONS: [&str; 2] = ["Task Report", "Downstream Context"];
/// Items kept of a list.
const MAX_ITEMS: usize = 64;
/// Characters kept of an item.
const MAX_ITEM: usize = 500;

/// A report, as far as it is one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Report {
    /// Headings that it lacks, of [`SECTIONS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Redacted>,
    /// Files that it says were made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_created: Vec<Redacted>,
    /// Files that it says were changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<Redacted>,
    /// Files that it says were deleted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_deleted: Vec<Redacted>,
    /// What those who come after it have to know.
    #[serde(skip_serializing_if = "Downstream::is_empty")]
    pub downstream_context: Downstream,
}

/// The five lists of the first seed, in its spelling.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Downstream {
    /// Interfaces that others will call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key_interfaces_introduced: Vec<Redacted>,
    /// Ways of doing that were set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patterns_established: Vec<Redacted>,
    /// Where others can connect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub integration_points: Vec<Redacted>,
    /// What was taken for granted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Redacted>,
    /// What to look out for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Redacted>,
}

impl Downstream {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The lists of a report, by the name that stands before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Created,
    Modified,
    Deleted,
    Interfaces,
    Patterns,
    Points,
    Assumptions,
    Warnings,
}

impl Field {
    fn named(name: &str) -> Option<Self> {
        let plain: String = name.chars().filter(char::is_ascii_alphabetic).collect();
        Some(match plain.to_ascii_lowercase().as_str() {
            "filescreated" | "created" => Self::Created,
            "filesmodified" | "modified" | "fileschanged" => Self::Modified,
            "filesdeleted" | "deleted" => Self::Deleted,
            "keyinterfacesintroduced" | "keyinterfaces" => Self::Interfaces,
            "patternsestablished" | "patterns" => Self::Patterns,
            "integrationpoints" => Self::Points,
            "assumptions" => Self::Assumptions,
            "warnings" => Self::Warnings,
            _ => return None,
        })
    }

    fn is_of_files(self) -> bool {
        matches!(self, Self::Created | Self::Modified | Self::Deleted)
    }
}

impl Report {
    /// Reads a subagent's last message.
    #[must_use]
    pub fn of(message: &str) -> Self {
        let mut report = Self::default();
        let mut seen = [false; SECTIONS.len()];
        let (mut section, mut field) = (None, None);
        for line in outside_fences(message) {
            if let Some(title) = heading(line) {
                if let Some(found) = SECTIONS.iter().position(|s| title.eq_ignore_ascii_case(s)) {
                    section = Some(found);
                    field = None;
                    if let Some(seen) = seen.get_mut(found) {
                        *seen = true;
                    }
                    continue;
                }
                if level(line) <= 2 {
                    section = None;
                }
            }
            if section.is_none() {
                continue;
            }
            if let Some((named, rest)) = opens(line) {
                field = named;
                if let Some(field) = named {
                    report.take(field, rest);
                }
            } else if let (Some(field), Some(item)) = (field, item(line)) {
                report.take_item(field, item);
            }
        }
        let missing = SECTIONS.iter().zip(seen).filter(|(_, seen)| !seen);
        report.missing = missing.map(|(title, _)| Redacted::new(title)).collect();
        report
    }

    /// What is behind a field's colon: in brackets, or file by file, or one item as it stands.
    fn take(&mut self, field: Field, rest: &str) {
        let inner = rest
            .strip_prefix('[')
            .and_then(|r| r.strip_suffix(']'))
            .map(str::trim);
        match inner {
            Some(list) => list.split(',').for_each(|item| self.take_item(field, item)),
            None if field.is_of_files() => rest.split(',').for_each(|item| self.take_item(field, item)),
            None => self.take_item(field, rest),
        }
    }

    fn take_item(&mut self, field: Field, item: &str) {
        let item = item.trim().trim_matches('"');
        let item = if field.is_of_files() { path(item) } else { item };
        let list = match field {
            Field::Created => &mut self.files_created,
            Field::Modified => &mut self.files_modified,
            Field::Deleted => &mut self.files_deleted,
            Field::Interfaces => &mut self.downstream_context.key_interfaces_introduced,
            Field::Patterns => &mut self.downstream_context.patterns_established,
            Field::Points => &mut self.downstream_context.integration_points,
            Field::Assumptions => &mut self.downstream_context.assumptions,
            Field::Warnings => &mut self.downstream_context.warnings,
        };
        let item = Redacted::truncated(item, MAX_ITEM);
        if !is_nothing(&item) && list.len() < MAX_ITEMS && !list.contains(&item) {
            list.push(item);
        }
    }
}

/// The lines that are no code.
fn outside_fences(text: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<char> = None;
    text.lines().filter(move |line| {
        let start = line.trim_start();
        let opens = ['`', '~']
            .into_iter()
            .find(|c| start.chars().take(3).filter(|d| d == c).count() == 3);
        match (fence, opens) {
            (None, Some(c)) => fence = Some(c),
            (Some(open), Some(c)) if open == c => fence = None,
            (None, None) => return true,
            _ => {}
        }
        false
    })
}

/// The text of a heading that begins at the line's start.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let is_heading = (1..=6).contains(&level(line)) && text.starts_with([' ', '\t']);
    is_heading.then(|| {
        text.trim()
            .trim_end_matches('#')
            .trim()
            .trim_end_matches(':')
            .trim_matches(['*', '_'])
    })
}

fn level(line: &str) -> usize {
    line.len() - line.trim_start_matches('#').len()
}

/// A line that opens a field, ours or another, and what stands behind its colon.
fn opens(line: &str) -> Option<(Option<Field>, &str)> {
    if let Some(title) = heading(line) {
        return Some((Field::named(title), ""));
    }
    let text = bullet(line).unwrap_or_else(|| line.trim_start());
    let bold = text.starts_with("**") || text.starts_with("__");
    let (name, rest) = text.split_once(':')?;
    let named = Field::named(name);
    let rest = rest.trim_start_matches(['*', '_']).trim();
    // Another field ends the list before it only where it is surely one: `std::fmt` in an item is none.
    (named.is_some() || (bold && !line.starts_with([' ', '\t']))).then_some((named, rest))
}

/// An item of a list.
fn item(line: &str) -> Option<&str> {
    bullet(line).map(str::trim)
}

fn bullet(line: &str) -> Option<&str> {
    let text = line.trim_start();
    ["- ", "* ", "+ ", "• "]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
}

/// The path of an item: what stands in its back quotes, else what stands before a remark.
fn path(item: &str) -> &str {
    if let Some(rest) = item.strip_prefix('`')
        && let Some((path, _)) = rest.split_once('`')
    {
        return path;
    }
    let ends = [" - ", " — ", " – ", " ("]
        .iter()
        .filter_map(|end| item.find(end));
    ends.min().and_then(|end| item.get(..end)).unwrap_or(item).trim()
}

/// What models write where there is nothing.
fn is_nothing(item: &Redacted) -> bool {
    let plain = item.trim_end_matches('.').trim_matches(['*', '_', '`', '(', ')']);
    let plain = plain.to_ascii_lowercase();
    matches!(
        plain.as_str(),
        "" | "none" | "n/a" | "na" | "not applicable" | "nothing" | "-" | "list" | "[]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(list: &[Redacted]) -> Vec<&str> {
        list.iter().map(Redacted::as_str).collect()
    }

    #[test]
    fn headings_count_at_a_lines_start_and_outside_of_code() {
        let both: &[&str] = &[];
        for (message, missing) in [
            ("## Task Report\nx\n## Downstream Context\ny", both),
            ("# Task Report\n### Downstream Context ###", both),
            ("## task report:\n## **Downstream Context**", both),
            ("## Task Report\r\n\r\n## Downstream Context\r\n", both),
            ("## Task Report\nx", &["Downstream Context"]),
            ("## Downstream Context", &["Task Report"]),
            ("", &SECTIONS),
            (
                "I wrote the ## Task Report and the ## Downstream Context.",
                &SECTIONS,
            ),
            ("  ## Task Report\n> ## Downstream Context", &SECTIONS),
            ("##Task Report\n#Downstream Context", &SECTIONS),
            ("```\n## Task Report\n## Downstream Context\n```", &SECTIONS),
            (
                "~~~\n```\n## Task Report\n~~~\n## Downstream Context",
                &["Task Report"],
            ),
            ("```md\n## Task Report", &SECTIONS),
            ("## Task Reports\n## My Downstream Context", &SECTIONS),
        ] {
            assert_eq!(strings(&Report::of(message).missing), missing, "{message:?}");
        }
    }

    #[test]
    fn fields_are_found_in_every_spelling() {
        let expected = Report {
            missing: Vec::new(),
            files_created: ["src/a.rs", "src/b.rs"].map(Redacted::new).to_vec(),
            files_modified: vec![Redacted::new("src/c.rs")],
            files_deleted: Vec::new(),
            downstream_context: Downstream {
                key_interfaces_introduced: vec![Redacted::new("Cart::add(item: Item)")],
                warnings: vec![Redacted::new("The limit is 10: no more")],
                ..Downstream::default()
            },
        };
        for message in [
            "## Task Report\n- Files Created: [src/a.rs, src/b.rs]\n- Files Modified: src/c.rs\n- Files Deleted: none\n\n\
             ## Downstream Context\n- Key Interfaces Introduced: Cart::add(item: Item)\n- Warnings: [The limit is 10: no more]\n",
            "## Task Report\n**Status**: success\n**Files Created**:\n- `src/a.rs` — the cart\n- `src/b.rs` (new)\n\
             **Files Modified:** `src/c.rs`\n**Files Deleted:** N/A\n**Decisions Made**:\n- something else\n\
             ## Downstream Context\n**Key Interfaces Introduced**\n**Key Interfaces Introduced:**\n  - Cart::add(item: Item)\n\
             **Assumptions:** None.\n**Warnings:**\n* The limit is 10: no more\n",
            "# Task Report\n### Files Created\n- src/a.rs - made\n- src/b.rs\n### Files Modified\n- src/c.rs\n### Validation\n- all pass\n\
             # Downstream Context\n### Key Interfaces Introduced\n- Cart::add(item: Item)\n### Warnings\n- The limit is 10: no more\n\
             # Afterword\n- Warnings: nobody's\n",
        ] {
            assert_eq!(Report::of(message), expected, "{message}");
        }
    }

    #[test]
    fn a_report_without_end_is_cut() {
        let many: String = (0..1_000).map(|i| format!("- f{i}.rs\n")).collect();
        let message = format!(
            "## Task Report\n- Files Created:\n{many}- Files Deleted: {}",
            "x".repeat(9_000)
        );
        let report = Report::of(&message);
        assert_eq!(report.files_created.len(), MAX_ITEMS);
        assert!(
            report
                .files_deleted
                .iter()
                .all(|f| f.chars().count() <= MAX_ITEM + 1)
        );
    }
}
