//! The live sessions of all roots, newest event first, and how one is found by its first characters.

use std::path::PathBuf;

use super::Failed;
use super::machine::{Machine, is_pending};
use super::out::Out;
use super::text;
use crate::files::Dir;
use crate::live::journal;
use crate::live::key::SessionKey;
use crate::live::root::HookRoot;
use crate::live::state::State;
use crate::log::data_dir::DataDir;
use crate::log::ledger;
use crate::log::record::Body;
use crate::task::Task;

/// Shortest part of a key that is shown.
const MIN_KEY: usize = 8;

/// A live session.
pub(super) struct Live {
    /// Its root.
    pub(super) root: PathBuf,
    /// Its directory's name.
    pub(super) key: SessionKey,
    /// Its directory.
    pub(super) dir: Dir,
    /// The fold, with what the log knows behind it.
    pub(super) state: State,
    /// Its host is alive.
    pub(super) alive: bool,
    /// Events whose hooks could not get the lock, and that wait for the next one.
    pub(super) pending: usize,
    /// What was wrong with its files, as fragments that fit after "failed to".
    pub(super) problems: Vec<String>,
}

impl Live {
    /// One word: `yes` (at work), `idle`, `ended`, `no`.
    pub(super) fn word(&self) -> &'static str {
        match (self.alive, &self.state.ended) {
            (true, _) if self.state.turns.open().is_some() => "yes",
            (true, _) => "idle",
            (false, Some(_)) => "ended",
            (false, None) => "no",
        }
    }

    /// The task in hand.
    pub(super) fn task(&self) -> Option<&Task> {
        self.state.current_task.as_ref()
    }

    /// The task that was left for it.
    pub(super) fn interrupted(&self) -> Option<&Task> {
        self.state.interrupted_task.as_ref()
    }

    /// The turn has stopped, and the task waits for subagents in the background.
    pub(super) fn task_waits(&self) -> bool {
        self.state.task_waits
    }

    /// The project root, or the directory that stands for it.
    pub(super) fn project(&self) -> Option<&str> {
        let project = self.state.project_root.as_ref().or(self.state.cwd.as_ref());
        project.map(|p| p.as_str())
    }
}

/// All live sessions, newest event first. What cannot be read is named on stderr.
pub(super) fn all(machine: &Machine, out: &mut Out) -> Vec<Live> {
    machine.warn_of_data(out);
    let mut sessions = Vec::new();
    for root in &machine.roots {
        let entries = match root.dir().entries() {
            Ok(entries) => entries,
            Err(e) => {
                out.warn(&format!(
                    "failed to read the hook root {}: {e}",
                    root.path().display()
                ));
                continue;
            }
        };
        for entry in entries.into_iter().filter(|e| e.is_dir) {
            let Some(key) = SessionKey::from_name(&entry.name) else {
                continue;
            };
            match one(machine, root, key) {
                Ok(found) => sessions.extend(found),
                Err(e) => out.warn(&format!(
                    "failed to read the session {} in {}: {e}",
                    entry.name,
                    root.path().display()
                )),
            }
        }
    }
    sessions.sort_by(|a, b| {
        let newest = b.state.last_event_at.cmp(&a.state.last_event_at);
        newest.then_with(|| a.key.cmp(&b.key))
    });
    sessions
}

/// One session; `None` when it is gone, or its directory is none of ours.
pub(super) fn one(machine: &Machine, root: &HookRoot, key: SessionKey) -> std::io::Result<Option<Live>> {
    let Some(dir) = root.dir().sub(key.as_str())? else {
        return Ok(None);
    };
    let loaded = journal::fold(&dir)?;
    let pending = dir.entries()?.iter().filter(|e| is_pending(&e.name)).count();
    if loaded.state.n == 0 && pending == 0 && !loaded.bad_checkpoint {
        return Ok(None);
    }
    let mut problems = loaded.problems;
    if loaded.bad_checkpoint {
        problems.push("read state.json: the journal was read in its place".to_owned());
    }
    let mut state = loaded.state;
    if let Some(data) = &machine.data
        && let Err(e) = catch_up(&mut state, data)
    {
        problems.push(format!("read its session log: {e}"));
    }
    let alive = state.alive(machine.now);
    if !alive {
        state.agents_lost();
    }
    Ok(Some(Live {
        root: root.path().to_owned(),
        alive,
        key,
        dir,
        state,
        pending,
        problems,
    }))
}

