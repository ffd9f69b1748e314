//! `.bookend-off` in a project's root: sessions that begin there leave no log. Their live state is kept, as it is gone
//! by itself.

use std::path::Path;

/// The file's name; what is in it says nothing.
pub const FILE: &str = ".bookend-off";

/// Whether sessions of that project leave no log.
#[must_use]
pub fn is_off(project: &str) -> bool {
    let path = Path::new(project);
    path.is_absolute() && path.join(FILE).symlink_metadata().is_ok()
}
