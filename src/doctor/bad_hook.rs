//! What can be wrong with a hook executable, and how it is said.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use super::finding::Finding;
use super::latency::HANG;

/// What is wrong with an executable.
#[derive(Debug)]
pub(super) enum Bad {
    Start(io::Error),
    Hangs,
    Fails(ExitStatus),
    NoJson,
    KeepsNothing,
    Version(Option<String>),
    Run(io::Error),
}

impl Bad {
    /// As a finding, with what to do about it.
    pub(super) fn finding(&self, path: &Path, remedy: &str) -> Finding {
        let (code, what) = match self {
            Self::Start(e) => match (e.kind(), path.exists()) {
                (io::ErrorKind::NotFound, false) => (
                    "hook-missing",
                    "It is not there, so its events are lost.".to_owned(),
                ),
                (io::ErrorKind::PermissionDenied, _) => (
                    "hook-not-executable",
                    "It may not be executed, so its events are lost.".to_owned(),
                ),
                // A program of another machine, or one whose loader is not here.
                (io::ErrorKind::NotFound, true) => ("hook-foreign", foreign(e)),
                _ if e.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
                    ("hook-foreign", foreign(e))
                }
                _ => ("hook-fails", format!("It cannot be started: {e}.")),
            },
            Self::Hangs => (
                "hook-hangs",
                format!("It did not end within {} seconds.", HANG.as_secs()),
            ),
            Self::Fails(status) => match status.signal() {
                Some(signal) => ("hook-crashes", format!("It was ended by signal {signal}.")),
                None => (
                    "hook-crashes",
                    format!(
                        "It exits {}, which some hosts take for a denial.",
                        status.code().unwrap_or(-1)
                    ),
                ),
            },
            Self::NoJson => (
                "hook-answers-wrong",
                "It says something that is not one JSON document.".to_owned(),
            ),
            Self::KeepsNothing => (
                "hook-keeps-nothing",
                "It runs, and keeps nothing of its events: it is not the hook of that name, or of another \
                 version."
                    .to_owned(),
            ),
            Self::Version(version) => {
                let its = version.as_deref().map_or_else(
                    || "It does not say its version, so it is an older one".to_owned(),
                    |version| format!("It is of version {version}"),
                );
                let what = format!("{its}; this command is of {}.", env!("CARGO_PKG_VERSION"));
                ("hook-outdated", what)
            }
            Self::Run(e) => ("hook-fails", format!("It cannot be run: {e}.")),
        };
        Finding::problem(code, path.to_string_lossy(), what).remedy(remedy)
    }
}

fn foreign(e: &io::Error) -> String {
    format!("It is no program of this machine ({e}), so its events are lost.")
}
