//! What is archived, when, and what never happens to an archive.

use bookend::config::Maestro;
use serde_json::json;

use super::{ACTIVE, Desk, ID, two};

const ARCHIVE: &str = "docs/maestro/state/archive/2026-04-09-add-jwt.md";

fn with_documents(settings: Maestro) -> Desk {
    let mut desk = Desk::with(settings);
    desk.put("docs/maestro/plans/design.md", "the design");
    desk.put("docs/maestro/plans/plan.md", "the plan");
    desk.ok("create_session", json!({"session_id": ID, "task": "Add JWT", "phases": two(),
        "design_document": "docs/maestro/plans/design.md", "implementation_plan": "docs/maestro/plans/plan.md"}));
    desk
}

fn never() -> Maestro {
    Maestro {
        auto_archive: Some("false".to_owned()),
        ..Maestro::default()
    }
}

fn complete(desk: &mut Desk) -> serde_json::Value {
    desk.go(1, "in_progress");
    desk.ok(
        "transition_phase",
        json!({"completed_phase_id": 1, "next_phase_id": 2}),
    );
    desk.go(2, "completed")
}

#[test]
fn the_last_phase_archives_the_session_with_its_documents() {
    let mut desk = with_documents(Maestro::default());
    let answer = complete(&mut desk);
    assert_eq!(answer["archived"]["archive_path"], ARCHIVE);
    assert_eq!(
        answer["archived"]["archived_files"],
        json!([
            "docs/maestro/plans/archive/design.md",
            "docs/maestro/plans/archive/plan.md"
        ])
    );
    assert!(!desk.file(ACTIVE).exists() && !desk.file("docs/maestro/plans/design.md").exists());
    assert_eq!(desk.text("docs/maestro/plans/archive/plan.md"), "the plan");
    let text = desk.text(ARCHIVE);
    assert!(
        text.contains("status: \"completed\"")
            && text.contains("design_document: \"docs/maestro/plans/archive/design.md\""),
        "{text}"
    );
    let again = desk.ok("archive_session", json!({"session_id": ID}));
    assert_eq!(
        (&again["already_archived"], &again["archive_path"]),
        (&json!(true), &json!(ARCHIVE))
    );
    assert_eq!(desk.text(ARCHIVE), text);
    let status = desk.ok("get_session_status", json!({"session_id": ID}));
    assert_eq!(
        (&status["exists"], &status["archive_path"]),
        (&json!(false), &json!(ARCHIVE))
    );
    let again = desk.refused(
        "create_session",
        json!({"session_id": ID, "task": "t", "phases": two()}),
    );
    assert_eq!(again.code(), "already_archived");
    let list = desk.ok("list_sessions", json!({}));
    assert_eq!(
        (
            &list["total_count"],
            &list["sessions"][0]["archived"],
            &list["sessions"][0]["completed_phases"]
        ),
        (&json!(1), &json!(true), &json!(2))
    );
}

#[test]
fn without_auto_archive_the_user_is_asked() {
    for (environment, env_file) in [
        (never(), ""),
        (Maestro::default(), "MAESTRO_AUTO_ARCHIVE=\"false\""),
    ] {
        let mut desk = with_documents(environment);
        desk.put(".env", env_file);
        let answer = complete(&mut desk);
        assert_eq!(
            answer["message"],
            "Session complete. Auto-archive is disabled. Would you like to archive this session?"
        );
        assert!(desk.file(ACTIVE).exists());
        let refused = desk.refused(
            "create_session",
            json!({"session_id": "2026-04-10-x", "task": "t", "phases": two()}),
        );
        assert_eq!(
            (refused.code(), &refused.details()["status"]),
            ("session_active", &json!("completed"))
        );
        let done = desk.ok("archive_session", json!({"session_id": ID}));
        assert_eq!(done["already_archived"], false);
        desk.ok(
            "create_session",
            json!({"session_id": "2026-04-10-x", "task": "t", "phases": two()}),
        );
        let before = desk.ok("archive_session", json!({"session_id": ID}));
        assert_eq!(
            before["already_archived"], true,
            "also while another one is active"
        );
        let wrong = desk.refused("archive_session", json!({"session_id": "2026-04-11-x"}));
        assert_eq!(wrong.code(), "session_mismatch");
    }
}

#[test]
fn an_unfinished_session_is_archived_only_by_force_and_with_a_reason() {
    let mut desk = with_documents(Maestro::default());
    desk.go(1, "in_progress");
    let refused = desk.refused("archive_session", json!({"session_id": ID}));
    assert_eq!(
        (refused.code(), &refused.details()["phases"]),
        ("phases_incomplete", &json!([1, 2]))
    );
    let refused = desk.refused("archive_session", json!({"session_id": ID, "force": true}));
    assert_eq!(
        (refused.code(), &refused.details()["parameter"]),
        ("invalid_parameter", &json!("reason"))
    );
    desk.ok(
        "archive_session",
        json!({"session_id": ID, "force": true, "reason": "the user begins anew"}),
    );
    let text = desk.text(ARCHIVE);
    assert!(
        text.contains("status: \"archived\"") && text.contains("reason: \"the user begins anew\""),
        "{text}"
    );
    assert_eq!(
        desk.refused("archive_session", json!({"session_id": "x"})).code(),
        "no_active_session"
    );
}

