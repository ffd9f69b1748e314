//! What subagents of an orchestration handed over, found again in the logs of its project: hooks write it there
//! (`handlers::handoff`), and nobody opens the hook root for it.

use std::path::Path;

use chrono::{DateTime, Utc};

use super::data_dir::DataDir;
use super::id::SessionId;
use super::index::{self, Depth, Filters};
use super::view::{HandoffView, SessionView};

/// Logs that are looked through: the newest ones.
const MAX_LOGS: usize = 50;

/// The handoffs of that orchestration since then, oldest first. What cannot be read is not there.
#[must_use]
pub fn of(data: &DataDir, orchestration: &str, project: &Path, since: DateTime<Utc>) -> Vec<HandoffView> {
    let filters = Filters {
        projects: Some(vec![project.to_string_lossy().into_owned()]),
        from: Some(since),
        ..Filters::default()
    };
    let asked = index::ask(data, Depth::Grown, &mut |_| {}, |index| {
        index.sessions(&filters, MAX_LOGS, 0)
    });
    let Ok((page, _)) = asked else { return Vec::new() };
    let here = page.sessions.into_iter().filter(|session| {
        let place = session.project_root.as_deref().map(Path::new);
        place.is_some_and(|place| is_in(place, project))
    });
    let ids = here.filter_map(|session| SessionId::try_from(session.session_id).ok());
    let views = ids.filter_map(|id| SessionView::read(data, &id).ok().flatten());
    let mut all: Vec<HandoffView> = views.flat_map(|view| view.handoffs).collect();
    all.retain(|h| h.at >= since && h.handoff.orchestration.as_deref() == Some(orchestration));
    all.sort_by_key(|h| h.at);
    all
}

/// Whether a directory belongs to that project, and not to a repository within it.
fn is_in(place: &Path, project: &Path) -> bool {
    let mut below = place.ancestors().take_while(|dir| *dir != project);
    place.starts_with(project) && below.all(|dir| !dir.join(".git").exists())
}
