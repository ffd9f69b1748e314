//! `bookend log export`: sessions written out, one after the other, so that a whole history needs no more room than its
//! longest record, or for Markdown its longest session.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use tempfile::NamedTempFile;

use super::args::{Format, LogExport};
use super::machine::{Machine, NOTHING_YET};
use super::out::Out;
use super::{Failed, Run, history, markdown, text};
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::index::Depth;
use crate::log::ledger::FILE;
use crate::log::view::SessionView;

impl Run for LogExport {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let data = machine.data()?;
        let ids = match &self.session {
            Some(wanted) => vec![history::one(data, wanted, machine, out)?],
            None => {
                let filters = self.which.filters();
                history::ask(data, Depth::Grown, out, |index| index.ids(&filters))?
            }
        };
        if ids.is_empty() {
            let kept = data.sessions().is_ok_and(|s| !s.is_empty());
            let none = "no session of the log is of that kind: `bookend log sessions` lists them";
            return Err(Failed::new(if kept { none } else { NOTHING_YET }));
        }
        let mut to = match &self.output {
            Some(path) => Some(Target::new(path)?),
            None => None,
        };
        for (i, id) in ids.iter().enumerate() {
            if to.is_some() && i % 100 == 0 {
                out.progress(&format!("Writing {i} of {} sessions", ids.len()));
            }
            let written = match self.format {
                Format::Jsonl => records(data, id, &mut to, out),
                Format::Markdown => document(data, id, &mut to, out),
            };
            written?;
            if out.is_closed() {
                return Ok(());
            }
        }
        if let Some(to) = to {
            let (path, bytes) = to.finish()?;
            let sessions = text::count(ids.len(), "session");
            out.line(format!(
                "{sessions} written to {} ({}).",
                text::home(&path.to_string_lossy()),
                text::bytes(bytes)
            ));
        }
        Ok(())
    }
}

/// Every record of a session, with the session in front.
fn records(data: &DataDir, id: &SessionId, to: &mut Option<Target>, out: &mut Out) -> Result<(), Failed> {
    let failed = |e: std::io::Error| Failed::to(format!("read the log of {id}: {e}"));
    let dir = data.session(id).map_err(failed)?;
    let Some((file, _)) = dir
        .map(|dir| dir.open_read(FILE))
        .transpose()
        .map_err(failed)?
        .flatten()
    else {
        // It was forgotten meanwhile.
        return Ok(());
    };
    let mut reader = BufReader::new(file);
    let (mut line, mut bad) = (Vec::new(), 0);
    while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        let text = std::str::from_utf8(&line).ok().filter(|l| l.ends_with('\n'));
        let record = text.map(str::trim).filter(|l| l.starts_with('{'));
        match record.filter(|l| serde_json::from_str::<IgnoredAny>(l).is_ok()) {
            Some(record) => {
                let rest = record.strip_prefix('{').unwrap_or_default().trim_start();
                let comma = if rest.starts_with('}') { "" } else { "," };
                let record = format!("{{\"session\":\"{id}\"{comma}{rest}");
                match to {
                    Some(to) => to.line(&record)?,
                    None => out.json_text(&record),
                }
            }
            None if line.iter().all(u8::is_ascii_whitespace) => {}
            None => bad += 1,
        }
        if out.is_closed() {
            return Ok(());
        }
        line.clear();
    }
    if bad > 0 {
        let lines = text::count(bad, "line");
        out.warn(&format!(
            "{lines} in the log of {id} cannot be read and are left out"
        ));
    }
    Ok(())
}

fn document(data: &DataDir, id: &SessionId, to: &mut Option<Target>, out: &mut Out) -> Result<(), Failed> {
    let view = SessionView::read(data, id).map_err(|e| Failed::to(format!("read the log of {id}: {e}")))?;
    for line in view.as_ref().map(markdown::session).unwrap_or_default() {
        match to {
            Some(to) => to.line(&line)?,
            None => out.line(line),
        }
    }
    Ok(())
}

/// A file of the user: whole or not at all, and readable by nobody else.
struct Target {
    path: PathBuf,
    parent: PathBuf,
    file: BufWriter<NamedTempFile>,
    bytes: u64,
}

impl Target {
    fn new(path: &Path) -> Result<Self, Failed> {
        let there = path.symlink_metadata().ok();
        if there.is_some_and(|m| !m.file_type().is_file() && !m.file_type().is_symlink()) {
            return Err(Failed::new(format!(
                "{} is no regular file: leave --output away and redirect instead",
                path.display()
            )));
        }
        // What a link leads to is what the user means.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let file = NamedTempFile::new_in(&parent).map_err(|e| {
            Failed::to(format!(
                "write into {}: {e}; give another --output",
                parent.display()
            ))
        })?;
        Ok(Self {
            path,
            parent,
            file: BufWriter::new(file),
            bytes: 0,
        })
    }

    fn line(&mut self, line: &str) -> Result<(), Failed> {
        self.bytes += line.len() as u64 + 1;
        let written = self
            .file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.write_all(b"\n"));
        written.map_err(|e| self.failed(&e))
    }

    fn failed(&self, e: &std::io::Error) -> Failed {
        Failed::to(format!(
            "write {}: {e}; make room or give another --output",
            self.path.display()
        ))
    }

    fn finish(self) -> Result<(PathBuf, u64), Failed> {
        let failed = |e: &std::io::Error| {
            Failed::to(format!(
                "write {}: {e}; make room or give another --output",
                self.path.display()
            ))
        };
        let file = self.file.into_inner().map_err(|e| failed(e.error()))?;
        file.as_file().sync_data().map_err(|e| failed(&e))?;
        file.persist(&self.path).map_err(|e| failed(&e.error))?;
        let dir = File::open(&self.parent).and_then(|dir| dir.sync_all());
        dir.map_err(|e| failed(&e))?;
        Ok((self.path, self.bytes))
    }
}
