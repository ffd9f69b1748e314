//! A host as data: its names, what its HOME must hold, and how it is started.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::error::ProbeError;
use super::runner::Session;

/// Any value does: the stub takes it, and it reaches no network.
pub(super) const KEY: &str = "bookend-probe-no-key";

/// A host that can be driven.
#[derive(Debug, Clone, Copy)]
pub struct Driver {
    /// As in `--host`.
    pub name: &'static str,
    /// Its program, as looked for on PATH.
    pub program: &'static str,
    /// Files that its HOME must hold before it starts: path below HOME, and what to write where there is none.
    pub seeds: &'static [(&'static str, &'static str)],
    /// Its arguments and environment for a session against the stub model at a base URL.
    pub launch: fn(&Session, &str) -> Launch,
}

/// What one host needs to be started with.
#[derive(Debug, Default)]
pub struct Launch {
    /// Arguments, without the program.
    pub args: Vec<OsString>,
    /// Environment, beside what every host gets.
    pub env: Vec<(OsString, OsString)>,
}

impl Launch {
    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Adds a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }
}

impl Driver {
    /// The host's program: the one that the caller names, else the first executable of that name on `path`.
    ///
    /// # Errors
    /// [`ProbeError::NotInstalled`]: the named one is no file, or there is none.
    pub fn find(&self, named: Option<&OsStr>, path: Option<&OsStr>) -> Result<PathBuf, ProbeError> {
        let named = named.filter(|name| !name.is_empty()).map(PathBuf::from);
        let found = match &named {
            Some(program) => Some(program.clone()).filter(|program| program.is_file()),
            None => path.and_then(|path| {
                std::env::split_paths(path)
                    .map(|folder| folder.join(self.program))
                    .find(|file| executable(file))
            }),
        };
        found.ok_or(ProbeError::NotInstalled {
            host: self.name,
            named,
        })
    }
}

fn executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::super::CLAUDE_CODE;
    use super::*;
    use std::os::unix::fs::OpenOptionsExt;

    #[test]
    fn a_program_is_the_named_one_or_the_first_executable_on_path() {
        let folders = tempfile::tempdir().unwrap();
        let (first, second) = (folders.path().join("a"), folders.path().join("b"));
        for (folder, mode) in [(&first, 0o644), (&second, 0o755)] {
            fs::create_dir(folder).unwrap();
            let mut options = fs::File::options();
            options
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(folder.join("claude"))
                .unwrap();
        }
        let path = std::env::join_paths([&first, &second]).unwrap();
        let found = |named: Option<&str>| CLAUDE_CODE.find(named.map(OsStr::new), Some(&path)).ok();
        assert_eq!(found(None), Some(second.join("claude")));
        assert_eq!(found(Some("")), Some(second.join("claude")));
        assert_eq!(found(Some("/no/such/claude")), None);
    }

    #[test]
    fn a_host_that_is_not_there_is_said_to_be_not_installed() {
        let missing = CLAUDE_CODE
            .find(None, Some(OsStr::new("/no/such/folder")))
            .unwrap_err();
        assert_eq!(missing.to_string(), "claude-code is not installed");
    }
}
