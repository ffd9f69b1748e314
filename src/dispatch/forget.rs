//! Removing sessions of the log: on request, or because they are too old. Whatever is in use stays.
//!
//! Under the log's lock, in this order: a mark for the index, the `open/` entry, the host's way to it, the log. A hook
//! that waits for the lock meanwhile finds the file gone and begins a new one; a kill in between leaves a session that
//! the next run removes.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::settle;
use crate::files::{self, Busy, Dir};
use crate::host::Host;
use crate::live::journal;
use crate::live::key::SessionKey;
use crate::live::root::HookRoot;
use crate::log::data_dir::DataDir;
use crate::log::grown;
use crate::log::id::SessionId;
use crate::log::ledger::FILE;
use crate::log::record::{Body, Record};
use crate::log::retention;

/// How long the lock of a log is waited for.
const WAIT: Duration = Duration::from_millis(200);
/// A first line longer than this is taken for none of ours.
const MAX_LINE: usize = 1024 * 1024;

/// Which sessions may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Somebody asked for it: what is unfinished goes too, but not what is in use.
    Asked,
    /// What was last written before that, and has nothing open.
    Before(DateTime<Utc>),
}

/// What became of them.
#[derive(Debug, Default)]
pub struct Forgotten {
    /// Removed, or in a dry run to be removed; with the bytes of its log.
    pub removed: Vec<(SessionId, u64)>,
    /// Kept, and why, as the end of a sentence that begins with "it stays: ".
    pub kept: Vec<(SessionId, String)>,
}

/// Removes sessions.
#[derive(Debug)]
pub struct Forgetter<'d> {
    data: &'d DataDir,
    roots: &'d [HookRoot],
    now: DateTime<Utc>,
    dry_run: bool,
    /// The ways of the hosts, read when a session's own record does not say which is its.
    ways: Option<HashMap<SessionId, Vec<(Host, String)>>>,
}

impl<'d> Forgetter<'d> {
    /// Of these stores.
    #[must_use]
    pub fn new(data: &'d DataDir, roots: &'d [HookRoot], now: DateTime<Utc>, dry_run: bool) -> Self {
        Self {
            data,
            roots,
            now,
            dry_run,
            ways: None,
        }
    }

    /// Removes those of them that may go.
    ///
    /// # Errors
    /// When the logs cannot be opened; what goes wrong with one of them keeps that one.
    pub fn run(&mut self, ids: impl IntoIterator<Item = SessionId>, rule: Rule) -> io::Result<Forgotten> {
        let mut forgotten = Forgotten::default();
        let Some(log) = self.data.dir().sub("log")? else {
            return Ok(forgotten);
        };
        for id in ids {
            match self.one(&log, &id, rule) {
                Ok(Some(bytes)) => forgotten.removed.push((id, bytes)),
                Ok(None) => {}
                Err(Stays(why)) => forgotten.kept.push((id, why)),
            }
        }
        if !self.dry_run {
            let gone: HashSet<&SessionId> = forgotten.removed.iter().map(|(id, _)| id).collect();
            // A way that leads nowhere is followed by nobody.
            drop(self.data.forget_called(&gone));
        }
        Ok(forgotten)
    }

    /// The bytes of a session that went; `None` when it is not too old, or gone already.
    fn one(&mut self, log: &Dir, id: &SessionId, rule: Rule) -> Result<Option<u64>, Stays> {
        let Some(dir) = log.sub(id.as_str())? else {
            return Ok(None);
        };
        let Some((file, _)) = dir.open_read(FILE)? else {
            // Begun, and nothing written: only on request, since a hook may be about to.
            let is_empty = rule == Rule::Asked && !self.dry_run;
            return Ok((is_empty && log.remove_sub(id.as_str())?).then_some(0));
        };
        files::acquire(&file, WAIT).map_err(|busy| match busy {
            Busy::Held => Stays("somebody writes to it at this moment".to_owned()),
            Busy::Io(e) => e.into(),
        })?;
        let meta = file.metadata()?;
        if meta.nlink() == 0 {
            return Ok(None);
        }
        if let Rule::Before(cut) = rule
            && retention::last_written(&file)?.is_none_or(|at| at >= cut)
        {
            return Ok(None);
        }
        self.look_at_entry(id, rule)?;
        let ways = self.ways_to(id, &file)?;
        if ways.iter().any(|(_, key)| self.is_live(id, key)) {
            return Err(Stays("its host runs".to_owned()));
        }
        if !self.dry_run {
            if let Some(grown) = self.data.grown()? {
                grown::mark(&grown, id)?;
            }
            self.data.remove_open(id)?;
            for (host, key) in ways {
                self.data.remove_by_host(host, &key)?;
            }
            dir.remove(FILE)?;
            // A hook that opened the directory before may have begun a new log in it: then it stays.
            drop(log.remove_sub(id.as_str()));
        }
        Ok(Some(meta.len()))
    }

