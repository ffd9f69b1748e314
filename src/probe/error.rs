//! Why a session did not run. Texts fit after "failed to".

use std::path::PathBuf;
use std::{fmt, io};

use super::step::UnknownStep;

/// Why a session did not run.
#[derive(Debug)]
pub enum ProbeError {
    /// The host is not on this machine.
    NotInstalled {
        /// The host's name.
        host: &'static str,
        /// The program that the caller named.
        named: Option<PathBuf>,
    },
    /// The script holds a word that is no step.
    Script(UnknownStep),
    /// A scratch folder or file could not be made.
    Make {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The stub model's port could not be opened.
    Listen(io::Error),
    /// The host's program could not be started.
    Start {
        /// Which.
        program: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The host's process could not be waited for.
    Wait(io::Error),
    /// No probe knows this host.
    NotYet(&'static str),
    /// A hook's executable is missing.
    NoHook {
        /// Which.
        hook: &'static str,
        /// Where it should be.
        folder: PathBuf,
    },
    /// The host did not take the hooks.
    Register {
        /// The host's name.
        host: &'static str,
        /// What it said.
        said: String,
    },
    /// What the hooks kept could not be looked at.
    Look(String),
    /// The probe was told to end.
    Interrupted,
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInstalled { host, named: None } => write!(f, "{host} is not installed"),
            Self::NotInstalled {
                host,
                named: Some(file),
            } => write!(f, "{host} is not installed at {}", file.display()),
            Self::Script(unknown) => unknown.fmt(f),
            Self::Make { path, error } => write!(f, "make {}: {error}", path.display()),
            Self::Listen(error) => write!(f, "open a port on 127.0.0.1 for the stub model: {error}"),
            Self::Start { program, error } => write!(f, "start {}: {error}", program.display()),
            Self::Wait(error) => write!(f, "wait for the host: {error}"),
            Self::NotYet(host) => write!(f, "{host} cannot be probed yet"),
            Self::NoHook { hook, folder } => write!(f, "find the hook {hook} in {}", folder.display()),
            Self::Register { host, said } => write!(f, "install the hooks in {host}: {said}"),
            Self::Look(why) => f.write_str(why),
            Self::Interrupted => f.write_str("finish: it was interrupted"),
        }
    }
}

impl std::error::Error for ProbeError {}

impl From<UnknownStep> for ProbeError {
    fn from(unknown: UnknownStep) -> Self {
        Self::Script(unknown)
    }
}
