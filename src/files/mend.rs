//! What is mended of single files: only what is ours, only if it is still what was looked at.

use std::io;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::Dir;

/// Gives a file or directory of ours another mode, if its mode is still `from`.
///
/// # Errors
/// As `open(2)` and `fchmod(2)`; `InvalidData` when it is none of ours, or not as it was.
pub fn change_mode(path: &Path, from: u32, to: u32) -> io::Result<()> {
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, how, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    let ours = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => true,
        // A second name may stand where others rely on its mode.
        FileType::RegularFile => stat.st_nlink == 1,
        _ => false,
    };
    if !ours || stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(changed("it is not ours alone"));
    }
    if stat.st_mode & 0o7777 != from {
        return Err(changed("it has changed meanwhile"));
    }
    Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(to))?)
}

/// Removes a regular file of ours in a directory of ours; `false` when there is none any more.
///
/// # Errors
/// As `unlinkat(2)`; `InvalidData` when it is none of ours.
pub fn remove_own(path: &Path) -> io::Result<bool> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|n| n.to_str())) else {
        return Err(changed("it is not ours alone"));
    };
    let dir = Dir::open(parent)?;
    let Some(stat) = dir.stat(name)? else {
        return Ok(false);
    };
    let us = rustix::process::geteuid().as_raw();
    let file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !file || stat.st_uid != us || rustix::fs::fstat(dir.file())?.st_uid != us {
        return Err(changed("it is not ours alone"));
    }
    dir.remove(name)
}

/// Removes what killed processes left of a file that was to get another name: names that are `prefix` and the
/// number of a process which is no more. What cannot be removed stays: it is in nobody's way.
pub fn remove_left_behind(dir: &Dir, prefix: &str) {
    for entry in dir.entries().unwrap_or_default() {
        let number = entry.name.strip_prefix(prefix).and_then(|n| n.parse().ok());
        let process = number.and_then(Pid::from_raw);
        if process.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH)) {
            drop(dir.remove(&entry.name));
        }
    }
}

fn changed(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, hard_link, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn only_a_file_of_ours_that_is_as_it_was_gets_another_mode() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::File::options()
            .append(true)
            .create(true)
            .open(&file)
            .unwrap();
        set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        assert!(change_mode(&file, 0o640, 0o600).is_err(), "it was another mode");
        symlink(&file, dir.path().join("link")).unwrap();
        assert!(change_mode(&dir.path().join("link"), 0o644, 0o600).is_err());
        hard_link(&file, dir.path().join("second")).unwrap();
        assert!(change_mode(&file, 0o644, 0o600).is_err(), "it has a second name");
        assert_eq!(mode(&file), 0o644);
        std::fs::remove_file(dir.path().join("second")).unwrap();
        change_mode(&file, 0o644, 0o600).unwrap();
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_a_living_one_makes_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut dead = std::process::Command::new("true").spawn().unwrap();
        let id = dead.id();
        dead.wait().unwrap();
        let (own, left) = (
            format!(".x.bookend-{}", std::process::id()),
            format!(".x.bookend-{id}"),
        );
        let held = Dir::open(dir.path()).unwrap();
        for name in [&own, &left, ".x.bookend-", ".x.bookend-abc", ".y.bookend-99"] {
            held.create_new(name, b"").unwrap();
        }
        remove_left_behind(&held, ".x.bookend-");
        let mut names: Vec<_> = held.entries().unwrap().into_iter().map(|e| e.name).collect();
        names.sort();
        assert_eq!(names, [".x.bookend-", &own, ".x.bookend-abc", ".y.bookend-99"]);
    }

    #[test]
    fn only_a_regular_file_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link, sub) = (
            dir.path().join("file"),
            dir.path().join("link"),
            dir.path().join("sub"),
        );
        std::fs::File::options()
            .append(true)
            .create(true)
            .open(&file)
            .unwrap();
        symlink(&file, &link).unwrap();
        std::fs::create_dir(&sub).unwrap();
        assert!(remove_own(&link).is_err() && remove_own(&sub).is_err());
        assert!(remove_own(&file).unwrap() && !remove_own(&file).unwrap());
        assert!(link.is_symlink() && sub.is_dir());
    }
}
