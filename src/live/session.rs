//! One session's directory under its lock: folded, appended to, checkpointed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use super::journal::{Loaded, fold_for};
use super::key::SessionKey;
use super::names::{
    ACTIVE_AGENT, ACTIVE_AGENT_NEW, CHECKPOINT, CHECKPOINT_BAD, CHECKPOINT_NEW, JOURNAL, JOURNAL_NEW,
};
use super::root::{HookRoot, VERSION};
use super::state::{AgentState, Entry, State};
use crate::delegation::name::bare;
use crate::files::{self, Busy, Dir, Durability, Tail};

/// Past this many bytes behind the checkpoint, a new one is written: every hook reads what is behind it, and
/// a new one costs as much as reading this much twice (measured).
const MAX_TAIL: u64 = 8 * 1024;
/// Past this size the journal's older part is dropped at a checkpoint.
const MAX_JOURNAL: u64 = 1024 * 1024;
/// What is kept of it then.
const KEPT_JOURNAL: u64 = 256 * 1024;

/// A session's live state, under its lock. There is no way to write without one.
#[derive(Debug)]
pub struct Session {
    /// Its directory's name.
    pub key: SessionKey,
    pub(super) dir: Dir,
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
    /// the new one stands whole under its temporary's name, where [`fold_for`] finds it.
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
}

/// The bare name of the agent that began last and still works.
fn active_agent(state: &State) -> Option<String> {
    let agent = state
        .agents
        .iter()
        .rev()
        .find(|a| a.state == AgentState::Running)?;
    Some(bare(agent.kind.as_ref().map_or("", |k| k.as_str())))
}
