//! Paths from a workspace's root on, as models write them: which are refused, and how the others are opened.
//!
//! Nothing is opened by a path that could change between a check and its use: each part is opened below the one
//! before, and a link is followed only to where it leads inside the workspace, the same way.

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use crate::files::Dir;

/// Longest path that is looked at, in bytes.
const MAX_PATH: usize = 4096;
/// Most links that one path may have in it.
const MAX_LINKS: usize = 16;

/// Why a path is not to be used.
#[derive(Debug)]
pub enum BadPath {
    /// Nothing, or only dots.
    Empty,
    /// It is absolute, on this system or another.
    Absolute,
    /// It climbs.
    Climbs,
    /// It has a backslash, which is a separator elsewhere.
    Backslash,
    /// It has a NUL.
    Nul,
    /// It is longer than any path.
    TooLong,
    /// A link in it leads out of the workspace.
    LeadsOut,
    /// There is nothing.
    Missing,
    /// What stands there is no regular file.
    NoFile,
    /// It is larger than what is read or written.
    TooLarge(u64),
    /// The file system refused.
    Io(io::Error),
}

impl BadPath {
    /// Its name, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "path_empty",
            Self::Absolute => "path_not_relative",
            Self::Climbs => "path_traversal",
            Self::Backslash | Self::Nul | Self::TooLong => "path_invalid",
            Self::LeadsOut => "path_leads_out",
            Self::Missing => "path_not_found",
            Self::NoFile => "path_no_file",
            Self::TooLarge(_) => "too_large",
            Self::Io(_) => "storage_error",
        }
    }

    /// What to do next, as a sentence.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing => "Look which files there are, and give the path from the workspace's root on.",
            Self::TooLarge(_) => "Split it, or write less.",
            Self::Io(_) => "See to the file's and the directory's rights, then try again.",
            _ => "Give the path of a file in the workspace, relative to its root, with / between its parts.",
        }
    }
}

impl fmt::Display for BadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it names no file"),
            Self::Absolute => f.write_str("it must be relative to the workspace"),
            Self::Climbs => f.write_str("it must not go up with two dots"),
            Self::Backslash => f.write_str("its parts are separated by /, not by \\"),
            Self::Nul => f.write_str("it must not hold a NUL"),
            Self::TooLong => f.write_str("it is too long"),
            Self::LeadsOut => f.write_str("a link in it leads out of the workspace"),
            Self::Missing => f.write_str("there is no such file"),
            Self::NoFile => f.write_str("what stands there is no regular file"),
            Self::TooLarge(most) => write!(f, "more than {most} bytes"),
            Self::Io(e) => e.fmt(f),
        }
    }
}

impl From<io::Error> for BadPath {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

/// The parts of a relative path.
///
/// # Errors
/// [`BadPath`].
pub fn relative(text: &str) -> Result<Vec<String>, BadPath> {
    let drive = |text: &str| {
        let mut letters = text.bytes();
        letters.next().is_some_and(|b| b.is_ascii_alphabetic()) && letters.next() == Some(b':')
    };
    if text.contains('\0') {
        return Err(BadPath::Nul);
    }
    if text.starts_with(['/', '\\']) || drive(text) {
        return Err(BadPath::Absolute);
    }
    if text.split(['/', '\\']).any(|part| part.trim() == "..") {
        return Err(BadPath::Climbs);
    }
    if text.contains('\\') {
        return Err(BadPath::Backslash);
    }
    if text.len() > MAX_PATH || text.split('/').any(|part| part.len() > 255) {
        return Err(BadPath::TooLong);
    }
    let parts = text.split('/').filter(|part| !part.is_empty() && *part != ".");
    Ok(parts.map(str::to_owned).collect())
}

/// The root of a workspace, held by its descriptor.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
}

impl Root {
    /// The directory at that path, its links followed.
    ///
    /// # Errors
    /// As `realpath(3)`; what is no directory is `NotADirectory`.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        Dir::open(&path)?;
        Ok(Self { path })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory with these parts, made if that is wanted; `None` when there is none.
    ///
    /// # Errors
    /// [`BadPath`].
    pub fn dir(&self, parts: &[String], make: bool) -> Result<Option<Dir>, BadPath> {
        self.walk(parts, make, MAX_LINKS)
    }

