//! The `bookend` command: a look into what the hooks keep. One file per verb, each an implementation of
//! `Run` for its arguments (`args` is the definition); what they share stands beside them:
//!
//! * `machine`: both stores as a command sees them. It makes nothing, reads every hook root in use, and
//!   settles what nobody else will.
//! * `live`: the live sessions, found by a prefix. `history`: those of the log, newest first.
//! * `out`: the only way to the terminal, so that no stored text reaches it raw; `table` on top of it.
//!
//! Errors are one sentence on stderr that says what to do, exit 1; a verb whose output has said what is
//! the matter only exits 1; usage errors exit 2. A closed pipe ends a command in silence.

mod args;
mod call;
mod demo;
mod diff;
mod doctor;
mod events;
mod follow;
mod history;
mod hook;
mod install;
mod live;
mod log_expire;
mod log_export;
mod log_forget;
mod log_reindex;
mod log_search;
mod log_sessions;
mod log_show;
mod log_stats;
mod machine;
mod markdown;
mod mcp;
mod orchestration;
mod out;
mod probe;
mod probed;
mod prune;
mod purge;
mod repl;
mod resume;
mod resume_own;
mod session_json;
mod sessions;
mod show;
mod span;
mod state_change;
mod surroundings;
mod table;
mod text;
mod todos;
mod uninstall;
mod values;

use std::fmt;
use std::process::ExitCode;

use clap::Parser;

use machine::Machine;
use out::Out;

/// One verb.
trait Run {
    /// Does it.
    ///
    /// # Errors
    /// [`Failed`]: exit 1.
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed>;
}

/// Why a verb exits 1.
#[derive(Debug)]
enum Failed {
    /// It could not be done: one sentence that says what to do.
    Told(String),
    /// It was done, and what stands on stdout says what is the matter.
    Shown,
}

impl Failed {
    fn new(what: impl Into<String>) -> Self {
        Self::Told(what.into())
    }

    /// What the library says fits after "failed to".
    fn to(what: impl fmt::Display) -> Self {
        Self::Told(format!("failed to {what}"))
    }
}

/// Parses, runs, and maps errors to exit codes.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version too: clap says which exit code.
        Err(e) => {
            drop(e.print());
            return ExitCode::from(u8::try_from(e.exit_code()).unwrap_or(2));
        }
    };
    let mut out = Out::stdout();
    let mut machine = Machine::open();
    let ran = cli.verb.run(&mut machine, &mut out);
    // What nobody could read was not shown.
    let ran = match (ran, out.finish()) {
        (Ok(()) | Err(Failed::Shown), Err(unwritten)) => Err(unwritten),
        (ran, _) => ran,
    };
    if cli.verb.looks_at_sessions() {
        log_expire::by_itself(&machine);
    }
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            if let Failed::Told(what) = failed {
                out.complain(&format!("bookend: {what}"));
            }
            ExitCode::FAILURE
        }
    }
}
