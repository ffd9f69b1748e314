//! A directory held by its descriptor, and everything that is done below it by name.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, Stat};
use rustix::process::Gid;

const DIR: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// `NONBLOCK` so that a FIFO in our place cannot hold us; whether it is a regular file is checked after.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// The mode of every file of ours.
const PRIVATE: u32 = 0o600;

/// A directory, by descriptor.
#[derive(Debug)]
pub struct Dir {
    file: File,
    /// It has been listed: the next listing has to go back to where it begins.
    listed: AtomicBool,
}

/// Why a directory is not to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsafe {
    /// It belongs to another user.
    Owner(u32),
    /// Group or others may use it; the mode bits.
    Mode(u32),
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name; names that are not UTF-8 are none of ours and are left out.
    pub name: String,
    /// Whether it is a directory (a link to one is not).
    pub is_dir: bool,
    /// Where to go on after it: a cookie for [`Dir::entries_from`].
    pub next: i64,
}

/// How much a replacement must outlive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A killed process: the rename is enough.
    Process,
    /// A power cut: data and directory are synced.
    Power,
}

/// Who may use a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Its mode bits, past the umask.
    pub mode: u32,
    /// Its group, where we may give it that one; `None`: ours.
    pub group: Option<u32>,
}

impl Access {
    /// Of every file of ours.
    pub const PRIVATE: Self = Self::mode(PRIVATE);

    /// With our own group.
    #[must_use]
    pub const fn mode(mode: u32) -> Self {
        Self { mode, group: None }
    }
}

impl Dir {
    /// Opens a directory; the last component may not be a link.
    ///
    /// # Errors
    /// As `open(2)`; a link or a file is `NotADirectory` or `FilesystemLoop`.
    pub fn open(path: &Path) -> io::Result<Self> {
        // With a slash or a dot behind it, a link would be followed after all.
        let path: PathBuf = path.components().collect();
        Ok(rustix::fs::open(&path, DIR, Mode::empty())?.into())
    }

