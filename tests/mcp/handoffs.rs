//! What subagents hand over reaches the phases of their orchestration: the hooks write it into the session log, and
//! the tools find it there. Through the real executables on both sides.

use std::process::Command;

use bookend::orchestration::front::Parts;
use serde_json::{Value, json};

use super::{Server, command};
use crate::harness::{Answer, Lab};
use crate::orchestration::tree;
use crate::talk::Talk;

const ID: &str = "2026-11-30-cart";
const ACTIVE: &str = "docs/maestro/state/active-session.md";
const HALF: &str = "## Task Report\n- Files Created: [src/half.rs]\n";

/// A report that is whole, of an agent that made that file.
fn whole(file: &str, warning: &str) -> String {
    format!(
        "Done.\n\n## Task Report\n- Files Created: [{file}]\n- Files Modified: [src/lib.rs]\n- Files Deleted: none\n\n\
         ## Downstream Context\n- Key Interfaces Introduced: [Cart::add]\n- Patterns Established: none\n\
         - Integration Points: [src/lib.rs]\n- Assumptions: [One currency]\n- Warnings: [{warning}]\n"
    )
}

/// Two phases beside each other, each with an agent of its own.
fn two() -> Value {
    json!([
        {"id": 1, "name": "Cart", "agents": ["coder"], "parallel": true},
        {"id": 2, "name": "Page", "agents": ["design_lead"], "parallel": true},
    ])
}

fn create(server: &mut Server, id: &str, phases: Value) {
    let session = json!({"session_id": id, "task": "Make a cart", "phases": phases});
    server.ok("create_session", session);
}

fn go(server: &mut Server, phase: u64, to: &str) -> Value {
    server.ok("transition_phase", json!({"phase_id": phase, "to": to}))
}

/// A session with both phases at work, in a project whose finished sessions stay where they are.
fn at_work(lab: &Lab) -> Server {
    let mut server = Server::agreed(kept(command(lab)), json!({}));
    create(&mut server, ID, two());
    go(&mut server, 1, "in_progress");
    go(&mut server, 2, "in_progress");
    server
}

fn kept(mut command: Command) -> Command {
    command.env("MAESTRO_AUTO_ARCHIVE", "false");
    command
}

