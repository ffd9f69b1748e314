//! What the tools that a host runs are told of their session: `BOOKEND_SESSION`, where the host lets a hook set it.
//! (Claude Code 2.1.332 names a file in `CLAUDE_ENV_FILE` at a session's start and sources it before each command of
//! its shell tool: observed.) What cannot be written is not said: the session is found by other ways too.

use std::io::Write;
use std::path::Path;

use crate::config;
use crate::files::Dir;
use crate::hosts::Host;
use crate::log::id::SessionId;

/// Adds the variable to the file that the host names, if it names one.
pub(super) fn tell(host: Host, event: &str, session: &SessionId) {
    let Some(path) = host.tool_env(event).and_then(config::directory) else {
        return;
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|n| n.to_str())) else {
        return;
    };
    drop(add(parent, name, session));
}

fn add(parent: &Path, name: &str, session: &SessionId) -> std::io::Result<()> {
    let (mut file, _) = Dir::open(parent)?.open_append_or_make(name)?;
    // An id has no character that a shell would read.
    file.write_all(format!("export BOOKEND_SESSION='{session}'\n").as_bytes())
}
