//! What can be said on the command line about the history.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand, ValueEnum};

use crate::cli::values::moment;

/// The verbs about the history.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Log {
    /// The sessions of the log, newest first
    Sessions(LogSessions),
    /// One session of the log, turn by turn
    Show(LogShow),
    /// The turns in which words stand, newest first
    Search(LogSearch),
    /// How much there is: by agent, project, status and day
    Stats(LogStats),
    /// Write sessions out, as JSON lines or Markdown
    Export(LogExport),
    /// Read every log that is not as the index knows it
    Reindex(LogReindex),
    /// Remove the sessions that are older than they are to be kept
    Expire(LogExpire),
    /// Remove sessions for good
    Forget(LogForget),
}

/// Which sessions.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Which {
    /// Only those of this agent: ClaudeCode or claude-code
    #[arg(long, short)]
    pub(in crate::cli) agent: Option<String>,
    /// Only those of this project, or of a directory below it
    #[arg(long, short, value_name = "DIR")]
    pub(in crate::cli) project: Option<PathBuf>,
    /// Only those that stand so
    #[arg(long, short, value_enum)]
    pub(in crate::cli) status: Option<Status>,
    /// Only those that were updated then or later: 2026-04-09, 2026-04-09T12:00:04Z, or 7d ago as 7d
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(in crate::cli) from: Option<DateTime<Utc>>,
    /// Only those that were begun then or earlier
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(in crate::cli) to: Option<DateTime<Utc>>,
}

/// Which of them.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Slice {
    /// How many
    #[arg(long, short = 'l', default_value = "20", value_name = "N")]
    pub(in crate::cli) limit: NonZeroUsize,
    /// How many of the newest are left out
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(in crate::cli) offset: usize,
}

/// `log sessions`.
#[derive(Debug, Args)]
#[command(after_help = "\
--json: {sessions[] {agent, sessionId, host, hostSession, title, model, projectRoot, started, lastUpdated, status, \
turnCount, filesModifiedCount, tags}, totalCount, offset, limit}.")]
pub(in crate::cli) struct LogSessions {
    #[command(flatten)]
    pub(in crate::cli) which: Which,
    /// Only those with a turn in which these words stand, as `log search` takes them
    #[arg(long, short, value_name = "WORDS")]
    pub(in crate::cli) text: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) slice: Slice,
    /// One JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// `log show`.
#[derive(Debug, Args)]
#[command(after_help = "\
--json: agent, sessionId, host, hostSession, title, model, projectRoot, started, lastUpdated, status, turnCount, \
filesModifiedCount, turns[], notes[], todos {flow, lastSyncedAt, items[]} (the last list; null: none); a turn: requestId, aliases, origin, queryTitle, queryText, response, \
interpretation, status, presumed, startedAt, completedAt, tokenCount, tags, contextList, dialog[], actions[], late[], \
failure {code, message}.")]
pub(in crate::cli) struct LogShow {
    /// The first characters of its id, of the id's last part, or of the host's session id
    /// [default: the newest of this project, else of all]
    pub(in crate::cli) session: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// `log search`.
#[derive(Debug, Args)]
#[command(after_help = "\
Searched are titles, prompts, responses, interpretations, dialog, actions with their files, tags and failures, in any \
case of letters and without accents. All words have to stand in one turn; \"two words\" in quotes one after the other; \
migrat* is the beginning of a word. --from and --to say here when the turn began.

  bookend log search '\"price column\" migrat*' --project .

--json: {matches[] {sessionId, requestId (null: the session's own title), field (title, prompt, response, interpretation, \
dialog, actions, tags, failure), snippet, at}, totalCount, offset, limit}.")]
pub(in crate::cli) struct LogSearch {
    /// The words
    #[arg(required = true, value_name = "WORDS", num_args = 1..)]
    pub(in crate::cli) words: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) which: Which,
    #[command(flatten)]
    pub(in crate::cli) slice: Slice,
    /// One JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// `log stats`.
#[derive(Debug, Args)]
#[command(after_help = "\
--json: {sessions, turns, logBytes, first, last, agents[], projects[], statuses[], days[] (each {name, sessions, turns}; days are \
UTC), indexBytes, retentionDays (0: for ever)}.")]
pub(in crate::cli) struct LogStats {
    #[command(flatten)]
    pub(in crate::cli) which: Which,
    /// One JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// `log export`.
#[derive(Debug, Args)]
#[command(after_help = "\
jsonl: every record of the logs, one a line, as it was written, with the session that it is of in front: \
{\"session\":…,\"v\":…,\"id\":…,\"seq\":…,\"at\":…,\"by\":…,\"kind\":…,…}. markdown: sessions, turns, prompts, answers, \
actions, to be read. The oldest session comes first.")]
pub(in crate::cli) struct LogExport {
    /// One session, as `log show` takes it [default: all that the filters leave]
    #[arg(conflicts_with_all = ["agent", "project", "status", "from", "to"])]
    pub(in crate::cli) session: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) which: Which,
    /// How
    #[arg(long, short, value_enum, default_value_t = Format::Jsonl)]
    pub(in crate::cli) format: Format,
    /// Into this file, readable by you alone [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
}

/// How sessions are written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// Every record, one a line
    Jsonl,
    /// To be read
    Markdown,
}

/// `log reindex`.
#[derive(Debug, Args)]
#[command(after_help = "\
The index brings itself up to date whenever it is asked; this is for logs that somebody else changed, put back or took \
away. Ctrl-C does no harm: the next one goes on where it was.

--json: {sessions, read, bytes, indexBytes}.")]
pub(in crate::cli) struct LogReindex {
    /// Throw the index away first
    #[arg(long)]
    pub(in crate::cli) anew: bool,
    /// One JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// `log expire`.
#[derive(Debug, Args)]
#[command(after_help = "\
A session expires when nothing was written to it for BOOKEND_LOG_DAYS days (90; 0 keeps all for ever). What is open (a turn, a \
task, todos) and whose host runs, stays. The command does this by itself once a day.

--json: {days, dryRun, removed[] {sessionId, bytes}, bytes, kept[] {sessionId, why}}.")]
pub(in crate::cli) struct LogExpire {
    /// Only say what would be removed
    #[arg(long, short = 'n')]
    pub(in crate::cli) dry_run: bool,
    /// Another number of days than BOOKEND_LOG_DAYS
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) older_than: Option<u32>,
    /// One JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// `log forget`.
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("what").required(true).args(["session", "project", "all"]),
    after_help = "\
Removed are the log, its place in the index, what was still to be resumed from it, and which host session it was of. A \
session whose host runs, or whose turn is open, stays: end it first.

--json: {dryRun, removed[] {sessionId, bytes}, bytes, kept[] {sessionId, why}}."
)]
pub(in crate::cli) struct LogForget {
    /// One session, as `log show` takes it
    pub(in crate::cli) session: Option<String>,
    /// All sessions of this project, or of a directory below it
    #[arg(long, short, value_name = "DIR")]
    pub(in crate::cli) project: Option<PathBuf>,
    /// All sessions
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(in crate::cli) yes: bool,
    /// Only say what would be removed
    #[arg(long, short = 'n')]
    pub(in crate::cli) dry_run: bool,
    /// One JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// Where a session of the log stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(in crate::cli) enum Status {
    /// It goes on, or its host vanished between two turns and nobody was told
    InProgress,
    /// It ended, its last turn well
    Completed,
    /// It ended, and its last turn had failed
    Failed,
}

impl Status {
    /// As the log spells it.
    pub(in crate::cli) fn word(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}
