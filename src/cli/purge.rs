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

pub(super) fn purge(machine: &mut Machine, place: &Place, out: &mut Out) -> Result<(), Failed> {
    let options = Options {
        own: None,
        limit: None,
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
    for name in NAMES {
        remove(&place.data.join(name))?;
    }
    drop(std::fs::remove_dir(&place.data));
    let data = text::home(&place.data.to_string_lossy());
    if place.data.exists() {
        out.line(format!(
            "Removed what was kept; {data} holds something else, which stays."
        ));
    } else {
        out.line(format!("Removed {data}."));
    }
    Ok(())
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
