//! A host as an installation sees it, as data: the one shape that `claude_code.rs` and `codex.rs` fill.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::InstallError;
use super::form::Form;
use super::place::{FoundHost, Place};
use super::receipt::Means;
use super::survey::Survey;
use super::{claude_code, codex};
use crate::host::Host;

/// What is special about a host.
pub(super) struct Installer {
    /// The user's files that hold something of ours.
    pub files: fn(&FoundHost) -> Vec<(PathBuf, Form)>,
    /// Where the host keeps copies of our plugin.
    pub cache: fn(&FoundHost) -> PathBuf,
    /// Puts what is ours into the settings that hold it.
    pub add: fn(&mut Value, Means, &Place),
    /// What the host is asked to do, to install.
    pub install_commands: fn(&Place, &FoundHost) -> Vec<Vec<String>>,
    /// What the host is asked to do, to remove what it knows of.
    pub removal_commands: fn(&FoundHost) -> Vec<Vec<String>>,
    /// Looks for what is ours; the folder is a project whose settings are looked at too.
    pub survey: fn(&Place, FoundHost, Option<&Path>) -> Result<Survey, InstallError>,
    /// Why the user's settings must not be touched.
    pub refusal: fn(&Survey) -> Option<InstallError>,
    /// Reads what `plugin list --json` says of us.
    pub list: fn(&Value) -> Option<Listed>,
}

/// Our plugin as the host lists it.
pub(super) struct Listed {
    /// Switched on.
    pub enabled: bool,
    /// What the host says is wrong with it.
    pub errors: Vec<String>,
}

/// What is special about a host.
///
/// # Errors
/// Bookend cannot be installed into it yet.
pub(super) fn installer(host: Host) -> Result<&'static Installer, InstallError> {
    match host {
        Host::ClaudeCode => Ok(&claude_code::INSTALLER),
        Host::Codex => Ok(&codex::INSTALLER),
        Host::GeminiCli => Err(InstallError::Missing(format!(
            "install into {}: that comes later; its events are decoded already",
            host.title()
        ))),
    }
}
