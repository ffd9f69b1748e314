//! The log reader: any bytes fold, a torn line changes nothing but the report of it, and what the fold of the
//! turns holds is one story: the view and the turn machine agree.
#![no_main]

use bookend::log::id::SessionId;
use bookend::log::ledger::Caught;
use bookend::log::record::{Body, Record};
use bookend::log::view::SessionView;
use bookend_fuzz::{mutate, whole};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fn fold(bytes: &[u8]) -> SessionView {
    let id = SessionId::try_from("ClaudeCode-20261130T061337Z-1f2e3d4c".to_owned()).expect("an id");
    SessionView::fold(id, bytes)
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::lines(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let view = fold(data);
    serde_json::to_vec(&view).expect("a view is JSON");
    assert_eq!(view.end, whole(data).len() as u64);
    if whole(data).len() < data.len() {
        let mut cut = fold(whole(data));
        cut.problems
            .insert(0, view.problems.first().expect("a torn line is told").clone());
        assert_eq!(cut, view);
    }
    let records: Vec<Record> = data
        .split(|b| *b == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    // A turn that begins again after four others is a new one to the machine, which remembers no more.
    let begins = records
        .iter()
        .filter(|r| matches!(r.body, Body::TurnBegin { .. }))
        .count();
    for turn in view.machine.latest.iter().filter(|_| begins == view.turns.len()) {
        let shown = view
            .turns
            .iter()
            .find(|t| t.request_id == turn.id)
            .expect("it is shown");
        assert_eq!(shown.status, turn.status.word(), "{}", turn.id);
        assert_eq!(shown.presumed, turn.status.is_presumed(), "{}", turn.id);
        assert_eq!(
            shown.completed_at.is_some(),
            turn.ended_at.is_some(),
            "{}",
            turn.id
        );
    }
    for record in &records {
        let line = serde_json::to_vec(record).expect("a record is JSON");
        assert_eq!(
            &serde_json::from_slice::<Record>(&line).expect("and read back"),
            record
        );
    }
    let _ = Caught::of(&records);
});
