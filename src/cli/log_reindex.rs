//! `bookend log reindex`: reads every log that is not as the index knows it.

use serde_json::json;

use super::args::LogReindex;
use super::machine::Machine;
use super::out::Out;
use super::{Failed, Run, history, text};
use crate::log::index::{self, Depth, Filters};

impl Run for LogReindex {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let data = machine.data()?;
        let depth = if self.anew { Depth::Anew } else { Depth::All };
        let (read, sessions) = history::ask(data, depth, out, |index| {
            let total = index.sessions(&Filters::default(), 0, 0)?.total;
            Ok((index.read, total))
        })?;
        let size = index::size(data);
        if self.json {
            return out.json(&json!({
                "sessions": sessions, "read": read.done, "bytes": read.bytes, "indexBytes": size,
            }));
        }
        out.line(format!(
            "{} read ({}); the index knows {sessions}, in {}.",
            text::count(read.done, "session"),
            text::bytes(read.bytes),
            text::bytes(size),
        ));
        Ok(())
    }
}
