//! How Bookend gets into the scratch HOME of a probe: one function, [`register`].
//!
//! One folder serves both hosts: it is a plugin and the marketplace that offers it. Claude Code loads it for the
//! session, Codex installs it.

use std::path::Path;

use serde_json::{Value, json};

use super::error::ProbeError;
use super::outcome::Outcome;
use super::runner::Session;
use crate::files::Dir;
use crate::hook::Hook;
use crate::host::Host;
use crate::hosts::registration::{command_line, hooks_json};

/// Installs Bookend for the host of `session`, with the hooks in `executables`; sessions made of what comes back run
/// them. `run` runs a command of the host's to its end.
pub(super) fn register(
    host: Host,
    session: Session,
    executables: &Path,
    scratch: &Path,
    run: &dyn Fn(Session) -> Result<Outcome, ProbeError>,
) -> Result<Session, ProbeError> {
    let folder = scratch.join("plugin");
    assemble(host, executables, &folder)?;
    if host != Host::Codex {
        return Ok(session.plugin_dir(&folder));
    }
    let add = |what: &[&str], last: &Path| {
        let command = what.iter().map(AsRef::as_ref).chain([last.as_os_str()]);
        let outcome = run(session.clone().command(command))?;
        match outcome.rc {
            Some(0) => Ok(()),
            _ => Err(ProbeError::Register {
                host: host.id(),
                said: match outcome.last_words() {
                    _ if outcome.timed_out => "its time was up".to_owned(),
                    words if words.is_empty() => "it refused without a word".to_owned(),
                    words => words,
                },
            }),
        }
    };
    add(&["plugin", "marketplace", "add"], &folder)?;
    add(&["plugin", "add"], Path::new("bookend@bookend"))?;
    Ok(session)
}

fn assemble(host: Host, executables: &Path, folder: &Path) -> Result<(), ProbeError> {
    let about = "The hooks of Bookend, for a probe";
    let manifest = json!({"name": "bookend", "version": env!("CARGO_PKG_VERSION"), "description": about});
    let offer = json!({"name": "bookend", "source": "./", "description": about});
    let marketplace = json!({"name": "bookend", "owner": {"name": "Bookend"}, "plugins": [offer]});
    let command = |hook: Hook| command_line(&executables.join(hook.name()).to_string_lossy(), host);
    for (below, name, content) in [
        (".claude-plugin", "plugin.json", manifest),
        (".claude-plugin", "marketplace.json", marketplace),
        ("hooks", "hooks.json", hooks_json(host, command)),
    ] {
        write(&folder.join(below), name, &content)?;
    }
    Ok(())
}

fn write(folder: &Path, name: &str, content: &Value) -> Result<(), ProbeError> {
    Dir::open_or_make(folder)
        .and_then(|dir| dir.create_new(name, format!("{content:#}\n").as_bytes()))
        .map_err(|error| ProbeError::Make {
            path: folder.join(name),
            error,
        })
}
