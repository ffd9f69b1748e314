//! Any sequence of transitions keeps what must hold, and every file reads back equal.

use bookend::orchestration::active::Active;
use bookend::orchestration::front::{Form, Parts};
use bookend::orchestration::session::{PhaseStatus, Session};
use bookend::orchestration::transition::waits_for;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{ACTIVE, Desk, ID};

/// A call: which phase, where to, whether the user decided, what is next.
type Move = (usize, usize, bool, Vec<usize>, String);

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let text = "[ -~\n\r\t:#'\"\\-é\u{2028}]{0,12}";
    let one = (
        0..5usize,
        0..4usize,
        any::<bool>(),
        prop::collection::vec(0..5usize, 0..3),
        text,
    );
    prop::collection::vec(one, 1..40)
}

/// Everything that JSON can say, with keys and texts that YAML could take for something else.
fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~\n\r\t]{0,20}",
        "\\PC{0,20}",
        "[a-z:#&*!|>'\"%@`{}\\[\\],?-]{0,8}",
        Just("---".to_owned()),
        Just("~".to_owned()),
        Just("null".to_owned()),
        Just("yes".to_owned()),
        Just("<<".to_owned()),
        Just("1e3".to_owned()),
        Just("\u{feff}\u{85}\u{7f}".to_owned()),
        Just("k".repeat(1500)),
    ]
    .boxed();
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i64>().prop_map(|n| json!(n)),
        any::<u64>().prop_map(|n| json!(n)),
        (-1e6..1e6f64).prop_map(|n| json!(n)),
        text.clone().prop_map(|t| json!(t)),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|v| json!(v)),
            prop::collection::vec((text.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn check(session: &Session) -> Result<(), TestCaseError> {
    for phase in &session.phases {
        let standing = phase.standing();
        prop_assert!(standing.is_some());
        let begun = !matches!(standing, Some(PhaseStatus::Pending | PhaseStatus::Skipped));
        prop_assert_eq!(begun, phase.started.is_some(), "{}", phase.id);
        prop_assert_eq!(
            standing == Some(PhaseStatus::Completed),
            phase.completed.is_some()
        );
        prop_assert!(phase.retry_count <= 2);
        prop_assert!(!begun || waits_for(session, phase).is_empty(), "{}", phase.id);
        let mut files = phase.files_created.clone();
        files.dedup();
        prop_assert_eq!(&files, &phase.files_created);
        let retries = phase
            .errors
            .iter()
            .filter(|e| e.message.starts_with("Retry "))
            .count();
        prop_assert_eq!(retries as u64, phase.retry_count);
    }
    let working = session.standing(PhaseStatus::InProgress).next();
    if let Some(working) = working {
        prop_assert_eq!(session.current_phase.as_ref(), Some(working));
    }
    prop_assert_eq!(session.is_done(), session.status == "completed");
    Ok(())
}

proptest! {
    #![proptest_config(crate::properties::cases(40))]

    #[test]
    fn any_sequence_of_transitions_keeps_the_invariants(moves in moves()) {
        let mut desk = Desk::with(bookend::config::Maestro { auto_archive: Some("false".to_owned()), ..Default::default() });
        let phases = json!([{"id": 0, "name": "a"}, {"id": "1", "name": "b", "blocked_by": [0]}, {"id": 2, "name": "c", "blocked_by": [0]},
            {"id": 3, "name": "d", "blocked_by": [1, "2"]}, {"id": 4, "name": "e"}]);
        desk.ok("create_session", json!({"session_id": ID, "task": "t", "phases": phases}));
        let mut accepted = 0u64;
        for (phase, to, user, next, text) in moves {
            let to = ["in_progress", "completed", "failed", "skipped"][to];
            let before = desk.text(ACTIVE);
            let mut params = json!({"phase_id": phase, "to": to, "user_decided": user, "next_phase_ids": next, "files_created": ["f"],
                "agent_output": text, "resolution": text, "token_usage": {"input": 1}});
            if to == "failed" {
                params["error"] = json!({"type": "runtime", "message": format!("x{text}")});
            }
            match desk.service.call("transition_phase", &params) {
                Ok(_) => accepted += 1,
                Err(_) => prop_assert_eq!(&desk.text(ACTIVE), &before),
            }
            let text = desk.text(ACTIVE);
            let parts = Parts::parse(text.as_bytes()).unwrap();
            prop_assert_eq!(parts.render(), text.as_bytes());
            let session: Session = serde_json::from_value(Value::Object(parts.front.clone())).unwrap();
            prop_assert_eq!(serde_json::to_value(&session).unwrap(), Value::Object(parts.front));
            check(&session)?;
            prop_assert_eq!(session.token_usage.total_input, accepted);
            let active = Active::read(text.as_bytes()).unwrap();
            prop_assert_eq!(active.current_phase, session.current_phase.map(|id| id.to_string()));
            prop_assert_eq!(active.status, Some(session.status));
        }
    }
}

proptest! {
    #![proptest_config(crate::properties::cases(400))]

    #[test]
    fn whatever_is_written_reads_back_equal(value in any_json(), mark: bool, crlf: bool, body: Vec<u8>) {
        let front: Map<String, Value> = [("status".to_owned(), json!("x")), ("more".to_owned(), value)].into_iter().collect();
        let parts = Parts { front, body, form: Form { mark, crlf } };
        let again = Parts::parse(&parts.render()).unwrap();
        prop_assert_eq!(&again, &parts);
        prop_assert_eq!(Active::read(&parts.render()).unwrap().status, Some("x".to_owned()));
    }

    #[test]
    fn no_text_breaks_a_reader(text in "(---\n)?[ -~\n]{0,200}(\n---\n)?[ -~\n]{0,40}") {
        let _ = Parts::parse(text.as_bytes());
        let _ = Active::read(text.as_bytes());
    }
}
