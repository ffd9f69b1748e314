//! One session's directory: locked and folded for a hook, or folded without a lock for a reader.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::key::SessionKey;
use super::root::{HookRoot, VERSION};
use super::state::{AgentState, Entry, State};
use crate::event::Event;
use crate::files::{self, Busy, Dir, Durability, Tail};

/// The journal's name in a session's directory.
pub const JOURNAL: &str = "events.jsonl";
const CHECKPOINT: &str = "state.json";
const CHECKPOINT_NEW: &str = "state.json.new";
const CHECKPOINT_BAD: &str = "state.json.bad";
const JOURNAL_NEW: &str = "events.jsonl.new";
const ACTIVE_AGENT: &str = "active-agent";
const ACTIVE_AGENT_NEW: &str = "active-agent.new";
/// Past this many bytes behind the checkpoint, a new one is written: every hook reads what is behind it, and
/// a new one costs as much as reading this much twice (measured).
const MAX_TAIL: u64 = 8 * 1024;
/// Past this size the journal's older part is dropped at a checkpoint.
const MAX_JOURNAL: u64 = 1024 * 1024;
/// What is kept of it then.
const KEPT_JOURNAL: u64 = 256 * 1024;
/// Largest checkpoint and pending event that is read.
const MAX_FILE: u64 = 8 * 1024 * 1024;
/// Pending events that are read at once.
const PENDING_AT_ONCE: usize = 64;

/// Every file that is ours in a session's directory: what a prune may unlink.
#[must_use]
pub fn is_known(name: &str) -> bool {
    matches!(
        name,
        JOURNAL
            | JOURNAL_NEW
            | CHECKPOINT
            | CHECKPOINT_NEW
            | CHECKPOINT_BAD
            | ACTIVE_AGENT
            | ACTIVE_AGENT_NEW
    ) || name
        .strip_prefix("pending-")
        .is_some_and(|rest| rest.ends_with(".json") || rest.ends_with(".new"))
}

/// Whether a file holds a whole event that waits to be folded.
#[must_use]
pub fn is_pending(name: &str) -> bool {
    name.starts_with("pending-") && name.ends_with(".json")
}

/// A session's live state, under its lock. There is no way to write without one.
#[derive(Debug)]
pub struct Session {
    /// Its directory's name.
    pub key: SessionKey,
    dir: Dir,
    journal: Option<File>,
    /// The fold.
    pub state: State,
    /// It has no event yet.
    pub is_new: bool,
    /// What was wrong with the files, for the next entry's faults.
    pub problems: Vec<String>,
    /// Its checkpoint was lost: what the journal no longer has is to be taken from the log.
    pub is_partial: bool,
    end: Tail,
    checkpoint_at: u64,
    checkpoint_due: bool,
}

/// Why a session cannot be had.
#[derive(Debug)]
pub enum NoSession {
    /// Somebody else held the lock for the whole wait.
    Busy,
    /// The file system refused.
    Io(io::Error),
}

impl From<io::Error> for NoSession {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

impl Session {
    /// Locks and folds a session, made if missing, waiting at most `wait` for the lock.
    ///
    /// # Errors
    /// [`NoSession`].
    pub fn lock(root: &HookRoot, key: &SessionKey, wait: Duration) -> Result<Self, NoSession> {
        let began = Instant::now();
        for _ in 0..8 {
            let dir = root.dir().sub_or_make(key.as_str())?;
            match files::acquire(dir.file(), wait.saturating_sub(began.elapsed())) {
                Ok(()) => {}
                Err(Busy::Held) => return Err(NoSession::Busy),
                Err(Busy::Io(e)) => return Err(NoSession::Io(e)),
            }
            // It may have been pruned between the opening and the lock.
            if dir.is_still(root.dir(), key.as_str())? {
                return Ok(Self::load(dir, key.clone())?);
            }
        }
        Err(NoSession::Busy)
    }

    /// Locks a session that is there, without waiting; `None` when it is gone or somebody holds it.
    ///
    /// # Errors
    /// When it cannot be opened or read.
    pub fn try_lock(root: &HookRoot, key: &SessionKey) -> io::Result<Option<Self>> {
        let Some(dir) = root.dir().sub(key.as_str())? else {
            return Ok(None);
        };
        match files::acquire(dir.file(), Duration::ZERO) {
            Ok(()) if dir.is_still(root.dir(), key.as_str())? => Self::load(dir, key.clone()).map(Some),
            Ok(()) | Err(Busy::Held) => Ok(None),
            Err(Busy::Io(e)) => Err(e),
        }
    }

