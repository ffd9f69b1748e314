//! What can be said on the command line to the log's methods.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::log::methods::table::METHODS;

/// `repl`.
#[derive(Debug, Args)]
#[command(long_about = "\
The log's methods for models and programs. One request a line on stdin, one answer a line on stdout, both JSON; the end \
of stdin ends it, exit 0.

  {\"type\":\"request\",\"payload\":{\"requestId\":…,\"method\":…,\"params\":{…}}}
  {\"type\":\"result\",\"payload\":{\"requestId\":…,\"result\":{…},\"deprecated\":true}}
  {\"type\":\"error\",\"payload\":{\"requestId\":…,\"code\":…,\"message\":…,\"details\":{…,\"hint\":…}}}

`deprecated` stands on every result of a workflow.* method and is no error.")]
pub(in crate::cli) struct Repl {}

/// `mcp`.
#[derive(Debug, Args)]
#[command(long_about = "\
A server of the Model Context Protocol over stdin and stdout: the log's methods as tools (sessionlog_open, \
sessionlog_begin_turn, …) and the skills as resources. `bookend install` registers it with the hosts as a part of the \
plugin; any other MCP client is told to run `bookend mcp`. The end of stdin ends it, exit 0.

Without a sessionId a call is about the session that this process opened, else the one of the host that runs it, else \
the only live one of this project.")]
pub(in crate::cli) struct Mcp {}

/// `call`.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    override_usage = "bookend call <METHOD> [--params FILE]\n       \
        bookend call start --agent A --title T [--workspace DIR] [--model M]",
    long_about = "\
Calls one of the log's methods and prints its answer as a line of JSON: exit 0 for a result, 1 for an error. What it \
opens is the session of the next call in the same project.

  bookend call start --agent YourAgent --title \"Add JWT authentication\"
  bookend call workflow.sessionlog.beginTurn --params turn.yaml
  echo 'response: Done.' | bookend call workflow.sessionlog.completeTurn --params -"
)]
pub(in crate::cli) struct Call {
    /// Its name
    pub(in crate::cli) method: Option<String>,
    /// A file with its parameters as YAML or JSON; - for stdin [default: none]
    #[arg(long, short, value_name = "FILE")]
    pub(in crate::cli) params: Option<PathBuf>,
    /// The one that is no method.
    #[command(subcommand)]
    pub(in crate::cli) start: Option<Calls>,
}

/// What `call` does besides.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Calls {
    /// Make the log ready and open a session, with an id made for you
    Start(CallStart),
}

/// `call start`.
#[derive(Debug, Args)]
pub(in crate::cli) struct CallStart {
    /// Your name in PascalCase
    #[arg(long, short)]
    pub(in crate::cli) agent: String,
    /// What the session is about
    #[arg(long, short)]
    pub(in crate::cli) title: String,
    /// The directory that is worked in [default: this one]
    #[arg(long, short, value_name = "DIR")]
    pub(in crate::cli) workspace: Option<PathBuf>,
    /// The model's id
    #[arg(long, short)]
    pub(in crate::cli) model: Option<String>,
}

/// The methods, and how a session and a turn are named.
pub(super) fn list() -> String {
    let mut text = "Methods (* must be given):".to_owned();
    for method in METHODS {
        let _ = write!(
            text,
            "\n  {} {}\n      {}",
            method.name,
            method.signature(),
            method.about
        );
    }
    text.push_str(
        "\n\nEach that is about a session also takes sessionId and agent (or sourceType); about a turn, turnRequestId (or \
        requestId) and subagent too. Without them: the session that this process opened, else that of the host in which it \
        runs, else the last one that `bookend call` opened in this project, else the only live one of this project; and its \
        open turn.",
    );
    text
}
