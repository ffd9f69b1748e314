//! The hosts' half: is each one there, which version, are the hooks registered once and whole, switched on,
//! trusted, and when did each event last fire. `registration.rs` and `findings.rs` say what is the matter; `fired.rs`
//! and `logged.rs` when what fired, `silent.rs` what did not.

mod findings;
mod fired;
mod logged;
mod registration;
mod silent;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::finding::Finding;
use super::fix::Fix;
use crate::config::Config;
use crate::host::Host;
use crate::install::{
    self, FoundHost, Goal, HOSTS, Hindrance, InstallError, Means, Place, Program, Registration, Survey,
};
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
    /// Whether the log's tools come with them. They are a part of the plugin; hooks in settings come without: where
    /// Claude Code keeps a user's servers it writes all the time, and nobody can change that file safely beside it.
    pub tools: bool,
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
    /// When last, in the live state or, behind it, the log.
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
pub fn examine(config: &Config, now: DateTime<Utc>, findings: &mut Vec<Finding>) -> Vec<HostReport> {
    let Ok(place) = Place::from_env(config) else {
        // That there is no data directory is said of the stores.
        return Vec::new();
    };
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    look(&place, &folder, config, now, findings)
}

/// The same, on a machine of one's own.
#[must_use]
pub fn look(
    place: &Place,
    folder: &Path,
    config: &Config,
    now: DateTime<Utc>,
    findings: &mut Vec<Finding>,
) -> Vec<HostReport> {
    let data = DataDir::existing(&config.data_dir).ok().flatten();
    let fired = fired::read(config, now);
    let mut reports = Vec::new();
    // Their programs are asked at the same time.
    let asked = thread::scope(|scope| {
        let ask = |host| scope.spawn(move || (host, Asked::of(place, host, folder)));
        let asking = HOSTS.map(ask);
        asking.map(|host| host.join().ok())
    });
    for (host, asked) in asked.into_iter().flatten() {
        match asked {
            Ok(asked) => {
                let known = fired.get(&host).cloned().unwrap_or_default();
                reports.push(one(place, asked, &known, data.as_ref(), findings));
            }
            Err(error) => findings.push(findings::unreadable(host, &error.to_string())),
        }
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

/// What a host says itself, and what stands in its settings.
struct Asked {
    found: FoundHost,
    version: Option<String>,
    trust: Vec<Hindrance>,
    survey: Result<Survey, InstallError>,
}

impl Asked {
    fn of(place: &Place, host: Host, folder: &Path) -> Result<Self, InstallError> {
        let found = place.find(host)?;
        let survey = install::survey(place, found.clone(), Some(folder));
        let asks = |survey: &Survey| !survey.registrations.is_empty() && survey.found.program.is_some();
        // Codex alone asks for trust.
        let asks_trust = host == Host::Codex && survey.as_ref().is_ok_and(asks);
        let (version, trust) = thread::scope(|scope| {
            let version = scope.spawn(|| Program::of(&found, place)?.version());
            let trust = asks_trust.then(|| install::trust_state(place, &found, folder));
            (version.join().ok().flatten(), trust.unwrap_or_default())
        });
        Ok(Self {
            found,
            version,
            trust,
            survey,
        })
    }
}

fn one(
    place: &Place,
    asked: Asked,
    fired: &Fired,
    data: Option<&DataDir>,
    findings: &mut Vec<Finding>,
) -> HostReport {
    let (host, found) = (asked.found.host, asked.found);
    let mut report = HostReport {
        host,
        found: found.is_here(),
        version: asked.version,
        program: found.program.clone(),
        config: Some(found.config.clone()),
        means: None,
        tools: false,
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
    match asked.survey {
        Ok(mut survey) => {
            trust(asked.trust, &mut survey, &mut report);
            report.means = survey.registrations.first().map(|r| r.means);
            let has_tools = |r: &Registration| r.means == Means::Plugin && r.enabled && r.is_own;
            report.tools = survey.registrations.iter().any(has_tools);
            findings.extend(findings::find(&survey, &report, fired, fix(place, &survey)));
        }
        Err(error) => findings.push(findings::unreadable(host, &error.to_string())),
    }
    report
}

/// What Codex says of our hooks; that it sees none needs no word where something else says why.
fn trust(state: Vec<Hindrance>, survey: &mut Survey, report: &mut HostReport) {
    let is = |wanted: fn(&Hindrance) -> bool| state.iter().any(wanted);
    let asked = report.host == Host::Codex && report.program.is_some() && !survey.registrations.is_empty();
    let unknown = is(|h| matches!(h, Hindrance::TrustUnknown { .. } | Hindrance::NotSeen { seen: 0 }));
    let distrusted = is(|h| matches!(h, Hindrance::NotTrusted { .. }));
    report.trusted = (asked && !unknown).then_some(!distrusted);
    let explained = !survey.hindrances.is_empty()
        || !matches!(survey.registrations.as_slice(), [one] if one.enabled && one.is_users && one.faults.is_empty());
    let new = state.into_iter();
    survey
        .hindrances
        .extend(new.filter(|h| !(explained && matches!(h, Hindrance::NotSeen { .. }))));
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

fn events(host: Host, fired: &BTreeMap<String, fired::Event>) -> Vec<EventReport> {
    let mut events: Vec<EventReport> = Vec::new();
    for event in install::events(host) {
        if events.iter().any(|known| known.event == event) {
            continue;
        }
        let known = fired.get(event).copied().unwrap_or_default();
        events.push(EventReport {
            event,
            count: known.count,
            last_at: known.last_at,
            last_micros: known.last_micros,
        });
    }
    events
}
