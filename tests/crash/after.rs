//! What must hold after a hook was killed or refused.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use bookend::log::view::SessionView;
use serde_json::json;

use super::scenes::{KEPT, Scene, stop, tool};
use super::strace::Snapshot;
use crate::harness::Lab;

/// The logs are whole: what was acknowledged is still their beginning, and every line is a record at its place.
pub(super) fn assert_logs_whole(lab: &Lab, before: &Snapshot, place: &str) {
    for (path, old) in before.logs() {
        let now = std::fs::read(path).unwrap_or_default();
        assert!(
            now.starts_with(old),
            "{place}: the log lost what it had: {}",
            path.display()
        );
    }
    for id in lab.log_ids() {
        let Some(view) = SessionView::read(&lab.data(), &id).unwrap() else {
            continue;
        };
        assert!(view.problems.is_empty(), "{place}: {:?}", view.problems);
        let mut offset = 0;
        let path = lab.data_dir().join("log").join(id.as_str()).join("log.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        for (record, line) in lab.records(&id).iter().zip(text.lines()) {
            assert_eq!(record.seq, offset, "{place}: {line}");
            offset += line.len() as u64 + 1;
        }
    }
}

/// Every tool call in all logs, late ones too.
pub(super) fn calls(lab: &Lab) -> Vec<String> {
    let mut all = Vec::new();
    for id in lab.log_ids() {
        let Some(view) = SessionView::read(&lab.data(), &id).unwrap() else {
            continue;
        };
        for turn in &view.turns {
            let late = turn.late.iter().filter_map(|l| l.action.as_ref());
            for action in turn.actions.iter().map(|a| &a.action).chain(late) {
                all.extend(action.call.as_ref().map(|c| c.as_str().to_owned()));
            }
        }
    }
    all.sort();
    all
}

/// What happens after a killed or refused hook: the next hooks of the session work, and the turn ends.
pub(super) fn go_on(lab: &Lab, before: &Snapshot, scene: &Scene, place: &str) {
    assert_logs_whole(lab, before, place);
    lab.send("PostToolUse", tool(scene.session, scene.turn, "next-call"));
    assert_logs_whole(lab, before, place);
    lab.send(
        "Stop",
        crate::harness::with(stop(scene.turn), json!({"session_id": scene.session})),
    );
    assert_logs_whole(lab, before, place);

    let all = calls(lab);
    let once: BTreeSet<&String> = all.iter().collect();
    assert_eq!(all.len(), once.len(), "{place}: an action twice: {all:?}");
    for call in scene.acknowledged.iter().chain(&["next-call"]) {
        assert!(
            all.iter().any(|c| c == call),
            "{place}: {call} is missing: {all:?}"
        );
    }
    let state = lab.state(scene.session);
    assert!(state.turns.open().is_none(), "{place}: {:?}", state.turns);
    let numbers: Vec<u64> = lab.entries(scene.session).iter().map(|e| e.n).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{place}: {numbers:?}");
    let log = lab.log_of(scene.session);
    for turn in &log.turns {
        assert_ne!(turn.status, "in_progress", "{place}: {turn:#?}");
    }
    assert_eq!(log.turns.last().unwrap().status, "completed", "{place}");
    // The stop above may come after the killed one's; an earlier turn has heard its stop once.
    let earlier = log.turns.iter().rev().skip(1).flat_map(|t| &t.late);
    let said: Vec<_> = earlier.filter(|l| l.message.is_some()).collect();
    assert!(said.is_empty(), "{place}: {said:?}");
    let open: Vec<_> = lab
        .open_entries()
        .into_iter()
        .filter(|e| e.session == log.session_id)
        .collect();
    assert!(open.is_empty(), "{place}: {open:?}");
    assert_only_known_names(lab, place);
    assert_planner_whole(lab, place);
}

/// The least that holds after a refusal that does not pass: the logs are whole, the hooks work, no turn is
/// open in the live state, and what was not written is told.
pub(super) fn go_on_without_log(lab: &Lab, before: &Snapshot, scene: &Scene, place: &str) {
    lab.send("PostToolUse", tool(scene.session, scene.turn, "next-call"));
    let stop = crate::harness::with(stop(scene.turn), json!({"session_id": scene.session}));
    lab.send("Stop", stop);
    assert_logs_whole(lab, before, place);
    let state = lab.state(scene.session);
    assert!(state.turns.open().is_none(), "{place}: {:?}", state.turns);
    let all = calls(lab);
    let once: BTreeSet<&String> = all.iter().collect();
    assert_eq!(all.len(), once.len(), "{place}: an action twice: {all:?}");
    // (Where the name of the old log could not be read, there is a second one; settlement ends the old turn.)
    let second = lab.log_ids().len() > before.logs().count().max(1);
    let open = lab.open_entries().into_iter();
    let open = open.filter(|e| e.session_key == scene.session).count();
    assert!(open == 0 || second, "{place}");
    let mut expected = scene.acknowledged.iter().chain(&["next-call"]);
    let all_there = expected.all(|call| all.iter().any(|a| a == call));
    assert!(
        all_there || is_told(lab, scene),
        "{place}: lost, and nobody is told"
    );
    assert_only_known_names(lab, place);
    assert_planner_whole(lab, place);
}

/// The planner's file, if there is one, is whole, its task is done as ours is, and nothing lies beside it.
fn assert_planner_whole(lab: &Lab, place: &str) {
    let docs = lab.project().join("docs");
    if !docs.exists() {
        return;
    }
    let text = std::fs::read_to_string(docs.join("planner-state.json")).unwrap();
    let file: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{place}: {e}: {text}"));
    assert!(text.contains(KEPT), "{place}: {text}");
    assert_eq!(file["currentTask"], json!(null), "{place}: {text}");
    let names: Vec<_> = std::fs::read_dir(&docs)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["planner-state.json"], "{place}");
}

pub(super) fn is_told(lab: &Lab, scene: &Scene) -> bool {
    let mut entries = lab.entries(scene.session).into_iter();
    // (Where the root was refused, the event and the refusal stand in the fallback.)
    let fallback = lab
        .data_dir()
        .join("hooks")
        .join(scene.session)
        .join("events.jsonl");
    let fallback = std::fs::read_to_string(fallback).unwrap_or_default();
    !lab.faults().is_empty()
        || entries.any(|e| !e.faults.is_empty())
        || fallback.contains("use the hook root")
}

/// How many events of the scene's name its session has.
pub(super) fn counted(lab: &Lab, scene: &Scene) -> u64 {
    if !lab.hooks_dir().join(scene.session).exists() {
        return 0;
    }
    let state = lab.state(scene.session);
    state.events.get(scene.event).map_or(0, |e| e.count)
}

pub(super) fn assert_only_known_names(lab: &Lab, place: &str) {
    for (root, depth) in [(lab.hooks_dir(), 2), (lab.data_dir(), 3)] {
        for entry in walkdir::WalkDir::new(root).into_iter().map(Result::unwrap) {
            let name = entry.file_name().to_str().unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            let expected = if entry.file_type().is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, expected, "{place}: {}", entry.path().display());
            assert!(entry.depth() <= depth, "{place}: {}", entry.path().display());
            assert!(!name.ends_with(".bad"), "{place}: {}", entry.path().display());
        }
    }
}
