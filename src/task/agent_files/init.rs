//! Making a state file, because the user asked for it.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use super::json::Form;
use super::place::Roots;
use super::write::Node;
use super::{Agent, list};
use crate::clock;
use crate::files::Dir;
use crate::task::Todos;

/// Makes the planner's or the toolkit's file, with `todos` in it if there are any, and gives its path. A file
/// that is there stays as it is.
///
/// # Errors
/// Why it cannot be made, a fragment that fits after "failed to".
pub fn init(
    agent: Agent,
    roots: Roots<'_>,
    todos: Option<&Todos>,
    at: DateTime<Utc>,
) -> Result<PathBuf, String> {
    let folder = match agent {
        Agent::Planner => roots.project().map(|p| p.join("docs")).ok_or(
            "make docs/planner-state.json: this is no project (neither / nor your home directory is one)",
        )?,
        Agent::Toolkit => roots
            .toolkit()
            .map(|t| t.join(".tmp"))
            .ok_or("make toolkit-state.json: there is no home directory")?,
        Agent::Builder => {
            return Err("make a builder's session: only the builder itself begins one".to_owned());
        }
    };
    let path = folder.join(agent.file());
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::AlreadyExists => format!("make {}: it is there already", path.display()),
        _ => format!("make {}: {e}", path.display()),
    };
    let parent = folder.parent().unwrap_or(&folder);
    let name = folder.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    // (The last name of the parent may be a link that the user made: it is opened as the directory behind.)
    let parent = parent.canonicalize().map_err(failed)?;
    let dir = Dir::open(&parent)
        .and_then(|parent| parent.shared_sub(name))
        .map_err(failed)?;
    let form = Form::usual();
    let text = content(todos, at).render(&form, Some("")) + form.newline;
    dir.create_shared(agent.file(), text.as_bytes()).map_err(failed)?;
    Ok(path)
}

fn content(todos: Option<&Todos>, at: DateTime<Utc>) -> Node {
    let now = || Node::string(&clock::stamp(at));
    let empty = Todos::default();
    Node::Object(vec![
        ("uiTodos", list::node(todos.unwrap_or(&empty), at)),
        ("currentTask", Node::null()),
        ("updatedAt", now()),
    ])
}
