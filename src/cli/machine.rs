//! Both stores as a command sees them: the data directory if it is there, and every hook root in use. A
//! command makes neither: on a machine where nothing was kept yet it leaves nothing behind.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use chrono::{DateTime, Utc};

use super::Failed;
use super::out::Out;
use crate::clock::{self, Stopwatch};
use crate::config::Config;
use crate::dispatch::settle;
use crate::dispatch::{self, Stores};
use crate::doctor::LITTLE_SPACE;
use crate::event::{Event, Kind};
use crate::live::key::SessionKey;
use crate::live::root::HookRoot;
use crate::live::session::Session;
use crate::log::data_dir::DataDir;

/// The machine.
pub(super) struct Machine {
    /// What the environment says.
    pub(super) config: Config,
    /// The durable store, if it is there.
    pub(super) data: Option<DataDir>,
    /// The hook roots in use; the wanted one first, if it is there.
    pub(super) roots: Vec<HookRoot>,
    /// Now.
    pub(super) now: DateTime<Utc>,
    /// Why the durable store, which is there, cannot be used now.
    pub(super) unusable: Option<String>,
    /// What is left out, or will be soon, as sentences.
    warnings: Vec<String>,
}

/// A full disk loses nothing, since hooks keep what they cannot write; but somebody has to make room.
fn little_space(data: &DataDir) -> Option<String> {
    let free = fs2::available_space(data.path())
        .ok()
        .filter(|f| *f < LITTLE_SPACE)?;
    let (free, path) = (free / 1024, data.path().display());
    Some(format!(
        "only {free} KiB are free on the disk of {path}: make room, or hooks cannot log"
    ))
}

impl Machine {
    /// Opens what is there; [`Machine::warn`] names what cannot be used.
    pub(super) fn open() -> Self {
        Self::of(Config::from_env())
    }

    /// The same, with other stores than the environment's.
    pub(super) fn of(config: Config) -> Self {
        let (data, unusable) = match DataDir::existing(&config.data_dir) {
            Ok(data) => (data, None),
            Err(e) => (None, Some(e.to_string())),
        };
        let (roots, refused) = roots(&config, data.as_ref());
        let refused = refused.into_iter().map(|what| format!("failed to {what}"));
        let warnings = refused.chain(data.as_ref().and_then(little_space)).collect();
        Self {
            config,
            data,
            roots,
            now: clock::now(),
            unusable,
            warnings,
        }
    }

    /// Names on stderr what cannot be used.
    pub(super) fn warn(&self, out: &mut Out) {
        for warning in &self.warnings {
            out.warn(warning);
        }
    }

    /// The data directory, or why there is none.
    pub(super) fn data(&self) -> Result<&DataDir, Failed> {
        self.usable()?;
        self.data.as_ref().ok_or_else(|| Failed::new(NOTHING_YET))
    }

    /// An error when the data directory is there and cannot be used.
    pub(super) fn usable(&self) -> Result<(), Failed> {
        match &self.unusable {
            Some(why) => Err(Failed::to(format!(
                "{why}; set BOOKEND_DATA_DIR to a directory of your own"
            ))),
            None => Ok(()),
        }
    }

    /// The same as a warning, for what goes on without it.
    pub(super) fn warn_of_data(&self, out: &mut Out) {
        if let Err(Failed::Told(why)) = self.usable() {
            out.warn(&why);
        }
    }

    /// What is said when no session is live.
    pub(super) fn none_live(&self) -> &'static str {
        let sessions = self.data.as_ref().and_then(|data| data.sessions().ok());
        if sessions.is_some_and(|s| !s.is_empty()) {
            "no session is live: `bookend log sessions` lists those of before"
        } else {
            NOTHING_YET
        }
    }

    /// The root that a hook would use here: the wanted one, else the fallback.
    pub(super) fn own_root(&self) -> Option<&HookRoot> {
        let fallback = self.data.as_ref().map(|d| d.path().join("hooks"));
        let refused = |path: &PathBuf| HookRoot::existing(path).is_err();
        let path = match &self.config.hook_root {
            Ok(path) if !refused(path) => Some(path.clone()),
            _ => fallback,
        };
        self.roots.iter().find(|r| Some(r.path()) == path.as_deref())
    }

    /// Folds in the events that wait, and gives the turns whose host is gone their presumed end. That this
    /// fails never stops a command.
    pub(super) fn settle(&mut self, out: &mut Out) {
        self.fold_pending(out);
        if let Some(data) = &self.data {
            match data.open_entries() {
                Ok(entries) => {
                    settle::settle(data, &entries, &self.roots, None, usize::MAX, self.now);
                }
                Err(e) => out.warn(&format!("failed to settle unfinished sessions: {e}")),
            }
        }
    }
}

