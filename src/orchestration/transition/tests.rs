//! Every rule of the table.

use serde_json::{Value, json};

use super::*;

const AT: &str = "2026-04-09T12:00:00.000Z";

/// A session whose phases stand as given; each waits for the ids behind it.
fn session(phases: Value) -> Session {
    serde_json::from_value(json!({"session_id": "2026-04-09-x", "status": "in_progress", "phases": phases}))
        .unwrap()
}

fn step(phase: &str, to: PhaseStatus) -> Step {
    Step {
        phase: PhaseId::new(phase),
        to,
        user_decided: false,
        error: None,
        resolution: None,
        files: Files::default(),
        context: Context::default(),
        tokens: None,
        next: Vec::new(),
        batch: None,
    }
}

fn failure() -> Option<Failure> {
    Some(Failure {
        agent: None,
        kind: "runtime".to_owned(),
        message: "it broke".to_owned(),
    })
}

fn code(result: &Result<Session, Error>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(e) => e.code(),
    }
}

#[test]
fn each_pair_of_statuses_is_allowed_or_refused_by_name() {
    use PhaseStatus::{Completed, Failed, InProgress, Pending, Skipped};
    for from in PhaseStatus::ALL {
        for to in PhaseStatus::ALL {
            for user in [false, true] {
                let mut step = step("1", to);
                step.user_decided = user;
                let wanted = match (from, to) {
                    (Pending | Failed, InProgress) | (InProgress, Completed | Failed) => "ok",
                    (Pending, Skipped) if user => "ok",
                    (Pending, Skipped) => "user_decision_required",
                    _ => "invalid_transition",
                };
                let before = session(json!([{"id": 1, "status": from.word()}]));
                let result = apply(&before, &step, 2, AT);
                assert_eq!(code(&result), wanted, "{from:?} to {to:?}, user: {user}");
                if let Ok(after) = result {
                    assert_eq!(after.phases[0].standing(), Some(to));
                    assert_eq!(after.updated, AT);
                }
            }
        }
    }
    let odd = apply(
        &session(json!([{"id": 1, "status": "done"}])),
        &step("1", Completed),
        2,
        AT,
    );
    assert_eq!(code(&odd), "invalid_transition");
    let named = odd.unwrap_err();
    assert!(named.message().contains("done"), "{}", named.message());
    let refused = apply(&session(json!([{"id": 1}])), &step("1", Completed), 2, AT).unwrap_err();
    assert_eq!(refused.details()["allowed"], json!(["in_progress", "skipped"]));
}

#[test]
fn a_phase_begins_only_when_all_before_it_have_ended() {
    for (first, second, by, wanted) in [
        ("completed", "skipped", json!([1, "2"]), "ok"),
        (
            "completed",
            "in_progress",
            json!([1, 2]),
            "dependencies_incomplete",
        ),
        ("completed", "failed", json!([2]), "dependencies_incomplete"),
        ("completed", "pending", json!(["2"]), "dependencies_incomplete"),
        ("completed", "completed", json!([9]), "dependencies_incomplete"),
        ("pending", "pending", json!([]), "ok"),
    ] {
        let phases =
            json!([{"id": 1, "status": first}, {"id": "2", "status": second}, {"id": 3, "blocked_by": by}]);
        for status in ["pending", "failed"] {
            let mut phases = phases.clone();
            phases[2]["status"] = json!(status);
            let result = apply(&session(phases), &step("3", PhaseStatus::InProgress), 2, AT);
            assert_eq!(code(&result), wanted, "{first} {second} {by} {status}");
        }
        let mut through = step("1", PhaseStatus::Completed);
        through.next = vec![PhaseId::new("3")];
        let mut phases = phases;
        phases[0]["status"] = json!("in_progress");
        let result = apply(&session(phases), &through, 2, AT);
        assert_eq!(code(&result), wanted, "as a next one: {second} {by}");
    }
}

#[test]
fn retries_are_counted_recorded_and_bounded() {
    let mut now = session(json!([{"id": 1, "agents": ["coder"], "status": "in_progress"}]));
    for retry in 1..=2 {
        let mut failed = step("1", PhaseStatus::Failed);
        failed.error = failure();
        now = apply(&now, &failed, 2, AT).unwrap();
        assert_eq!(now.status, "in_progress", "the session goes on");
        let mut again = step("1", PhaseStatus::InProgress);
        again.resolution = Some(format!("tried {retry}"));
        now = apply(&now, &again, 2, AT).unwrap();
        let phase = &now.phases[0];
        let last = phase.errors.last().unwrap();
        assert_eq!((phase.retry_count, phase.errors.len() as u64), (retry, retry * 2));
        assert_eq!(
            (last.resolution.as_str(), last.agent.as_str(), last.kind.as_str()),
            (format!("tried {retry}").as_str(), "coder", "runtime")
        );
        assert!(
            last.message.starts_with(&format!("Retry {retry} of 2: ")),
            "{}",
            last.message
        );
    }
    let mut failed = step("1", PhaseStatus::Failed);
    failed.error = failure();
    now = apply(&now, &failed, 2, AT).unwrap();
    let again = step("1", PhaseStatus::InProgress);
    assert_eq!(code(&apply(&now, &again, 2, AT)), "retries_exhausted");
    assert_eq!(
        code(&apply(&now, &again, 3, AT)),
        "ok",
        "MAESTRO_MAX_RETRIES allows more"
    );
    assert_eq!(now.phases[0].errors.last().unwrap().resolution, "pending");
    let mut none = session(json!([{"id": 1, "status": "failed"}]));
    assert_eq!(code(&apply(&none, &again, 0, AT)), "retries_exhausted");
    none = apply(&none, &again, 1, AT).unwrap();
    assert_eq!(none.phases[0].errors.len(), 1, "also without an error before it");
}

