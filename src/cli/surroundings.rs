//! Where the caller of a method is: its directory, the host session whose environment it has, the live sessions.

use std::path::Path;

use crate::config;
use crate::dispatch::project_of;
use crate::host::Host;
use crate::live::journal;
use crate::live::key::SessionKey;
use crate::live::root::HookRoot;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::methods::{Live, Surroundings};
use crate::redact::Redacted;

/// The variable by which Claude Code names its session to the programs that its tools run.
const CLAUDE_SESSION: &str = "CLAUDE_CODE_SESSION_ID";
/// The variable that names the log session outright.
const SESSION: &str = "BOOKEND_SESSION";

/// A process of the command.
pub(super) struct Here<'m> {
    /// The hook roots in use.
    pub(super) roots: &'m [HookRoot],
    /// The directory that is worked in, where it is not the process's own.
    pub(super) workspace: Option<Redacted>,
    /// It ends after one call.
    pub(super) one_call: bool,
}

impl Surroundings for Here<'_> {
    fn cwd(&self) -> Option<Redacted> {
        let own = || Some(Redacted::new(&std::env::current_dir().ok()?.to_string_lossy()));
        self.workspace.clone().or_else(own)
    }

    fn project(&self) -> Option<Redacted> {
        self.cwd().as_ref().map(project_of)
    }

    fn host_session(&self, data: &DataDir) -> Option<SessionId> {
        let key = config::var(CLAUDE_SESSION).and_then(|id| SessionKey::of(&id));
        let hooked = key.and_then(|key| data.by_host(Host::ClaudeCode, key.as_str()).ok().flatten());
        hooked.or_else(|| SessionId::try_from(config::var(SESSION)?).ok())
    }

    fn live(&self) -> Vec<Live> {
        let now = crate::clock::now();
        let mut live: Vec<Live> = Vec::new();
        for root in self.roots {
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
                    live.push(Live {
                        session: log.session.clone(),
                        task: state.current_task.as_ref().map(|t| t.description.clone()),
                        project: state.project_root.clone().or(state.cwd).map(resolved),
                    });
                }
            }
        }
        live
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