    /// Opens a directory, making it and its missing parents 0700.
    ///
    /// # Errors
    /// As `open(2)` and `mkdir(2)`.
    pub fn open_or_make(path: &Path) -> io::Result<Self> {
        match Self::open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                make_all(path)?;
                Self::open(path)
            }
            other => other,
        }
    }

    /// Checks that it is ours alone: owner, and nothing for group or others.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn check(&self) -> io::Result<Result<(), Unsafe>> {
        let stat = rustix::fs::fstat(&self.file)?;
        Ok(judge(&stat, 0o077))
    }

    /// Checks the owner, and makes an own directory that others could use private.
    ///
    /// # Errors
    /// When it cannot be asked or changed.
    pub fn check_or_tighten(&self) -> io::Result<Result<(), Unsafe>> {
        let stat = rustix::fs::fstat(&self.file)?;
        match judge(&stat, 0o077) {
            Err(Unsafe::Mode(_)) => {
                rustix::fs::fchmod(&self.file, Mode::from_raw_mode(0o700))?;
                Ok(Ok(()))
            }
            other => Ok(other),
        }
    }

    /// The open file, for its lock.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The subdirectory `name`, or `None`.
    ///
    /// # Errors
    /// Anything but its absence.
    pub fn sub(&self, name: &str) -> io::Result<Option<Self>> {
        found(rustix::fs::openat(&self.file, plain(name)?, DIR, Mode::empty())).map(|d| d.map(Self::from))
    }

    /// The subdirectory `name`, made if missing.
    ///
    /// # Errors
    /// As `mkdirat(2)` and `openat(2)`.
    pub fn sub_or_make(&self, name: &str) -> io::Result<Self> {
        if let Some(dir) = self.sub(name)? {
            return Ok(dir);
        }
        match rustix::fs::mkdirat(&self.file, plain(name)?, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
        self.sub(name)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// A regular file opened for reading, or `None`.
    ///
    /// # Errors
    /// Anything but its absence; something that is no regular file is `InvalidData`.
    pub fn open_read(&self, name: &str) -> io::Result<Option<(File, u64)>> {
        self.open_file(name, OFlags::RDONLY)
    }

    /// A regular file opened for reading and appending, or `None`.
    ///
    /// # Errors
    /// As [`Dir::open_read`].
    pub fn open_append(&self, name: &str) -> io::Result<Option<(File, u64)>> {
        self.open_file(name, OFlags::RDWR | OFlags::APPEND)
    }

    /// The same, made if missing.
    ///
    /// # Errors
    /// As [`Dir::open_read`].
    pub fn open_append_or_make(&self, name: &str) -> io::Result<(File, u64)> {
        self.open_file(name, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)?
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn open_file(&self, name: &str, how: OFlags) -> io::Result<Option<(File, u64)>> {
        let opened = self.open_stat(name, how)?;
        Ok(opened.map(|(file, stat)| (file, u64::try_from(stat.st_size).unwrap_or(0))))
    }

    pub(super) fn open_stat(&self, name: &str, how: OFlags) -> io::Result<Option<(File, Stat)>> {
        let opened = rustix::fs::openat(&self.file, plain(name)?, FILE | how, Mode::from_raw_mode(PRIVATE));
        let Some(fd) = found(opened)? else { return Ok(None) };
        let stat = rustix::fs::fstat(&fd)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{name} is no regular file"),
            ));
        }
        Ok(Some((File::from(fd), stat)))
    }

    /// The content of a small file, or `None`; more than `limit` bytes is `FileTooLarge`.
    ///
    /// # Errors
    /// As [`Dir::open_read`].
    pub fn read(&self, name: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let Some((file, len)) = self.open_read(name)? else {
            return Ok(None);
        };
        if len > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(Some(bytes))
    }

    /// Makes the file `name`, which may not exist.
    ///
    /// # Errors
    /// `AlreadyExists`, or as `openat(2)` and `write(2)`; a half-written file is removed.
    pub fn create_new(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_new(name, bytes, Access::PRIVATE, Durability::Process)
    }

    pub(super) fn write_new(
        &self,
        name: &str,
        bytes: &[u8],
        access: Access,
        durability: Durability,
    ) -> io::Result<()> {
        let how = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let fd = rustix::fs::openat(&self.file, plain(name)?, how, Mode::from_raw_mode(PRIVATE))?;
        let mut file = File::from(fd);
        let written = io::Write::write_all(&mut file, bytes).and_then(|()| {
            if let Some(group) = access.group {
                // A group that we are not in cannot be given; then it is ours, and the owner's right is what counts.
                let _ = rustix::fs::fchown(&file, None, Some(Gid::from_raw(group)));
            }
            match access.mode {
                PRIVATE => Ok(()),
                // Past the umask.
                mode => Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?),
            }
        });
        let written = written.and_then(|()| match durability {
            Durability::Process => Ok(()),
            Durability::Power => file.sync_data(),
        });
        if written.is_err() {
            drop(self.remove(name));
        }
        written
    }

    /// Puts `bytes` in the place of `name`, whole or not at all. `temp` is the temporary's name: a known
    /// one under a lock (a leftover is overwritten), a unique one without.
    ///
    /// # Errors
    /// As the system calls; the old file is then still there.
    pub fn replace(&self, name: &str, temp: &str, bytes: &[u8], durability: Durability) -> io::Result<()> {
        self.replace_as(name, temp, bytes, Access::PRIVATE, durability)
    }

    /// The same with a mode and a group of its own: for executables, and for files of the user, which keep theirs.
    ///
    /// # Errors
    /// As [`Dir::replace`].
    pub fn replace_as(
        &self,
        name: &str,
        temp: &str,
        bytes: &[u8],
        access: Access,
        durability: Durability,
    ) -> io::Result<()> {
        match self.write_new(temp, bytes, access, durability) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                self.remove(temp)?;
                self.write_new(temp, bytes, access, durability)?;
            }
            other => other?,
        }
        if let Err(e) = self.rename(temp, name) {
            drop(self.remove(temp));
            return Err(e);
        }
        if durability == Durability::Power {
            rustix::fs::fsync(&self.file)?;
        }
        Ok(())
    }

    /// Writes over the beginning of a file, in place: for a hint that may be torn or lost, and whose writer
    /// always writes the same number of bytes. (A replacement costs a hundred times as much on ext4.)
    ///
    /// # Errors
    /// As `openat(2)` and `pwrite(2)`.
    pub fn scribble(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let how = OFlags::WRONLY | OFlags::CREATE;
        let opened = self.open_file(name, how)?;
        let (file, _) = opened.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        file.write_all_at(bytes, 0)
    }

    /// Renames within the directory.
    ///
    /// # Errors
    /// As `renameat(2)`.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(
            &self.file,
            plain(from)?,
            &self.file,
            plain(to)?,
        )?)
    }

    /// Moves a file into another directory under the same name; `false` when there was none.
    ///
    /// # Errors
    /// As `renameat(2)`.
    pub fn move_to(&self, other: &Self, name: &str) -> io::Result<bool> {
        let name = plain(name)?;
        found(rustix::fs::renameat(&self.file, name, &other.file, name)).map(|f| f.is_some())
    }

    /// Removes a file; `false` when there was none.
    ///
    /// # Errors
    /// As `unlinkat(2)`.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        found(rustix::fs::unlinkat(&self.file, plain(name)?, AtFlags::empty())).map(|f| f.is_some())
    }

    /// Removes an empty subdirectory; `false` when there was none.
    ///
    /// # Errors
    /// As `unlinkat(2)`; one that is not empty stays.
    pub fn remove_sub(&self, name: &str) -> io::Result<bool> {
        found(rustix::fs::unlinkat(&self.file, plain(name)?, AtFlags::REMOVEDIR)).map(|f| f.is_some())
    }

    /// What stands at `name` (a link itself, not its target), or `None`.
    ///
    /// # Errors
    /// Anything but its absence.
    pub fn stat(&self, name: &str) -> io::Result<Option<Stat>> {
        found(rustix::fs::statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW))
    }

    /// Whether this is still the directory that `parent` has under `name`: after a lock was had, it may
    /// have been pruned meanwhile.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn is_still(&self, parent: &Self, name: &str) -> io::Result<bool> {
        let ours = rustix::fs::fstat(&self.file)?;
        let there = parent.stat(plain(name)?)?;
        Ok(there.is_some_and(|t| t.st_ino == ours.st_ino && t.st_dev == ours.st_dev))
    }

    /// Whether this is still the directory at `path`.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn is_at(&self, path: &Path) -> io::Result<bool> {
        let ours = rustix::fs::fstat(&self.file)?;
        let there = found(rustix::fs::lstat(path))?;
        Ok(there.is_some_and(|t| t.st_ino == ours.st_ino && t.st_dev == ours.st_dev))
    }

    /// All names in it.
    ///
    /// # Errors
    /// As `getdents(2)`.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        self.entries_from(0, usize::MAX)
    }

    /// At most `limit` names, from where `cookie` says (0: the beginning).
    ///
    /// # Errors
    /// As `getdents(2)`.
    pub fn entries_from(&self, cookie: i64, limit: usize) -> io::Result<Vec<Entry>> {
        if self.listed.swap(true, Ordering::Relaxed) || cookie > 0 {
            (&self.file).seek(SeekFrom::Start(u64::try_from(cookie).unwrap_or(0)))?;
        }
        let mut block = [MaybeUninit::uninit(); 4096];
        let mut reader = RawDir::new(&self.file, &mut block);
        let mut entries = Vec::new();
        while entries.len() < limit {
            let Some(entry) = reader.next() else { break };
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if name == "." || name == ".." {
                continue;
            }
            let next = i64::try_from(entry.next_entry_cookie()).unwrap_or(0);
            let is_dir = match entry.file_type() {
                FileType::Unknown => {
                    let stat = self.stat(name)?;
                    stat.is_some_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::Directory)
                }
                kind => kind == FileType::Directory,
            };
            entries.push(Entry {
                name: name.to_owned(),
                is_dir,
                next,
            });
        }
        Ok(entries)
    }
}

