//! Files among the user's own: they keep their mode, and nobody else's change is written over.

use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::dir::{Access, Dir, Durability, plain};

impl Dir {
    /// The content of a regular file and what it was when it was read, if `judge` has nothing against it; or
    /// `None`.
    ///
    /// # Errors
    /// As [`Dir::open_read`], and what `judge` says.
    pub fn read_judged(
        &self,
        name: &str,
        judge: impl Fn(&Stat) -> io::Result<()>,
    ) -> io::Result<Option<(Vec<u8>, Stat)>> {
        let Some((file, stat)) = self.open_stat(name, OFlags::RDONLY)? else {
            return Ok(None);
        };
        judge(&stat)?;
        let mut bytes = vec![0; usize::try_from(stat.st_size).unwrap_or(0)];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(Some((bytes, stat)))
    }

    /// Puts `bytes` in the place of `name`, whole and outliving a power cut, unless the file is not what it
    /// `was` any more; whether that was so. Its mode stays. `temp` is the temporary's name, a known one under
    /// a lock.
    ///
    /// # Errors
    /// As the system calls; the old file is then still there.
    pub fn replace_unchanged(&self, name: &str, temp: &str, bytes: &[u8], was: &Stat) -> io::Result<bool> {
        let access = Access {
            mode: was.st_mode & 0o777,
            group: Some(was.st_gid),
        };
        match self.write_new(temp, bytes, access, Durability::Power) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                self.remove(temp)?;
                self.write_new(temp, bytes, access, Durability::Power)?;
            }
            other => other?,
        }
        // Between this look and the renaming lies nothing but the renaming.
        let still = self
            .stat(name)
            .map(|now| now.is_some_and(|now| is_as_it_was(&now, was)));
        match still.and_then(|still| {
            if still {
                self.rename(temp, name).map(|()| true)
            } else {
                Ok(false)
            }
        }) {
            Ok(true) => {
                rustix::fs::fsync(self.file())?;
                Ok(true)
            }
            other => {
                drop(self.remove(temp));
                other
            }
        }
    }

    /// Makes the file `name`, which may not exist, with the mode that the user's umask leaves.
    ///
    /// # Errors
    /// `AlreadyExists`, or as `openat(2)` and `write(2)`; a half-written file is removed.
    pub fn create_shared(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(self.file(), plain(name)?, how, Mode::from_raw_mode(0o666))?;
        let mut file = std::fs::File::from(fd);
        let written = io::Write::write_all(&mut file, bytes).and_then(|()| file.sync_data());
        if written.is_err() {
            drop(self.remove(name));
        }
        written
    }

    /// The subdirectory `name`, made if missing with the mode that the user's umask leaves.
    ///
    /// # Errors
    /// As `mkdirat(2)` and `openat(2)`.
    pub fn shared_sub(&self, name: &str) -> io::Result<Self> {
        match rustix::fs::mkdirat(self.file(), plain(name)?, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
        self.sub(name)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Moves a file into another directory under a name that nothing has there, on the disk when this returns;
    /// `false` when there was none.
    ///
    /// # Errors
    /// `AlreadyExists`: nothing is ever taken the place of; else as `renameat2(2)`.
    pub fn move_new(&self, name: &str, other: &Self, new: &str) -> io::Result<bool> {
        let (name, new) = (plain(name)?, plain(new)?);
        match rustix::fs::renameat_with(self.file(), name, other.file(), new, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(false),
            // A file system that knows no such renaming: a second name, then the first one goes.
            Err(Errno::INVAL | Errno::NOSYS) => {
                match rustix::fs::linkat(self.file(), name, other.file(), new, AtFlags::empty()) {
                    Ok(()) => {}
                    Err(Errno::NOENT) => return Ok(false),
                    // Cut off between the two.
                    Err(Errno::EXIST) if self.is_one_file(name, other, new)? => {}
                    Err(e) => return Err(e.into()),
                }
                rustix::fs::fsync(other.file())?;
                self.remove(name)?;
            }
            Err(e) => return Err(e.into()),
        }
        rustix::fs::fsync(other.file())?;
        rustix::fs::fsync(self.file())?;
        Ok(true)
    }

    fn is_one_file(&self, name: &str, other: &Self, new: &str) -> io::Result<bool> {
        let (one, two) = (self.stat(name)?, other.stat(new)?);
        let id = |stat: Option<Stat>| stat.map(|stat| (stat.st_dev, stat.st_ino));
        Ok(one.is_some() && id(one) == id(two))
    }
}

/// The same file with the same content: a change of either moves one of these.
fn is_as_it_was(now: &Stat, was: &Stat) -> bool {
    let of = |s: &Stat| {
        (
            s.st_dev,
            s.st_ino,
            s.st_size,
            s.st_mtime,
            s.st_mtime_nsec,
            s.st_ctime,
            s.st_ctime_nsec,
        )
    };
    of(now) == of(was)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_a_file_that_is_as_it_was_is_replaced_and_it_keeps_its_mode() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open(temp.path()).unwrap();
        dir.create_shared("file", b"one").unwrap();
        let path = temp.path().join("file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let was = dir.stat("file").unwrap().unwrap();
        assert!(dir.replace_unchanged("file", ".temp", b"two", &was).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert!(!dir.replace_unchanged("file", ".temp", b"three", &was).unwrap());
        dir.remove("file").unwrap();
        assert!(!dir.replace_unchanged("file", ".temp", b"three", &was).unwrap());
        assert!(dir.entries().unwrap().is_empty(), "nothing is left behind");
        assert!(dir.create_shared("file", b"").is_ok() && dir.create_shared("file", b"").is_err());
    }

    #[test]
    fn a_file_moves_only_to_where_nothing_is() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open(temp.path()).unwrap();
        let sub = dir.sub_or_make("sub").unwrap();
        dir.create_new("a", b"one").unwrap();
        sub.create_new("b", b"two").unwrap();
        let refused = dir.move_new("a", &sub, "b").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert!(dir.move_new("a", &sub, "c").unwrap() && !dir.move_new("a", &sub, "c").unwrap());
        let text = |name: &str| sub.read(name, 9).unwrap().unwrap();
        assert_eq!((text("b"), text("c")), (b"two".to_vec(), b"one".to_vec()));
    }
}
