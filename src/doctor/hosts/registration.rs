//! What is the matter with the registrations of the hooks in one host: none, several, another one, not whole.

use super::super::finding::Finding;
use super::super::fix::Fix;
use super::HostReport;
use super::findings::problem;
use crate::clock;
use crate::host::Host;
use crate::install::{Registration, Survey};

/// Finds it; settings that are broken may hold what is not seen.
pub(super) fn find(
    survey: &Survey,
    report: &HostReport,
    fix: Option<Fix>,
    is_broken: bool,
) -> Option<Finding> {
    let host = survey.found.host;
    match survey.registrations.as_slice() {
        [] if is_broken => None,
        [] => Some(missing(host, report)),
        [one] if !one.is_users => Some(elsewhere_missing(host, one)),
        [one] => faulty(host, one, fix),
        more => Some(several(host, more, fix)),
    }
}

fn install(host: Host) -> String {
    format!("Run `bookend install {}`.", host.id())
}

fn missing(host: Host, report: &HostReport) -> Finding {
    let title = host.title();
    let what = match report.installed_at {
        Some(at) => format!(
            "The hooks were registered with {title} {} ago, and the registration is gone.",
            clock::human(clock::age(at, clock::now()))
        ),
        None => format!("{title} is here, but the hooks are not registered with it."),
    };
    problem(host, "not-installed", what).remedy(install(host))
}

fn elsewhere_missing(host: Host, one: &Registration) -> Finding {
    let what = format!(
        "The hooks are registered in this project only ({}), so sessions elsewhere run without them.",
        place(one)
    );
    let remedy = format!(
        "Take the hooks of Bookend out of {}, then run `bookend install {}`.",
        one.file.display(),
        host.id()
    );
    problem(host, "installed-in-project", what).remedy(remedy)
}

fn several(host: Host, all: &[Registration], fix: Option<Fix>) -> Finding {
    let places: Vec<String> = all.iter().map(place).collect();
    let of_projects: Vec<String> = all
        .iter()
        .filter(|r| !r.is_users)
        .map(|r| r.file.display().to_string())
        .collect();
    let remedy = if of_projects.is_empty() {
        format!("{} It leaves one.", install(host))
    } else {
        format!(
            "Take the hooks of Bookend out of {}: one installation serves every project.",
            of_projects.join(" and ")
        )
    };
    let so = match all.iter().filter(|r| r.enabled).count() {
        0 => "None of them is switched on".to_owned(),
        1 => "One of them is switched on".to_owned(),
        n => format!("Each event runs them {n} times"),
    };
    let what = format!(
        "The hooks are registered {} times: {}. {so}.",
        all.len(),
        places.join("; ")
    );
    let fix = fix.filter(|_| of_projects.is_empty());
    problem(host, "installed-twice", what).remedy(remedy).fix(fix)
}

fn place(registration: &Registration) -> String {
    let off = if registration.enabled {
        ""
    } else {
        ", switched off"
    };
    format!("{} in {}{off}", registration.what, registration.file.display())
}

fn faulty(host: Host, one: &Registration, fix: Option<Fix>) -> Option<Finding> {
    if !one.enabled {
        // Somebody switched it off: no --fix switches it on again.
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
        let remedy = format!(
            "{} It takes the place of the other one; if the other one is right, set BOOKEND_DATA_DIR to its data \
             directory.",
            install(host)
        );
        return Some(
            problem(host, "registration-outdated", what)
                .remedy(remedy)
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
