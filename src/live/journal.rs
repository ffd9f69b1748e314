//! Reading a session's directory: the checkpoint, then what the journal has behind it. Whatever is torn,
//! corrupt or newer than we are is told and does not stop the reading.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::names::{CHECKPOINT, CHECKPOINT_NEW, JOURNAL};
use super::root::VERSION;
use super::state::{Entry, State};
use crate::files::{Dir, Tail};

/// Largest checkpoint that is read.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// What a reader finds in a session's directory.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The fold.
    pub state: State,
    /// What was wrong with the files, as fragments that fit after "failed to".
    pub problems: Vec<String>,
    /// `state.json` could not be read, so the journal was read from its beginning; the next hook moves it aside.
    pub bad_checkpoint: bool,
    pub(super) end: Tail,
    pub(super) checkpoint_at: u64,
    /// The checkpoint's mark is of a journal that is gone.
    pub(super) checkpoint_due: bool,
    pub(super) journal: Option<File>,
    pub(super) is_partial: bool,
}

/// Folds a session's directory: the checkpoint, then what the journal has behind it.
///
/// # Errors
/// When the files are there and cannot be read.
pub fn fold(dir: &Dir) -> io::Result<Loaded> {
    fold_for(dir, false)
}

/// A checkpoint is an object; serde would take a list for one too, its fields by position. `{}` is none
/// either: every field has a default, and none is written before there is something to say.
fn checkpoint_of(bytes: &[u8]) -> Option<State> {
    let object = Some(bytes).filter(|b| b.first() == Some(&b'{'))?;
    let state: State = serde_json::from_slice(object).ok()?;
    (state.n > 0 || state.log.is_some()).then_some(state)
}

pub(super) fn fold_for(dir: &Dir, writing: bool) -> io::Result<Loaded> {
    let mut loaded = Loaded::default();
    match dir.read(CHECKPOINT, MAX_FILE) {
        Ok(None) => {
            // A kill while the checkpoint was replaced; a new one that is not whole was never in force.
            let new = dir.read(CHECKPOINT_NEW, MAX_FILE).ok().flatten();
            loaded.state = new.and_then(|b| checkpoint_of(&b)).unwrap_or_default();
        }
        Ok(Some(bytes)) => match checkpoint_of(&bytes) {
            Some(state) => loaded.state = state,
            None => {
                loaded.is_partial = true;
                match newer(&bytes) {
                    // It is of use to the one that wrote it: left where it is, and not written over.
                    Some(version) => loaded.state.version = version,
                    None => loaded.bad_checkpoint = true,
                }
            }
        },
        // No regular file, or one of a size that we never write.
        Err(e) if is_not_ours(&e) => (loaded.is_partial, loaded.bad_checkpoint) = (true, true),
        Err(e) => return Err(e),
    }
    loaded.checkpoint_at = loaded.state.offset;
    let opened = if writing {
        dir.open_append(JOURNAL)?
    } else {
        dir.open_read(JOURNAL)?
    };
    let Some((file, len)) = opened else {
        loaded.checkpoint_due = loaded.state.offset > 0;
        return Ok(loaded);
    };
    // Read once, from the newline before the checkpoint's end; if there is none, this is another journal.
    let from = if loaded.state.offset <= len {
        loaded.state.offset
    } else {
        0
    };
    let mut bytes = read_from(&file, from.saturating_sub(1), len)?;
    let base = match from {
        0 => 0,
        _ if bytes.first() == Some(&b'\n') => from - 1,
        _ => {
            bytes = read_from(&file, 0, len)?;
            0
        }
    };
    // One that does not belong to this journal is soon replaced.
    loaded.checkpoint_due = base == 0 && loaded.state.offset > 0;
    loaded.journal = Some(file);
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    loaded.end = Tail {
        end: base + whole as u64,
        torn: (bytes.len() - whole) as u64,
    };
    if loaded.end.torn > 0 {
        loaded.problems.push(format!(
            "read the journal's last line: {} torn bytes were ignored",
            loaded.end.torn
        ));
    }
    for line in bytes
        .get(..whole)
        .unwrap_or_default()
        .split(|b| *b == b'\n')
        .filter(|l| !l.is_empty())
    {
        match serde_json::from_slice(line) {
            Ok(entry) => loaded.state.apply(&entry),
            Err(e) => loaded
                .problems
                .push(format!("read a journal line: {e}; it was skipped")),
        }
    }
    Ok(loaded)
}

/// The version of a checkpoint that we cannot read, if it is newer than ours.
fn newer(checkpoint: &[u8]) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct Head {
        version: u32,
    }
    let head: Head = serde_json::from_slice(checkpoint).ok()?;
    (head.version > VERSION).then_some(head.version)
}

fn is_not_ours(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge)
        || rustix::io::Errno::from_io_error(e) == Some(rustix::io::Errno::LOOP)
}

/// The entries of a session's journal, as far back as it is kept.
///
/// # Errors
/// When it is there and cannot be read.
pub fn entries(dir: &Dir) -> io::Result<Vec<Entry>> {
    let Some((file, len)) = dir.open_read(JOURNAL)? else {
        return Ok(Vec::new());
    };
    let bytes = read_from(&file, 0, len)?;
    Ok(bytes
        .split(|b| *b == b'\n')
        .filter_map(|l| serde_json::from_slice(l).ok())
        .collect())
}

fn read_from(file: &File, from: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(len - from).unwrap_or(0)];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}
