//! Why something could not be installed or removed. Texts fit after "failed to".

use std::path::PathBuf;
use std::{fmt, io};

use super::plan::Goal;
use crate::host::Host;

/// Why not.
#[derive(Debug)]
pub enum InstallError {
    /// A file cannot be read.
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file cannot be written.
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is there that we do not touch.
    Refused {
        /// Which.
        path: PathBuf,
        /// Why, and what to do.
        why: String,
    },
    /// A settings file that does not parse.
    Broken {
        /// Which.
        path: PathBuf,
        /// What is wrong, and where.
        broken: Broken,
    },
    /// A host's own command failed.
    Command {
        /// The command line.
        command: String,
        /// What it said.
        said: String,
    },
    /// Afterwards it is not as it should be.
    NotVerified {
        /// Whose.
        host: Host,
        /// What it should be.
        goal: Goal,
        /// What was found.
        found: String,
    },
    /// Something that has to be there first is missing; what to do.
    Missing(String),
}

/// Where a text does not parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// Why, in lower case.
    pub why: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.why)
    }
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, error } => write!(f, "read {}: {error}", path.display()),
            Self::Write { path, error } => write!(f, "write {}: {error}", path.display()),
            Self::Refused { path, why } => write!(f, "use {}: {why}", path.display()),
            Self::Broken { path, broken } => {
                let path = path.display();
                write!(
                    f,
                    "read {path}, {broken}; mend it, then run this again (nothing was changed)"
                )
            }
            Self::Command { command, said } => write!(f, "run `{command}`: {said}"),
            Self::NotVerified { host, goal, found } => {
                let verb = match goal {
                    Goal::Installed => "install into",
                    Goal::Removed => "uninstall from",
                };
                write!(f, "{verb} {}: {found}", host.title())
            }
            Self::Missing(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for InstallError {}
