//! What is kept of a probe that proved a host: `<data dir>/probed/<host>.json`, so that a look at the machine can say
//! how long ago its hooks were seen to fire.

use std::collections::BTreeMap;
use std::io;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::files::Durability;
use crate::host::Host;
use crate::log::data_dir::DataDir;

const FOLDER: &str = "probed";
const MAX_FILE: u64 = 1024 * 1024;

/// A probe that succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// When it ended.
    pub at: DateTime<Utc>,
    /// Bookend's version.
    pub version: String,
    /// The host's version, as it says itself.
    pub host_version: Option<String>,
    /// The events that fired.
    pub events: BTreeMap<String, Fired>,
    /// The session-start context was in the model's first request.
    pub context_reached: bool,
}

/// How often an event fired, and how fast its hook was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fired {
    /// How often.
    pub count: u64,
    /// The median time of its hook.
    pub median_micros: Option<u32>,
}

impl Record {
    /// The last one of `host`, or `None`; one that cannot be understood counts as none.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read(data: &DataDir, host: Host) -> io::Result<Option<Self>> {
        let Some(folder) = data.dir().sub(FOLDER)? else {
            return Ok(None);
        };
        let bytes = folder.read(&name(host), MAX_FILE)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Puts it in the place of the last one.
    ///
    /// # Errors
    /// When it cannot be written; the last one is then still there.
    pub fn write(&self, data: &DataDir, host: Host) -> io::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        let folder = data.dir().sub_or_make(FOLDER)?;
        // Two probes at once do not meet in one temporary.
        let temp = format!("{}.{}.new", host.id(), std::process::id());
        folder.replace(&name(host), &temp, &bytes, Durability::Process)
    }
}

fn name(host: Host) -> String {
    format!("{}.json", host.id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_last_record_of_each_host_is_read_back_as_it_was_written() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("data");
        let data = DataDir::open(&Ok(path.clone())).unwrap();
        assert_eq!(Record::read(&data, Host::Codex).unwrap(), None);
        let stop = Fired {
            count: 2,
            median_micros: Some(900),
        };
        let mut record = Record {
            at: clock::now(),
            version: "0.1.0".into(),
            host_version: Some("0.171.0".into()),
            events: BTreeMap::from([("Stop".to_owned(), stop)]),
            context_reached: true,
        };
        record.write(&data, Host::Codex).unwrap();
        record.host_version = None;
        record.write(&data, Host::Codex).unwrap();
        assert_eq!(Record::read(&data, Host::Codex).unwrap(), Some(record));
        assert_eq!(Record::read(&data, Host::ClaudeCode).unwrap(), None);
        let folder = path.join(FOLDER);
        let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            (mode(folder.clone()), mode(folder.join("codex.json"))),
            (0o700, 0o600)
        );
        assert_eq!(
            std::fs::read_dir(folder).unwrap().count(),
            1,
            "no temporary stays"
        );
    }

    #[test]
    fn what_cannot_be_understood_counts_as_no_record() {
        let scratch = tempfile::tempdir().unwrap();
        let data = DataDir::open(&Ok(scratch.path().join("data"))).unwrap();
        let folder = data.dir().sub_or_make(FOLDER).unwrap();
        folder.create_new("claude-code.json", b"{\"at\": 3}").unwrap();
        assert_eq!(Record::read(&data, Host::ClaudeCode).unwrap(), None);
    }
}
