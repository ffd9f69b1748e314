//! The plugin of a host: manifest, marketplace, registration and skills in one directory, `<data dir>/plugin/<host>`.
//! The directory is its own marketplace, which Claude Code reads in place and Codex copies. The executables
//! stay outside, in `<data dir>/bin`, named by their absolute path: an update of them changes no file of the
//! plugin, and Codex's trust in the plugin survives it.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::error::InstallError;
use super::place::Place;
use super::registered;
use crate::config::VARIABLES;
use crate::files::{Access, Dir, Durability};
use crate::host::Host;
use crate::skills::{SKILLS, Skill};

/// The name of the plugin and of its marketplace.
pub(super) const NAME: &str = "bookend";
/// The plugin as hosts name it.
pub(super) const ID: &str = "bookend@bookend";

/// The repository's manifest; it is what the plugin says of itself.
const MANIFEST: &str = include_str!("../../plugin.json");
/// What starts the session log's tools with a host's session.
const TOOLS: &str = ".mcp.json";
/// Readable by a host that runs as somebody else (a sandbox), writable by its owner alone.
const MODE: u32 = 0o644;
/// What earlier versions placed and this one does not.
const FORMER: [&str; 1] = ["bin"];

/// A file of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Below the plugin's directory.
    pub path: &'static str,
    /// Its text.
    pub text: String,
}

/// The files of the plugin for a host.
#[must_use]
pub(super) fn parts(place: &Place, host: Host) -> Vec<Part> {
    let manifest: Value = serde_json::from_str(MANIFEST).unwrap_or_default();
    let member = |name: &str| manifest.get(name).cloned().unwrap_or_default();
    let marketplace = json!({
        "name": NAME,
        "owner": member("author"),
        "metadata": {"description": member("description")},
        "plugins": [{"name": NAME, "source": "./", "description": member("description")}],
    });
    let text = |value: &Value| format!("{value:#}\n");
    let mut parts = vec![
        Part {
            path: ".claude-plugin/plugin.json",
            text: MANIFEST.to_owned(),
        },
        Part {
            path: ".claude-plugin/marketplace.json",
            text: text(&marketplace),
        },
        Part {
            path: "hooks/hooks.json",
            text: text(&registered::wanted(place, host)),
        },
        Part {
            path: TOOLS,
            text: text(&tools(place, host)),
        },
    ];
    let skill = |skill: Skill| Part {
        path: skill.path,
        text: skill.text.to_owned(),
    };
    parts.extend(SKILLS.map(skill));
    parts
}

/// The server of the session log's tools, as both hosts read it in a plugin. Claude Code gives a server its own
/// environment; Codex (0.171.0) only what is named, and without the variables of the hooks it would serve other stores
/// than they write.
fn tools(place: &Place, host: Host) -> Value {
    let mut server = json!({"command": place.command(), "args": ["mcp"]});
    if let (Host::Codex, Some(server)) = (host, server.as_object_mut()) {
        // A Codex that Claude Code's model started is not in that session.
        let is_own = |name: &&str| ["BOOKEND_", "MAESTRO_"].iter().any(|own| name.starts_with(own));
        let names = VARIABLES.iter().map(|(name, ..)| *name).filter(is_own);
        let names: Vec<&str> = names.chain(["XDG_DATA_HOME"]).collect();
        server.insert("env_vars".to_owned(), json!(names));
    }
    json!({"mcpServers": {NAME: server}})
}

/// The parts that a directory does not hold as they are.
#[must_use]
pub(super) fn differing(root: &Path, parts: &[Part]) -> Vec<&'static str> {
    let differs = |part: &&Part| {
        let there = std::fs::read(root.join(part.path));
        there.map_or(true, |bytes| bytes != part.text.as_bytes())
    };
    parts.iter().filter(differs).map(|part| part.path).collect()
}

/// Writes what differs, and takes away what earlier versions placed.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write(root: &Path, parts: &[Part]) -> Result<(), InstallError> {
    let failed = |path: PathBuf| move |error| InstallError::Write { path, error };
    let dir = Dir::open_or_make(root).map_err(failed(root.to_owned()))?;
    for name in FORMER {
        drop(dir.remove(name));
    }
    let wanted = differing(root, parts);
    for part in parts.iter().filter(|part| wanted.contains(&part.path)) {
        let write = || {
            let (folders, name) = split(part.path);
            let mut folder = Dir::open(root)?;
            for below in folders {
                folder = folder.sub_or_make(below)?;
            }
            let temp = format!("{name}.new");
            folder.replace_as(
                name,
                &temp,
                part.text.as_bytes(),
                Access::mode(MODE),
                Durability::Process,
            )
        };
        write().map_err(failed(root.join(part.path)))?;
    }
    Ok(())
}

