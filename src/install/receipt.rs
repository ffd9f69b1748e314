//! What an installation changed, so that it can be taken back to the byte: `<data dir>/install/<host>/`.
//!
//! ```text
//! receipt.json     version, time, host, means, the files with what stood in them before
//! before/<name>    a file of the user as it is without us
//! found/<name>     the same file as the last installation found it: the backup
//! ```

use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::error::InstallError;
use super::place::Place;
use crate::clock;
use crate::files::{Dir, Durability};
use crate::host::Host;

const RECEIPT: &str = "receipt.json";
/// Behind the name of a temporary; who writes holds the lock.
const NEW: &str = ".new";
const BEFORE: &str = "before";
const FOUND: &str = "found";
const MAX: u64 = 16 * 1024 * 1024;

/// By which way the hooks are registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// As a plugin, through the host's own commands.
    Plugin,
    /// In the user's settings, where the host's program is not on PATH.
    Settings,
}

/// The receipt of one host.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// Of Bookend.
    pub version: String,
    /// When.
    pub at: DateTime<Utc>,
    /// How.
    pub means: Means,
    /// The user's files.
    pub files: Vec<Noted>,
}

/// A file of the user.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Noted {
    /// Which.
    pub path: PathBuf,
    /// Under which name its text without us is kept; `None`: there was no such file.
    pub before: Option<String>,
}

/// What is to be kept of a file.
#[derive(Debug)]
pub(super) struct ToKeep<'a> {
    /// Which.
    pub path: &'a Path,
    /// Its text without us.
    pub before: Option<&'a [u8]>,
    /// Its text as it was found.
    pub found: Option<&'a [u8]>,
}

/// The receipt of a host, if there is one that can be read.
#[must_use]
pub fn load(place: &Place, host: Host) -> Option<Receipt> {
    read(place, host).ok().flatten()
}

/// The receipt of a host. One that cannot be read now is an error, not a missing one: without it a removal
/// would not give back what stood there before.
fn read(place: &Place, host: Host) -> Result<Option<Receipt>, InstallError> {
    let bytes = kept(place, host, None, RECEIPT)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// A file that is kept of a host, in one of its folders.
fn kept(place: &Place, host: Host, below: Option<&str>, name: &str) -> Result<Option<Vec<u8>>, InstallError> {
    let path = folder(place, host);
    let read = || -> io::Result<Option<Vec<u8>>> {
        let dir = match Dir::open(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        match below {
            None => dir.read(name, MAX),
            Some(below) => dir.sub(below)?.map_or(Ok(None), |dir| dir.read(name, MAX)),
        }
    };
    read().map_err(|error| InstallError::Read {
        path: path.join(below.unwrap_or_default()).join(name),
        error,
    })
}

/// Where the receipt of a host and its backups stand.
#[must_use]
pub(super) fn folder(place: &Place, host: Host) -> PathBuf {
    place.data.join("install").join(host.id())
}

/// What a file said without us: `None`, nothing is known; `Some(None)`, there was no such file.
///
/// # Errors
/// What is kept cannot be read now.
pub(super) fn before(
    place: &Place,
    host: Host,
    path: &Path,
) -> Result<Option<Option<Vec<u8>>>, InstallError> {
    let files = read(place, host)?
        .map(|receipt| receipt.files)
        .unwrap_or_default();
    match files.into_iter().find(|f| f.path == path).map(|f| f.before) {
        None => Ok(None),
        Some(None) => Ok(Some(None)),
        Some(Some(name)) => Ok(kept(place, host, Some(BEFORE), &name)?.map(Some)),
    }
}

/// Writes the receipt, the backups first.
///
/// # Errors
/// It cannot be written.
pub(super) fn save(
    place: &Place,
    host: Host,
    means: Means,
    files: &[ToKeep<'_>],
) -> Result<(), InstallError> {
    let path = folder(place, host);
    let write = || -> io::Result<()> {
        let dir = Dir::open_or_make(&path)?;
        let mut noted = Vec::new();
        for file in files {
            let name = file.path.file_name().and_then(|n| n.to_str()).unwrap_or("file");
            for (folder, bytes) in [(BEFORE, file.before), (FOUND, file.found)] {
                if let Some(bytes) = bytes {
                    let sub = dir.sub_or_make(folder)?;
                    sub.replace(name, &format!("{name}{NEW}"), bytes, Durability::Power)?;
                }
            }
            noted.push(Noted {
                path: file.path.to_owned(),
                before: file.before.map(|_| name.to_owned()),
            });
        }
        let receipt = Receipt {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            at: clock::now(),
            means,
            files: noted,
        };
        let text = serde_json::to_vec_pretty(&receipt)?;
        dir.replace(RECEIPT, &format!("{RECEIPT}{NEW}"), &text, Durability::Power)
    };
    write().map_err(|error| InstallError::Write {
        path: path.clone(),
        error,
    })
}

/// What a file holds, if it is there.
fn bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Removes it with the texts that it keeps of these files, also where an installation was killed before it wrote
/// the receipt. A backup stays where the file did not come back as it was found.
///
/// # Errors
/// It cannot be removed.
pub(super) fn remove(place: &Place, host: Host, files: &[&Path]) -> Result<(), InstallError> {
    let path = folder(place, host);
    let Ok(dir) = Dir::open(&path) else { return Ok(()) };
    let noted = read(place, host)?
        .map(|receipt| receipt.files)
        .unwrap_or_default();
    let clear = || -> io::Result<()> {
        dir.remove(&format!("{RECEIPT}{NEW}"))?;
        for entry in left(&dir)? {
            entry.0.remove(&entry.1)?;
        }
        let known = noted.iter().map(|noted| noted.path.as_path());
        for file in known.chain(files.iter().copied()) {
            let name = file.file_name().and_then(|n| n.to_str()).unwrap_or("file");
            if bytes(&path.join(FOUND).join(name))? == bytes(file)?
                && let Some(found) = dir.sub(FOUND)?
            {
                found.remove(name)?;
            }
            if let Some(before) = dir.sub(BEFORE)? {
                before.remove(name)?;
            }
        }
        // Last: without it nobody knows what else stands here.
        dir.remove(RECEIPT)?;
        // Those that are empty now.
        for name in [BEFORE, FOUND] {
            drop(dir.remove_sub(name));
        }
        for dir in path.ancestors().take(2) {
            drop(std::fs::remove_dir(dir));
        }
        Ok(())
    };
    clear().map_err(|error| InstallError::Write {
        path: path.clone(),
        error,
    })
}

/// The temporaries that a killed installation left.
fn left(dir: &Dir) -> io::Result<Vec<(Dir, String)>> {
    let mut found = Vec::new();
    for name in [BEFORE, FOUND] {
        for entry in dir
            .sub(name)?
            .map(|sub| sub.entries())
            .transpose()?
            .unwrap_or_default()
        {
            if entry.name.ends_with(NEW)
                && let Some(sub) = dir.sub(name)?
            {
                found.push((sub, entry.name));
            }
        }
    }
    Ok(found)
}

/// The backup of a file as the last installation found it.
#[must_use]
pub fn backup(place: &Place, host: Host, path: &Path) -> Option<PathBuf> {
    let backup = folder(place, host).join(FOUND).join(path.file_name()?);
    backup.is_file().then_some(backup)
}