impl Machine {
    /// The events whose hooks could not get the lock. Who holds it now folds them in itself. Where the data
    /// directory cannot be used now, they wait: their actions would be in no log.
    fn fold_pending(&mut self, out: &mut Out) {
        if self.unusable.is_some() {
            return;
        }
        let roots = std::mem::take(&mut self.roots);
        let mut stores = Stores::of(self.data.take(), None, "bookend");
        for root in roots {
            let waiting = waiting(&root);
            stores.root = Some(root);
            for key in waiting {
                let locked = stores.root.as_ref().map(|root| Session::try_lock(root, &key));
                // A session's start says which process its host is: only a hook can tell.
                if let Some(Ok(Some(mut session))) = locked
                    && !starts(&mut session)
                {
                    dispatch::fold_pending(&mut session, &mut stores, &self.config, Stopwatch::start());
                }
            }
            self.roots.extend(stores.root.take());
        }
        for fault in std::mem::take(&mut stores.faults) {
            out.warn(&format!("failed to {fault}"));
        }
        self.data = stores.data.take();
    }
}

fn starts(session: &mut Session) -> bool {
    let is_start = |event: &Event| matches!(event.kind, Kind::SessionStart { .. });
    session
        .pending()
        .is_ok_and(|events| events.iter().any(|(_, event)| is_start(event)))
}

/// The sessions of a root in which events wait.
fn waiting(root: &HookRoot) -> Vec<SessionKey> {
    let entries = root.dir().entries().unwrap_or_default().into_iter();
    let keys = entries
        .filter(|e| e.is_dir)
        .filter_map(|e| SessionKey::from_name(&e.name));
    keys.filter(|key| {
        let dir = root.dir().sub(key.as_str()).ok().flatten();
        let files = dir.and_then(|dir| dir.entries().ok()).unwrap_or_default();
        files.iter().any(|f| is_pending(&f.name))
    })
    .collect()
}

/// Whether a file holds an event that waits.
pub(super) fn is_pending(name: &str) -> bool {
    name.starts_with("pending-") && name.ends_with(".json")
}

/// The hook roots in use that are there, the wanted one first, and why others are left out.
pub(super) fn roots(config: &Config, data: Option<&DataDir>) -> (Vec<HookRoot>, Vec<String>) {
    let (mut paths, mut left_out) = (Vec::new(), Vec::new());
    match &config.hook_root {
        Ok(path) => paths.push(path.clone()),
        Err(why) => left_out.push(format!("use the hook root: {why}")),
    }
    if let Some(data) = data {
        paths.push(data.path().join("hooks"));
        paths.extend(data.roots());
    }
    let (mut roots, mut asked): (Vec<HookRoot>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for path in paths {
        if asked.contains(&path) {
            continue;
        }
        // One root by two names is one root.
        let known = |root: &HookRoot| {
            let id = identity(root);
            id.is_some() && roots.iter().any(|r| identity(r) == id)
        };
        match HookRoot::existing(&path) {
            Ok(Some(root)) if !known(&root) => roots.push(root),
            Ok(_) => {}
            Err(refused) => left_out.push(format!("{refused}; it is left out")),
        }
        asked.push(path);
    }
    (roots, left_out)
}

/// What is said where there is nothing to show.
pub(super) const NOTHING_YET: &str = "nothing is kept yet: start a session in a host that has the hooks \
    (or try one with `bookend hook`)";

fn identity(root: &HookRoot) -> Option<(u64, u64)> {
    let meta = root.dir().file().metadata().ok()?;
    Some((meta.dev(), meta.ino()))
}
