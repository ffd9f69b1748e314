//! The hook root: found, checked, never trusted. The name is predictable and the temp directory shared, so
//! a root that is a link, a file, another user's or open to others is not used, not changed and not
//! deleted; the fallback is `<data dir>/hooks`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::files::{Dir, Unsafe};
use crate::log::data_dir::DataDir;

/// Says that a root is Bookend's; its content is the format's version.
const MARKER: &str = ".bookend";
/// The version of the live state's format.
pub const VERSION: u32 = 1;

/// A checked hook root.
#[derive(Debug)]
pub struct HookRoot {
    dir: Dir,
    path: PathBuf,
}

/// Why a root is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Where it is.
    pub path: Option<PathBuf>,
    /// Why not, as a clause.
    pub why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "use the hook root {}: {}", path.display(), self.why),
            None => write!(f, "use the hook root: {}", self.why),
        }
    }
}

impl HookRoot {
    /// Opens the wanted root, made if missing, else the fallback. The refusal of the wanted one comes along.
    ///
    /// # Errors
    /// The refusals of both, when neither can be used.
    pub fn open(config: &Config, data: Option<&DataDir>) -> Result<(Self, Option<Refused>), Vec<Refused>> {
        let refused = match &config.hook_root {
            Ok(path) => match Self::at(path) {
                Ok(root) => return Ok((root, None)),
                Err(refused) => refused,
            },
            Err(why) => Refused {
                path: None,
                why: why.clone(),
            },
        };
        let Some(data) = data else {
            return Err(vec![refused]);
        };
        match Self::at(&data.path().join("hooks")) {
            Ok(root) => Ok((root, Some(refused))),
            Err(second) => Err(vec![refused, second]),
        }
    }

    /// Opens and checks one root, made if missing.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn at(path: &Path) -> Result<Self, Refused> {
        let refused = |why: String| Refused {
            path: Some(path.to_owned()),
            why,
        };
        let dir = Dir::open_or_make(path).map_err(|e| refused(e.to_string()))?;
        check(&dir).map_err(refused)?;
        Ok(Self {
            dir,
            path: path.to_owned(),
        })
    }

    /// Opens and checks one root, or `None` if it is not there: for commands, which make none.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn existing(path: &Path) -> Result<Option<Self>, Refused> {
        let refused = |why: String| Refused {
            path: Some(path.to_owned()),
            why,
        };
        match Dir::open(path) {
            Ok(dir) => {
                check(&dir).map_err(refused)?;
                Ok(Some(Self {
                    dir,
                    path: path.to_owned(),
                }))
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(refused(e.to_string())),
        }
    }

    /// Says, in the root itself and in the data directory's list, that this root is ours and in use.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn claim(&self, data: Option<&DataDir>) -> io::Result<()> {
        // Also when it is marked: another data directory may have recorded it, or this one was lost.
        if let Some(data) = data {
            data.record_root(&self.path)?;
        }
        if self.dir.stat(MARKER)?.is_some() {
            return Ok(());
        }
        match self.dir.create_new(MARKER, format!("{VERSION}\n").as_bytes()) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    /// Its directory.
    #[must_use]
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Its path, for people.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn check(dir: &Dir) -> Result<(), String> {
    match dir.check().map_err(|e| e.to_string())? {
        Ok(()) => Ok(()),
        Err(Unsafe::Owner(uid)) => Err(format!("it belongs to user {uid}")),
        Err(Unsafe::Mode(mode)) => Err(format!("its mode is {mode:o}, others may use it: chmod 700")),
    }
}
