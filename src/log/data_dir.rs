//! The data directory: where durable things stand. It is checked once (ours, nobody else's) and held by
//! its descriptor; `sudo claude` in a user's home finds another owner and writes nothing there.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::id::SessionId;
use crate::clock;
use crate::files::{self, Dir, Durability, Unsafe};
use crate::host::Host;
use crate::redact::Redacted;

/// `errors.jsonl` is begun anew beyond this size; the older part is kept as `errors.jsonl.old`.
const MAX_ERRORS: u64 = 1024 * 1024;
/// How long a fault waits for its place in `errors.jsonl`.
const FAULT_WAIT: Duration = Duration::from_millis(20);

/// Every name of ours right in a data directory.
pub const NAMES: [&str; 18] = [
    "log",
    "grown",
    "index.sqlite",
    "index.sqlite-wal",
    "index.sqlite-shm",
    "retention",
    "by-host",
    "open",
    "called",
    "hooks",
    "install",
    "plugin",
    "probed",
    "bin",
    "roots",
    "errors.jsonl",
    "errors.jsonl.old",
    "quarantine",
];

/// The durable store's root.
#[derive(Debug)]
pub struct DataDir {
    dir: Dir,
    path: PathBuf,
}

/// A fault of ours: what `show` and doctor tell, and nobody else notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// When.
    pub at: chrono::DateTime<chrono::Utc>,
    /// In which executable or verb.
    pub hook: String,
    /// In which session, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Redacted>,
    /// What went wrong, as a fragment that fits after "failed to".
    pub what: Redacted,
}

/// Why the data directory cannot be used.
#[derive(Debug)]
pub struct Unusable {
    /// Where it would be.
    pub path: Option<PathBuf>,
    /// Why not.
    pub why: String,
    /// It may be usable at the next try.
    pub may_pass: bool,
}

impl Unusable {
    fn unfound(why: &str) -> Self {
        Self {
            path: None,
            why: why.to_owned(),
            may_pass: false,
        }
    }

    fn at(path: &Path, why: String) -> Self {
        Self {
            path: Some(path.to_owned()),
            why,
            may_pass: false,
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "use the data directory {}: {}", path.display(), self.why),
            None => write!(f, "find a data directory: {}", self.why),
        }
    }
}

impl DataDir {
    /// Opens the data directory, made if missing.
    ///
    /// # Errors
    /// [`Unusable`]: not to be made, a link, or another user's.
    pub fn open(wanted: &Result<PathBuf, String>) -> Result<Self, Unusable> {
        let path = wanted.as_ref().map_err(|why| Unusable::unfound(why))?;
        let unusable = |why: String| Unusable::at(path, why);
        let failed = |e: io::Error| Unusable {
            may_pass: files::may_pass(&e),
            ..unusable(e.to_string())
        };
        let dir = Dir::open_or_make(path).map_err(failed)?;
        match dir.check_or_tighten().map_err(failed)? {
            Ok(()) => Ok(Self {
                dir,
                path: path.clone(),
            }),
            Err(Unsafe::Owner(uid)) => Err(unusable(format!("it belongs to user {uid}"))),
            Err(Unsafe::Mode(mode)) => Err(unusable(format!("its mode is {mode:o}"))),
        }
    }

