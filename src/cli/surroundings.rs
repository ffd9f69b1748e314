//! Where the caller of a method is: its directory, the session of the host that runs it, the live sessions. Looked up at
//! every call: a server outlives the session that it was started in, and may be there before the first hook ran.

use std::cell::RefCell;
use std::path::Path;

use super::machine;
use crate::config::{self, Config};
use crate::dispatch::project_of;
use crate::host::Host;
use crate::live::journal;
use crate::live::key::SessionKey;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::methods::{Live, Surroundings};
use crate::process::HostProcess;
use crate::redact::Redacted;

/// The variable by which Claude Code names its session to the programs that it runs.
const CLAUDE_SESSION: &str = "CLAUDE_CODE_SESSION_ID";
/// The variable that names the log session outright.
const SESSION: &str = "BOOKEND_SESSION";

/// A process of the command.
pub(super) struct Here<'m> {
    config: &'m Config,
    /// The directory that is worked in, where it is not the process's own.
    workspace: RefCell<Option<Redacted>>,
    one_call: bool,
}

/// A live session, and what it can be known by.
struct Found {
    key: SessionKey,
    process: Option<HostProcess>,
    live: Live,
}

impl<'m> Here<'m> {
    /// One that goes on, in its own directory.
    pub(super) fn new(config: &'m Config) -> Self {
        Self {
            config,
            workspace: RefCell::new(None),
            one_call: false,
        }
    }

    /// The same, if it ends after one call.
    pub(super) fn for_one_call(self) -> Self {
        Self {
            one_call: true,
            ..self
        }
    }

    /// Work is done in that directory.
    pub(super) fn work_in(&self, dir: Redacted) {
        self.workspace.replace(Some(dir));
    }

    fn found(&self) -> Vec<Found> {
        let data = DataDir::existing(&self.config.data_dir).ok().flatten();
        let (roots, _) = machine::roots(self.config, data.as_ref());
        let now = crate::clock::now();
        let mut found: Vec<Found> = Vec::new();
        for root in roots {
            let entries = root.dir().entries().unwrap_or_default().into_iter();
            for key in entries
                .filter(|e| e.is_dir)
                .filter_map(|e| SessionKey::from_name(&e.name))
            {
                let Ok(Some(dir)) = root.dir().sub(key.as_str()) else {
                    continue;
                };
                let Ok(state) = journal::fold(&dir).map(|l| l.state) else {
                    continue;
                };
                if let Some(log) = state.log.as_ref().filter(|_| state.alive(now)) {
                    let live = Live {
                        session: log.session.clone(),
                        task: state.current_task.as_ref().map(|t| t.description.clone()),
                        project: state.project_root.clone().or(state.cwd).map(resolved),
                    };
                    found.push(Found {
                        key,
                        process: state.host_process,
                        live,
                    });
                }
            }
        }
        found
    }
}

impl Surroundings for Here<'_> {
    fn cwd(&self) -> Option<Redacted> {
        let own = || Some(Redacted::new(&std::env::current_dir().ok()?.to_string_lossy()));
        self.workspace.borrow().clone().or_else(own)
    }

    fn project(&self) -> Option<Redacted> {
        self.cwd().as_ref().map(project_of)
    }

    /// The session that the environment names. But a server keeps the environment of the session that it was started
    /// in: when that one has ended, or none is named, it is the live session of the same host process, if there is one
    /// only.
    fn host_session(&self, data: &DataDir) -> Option<SessionId> {
        let key = config::var(CLAUDE_SESSION).and_then(|id| SessionKey::of(&id));
        let found = self.found();
        let named = found.iter().find(|f| Some(&f.key) == key.as_ref());
        let of_host = || {
            let host = HostProcess::find(None)?;
            let mut same = found.iter().filter(|f| f.process.as_ref() == Some(&host));
            same.next().filter(|_| same.next().is_none())
        };
        let id = |f: &Found| f.live.session.clone();
        let outright = || SessionId::try_from(config::var(SESSION)?).ok();
        let before = || {
            data.by_host(Host::ClaudeCode, key.as_ref()?.as_str())
                .ok()
                .flatten()
        };
        let told = named.map(id).or_else(outright);
        told.or_else(|| of_host().map(id)).or_else(before)
    }

    fn live(&self) -> Vec<Live> {
        self.found().into_iter().map(|f| f.live).collect()
    }

    fn is_one_call(&self) -> bool {
        self.one_call
    }
}

/// With its links followed, as a process's own directory has them.
fn resolved(path: Redacted) -> Redacted {
    match Path::new(path.as_str()).canonicalize() {
        Ok(real) => Redacted::new(&real.to_string_lossy()),
        Err(_) => path,
    }
}
