//! The reference's own cases about state, each with what is decided here. Numbers as in its report; cases about
//! hooks, agents, its policy and its design gate are none of ours.

use bookend::config::Maestro;
use bookend::orchestration::active::Active;
use bookend::orchestration::path::relative;
use serde_json::json;

use super::{ACTIVE, Desk, ID, tree, two};

#[test]
fn c6_the_front_matter_is_read_not_searched() {
    let active = Active::read(b"---\ncurrent_phase: implementation\nstatus: active\n---").unwrap();
    assert_eq!(
        (active.current_phase.as_deref(), active.status.as_deref()),
        (Some("implementation"), Some("active"))
    );
}

#[test]
fn c24_c25_paths_are_relative_and_do_not_climb() {
    for path in ["/etc/passwd", "foo/../bar", "inside\\..\\outside", "file\0.txt"] {
        assert!(relative(path).is_err(), "{path:?}");
    }
}

#[test]
fn c27_a_workspace_is_made_ready_any_number_of_times() {
    let mut desk = Desk::new();
    let first = desk.ok("initialize_workspace", json!({}));
    assert_eq!(
        (&first["state_dir"], &first["already_existed"]),
        (&json!("docs/maestro"), &json!(false))
    );
    assert_eq!(first["created_directories"].as_array().unwrap().len(), 4);
    let before = tree(&desk.lab.project());
    let second = desk.ok("initialize_workspace", json!({}));
    assert_eq!(
        (&second["already_existed"], &second["created_directories"]),
        (&json!(true), &json!([]))
    );
    assert_eq!(tree(&desk.lab.project()), before);
    assert_eq!(
        desk.text("docs/maestro/state/.gitignore"),
        "active-session.md\narchive/\n"
    );
}

#[test]
fn c29_create_update_transition() {
    let mut desk = Desk::begun(two());
    // Decided otherwise: every phase is pending after create, so that the first is begun by a transition.
    let refused = desk.refused(
        "transition_phase",
        json!({"completed_phase_id": 1, "next_phase_id": 2}),
    );
    assert_eq!(
        (refused.code(), &refused.details()["allowed"]),
        ("invalid_transition", &json!(["in_progress", "skipped"]))
    );
    desk.ok(
        "update_session",
        json!({"session_id": ID, "execution_mode": "sequential"}),
    );
    desk.go(1, "in_progress");
    let answer = desk.ok(
        "transition_phase",
        json!({"session_id": ID, "completed_phase_id": 1, "next_phase_id": 2, "files_created": ["a"]}),
    );
    assert_eq!(answer["started_phase_ids"], json!([2]));
    assert_eq!(answer["session_state_summary"]["completed_phases"], json!([1]));
    let front = desk.front();
    assert_eq!(
        (&front["current_phase"], &front["execution_mode"]),
        (&json!(2), &json!("sequential"))
    );
    assert_eq!(
        (
            &front["phases"][1]["status"],
            &front["phases"][0]["files_created"]
        ),
        (&json!("in_progress"), &json!(["a"]))
    );
}

#[test]
fn c30_a_phase_without_a_name_or_an_id_is_refused_by_name() {
    let mut desk = Desk::new();
    for (phase, parameter) in [
        (json!({"id": 1}), "phases[0].name"),
        (json!({"name": "n"}), "phases[0].id"),
    ] {
        let e = desk.refused(
            "create_session",
            json!({"session_id": ID, "task": "t", "phases": [phase]}),
        );
        assert_eq!(e.details()["parameter"], parameter);
    }
}

#[test]
fn c31_ids_of_words_stay_words_and_numbers_in_text_are_numbers() {
    let mut desk = Desk::begun(
        json!([{"id": "design", "name": "d"}, {"id": "impl", "name": "i", "blocked_by": ["design"]}, {"id": "3", "name": "n"}]),
    );
    desk.go("design", "in_progress");
    desk.ok(
        "transition_phase",
        json!({"completed_phase_id": "design", "next_phase_ids": ["impl", 3, "3"]}),
    );
    let front = desk.front();
    assert_eq!(
        (&front["current_phase"], &front["phases"][2]["id"]),
        (&json!("impl"), &json!(3))
    );
    desk.go("3", "completed");
}

#[test]
fn c33_c34_a_report_with_files_and_no_context_is_taken_and_nothing_is_said_by_none() {
    // Decided otherwise: no report is refused for what it leaves out; keys that are none are.
    let mut desk = Desk::begun(two());
    desk.go(1, "in_progress");
    let e = desk.refused(
        "transition_phase",
        json!({"completed_phase_id": 1, "downstream_context": {"KeyInterfaces": ["x"]}}),
    );
    assert_eq!(e.details()["parameter"], "downstream_context.KeyInterfaces");
    desk.ok(
        "transition_phase",
        json!({"completed_phase_id": 1, "files_created": ["a"],
        "downstream_context": {"warnings": ["None", "N/A", "not applicable", ""], "assumptions": "one"}}),
    );
    let context = desk.front()["phases"][0]["downstream_context"].clone();
    assert_eq!(
        (&context["warnings"], &context["assumptions"]),
        (&json!([]), &json!(["one"]))
    );
    assert!(desk.front()["phases"][0].get("requires_reconciliation").is_none());
}

#[test]
fn c38_no_tool_needs_initialize_workspace() {
    let mut desk = Desk::new();
    assert_eq!(desk.ok("get_session_status", json!({}))["exists"], false);
    assert_eq!(desk.ok("list_sessions", json!({}))["sessions"], json!([]));
    for (tool, params) in [
        ("update_session", json!({"session_id": ID, "current_batch": "1"})),
        ("transition_phase", json!({"phase_id": 1, "to": "in_progress"})),
        ("archive_session", json!({"session_id": ID})),
    ] {
        assert_eq!(desk.refused(tool, params).code(), "no_active_session", "{tool}");
    }
    assert!(!desk.file("docs").exists());
}

