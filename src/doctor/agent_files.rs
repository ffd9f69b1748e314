//! The state files of planner, toolkit and builder: can the hooks keep them, and do they say what they should?

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use super::finding::Finding;
use crate::task::agent_files::{Agent, MAX_SESSION, Place, Roots, Said, Unusable, stale};

/// Looks at those of the project that holds `here`, and at the toolkit's.
pub(super) fn examine(here: Option<&Path>, home: Option<&Path>, now: DateTime<Utc>) -> Vec<Finding> {
    let project = here.map(|here| {
        let here = crate::redact::Redacted::new(&here.to_string_lossy());
        PathBuf::from(crate::dispatch::project_of(&here).as_str())
    });
    let roots = Roots {
        project: project.as_deref(),
        home,
    };
    let mut findings = Vec::new();
    for place in roots.all(true) {
        let path = place.path.to_string_lossy().into_owned();
        match place.read() {
            Err(Unusable::Io(e)) => findings.push(
                Finding::problem(
                    "agent-file-unusable",
                    path,
                    format!("The hooks leave this state file of the {} alone: {e}.", place.agent.name()),
                )
                .remedy("Put a file of your own in its place, or remove it: the hooks' own record carries on."),
            ),
            Err(Unusable::Broken(broken)) => findings.push(
                Finding::problem(
                    "agent-file-broken",
                    path,
                    format!("The {} and the hooks cannot read it: {broken}.", place.agent.name()),
                )
                .remedy(format!(
                    "Mend line {} by hand; until then the hooks leave it as it is and their own record carries on.",
                    broken.line
                )),
            ),
            Ok(said) => understood(&place, &said, roots, now, &mut findings),
        }
    }
    linked(roots, &mut findings);
    findings
}

fn understood(place: &Place, said: &Said, roots: Roots<'_>, now: DateTime<Utc>, findings: &mut Vec<Finding>) {
    let path = place.path.to_string_lossy().into_owned();
    if !said.odd.is_empty() {
        let odd: Vec<String> = said.odd.iter().map(ToString::to_string).collect();
        let what = format!(
            "It reads, but not all of it is as it should be: {}.",
            odd.join("; ")
        );
        findings
            .push(Finding::problem("agent-file-odd", path.clone(), what).remedy(
                "Mend these lines; what is of the wrong type is passed over and never written over.",
            ));
    }
    if let Some(age) = stale(said, roots, now) {
        let what = format!(
            "Its session is in progress, and its last heartbeat was {} ago.",
            crate::clock::human(age)
        );
        findings.push(
            Finding::note("agent-file-stale", path.clone(), what).remedy(
                "Go on with it, or set its status to abandoned and move it to docs/sessions/archive.",
            ),
        );
    }
    if place.agent == Agent::Builder && said.size >= MAX_SESSION {
        let what = format!(
            "It has {} bytes; the format asks for less than {MAX_SESSION}.",
            said.size
        );
        findings.push(
            Finding::note("agent-file-large", path, what).remedy("Shorten the summaries of its chunks."),
        );
    }
}

/// `docs` as a link: the hooks do not follow it, and whoever keeps such a file behind it should know.
fn linked(roots: Roots<'_>, findings: &mut Vec<Finding>) {
    let Some(docs) = roots.project.map(|p| p.join("docs")).filter(|d| d.is_symlink()) else {
        return;
    };
    let behind = ["planner-state.json", "builder-config.json"];
    if behind.into_iter().any(|name| docs.join(name).exists()) {
        let what = "It is a link, which the hooks do not follow: the state files behind it are not kept.";
        findings.push(
            Finding::note("agent-file-linked", docs.to_string_lossy(), what)
                .remedy("Make docs a directory of the project, or keep the files by hand."),
        );
    }
}
