//! One directory that holds a store: is it there, ours alone, writable, with room.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, StatVfs};

use super::finding::Finding;
use super::fix::Fix;
use super::report::Kind;
use super::{LITTLE_SPACE, settings};
use crate::files::{Dir, Unsafe};

/// Below this many files that can still be made, people are told.
const FEW_FILES: u64 = 256;

/// What stands there.
pub(super) enum Place {
    /// Nothing.
    Missing,
    /// A directory that is used.
    Usable,
    /// Something that is not used.
    Refused,
}

impl Kind {
    fn variable(self) -> &'static str {
        match self {
            Self::HookRoot => "MAESTRO_HOOKS_DIR",
            Self::DataDir => "BOOKEND_DATA_DIR",
        }
    }
}

/// Looks at a store's directory.
pub(super) fn examine(path: &Path, kind: Kind, findings: &mut Vec<Finding>) -> Place {
    match Dir::open(path) {
        Ok(dir) => {
            let refused = judge(&dir, path, kind);
            let usable = refused.as_ref().is_none_or(|f| f.code == LOOSE);
            findings.extend(refused);
            if !usable {
                return Place::Refused;
            }
            findings.extend(writable(&dir, path, kind));
            Place::Usable
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            findings.extend(makeable(path, kind));
            Place::Missing
        }
        Err(e) => {
            let what = match kind_of(path) {
                Some(thing) => format!("It is {thing}, not a directory, so hooks do not use it."),
                None => format!("It cannot be opened: {e}; hooks do not use it."),
            };
            let remedy = format!("Move it away, or set {} to another directory.", kind.variable());
            findings.push(Finding::problem(unsafe_code(kind), path.to_string_lossy(), what).remedy(remedy));
            Place::Refused
        }
    }
}

const LOOSE: &str = "data-dir-loose";

fn unsafe_code(kind: Kind) -> &'static str {
    match kind {
        Kind::HookRoot => "root-unsafe",
        Kind::DataDir => "data-dir-unsafe",
    }
}

/// What stands in the place of a directory; nothing is followed.
fn kind_of(path: &Path) -> Option<&'static str> {
    let is = path.symlink_metadata().ok()?.file_type();
    if is.is_symlink() {
        Some("a link")
    } else if is.is_file() {
        Some("a file")
    } else if is.is_fifo() {
        Some("a FIFO")
    } else {
        (!is.is_dir()).then_some("a device or a socket")
    }
}

/// Owner and mode.
fn judge(dir: &Dir, path: &Path, kind: Kind) -> Option<Finding> {
    let problem = |code, what: String| Finding::problem(code, path.to_string_lossy(), what);
    let variable = kind.variable();
    match dir.check() {
        Ok(Ok(())) => None,
        Err(e) => Some(
            problem(unsafe_code(kind), format!("It cannot be asked whose it is: {e}."))
                .remedy(format!("Set {variable} to another directory.")),
        ),
        Ok(Err(Unsafe::Owner(uid))) => Some(
            problem(
                unsafe_code(kind),
                format!("It belongs to user {uid}, so hooks do not use it."),
            )
            .remedy(format!(
                "Run the host as yourself, or set {variable} to a directory of your own."
            )),
        ),
        Ok(Err(Unsafe::Mode(mode))) => {
            let chmod = Fix::Chmod {
                path: path.to_owned(),
                from: mode,
                to: 0o700,
            };
            let ours = is_ours(dir, kind);
            if kind == Kind::DataDir {
                let what = format!("Its mode is {mode:o}, so others could look into it.");
                return Some(
                    problem(LOOSE, what)
                        .remedy("Run `chmod 700` on it; the next hook does too.")
                        .fix(ours.then_some(chmod)),
                );
            }
            let what = format!("Its mode is {mode:o}, so others could use it, and hooks do not.");
            let remedy = if mode & 0o022 != 0 {
                "Others could write there: look what is in it, then `chmod 700` or remove it."
            } else if ours {
                "Run `chmod 700` on it, or remove it."
            } else {
                "It holds nothing of Bookend: set MAESTRO_HOOKS_DIR to a directory that holds nothing else, \
                 or run `chmod 700` on it."
            };
            let safe = ours && mode & 0o022 == 0;
            Some(
                problem(unsafe_code(kind), what)
                    .remedy(remedy)
                    .fix(safe.then_some(chmod)),
            )
        }
    }
}