#[test]
fn c39_a_workspace_that_is_none_is_refused_and_one_that_is_named_is_remembered() {
    let mut desk = Desk::new();
    let other = desk.lab.path("other");
    std::fs::create_dir(&other).unwrap();
    let cache = desk.lab.path("home/.claude/plugins/x");
    std::fs::create_dir_all(&cache).unwrap();
    let research = desk.lab.path("home/.codex-plugins-research");
    std::fs::create_dir_all(&research).unwrap();
    for bad in [cache, desk.lab.path("nowhere")] {
        assert_eq!(
            desk.refused("initialize_workspace", json!({"workspace_path": bad}))
                .code(),
            "invalid_workspace"
        );
    }
    desk.ok("initialize_workspace", json!({"workspace_path": research}));
    desk.ok(
        "initialize_workspace",
        json!({"workspace_path": other, "state_dir": "own"}),
    );
    desk.ok(
        "create_session",
        json!({"session_id": ID, "task": "t", "phases": two()}),
    );
    assert!(other.join("own/state/active-session.md").exists());
}

#[test]
fn c40_settings_come_from_the_environment_then_the_env_file_then_the_default() {
    for (variable, env_file, retries) in [
        (None, "", 2),
        (None, "MAESTRO_MAX_RETRIES=1", 1),
        (Some("3"), "MAESTRO_MAX_RETRIES=1", 3),
        (Some("many"), "", 2),
    ] {
        let mut desk = Desk::with(Maestro {
            max_retries: variable.map(str::to_owned),
            ..Maestro::default()
        });
        desk.put(".env", env_file);
        desk.ok(
            "create_session",
            json!({"session_id": ID, "task": "t", "phases": two()}),
        );
        desk.go(1, "in_progress");
        for _ in 0..retries {
            desk.go(1, "failed");
            assert_eq!(
                desk.ok("get_session_status", json!({}))["next"]["action"],
                "retry"
            );
            desk.go(1, "in_progress");
        }
        desk.go(1, "failed");
        assert_eq!(
            desk.refused("transition_phase", json!({"phase_id": 1, "to": "in_progress"}))
                .code(),
            "retries_exhausted"
        );
        assert_eq!(
            desk.ok("get_session_status", json!({}))["next"],
            json!(null),
            "{variable:?} {env_file}"
        );
    }
}

#[test]
fn c44_numbers_of_tokens_may_be_text() {
    let mut desk = Desk::begun(two());
    desk.ok(
        "transition_phase",
        json!({"phase_id": 1, "to": "in_progress", "token_usage": {"input": "1", "output": 2}}),
    );
    for bad in ["-1", "2.5", "foo"] {
        let e = desk.refused(
            "transition_phase",
            json!({"phase_id": 1, "to": "completed", "token_usage": {"input": bad}}),
        );
        assert_eq!(e.details()["parameter"], "token_usage.input", "{bad}");
    }
    assert_eq!(desk.front()["token_usage"]["by_agent"]["architect"]["input"], 1);
}

#[test]
fn what_the_reference_lets_pass_is_refused() {
    let mut desk = Desk::begun(two());
    let e = desk.refused(
        "create_session",
        json!({"session_id": "2026-04-10-x", "task": "t", "phases": two()}),
    );
    assert_eq!(e.code(), "session_active");
    for session in [
        "2026-02-30-x",
        "x",
        "2026-04-09",
        "2026-04-09-X",
        "2026-04-09-x_y",
    ] {
        let e = desk.refused(
            "create_session",
            json!({"session_id": session, "task": "t", "phases": two()}),
        );
        assert_eq!(e.details()["parameter"], "session_id", "{session}");
    }
    desk.go(1, "in_progress");
    desk.go(1, "completed");
    assert_eq!(
        desk.refused("transition_phase", json!({"completed_phase_id": 1}))
            .code(),
        "invalid_transition"
    );
    let wrong = json!({"session_id": "2026-04-10-x", "current_batch": "b"});
    assert_eq!(desk.refused("update_session", wrong).code(), "session_mismatch");
    assert_eq!(
        desk.refused("get_session_status", json!({"session_id": "2026-04-10-x"}))
            .code(),
        "session_mismatch"
    );
    let mut desk = Desk::new();
    for (phases, rule) in [
        (
            json!([{"id": 1, "name": "a"}, {"id": "1", "name": "b"}]),
            "duplicate_id",
        ),
        (
            json!([{"id": 1, "name": "a", "blocked_by": [2]}]),
            "dangling_dependency",
        ),
        (
            json!([{"id": 1, "name": "a", "blocked_by": [2]}, {"id": 2, "name": "b", "blocked_by": [1]}]),
            "cyclic_dependency",
        ),
    ] {
        let e = desk.refused(
            "create_session",
            json!({"session_id": ID, "task": "t", "phases": phases}),
        );
        assert_eq!(
            (e.code(), &e.details()["violations"][0]["rule"]),
            ("invalid_plan", &json!(rule))
        );
        let answer = desk.ok("validate_plan", json!({"plan": {"phases": phases}}));
        assert_eq!(
            (&answer["valid"], &answer["violations"][0]["rule"]),
            (&json!(false), &json!(rule))
        );
    }
    assert!(!desk.file(ACTIVE).exists());
    let answer = desk.ok("validate_plan", json!({"plan": {"phases": two()}}));
    assert_eq!(
        (&answer["valid"], &answer["batches"]),
        (&json!(true), &json!([[1], [2]]))
    );
}