    /// Also a directory that this process made is read: another hook may have had its lock first.
    fn load(dir: Dir, key: SessionKey) -> io::Result<Self> {
        let mut loaded = fold_for(&dir, true)?;
        if loaded.bad_checkpoint {
            loaded
                .problems
                .push(match dir.rename(CHECKPOINT, CHECKPOINT_BAD) {
                    Ok(()) => "read state.json: it was moved to state.json.bad".to_owned(),
                    Err(e) => format!("read state.json, and to move it away: {e}"),
                });
        }
        let is_new = loaded.state.n == 0;
        let Loaded {
            state,
            problems,
            end,
            checkpoint_at,
            journal,
            checkpoint_due,
            is_partial,
            ..
        } = loaded;
        Ok(Self {
            key,
            dir,
            journal,
            state,
            is_new,
            problems,
            is_partial,
            end,
            checkpoint_at,
            checkpoint_due,
        })
    }

    /// Bytes of the journal behind the checkpoint.
    #[must_use]
    pub fn tail(&self) -> u64 {
        self.end.end.saturating_sub(self.checkpoint_at)
    }

    /// Its directory.
    #[must_use]
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Appends an entry and folds it in; writes a checkpoint when one is due or asked for. One that cannot
    /// be written is a problem and no more: the journal has the entry.
    ///
    /// # Errors
    /// When the entry is not in the journal; the state is then as before.
    pub fn append(&mut self, mut entry: Entry, checkpoint: bool) -> io::Result<()> {
        entry.n = self.state.n + 1;
        let mut after = self.state.clone();
        after.follow(&entry);
        self.commit(&entry, after, checkpoint)
    }

    /// The same for an entry that was followed already: `after` is the state after its first half.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub fn commit(&mut self, entry: &Entry, after: State, checkpoint: bool) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let file = match self.journal.take() {
            Some(file) => file,
            None => self.dir.open_append_or_make(JOURNAL)?.0,
        };
        let end = files::append(&file, self.end, &line)?;
        self.journal = Some(file);
        self.end = Tail { end, torn: 0 };
        let agent = active_agent(&self.state);
        self.state = after;
        self.state.seal(entry);
        self.show_agent(agent);
        let due = checkpoint || std::mem::take(&mut self.checkpoint_due);
        if (due || end.saturating_sub(self.checkpoint_at) > MAX_TAIL)
            && let Err(e) = self.checkpoint()
        {
            self.problems.push(format!("write the checkpoint: {e}"));
        }
        Ok(())
    }

    /// Writes the fold, and drops the journal's older part when it has grown long. A newer version's
    /// checkpoint is never rewritten.
    ///
    /// # Errors
    /// When it cannot be written; the older one is then still there.
    pub fn checkpoint(&mut self) -> io::Result<()> {
        if self.state.version > VERSION {
            return Ok(());
        }
        self.state.offset = self.end.end;
        self.put_checkpoint()?;
        if self.end.end > MAX_JOURNAL {
            self.drop_older()?;
            self.state.offset = self.end.end;
            self.put_checkpoint()?;
        }
        self.checkpoint_at = self.end.end;
        Ok(())
    }

    /// The old checkpoint goes before the new one takes its name: renaming over a file makes ext4 write it
    /// out at once, which costs as much as the rest of the hook (measured: 100 µs against 18 µs). In between
    /// the new one stands whole under its temporary's name, where [`fold`] finds it.
    fn put_checkpoint(&self) -> io::Result<()> {
        let bytes = serde_json::to_vec(&self.state)?;
        if self.dir.create_new(CHECKPOINT_NEW, &bytes).is_err() {
            self.dir.remove(CHECKPOINT_NEW)?;
            self.dir.create_new(CHECKPOINT_NEW, &bytes)?;
        }
        self.dir.remove(CHECKPOINT)?;
        self.dir.rename(CHECKPOINT_NEW, CHECKPOINT)
    }

    /// Entries carry numbers, so a crash between this and the next checkpoint is harmless: those that the
    /// checkpoint holds are skipped, wherever they stand.
    fn drop_older(&mut self) -> io::Result<()> {
        let Some((file, _)) = self.dir.open_read(JOURNAL)? else {
            return Ok(());
        };
        let from = self.end.end.saturating_sub(KEPT_JOURNAL);
        let mut kept = vec![0; usize::try_from(self.end.end - from).unwrap_or(0)];
        file.read_exact_at(&mut kept, from)?;
        let first = kept
            .iter()
            .position(|b| *b == b'\n')
            .map_or(kept.len(), |i| i + 1);
        let kept = kept.get(first..).unwrap_or_default();
        self.dir
            .replace(JOURNAL, JOURNAL_NEW, kept, Durability::Process)?;
        self.end = Tail {
            end: kept.len() as u64,
            torn: 0,
        };
        Ok(())
    }

    /// Keeps `active-agent`: the bare name of the agent that works, for readers that expect Maestro's file.
    fn show_agent(&self, before: Option<String>) {
        let name = active_agent(&self.state);
        if name == before {
            return;
        }
        drop(match name {
            Some(name) => self.dir.replace(
                ACTIVE_AGENT,
                ACTIVE_AGENT_NEW,
                name.as_bytes(),
                Durability::Process,
            ),
            None => self.dir.remove(ACTIVE_AGENT).map(|_| ()),
        });
    }

    /// The events whose hooks could not get the lock, oldest first, with their file names; not more than
    /// a hook folds at once.
    ///
    /// # Errors
    /// When the directory or one of them cannot be read now.
    pub fn pending(&mut self) -> io::Result<Vec<(String, Event)>> {
        let entries = self.dir.entries()?.into_iter();
        let mut names: Vec<String> = entries.map(|e| e.name).filter(|n| is_pending(n)).collect();
        names.sort_unstable();
        names.truncate(PENDING_AT_ONCE);
        let mut events = Vec::new();
        for name in names {
            match self.dir.read(&name, MAX_FILE) {
                Ok(Some(bytes)) => match serde_json::from_slice(&bytes) {
                    Ok(event) => events.push((name, event)),
                    // It was whole when it got this name: a disk fault, or a foreign hand.
                    Err(e) => {
                        self.problems.push(format!("read {name}: {e}; it was removed"));
                        self.dir.remove(&name)?;
                    }
                },
                Ok(None) => {}
                // What comes after it waits too: order is kept.
                Err(e) if files::may_pass(&e) => return Err(e),
                Err(e) => self.problems.push(format!("read {name}: {e}")),
            }
        }
        Ok(events)
    }

    /// Forgets a pending event that is folded in.
    ///
    /// # Errors
    /// When the file stays.
    pub fn remove_pending(&self, name: &str) -> io::Result<()> {
        self.dir.remove(name).map(|_| ())
    }
}

