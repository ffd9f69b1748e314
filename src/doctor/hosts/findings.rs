//! What is the matter with the installation in one host, each with its remedy.

use std::path::Path;

use super::super::finding::{Finding, Level};
use super::super::fix::Fix;
use super::fired::Fired;
use super::{HostReport, registration, silent};
use crate::clock;
use crate::host::Host;
use crate::install::{Broken, Hindrance, Means, Survey};

/// Finds it, from what the survey saw and what fired.
pub(super) fn find(survey: &Survey, report: &HostReport, fired: &Fired, fix: Option<Fix>) -> Vec<Finding> {
    let host = survey.found.host;
    let mut findings: Vec<Finding> = survey
        .broken
        .iter()
        .map(|(path, b)| broken(host, path, b))
        .collect();
    let is_broken = !findings.is_empty();
    findings.extend(registration::find(survey, report, fix, is_broken));
    if survey.registrations.is_empty() {
        return findings;
    }
    let hindrances = survey.hindrances.iter();
    findings.extend(hindrances.map(|hindrance| hindered(host, hindrance)));
    if findings.is_empty() {
        // Nothing that stands in a file says why.
        let since = report.installed_at.max(report.last_probed);
        findings.extend(silent::find(host, &fired.finished, since));
    }
    if findings.is_empty() {
        findings.extend(unproven(host, report));
    }
    if findings.iter().all(|finding| finding.level != Level::Problem) {
        findings.extend(out_of_reach(host, report));
    }
    findings
}

pub(super) fn problem(host: Host, code: &'static str, what: String) -> Finding {
    Finding::problem(code, host.id(), what)
}

fn broken(host: Host, path: &Path, broken: &Broken) -> Finding {
    let title = host.title();
    let what = format!(
        "{} has {} in line {}, column {}: {title} reads nothing of it.",
        path.display(),
        broken.why,
        broken.line,
        broken.column
    );
    problem(host, "settings-broken", what)
        .remedy("Mend that line; `bookend install` does not touch the file before.")
}

fn hindered(host: Host, hindrance: &Hindrance) -> Finding {
    let title = host.title();
    match hindrance {
        Hindrance::SwitchedOff { file, setting } => {
            let what = format!("{setting} in {} keeps the hooks from running.", file.display());
            problem(host, "hooks-off", what).remedy(format!("Take {setting} out of {}.", file.display()))
        }
        Hindrance::ManagedOnly { file, setting } => {
            let what = format!(
                "{setting} in {} lets {title} run only hooks of an administrator.",
                file.display()
            );
            problem(host, "managed-hooks-only", what)
                .remedy("Ask who administers this machine to allow Bookend's hooks.")
        }
        Hindrance::NotTrusted { untrusted, modified } => {
            let what = match (untrusted, modified) {
                (n, 0) => format!("{title} does not trust {n} of the hooks, and skips them in silence."),
                (0, n) => {
                    format!("{n} of the hooks changed since you trusted them; {title} skips them in silence.")
                }
                (n, m) => format!(
                    "{title} does not trust {n} of the hooks, {m} changed since; it skips them in silence."
                ),
            };
            problem(host, "hooks-untrusted", what)
                .remedy("Run `bookend install codex --trust`, or start codex and choose \"Trust all\".")
        }
        Hindrance::SomeOff { count } => {
            let what = format!("{count} of the hooks are switched off in {title}'s list of hooks.");
            problem(host, "switched-off", what).remedy("Switch them on again: `/hooks` in codex.")
        }
        Hindrance::NotSeen { seen } => {
            let what = match seen {
                0 => format!("The hooks are registered, and {title} sees none of them here."),
                n => format!("{title} sees {n} of the hooks, and not the others."),
            };
            problem(host, "hooks-not-seen", what).remedy(
                "Run `bookend install codex`; if it stays so, look for a switch in the settings that Codex reads here \
                 (`/hooks` in codex shows what it sees).",
            )
        }
        Hindrance::OtherData { file, dir } => {
            let what = format!(
                "env.BOOKEND_DATA_DIR in {} sends what the hooks keep to {dir}; this command looks elsewhere.",
                file.display()
            );
            problem(host, "data-elsewhere", what).remedy(format!(
                "Take env.BOOKEND_DATA_DIR out of {}, or set it in your shell too.",
                file.display()
            ))
        }
        Hindrance::TrustUnknown { why } => {
            let what = format!("Whether {title} trusts the hooks is not known: failed to {why}.");
            Finding::not_proven("trust-unknown", host.id(), what)
                .remedy("Start codex; if it asks about hooks, choose \"Trust all\".")
        }
    }
}

/// Never green for a host in which no event has fired since it was installed.
fn unproven(host: Host, report: &HostReport) -> Option<Finding> {
    let title = host.title();
    let remedy = format!(
        "Start a session of {title}, or run `bookend probe {}`.",
        host.id()
    );
    if report.is_proven() {
        return None;
    }
    let what = match (report.last_fired, report.installed_at) {
        (Some(_), Some(at)) => format!(
            "No event of {title} has fired since the hooks were installed, {} ago.",
            clock::human(clock::age(at, clock::now()))
        ),
        _ => format!("No event of {title} has fired yet."),
    };
    Some(Finding::not_proven("never-fired", host.id(), what).remedy(remedy))
}

/// A plugin of a host whose program is not here: it may be gone, or only not on this PATH.
fn out_of_reach(host: Host, report: &HostReport) -> Option<Finding> {
    if report.program.is_some() || report.means != Some(Means::Plugin) {
        return None;
    }
    let title = host.title();
    let what = format!(
        "The program of {title} is not on PATH, so its version and what it says of the plugin are not known."
    );
    let remedy = format!(
        "Add its folder to PATH; if {title} is gone from here, run `bookend uninstall {}`.",
        host.id()
    );
    Some(Finding::note("program-missing", host.id(), what).remedy(remedy))
}

/// Why nothing can be said of a host.
pub(super) fn unreadable(host: Host, why: &str) -> Finding {
    problem(
        host,
        "settings-unreadable",
        format!("Its settings cannot be used: failed to {why}."),
    )
    .remedy("Give the file back to yourself (owner, mode), or move away what stands there.")
}