impl From<OwnedFd> for Dir {
    fn from(fd: OwnedFd) -> Self {
        Self {
            file: File::from(fd),
            listed: AtomicBool::new(false),
        }
    }
}

fn judge(stat: &Stat, forbidden: u32) -> Result<(), Unsafe> {
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        Err(Unsafe::Owner(stat.st_uid))
    } else if stat.st_mode & forbidden != 0 {
        Err(Unsafe::Mode(stat.st_mode & 0o7777))
    } else {
        Ok(())
    }
}

/// A single name: what comes from outside has been made safe before (session keys, ids), and this is the
/// last door.
pub(super) fn plain(name: &str) -> io::Result<&str> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a single file name",
        ));
    }
    Ok(name)
}

fn found<T>(result: rustix::io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Makes the missing parents and the directory itself, nearest existing one first.
fn make_all(path: &Path) -> io::Result<()> {
    let mut missing = Vec::new();
    let mut at = Some(path);
    while let Some(p) = at {
        match rustix::fs::mkdir(p, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => break,
            Err(rustix::io::Errno::NOENT) if missing.len() < 64 => missing.push(p),
            Err(e) => return Err(e.into()),
        }
        at = p.parent();
    }
    for p in missing.iter().rev() {
        match rustix::fs::mkdir(*p, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}
