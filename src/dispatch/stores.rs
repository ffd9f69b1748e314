//! Both stores as one process uses them, and where its faults go.

use crate::config::Config;
use crate::live::root::HookRoot;
use crate::log::data_dir::{DataDir, Fault};
use crate::redact::Redacted;

/// The hook root and the data directory. Either may be missing: the other goes on without it.
#[derive(Debug)]
pub struct Stores {
    /// The durable one.
    pub data: Option<DataDir>,
    /// The transient one.
    pub root: Option<HookRoot>,
    /// Faults of this process, as fragments that fit after "failed to"; the next entry takes them along.
    pub faults: Vec<String>,
    /// A host started this process, so its ancestors say which.
    pub(super) by_host: bool,
    /// The host hears the answer: not the one to an event that was left pending.
    pub(super) heard: bool,
    who: String,
    session: Option<Redacted>,
}

impl Stores {
    /// Opens both. `who` is the executable or verb, for the notes of faults.
    #[must_use]
    pub fn open(config: &Config, who: &str) -> Self {
        let mut faults = Vec::new();
        let data = DataDir::open(&config.data_dir)
            .map_err(|e| faults.push(e.to_string()))
            .ok();
        let root = match HookRoot::open(config, data.as_ref()) {
            Ok((root, refused)) => {
                faults.extend(refused.map(|r| r.to_string()));
                Some(root)
            }
            Err(refused) => {
                faults.extend(refused.iter().map(ToString::to_string));
                None
            }
        };
        let stores = Self {
            data,
            root,
            faults: Vec::new(),
            by_host: true,
            heard: true,
            who: who.to_owned(),
            session: None,
        };
        Self { faults, ..stores }
    }

    /// Of what is open already, for a command: it makes nothing, and its ancestors are no host.
    #[must_use]
    pub fn of(data: Option<DataDir>, root: Option<HookRoot>, who: &str) -> Self {
        Self {
            data,
            root,
            faults: Vec::new(),
            by_host: false,
            heard: true,
            who: who.to_owned(),
            session: None,
        }
    }

    /// Says whose faults the next ones are.
    pub fn of_session(&mut self, id: &Redacted) {
        self.session = Some(id.clone());
    }

    /// Remembers a fault.
    pub fn fault(&mut self, what: &str) {
        self.faults.push(what.to_owned());
    }

    /// Notes the faults that no journal entry took along.
    pub fn flush_faults(&mut self) {
        if let Some(data) = &self.data {
            for what in self.faults.drain(..) {
                data.note(&Fault::new(&self.who, self.session.as_ref(), &what));
            }
        }
    }
}