/// Removes the plugin's files and the directories that are empty without them.
///
/// # Errors
/// A file cannot be removed.
pub(super) fn remove(root: &Path, parts: &[Part]) -> Result<(), InstallError> {
    let Ok(dir) = Dir::open(root) else { return Ok(()) };
    let failed = |error| InstallError::Write {
        path: root.to_owned(),
        error,
    };
    for name in FORMER {
        dir.remove(name).map_err(failed)?;
    }
    for part in parts {
        remove_part(root, part.path).map_err(failed)?;
    }
    for dir in root.ancestors().take(2) {
        drop(std::fs::remove_dir(dir));
    }
    Ok(())
}

fn remove_part(root: &Path, path: &str) -> io::Result<()> {
    let (folders, name) = split(path);
    let mut there = vec![Dir::open(root)?];
    for below in &folders {
        match there.last().map(|dir| dir.sub(below)).transpose()?.flatten() {
            Some(dir) => there.push(dir),
            None => break,
        }
    }
    if there.len() > folders.len()
        && let Some(dir) = there.last()
    {
        dir.remove(name)?;
        dir.remove(&format!("{name}.new"))?;
    }
    for (dir, below) in there.iter().zip(&folders).rev() {
        // What else is in there is not ours, and then it stays.
        drop(dir.remove_sub(below));
    }
    Ok(())
}

/// The folders of a part's path, and its name.
fn split(path: &str) -> (Vec<&str>, &str) {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    (folders.split('/').filter(|f| !f.is_empty()).collect(), name)
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "a test plays the user who writes the file"
)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_is_written_once_mended_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::bare(dir.path().join("data dir é"));
        let root = place.plugin(Host::Codex);
        let parts = parts(&place, Host::Codex);
        assert_eq!(differing(&root, &parts).len(), parts.len());
        write(&root, &parts).unwrap();
        assert_eq!(differing(&root, &parts), Vec::<&str>::new());
        std::fs::write(root.join("hooks/hooks.json"), "{}").unwrap();
        assert_eq!(differing(&root, &parts), ["hooks/hooks.json"]);
        write(&root, &parts).unwrap();
        let hooks: Value =
            serde_json::from_slice(&std::fs::read(root.join("hooks/hooks.json")).unwrap()).unwrap();
        let line = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
        assert!(
            line.starts_with('"') && line.ends_with("/data dir é/bin/stop\" --host codex"),
            "{line}"
        );
        remove(&root, &parts).unwrap();
        assert!(!root.exists());

        write(&root, &parts).unwrap();
        let skill = root.join("skills/task-state/SKILL.md");
        std::fs::write(root.join("skills/mine.md"), "x").unwrap();
        std::fs::remove_file(&skill).unwrap();
        assert_eq!(differing(&root, &parts), ["skills/task-state/SKILL.md"]);
        remove(&root, &parts).unwrap();
        assert!(
            root.join("skills/mine.md").exists() && !root.join("skills/task-state").exists(),
            "what the user put beside it stays"
        );
    }

    #[test]
    fn the_tools_are_started_by_an_absolute_path_and_codex_passes_the_variables_on() {
        let place = Place::bare(PathBuf::from("/data dir é"));
        let server = |host| {
            let parts = parts(&place, host);
            let part = parts.iter().find(|p| p.path == ".mcp.json").unwrap();
            let document: Value = serde_json::from_str(&part.text).unwrap();
            document["mcpServers"]["bookend"].clone()
        };
        let claude = server(Host::ClaudeCode);
        assert_eq!(
            claude,
            json!({"command": "/data dir é/bin/bookend", "args": ["mcp"]})
        );
        let codex = server(Host::Codex);
        assert_eq!(codex["command"], claude["command"]);
        let passed = codex["env_vars"].as_array().unwrap();
        assert!(passed.contains(&json!("MAESTRO_HOOKS_DIR")) && passed.contains(&json!("BOOKEND_DATA_DIR")));
        assert!(!passed.contains(&json!("CLAUDE_CODE_SESSION_ID")));
    }
}