    /// Opens the data directory, or `None` if it is not there: for commands that only read, which make none
    /// and change no mode.
    ///
    /// # Errors
    /// [`Unusable`]: a link, or another user's.
    pub fn existing(wanted: &Result<PathBuf, String>) -> Result<Option<Self>, Unusable> {
        let path = wanted.as_ref().map_err(|why| Unusable::unfound(why))?;
        let unusable = |why: String| Unusable::at(path, why);
        let dir = match Dir::open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|e| unusable(e.to_string()))?,
        };
        match dir.check().map_err(|e| unusable(e.to_string()))? {
            Err(Unsafe::Owner(uid)) => Err(unusable(format!("it belongs to user {uid}"))),
            // A mode too loose is tightened by the next hook.
            Ok(()) | Err(Unsafe::Mode(_)) => Ok(Some(Self {
                dir,
                path: path.clone(),
            })),
        }
    }

    /// Its path, for people.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory itself.
    #[must_use]
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The directory of a log session, or `None`.
    ///
    /// # Errors
    /// When it is there and cannot be opened.
    pub fn session(&self, id: &SessionId) -> io::Result<Option<Dir>> {
        match self.dir.sub("log")? {
            Some(log) => log.sub(id.as_str()),
            None => Ok(None),
        }
    }

    /// The directory of a log session, made if missing.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn session_or_make(&self, id: &SessionId) -> io::Result<Dir> {
        self.dir.sub_or_make("log")?.sub_or_make(id.as_str())
    }

    /// The ids of all log sessions, unordered.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn sessions(&self) -> io::Result<Vec<SessionId>> {
        let Some(log) = self.dir.sub("log")? else {
            return Ok(Vec::new());
        };
        let entries = log.entries()?.into_iter().filter(|e| e.is_dir);
        Ok(entries.filter_map(|e| SessionId::try_from(e.name).ok()).collect())
    }

    /// The log session that a host session writes to, if it has one.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn by_host(&self, host: Host, key: &str) -> io::Result<Option<SessionId>> {
        let Some(dir) = self.dir.sub("by-host")? else {
            return Ok(None);
        };
        let Some(dir) = dir.sub(host.id())? else {
            return Ok(None);
        };
        let bytes = dir.read(key, 1024)?;
        Ok(bytes.and_then(|b| SessionId::try_from(String::from_utf8_lossy(&b).trim().to_owned()).ok()))
    }

    /// Records the log session that a host session writes to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_by_host(&self, host: Host, key: &str, id: &SessionId) -> io::Result<()> {
        let dir = self.dir.sub_or_make("by-host")?.sub_or_make(host.id())?;
        let temp = format!("{key}.new");
        dir.replace(key, &temp, format!("{id}\n").as_bytes(), Durability::Process)
    }

    /// Forgets the log session that a host session wrote to.
    ///
    /// # Errors
    /// When it cannot be removed.
    #[cfg(feature = "cli")]
    pub fn remove_by_host(&self, host: Host, key: &str) -> io::Result<()> {
        if let Some(dir) = self.dir.sub("by-host")?
            && let Some(dir) = dir.sub(host.id())?
        {
            dir.remove(key)?;
        }
        Ok(())
    }

    /// Records a hook root in use: temp directories differ between shells, and commands read all roots.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record_root(&self, root: &Path) -> io::Result<()> {
        let line = format!("{}\n", root.display());
        let (file, len) = self.dir.open_append_or_make("roots")?;
        let known = self.dir.read("roots", 1024 * 1024)?.unwrap_or_default();
        if String::from_utf8_lossy(&known)
            .lines()
            .any(|l| Path::new(l) == root)
        {
            return Ok(());
        }
        let tail = files::tail(&file, len)?;
        files::append(&file, tail, line.as_bytes()).map(|_| ())
    }

    /// The hook roots that were ever in use.
    #[must_use]
    pub fn roots(&self) -> Vec<PathBuf> {
        let bytes = self
            .dir
            .read("roots", 1024 * 1024)
            .ok()
            .flatten()
            .unwrap_or_default();
        String::from_utf8_lossy(&bytes)
            .lines()
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
            .collect()
    }

    /// Notes a fault; if even that fails, there is nothing left to do.
    pub fn note(&self, fault: &Fault) {
        drop(self.try_note(fault));
    }

    fn try_note(&self, fault: &Fault) -> io::Result<()> {
        let mut line = serde_json::to_vec(fault)?;
        line.push(b'\n');
        let (mut file, _) = self.dir.open_append_or_make("errors.jsonl")?;
        if files::acquire(&file, FAULT_WAIT).is_err() {
            return Ok(());
        }
        if file.metadata()?.len() > MAX_ERRORS {
            self.dir.rename("errors.jsonl", "errors.jsonl.old")?;
            (file, _) = self.dir.open_append_or_make("errors.jsonl")?;
        }
        // Others may have written while this one waited for the lock.
        let tail = files::tail(&file, file.metadata()?.len())?;
        files::append(&file, tail, &line).map(|_| ())
    }

    /// The faults that were noted, oldest first; lines that cannot be read are left out.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let bytes = self
            .dir
            .read("errors.jsonl", 2 * MAX_ERRORS)
            .ok()
            .flatten()
            .unwrap_or_default();
        bytes
            .split(|b| *b == b'\n')
            .filter_map(|l| serde_json::from_slice(l).ok())
            .collect()
    }
}

impl Fault {
    /// A fault of now.
    #[must_use]
    pub fn new(hook: &str, session: Option<&Redacted>, what: &str) -> Self {
        Self {
            at: clock::now(),
            hook: hook.to_owned(),
            session: session.cloned(),
            what: Redacted::truncated(what, crate::event::MAX_LINE),
        }
    }
}
