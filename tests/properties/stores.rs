//! Journals and logs that real events made, cut anywhere and damaged anywhere: they fold, and to what their
//! whole lines say.

use bookend::files::Dir;
use bookend::live::journal::{self, Loaded};
use bookend::live::state::State;
use bookend::log::ledger;
use bookend::log::record::Record;
use bookend::log::turns::Turns;
use bookend::log::view::SessionView;
use proptest::prelude::*;
use proptest::sample::Index;

use super::cases;
use super::story::{Machine, SESSION, Step, story};
use super::turns::play;

/// A session's directory of its own, to be filled.
struct Place {
    scratch: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            scratch: tempfile::tempdir().unwrap(),
        }
    }

    fn fold(&self, checkpoint: Option<&State>, journal: &[u8]) -> Loaded {
        let path = self.scratch.path().join("session");
        let dir = Dir::open_or_make(&path).unwrap();
        std::fs::write(path.join("events.jsonl"), journal).unwrap();
        match checkpoint {
            Some(state) => {
                std::fs::write(path.join("state.json"), serde_json::to_vec(state).unwrap()).unwrap()
            }
            None => drop(std::fs::remove_file(path.join("state.json"))),
        }
        journal::entries(&dir).unwrap();
        journal::fold(&dir).unwrap()
    }
}

/// The journal that the hooks left, if they left one.
fn journal_of(machine: &Machine) -> Option<Vec<u8>> {
    std::fs::read(machine.lab.hooks_dir().join(SESSION).join("events.jsonl")).ok()
}

fn log_of(machine: &Machine) -> Option<Vec<u8>> {
    let id = machine.lab.log_ids().into_iter().next()?;
    std::fs::read(
        machine
            .lab
            .data_dir()
            .join("log")
            .join(id.as_str())
            .join("log.jsonl"),
    )
    .ok()
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes
        .split_inclusive(|b| *b == b'\n')
        .filter(|l| l.ends_with(b"\n"))
        .collect()
}

fn whole(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    &bytes[..end]
}

/// A line that is none of ours any more, and its damage.
fn damaged(bytes: &[u8], at: Index, how: u8) -> (Vec<u8>, Vec<u8>) {
    let lines = lines(bytes);
    let n = at.index(lines.len());
    let line = lines[n];
    let broken = match how % 4 {
        0 => b"\n".to_vec(),
        1 => [&line[..line.len() / 2], b"\n"].concat(),
        2 => [b"\xFF\0", line].concat(),
        _ => b"[]\n".to_vec(),
    };
    let with = [lines[..n].concat(), broken, lines[n + 1..].concat()].concat();
    let without = [lines[..n].concat(), lines[n + 1..].concat()].concat();
    (with, without)
}

/// The state without what a checkpoint says of its file.
fn said(mut state: State) -> State {
    state.offset = 0;
    state
}

