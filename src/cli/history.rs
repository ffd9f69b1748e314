//! How the history is asked, and how a session of the log is found by what a person gives of it.

use std::io;
use std::path::{Path, PathBuf};

use super::args::Which;
use super::machine::Machine;
use super::out::Out;
use super::span::{Line, Style};
use super::{Failed, text};
use crate::dispatch::project_of;

use crate::host::Host;
use crate::live::key::SessionKey;
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::index::{self, Depth, Filters, Index, Words};
use crate::log::off;
use crate::log::view::SessionView;
use crate::redact::Redacted;

/// Asks the index, and tells on stderr how far it has come where there is much to read.
pub(super) fn ask<T>(
    data: &DataDir,
    depth: Depth,
    out: &mut Out,
    question: impl Fn(&mut Index<'_>) -> Result<T, index::Error>,
) -> Result<T, Failed> {
    let mut tell = |p: index::Progress| {
        let bytes = text::bytes(p.bytes);
        out.progress(&format!(
            "Reading the logs: {} of {} sessions, {bytes}",
            p.done, p.of
        ));
    };
    let asked = index::ask(data, depth, &mut tell, question);
    out.progressed_enough();
    let (answer, warnings) = asked.map_err(|e| {
        Failed::to(format!(
            "{e}; try again, or remove {}",
            data.path().join("index.sqlite").display()
        ))
    })?;
    for warning in warnings {
        out.warn(&warning);
    }
    Ok(answer)
}

impl Which {
    /// As the index takes it.
    pub(super) fn filters(&self) -> Filters {
        Filters {
            agent: self.agent.clone(),
            projects: self.project.as_deref().map(spellings),
            status: self.status.map(|s| s.word().to_owned()),
            from: self.from,
            to: self.to,
            ..Filters::default()
        }
    }
}

/// The words that are looked for.
pub(super) fn words(typed: &str) -> Result<Words, Failed> {
    Words::parse(typed).ok_or_else(|| {
        Failed::new("there is no word among what is searched for: give one with letters or digits")
    })
}

/// The directory as hosts may name it: with its links followed, or not.
pub(super) fn spellings(dir: &Path) -> Vec<String> {
    let both: [io::Result<PathBuf>; 2] = [dir.canonicalize(), std::path::absolute(dir)];
    let mut texts: Vec<String> = both
        .into_iter()
        .flatten()
        .map(|p| p.to_string_lossy().into_owned())
        .collect();
    texts.dedup();
    texts
}

/// The project of the working directory.
pub(super) fn here() -> Option<Redacted> {
    let here = std::env::current_dir().ok()?;
    Some(project_of(&Redacted::new(&here.to_string_lossy())))
}

/// Says so where the project of the working directory keeps no log.
pub(super) fn tell_if_off(out: &mut Out) {
    if let Some(project) = here().filter(|project| off::is_off(project)) {
        out.complain(&format!(
            "bookend: {} is in {}: sessions that begin there leave no log",
            off::FILE,
            text::home(&project)
        ));
    }
}

/// The one session that `wanted` means.
pub(super) fn one(
    data: &DataDir,
    wanted: &str,
    machine: &Machine,
    out: &mut Out,
) -> Result<SessionId, Failed> {
    let found = matching(data, wanted).map_err(|e| Failed::to(format!("read the session log: {e}")))?;
    let [id] = found.as_slice() else {
        if found.is_empty() {
            return Err(Failed::new(format!(
                "no session of the log begins with {wanted}: `bookend log sessions` lists them"
            )));
        }
        for id in found.iter().take(10) {
            let view = SessionView::read(data, id).ok().flatten();
            let about = view.map_or_else(String::new, |v| {
                format!("  {} ago  {}", text::age(v.last_updated, machine.now), v.title)
            });
            out.complain(&format!("  {id}{about}"));
        }
        return Err(Failed::new(format!(
            "{} sessions of the log begin with {wanted}: give more of the one that you mean",
            found.len()
        )));
    };
    Ok(id.clone())
}

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

/// Which part of all that stood there, and how to see more.
pub(super) fn tell_of_rest(verb: &str, offset: usize, shown: usize, total: usize, out: &mut Out) {
    if total > shown {
        let last = offset + shown;
        let mut note = format!("{} to {last} of {total}", offset + 1);
        if last < total {
            note.push_str(&format!(": bookend {verb} --offset {last} goes on"));
        }
        out.line(Line::of(Style::Faint, &note));
    }
}
