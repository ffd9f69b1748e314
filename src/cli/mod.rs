//! The `bookend` command: a look into what the hooks keep. One file per verb, each an implementation of
//! `Run` for its arguments (`args` is the definition); what they share stands beside them:
//!
//! * `machine`: both stores as a command sees them. It makes nothing, reads every hook root in use, and
//!   settles what nobody else will.
//! * `live`: the live sessions, found by a prefix. `history`: those of the log, newest first.
//! * `out`: the only way to the terminal, so that no stored text reaches it raw; `table` on top of it.
//!
//! Errors are one sentence on stderr that says what to do, exit 1; usage errors exit 2. A closed pipe ends
//! a command in silence.

mod args;
mod events;
mod follow;
mod history;
mod hook;
mod leftovers;
mod live;
mod log_sessions;
mod log_show;
mod machine;
mod out;
mod probe;
mod probed;
mod prune;
mod resume;
mod session_json;
mod sessions;
mod show;
mod span;
mod state_change;
mod table;
mod text;
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
    /// [`Failed`], with the sentence for people.
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed>;
}

/// Why a verb failed: one sentence that says what to do.
#[derive(Debug)]
struct Failed(String);

impl Failed {
    fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    /// What the library says fits after "failed to".
    fn to(what: impl fmt::Display) -> Self {
        Self(format!("failed to {what}"))
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
    let mut machine = Machine::open(&mut out);
    let ran = cli.verb.run(&mut machine, &mut out);
    match ran.and(out.finish()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(what)) => {
            out.complain(&format!("bookend: {what}"));
            ExitCode::FAILURE
        }
    }
}