    /// What is unfinished.
    fn look_at_entry(&self, id: &SessionId, rule: Rule) -> Result<(), Stays> {
        let entry = self.data.get_open(id)?;
        let is_there = || -> io::Result<bool> {
            let open = self.data.dir().sub("open")?;
            Ok(open
                .map(|open| open.stat(id.as_str()))
                .transpose()?
                .flatten()
                .is_some())
        };
        match (entry, rule) {
            (Some(entry), Rule::Before(_)) => Err(Stays(match (&entry.turn, &entry.task) {
                (Some(_), _) if !entry.settled => "its turn is open".to_owned(),
                (_, Some(_)) => "its task is not done".to_owned(),
                _ => "it has open todos".to_owned(),
            })),
            (None, Rule::Before(_)) if is_there()? => {
                Err(Stays("what it left open cannot be read".to_owned()))
            }
            (Some(entry), Rule::Asked) => {
                let seen = settle::look(self.data, self.roots, entry, self.now);
                match seen.alive {
                    true => Err(Stays("its host runs".to_owned())),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// The host sessions that write to it.
    fn ways_to(&mut self, id: &SessionId, file: &File) -> io::Result<Vec<(Host, String)>> {
        let Some((host, session)) = opening(file)? else {
            return Ok(Vec::new());
        };
        if let Some(key) = SessionKey::of(&session)
            && self.data.by_host(host, key.as_str())?.as_ref() == Some(id)
        {
            return Ok(vec![(host, key.to_string())]);
        }
        // Its host's id is not written down as it is, or its way is gone already.
        if self.ways.is_none() {
            self.ways = Some(ways(self.data)?);
        }
        Ok(self
            .ways
            .as_ref()
            .and_then(|w| w.get(id))
            .cloned()
            .unwrap_or_default())
    }

    fn is_live(&self, id: &SessionId, key: &str) -> bool {
        self.roots.iter().any(|root| {
            let Ok(Some(dir)) = root.dir().sub(key) else {
                return false;
            };
            journal::fold(&dir).is_ok_and(|loaded| {
                let is_its = loaded.state.log.as_ref().is_some_and(|l| l.session == *id);
                is_its && loaded.state.alive(self.now)
            })
        })
    }
}

/// Why one stays.
struct Stays(String);

impl From<io::Error> for Stays {
    fn from(e: io::Error) -> Self {
        Self(e.to_string())
    }
}

/// The host and its session, as the first record says.
fn opening(file: &File) -> io::Result<Option<(Host, String)>> {
    let len = usize::try_from(file.metadata()?.len()).unwrap_or(MAX_LINE);
    let mut bytes = vec![0; len.min(MAX_LINE)];
    file.read_exact_at(&mut bytes, 0)?;
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    Ok(match serde_json::from_slice::<Record>(line).map(|r| r.body) {
        Ok(Body::SessionOpen {
            host: Some(host),
            host_session: Some(session),
            ..
        }) => Some((host, session.into_string())),
        _ => None,
    })
}

/// All ways from hosts to logs.
fn ways(data: &DataDir) -> io::Result<HashMap<SessionId, Vec<(Host, String)>>> {
    let mut ways: HashMap<SessionId, Vec<(Host, String)>> = HashMap::new();
    let Some(dir) = data.dir().sub("by-host")? else {
        return Ok(ways);
    };
    for host in Host::ALL {
        let Some(names) = dir.sub(host.id())? else {
            continue;
        };
        for entry in names.entries()? {
            if let Some(id) = data.by_host(host, &entry.name)? {
                ways.entry(id).or_default().push((host, entry.name));
            }
        }
    }
    Ok(ways)
}
