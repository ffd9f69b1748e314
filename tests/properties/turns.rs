//! The turn machine: what the hooks make of any story, held against the model and against the promises.

use bookend::event::Origin;
use bookend::hosts::Host;
use bookend::log::ledger;
use bookend::log::record::{Body, Record};
use bookend::log::turns::Status;
use proptest::prelude::*;

use super::cases;
use super::model::{Model, OPEN};
use super::story::{Machine, Step, story};
use crate::talk::stands;

/// Lets the story happen; `check` looks at both after each step.
pub fn play(host: Host, steps: &[Step], mut check: impl FnMut(&Machine, &Model, &Step)) -> (Machine, Model) {
    let (mut machine, mut model) = (Machine::new(host), Model::default());
    let mut last: Option<Step> = None;
    for step in steps {
        match step {
            Step::Again => {
                let Some(step) = last.clone().filter(|s| !model.depends_on_the_unread(s)) else {
                    continue;
                };
                machine.send_again();
                model.take(host, &step, true, machine.now());
            }
            Step::Settle => {
                let was_open = model.open().is_some();
                assert_eq!(machine.settle(), was_open, "what is open is settled");
                model.settled();
            }
            Step::Reboot => {
                machine.reboot();
                model.reboot();
            }
            Step::Torn => machine.tear(),
            Step::Wait { seconds } => machine.wait(*seconds),
            _ => {
                let payload = machine
                    .payload(step)
                    .filter(|_| !model.depends_on_the_unread(step));
                let Some(payload) = payload else { continue };
                assert!(machine.send(&payload), "{step:?} is an event: {payload}");
                model.take(host, step, false, machine.now());
                last = Some(step.clone());
            }
        }
        check(&machine, &model, step);
    }
    (machine, model)
}

/// The log and the live state say what the model says.
fn agree(machine: &Machine, model: &Model, step: &Step) {
    let view = machine.view();
    let turns = view.map(|v| v.turns).unwrap_or_default();
    let logged: Vec<_> = turns
        .iter()
        .map(|t| (stands(t), t.origin == Origin::Host, t.actions.len(), t.late.len()))
        .collect();
    let expected: Vec<_> = model
        .turns
        .iter()
        .map(|t| (t.stands, t.by_host, t.actions, t.late))
        .collect();
    assert_eq!(logged, expected, "the log after {step:?}");
    assert!(
        model.turns.iter().filter(|t| t.stands == OPEN).count() <= 1,
        "one open turn"
    );
    let live = machine.state().filter(|s| s.log.is_some() && !model.unread);
    if let Some(state) = live.filter(|_| !matches!(step, Step::Reboot)) {
        assert_eq!(
            state.turns.count as usize,
            model.turns.len(),
            "the live state after {step:?}"
        );
        let known = state.turns.latest.iter().rev().zip(model.turns.iter().rev());
        for (turn, expected) in known {
            let code = match &turn.status {
                Status::Failed { code, .. } => code.as_str(),
                _ => "",
            };
            let stands = (turn.status.word(), code, turn.status.is_presumed());
            assert_eq!(stands, expected.stands, "the live state after {step:?}");
        }
    }
}

/// What happened to each turn, as it was written: `b`egun, `r`eal end, `p`resumed end.
fn written(records: &[Record]) -> std::collections::BTreeMap<String, String> {
    let mut all = std::collections::BTreeMap::<String, String>::new();
    for record in records {
        let (turn, letter) = match &record.body {
            Body::TurnBegin { turn, .. } => (turn, 'b'),
            Body::TurnComplete { turn, .. } | Body::TurnFail { turn, .. } => (turn, 'r'),
            Body::TurnPresumed { turn, .. } => (turn, 'p'),
            _ => continue,
        };
        all.entry(turn.to_string()).or_default().push(letter);
    }
    all
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn any_story_goes_as_the_model_says((host, steps) in story(40)) {
        play(host, &steps, agree);
    }

    #[test]
    fn every_begun_turn_has_one_ending_when_the_session_ends((host, steps) in story(30)) {
        let (mut machine, _) = play(host, &steps, |_, _, _| {});
        let end = machine.payload(&Step::End).unwrap();
        machine.send(&end);
        let Some(view) = machine.view() else { return Ok(()) };
        for turn in &view.turns {
            prop_assert!(turn.status != "in_progress" && turn.completed_at.is_some(), "{:?}", turn);
        }
        // Presumed once at most, then really once at most, and nothing after that.
        for (turn, letters) in written(&ledger::behind(&machine.lab.data(), &view.session_id, 0).unwrap()) {
            prop_assert!(["br", "bp", "bpr"].contains(&letters.as_str()), "{} {}", turn, letters);
        }
        prop_assert!(machine.lab.open_entries().iter().all(|e| e.settled && e.turn.is_none()));
    }
}
