//! Where things are on this machine: homes, PATH, the data directory, the executables. Read once from the
//! environment; tests make their own.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::InstallError;
use crate::config::{self, Config};
use crate::hook::Hook;
use crate::host::Host;

/// The hosts that Bookend can be installed into.
pub const HOSTS: [Host; 2] = [Host::ClaudeCode, Host::Codex];

/// A machine, as far as an installation sees it.
#[derive(Debug, Clone)]
pub struct Place {
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `PATH`.
    pub path: Option<OsString>,
    /// The data directory.
    pub data: PathBuf,
    /// `CLAUDE_CONFIG_DIR`, if set.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`, if set.
    pub codex: Option<PathBuf>,
    /// Where the system's own settings are: `/`.
    pub system: PathBuf,
    /// What a host's program gets of our environment when it is asked for something.
    pub lends: Lends,
    /// How long a host's program may take for what it is asked.
    pub patience: Duration,
}

/// A host that needs longer is stuck: its commands take half a second, on a loaded machine some.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a host's program gets of our environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lends {
    /// All of it: it is to find what it finds when the user starts it.
    Everything,
    /// PATH and HOME: it runs in a scratch HOME, and nothing of the user's is to reach it.
    PathAndHome,
}

/// A host as it is found here.
#[derive(Debug, Clone)]
pub struct FoundHost {
    /// Which.
    pub host: Host,
    /// Its program on PATH.
    pub program: Option<PathBuf>,
    /// Its configuration directory, there or not.
    pub config: PathBuf,
    /// The configuration directory is there.
    pub has_config: bool,
}

impl FoundHost {
    /// Whether there is any sign of it.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.program.is_some() || self.has_config
    }
}

impl Place {
    /// This machine.
    ///
    /// # Errors
    /// There is no data directory: neither `HOME` nor `BOOKEND_DATA_DIR` is set, or it is relative.
    pub fn from_env(config: &Config) -> Result<Self, InstallError> {
        let data = config
            .data_dir
            .clone()
            .map_err(|why| InstallError::Missing(format!("find a data directory: {why}")))?;
        Ok(Self {
            home: config::directory("HOME"),
            path: config::search_path(),
            data,
            claude: config::directory("CLAUDE_CONFIG_DIR"),
            codex: config::directory("CODEX_HOME"),
            system: PathBuf::from("/"),
            lends: Lends::Everything,
            patience: PATIENCE,
        })
    }

    /// A machine with nothing but a data directory, for tests.
    #[cfg(test)]
    pub(super) fn bare(data: PathBuf) -> Self {
        Self {
            home: None,
            path: None,
            data,
            claude: None,
            codex: None,
            system: PathBuf::from("/"),
            patience: PATIENCE,
            lends: Lends::PathAndHome,
        }
    }

    /// Whether a directory is, or was, a data directory: this one, one of the usual name, or one in which an
    /// installation left its receipt.
    #[must_use]
    pub(super) fn is_data_dir(&self, dir: &Path) -> bool {
        let has_receipt = |host: &Host| dir.join("install").join(host.id()).join("receipt.json").is_file();
        dir == self.data
            || dir.file_name().is_some_and(|name| name == "bookend")
            || HOSTS.iter().any(has_receipt)
    }

    /// Where the executables stand.
    #[must_use]
    pub fn bin(&self) -> PathBuf {
        self.data.join("bin")
    }

    /// The plugin that is assembled for a host; it is its own marketplace.
    #[must_use]
    pub fn plugin(&self, host: Host) -> PathBuf {
        self.data.join("plugin").join(host.id())
    }

    /// The path of an executable.
    #[must_use]
    pub fn executable(&self, hook: Hook) -> PathBuf {
        self.bin().join(hook.name())
    }

    /// The path of the command.
    #[must_use]
    pub fn command(&self) -> PathBuf {
        self.bin().join("bookend")
    }

    /// The link to the command.
    #[must_use]
    pub fn link(&self) -> Option<PathBuf> {
        Some(self.home.as_ref()?.join(".local/bin/bookend"))
    }

    /// Whether a directory is on PATH.
    #[must_use]
    pub fn is_on_path(&self, dir: &Path) -> bool {
        let path = self.path.as_deref().unwrap_or_default();
        std::env::split_paths(path).any(|d| d == dir)
    }

    /// Looks for a host.
    ///
    /// # Errors
    /// Its configuration directory cannot be known: `HOME` is not set.
    pub fn find(&self, host: Host) -> Result<FoundHost, InstallError> {
        let (program, own, below) = match host {
            Host::ClaudeCode => ("claude", &self.claude, ".claude"),
            Host::Codex => ("codex", &self.codex, ".codex"),
            Host::GeminiCli => ("gemini", &None, ".gemini"),
        };
        let below_home = || self.home.as_ref().map(|home| home.join(below));
        let config = own.clone().or_else(below_home).ok_or_else(|| {
            InstallError::Missing(format!("find the settings of {}: HOME is not set", host.title()))
        })?;
        Ok(FoundHost {
            host,
            program: self.program(program),
            has_config: config.is_dir(),
            config,
        })
    }

    /// The first executable of that name on PATH.
    fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.path.as_deref()?;
        std::env::split_paths(path)
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(name))
            .find(|file| is_executable(file))
    }
}

/// Whether there is an executable file.
#[must_use]
pub fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
