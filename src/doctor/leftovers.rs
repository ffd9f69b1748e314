//! Temporaries that killed hooks left in the data directory: `*.new` files that nothing has touched for an
//! hour. They are overwritten when the same session writes again; those of sessions that never do are
//! removed here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use walkdir::WalkDir;

use crate::clock;

/// Younger ones may belong to a hook that runs.
const OLD: Duration = Duration::from_secs(60 * 60);
/// Where temporaries are made, and how deep.
const PLACES: &[(&str, usize)] = &[("open", 1), ("by-host", 2), ("probed", 1)];

/// The leftovers below a data directory; no link is followed.
pub(crate) fn find(data: &Path, now: DateTime<Utc>) -> Vec<PathBuf> {
    let entries = PLACES.iter().flat_map(|(place, depth)| {
        WalkDir::new(data.join(place))
            .min_depth(*depth)
            .max_depth(*depth)
            .follow_links(false)
    });
    entries
        .filter_map(Result::ok)
        .filter(|e| e.file_type().is_file() && e.path().extension().is_some_and(|x| x == "new"))
        .filter(|e| {
            let changed = e.metadata().ok().and_then(|m| m.modified().ok());
            changed.is_some_and(|at| clock::age(DateTime::<Utc>::from(at), now) > OLD)
        })
        .map(walkdir::DirEntry::into_path)
        .collect()
}
