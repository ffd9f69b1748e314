//! What is found of Bookend in a host: every registration, what is wrong with it, and what keeps hooks from
//! running. Looking changes nothing.

use std::path::{Path, PathBuf};

use super::error::Broken;
use super::place::FoundHost;
use super::receipt::Means;

/// What was found in one host.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The host.
    pub found: FoundHost,
    /// Every registration of ours; one is right.
    pub registrations: Vec<Registration>,
    /// What keeps hooks from running.
    pub hindrances: Vec<Hindrance>,
    /// Settings that do not parse, or that the host does not read.
    pub broken: Vec<(PathBuf, Broken)>,
}

/// A registration of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// How.
    pub means: Means,
    /// In which file.
    pub file: PathBuf,
    /// As people name it: `plugin bookend@bookend`, `6 hooks`.
    pub what: String,
    /// Switched on.
    pub enabled: bool,
    /// It is the one of this data directory.
    pub is_own: bool,
    /// What is missing, changed or doubled in it.
    pub faults: Vec<String>,
    /// `bookend install` takes it away by itself (it is no project's file).
    pub is_users: bool,
}

/// What keeps hooks from running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hindrance {
    /// A setting switches all hooks off.
    SwitchedOff {
        /// In which file.
        file: PathBuf,
        /// Which setting.
        setting: String,
    },
    /// An administrator allows managed hooks only.
    ManagedOnly {
        /// In which file.
        file: PathBuf,
        /// Which setting.
        setting: String,
    },
    /// Codex skips hooks that nobody trusts, in silence.
    NotTrusted {
        /// Hooks that were never trusted.
        untrusted: usize,
        /// Hooks that were changed since.
        modified: usize,
    },
    /// The user switched some of them off in Codex's list of hooks.
    SomeOff {
        /// How many.
        count: usize,
    },
    /// The host sees fewer of the registered hooks than there are, for a reason that is none of the others.
    NotSeen {
        /// How many it sees.
        seen: usize,
    },
    /// A variable in the host's settings sends its hooks to another data directory.
    OtherData {
        /// In which file.
        file: PathBuf,
        /// Which directory.
        dir: String,
    },
    /// The host could not be asked whether it trusts them.
    TrustUnknown {
        /// Why.
        why: String,
    },
}

/// Whether the settings in `folder` are a project's, and not the host's own under another name: HOME as a
/// project, a link in its path.
pub(super) fn is_project(folder: &Path, config: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(folder) != real(config)
}

impl Survey {
    /// The one registration that there should be. Whether the host reads the file at all is in `broken`.
    #[must_use]
    pub fn is_sound(&self, means: Means) -> bool {
        matches!(self.registrations.as_slice(),
            [one] if one.means == means && one.enabled && one.is_own && one.faults.is_empty())
    }
}
