//! Codex's app-server, spoken to over its standard input and output: one JSON message a line. It alone knows
//! which hooks Codex sees and whether the user trusts them (`hooks/list`), and it sets that trust
//! (`config/batchWrite` of `hooks.state`), as seen with Codex 0.171.0. An untrusted hook is skipped there in
//! silence.
//!
//! To look, it is started in a scratch `CODEX_HOME` that holds a copy of `config.toml` and a link to the
//! plugins: looking leaves no trace in the user's own.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::InstallError;
use super::program::{LOOK, Program, end};

/// Longest wait for a change.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most of what it says that is read, and so many lines ahead: it may be any program of that name.
const MAX_SAID: u64 = 64 * 1024 * 1024;
const AHEAD: usize = 64;

/// A hook as Codex sees it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeenHook {
    /// Its name in `hooks.state`.
    pub key: String,
    /// What it runs.
    #[serde(default)]
    pub command: Option<String>,
    /// The plugin that it comes from.
    #[serde(default)]
    pub plugin_id: Option<String>,
    /// What its trust has to be given to.
    pub current_hash: String,
    /// `trusted`, `untrusted`, `modified`, `managed`.
    pub trust_status: String,
    /// Not switched off by the user.
    #[serde(default = "yes")]
    pub enabled: bool,
}

fn yes() -> bool {
    true
}

/// An app-server that runs; it ends when this is dropped.
struct AppServer {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    asked: u64,
    deadline: Instant,
}

/// The hooks that Codex sees in `config` (its home), looked at without leaving a trace there.
///
/// # Errors
/// It cannot be started or does not answer.
pub(super) fn look(program: &Program, config: &Path, folder: &Path) -> Result<Vec<SeenHook>, InstallError> {
    let failed = |error| InstallError::Write {
        path: std::path::PathBuf::from("a scratch directory"),
        error,
    };
    let scratch = tempfile::Builder::new()
        .prefix("bookend-codex-")
        .tempdir()
        .map_err(failed)?;
    let home = scratch.path();
    if let Ok(text) = std::fs::read(config.join("config.toml")) {
        let dir = crate::files::Dir::open(home).map_err(failed)?;
        dir.create_new("config.toml", &moved(&text, config, home))
            .map_err(failed)?;
    }
    for name in ["plugins", "hooks.json"] {
        if config.join(name).exists() {
            symlink(config.join(name), home.join(name)).map_err(failed)?;
        }
    }
    AppServer::start(program, home, folder, LOOK)?.hooks(folder)
}

/// Trust in a hook of `hooks.json` or `config.toml` is kept by the path of that file: the records of one home as
/// those of another.
fn moved(text: &[u8], from: &Path, to: &Path) -> Vec<u8> {
    let mut text = String::from_utf8_lossy(text).into_owned();
    for name in ["hooks.json", "config.toml"] {
        let path = |home: &Path| format!("\"{}:", home.join(name).display());
        text = text.replace(&path(from), &path(to));
    }
    text.into_bytes()
}

/// Trusts the hooks that `which` picks, in the user's own configuration.
///
/// # Errors
/// It cannot be started, does not answer, or refuses.
pub(super) fn trust(
    program: &Program,
    config: &Path,
    folder: &Path,
    which: impl Fn(&SeenHook) -> bool,
) -> Result<usize, InstallError> {
    let mut server = AppServer::start(program, config, folder, PATIENCE)?;
    let seen = server.hooks(folder)?;
    let state: Map<String, Value> = seen
        .iter()
        .filter(|hook| which(hook) && hook.trust_status != "trusted")
        .map(|hook| (hook.key.clone(), json!({"trusted_hash": hook.current_hash})))
        .collect();
    let count = state.len();
    if count > 0 {
        let edit = json!({"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"});
        server.call(
            "config/batchWrite",
            &json!({"edits": [edit], "reloadUserConfig": true}),
        )?;
    }
    Ok(count)
}

impl AppServer {
    fn start(
        program: &Program,
        home: &Path,
        folder: &Path,
        patience: Duration,
    ) -> Result<Self, InstallError> {
        let deadline = Instant::now() + patience;
        let codex = program.clone().with("CODEX_HOME", home);
        let mut child = codex.start(&["app-server"], folder)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        // It logs to stderr; nobody reads that, and a full pipe would stop it.
        if let Some(mut stderr) = child.stderr.take() {
            thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        }
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            end(&mut child);
            return Err(said("it has no standard input and output"));
        };
        let (send, lines) = sync_channel(AHEAD);
        thread::spawn(move || {
            for line in BufReader::new(stdout.take(MAX_SAID))
                .lines()
                .map_while(Result::ok)
            {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let mut server = Self {
            child,
            stdin,
            lines,
            asked: 0,
            deadline,
        };
        let client = json!({"name": "bookend", "title": "Bookend", "version": env!("CARGO_PKG_VERSION")});
        server.call("initialize", &json!({"clientInfo": client}))?;
        server.send(&json!({"method": "initialized"}))?;
        Ok(server)
    }

    fn hooks(&mut self, folder: &Path) -> Result<Vec<SeenHook>, InstallError> {
        let listed = self.call("hooks/list", &json!({"cwds": [folder]}))?;
        let data = listed.get("data").and_then(Value::as_array);
        let hooks = data
            .into_iter()
            .flatten()
            .filter_map(|d| d.get("hooks").and_then(Value::as_array))
            .flatten();
        hooks
            .map(|hook| SeenHook::deserialize(hook).map_err(|e| said(&format!("its list of hooks: {e}"))))
            .collect()
    }

    fn send(&mut self, message: &Value) -> Result<(), InstallError> {
        let sent = writeln!(self.stdin, "{message}").and_then(|()| self.stdin.flush());
        sent.map_err(|e| said(&e.to_string()))
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value, InstallError> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"id": id, "method": method, "params": params}))?;
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            // One that talks without end is never out of lines.
            let line = self.lines.recv_timeout(left).ok().filter(|_| !left.is_zero());
            let Some(line) = line else {
                return Err(said(&format!("it gave no answer to {method}")));
            };
            // Notifications come in between.
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if message.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(error) = message.get("error") {
                let text = error.get("message").and_then(Value::as_str).unwrap_or("an error");
                return Err(said(&format!("{method}: {text}")));
            }
            return Ok(message.get("result").cloned().unwrap_or_default());
        }
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn said(what: &str) -> InstallError {
    InstallError::Command {
        command: "codex app-server".to_owned(),
        said: what.to_owned(),
    }
}
