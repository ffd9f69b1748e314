//! How a session of the log is found by what a person gives of it.

use std::io;

use crate::host::Host;
use crate::live::key::SessionKey;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;

pub(super) use crate::log::history::{Known, all};

/// The ids that `wanted` means: an id, the first characters of one or of its last part, or a host's own
/// session id or its first characters.
pub(super) fn matching(data: &DataDir, wanted: &str) -> io::Result<Vec<SessionId>> {
    let ids = data.sessions()?;
    if let Some(id) = ids.iter().find(|id| id.as_str() == wanted) {
        return Ok(vec![id.clone()]);
    }
    let by_host = by_host(data, wanted)?;
    let mut found: Vec<SessionId> = ids
        .into_iter()
        .filter(|id| {
            let suffix = id.as_str().splitn(3, '-').nth(2);
            id.as_str().starts_with(wanted)
                || suffix.is_some_and(|s| s.starts_with(wanted))
                || by_host.contains(id)
        })
        .collect();
    found.sort();
    Ok(found)
}

/// The log sessions of the host sessions whose id begins with `wanted`. One that is that id is the only one.
fn by_host(data: &DataDir, wanted: &str) -> io::Result<Vec<SessionId>> {
    let mut found = Vec::new();
    for host in Host::ALL {
        if let Some(key) = SessionKey::of(wanted)
            && let Some(id) = data.by_host(host, key.as_str())?
        {
            found.push(id);
        }
    }
    let Some(dir) = data.dir().sub("by-host")?.filter(|_| found.is_empty()) else {
        return Ok(found);
    };
    for host in Host::ALL {
        let Some(names) = dir.sub(host.id())? else {
            continue;
        };
        for entry in names
            .entries()?
            .into_iter()
            .filter(|e| e.name.starts_with(wanted))
        {
            found.extend(data.by_host(host, &entry.name)?);
        }
    }
    Ok(found)
}