#[test]
fn no_archive_and_no_document_is_ever_overwritten() {
    let mut desk = with_documents(never());
    desk.put("docs/maestro/plans/archive/design.md", "an older design");
    complete(&mut desk);
    desk.put(ARCHIVE, "an older archive");
    assert_eq!(
        desk.refused("archive_session", json!({"session_id": ID})).code(),
        "already_archived"
    );
    std::fs::remove_file(desk.file(ARCHIVE)).unwrap();
    let done = desk.ok("archive_session", json!({"session_id": ID}));
    assert_eq!(
        done["archived_files"][0],
        "docs/maestro/plans/archive/2026-04-09-add-jwt-design.md"
    );
    assert_eq!(
        desk.text("docs/maestro/plans/archive/design.md"),
        "an older design"
    );
    assert!(
        desk.text(ARCHIVE)
            .contains("plans/archive/2026-04-09-add-jwt-design.md")
    );
    // With auto-archive and an archive in its place, the transition is done all the same.
    let mut desk = with_documents(Maestro::default());
    desk.put(ARCHIVE, "an older archive");
    let answer = complete(&mut desk);
    assert!(
        answer.get("archived").is_none() && answer["session_complete"] == true,
        "{answer}"
    );
    assert_eq!(desk.text(ARCHIVE), "an older archive");
}

#[test]
fn documents_that_lie_elsewhere_stay_and_nothing_is_moved_because_a_file_says_so() {
    let mut desk = Desk::with(never());
    for name in [
        "docs/design.md",
        "docs/maestro/plans/deep/plan.md",
        "docs/maestro/plans/mine.md",
    ] {
        desk.put(name, "x");
    }
    desk.ok(
        "create_session",
        json!({"session_id": ID, "task": "t", "phases": two(),
        "design_document": "docs/design.md", "implementation_plan": "docs/maestro/plans/deep/plan.md"}),
    );
    complete(&mut desk);
    // A front matter that was tampered with, as if archiving had been cut off.
    let moves = "archive:\n  at: \"x\"\n  reason: null\n  files:\n    - from: docs/maestro/plans/mine.md\n      to: ../../out.md\n    \
        - from: ../secret\n      to: docs/maestro/plans/archive/secret\n    - from: docs/design.md\n      to: docs/maestro/plans/archive/design.md\n";
    let text = desk
        .text(ACTIVE)
        .replace("\ntoken_usage:", &format!("{moves}\ntoken_usage:"));
    desk.put(ACTIVE, text);
    let done = desk.ok("archive_session", json!({"session_id": ID}));
    assert_eq!(done["archived_files"], json!([]));
    for name in [
        "docs/design.md",
        "docs/maestro/plans/deep/plan.md",
        "docs/maestro/plans/mine.md",
    ] {
        assert_eq!(desk.text(name), "x");
    }
}

#[test]
fn an_archiving_that_was_cut_off_is_finished_by_whatever_writes_next() {
    for tool in [
        "archive_session",
        "create_session",
        "transition_phase",
        "update_session",
    ] {
        let mut desk = with_documents(never());
        complete(&mut desk);
        let files = "  files:\n    - from: docs/maestro/plans/design.md\n      to: docs/maestro/plans/archive/design.md\n    \
            - from: docs/maestro/plans/plan.md\n      to: docs/maestro/plans/archive/plan.md\n";
        let text = desk.text(ACTIVE).replace(
            "\ntoken_usage:",
            &format!("archive:\n  at: x\n  reason: null\n{files}\ntoken_usage:"),
        );
        desk.put(ACTIVE, text);
        // The first document had been moved.
        std::fs::rename(
            desk.file("docs/maestro/plans/design.md"),
            desk.file("docs/maestro/plans/archive/design.md"),
        )
        .unwrap();
        let status = desk.ok("get_session_status", json!({}));
        assert_eq!(status["archiving"], true);
        assert!(desk.file(ACTIVE).exists(), "looking changes nothing");
        let params = match tool {
            "archive_session" => json!({"session_id": ID}),
            "create_session" => json!({"session_id": "2026-04-10-x", "task": "t", "phases": two()}),
            "update_session" => json!({"session_id": ID, "current_batch": "b"}),
            _ => json!({"phase_id": 2, "to": "completed"}),
        };
        match (tool, desk.service.call(tool, &params)) {
            ("archive_session" | "create_session", Ok(answer)) => assert_eq!(answer["success"], true),
            ("transition_phase" | "update_session", Err(e)) => assert_eq!(e.code(), "no_active_session"),
            (_, other) => panic!("{tool}: {other:?}"),
        }
        assert!(
            desk.file(ARCHIVE).exists() && desk.file("docs/maestro/plans/archive/plan.md").exists(),
            "{tool}"
        );
        assert!(!desk.file("docs/maestro/plans/plan.md").exists(), "{tool}");
    }
}
