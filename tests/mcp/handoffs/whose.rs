//! Whose a report is: that of another project, of another orchestration, of an older phase or perhaps of another phase
//! is not mixed in.

use serde_json::json;

use super::super::{Server, command};
use super::{ACTIVE, ID, at_work, create, files, go, host, kept, reports, whole, works};
use crate::harness::Lab;

#[test]
fn another_projects_reports_are_not_mixed_in() {
    let lab = Lab::new();
    let mut server = at_work(&lab);
    works(
        &host(lab.claude("s1")),
        "a1",
        "coder",
        &whole("src/cart.rs", "Slow"),
    );
    // The same orchestration elsewhere: beside it, with a name that begins alike, and a repository within it.
    for (n, place) in ["other", "project-2", "project/vendored"].into_iter().enumerate() {
        let dir = lab.path(place);
        std::fs::create_dir_all(dir.join("docs/maestro/state")).unwrap();
        std::fs::create_dir_all(dir.join(".git")).unwrap();
        std::fs::copy(lab.project().join(ACTIVE), dir.join(ACTIVE)).unwrap();
        let talk = host(lab.claude(&format!("other-{n}")).project(place));
        works(&talk, "b1", "coder", &whole("src/elsewhere.rs", "Elsewhere"));
        assert_eq!(
            lab.log_of(&format!("other-{n}")).handoffs.len(),
            1,
            "{place}: it is handed over there"
        );
    }
    assert_eq!(
        server.ok("get_session_status", json!({}))["handoffs"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    go(&mut server, 1, "completed");
    assert_eq!(files(&lab, 0), json!(["src/cart.rs"]));
    server.ends_well();
}

#[test]
fn another_orchestrations_and_an_older_phases_reports_are_not_mixed_in() {
    let lab = Lab::new();
    let mut server = Server::agreed(kept(command(&lab)), json!({}));
    let talk = host(lab.claude("s1"));
    create(
        &mut server,
        "2026-11-29-before",
        json!([{"id": 1, "name": "Before", "agent": "coder"}]),
    );
    go(&mut server, 1, "in_progress");
    works(&talk, "a0", "coder", &whole("src/before.rs", "Before"));
    let over = json!({"session_id": "2026-11-29-before", "force": true, "reason": "Given up"});
    server.ok("archive_session", over);

    // One agent in two phases, one after the other; and somebody whom no phase names.
    let phases = json!([
        {"id": 1, "name": "First", "agent": "coder"},
        {"id": 2, "name": "Second", "agent": "coder", "blocked_by": [1]},
    ]);
    create(&mut server, ID, phases);
    works(
        &talk,
        "a1",
        "coder",
        &whole("src/early.rs", "Before its phase was begun"),
    );
    go(&mut server, 1, "in_progress");
    works(&talk, "a2", "coder", &whole("src/first.rs", "First"));
    talk.agent_starts("p1", "a3", "explorer");
    assert_eq!(reports(&talk, "a3", "explorer", "Found it.").stdout, "");
    server.ok(
        "transition_phase",
        json!({"completed_phase_id": 1, "next_phase_id": 2}),
    );
    works(&talk, "a4", "coder", &whole("src/second.rs", "Second"));
    go(&mut server, 2, "completed");
    assert_eq!(
        (files(&lab, 0), files(&lab, 1)),
        (json!(["src/first.rs"]), json!(["src/second.rs"]))
    );
    server.ends_well();
}

/// Whose report it is cannot be told then: nobody's file list may be wrong, and the model sees what was said.
#[test]
fn a_report_that_may_be_of_two_phases_is_shown_and_goes_into_neither() {
    let lab = Lab::new();
    let mut server = Server::agreed(kept(command(&lab)), json!({}));
    let phases = json!([
        {"id": 1, "name": "Cart", "agent": "coder"}, {"id": 2, "name": "Page", "agent": "Coder"},
        {"id": 3, "name": "Text", "agent": "writer"},
    ]);
    create(&mut server, ID, phases);
    for phase in 1..=3 {
        go(&mut server, phase, "in_progress");
    }
    let talk = host(lab.claude("s1"));
    works(&talk, "a1", "coder", &whole("src/either.rs", "Either"));
    works(&talk, "a2", "writer", &whole("docs/cart.md", "Text"));
    let status = server.ok("get_session_status", json!({}));
    assert_eq!(status["handoffs"].as_array().unwrap().len(), 2, "{status:#}");
    go(&mut server, 1, "completed");
    // From here on only one phase has a coder at work.
    works(&talk, "a3", "coder", &whole("src/page.rs", "Page"));
    go(&mut server, 2, "completed");
    go(&mut server, 3, "completed");
    assert_eq!(
        [0, 1, 2].map(|phase| files(&lab, phase)),
        [json!([]), json!(["src/page.rs"]), json!(["docs/cart.md"])]
    );
    server.ends_well();
}

/// Claude Code names the directory that it was started in, and that may lie in the repository.
#[test]
fn a_host_that_was_started_in_a_directory_of_the_repository_hands_over_too() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.project().join(".git")).unwrap();
    let mut server = at_work(&lab);
    let talk = lab.claude("s1").project("project/crates/cart");
    let told = talk.start("startup").context();
    assert!(
        told.contains("Active session: current_phase=1, status=in_progress"),
        "{told}"
    );
    talk.prompt("p1", "Go on");
    works(&talk, "a1", "coder", &whole("src/cart.rs", "Slow"));
    go(&mut server, 1, "completed");
    assert_eq!(files(&lab, 0), json!(["src/cart.rs"]));
    server.ends_well();
}
