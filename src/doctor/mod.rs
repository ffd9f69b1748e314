//! `bookend doctor`: is everything here as it has to be, and if not, what is to be done.
//!
//! A look changes nothing and makes nothing: the stores are only read, and the hooks are measured over
//! stores of their own. What a look finds is a [`finding::Finding`], with its remedy and, where it is safe
//! to mend, the [`fix::Fix`] that `--fix` applies.
//!
//! | to change | look in |
//! | --- | --- |
//! | what a finding says, what is printed as JSON | `finding.rs`, `report.rs` |
//! | what `--fix` may do | `fix.rs` |
//! | the hosts | `hosts/` |

pub mod finding;
pub mod fix;
pub mod hosts;
pub(crate) mod leftovers;
pub mod report;

use chrono::{DateTime, Utc};

use crate::config::Config;
use report::{Latency, Report};

/// Below this much free space, in bytes, people are told.
pub const LITTLE_SPACE: u64 = 16 * 1024 * 1024;

/// Looks at everything.
#[must_use]
pub fn examine(config: &Config, _now: DateTime<Utc>) -> Report {
    let mut findings = Vec::new();
    let hosts = hosts::examine(config, &mut findings);
    Report::new(hosts, Vec::new(), Latency::default(), findings)
}
