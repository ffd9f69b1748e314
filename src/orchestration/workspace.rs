//! Which directory is the workspace, and which in it holds the state.
//!
//! ```text
//! <state dir>/state/active-session.md            front matter and Markdown body
//! <state dir>/state/archive/<session id>.md
//! <state dir>/plans/  plans/archive/             design documents and implementation plans
//! <state dir>/state/.gitignore                   keeps active-session.md and archive/ out of git
//! ```
//!
//! The workspace is the git top level of the directory that is given, else that directory. The state directory is
//! `MAESTRO_STATE_DIR`, in the environment or in the project's `.env`, else `docs/maestro`; it lies in the workspace.

use std::io;
use std::path::Path;

use super::dotenv;
use super::error::Error;
use super::path::{BadPath, Root};
use crate::config::Maestro;
use crate::redact::Redacted;

/// The state directory, where nothing says another one.
const STATE_DIR: &str = "docs/maestro";
/// Largest `.env` that is read.
const MAX_ENV: u64 = 256 * 1024;
/// How often a phase is retried, where nothing says it.
const MAX_RETRIES: u64 = 2;
/// Where hosts keep what they have installed: never a project.
const CACHES: [[&str; 2]; 4] = [
    [".codex", "plugins"],
    [".claude", "plugins"],
    [".gemini", "extensions"],
    [".qwen", "extensions"],
];

/// A workspace and how it is run.
#[derive(Debug)]
pub struct Workspace {
    /// Its root.
    pub root: Root,
    /// The state directory in it, part by part.
    pub state_dir: Vec<String>,
    /// How often a phase may be retried.
    pub max_retries: u64,
    /// Whether a finished session is archived without being asked for.
    pub auto_archive: bool,
}

impl Workspace {
    /// The workspace of a directory. `state_dir` goes before what is set.
    ///
    /// # Errors
    /// [`Error::Workspace`].
    pub fn open(dir: &Path, state_dir: Option<&str>, settings: &Maestro) -> Result<Self, Error> {
        let shown = || Redacted::new(&dir.to_string_lossy());
        let root = Root::open(dir).and_then(|root| match top(root.path()) {
            Some(top) => Root::open(top),
            None => Ok(root),
        });
        let root = root.map_err(|e| Error::Workspace {
            why: format!("The workspace {} cannot be used: {e}", shown()),
        })?;
        if is_cache(root.path()) {
            let why = format!("The workspace {} belongs to an installed extension", shown());
            return Err(Error::Workspace { why });
        }
        let env = env_file(&root).map_err(|why| Error::Workspace {
            why: format!("The .env of {} cannot be read: {why}", shown()),
        })?;
        let set = |own: &Option<String>, name: &str| own.clone().or_else(|| dotenv::value(&env, name));
        let wanted = state_dir.map(str::to_owned);
        let wanted = wanted.or_else(|| set(&settings.state_dir, "MAESTRO_STATE_DIR"));
        let wanted = wanted.unwrap_or_else(|| STATE_DIR.to_owned());
        let state_dir = root.inside(&wanted).map_err(|why| Error::Workspace {
            why: format!(
                "The state directory {} cannot be used: {why}",
                Redacted::truncated(&wanted, 200)
            ),
        })?;
        let retries = set(&settings.max_retries, "MAESTRO_MAX_RETRIES");
        let archive = set(&settings.auto_archive, "MAESTRO_AUTO_ARCHIVE");
        Ok(Self {
            root,
            state_dir,
            max_retries: retries
                .and_then(|text| text.trim().parse().ok())
                .unwrap_or(MAX_RETRIES),
            auto_archive: archive.is_none_or(|text| text.trim() != "false"),
        })
    }

    /// The parts of a path below the state directory.
    #[must_use]
    pub fn parts(&self, below: &[&str]) -> Vec<String> {
        let below = below.iter().map(|part| (*part).to_owned());
        self.state_dir.iter().cloned().chain(below).collect()
    }

    /// The same as text, from the workspace's root on.
    #[must_use]
    pub fn shown(&self, below: &[&str]) -> String {
        self.parts(below).join("/")
    }
}

/// The project's `.env`, which may say where the state is: one that cannot be read now is not taken for none. What
/// is no file (an environment of Python goes by that name) or lies elsewhere is none.
fn env_file(root: &Root) -> Result<String, BadPath> {
    let (dir, name) = match root.file(&[".env".to_owned()], false) {
        Ok(Some(found)) => found,
        Ok(None) | Err(BadPath::NoFile | BadPath::LeadsOut) => return Ok(String::new()),
        Err(why) => return Err(why),
    };
    match dir.read(&name, MAX_ENV) {
        Ok(bytes) => Ok(bytes
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()),
        Err(e) if e.kind() == io::ErrorKind::FileTooLarge => Err(BadPath::TooLarge(MAX_ENV)),
        Err(e) => Err(e.into()),
    }
}

/// The nearest directory above with a `.git`.
fn top(path: &Path) -> Option<&Path> {
    path.ancestors()
        .find(|dir| dir.join(".git").symlink_metadata().is_ok())
}

fn is_cache(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    parts
        .windows(2)
        .any(|pair| CACHES.iter().any(|cache| cache == pair))
}
