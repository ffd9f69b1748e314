//! Where the state files are, and which of them applies.
//!
//! Nothing outside the project and the toolkit's own directory is ever opened: `docs` and all below it are
//! opened name by name, without following a link, and what `builder-config.json` says is only followed
//! downwards. (The project itself and `~/.config/opencode` may be reached over links: the user made them.)

use std::io;
use std::path::{Component, Path, PathBuf};

use chrono::{DateTime, Utc};
use rustix::fs::{FileType, Stat};

use super::builder;
use super::json::Document;
use super::said::time;
use super::{Agent, MAX_FILE};
use crate::files::Dir;

/// The builder's file, in each session's folder.
const SESSION: &str = "session.json";
/// Folders of sessions looked at: those whose names sort last, which begin with their day.
const MAX_SESSIONS: usize = 100;
/// Largest `builder-config.json` that is read.
const MAX_CONFIG: u64 = 1024 * 1024;

/// Where to look.
#[derive(Debug, Clone, Copy)]
pub struct Roots<'a> {
    /// The project root.
    pub project: Option<&'a Path>,
    /// The user's home.
    pub home: Option<&'a Path>,
}

/// A state file that is there.
#[derive(Debug)]
pub struct Place {
    /// Whose it is.
    pub agent: Agent,
    pub(super) dir: Dir,
    pub(super) name: &'static str,
    /// What stood there when it was found.
    pub(super) stat: Stat,
    /// Its path.
    pub path: PathBuf,
}

impl Place {
    /// How it is called in messages: from the project's root on.
    #[must_use]
    pub fn shown(&self, roots: Roots<'_>) -> String {
        let inside = roots.project.and_then(|root| self.path.strip_prefix(root).ok());
        inside.unwrap_or(&self.path).to_string_lossy().into_owned()
    }
}

impl<'a> Roots<'a> {
    /// The project, unless that is `/` or the user's home: there, nothing is anybody's project.
    pub(super) fn project(self) -> Option<&'a Path> {
        let project = self.project.filter(|p| p.is_absolute() && p.parent().is_some())?;
        let is_home = self
            .home
            .is_some_and(|home| home.components().eq(project.components()));
        (!is_home).then_some(project)
    }

    /// The same by what it is, once there is something to be written: links may lead to the home too.
    fn is_project(self, project: &Path) -> bool {
        let home = self.home.and_then(|home| rustix::fs::stat(home).ok());
        match rustix::fs::stat(project) {
            Ok(stat) => !home.is_some_and(|home| is_same(&home, &stat)),
            Err(_) => false,
        }
    }

    pub(super) fn toolkit(self) -> Option<PathBuf> {
        let home = self
            .home
            .filter(|home| home.is_absolute() && home.parent().is_some())?;
        Some(home.join(".config/opencode"))
    }

    /// The file that applies: that of the agent that is named, else the one in use here, and of two the one
    /// that changed last.
    #[must_use]
    pub fn find(self, named: Option<Agent>) -> Option<Place> {
        if let Some(agent) = named {
            return self.of(agent);
        }
        let all = self.all(false).into_iter();
        all.max_by_key(|place| (place.stat.st_mtime, place.stat.st_mtime_nsec))
    }

    fn of(self, agent: Agent) -> Option<Place> {
        match agent {
            Agent::Toolkit => self.toolkit_file(),
            Agent::Planner | Agent::Builder => {
                let (project, docs) = self.docs()?;
                let place = match agent {
                    Agent::Planner => planner(project, docs),
                    _ => session(project, &docs),
                };
                place.filter(|_| self.is_project(project))
            }
        }
    }

    /// All that are in use in this project; `anywhere`: the toolkit's file in any case. (It is one for the
    /// whole machine: without its agent's name, only the toolkit's own repository is known to be worked at
    /// by it.)
    #[must_use]
    pub fn all(self, anywhere: bool) -> Vec<Place> {
        let mut all = Vec::new();
        if let Some((project, docs)) = self.docs() {
            all.extend(session(project, &docs));
            all.extend(planner(project, docs));
            all.retain(|_| self.is_project(project));
        }
        let toolkit = self.toolkit_file();
        all.extend(toolkit.filter(|_| anywhere || self.is_toolkits()));
        all
    }

    pub(super) fn docs(self) -> Option<(&'a Path, Dir)> {
        let project = self.project()?;
        Some((project, Dir::open(&project.join("docs")).ok()?))
    }

    fn toolkit_file(self) -> Option<Place> {
        let folder = self.toolkit()?.join(".tmp");
        let dir = Dir::open(&folder).ok()?;
        there(Agent::Toolkit, dir, &folder)
    }

    /// Whether the project is the toolkit's own repository.
    fn is_toolkits(self) -> bool {
        let (Some(project), Some(toolkit)) = (self.project(), self.toolkit()) else {
            return false;
        };
        match (rustix::fs::stat(project), rustix::fs::stat(&toolkit)) {
            (Ok(a), Ok(b)) => is_same(&a, &b),
            _ => false,
        }
    }
}

