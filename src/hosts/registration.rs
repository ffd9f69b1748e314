//! The registration of a host: which executable runs at which event, generated from one table per host.
//!
//! The rows stand in the host files. The document has one form on all three hosts (`{"hooks": {Event:
//! [{matcher?, hooks: [{type, command, timeout}]}]}}`); Gemini CLI counts timeouts in milliseconds and
//! shows each hook's `name`. A command is a single executable with a quoted path: paths hold spaces, and
//! a compound shell command outlives Gemini CLI's timeout.
//!
//! `hooks/hooks.json` is this document for the Claude Code plugin. After a change of the rows write it anew:
//! `cargo test --lib write_the_committed_registration -- --ignored`

use serde_json::{Map, Value, json};

use super::Host;
use crate::hook::Hook;

/// One event of a host that we ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The host's name of the event.
    pub event: &'static str,
    /// The executable that runs.
    pub hook: Hook,
    /// The tool names to match, in the host's own pattern language; `None`: everything.
    pub matcher: Option<&'static str>,
    /// Seconds until the host gives up. Our own deadline is 0.8 s; the rest is for a loaded machine.
    pub timeout: u32,
}

impl Row {
    /// A row for every occurrence of `event`, with 5 s.
    #[must_use]
    pub const fn new(event: &'static str, hook: Hook) -> Self {
        Self {
            event,
            hook,
            matcher: None,
            timeout: 5,
        }
    }

    /// The same, for the tools that match.
    #[must_use]
    pub const fn matching(self, matcher: &'static str) -> Self {
        Self {
            matcher: Some(matcher),
            ..self
        }
    }

    /// The same, with another timeout in seconds.
    #[must_use]
    pub const fn within(self, timeout: u32) -> Self {
        Self { timeout, ..self }
    }
}

/// The events that are registered with `host`, in the order of a session.
#[must_use]
pub fn rows(host: Host) -> &'static [Row] {
    host.dialect().events
}

/// The registration document of `host`; `command` gives the whole command line of an executable, with its
/// path quoted: see [`command_line`].
#[must_use]
pub fn hooks_json(host: Host, command: impl Fn(Hook) -> String) -> Value {
    let mut events = Map::new();
    for row in rows(host) {
        let mut hook = Map::new();
        hook.insert("type".to_owned(), json!("command"));
        if host == Host::GeminiCli {
            hook.insert("name".to_owned(), json!(format!("bookend-{}", row.hook.name())));
        }
        hook.insert("command".to_owned(), json!(command(row.hook)));
        hook.insert("timeout".to_owned(), json!(timeout(host, row)));
        let mut group = Map::new();
        if let Some(matcher) = row.matcher {
            group.insert("matcher".to_owned(), json!(matcher));
        }
        group.insert("hooks".to_owned(), json!([hook]));
        if let Value::Array(groups) = events.entry(row.event).or_insert_with(|| json!([])) {
            groups.push(Value::Object(group));
        }
    }
    json!({ "hooks": events })
}

/// The command line that runs the executable at `path` for `host`: `"/path/to/stop" --host codex`.
///
/// The path is one shell word. It stands in double quotes, so that `${CLAUDE_PLUGIN_ROOT}` or
/// `${extensionPath}` at its beginning still stands for a directory; any other path with a character that
/// has a meaning inside double quotes stands in single ones.
#[must_use]
pub fn command_line(path: &str, host: Host) -> String {
    format!("{} --host {}", quoted(path), host.id())
}

fn quoted(path: &str) -> String {
    let placeholder = path.starts_with("${");
    if !placeholder && path.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", path.replace('\'', r"'\''"))
    } else {
        format!("\"{path}\"")
    }
}

/// The text of the plugin's `hooks/hooks.json` for Claude Code.
#[must_use]
pub fn plugin_hooks_json() -> String {
    let host = Host::ClaudeCode;
    let command = |hook: Hook| command_line(&format!("${{CLAUDE_PLUGIN_ROOT}}/bin/{}", hook.name()), host);
    format!("{:#}\n", hooks_json(host, command))
}

fn timeout(host: Host, row: &Row) -> u32 {
    match host {
        Host::ClaudeCode | Host::Codex => row.timeout,
        Host::GeminiCli => row.timeout.saturating_mul(1_000),
    }
}