fn log_fold(machine: &Machine, bytes: &[u8]) -> SessionView {
    SessionView::fold(machine.lab.log_ids()[0].clone(), bytes)
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn any_journal_cut_at_any_byte_folds_to_its_whole_lines(
        (host, steps) in story(25), cuts in prop::collection::vec(any::<Index>(), 12), tail in any::<Vec<u8>>(),
    ) {
        let (machine, _) = play(host, &steps, |_, _, _| {});
        let Some(bytes) = journal_of(&machine) else { return Ok(()) };
        let place = Place::new();
        for cut in cuts {
            let bytes = &bytes[..cut.index(bytes.len() + 1)];
            let clean = place.fold(None, whole(bytes));
            let cut = place.fold(None, bytes);
            prop_assert_eq!(&cut.state, &clean.state);
            prop_assert_eq!(cut.problems.len(), clean.problems.len() + usize::from(whole(bytes).len() < bytes.len()));
            let torn: Vec<u8> = tail.iter().copied().filter(|b| *b != b'\n').collect();
            let torn = place.fold(None, &[whole(bytes), &torn].concat());
            prop_assert_eq!(&torn.state, &clean.state);
        }
    }

    #[test]
    fn a_damaged_line_of_a_journal_is_one_line_less(
        (host, steps) in story(25), at in any::<Index>(), how in any::<u8>(), flips in prop::collection::vec((any::<Index>(), any::<u8>()), 8),
    ) {
        let (machine, _) = play(host, &steps, |_, _, _| {});
        let Some(mut bytes) = journal_of(&machine).filter(|b| b.contains(&b'\n')) else { return Ok(()) };
        let place = Place::new();
        let (with, without) = damaged(&bytes, at, how);
        prop_assert_eq!(place.fold(None, &with).state, place.fold(None, &without).state);
        // Whatever a bit makes of it, it folds, and the fold is a checkpoint that is read back.
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
            let state = place.fold(None, &bytes).state;
            let text = serde_json::to_vec(&state).unwrap();
            prop_assert_eq!(serde_json::from_slice::<State>(&text).unwrap(), state);
        }
    }

    #[test]
    fn a_checkpoint_and_the_rest_fold_to_what_all_folds_to(
        (host, steps) in story(25), at in any::<Index>(), torn in any::<bool>(),
    ) {
        let (machine, _) = play(host, &steps, |_, _, _| {});
        let Some(bytes) = journal_of(&machine).filter(|b| b.contains(&b'\n')) else { return Ok(()) };
        let place = Place::new();
        let all = place.fold(None, whole(&bytes)).state;
        let lines = lines(&bytes);
        let (first, rest) = lines.split_at(1 + at.index(lines.len()));
        let (first, rest) = (first.concat(), rest.concat());
        let mut checkpoint = place.fold(None, &first).state;
        let half: &[u8] = if torn { b"{\"n\":9" } else { b"" };
        // Before the first line that is kept there may be others: of one journal, of none, of a longer one.
        checkpoint.offset = first.len() as u64;
        let journal = [&first[..], &rest, half].concat();
        prop_assert_eq!(said(place.fold(Some(&checkpoint), &journal).state), all.clone());
        checkpoint.offset = 0;
        prop_assert_eq!(said(place.fold(Some(&checkpoint), &[&rest, half].concat()).state), all.clone());
        checkpoint.offset = (bytes.len() + 100) as u64;
        prop_assert_eq!(said(place.fold(Some(&checkpoint), &journal).state), all.clone());
        // Entries that come twice, after a kill between two files, count once.
        let twice = [&first[..], &first, &rest].concat();
        prop_assert_eq!(place.fold(None, &twice).state, all.clone());
        // And what the hooks themselves left says the same, if no reboot took its beginning.
        if !steps.contains(&Step::Reboot) {
            prop_assert_eq!(said(machine.state().unwrap()), all);
        }
    }

    #[test]
    fn any_log_cut_or_damaged_anywhere_folds_to_its_whole_lines(
        (host, steps) in story(25), cuts in prop::collection::vec(any::<Index>(), 12), at in any::<Index>(), how in any::<u8>(),
        flips in prop::collection::vec((any::<Index>(), any::<u8>()), 8),
    ) {
        let (machine, _) = play(host, &steps, |_, _, _| {});
        let Some(mut bytes) = log_of(&machine) else { return Ok(()) };
        for cut in cuts {
            let bytes = &bytes[..cut.index(bytes.len() + 1)];
            let mut cut = log_fold(&machine, bytes);
            let clean = log_fold(&machine, whole(bytes));
            prop_assert_eq!(cut.end, whole(bytes).len() as u64);
            prop_assert_eq!(cut.problems.len(), usize::from(whole(bytes).len() < bytes.len()));
            cut.problems.clear();
            prop_assert_eq!(cut, clean);
        }
        let (with, without) = damaged(&bytes, at, how);
        let (mut with, without) = (log_fold(&machine, &with), log_fold(&machine, &without));
        (with.problems, with.end) = (Vec::new(), without.end);
        prop_assert_eq!(with, without);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
            serde_json::to_vec(&log_fold(&machine, &bytes)).unwrap();
        }
    }

    #[test]
    fn what_is_read_behind_any_line_of_a_log_completes_what_was_known(
        (host, steps) in story(25), at in any::<Index>(),
    ) {
        let (machine, _) = play(host, &steps, |_, _, _| {});
        let Some(bytes) = log_of(&machine) else { return Ok(()) };
        let (data, id) = (machine.lab.data(), machine.lab.log_ids().remove(0));
        let lines = lines(&bytes);
        let known: Vec<u8> = lines[..at.index(lines.len() + 1)].concat();
        let mut turns: Turns = log_fold(&machine, &known).machine;
        for record in ledger::behind(&data, &id, known.len() as u64).unwrap() {
            if let Some(mark) = record.body.mark(record.at) {
                turns.apply(&mark);
            }
        }
        let view = log_fold(&machine, &bytes);
        prop_assert_eq!(&turns, &view.machine);
        // Each record says where its line stands, and is written as it is read.
        let mut from = 0;
        for line in lines {
            let record: Record = serde_json::from_slice(line).unwrap();
            prop_assert_eq!(record.seq, from);
            prop_assert_eq!(&[&serde_json::to_vec(&record).unwrap()[..], b"\n"].concat(), line);
            from += line.len() as u64;
        }
    }
}
