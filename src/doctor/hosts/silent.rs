//! Events that should have fired and have not: each session in which something was done has a start, a prompt and
//! an end of its turn. One session without one of them may have been killed or begun before the installation;
//! several in a row, and none with it, are no accident.

use chrono::{DateTime, Utc};

use super::super::finding::Finding;
use super::fired::Finished;
use crate::host::Host;

/// So many finished sessions without an event are no accident.
const SEVERAL: usize = 3;
/// One of each group fires in every session in which something was done, and what is lost without it.
const EXPECTED: [(&[&str], &str); 3] = [
    (
        &["SessionStart"],
        "interrupted work is not brought back at the start of a session",
    ),
    (&["UserPromptSubmit"], "turns have no beginning"),
    (
        &["Stop", "StopFailure", "Interrupt"],
        "turns get no ending but one that is presumed",
    ),
];

/// What was silent in all sessions that began since then and are over.
pub(super) fn find(host: Host, sessions: &[Finished], since: Option<DateTime<Utc>>) -> Vec<Finding> {
    let was_worked_in = |session: &&Finished| {
        let worked = ["UserPromptSubmit", "PostToolUse", "Stop"];
        worked.iter().any(|event| fired(session, event))
    };
    let sessions: Vec<&Finished> = sessions
        .iter()
        .filter(|session| Some(session.started_at) >= since)
        .filter(was_worked_in)
        .collect();
    if sessions.len() < SEVERAL {
        return Vec::new();
    }
    let is_silent = |(group, _): &&(&[&str], &str)| {
        let any = |session: &&Finished| group.iter().any(|event| fired(session, event));
        !sessions.iter().any(any)
    };
    let silent = EXPECTED.iter().filter(is_silent);
    silent
        .map(|(group, lost)| {
            let name = group.first().copied().unwrap_or_default();
            let what = format!(
                "{name} has fired in none of the last {} finished sessions, and other events have: {lost}.",
                sessions.len()
            );
            let remedy = format!(
                "Run `bookend probe {}`: it shows whether {name} fires here.",
                host.id()
            );
            Finding::problem("event-silent", host.id(), what).remedy(remedy)
        })
        .collect()
}

fn fired(session: &Finished, event: &str) -> bool {
    session.events.iter().any(|fired| fired == event)
}
