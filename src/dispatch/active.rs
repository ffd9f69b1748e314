//! The project's active orchestration, as a hook finds it: `<state dir>/state/active-session.md`, opened name by name
//! below the project without following a link, where the state directory is `MAESTRO_STATE_DIR`, in the environment
//! or in the project's `.env`, else `docs/maestro` (design, "Orchestration state"). What cannot be read is not there.

use std::path::{Component, Path};

use super::project_of;
use crate::config::Config;
use crate::event::{Event, Kind};
use crate::files::Dir;
use crate::live::state::State;
use crate::orchestration::active::Active;
use crate::orchestration::dotenv;

/// The state directory, where nothing says another one.
const STATE_DIR: &str = "docs/maestro";
/// Largest files that are read.
const MAX_SESSION: u64 = 512 * 1024;
const MAX_ENV: u64 = 256 * 1024;
/// What a session that goes on says of itself.
const IN_PROGRESS: &str = "in_progress";

/// Looks it up for the events that tell of it or ask for it.
#[must_use]
pub fn find(event: &Event, state: &State, config: &Config) -> Option<Active> {
    let asks = match event.kind {
        Kind::SessionStart { .. } | Kind::Delegation { .. } | Kind::AgentStart => true,
        Kind::AgentStop { .. } => event.agent.is_some() || !state.agents.is_empty(),
        _ => false,
    };
    if !asks {
        return None;
    }
    // A host names the directory that it was started in, which may lie within the repository.
    let project = project_of(event.project.as_ref().or(state.project_root.as_ref())?);
    let project = Path::new(project.as_str());
    if !project.is_absolute() || project.parent().is_none() {
        return None;
    }
    let root = Dir::open(project).ok()?;
    let dir = state_dir(&root, project, config)?.sub("state").ok()??;
    let text = dir.read("active-session.md", MAX_SESSION).ok()??;
    let active = Active::read(&text)?;
    (active.status.as_deref() == Some(IN_PROGRESS)).then_some(active)
}

fn state_dir(root: &Dir, project: &Path, config: &Config) -> Option<Dir> {
    let set = config.state_dir.clone().or_else(|| {
        let text = root.read(".env", MAX_ENV).ok()??;
        dotenv::value(&String::from_utf8_lossy(&text), "MAESTRO_STATE_DIR")
    });
    let path = set.as_deref().unwrap_or(STATE_DIR);
    // An absolute one lies in the project, or it is none.
    let below = Path::new(path);
    let below = if below.is_absolute() {
        below.strip_prefix(project).ok()?
    } else {
        below
    };
    let mut dir: Option<Dir> = None;
    for part in below.components() {
        let name = match part {
            Component::CurDir => continue,
            Component::Normal(name) => name,
            _ => return None,
        };
        dir = Some(dir.as_ref().unwrap_or(root).sub(name.to_str()?).ok()??);
    }
    dir
}
