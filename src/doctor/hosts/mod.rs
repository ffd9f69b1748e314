//! The hosts' half: is each one there, which version, are the hooks registered once and whole, switched on,
//! trusted, and when did each event last fire.

mod findings;
mod fired;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::finding::Finding;
use super::fix::Fix;
use crate::config::Config;
use crate::host::Host;
use crate::install::{self, FoundHost, Goal, HOSTS, Hindrance, Means, Place, Program, Survey};
use crate::log::data_dir::DataDir;
use crate::probe::record::Record;
use fired::Fired;

/// What is known of one host.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostReport {
    /// Which.
    pub host: Host,
    /// There is a sign of it on this machine.
    pub found: bool,
    /// Its program on PATH.
    pub program: Option<PathBuf>,
    /// Its version, as it says itself.
    pub version: Option<String>,
    /// Where its settings are.
    pub config: Option<PathBuf>,
    /// How the hooks are registered; none: they are not.
    pub means: Option<Means>,
    /// When `bookend install` last registered them.
    pub installed_at: Option<DateTime<Utc>>,
    /// Whether it trusts the hooks; none: it asks for no trust, or cannot be asked.
    pub trusted: Option<bool>,
    /// The registered events, in the order of a session.
    pub events: Vec<EventReport>,
    /// When anything last fired, in the live state or the log.
    pub last_fired: Option<DateTime<Utc>>,
    /// When a probe last proved it.
    pub last_probed: Option<DateTime<Utc>>,
}

/// One registered event.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventReport {
    /// The host's name of it.
    pub event: &'static str,
    /// How often, as far as the live state goes back.
    pub count: u64,
    /// When last.
    pub last_at: Option<DateTime<Utc>>,
    /// What its hook took then, in microseconds.
    pub last_micros: Option<u32>,
}

impl HostReport {
    /// Whether an event has fired, or a probe has proved it, since the hooks were installed.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        let seen = self.last_fired.max(self.last_probed);
        seen.is_some() && seen >= self.installed_at
    }
}

/// Looks at every host; what is the matter with one goes to `findings`. Changes nothing.
#[must_use]
pub fn examine(config: &Config, findings: &mut Vec<Finding>) -> Vec<HostReport> {
    let Ok(place) = Place::from_env(config) else {
        // That there is no data directory is said of the stores.
        return Vec::new();
    };
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let data = DataDir::existing(&config.data_dir).ok().flatten();
    let fired = fired::read(config);
    let mut reports = Vec::new();
    for host in HOSTS {
        let found = match place.find(host) {
            Ok(found) => found,
            Err(error) => {
                findings.push(findings::unreadable(host, &error.to_string()));
                continue;
            }
        };
        let known = fired.get(&host).cloned().unwrap_or_default();
        reports.push(one(&place, found, &folder, &known, data.as_ref(), findings));
    }
    if !reports.is_empty() && reports.iter().all(|report| !report.found) {
        findings.push(
            Finding::note(
                "no-host",
                "hosts",
                "No host is found: no claude and no codex on PATH, no settings of theirs.",
            )
            .remedy(
                "Install one, then run `bookend install`; `bookend demo` shows meanwhile what the hooks do.",
            ),
        );
    }
    reports
}

fn one(
    place: &Place,
    found: FoundHost,
    folder: &Path,
    fired: &Fired,
    data: Option<&DataDir>,
    findings: &mut Vec<Finding>,
) -> HostReport {
    let host = found.host;
    let mut report = HostReport {
        host,
        found: found.is_here(),
        version: Program::of(&found, place).and_then(|program| program.version()),
        program: found.program.clone(),
        config: Some(found.config.clone()),
        means: None,
        installed_at: install::receipt(place, host).map(|receipt| receipt.at),
        trusted: None,
        events: events(host, &fired.events),
        last_fired: fired.last(),
        last_probed: data
            .and_then(|data| Record::read(data, host).ok().flatten())
            .map(|record| record.at),
    };
    if !report.found {
        return report;
    }
    match install::survey(place, found, Some(folder)) {
        Ok(mut survey) => {
            trust(place, folder, &mut survey, &mut report);
            report.means = findings::means(&survey.registrations);
            findings.extend(findings::find(&survey, &report, fix(place, &survey)));
        }
        Err(error) => findings.push(findings::unreadable(host, &error.to_string())),
    }
    report
}

/// Codex alone asks for trust.
fn trust(place: &Place, folder: &Path, survey: &mut Survey, report: &mut HostReport) {
    if report.host != Host::Codex || survey.registrations.is_empty() || survey.found.program.is_none() {
        return;
    }
    let state = install::trust_state(place, &survey.found, folder);
    let unknown = state.iter().any(|h| matches!(h, Hindrance::TrustUnknown { .. }));
    let distrusted = state.iter().any(|h| matches!(h, Hindrance::NotTrusted { .. }));
    report.trusted = (!unknown).then_some(!distrusted);
    survey.hindrances.extend(state);
}

/// What `--fix` can do about a registration: what an installation would, if that is possible.
fn fix(place: &Place, survey: &Survey) -> Option<Fix> {
    if survey.registrations.is_empty() {
        return None;
    }
    let plan = install::plan(place, survey.found.host, Goal::Installed).ok()?;
    Some(Fix::Register {
        host: survey.found.host,
        diff: plan.summary(place),
    })
}

fn events(host: Host, fired: &BTreeMap<String, crate::live::state::EventCount>) -> Vec<EventReport> {
    let mut events: Vec<EventReport> = Vec::new();
    for event in install::events(host) {
        if events.iter().any(|known| known.event == event) {
            continue;
        }
        let count = fired.get(event);
        events.push(EventReport {
            event,
            count: count.map_or(0, |c| c.count),
            last_at: count.and_then(|c| c.last_at),
            last_micros: count.map(|c| c.last_micros),
        });
    }
    events
}
