//! `bookend doctor`: is everything here as it has to be, and if not, what is to be done.
//!
//! A look changes nothing and makes nothing: the stores are only read, and the hooks are measured over
//! stores of their own. What a look finds is a [`finding::Finding`], with its remedy and, where it is safe
//! to mend, the [`fix::Fix`] that `--fix` applies. It costs the same at any size of the stores: of each the
//! newest sessions are read, and the report says how many.
//!
//! | to change | look in |
//! | --- | --- |
//! | what a finding says, what is printed as JSON | `finding.rs`, `report.rs` |
//! | what `--fix` may do | `fix.rs` |
//! | the hosts | `hosts/` |
//! | which stores are looked at; directories as such | `stores.rs`; `place.rs` |
//! | live state; the log; what points to a log | `live.rs`; `logs.rs`; `entries.rs`, `leftovers.rs` |
//! | the state files of planner, toolkit and builder | `agent_files.rs` |
//! | modes, owners, times, names | `files.rs` |
//! | variables; faults; what a hook takes | `settings.rs`; `faults.rs`; `latency.rs`, `sample.rs`, `bad_hook.rs` |

mod agent_files;
mod bad_hook;
mod entries;
mod faults;
mod files;
pub mod finding;
pub mod fix;
pub mod hosts;
mod latency;
pub(crate) mod leftovers;
mod lines;
mod live;
mod logs;
mod place;
pub mod report;
mod sample;
mod settings;
mod stores;

use std::path::Path;

use chrono::{DateTime, Utc};

use crate::config::Config;
use crate::dispatch::project_of;
use crate::log::off;
use crate::redact::Redacted;
use finding::Finding;
use report::Report;

/// Below this much free space, in bytes, people are told.
pub const LITTLE_SPACE: u64 = 16 * 1024 * 1024;
/// So many sessions of a store are read, those that changed last.
const NEWEST: usize = 200;
/// And so many bytes of logs; a log that is larger than what is left of it is left out.
const BYTES: u64 = 256 * 1024 * 1024;

/// How many sessions a store has, and how many of them were read.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    sessions: usize,
    looked_at: usize,
    /// Bytes of all of them, of a store of logs.
    bytes: u64,
}

/// That the project of this directory keeps no log.
fn log_off(here: Option<&Path>) -> Option<Finding> {
    let project = project_of(&Redacted::new(&here?.to_string_lossy()));
    off::is_off(&project).then(|| {
        let what = format!(
            "{} is there: sessions that begin in this project leave no log.",
            off::FILE
        );
        Finding::note("log-off", project.as_str(), what).remedy("Remove the file to have them logged again.")
    })
}

/// Looks at everything.
#[must_use]
pub fn examine(config: &Config, now: DateTime<Utc>) -> Report {
    let mut findings = Vec::new();
    let hosts = hosts::examine(config, now, &mut findings);
    let stores = stores::examine(config, now, &mut findings);
    let here = std::env::current_dir().ok();
    findings.extend(agent_files::examine(here.as_deref(), config.home.as_deref(), now));
    findings.extend(log_off(here.as_deref()));
    let is_registered = hosts.iter().any(|host| host.means.is_some());
    let placed = config.data_dir.as_ref().ok().map(|data| data.join("bin"));
    let latency = latency::measure(placed.filter(|_| is_registered), &mut findings);
    Report::new(hosts, stores, latency, findings)
}
