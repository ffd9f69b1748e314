//! What `doctor --fix` does: each a small change of what is ours, shown like a diff before it is made.

use std::path::PathBuf;

use crate::config::Config;
use crate::files;
use crate::host::Host;
use crate::install::{self, Goal, InstallError, Place};

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
    /// Registers the hooks with a host anew.
    Register {
        /// Which.
        host: Host,
        /// What that changes: its own commands, and the diffs of the user's files.
        diff: Vec<String>,
    },
    /// Several of them, for one finding.
    Each(Vec<Self>),
}

impl Fix {
    /// The single changes.
    #[must_use]
    pub fn single(self) -> Vec<Self> {
        match self {
            Self::Each(fixes) => fixes.into_iter().flat_map(Self::single).collect(),
            one => vec![one],
        }
    }

    /// Where it changes something: the heading of its diff.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Chmod { path, .. } | Self::Remove { path, .. } => path.display().to_string(),
            Self::Register { host, .. } => host.title().to_owned(),
            Self::Each(fixes) => fixes.iter().map(Self::place).collect::<Vec<_>>().join(", "),
        }
    }

    /// What it changes, line by line, as a diff shows it.
    #[must_use]
    pub fn diff(&self) -> Vec<String> {
        match self {
            Self::Chmod { from, to, .. } => vec![format!("- mode {from:o}"), format!("+ mode {to:o}")],
            Self::Remove { path, why } => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                vec![format!("- {} ({why})", name.display())]
            }
            Self::Register { diff, .. } => diff.clone(),
            Self::Each(fixes) => fixes.iter().flat_map(Self::diff).collect(),
        }
    }

    /// Makes the change, if what it is about is still as it was found.
    ///
    /// # Errors
    /// Why it was not made, as a fragment that fits after "failed to".
    pub fn apply(&self) -> Result<(), String> {
        match self {
            Self::Chmod { path, from, to } => files::change_mode(path, *from, *to)
                .map_err(|e| format!("change the mode of {}: {e}", path.display())),
            Self::Remove { path, .. } => files::remove_own(path)
                .map(drop)
                .map_err(|e| format!("remove {}: {e}", path.display())),
            Self::Register { host, .. } => register(*host).map_err(|e| e.to_string()),
            Self::Each(fixes) => fixes.iter().try_for_each(Self::apply),
        }
    }
}

/// Whatever is registered now: one whole registration stands there afterwards.
fn register(host: Host) -> Result<(), InstallError> {
    let place = Place::from_env(&Config::from_env())?;
    install::apply(&mut install::plan(&place, host, Goal::Installed)?, &place)
}