fn is_same(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

fn there(agent: Agent, dir: Dir, folder: &Path) -> Option<Place> {
    let name = agent.file();
    let stat = dir.stat(name).ok()??;
    Some(Place {
        agent,
        dir,
        name,
        stat,
        path: folder.join(name),
    })
}

fn planner(project: &Path, docs: Dir) -> Option<Place> {
    there(Agent::Planner, docs, &project.join("docs"))
}

/// The builder's session: the one that `builder-config.json` names, else the one in progress with the
/// newest heartbeat.
fn session(project: &Path, docs: &Dir) -> Option<Place> {
    let named = docs.read("builder-config.json", MAX_CONFIG).ok().flatten();
    let named = named.and_then(|bytes| {
        let doc = Document::parse(&bytes).ok()?;
        doc.root.string(&["lastSessionPath"])
    });
    if let Some(place) = named.and_then(|path| below(project, Path::new(&path)))
        // One that does not read may be in progress: it is spoken of, not passed over.
        && look(&place).is_none_or(|seen| seen.in_progress)
    {
        return Some(place);
    }
    let sessions = docs.sub("sessions").ok()??;
    let mut names: Vec<String> = sessions
        .entries()
        .ok()?
        .into_iter()
        .filter(|e| e.is_dir && e.name != "archive" && !e.name.starts_with('.'))
        .map(|e| e.name)
        .collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    let folder = project.join("docs/sessions");
    let mut newest: Option<(Option<DateTime<Utc>>, Place)> = None;
    for name in names.into_iter().take(MAX_SESSIONS) {
        let Ok(Some(dir)) = sessions.sub(&name) else {
            continue;
        };
        let Some(place) = there(Agent::Builder, dir, &folder.join(&name)) else {
            continue;
        };
        if let Some(seen) = look(&place).filter(|s| s.in_progress)
            && newest.as_ref().is_none_or(|(at, _)| *at < seen.heartbeat)
        {
            newest = Some((seen.heartbeat, place));
        }
    }
    newest.map(|(_, place)| place)
}

struct Look {
    in_progress: bool,
    heartbeat: Option<DateTime<Utc>>,
}

fn look(place: &Place) -> Option<Look> {
    let bytes = place.dir.read(place.name, MAX_FILE).ok()??;
    let doc = Document::parse(&bytes).ok().filter(builder::is_one)?;
    Some(Look {
        in_progress: builder::is_in_progress(&doc),
        heartbeat: time(&doc.root, "lastHeartbeat"),
    })
}

/// The session in a folder that is named from the project's root on; `None` for a path that leaves it.
fn below(project: &Path, path: &Path) -> Option<Place> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::CurDir => {}
            _ => return None,
        }
    }
    if names.last() == Some(&SESSION) {
        names.pop();
    }
    let (first, rest) = names.split_first()?;
    let mut folder = project.join(first);
    let mut dir = Dir::open(&folder).ok()?;
    for name in rest {
        dir = dir.sub(name).ok()??;
        folder.push(name);
    }
    there(Agent::Builder, dir, &folder)
}

fn refused(why: impl Into<String>) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::InvalidData, why.into()))
}

/// What a look at a name says against opening it: a link, or no file at all.
pub(super) fn is_file(stat: &Stat) -> io::Result<()> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => refused("it is a link"),
        _ => refused("it is no regular file"),
    }
}

/// What the open file says against using it: it is another's, or more than a state file ever is.
pub(super) fn judge(stat: &Stat) -> io::Result<()> {
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return refused(format!("it belongs to user {}", stat.st_uid));
    }
    if stat.st_nlink > 1 {
        return refused("it has a second name (a hard link), from which a new text would part it");
    }
    if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > MAX_FILE {
        return refused(format!("it is larger than {} MB", MAX_FILE / (1024 * 1024)));
    }
    Ok(())
}
