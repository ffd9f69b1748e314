//! What can be said on the command line of the orchestration state.

use clap::{Args, Subcommand};

/// The verbs about the orchestration state.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Orchestration {
    /// The orchestration session of this project: its phases, and what comes next
    Show(OrchestrationShow),
    /// Move the session with its documents into the archive
    Archive(OrchestrationArchive),
    /// Print a file of the project
    Read(OrchestrationRead),
    /// Put stdin in the place of a file of the project, whole or not at all
    Write(OrchestrationWrite),
}

/// `orchestration show`.
#[derive(Debug, Args)]
#[command(after_help = "\
The state is <state dir>/state/active-session.md in this project; <state dir> is MAESTRO_STATE_DIR, in the environment or in \
the project's .env, else docs/maestro.

--json: {exists, session_id, task, status, created, updated, workflow_mode, execution_mode, execution_backend, current_batch, \
task_complexity, design_document, implementation_plan, current_phase, total_phases, phases[] {id, name, status, indicator, \
agents, parallel, waits_for, retry_count, errors, requires_reconciliation}, token_usage, next {phase_id, action} (null: \
nothing can), archiving, path}; without a session {exists, message}.")]
pub(in crate::cli) struct OrchestrationShow {
    /// One JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// `orchestration archive`.
#[derive(Debug, Args)]
#[command(after_help = "--json: {session_id, archive_path, archived_files[], already_archived}.")]
pub(in crate::cli) struct OrchestrationArchive {
    /// Although not all phases have ended, and why
    #[arg(long, value_name = "REASON")]
    pub(in crate::cli) force: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// `orchestration read`.
#[derive(Debug, Args)]
pub(in crate::cli) struct OrchestrationRead {
    /// Its path, relative to the project's root
    pub(in crate::cli) path: String,
}

/// `orchestration write`.
#[derive(Debug, Args)]
#[command(after_help = "\
At most 1 MiB of text. Missing directories are made; secrets are replaced by [REDACTED:<rule>].

  echo '…' | bookend orchestration write docs/maestro/plans/plan.md")]
pub(in crate::cli) struct OrchestrationWrite {
    /// Its path, relative to the project's root
    pub(in crate::cli) path: String,
}
