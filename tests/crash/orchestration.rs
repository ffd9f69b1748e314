//! The orchestration state, killed or refused at every system call: a session is as it was or as it was to be,
//! an archive is whole, the next call completes or says clearly why not.

use bookend::config::Maestro;
use bookend::orchestration::Service;
use serde_json::{Value, json};

use super::command::{Command, completes, input, kill_each, refuse_each, trace};
use super::strace::{Snapshot, can_trace, one_sweep};
use crate::harness::Lab;
use crate::orchestration::crowd::CALLS;
use crate::orchestration::{ACTIVE, ID, put, tree, two};

const ARCHIVED: &str = "docs/maestro/state/archive/2026-04-09-add-jwt.md";

fn service(lab: &Lab) -> Service {
    Service::new(Maestro::default(), &lab.project())
}

fn create() -> Value {
    json!({"session_id": ID, "task": "Add JWT", "phases": two(),
        "design_document": "docs/maestro/plans/design.md", "implementation_plan": "docs/maestro/plans/plan.md"})
}

/// What the first phase reports.
fn report() -> Value {
    json!({"completed_phase_id": 1, "next_phase_id": 2, "files_created": ["a"], "token_usage": {"input": 1}})
}

fn call(lab: &Lab, tool: &str, params: Value) -> Result<Value, &'static str> {
    service(lab).call(tool, &params).map_err(|e| e.code())
}

fn documents(lab: &Lab) {
    for name in ["design.md", "plan.md"] {
        put(&lab.project().join("docs/maestro/plans").join(name), name);
    }
}

/// The process that is stopped makes this call.
fn will_call(lab: &Lab, tool: &str, params: &Value) {
    put(&input(lab), json!([tool, params]).to_string());
}

fn begun(lab: &Lab) {
    documents(lab);
    call(lab, "create_session", create()).unwrap();
    call(
        lab,
        "transition_phase",
        json!({"phase_id": 1, "to": "in_progress"}),
    )
    .unwrap();
}

fn almost_done(lab: &Lab) {
    begun(lab);
    call(lab, "transition_phase", report()).unwrap();
}

fn front(lab: &Lab) -> Value {
    let bytes = std::fs::read(lab.project().join(ACTIVE)).unwrap();
    Value::Object(bookend::orchestration::front::Parts::parse(&bytes).unwrap().front)
}

fn names(lab: &Lab, below: &str) -> Vec<String> {
    let all = tree(&lab.project().join("docs/maestro").join(below)).into_keys();
    all.filter(|name| !name.is_empty()).collect()
}

fn assert_archived(lab: &Lab, place: &str) {
    assert_eq!(
        names(lab, "state"),
        [".gitignore", "archive", "archive/2026-04-09-add-jwt.md"],
        "{place}"
    );
    assert_eq!(
        names(lab, "plans"),
        ["archive", "archive/design.md", "archive/plan.md"],
        "{place}"
    );
    let text = std::fs::read_to_string(lab.project().join(ARCHIVED)).unwrap();
    assert!(
        text.contains("plans/archive/plan.md\"") && text.contains("## Phase 1: Design ✓"),
        "{place}: {text}"
    );
}

const CREATE: Command = Command {
    name: "create_session",
    prepare: |lab| {
        documents(lab);
        will_call(lab, "create_session", &create());
    },
    arguments: &CALLS,
    holds: |lab, _, _, place| {
        let again = call(lab, "create_session", create());
        assert!(
            matches!(again, Ok(_) | Err("session_active")),
            "{place}: {again:?}"
        );
        let status = call(lab, "get_session_status", json!({})).unwrap();
        assert_eq!(
            (&status["current_phase"], &status["total_phases"]),
            (&json!(1), &json!(2)),
            "{place}"
        );
        // (A process that was refused .gitignore had said so.)
        assert_eq!(
            names(lab, "state"),
            [".gitignore", "active-session.md", "archive"],
            "{place}"
        );
        assert_eq!(call(lab, "create_session", create()), Err("session_active"));
    },
};

const TRANSITION: Command = Command {
    name: "transition_phase",
    prepare: |lab| {
        begun(lab);
        will_call(lab, "transition_phase", &report());
    },
    arguments: &CALLS,
    holds: |lab, before, _, place| {
        let found = std::fs::read(lab.project().join(ACTIVE)).unwrap();
        let is_old = before.file(&lab.project().join(ACTIVE)) == Some(found.as_slice());
        let again = call(lab, "transition_phase", report());
        assert!(
            if is_old {
                again.is_ok()
            } else {
                again == Err("invalid_transition")
            },
            "{place}: {again:?}"
        );
        let front = front(lab);
        let first = &front["phases"][0];
        assert_eq!(
            (&first["status"], &first["files_created"]),
            (&json!("completed"), &json!(["a"])),
            "{place}"
        );
        assert_eq!(
            (&front["current_phase"], &front["token_usage"]["total_input"]),
            (&json!(2), &json!(1)),
            "{place}"
        );
        assert_eq!(
            names(lab, "state"),
            [".gitignore", "active-session.md", "archive"],
            "{place}"
        );
        let text = std::fs::read_to_string(lab.project().join(ACTIVE)).unwrap();
        assert_eq!(text.matches("## Phase 1").count(), 1, "{place}");
    },
};

