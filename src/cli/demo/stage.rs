//! Where the demo plays: a scratch directory with stores, a home and a project of its own, the executables
//! beside this command, and a process that stands for the host. The environment is built from nothing, so
//! that whatever happens the user's own stores are not touched.

use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::super::Failed;
use super::child::{self, BOUND, Guarded, Ran};
use crate::config::{self, Config, LogPrompts, Resume};
use crate::hook::Hook;
use crate::host::Host;

/// Where programs are when nobody says.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The stage.
#[derive(Debug)]
pub(super) struct Stage {
    scratch: TempDir,
    /// The scratch directory without links.
    root: PathBuf,
    bin: PathBuf,
    path: String,
}

impl Stage {
    /// Finds the executables and makes the scratch directory.
    pub(super) fn new() -> Result<Self, Failed> {
        let bin = beside()?;
        let cannot = |e: std::io::Error| {
            Failed::to(format!(
                "make a scratch directory: {e}; set TMPDIR to a directory in which you may write"
            ))
        };
        let scratch = tempfile::Builder::new()
            .prefix("bookend-demo-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .map_err(cannot)?;
        let root = scratch.path().canonicalize().map_err(cannot)?;
        let stage = Self {
            scratch,
            root,
            bin,
            path: config::var("PATH").unwrap_or_else(|| SYSTEM_PATH.to_owned()),
        };
        for dir in [stage.project(), stage.home()] {
            DirBuilder::new().mode(0o700).create(dir).map_err(cannot)?;
        }
        Ok(stage)
    }

    /// The directory of the executables.
    pub(super) fn bin(&self) -> &Path {
        &self.bin
    }

    /// The scratch directory.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The project that the session is about.
    pub(super) fn project(&self) -> PathBuf {
        self.root.join("shop")
    }

    /// HOME.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// What a command would read from an environment that names these stores.
    pub(super) fn config(&self) -> Config {
        Config {
            hook_root: Ok(hooks(&self.root)),
            data_dir: Ok(data(&self.root)),
            home: Some(self.home()),
            resume: Resume::Auto,
            resume_days: 3,
            log_prompts: LogPrompts::Full,
            log_days: 0,
            disabled: false,
            state_dir: None,
            strictness: crate::config::Strictness::Normal,
            current_agent: None,
        }
    }

    /// A process that stands for the host: it waits for an end of its stdin that only ours brings.
    pub(super) fn host(&self) -> Result<Guarded, Failed> {
        let mut command = self.command(Path::new("cat"));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Guarded::start(&mut command).map_err(|e| {
            Failed::to(format!(
                "start `cat`, which stands for the host: {e}; put it on your PATH"
            ))
        })
    }

    /// Sends a payload to a hook, as the host with that process does.
    pub(super) fn send(&self, hook: Hook, payload: &Value, host: &Guarded) -> Result<Ran, Failed> {
        let program = self.bin.join(hook.name());
        let mut command = self.command(&program);
        command
            .args(["--host", Host::ClaudeCode.id()])
            .env("MAESTRO_HOOKS_DIR", hooks(&self.root))
            .env("BOOKEND_DATA_DIR", data(&self.root))
            .env("CLAUDE_PROJECT_DIR", self.project())
            .env("CLAUDE_PID", host.pid().to_string());
        let ran = child::run(&mut command, payload.to_string().as_bytes(), BOUND);
        let wrong = |what: String| {
            let program = program.display();
            Failed::to(format!("run {program}: {what}; ./install.sh places it anew"))
        };
        let ran = ran.map_err(|e| wrong(e.to_string()))?;
        if ran.status.success() {
            Ok(ran)
        } else {
            Err(wrong(format!("it ended with {}", ran.status)))
        }
    }

    /// Removes the scratch directory, or keeps it.
    pub(super) fn end(self, keep: bool) -> Result<(), Failed> {
        if keep {
            drop(self.scratch.keep());
            return Ok(());
        }
        self.scratch.close().map_err(|e| {
            let root = self.root.display();
            Failed::to(format!(
                "remove the scratch directory {root}: {e}; remove it yourself"
            ))
        })
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.home())
            .current_dir(self.project());
        command
    }
}

/// The hook root in a scratch directory.
pub(super) fn hooks(root: &Path) -> PathBuf {
    root.join("hooks")
}

/// The data directory in a scratch directory.
pub(super) fn data(root: &Path) -> PathBuf {
    root.join("data")
}

/// The directory of this command, when the five hooks are there too.
fn beside() -> Result<PathBuf, Failed> {
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    let own = own.map_err(|e| {
        Failed::to(format!(
            "find out where this command is: {e}; call it by its whole path"
        ))
    })?;
    let dir = own.parent().unwrap_or(&own).to_owned();
    let missing: Vec<&str> = Hook::ALL
        .iter()
        .map(|hook| hook.name())
        .filter(|name| !dir.join(name).is_file())
        .collect();
    if missing.is_empty() {
        return Ok(dir);
    }
    Err(Failed::new(format!(
        "the demo runs the hooks beside this command, and {} has no {}: run ./install.sh in a copy of the sources, \
         it places them together",
        dir.display(),
        missing.join(", ")
    )))
}
