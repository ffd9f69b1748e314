//! The files that a patch in Codex's own format changes.
//!
//! `apply_patch` (Codex 0.171.0) sends the whole patch as `tool_input.command`. Only its file lines count:
//! `*** Add File: p`, `*** Update File: p` (perhaps followed by `*** Move to: q`), `*** Delete File: p`.
//! Content lines begin with `+`, `-`, a blank or `@@`, so they are never taken for one.

use crate::event::{Change, FileChange, MAX_LINE, ToolKind};
use crate::redact::Redacted;

/// Most files kept of one patch.
const MAX_FILES: usize = 200;

/// The files that `patch` changes, in its order. A moved file is gone under its old name and new under the
/// other.
pub(super) fn files(patch: &str) -> Vec<FileChange> {
    let mut files: Vec<FileChange> = Vec::new();
    for line in patch.lines() {
        let Some(line) = line.strip_prefix("*** ") else {
            continue;
        };
        if files.len() >= MAX_FILES {
            break;
        }
        let (change, path) = if let Some(path) = line.strip_prefix("Add File: ") {
            (Change::Create, path)
        } else if let Some(path) = line.strip_prefix("Update File: ") {
            (Change::Edit, path)
        } else if let Some(path) = line.strip_prefix("Delete File: ") {
            (Change::Delete, path)
        } else if let Some(path) = line.strip_prefix("Move to: ") {
            if let Some(last) = files.last_mut().filter(|last| last.change == Change::Edit) {
                last.change = Change::Delete;
            }
            (Change::Create, path)
        } else {
            continue;
        };
        let path = path.trim();
        if !path.is_empty() {
            files.push(FileChange {
                change,
                path: Redacted::truncated(path, MAX_LINE),
            });
        }
    }
    files
}

/// The kind of a patch: what it does to all of its files, else an edit.
pub(super) fn kind(files: &[FileChange]) -> ToolKind {
    let all = |change| !files.is_empty() && files.iter().all(|f| f.change == change);
    if all(Change::Create) {
        ToolKind::Create
    } else if all(Change::Delete) {
        ToolKind::Delete
    } else {
        ToolKind::Edit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(patch: &str) -> Vec<(Change, String)> {
        files(patch)
            .into_iter()
            .map(|f| (f.change, f.path.as_str().to_owned()))
            .collect()
    }

    #[test]
    fn a_patch_names_its_files() {
        let patch = "*** Begin Patch\n*** Add File: a b.txt\n+hello\n+*** Delete File: no.txt\n\
            *** Update File: c.rs\r\n@@ fn x\n-old\n *** Add File: no.txt\n\
            *** Update File: d.rs\n*** Move to: e/d.rs\n@@\n*** Delete File: f\n*** End of File\n*** End Patch\n";
        let expected = [
            (Change::Create, "a b.txt"),
            (Change::Edit, "c.rs"),
            (Change::Delete, "d.rs"),
            (Change::Create, "e/d.rs"),
            (Change::Delete, "f"),
        ];
        assert_eq!(read(patch), expected.map(|(c, p)| (c, p.to_owned())));
        assert_eq!(kind(&files(patch)), ToolKind::Edit);
    }

    #[test]
    fn a_patch_of_one_sort_has_that_kind() {
        assert_eq!(
            kind(&files("*** Add File: a\n*** Add File: b\n")),
            ToolKind::Create
        );
        assert_eq!(kind(&files("*** Delete File: a\n")), ToolKind::Delete);
        assert_eq!(kind(&files("no patch")), ToolKind::Edit);
        assert_eq!(
            read("*** Add File: \n*** Move to: x"),
            [(Change::Create, "x".to_owned())]
        );
    }
}