/// The bare name of the agent that began last and still works: no plugin prefix, `_` for `-`.
fn active_agent(state: &State) -> Option<String> {
    let agent = state
        .agents
        .iter()
        .rev()
        .find(|a| a.state == AgentState::Running)?;
    let name = agent.kind.as_ref().map_or("", |k| k.as_str());
    Some(name.rsplit(':').next().unwrap_or_default().replace('-', "_"))
}

/// Leaves an event for the next hook: the lock was not to be had in time. It gets its name when it is
/// whole, since whoever holds the lock may read it at any moment.
///
/// # Errors
/// When it cannot be written.
pub fn leave_pending(root: &HookRoot, key: &SessionKey, mut event: Event) -> io::Result<()> {
    let id = Uuid::now_v7();
    // Folded, then killed before the file was removed: it must not be folded twice.
    event.key.get_or_insert_with(|| format!("pending:{id}"));
    let bytes = serde_json::to_vec(&event)?;
    let (name, temp) = (format!("pending-{id}.json"), format!("pending-{id}.new"));
    for _ in 0..8 {
        let dir = root.dir().sub_or_make(key.as_str())?;
        let left = dir.replace(&name, &temp, &bytes, Durability::Process);
        // Whoever holds the lock may be a prune, which takes the directory away: then once more, in the
        // new one. A prune that has seen the file moves it there itself, under the same name.
        if dir.is_still(root.dir(), key.as_str())? {
            return left;
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// What a reader finds in a session's directory.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The fold.
    pub state: State,
    /// What was wrong with the files, as fragments that fit after "failed to".
    pub problems: Vec<String>,
    /// `state.json` could not be read, so the journal was read from its beginning; the next hook moves it aside.
    pub bad_checkpoint: bool,
    end: Tail,
    checkpoint_at: u64,
    /// The checkpoint's mark is of a journal that is gone.
    checkpoint_due: bool,
    journal: Option<File>,
    is_partial: bool,
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

fn fold_for(dir: &Dir, writing: bool) -> io::Result<Loaded> {
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