/// The log is the truth for turns: what others wrote into it (a settlement, a session that took the task
/// over) stands behind the end that the live state knows.
fn catch_up(state: &mut State, data: &DataDir) -> std::io::Result<()> {
    let Some(log) = &state.log else { return Ok(()) };
    for record in ledger::behind(data, &log.session, log.end)? {
        if let Some(mark) = record.body.mark(record.at) {
            state.take_marks(&[mark]);
        }
        if let Body::Task { task, interrupted } = record.body {
            state.current_task = task;
            state.interrupted_task = interrupted;
        }
    }
    Ok(())
}

/// The session that starts with `wanted`, by key, id or log session; the newest without it.
pub(super) fn find(
    sessions: Vec<Live>,
    wanted: Option<&str>,
    machine: &Machine,
    out: &mut Out,
) -> Result<Live, Failed> {
    let Some(wanted) = wanted else {
        return sessions
            .into_iter()
            .next()
            .ok_or_else(|| Failed::new(machine.none_live()));
    };
    let ids = |s: &Live| {
        let log = s.state.log.as_ref().map(|l| l.session.to_string());
        [Some(s.key.to_string()), Some(s.state.session_id.to_string()), log]
    };
    let matches = |s: &Live, fits: &dyn Fn(&str) -> bool| ids(s).iter().flatten().any(|id| fits(id));
    let (exact, other): (Vec<Live>, Vec<Live>) =
        sessions.into_iter().partition(|s| matches(s, &|id| id == wanted));
    let mut found = if exact.is_empty() {
        other
            .into_iter()
            .filter(|s| !wanted.is_empty() && matches(s, &|id| id.starts_with(wanted)))
            .collect()
    } else {
        exact
    };
    let keys = found
        .iter()
        .map(|s| &s.key)
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    if keys > 1 {
        let lines: Vec<String> = found.iter().take(10).map(|s| candidate(s, machine)).collect();
        let more = found.len().saturating_sub(lines.len());
        for line in lines {
            out.complain(&line);
        }
        let more = if more > 0 {
            format!(" ({more} are not listed)")
        } else {
            String::new()
        };
        return Err(Failed::new(format!(
            "{} sessions begin with {wanted}{more}: give more of the one that you mean",
            found.len()
        )));
    }
    if found.is_empty() {
        return Err(Failed::new(format!(
            "no live session begins with {wanted}: `bookend sessions --all` lists them, `bookend log sessions` those before"
        )));
    }
    let newest = found.remove(0);
    for twin in found {
        out.warn(&format!("the same session is also in {}", twin.root.display()));
    }
    Ok(newest)
}

fn candidate(session: &Live, machine: &Machine) -> String {
    let host = session.state.host.map_or("-", |h| h.id());
    let project = text::home(session.project().unwrap_or("-"));
    let age = text::age(session.state.last_event_at, machine.now);
    format!("  {}  {host}  {project}  {age} ago", session.key)
}

/// For each key the shortest part that no other one begins with, at least eight characters.
pub(super) fn short_keys(sessions: &[Live]) -> Vec<String> {
    let mut keys: Vec<&str> = sessions.iter().map(|s| s.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    sessions
        .iter()
        .map(|s| shortest(s.key.as_str(), &keys).to_owned())
        .collect()
}

/// Keys are ASCII by construction.
fn shortest<'k>(key: &'k str, sorted: &[&str]) -> &'k str {
    let at = sorted.partition_point(|k| *k < key);
    let before = at.checked_sub(1).and_then(|i| sorted.get(i));
    let shared = |other: Option<&&str>| {
        other.map_or(0, |o| {
            key.bytes().zip(o.bytes()).take_while(|(a, b)| a == b).count()
        })
    };
    let needed = shared(before).max(shared(sorted.get(at + 1))) + 1;
    key.get(..needed.max(MIN_KEY)).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_unique_part_of_a_key_has_at_least_eight_characters() {
        let keys = ["0123456789ab", "0123456789cd", "s1", "zzzzzzzzzzzz"];
        let short: Vec<&str> = keys.iter().map(|k| shortest(k, &keys)).collect();
        assert_eq!(short, ["0123456789a", "0123456789c", "s1", "zzzzzzzz"]);
    }
}
