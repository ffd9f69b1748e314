//! The journal reader, on real files: the first line is the checkpoint, if it begins with `{"version"`, the
//! others are the journal. Whatever they hold, they fold; what is torn changes nothing but the report of it.
#![no_main]

use std::cell::LazyCell;

use bookend::files::Dir;
use bookend::live::journal::{Loaded, fold};
use bookend::live::state::State;
use bookend_fuzz::{mutate, whole};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

struct Place {
    scratch: tempfile::TempDir,
    dir: Dir,
}

thread_local! {
    static PLACE: LazyCell<Place> = LazyCell::new(|| {
        let memory = std::path::Path::new("/dev/shm");
        let scratch = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let scratch = scratch.expect("a scratch directory");
        let dir = Dir::open_or_make(&scratch.path().join("session")).expect("a session's directory");
        Place { scratch, dir }
    });
}

fn fold_of(checkpoint: Option<&[u8]>, journal: &[u8]) -> Loaded {
    PLACE.with(|place| {
        let path = place.scratch.path().join("session");
        std::fs::write(path.join("events.jsonl"), journal).expect("a journal");
        match checkpoint {
            Some(bytes) => std::fs::write(path.join("state.json"), bytes).expect("a checkpoint"),
            None => drop(std::fs::remove_file(path.join("state.json"))),
        }
        fold(&place.dir).expect("it is there and can be read")
    })
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::lines(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let first = data.split(|b| *b == b'\n').next().unwrap_or_default();
    let (checkpoint, journal) = if first.starts_with(b"{\"version\"") {
        (Some(first), data.get(first.len() + 1..).unwrap_or_default())
    } else {
        (None, data)
    };
    let loaded = fold_of(checkpoint, journal);
    let text = serde_json::to_vec(&loaded.state).expect("a state is JSON");
    let back: State = serde_json::from_slice(&text).expect("a checkpoint is read back");
    assert_eq!(back, loaded.state);
    // A checkpoint may say that it ends anywhere, also in the part that is torn: without one that cannot be.
    if checkpoint.is_none() && whole(journal).len() < journal.len() {
        let cut = fold_of(checkpoint, whole(journal));
        assert_eq!(cut.state, loaded.state);
        assert_eq!(cut.problems.len() + 1, loaded.problems.len());
    }
});