/// A host that is in a turn.
fn host(talk: Talk<'_>) -> Talk<'_> {
    talk.start("startup");
    talk.prompt("p1", "Go on");
    talk
}

fn reports(talk: &Talk<'_>, id: &str, kind: &str, message: &str) -> Answer {
    let fields =
        json!({"prompt_id": "p1", "agent_id": id, "agent_type": kind, "last_assistant_message": message});
    talk.says("SubagentStop", fields)
}

/// A report that its host says was sent back before.
fn reports_again(talk: &Talk<'_>, id: &str, kind: &str, message: &str) {
    let fields = json!({"prompt_id": "p1", "agent_id": id, "agent_type": kind, "stop_hook_active": true,
                        "last_assistant_message": message});
    let answer = talk.says("SubagentStop", fields);
    assert_eq!(answer.stdout, "", "once is enough");
}

/// A subagent from its start to a report that is taken.
fn works(talk: &Talk<'_>, id: &str, kind: &str, message: &str) {
    talk.agent_starts("p1", id, kind);
    assert_eq!(reports(talk, id, kind, message).stdout, "", "it is not sent back");
}

fn front(lab: &Lab) -> Value {
    let text = std::fs::read(lab.project().join(ACTIVE)).unwrap();
    Value::Object(Parts::parse(&text).unwrap().front)
}

fn files(lab: &Lab, phase: usize) -> Value {
    front(lab)["phases"][phase]["files_created"].clone()
}

#[test]
fn two_agents_at_once_fill_their_phases_though_one_report_is_sent_back_first() {
    let lab = Lab::new();
    let mut server = at_work(&lab);
    let talk = host(lab.claude("s1"));
    talk.agent_starts("p1", "a1", "coder");
    talk.agent_starts("p1", "a2", "maestro:design-lead");
    let sent_back = reports(&talk, "a1", "coder", HALF).json();
    assert_eq!(sent_back["decision"], "block", "{sent_back}");
    assert!(
        sent_back["reason"]
            .as_str()
            .unwrap()
            .contains("## Downstream Context")
    );
    let page = whole("src/page.rs", "Narrow screens");
    assert_eq!(reports(&talk, "a2", "maestro:design-lead", &page).stdout, "");
    assert_eq!(
        reports(&talk, "a1", "coder", &whole("src/cart.rs", "Slow")).stdout,
        ""
    );

    let status = server.ok("get_session_status", json!({}));
    let handoffs = status["handoffs"].as_array().unwrap();
    let of: Vec<_> = handoffs
        .iter()
        .map(|h| (&h["agent"], &h["files_created"], &h["requires_reconciliation"]))
        .collect();
    assert_eq!(
        of,
        [
            (&json!("design_lead"), &json!(["src/page.rs"]), &json!(false)),
            (&json!("coder"), &json!(["src/cart.rs"]), &json!(false)),
        ],
        "{status:#}"
    );
    assert_eq!(handoffs[1]["agent_id"], "a1");

    let done = go(&mut server, 1, "completed");
    assert_eq!(done["phase"]["requires_reconciliation"], false, "{done:#}");
    assert_eq!(go(&mut server, 2, "completed")["session_complete"], true);
    for (phase, file, warning) in [(0, "src/cart.rs", "Slow"), (1, "src/page.rs", "Narrow screens")] {
        let phase = &front(&lab)["phases"][phase];
        assert_eq!(phase["files_created"], json!([file]), "{phase:#}");
        assert_eq!(phase["files_modified"], json!(["src/lib.rs"]));
        assert_eq!(phase["files_deleted"], json!([]));
        let context = json!({
            "key_interfaces_introduced": ["Cart::add"], "patterns_established": [],
            "integration_points": ["src/lib.rs"], "assumptions": ["One currency"], "warnings": [warning],
        });
        assert_eq!(phase["downstream_context"], context, "{phase:#}");
    }
    let text = std::fs::read_to_string(lab.project().join(ACTIVE)).unwrap();
    assert!(
        text.contains("### Files Changed\n- Created: src/page.rs\n- Modified: src/lib.rs\n"),
        "{text}"
    );
    assert!(!text.contains("half.rs"), "{text}");
    server.ends_well();
}

#[test]
fn in_strict_mode_a_report_that_is_not_whole_marks_the_phase_until_its_files_are_given() {
    for given in [false, true] {
        let lab = Lab::new();
        let mut server = at_work(&lab);
        let talk = host(lab.claude("s1").env("MAESTRO_VALIDATION_STRICTNESS", "strict"));
        talk.agent_starts("p1", "a1", "coder");
        assert_eq!(reports(&talk, "a1", "coder", HALF).json()["decision"], "block");
        reports_again(&talk, "a1", "coder", HALF);
        works(
            &talk,
            "a2",
            "design_lead",
            &whole("src/page.rs", "None to speak of"),
        );
        let status = server.ok("get_session_status", json!({}));
        let marks: Vec<_> = status["phases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| &p["requires_reconciliation"])
            .collect();
        assert_eq!(marks, [true, false], "{status:#}");
        assert_eq!(
            status["handoffs"][0]["missing_headings"],
            json!(["Downstream Context"])
        );
        let mut step = json!({"phase_id": 1, "to": "completed"});
        if given {
            step["files_modified"] = json!(["src/checkout.rs"]);
        }
        let done = server.ok("transition_phase", step);
        assert_eq!(
            done["phase"]["requires_reconciliation"],
            json!(!given),
            "{done:#}"
        );
        assert_eq!(files(&lab, 0), json!(["src/half.rs"]), "what it said is kept");
        let status = server.ok("get_session_status", json!({}));
        assert_eq!(status["phases"][0]["requires_reconciliation"], json!(!given));
        assert_eq!(
            go(&mut server, 2, "completed")["phase"]["requires_reconciliation"],
            false
        );
        server.ends_well();
    }
}

/// The mark goes when the agent says it again, whole.
#[test]
fn an_agent_that_reports_once_more_and_whole_takes_its_mark_back() {
    let lab = Lab::new();
    let mut server = at_work(&lab);
    let talk = host(lab.claude("s1").env("MAESTRO_VALIDATION_STRICTNESS", "strict"));
    talk.agent_starts("p1", "a1", "coder");
    reports(&talk, "a1", "coder", HALF);
    reports_again(&talk, "a1", "coder", HALF);
    works(&talk, "a3", "coder", &whole("src/cart.rs", "Slow"));
    let done = go(&mut server, 1, "completed");
    assert_eq!(done["phase"]["requires_reconciliation"], false, "{done:#}");
    assert_eq!(files(&lab, 0), json!(["src/half.rs", "src/cart.rs"]));
    server.ends_well();
}

#[test]
fn a_secret_in_a_report_is_in_no_file_and_no_answer() {
    let lab = Lab::new();
    let mut server = at_work(&lab);
    let talk = host(lab.claude("s1"));
    let key = format!("ghp_{}", "a1B2".repeat(9));
    works(
        &talk,
        "a1",
        "coder",
        &whole(&format!("src/{key}.rs"), &format!("The key is {key}")),
    );
    let status = server.ok("get_session_status", json!({}));
    assert!(
        status.to_string().contains("[REDACTED:") && !status.to_string().contains(&key),
        "{status:#}"
    );
    go(&mut server, 1, "completed");
    assert!(front(&lab)["phases"][0].to_string().contains("[REDACTED:"));
    for root in [lab.project(), lab.data_dir(), lab.hooks_dir()] {
        for (name, bytes) in tree(&root) {
            let found = name.contains(&key) || String::from_utf8_lossy(&bytes).contains(&key);
            assert!(!found, "{name}");
        }
    }
    server.ends_well();
}

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

#[test]
fn without_a_data_directory_or_with_a_broken_one_the_tools_go_on_without_reports() {
    let lab = Lab::new();
    std::fs::write(lab.path("file"), "in the way").unwrap();
    for dir in [lab.path("none"), lab.path("file")] {
        let mut command = kept(command(&lab));
        command.env("BOOKEND_DATA_DIR", &dir);
        let mut server = Server::agreed(command, json!({}));
        create(&mut server, ID, two());
        go(&mut server, 1, "in_progress");
        let status = server.ok("get_session_status", json!({}));
        assert_eq!(status.get("handoffs"), None, "{status:#}");
        let step = json!({"phase_id": 1, "to": "completed", "files_created": ["src/own.rs"]});
        server.ok("transition_phase", step);
        assert_eq!(files(&lab, 0), json!(["src/own.rs"]));
        server.ends_well();
        assert!(!dir.is_dir(), "reading makes no data directory");
        std::fs::remove_dir_all(lab.project().join("docs")).unwrap();
    }
}
