//! The executables: the five hooks and the command, placed in `<data dir>/bin` from the directory that this
//! command runs in, with a link to the command in `~/.local/bin`. Each is replaced whole, also while it runs.

use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use super::error::InstallError;
use super::place::{Place, is_executable};
use crate::files::{self, Dir, Durability};
use crate::hook::Hook;

const COMMAND: &str = "bookend";
const MODE: u32 = 0o755;
/// How the temporary of the link begins; the number of its process follows.
const NEW_LINK: &str = ".bookend-";

/// What has to be placed.
#[derive(Debug, Clone)]
pub struct Executables {
    from: PathBuf,
    /// Their names; none when all are there as they are to be.
    pub names: Vec<String>,
    /// The link that has to be made or changed.
    pub link: Option<PathBuf>,
    /// Why there will be no link.
    pub no_link: Option<String>,
}

impl Executables {
    /// Looks at what the directory of the running command has, and what is placed already.
    ///
    /// # Errors
    /// The command does not know where it is.
    pub fn look(place: &Place) -> Result<Self, InstallError> {
        let failed = |error| InstallError::Read {
            path: PathBuf::from("the path of this command"),
            error,
        };
        let own = std::env::current_exe()
            .and_then(|exe| exe.canonicalize())
            .map_err(failed)?;
        Ok(Self::look_from(own.parent().unwrap_or(Path::new("/")), place))
    }

    /// The same, from a directory.
    #[must_use]
    pub fn look_from(from: &Path, place: &Place) -> Self {
        let bin = place.bin();
        let has_all = Hook::ALL
            .iter()
            .all(|hook| is_executable(&from.join(hook.name())));
        let is_there = bin.canonicalize().is_ok_and(|bin| bin == from);
        let names = if has_all && !is_there {
            let names = Hook::ALL.iter().map(|hook| hook.name()).chain([COMMAND]);
            names
                .filter(|name| !is_same(&from.join(name), &bin.join(name)))
                .map(str::to_owned)
                .collect()
        } else {
            Vec::new()
        };
        let (link, no_link) = link(place);
        Self {
            from: from.to_owned(),
            names,
            link,
            no_link,
        }
    }

    /// Places them.
    ///
    /// # Errors
    /// One cannot be copied, or the link not be made.
    pub fn place(&self, place: &Place) -> Result<(), InstallError> {
        let bin = place.bin();
        let failed = |path: PathBuf| move |error: io::Error| InstallError::Write { path, error };
        if !self.names.is_empty() {
            let data = Dir::open_or_make(&place.data).map_err(failed(place.data.clone()))?;
            data.check_or_tighten()
                .map_err(failed(place.data.clone()))?
                .map_err(|why| InstallError::Refused {
                    path: place.data.clone(),
                    why: format!(
                        "it is not yours alone ({why:?}): set BOOKEND_DATA_DIR to a directory of your own"
                    ),
                })?;
            let dir = data.sub_or_make("bin").map_err(failed(bin.clone()))?;
            for name in &self.names {
                let from = self.from.join(name);
                let bytes = std::fs::read(&from).map_err(|error| InstallError::Read { path: from, error })?;
                dir.replace_as(name, &format!("{name}.new"), &bytes, MODE, Durability::Power)
                    .map_err(failed(bin.join(name)))?;
            }
        }
        match &self.link {
            Some(link) => make_link(link, &bin.join(COMMAND)).map_err(failed(link.clone())),
            None => Ok(()),
        }
    }
}

/// Takes away the executables and the link, if it is ours.
///
/// # Errors
/// One cannot be removed.
pub fn remove_executables(place: &Place) -> Result<Vec<PathBuf>, InstallError> {
    let bin = place.bin();
    let mut gone = Vec::new();
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| InstallError::Write { path, error }
    };
    if let Some(dir) = place.link().as_deref().and_then(Path::parent)
        && let Ok(dir) = dir.canonicalize().and_then(|dir| Dir::open(&dir))
    {
        files::remove_left_behind(&dir, NEW_LINK);
    }
    if let Some(link) = place.link()
        && std::fs::read_link(&link).is_ok_and(|to| to == bin.join(COMMAND))
    {
        std::fs::remove_file(&link).map_err(failed(&link))?;
        gone.push(link);
    }
    if let Ok(dir) = Dir::open(&bin) {
        for name in Hook::ALL.iter().map(|hook| hook.name()).chain([COMMAND]) {
            if dir.remove(name).map_err(failed(&bin.join(name)))? {
                gone.push(bin.join(name));
            }
            // Of a run that was killed.
            drop(dir.remove(&format!("{name}.new")));
        }
        // What else is in there is not ours, and then it stays.
        drop(Dir::open(&place.data).and_then(|data| data.remove_sub("bin")));
        drop(std::fs::remove_dir(&place.data));
    }
    Ok(gone)
}

/// The link to make, or why not.
fn link(place: &Place) -> (Option<PathBuf>, Option<String>) {
    let Some(link) = place.link() else {
        return (
            None,
            Some("HOME is not set, so no link to the command was made".to_owned()),
        );
    };
    let wanted = place.bin().join(COMMAND);
    match (link.symlink_metadata(), std::fs::read_link(&link)) {
        (_, Ok(to)) if to == wanted => (None, None),
        (Err(_), _) => (Some(link), None),
        // A link of an older installation, or one that leads nowhere.
        (_, Ok(to)) if !to.exists() || is_command(&to) => (Some(link), None),
        _ => {
            let why = format!(
                "{} is something else, so no link to the command was made: call {}",
                link.display(),
                wanted.display()
            );
            (None, Some(why))
        }
    }
}

fn is_command(path: &Path) -> bool {
    path.file_name().is_some_and(|n| n == COMMAND) && path.parent().is_some_and(|bin| bin.ends_with("bin"))
}

fn make_link(link: &Path, to: &Path) -> io::Result<()> {
    if let Some(dir) = link.parent() {
        let dir = Dir::open_or_make(&dir.canonicalize().unwrap_or_else(|_| dir.to_owned()))?;
        files::remove_left_behind(&dir, NEW_LINK);
    }
    let temp = link.with_file_name(format!("{NEW_LINK}{}", std::process::id()));
    symlink(to, &temp)?;
    std::fs::rename(&temp, link).inspect_err(|_| drop(std::fs::remove_file(&temp)))
}

/// The same content; sizes first.
fn is_same(a: &Path, b: &Path) -> bool {
    let (Ok(meta_a), Ok(meta_b)) = (a.metadata(), b.metadata()) else {
        return false;
    };
    meta_a.len() == meta_b.len()
        && is_executable(b)
        && (meta_a.ino() == meta_b.ino() && meta_a.dev() == meta_b.dev()
            || matches!((std::fs::read(a), std::fs::read(b)), (Ok(a), Ok(b)) if a == b))
}
