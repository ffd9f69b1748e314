//! One installation at a time in a data directory: two would write the same temporaries, and the receipt of one
//! would say what the other found. The lock is `flock` on the directory itself and dies with its process.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::InstallError;
use super::place::Place;
use crate::files::{Busy, Dir, acquire};

/// Longer than a host's own commands take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _dir: Option<Dir>,
}

impl Lock {
    /// To install: the data directory is made if it is missing.
    ///
    /// # Errors
    /// The directory cannot be made, is another user's, or another installation does not end.
    pub fn make(place: &Place) -> Result<Self, InstallError> {
        Self::take(&place.data, Dir::open_or_make)
    }

    /// To remove: without a data directory there is nothing to lock.
    ///
    /// # Errors
    /// As [`Lock::make`].
    pub fn of(place: &Place) -> Result<Self, InstallError> {
        match Self::take(&place.data, Dir::open) {
            Err(InstallError::Write { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { _dir: None })
            }
            other => other,
        }
    }

    fn take(data: &Path, open: fn(&Path) -> io::Result<Dir>) -> Result<Self, InstallError> {
        let path = PathBuf::from(data);
        let failed = |error| InstallError::Write {
            path: path.clone(),
            error,
        };
        loop {
            let dir = open(data).map_err(failed)?;
            dir.check_or_tighten()
                .map_err(failed)?
                .map_err(|why| InstallError::Refused {
                    path: path.clone(),
                    why: format!(
                        "it is not yours alone ({why:?}): set BOOKEND_DATA_DIR to a directory of your own"
                    ),
                })?;
            match acquire(dir.file(), PATIENCE) {
                Ok(()) => {}
                Err(Busy::Io(error)) => return Err(failed(error)),
                Err(Busy::Held) => {
                    return Err(InstallError::Refused {
                        path: path.clone(),
                        why: "another bookend install or uninstall is at work in it: wait for it, then run this again"
                            .to_owned(),
                    });
                }
            }
            // An uninstall that we waited for has removed it.
            if dir.is_at(data).map_err(failed)? {
                return Ok(Self { _dir: Some(dir) });
            }
        }
    }
}
