//! The data directory: its own files, the logs of the newest sessions, and what killed hooks left.

use std::path::Path;

use chrono::{DateTime, Utc};

use super::faults::Faults;
use super::files::Seen;
use super::finding::Finding;
use super::fix::Fix;
use super::lines::{self, some};
use super::{BYTES, Counted, NEWEST, entries, leftovers};
use crate::files::Dir;
use crate::log::data_dir::{DataDir, Fault, NAMES};
use crate::log::id::SessionId;
use crate::log::ledger::FILE;
use crate::log::view::SessionView;

/// What hooks write there, and the index of it; the rest is `install`'s.
const KEPT: &[&str] = &[
    "log", "open", "by-host", "grown", INDEX, ERRORS, ERRORS_OLD, ROOTS,
];
const INDEX: &str = "index.sqlite";
const ERRORS: &str = "errors.jsonl";
const ERRORS_OLD: &str = "errors.jsonl.old";
const ROOTS: &str = "roots";
/// Most of `errors.jsonl` that is read; it is begun anew at half of it.
const MAX_ERRORS: u64 = 2 * 1024 * 1024;

/// Looks at it.
pub(super) fn examine(
    data: &DataDir,
    now: DateTime<Utc>,
    faults: &mut Faults,
    findings: &mut Vec<Finding>,
) -> Counted {
    let mut seen = Seen::of(data.path(), now);
    top(data, &mut seen, faults, findings);
    let counted = sessions(data, &mut seen, findings).unwrap_or_else(|e| {
        findings.push(not_read(
            "log-unreadable",
            &data.path().join("log"),
            &e.to_string(),
        ));
        Counted::default()
    });
    entries::open(data, &mut seen, findings);
    entries::by_host(data, &mut seen, findings, now);
    let left = leftovers::find(data.path(), now);
    if !left.is_empty() {
        let names: Vec<String> = left.iter().map(|p| p.display().to_string()).collect();
        let each = left.into_iter().map(|path| Fix::Remove {
            path,
            why: "left by a hook that was killed".to_owned(),
        });
        findings.push(
            Finding::note(
                "leftovers",
                data.path().to_string_lossy(),
                format!("Temporary files of killed hooks: {}.", some(&names)),
            )
            .remedy("Run `bookend prune`.")
            .fix(Fix::Each(each.collect())),
        );
    }
    seen.tell(findings);
    counted
}

pub(super) fn not_read(code: &'static str, path: &Path, why: &str) -> Finding {
    Finding::problem(code, path.to_string_lossy(), format!("It cannot be read: {why}."))
        .remedy("Give it back to yourself (owner, mode), or move away what stands there.")
}

/// The files and directories right in it.
fn top(data: &DataDir, seen: &mut Seen, faults: &mut Faults, findings: &mut Vec<Finding>) {
    for entry in data.dir().entries().unwrap_or_default() {
        let (name, path) = (entry.name.as_str(), data.path().join(&entry.name));
        if !NAMES.contains(&name) {
            seen.foreign.push(path);
        } else if KEPT.contains(&name)
            && let Ok(Some(stat)) = data.dir().stat(name)
        {
            seen.take(&path, &stat);
        }
    }
    for (name, read) in [(ERRORS, MAX_ERRORS), (ERRORS_OLD, MAX_ERRORS), (ROOTS, 0)] {
        let path = data.path().join(name);
        match data.dir().open_read(name) {
            Err(e) => findings.push(not_read("file-unreadable", &path, &e.to_string())),
            Ok(_) if read == 0 => {}
            Ok(_) => {
                let bytes = data.dir().read(name, read).ok().flatten().unwrap_or_default();
                let lines = lines::read::<Fault>(&bytes);
                if lines.torn > 0 {
                    seen.torn.push(path);
                }
                for fault in lines.good {
                    faults.take(fault.what.as_str(), &fault.hook, fault.at);
                }
            }
        }
    }
}

/// The newest logs.
fn sessions(data: &DataDir, seen: &mut Seen, findings: &mut Vec<Finding>) -> std::io::Result<Counted> {
    let Some(log) = data.dir().sub("log")? else {
        return Ok(Counted::default());
    };
    let path = data.path().join("log");
    let mut all: Vec<(i64, u64, SessionId)> = Vec::new();
    for entry in log.entries()? {
        match SessionId::try_from(entry.name) {
            Ok(id) if entry.is_dir => {
                let stat = log.stat(&format!("{id}/{FILE}")).ok().flatten();
                let size = stat.map_or(0, |s| u64::try_from(s.st_size).unwrap_or(0));
                all.push((stat.map_or(0, |s| s.st_mtime), size, id));
            }
            Ok(id) => findings.push(not_read(
                "log-unreadable",
                &path.join(id.as_str()),
                "it is no directory",
            )),
            Err(bad) => seen.foreign.push(path.join(bad.given)),
        }
    }
    all.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| b.2.cmp(&a.2)));
    let mut counted = Counted {
        sessions: all.len(),
        looked_at: 0,
        bytes: all.iter().map(|(_, size, _)| size).sum(),
    };
    let mut budget = BYTES;
    for (_, size, id) in all.into_iter().take(NEWEST) {
        if size > budget {
            continue;
        }
        budget -= size;
        counted.looked_at += 1;
        if let Err(e) = session(&log, &path.join(id.as_str()), &id, seen, findings) {
            findings.push(not_read(
                "log-unreadable",
                &path.join(id.as_str()).join(FILE),
                &e.to_string(),
            ));
        }
    }
    Ok(counted)
}

fn session(
    log: &Dir,
    path: &Path,
    id: &SessionId,
    seen: &mut Seen,
    findings: &mut Vec<Finding>,
) -> std::io::Result<()> {
    let Some(dir) = log.sub(id.as_str())? else {
        return Ok(());
    };
    seen.take(path, &rustix::fs::fstat(dir.file())?);
    let file = path.join(FILE);
    for entry in dir.entries()? {
        if entry.name != FILE {
            seen.foreign.push(path.join(entry.name));
        } else if let Some(stat) = dir.stat(FILE)? {
            seen.take(&file, &stat);
        }
    }
    let Some(bytes) = dir.read(FILE, BYTES)? else {
        return Ok(());
    };
    let view = SessionView::fold(id.clone(), &bytes);
    if view.end < bytes.len() as u64 {
        seen.torn.push(file.clone());
    }
    let mut bad = view.problems.iter().filter(|p| p.starts_with("read line "));
    if let Some(first) = bad.next() {
        let more = match bad.count() {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        let what = format!("It failed to {first}{more}; no kill does that, and what stood there is lost.");
        findings.push(
            Finding::problem("log-corrupt", file.to_string_lossy(), what).remedy(
                "Check the disk, and take that line from a backup; without one remove it when the session is over.",
            ),
        );
    }
    Ok(())
}
