//! The hosts' half: is each one there, which version, are the hooks installed, trusted, complete, and when
//! did each event last fire.

use serde::Serialize;

use super::finding::Finding;
use crate::config::Config;
use crate::host::Host;

/// What is known of one host.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostReport {
    /// Which.
    pub host: Host,
}

impl HostReport {
    /// Its section for people: one line each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Looks at every host; what is the matter with one goes to `findings`. Changes nothing.
#[must_use]
pub fn examine(_config: &Config, _findings: &mut Vec<Finding>) -> Vec<HostReport> {
    Vec::new()
}
