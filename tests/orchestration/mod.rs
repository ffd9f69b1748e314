//! Orchestration state: real files in a scratch project, the tools as a server calls them, the command, and
//! processes that share one session.

mod archive;
mod bad_input;
mod command;
mod conformance;
pub(crate) mod crowd;
mod form;
mod properties;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bookend::config::Maestro;
use bookend::orchestration::front::Parts;
use bookend::orchestration::{Error, Service};
use serde_json::{Value, json};

use crate::harness::Lab;

/// The session of most tests.
pub(crate) const ID: &str = "2026-04-09-add-jwt";
/// Where its file is.
pub(crate) const ACTIVE: &str = "docs/maestro/state/active-session.md";

/// A scratch project with a service over it.
pub(crate) struct Desk {
    pub(crate) lab: Lab,
    pub(crate) service: Service,
}

impl Desk {
    /// Nothing is there yet.
    pub(crate) fn new() -> Self {
        Self::with(Maestro::default())
    }

    pub(crate) fn with(settings: Maestro) -> Self {
        let lab = Lab::new();
        let service = Service::new(settings, &lab.project());
        Self { lab, service }
    }

    /// With a session of these phases.
    pub(crate) fn begun(phases: Value) -> Self {
        let mut desk = Self::new();
        desk.ok(
            "create_session",
            json!({"session_id": ID, "task": "Add JWT", "phases": phases}),
        );
        desk
    }

    #[track_caller]
    pub(crate) fn ok(&mut self, tool: &str, params: Value) -> Value {
        self.service
            .call(tool, &params)
            .unwrap_or_else(|e| panic!("{tool} {params}: {e:?}"))
    }

    /// The code of the refusal; nothing has changed.
    #[track_caller]
    pub(crate) fn refused(&mut self, tool: &str, params: Value) -> Error {
        let before = tree(&self.lab.project());
        let e = match self.service.call(tool, &params) {
            Ok(answer) => panic!("{tool} {params}: {answer}"),
            Err(e) => e,
        };
        assert!(e.message().ends_with('.') && e.hint().ends_with('.'), "{e:?}");
        assert_eq!(
            tree(&self.lab.project()),
            before,
            "{tool} {params}: something changed"
        );
        e
    }

    #[track_caller]
    pub(crate) fn go(&mut self, phase: impl Into<Value>, to: &str) -> Value {
        let mut params = json!({"phase_id": phase.into(), "to": to});
        if to == "failed" {
            params["error"] = json!({"type": "runtime", "message": "it broke"});
        }
        self.ok("transition_phase", params)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.lab.project().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        put(&self.file(name), text);
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// The front matter of the active session.
    pub(crate) fn front(&self) -> Value {
        Value::Object(Parts::parse(self.text(ACTIVE).as_bytes()).unwrap().front)
    }
}

pub(crate) fn put(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// All files below a directory with what is in them.
pub(crate) fn tree(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let below = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    below
        .map(|entry| {
            let name = entry.path().strip_prefix(dir).unwrap().display().to_string();
            let content = if entry.file_type().is_file() {
                std::fs::read(entry.path()).unwrap()
            } else {
                Vec::new()
            };
            (name, content)
        })
        .collect()
}

/// Two phases, the second waits for the first.
pub(crate) fn two() -> Value {
    json!([
        {"id": 1, "name": "Design", "agent": "architect"},
        {"id": 2, "name": "Build", "agent": "coder", "blocked_by": [1]},
    ])
}
