//! What is the matter with the installation in one host, each with its remedy.

use std::path::Path;

use super::super::finding::Finding;
use super::super::fix::Fix;
use super::HostReport;
use crate::clock;
use crate::host::Host;
use crate::install::{Broken, Hindrance, Means, Registration, Survey};

/// Finds it, from what the survey saw.
pub(super) fn find(survey: &Survey, report: &HostReport, fix: Option<Fix>) -> Vec<Finding> {
    let host = survey.found.host;
    let mut findings: Vec<Finding> = survey
        .broken
        .iter()
        .map(|(path, b)| broken(host, path, b))
        .collect();
    let is_broken = !findings.is_empty();
    findings.extend(registrations(survey, fix, is_broken));
    if !survey.registrations.is_empty() {
        findings.extend(
            survey
                .hindrances
                .iter()
                .map(|hindrance| hindered(host, hindrance)),
        );
        if findings.is_empty() {
            findings.extend(unproven(host, report));
        }
    }
    findings
}

fn problem(host: Host, code: &'static str, what: String) -> Finding {
    Finding::problem(code, host.id(), what)
}

fn install(host: Host) -> String {
    format!("Run `bookend install {}`.", host.id())
}

fn registrations(survey: &Survey, fix: Option<Fix>, is_broken: bool) -> Vec<Finding> {
    let host = survey.found.host;
    let title = host.title();
    let mut findings = Vec::new();
    match survey.registrations.as_slice() {
        // What cannot be read may hold them.
        [] if is_broken => {}
        [] => findings.push(
            problem(
                host,
                "not-installed",
                format!("{title} is here, but the hooks are not registered with it."),
            )
            .remedy(install(host)),
        ),
        [one] => findings.extend(faulty(host, one, fix)),
        more => {
            let places: Vec<String> = more.iter().map(place).collect();
            let foreign: Vec<String> = more
                .iter()
                .filter(|r| !r.is_users)
                .map(|r| r.file.display().to_string())
                .collect();
            let remedy = if foreign.is_empty() {
                format!("{} It leaves one.", install(host))
            } else {
                format!(
                    "Take the hooks of Bookend out of {}: one installation serves every project.",
                    foreign.join(" and ")
                )
            };
            let what = format!(
                "The hooks are registered {} times: {}. Each event runs them as often.",
                more.len(),
                places.join("; ")
            );
            let fix = fix.filter(|_| foreign.is_empty());
            findings.push(problem(host, "installed-twice", what).remedy(remedy).fix(fix));
        }
    }
    findings
}

fn place(registration: &Registration) -> String {
    format!("{} in {}", registration.what, registration.file.display())
}

fn faulty(host: Host, one: &Registration, fix: Option<Fix>) -> Option<Finding> {
    if !one.enabled {
        let remedy = match host {
            Host::ClaudeCode => {
                "Run `claude plugin enable bookend@bookend`, or `bookend install claude-code`.".to_owned()
            }
            _ => install(host),
        };
        let what = format!("Its {} is switched off in {}.", one.what, one.file.display());
        return Some(problem(host, "switched-off", what).remedy(remedy));
    }
    if !one.is_own {
        let what = format!(
            "The registration ({}) is of another installation: {}.",
            place(one),
            join(&one.faults)
        );
        return Some(
            problem(host, "registration-outdated", what)
                .remedy(format!("{} It takes the place of the other one.", install(host)))
                .fix(fix),
        );
    }
    if one.faults.is_empty() {
        return None;
    }
    let what = format!(
        "The registration ({}) is not whole: {}.",
        place(one),
        join(&one.faults)
    );
    Some(
        problem(host, "registration-incomplete", what)
            .remedy(install(host))
            .fix(fix),
    )
}

fn join(faults: &[String]) -> String {
    match faults {
        [] => "it runs other executables".to_owned(),
        [a, b, c, more @ ..] if !more.is_empty() => format!("{a}; {b}; {c}; and {} more", more.len()),
        some => some.join("; "),
    }
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
            let what = format!(
                "{setting} in {} keeps {title} from running any hook.",
                file.display()
            );
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

/// Why nothing can be said of a host.
pub(super) fn unreadable(host: Host, why: &str) -> Finding {
    problem(
        host,
        "settings-unreadable",
        format!("Its settings cannot be used: failed to {why}."),
    )
    .remedy("Give the file back to yourself (owner, mode), or move away what stands there.")
}

/// How it is registered, in a word.
pub(super) fn means(registrations: &[Registration]) -> Option<Means> {
    registrations.first().map(|r| r.means)
}
