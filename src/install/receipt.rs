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

/// The receipt of a host, if there is one that can be understood.
///
/// # Errors
/// It is there and cannot be read: nobody may go on as if there were none, for it knows the user's own text.
fn read(place: &Place, host: Host) -> Result<Option<Receipt>, InstallError> {
    let read = || -> io::Result<Option<Receipt>> {
        let Some(dir) = open(place, host)? else {
            return Ok(None);
        };
        let bytes = dir.read(RECEIPT, MAX)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    };
    read().map_err(|error| unread(place, host, error))
}

fn open(place: &Place, host: Host) -> io::Result<Option<Dir>> {
    match Dir::open(&folder(place, host)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

fn unread(place: &Place, host: Host, error: io::Error) -> InstallError {
    InstallError::Read {
        path: folder(place, host).join(RECEIPT),
        error,
    }
}

/// Where the receipt of a host and its backups stand.
#[must_use]
pub(super) fn folder(place: &Place, host: Host) -> PathBuf {
    place.data.join("install").join(host.id())
}

/// What a file said without us: `None`, nothing is known; `Some(None)`, there was no such file.
///
/// # Errors
/// What is kept of it cannot be read.
pub(super) fn before(
    place: &Place,
    host: Host,
    path: &Path,
) -> Result<Option<Option<Vec<u8>>>, InstallError> {
    let files = read(place, host)?
        .map(|receipt| receipt.files)
        .unwrap_or_default();
    let Some(noted) = files.into_iter().find(|f| f.path == path) else {
        return Ok(None);
    };
    let Some(name) = noted.before else {
        return Ok(Some(None));
    };
    let read = || -> io::Result<Option<Vec<u8>>> {
        let Some(dir) = open(place, host)? else {
            return Ok(None);
        };
        dir.sub(BEFORE)?.map_or(Ok(None), |dir| dir.read(&name, MAX))
    };
    let kept = read().map_err(|error| unread(place, host, error))?;
    Ok(kept.map(Some))
}

/// Writes the receipt and the backups, before anything else is touched. The receipt goes first: it names the
/// backups that a removal has to take away again.
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
        let noted = files.iter().map(|file| Noted {
            path: file.path.to_owned(),
            before: file.before.map(|_| name_of(file.path).to_owned()),
        });
        let receipt = Receipt {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            at: clock::now(),
            means,
            files: noted.collect(),
        };
        let text = serde_json::to_vec_pretty(&receipt)?;
        dir.replace(RECEIPT, &temporary(RECEIPT), &text, Durability::Power)?;
        for file in files {
            let name = name_of(file.path);
            for (folder, bytes) in [(BEFORE, file.before), (FOUND, file.found)] {
                if let Some(bytes) = bytes {
                    let sub = dir.sub_or_make(folder)?;
                    sub.replace(name, &temporary(name), bytes, Durability::Power)?;
                }
            }
        }
        Ok(())
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

/// Under which name the text of a file is kept.
fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|n| n.to_str()).unwrap_or("file")
}

/// The one temporary of a file in here.
fn temporary(name: &str) -> String {
    format!("{name}.new")
}

/// Removes it with the texts that it keeps. A backup stays where the file did not come back as it was found.
///
/// # Errors
/// It cannot be removed.
pub(super) fn remove(place: &Place, host: Host) -> Result<(), InstallError> {
    let path = folder(place, host);
    let files = read(place, host)?.map(|receipt| receipt.files);
    let clear = || -> io::Result<()> {
        let Some(dir) = open(place, host)? else {
            return Ok(());
        };
        let noted = files.unwrap_or_default();
        for file in &noted {
            let name = name_of(&file.path);
            for folder in [BEFORE, FOUND] {
                if let Some(sub) = dir.sub(folder)? {
                    sub.remove(&temporary(name))?;
                }
            }
            if bytes(&path.join(FOUND).join(name))? == bytes(&file.path)?
                && let Some(found) = dir.sub(FOUND)?
            {
                found.remove(name)?;
            }
            if let (Some(name), Some(before)) = (&file.before, dir.sub(BEFORE)?) {
                before.remove(name)?;
            }
        }
        // It goes last: by it a run that was killed is gone on with.
        dir.remove(&temporary(RECEIPT))?;
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

/// The backup of a file as the last installation found it.
#[must_use]
pub fn backup(place: &Place, host: Host, path: &Path) -> Option<PathBuf> {
    let backup = folder(place, host).join(FOUND).join(path.file_name()?);
    backup.is_file().then_some(backup)
}
