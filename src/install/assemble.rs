//! The plugin of a host: manifest, marketplace and registration in one directory, `<data dir>/plugin/<host>`.
//! The directory is its own marketplace, which Claude Code reads in place and Codex copies. The executables
//! stay outside, in `<data dir>/bin`, named by their absolute path: an update of them changes no file of the
//! plugin, and Codex's trust in the plugin survives it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::error::InstallError;
use super::place::Place;
use super::registered;
use crate::files::{Dir, Durability};
use crate::host::Host;

/// The name of the plugin and of its marketplace.
pub(super) const NAME: &str = "bookend";
/// The plugin as hosts name it.
pub(super) const ID: &str = "bookend@bookend";

/// The repository's manifest; it is what the plugin says of itself.
const MANIFEST: &str = include_str!("../../plugin.json");
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
    vec![
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
    ]
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
        let (folder, name) = part.path.split_once('/').unwrap_or(("", part.path));
        let write = || {
            let temp = format!("{name}.new");
            let folder = dir.sub_or_make(folder)?;
            folder.replace_as(name, &temp, part.text.as_bytes(), MODE, Durability::Process)
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
        let (folder, name) = part.path.split_once('/').unwrap_or(("", part.path));
        if let Some(sub) = dir.sub(folder).map_err(failed)? {
            sub.remove(name).map_err(failed)?;
            // Of a run that was killed.
            sub.remove(&format!("{name}.new")).map_err(failed)?;
        }
        // What else is in there is not ours, and then it stays.
        drop(dir.remove_sub(folder));
    }
    for dir in root.ancestors().take(2) {
        drop(std::fs::remove_dir(dir));
    }
    Ok(())
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
        let place = Place {
            home: None,
            path: None,
            data: dir.path().join("data dir é"),
            claude: None,
            codex: None,
            system: "/".into(),
            lends: crate::install::Lends::PathAndHome,
            patience: std::time::Duration::from_secs(1),
        };
        let root = place.plugin(Host::Codex);
        let parts = parts(&place, Host::Codex);
        assert_eq!(differing(&root, &parts).len(), 3);
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
    }
}
