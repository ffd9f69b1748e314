//! A file that belongs to the user: settings of a host. It is read whole, and replaced whole or not at all,
//! in the order that a power cut cannot break (write, fdatasync, rename, fsync of the directory). A link
//! stays a link, the mode stays as it was. Another user's file is refused: a root shell would otherwise
//! leave a file behind that its owner cannot change.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::InstallError;
use crate::files::{self, Dir, Durability};

/// Larger settings are none.
const MAX: u64 = 16 * 1024 * 1024;
/// Of a file that we make.
const MODE: u32 = 0o600;

/// A user's file as it stands.
#[derive(Debug, Clone)]
pub struct UserFile {
    /// As people name it.
    pub path: PathBuf,
    /// Its bytes; `None`: there is no such file.
    pub content: Option<Vec<u8>>,
    /// Where it really stands, links followed.
    target: PathBuf,
    mode: u32,
}

impl UserFile {
    /// Reads it.
    ///
    /// # Errors
    /// It is no regular file, is another user's, is too large, or cannot be read.
    pub fn read(path: &Path) -> Result<Self, InstallError> {
        let failed = |error: io::Error| InstallError::Read {
            path: path.to_owned(),
            error,
        };
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Self::absent(path),
            Err(e) => return Err(failed(e)),
        };
        let meta = target.metadata().map_err(failed)?;
        let refused = |why: String| InstallError::Refused {
            path: path.to_owned(),
            why,
        };
        if !meta.is_file() {
            return Err(refused("it is no regular file".to_owned()));
        }
        if meta.uid() != rustix::process::geteuid().as_raw() {
            let uid = meta.uid();
            return Err(refused(format!(
                "it belongs to user {uid}: run this as that user"
            )));
        }
        if meta.len() > MAX {
            return Err(refused("it is larger than 16 MiB".to_owned()));
        }
        Ok(Self {
            path: path.to_owned(),
            content: Some(std::fs::read(&target).map_err(failed)?),
            mode: meta.mode() & 0o7777,
            target,
        })
    }

    /// A dangling link is somebody's intention: the file is made where it points.
    fn absent(path: &Path) -> Result<Self, InstallError> {
        let target = match std::fs::read_link(path) {
            Ok(link) => path.parent().unwrap_or(Path::new("/")).join(link),
            Err(_) => path.to_owned(),
        };
        Ok(Self {
            path: path.to_owned(),
            content: None,
            target,
            mode: MODE,
        })
    }

    /// Puts these bytes in its place; the mode is the one that was read.
    ///
    /// # Errors
    /// As the system calls; the old file is then still there.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), InstallError> {
        if self.content.as_deref() == Some(bytes) && self.current_mode() == Some(self.mode) {
            return Ok(());
        }
        self.replace(bytes).map_err(|error| InstallError::Write {
            path: self.path.clone(),
            error,
        })?;
        self.content = Some(bytes.to_owned());
        Ok(())
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let (dir, name) = self.place()?;
        let temp = format!("{}{}", temporaries(&name), std::process::id());
        dir.replace_as(&name, &temp, bytes, self.mode, Durability::Power)
    }

    /// Removes what killed runs left beside it.
    pub fn clear_left_behind(&self) {
        if self.target.parent().is_some_and(Path::is_dir)
            && let Ok((dir, name)) = self.place()
        {
            files::remove_left_behind(&dir, &temporaries(&name));
        }
    }

    /// Removes it; a link stays.
    ///
    /// # Errors
    /// As `unlinkat(2)`.
    pub fn remove(&mut self) -> Result<(), InstallError> {
        let removed = self.place().and_then(|(dir, name)| dir.remove(&name));
        removed.map_err(|error| InstallError::Write {
            path: self.path.clone(),
            error,
        })?;
        self.content = None;
        Ok(())
    }

    fn place(&self) -> io::Result<(Dir, String)> {
        let name = self.target.file_name().and_then(|n| n.to_str());
        let name = name.ok_or(io::ErrorKind::InvalidFilename)?;
        let parent = self.target.parent().unwrap_or(Path::new("/"));
        let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
        Ok((Dir::open_or_make(&parent)?, name.to_owned()))
    }

    fn current_mode(&self) -> Option<u32> {
        self.target.metadata().ok().map(|m| m.mode() & 0o7777)
    }

    /// Reads it again, after somebody else (the host's own command) may have changed it; the mode that it
    /// had before stays the one that it gets back.
    ///
    /// # Errors
    /// As [`UserFile::read`].
    pub fn read_again(&self) -> Result<Self, InstallError> {
        let mut now = Self::read(&self.path)?;
        if self.content.is_some() {
            now.mode = self.mode;
        }
        Ok(now)
    }
}

/// How the temporaries of a file begin; the number of their process follows.
fn temporaries(name: &str) -> String {
    format!(".{name}.bookend-")
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "a test plays the user who writes the file"
)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_link_stays_a_link_and_the_mode_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real.json"), dir.path().join("sub/settings.json"));
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink("../real.json", &link).unwrap();
        let mut file = UserFile::read(&link).unwrap();
        file.write(b"new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(real.metadata().unwrap().mode() & 0o7777, 0o640);
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            2,
            "no temporary is left"
        );
    }

    #[test]
    fn what_is_not_there_is_made_private_and_a_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/settings.json");
        let mut file = UserFile::read(&path).unwrap();
        assert!(file.content.is_none());
        file.write(b"{}").unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        file.remove().unwrap();
        assert!(!path.exists());
        let refused = UserFile::read(dir.path()).unwrap_err().to_string();
        assert!(refused.ends_with("it is no regular file"), "{refused}");
    }
}