const LAST: Command = Command {
    name: "transition_phase, the last one",
    prepare: |lab| {
        almost_done(lab);
        will_call(lab, "transition_phase", &json!({"completed_phase_id": 2}));
    },
    arguments: &CALLS,
    holds: |lab, _, _, place| {
        let again = call(lab, "transition_phase", json!({"completed_phase_id": 2}));
        assert!(
            matches!(again, Ok(_) | Err("no_active_session")),
            "{place}: {again:?}"
        );
        assert_archived(lab, place);
        let archive = call(lab, "archive_session", json!({"session_id": ID})).unwrap();
        assert_eq!(archive["already_archived"], true, "{place}");
    },
};

const ARCHIVE: Command = Command {
    name: "orchestration archive",
    prepare: almost_done,
    arguments: &["orchestration", "archive", "--force", "given up"],
    holds: |lab, _, _, place| {
        let again = call(
            lab,
            "archive_session",
            json!({"session_id": ID, "force": true, "reason": "r"}),
        )
        .unwrap();
        assert!(again["already_archived"].is_boolean(), "{place}");
        assert_archived(lab, place);
    },
};

const WRITE: Command = Command {
    name: "orchestration write",
    prepare: |lab| {
        put(&lab.project().join("docs/x.md"), "old");
        put(&input(lab), "new");
    },
    arguments: &["orchestration", "write", "docs/x.md"],
    holds: |lab, before: &Snapshot, command, place| {
        let path = lab.project().join("docs/x.md");
        let text = std::fs::read(&path).unwrap();
        assert!(
            text == b"new" || before.file(&path) == Some(text.as_slice()),
            "{place}: {text:?}"
        );
        completes(lab, command, place);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new", "{place}");
        assert_eq!(tree(&lab.project()).len(), 3, "{place}: something is left");
    },
};

#[test]
fn a_call_killed_at_any_system_call_has_changed_all_or_nothing_and_the_next_one_completes() {
    let _one = one_sweep();
    if can_trace() {
        let failed = kill_each(&[CREATE, TRANSITION, LAST, ARCHIVE, WRITE]);
        assert_eq!(failed, 0, "kill points that did harm");
    }
}

#[test]
fn a_call_that_is_refused_any_system_call_has_changed_all_or_nothing() {
    let _one = one_sweep();
    if can_trace() {
        let failed = refuse_each(&[CREATE, TRANSITION, LAST, ARCHIVE, WRITE]);
        assert_eq!(failed, 0, "errors that did harm");
    }
}

#[test]
fn a_session_is_on_the_disk_before_it_has_its_name_and_its_documents_move_before_it() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    for command in [CREATE, TRANSITION, LAST, ARCHIVE, WRITE] {
        let lab = Lab::new();
        (command.prepare)(&lab);
        let (lines, _) = trace(&lab, &command);
        let place = |after: usize, call: &str, on: &str| {
            let is = |line: &String| line.starts_with(call) && line.contains(on);
            let found = lines.iter().skip(after).position(is).map(|at| at + after);
            found.unwrap_or_else(|| panic!("{}: {call} on {on}: {lines:#?}", command.name))
        };
        let (temp, dir) = match command.name {
            "orchestration write" => (".bookend-write", "/docs>"),
            _ => (".active-session.md.bookend", "/state>"),
        };
        let locked = place(0, "flock(", dir);
        let written = place(locked, "write(", &format!("{temp}>"));
        let synced = place(written, "fdatasync(", &format!("{temp}>"));
        let renamed = place(synced, "renameat(", &format!("\"{temp}\""));
        let named = place(renamed, "fsync(", dir);
        if [LAST.name, ARCHIVE.name].contains(&command.name) {
            let design = place(named, "renameat2(", "\"design.md\"");
            let plan = place(design, "renameat2(", "\"plan.md\"");
            assert!(lines[design].contains("RENAME_NOREPLACE"), "{}", lines[design]);
            let plans = place(plan, "fsync(", "/plans>");
            let moved = place(plans, "renameat2(", "\"active-session.md\"");
            let archive = place(moved, "fsync(", "/state/archive>");
            place(archive, "fsync(", "/state>");
        }
        let into = |line: &&String| line.starts_with("write") && line.contains("/active-session.md>");
        assert_eq!(
            lines.iter().find(into),
            None,
            "nobody ever writes into the file itself"
        );
    }
}
