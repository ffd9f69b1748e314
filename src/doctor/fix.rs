//! What `doctor --fix` does: each a small change of what is ours, shown like a diff before it is made.

use std::path::PathBuf;

/// A change that mends something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fix {
    /// Closes a directory or file of ours to others.
    Chmod {
        /// Which.
        path: PathBuf,
        /// Its mode when it was looked at; with another one by then it is left.
        from: u32,
        /// Its mode after.
        to: u32,
    },
    /// Removes a file of ours that is of no use any more.
    Remove {
        /// Which.
        path: PathBuf,
        /// Why, as a clause.
        why: String,
    },
}

impl Fix {
    /// Where it changes something: the heading of its diff.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Chmod { path, .. } | Self::Remove { path, .. } => path.display().to_string(),
        }
    }

    /// What it changes, one line each, with `-` or `+` before it.
    #[must_use]
    pub fn diff(&self) -> Vec<String> {
        match self {
            Self::Chmod { from, to, .. } => vec![format!("- mode {from:o}"), format!("+ mode {to:o}")],
            Self::Remove { why, .. } => vec![format!("- the file ({why})")],
        }
    }

    /// Makes the change, if what it is about is still as it was found.
    ///
    /// # Errors
    /// Why it was not made, as a fragment that fits after "failed to".
    pub fn apply(&self) -> Result<(), String> {
        Err("mend this: not yet".to_owned())
    }
}
