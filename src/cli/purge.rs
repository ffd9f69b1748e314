//! The end of everything that was kept: the live state of every hook root in use, and the data directory. Only
//! names that are ours are removed, no link is followed; a directory in which something else stands, stays.

use std::path::Path;
use std::time::Duration;

use walkdir::WalkDir;

use super::machine::Machine;
use super::out::Out;
use super::{Failed, text};
use crate::clock::Stopwatch;
use crate::dispatch::{self, Stores};
use crate::install::Place;
use crate::live::prune::Options;
use crate::log::data_dir::NAMES;

/// What an uninstall has emptied of ours; what else is in there is somebody's.
const SHARED: [&str; 2] = ["bin", "plugin"];

/// What became of it, in a sentence.
pub(super) fn purge(machine: &mut Machine, place: &Place, out: &mut Out) -> Result<String, Failed> {
    let options = Options {
        own: None,
        limit: None,
        budget: None,
        older_than: Duration::ZERO,
        dry_run: false,
        now: machine.now,
    };
    let mut stores = Stores::of(machine.data.take(), None, "uninstall");
    for root in std::mem::take(&mut machine.roots) {
        let path = root.path().to_owned();
        stores.root = Some(root);
        if let Some(Err(e)) = dispatch::prune(&mut stores, &machine.config, options, Stopwatch::start()) {
            out.warn(&format!("failed to empty the hook root {}: {e}", path.display()));
        }
        stores.root = None;
        // Something else in it keeps it.
        drop(std::fs::remove_dir(&path));
    }
    drop(stores);
    for name in NAMES.iter().filter(|name| !SHARED.contains(name)) {
        remove(&place.data.join(name))?;
    }
    for name in SHARED {
        drop(std::fs::remove_dir(place.data.join(name)));
    }
    drop(std::fs::remove_dir(&place.data));
    let data = text::home(&place.data.to_string_lossy());
    let left = left(&place.data);
    Ok(if left.is_empty() {
        format!("Removed {data}.")
    } else {
        format!(
            "Removed what was kept. {data} stays, since it holds what is not of Bookend: {}.",
            left.join(", ")
        )
    })
}

/// What is still there, by name; of a directory that is ours, what is in it.
fn left(data: &Path) -> Vec<String> {
    let is_shared = |name: &str| SHARED.contains(&name);
    let below = WalkDir::new(data).min_depth(1).max_depth(2).sort_by_file_name();
    let names = below.into_iter().filter_map(|entry| {
        let name = entry
            .ok()?
            .path()
            .strip_prefix(data)
            .ok()?
            .to_string_lossy()
            .into_owned();
        let shown = name
            .split_once('/')
            .map_or(!is_shared(&name), |(folder, _)| is_shared(folder));
        shown.then_some(name)
    });
    names.collect()
}

fn remove(path: &Path) -> Result<(), Failed> {
    for entry in WalkDir::new(path).contents_first(true).follow_links(false) {
        let Ok(entry) = entry else { continue };
        let removed = if entry.file_type().is_dir() {
            std::fs::remove_dir(entry.path())
        } else {
            std::fs::remove_file(entry.path())
        };
        removed.map_err(|e| Failed::to(format!("remove {}: {e}", entry.path().display())))?;
    }
    Ok(())
}