/// Whether it is empty, or carries what only we put there: a mistyped variable must not close somebody's
/// home directory.
fn is_ours(dir: &Dir, kind: Kind) -> bool {
    let own: &[&str] = match kind {
        Kind::HookRoot => &[".bookend"],
        Kind::DataDir => &["log", "open", "by-host", "roots"],
    };
    let Ok(entries) = dir.entries() else { return false };
    entries.is_empty() || entries.iter().any(|e| own.contains(&e.name.as_str()))
}

fn writable(dir: &Dir, path: &Path, kind: Kind) -> Option<Finding> {
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    let e = rustix::fs::accessat(dir.file(), ".", wanted, AtFlags::EACCESS).err()?;
    Some(unwritable(
        path,
        kind,
        &format!("hooks cannot write there: {}", io::Error::from(e)),
    ))
}

/// A directory that is not there is fine, if it can be made.
fn makeable(path: &Path, kind: Kind) -> Option<Finding> {
    let above = path.ancestors().skip(1).find(|p| p.symlink_metadata().is_ok())?;
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    let why = if above.is_dir() {
        let e = rustix::fs::accessat(CWD, above, wanted, AtFlags::EACCESS).err()?;
        io::Error::from(e).to_string()
    } else {
        "that is no directory".to_owned()
    };
    let what = format!("it is not there and cannot be made in {}: {why}", above.display());
    Some(unwritable(path, kind, &what))
}

fn unwritable(path: &Path, kind: Kind, what: &str) -> Finding {
    let what = format!("{}.", settings::capital(what));
    Finding::problem("not-writable", path.to_string_lossy(), what).remedy(format!(
        "Make it writable for yourself, or set {} to a directory of your own.",
        kind.variable()
    ))
}

/// The bytes that can still be written in a directory, or where it will be made; too few are a finding.
pub(super) fn room(path: &Path, findings: &mut Vec<Finding>) -> Option<u64> {
    let at = path.ancestors().find(|p| p.exists())?;
    let free = fs2::available_space(at).ok()?;
    let files = rustix::fs::statvfs(at).ok();
    findings.extend(cramped(path, free, files.as_ref()));
    Some(free)
}

fn cramped(path: &Path, free: u64, files: Option<&StatVfs>) -> Option<Finding> {
    // Some file systems count no files.
    let left = files.filter(|f| f.f_files > 0).map(|f| f.f_favail);
    let what = if free < LITTLE_SPACE {
        format!(
            "Only {} KiB are free on its disk; with less, hooks cannot write.",
            free / 1024
        )
    } else {
        let left = left.filter(|left| *left < FEW_FILES)?;
        format!("Only {left} files can still be made on its disk; then hooks cannot write.")
    };
    Some(Finding::problem("little-space", path.to_string_lossy(), what).remedy("Make room on that disk."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_room_is_a_problem_with_figures() {
        let path = Path::new("/data");
        assert!(cramped(path, LITTLE_SPACE, None).is_none());
        let found = cramped(path, 12 * 1024, None).unwrap();
        assert!(
            found.code == "little-space" && found.what.contains("12 KiB"),
            "{found:?}"
        );
        let mut stat = rustix::fs::statvfs("/").unwrap();
        (stat.f_files, stat.f_favail) = (1000, 3);
        let found = cramped(path, u64::MAX, Some(&stat)).unwrap();
        assert!(found.what.contains("Only 3 files"), "{found:?}");
        stat.f_files = 0;
        assert!(
            cramped(path, u64::MAX, Some(&stat)).is_none(),
            "it counts no files"
        );
    }
}