#[test]
fn errors_are_resolved_when_the_phase_is_completed() {
    let before = session(json!([{"id": 1, "status": "in_progress", "errors": [
        {"type": "runtime", "message": "a", "resolution": "pending"}, {"message": "b", "resolution": "mended"},
    ]}]));
    let mut done = step("1", PhaseStatus::Completed);
    done.resolution = Some("rewrote it".to_owned());
    let errors = apply(&before, &done, 2, AT).unwrap().phases.remove(0).errors;
    let said: Vec<_> = errors
        .iter()
        .map(|e| (e.resolution.as_str(), e.resolved))
        .collect();
    assert_eq!(said, [("rewrote it", true), ("mended", true)]);
}

#[test]
fn files_are_appended_once_each_and_context_is_merged() {
    let mut now = session(json!([{
        "id": 1, "status": "in_progress", "files_created": ["a"], "requires_reconciliation": true,
        "downstream_context": {"warnings": ["w"], "more": 1},
    }]));
    let texts = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<String>>();
    let mut failed = step("1", PhaseStatus::Failed);
    failed.error = failure();
    failed.files = Files {
        created: texts(&["a", "b", "b"]),
        modified: texts(&["c"]),
        deleted: texts(&["d"]),
    };
    failed.context.warnings = vec![json!("w"), json!("x")];
    failed.context.assumptions = vec![json!("s")];
    now = apply(&now, &failed, 2, AT).unwrap();
    let phase = &now.phases[0];
    assert_eq!(
        json!([phase.files_created, phase.files_modified, phase.files_deleted]),
        json!([["a", "b"], ["c"], ["d"]])
    );
    let context = &phase.downstream_context;
    assert_eq!(
        json!([context.warnings, context.assumptions]),
        json!([["w", "x"], ["s"]])
    );
    assert_eq!(context.rest["more"], 1);
    assert_eq!(phase.requires_reconciliation, Some(false));
}

#[test]
fn tokens_are_added_to_the_totals_and_by_agent_also_to_numbers_in_text() {
    let mut before = session(json!([{"id": 1, "agents": ["coder"]}]));
    before.token_usage = serde_json::from_value(json!({
        "total_input": "07", "total_output": 1, "by_agent": {"coder": {"input": "7", "own": true}, "odd": 3},
    }))
    .unwrap();
    let mut begun = step("1", PhaseStatus::InProgress);
    begun.tokens = Some(Tokens {
        input: 3,
        output: 4,
        cached: 5,
        agent: None,
    });
    let after = apply(&before, &begun, 2, AT).unwrap().token_usage;
    assert_eq!(
        (after.total_input, after.total_output, after.total_cached),
        (10, 5, 5)
    );
    assert_eq!(
        after.by_agent["coder"],
        json!({"input": 10, "own": true, "output": 4, "cached": 5})
    );
    begun.tokens.as_mut().unwrap().agent = Some("odd".to_owned());
    let after = apply(&before, &begun, 2, AT).unwrap().token_usage;
    assert_eq!(
        after.by_agent["odd"],
        json!({"input": 3, "output": 4, "cached": 5})
    );
    before.token_usage.total_input = u64::MAX;
    assert_eq!(
        apply(&before, &begun, 2, AT).unwrap().token_usage.total_input,
        u64::MAX
    );
}

#[test]
fn the_current_phase_is_the_earliest_in_progress_else_the_last_that_ended() {
    let mut now = session(json!([{"id": 1, "status": "in_progress"}, {"id": 2}, {"id": 3}]));
    let mut go = |phase: &str, to: PhaseStatus, next: &[&str]| {
        let mut step = step(phase, to);
        step.next = next.iter().map(|id| PhaseId::new(id)).collect();
        step.user_decided = to == PhaseStatus::Skipped;
        now = apply(&now, &step, 2, AT).unwrap();
        (now.current_phase.clone().unwrap().to_string(), now.status.clone())
    };
    let wanted = |phase: &str, status: &str| (phase.to_owned(), status.to_owned());
    assert_eq!(go("2", PhaseStatus::InProgress, &[]), wanted("1", "in_progress"));
    assert_eq!(
        go("1", PhaseStatus::Completed, &["3", "3"]),
        wanted("2", "in_progress")
    );
    assert_eq!(go("3", PhaseStatus::Completed, &[]), wanted("2", "in_progress"));
    assert_eq!(go("2", PhaseStatus::Completed, &[]), wanted("2", "completed"));
}

#[test]
fn a_step_is_done_whole_or_not_at_all() {
    let before = session(
        json!([{"id": 1, "status": "in_progress"}, {"id": 2}, {"id": 3, "blocked_by": [2]}, {"id": 4, "status": "failed"}]),
    );
    for (next, wanted) in [
        ("3", "dependencies_incomplete"),
        ("9", "phase_not_found"),
        ("1", "invalid_transition"),
        ("4", "invalid_transition"),
    ] {
        let mut done = step("1", PhaseStatus::Completed);
        done.next = vec![PhaseId::new("2"), PhaseId::new(next)];
        assert_eq!(code(&apply(&before, &done, 2, AT)), wanted, "{next}");
    }
    assert_eq!(
        code(&apply(&before, &step("9", PhaseStatus::Completed), 2, AT)),
        "phase_not_found"
    );
    assert_eq!(
        code(&apply(&before, &step("01", PhaseStatus::Completed), 2, AT)),
        "phase_not_found"
    );
}