    fn walk(&self, parts: &[String], make: bool, links: usize) -> Result<Option<Dir>, BadPath> {
        let mut dir = Dir::open(&self.path)?;
        for (n, name) in parts.iter().enumerate() {
            let sub = match dir.sub(name) {
                Ok(None) if make => dir.sub_or_make(name).map(Some),
                other => other,
            };
            dir = match sub {
                Ok(Some(sub)) => sub,
                Ok(None) => return Ok(None),
                Err(e) if links > 0 && is_link(&dir, name) => {
                    let (link, rest) = parts.split_at(n + 1);
                    let Some(mut real) = self.behind(link)? else {
                        return Err(e.into());
                    };
                    real.extend(rest.iter().cloned());
                    return self.walk(&real, make, links - 1);
                }
                Err(e) if e.kind() == io::ErrorKind::NotADirectory => return Err(BadPath::NoFile),
                Err(e) => return Err(e.into()),
            };
        }
        Ok(Some(dir))
    }

    /// The parts of what a link leads to; `None` when that is nothing.
    fn behind(&self, parts: &[String]) -> Result<Option<Vec<String>>, BadPath> {
        let path = self.path.join(parts.iter().collect::<PathBuf>());
        let real = match path.canonicalize() {
            Ok(real) => real,
            // A dangling link leads out if its own words do; it is followed nowhere.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(BadPath::LeadsOut),
            Err(e) => return Err(e.into()),
        };
        let below = real.strip_prefix(&self.path).map_err(|_| BadPath::LeadsOut)?;
        let name = |part: Component<'_>| part.as_os_str().to_str().map(str::to_owned);
        Ok(below.components().map(name).collect())
    }

    /// The directory of a file and its name there, a link at its end followed; `None`: no such directory.
    ///
    /// # Errors
    /// [`BadPath`]: also when what stands there is no regular file.
    pub fn file(&self, parts: &[String], make: bool) -> Result<Option<(Dir, String)>, BadPath> {
        self.find(parts, make, MAX_LINKS)
    }

    fn find(&self, parts: &[String], make: bool, links: usize) -> Result<Option<(Dir, String)>, BadPath> {
        let Some((name, above)) = parts.split_last() else {
            return Err(BadPath::Empty);
        };
        let Some(dir) = self.walk(above, make, MAX_LINKS)? else {
            return Ok(None);
        };
        let Some(stat) = dir.stat(name)? else {
            return Ok(Some((dir, name.clone())));
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some((dir, name.clone()))),
            FileType::Symlink if links > 0 => match self.behind(parts)? {
                Some(real) => self.find(&real, make, links - 1),
                None => Err(BadPath::LeadsOut),
            },
            _ => Err(BadPath::NoFile),
        }
    }

    /// The parts of a path that may be absolute, if it lies inside.
    ///
    /// # Errors
    /// [`BadPath`].
    pub fn inside(&self, text: &str) -> Result<Vec<String>, BadPath> {
        let path = Path::new(text);
        if !path.is_absolute() {
            return relative(text);
        }
        if text.contains('\0') {
            return Err(BadPath::Nul);
        }
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(BadPath::Climbs);
        }
        // What is there is followed; what is not yet lies where its words say.
        let mut at = Some(path);
        while let Some(there) = at {
            if let Ok(real) = there.canonicalize() {
                let rest = path.strip_prefix(there).unwrap_or(Path::new(""));
                let whole = real.join(rest);
                let below = whole.strip_prefix(&self.path).map_err(|_| BadPath::LeadsOut)?;
                return relative(below.to_str().ok_or(BadPath::Absolute)?);
            }
            at = there.parent();
        }
        Err(BadPath::Absolute)
    }
}

fn is_link(dir: &Dir, name: &str) -> bool {
    let stat = dir.stat(name).ok().flatten();
    stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relative_paths_that_do_not_climb_are_taken() {
        for (text, code) in [
            ("/etc/passwd", "path_not_relative"),
            ("C:\\x", "path_not_relative"),
            ("c:/x", "path_not_relative"),
            ("C:x", "path_not_relative"),
            ("\\\\srv\\share", "path_not_relative"),
            ("\\x", "path_not_relative"),
            ("..", "path_traversal"),
            ("a/../b", "path_traversal"),
            ("a\\..\\b", "path_traversal"),
            ("a/.. /b", "path_traversal"),
            ("a\\b", "path_invalid"),
            ("a\0b", "path_invalid"),
        ] {
            assert_eq!(relative(text).map_err(|e| e.code()), Err(code), "{text:?}");
        }
        assert_eq!(
            relative(&"x".repeat(300)).map_err(|e| e.code()),
            Err("path_invalid")
        );
        assert_eq!(relative("./a//b/").unwrap(), ["a", "b"]);
        assert_eq!(relative("a..b/...").unwrap(), ["a..b", "..."]);
        assert!(relative(".").unwrap().is_empty());
    }
}
