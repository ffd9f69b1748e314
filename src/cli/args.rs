//! What can be said on the command line: the definition, and nothing that does it.

mod history;
mod methods;
mod orchestration;

use std::fmt::Write;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

pub(super) use history::{
    Format, Log, LogExpire, LogExport, LogForget, LogReindex, LogSearch, LogSessions, LogShow, LogStats,
    Which,
};
pub(super) use methods::{Call, CallStart, Calls, Mcp, Repl};
pub(super) use orchestration::{
    Orchestration, OrchestrationArchive, OrchestrationRead, OrchestrationShow, OrchestrationWrite,
};

use super::machine::Machine;
use super::out::Out;
use super::values::{agent, duration, hook, host};
use super::{Failed, Run};
use crate::config::VARIABLES;
use crate::hook::Hook;
use crate::host::Host;
use crate::task::agent_files::Agent;

/// See what your AI coding agents were doing, when their hooks fired, and where to go on.
#[derive(Debug, Parser)]
#[command(
    name = "bookend",
    version,
    after_help = EXAMPLES,
    after_long_help = long_help(),
    arg_required_else_help = true,
    max_term_width = 110
)]
pub(super) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(super) verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  bookend install --dry-run        what an installation would change, as a diff
  bookend sessions                 who is at work, and on what
  bookend show                     the newest session: task, todos, agents, limits, hooks
  bookend show 3f2a                a session by the first characters of its id
  bookend events --follow          which hooks fire, as they fire
  bookend resume                   what the next session here would be told
  bookend resume 3f2a              what that session would be told, if it went on now
  bookend todos                    what is still to be done here
  bookend log show                 the newest session of this project, turn by turn
  bookend log search 'price col*'  the turns in which these words stand
  bookend log sessions --json | jq '.sessions[].title'
  bookend call start --agent YourAgent --title \"…\"   a session of the log without hooks
  bookend prune --dry-run          what a prune would remove
  bookend doctor                   what is the matter, and what to do
  bookend probe                    do the hooks of the hosts on this machine fire?
  bookend demo                     all of it, with a recorded session in place of yours";

fn long_help() -> String {
    let mut text = format!("{EXAMPLES}\n\nEnvironment:");
    for (name, default, meaning) in VARIABLES {
        let (default, meaning) = (default.replace('`', ""), meaning.replace('`', ""));
        let _ = write!(text, "\n  {name}\n      {meaning} [default: {default}]");
    }
    text.push_str("\n\nEvery verb that prints data takes --json. Exit: 0 done, 1 failed, 2 wrong usage.");
    text
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Register the hooks with the hosts on this machine
    Install(Install),
    /// Take the hooks out of the hosts again
    Uninstall(Uninstall),
    /// The live sessions, newest event first
    Sessions(Sessions),
    /// One session's whole live state
    Show(Show),
    /// Which hooks fired: when, for what, how answered, how long
    Events(Events),
    /// What the next session start in this project would say, and why
    Resume(Resume),
    /// The todos of this project, and whose they are
    Todos(Todos),
    /// Prove that the hooks fire: your own hosts, a stub model, no account, no network
    Probe(ProbeRun),
    /// Remove live state that nothing touched for two hours
    Prune(Prune),
    /// The history: what happened, turn by turn
    #[command(subcommand)]
    Log(Log),
    /// The orchestration session of this project, in phases
    #[command(subcommand)]
    Orchestration(Orchestration),
    /// The log's methods for models and programs: requests on stdin, answers on stdout
    #[command(after_long_help = methods::list())]
    Repl(Repl),
    /// Call one of the log's methods
    #[command(after_long_help = methods::list())]
    Call(Call),
    /// The same as tools for MCP clients, over stdin and stdout
    Mcp(Mcp),
    /// What is the matter here, and what to do about it
    Doctor(Doctor),
    /// Run a hook by hand, with a payload on stdin
    Hook(HookRun),
    /// A tour without a host: a recorded session through the real hooks, a crash, and the resume
    Demo(Demo),
}

/// `install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Places the executables beside this command in <data dir>/bin with a link in ~/.local/bin, then registers the hooks with \
every host that is found: as a plugin through the host's own commands, or, where the host's program is not on PATH, in \
its user settings. Settings keep their comments, order, links and modes; one that does not parse is refused and nothing \
is changed. Older and doubled registrations of Bookend are replaced, everybody else's hooks stay. It may be run again at \
any time.

Codex runs no hook that you have not trusted. On a terminal you are asked; --trust says yes beforehand.

--json: {dryRun, placed[], link, hosts[] {host, program, version, config, means, changed, files[] {path, diff, backup}, \
commands[], trust, next[], error}}; trust is null where a host asks for none, else trusted, untrusted or unknown.")]
pub(super) struct Install {
    /// Which hosts: claude-code, codex [default: those that are found]
    #[arg(value_parser = host)]
    pub(super) hosts: Vec<Host>,
    /// Only show what would be done, as a diff
    #[arg(long, short = 'n')]
    pub(super) dry_run: bool,
    /// Take everything of Bookend out of the host before
    #[arg(long)]
    pub(super) uninstall_first: bool,
    /// Let Codex trust the hooks
    #[arg(long)]
    pub(super) trust: bool,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// `uninstall`.
#[derive(Debug, Args)]
#[command(after_help = "\
Takes the hooks out of the hosts first, then removes the executables and the link. A settings file in which nothing \
else was changed since the installation is byte by byte what it was before. What the hooks kept (the log) stays, unless \
--purge is given.

With hosts named, only those are left, and the executables stay.

--json: {dryRun, hosts[] {host, config, changed, files[] {path, diff}, commands[], error}, removed[], purged}.")]
pub(super) struct Uninstall {
    /// Which hosts [default: all, and the executables]
    #[arg(value_parser = host)]
    pub(super) hosts: Vec<Host>,
    /// Remove also the log and everything else that was kept
    #[arg(long, conflicts_with = "hosts")]
    pub(super) purge: bool,
    /// Do not ask before --purge
    #[arg(long, short)]
    pub(super) yes: bool,
    /// Only show what would be done, as a diff
    #[arg(long, short = 'n')]
    pub(super) dry_run: bool,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// `sessions`.
#[derive(Debug, Args)]
#[command(after_help = "\
One row a session: the shortest unique part of its key, the host, the project, the time since its last event, \
whether it is live (yes: at work; idle: its host runs; ended: the host said so; no: its host is gone), its task, \
its turn, and a rate limit that holds. Every hook root in use is read: the wanted one, <data dir>/hooks, and those \
recorded in <data dir>/roots.

Left out without --all, in JSON too: those that are not live and had no event for a day.

--json: an array of objects with sessionKey, sessionId, host, cwd, projectRoot, startedAt, lastEventAt, live, \
logSession, turn {requestId, status, presumed, code, startedAt, endedAt}, currentTask, interruptedTask, uiTodos, \
rateLimit, agents, events {name: {count, lastAt, lastMicros}}, model, headless, source, ended, hostProcess, \
aliases, blocks, notices, pending, faults, problems, version, root.")]
pub(super) struct Sessions {
    /// One JSON array
    #[arg(long)]
    pub(super) json: bool,
    /// Also those that are not live and had no event for a day
    #[arg(long, short)]
    pub(super) all: bool,
}

/// `show`.
#[derive(Debug, Args)]
#[command(after_help = "--json: one object, with the fields that `bookend sessions --help` names.")]
pub(super) struct Show {
    /// The first characters of a session's key or id [default: the newest]
    pub(super) session: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// `events`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without a session: the newest one; with --follow also whatever happens in any other from now on. The journal \
keeps the latest events, from 256 KB to 1 MB of them.

--json: one object a line: sessionKey, n, at, event, agent, tool, target, outcome, turn, answer {context, notices, \
told, denied}, micros, faults.")]
pub(super) struct Events {
    /// The first characters of a session's key or id [default: the newest]
    pub(super) session: Option<String>,
    /// Only the latest ones of those that are there
    #[arg(long, short = 'n', value_name = "N")]
    pub(super) last: Option<usize>,
    /// Go on until Ctrl-C
    #[arg(long, short)]
    pub(super) follow: bool,
    /// One JSON object a line
    #[arg(long)]
    pub(super) json: bool,
}

/// `resume`.
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is changed: nothing is taken over or settled. The text is the one that the session-start hook gives at \
the start of a new conversation in this directory; a line `Session log: <id>` with the new session's own id \
follows it. With a session: what that conversation itself is told when it goes on (`claude --resume`, `codex resume`).

--json: project, host, mode, headless, days, brief (null: none), silent (why none), why, from {logSession, host, \
hostSession, since, stoppedAt, live, task, todos, files, rateLimit}, considered[] {logSession, host, since, live, \
verdict, reason}, elsewhere. With a session: session, logSession, project, host, live, mode, brief, silent.")]
pub(super) struct Resume {
    /// The first characters of a session's key or id [default: a new one in this directory]
    #[arg(conflicts_with_all = ["host", "headless"])]
    pub(super) session: Option<String>,
    /// The host that would start [default: the chosen session's, else claude-code]
    #[arg(long, value_parser = host)]
    pub(super) host: Option<Host>,
    /// As a script would start it (`claude -p`, `codex exec`)
    #[arg(long)]
    pub(super) headless: bool,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// `todos`.
#[derive(Debug, Args)]
#[command(after_help = "\
The list of the newest live session of this project that has something open; else the newest list with something open \
that a session of this project left in the log and that no other one took over; else one in which all is done.

--json: {project, source {host, session, logSession, live} (null: there is no list), flow, lastSyncedAt, items[] \
{content, status, priority, flow, refId, hostId}}; status: pending, in_progress, completed or cancelled; priority: \
high, medium or low; hostId (the host's own id of it) only where a host has one. With --init: {made}.")]
pub(super) struct Todos {
    /// Make the state file of that agent (planner or toolkit), with this list in it; the hooks keep it from then on
    #[arg(long, value_name = "AGENT", value_parser = agent)]
    pub(super) init: Option<Agent>,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// `probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each host on your PATH (claude-code, codex) is run headless in a scratch HOME, with the hooks beside this command \
installed there, against a stub model on 127.0.0.1: no account, no tokens, nothing leaves the machine, and nothing of \
your own HOME is read or changed. Three short sessions: a whole one; one that is cut off by a crash or a Ctrl-C; one \
that is to be told of the task that was cut off. Proven is a host in which every event that they provoke fired, \
the resume text was in the model's first request, and the whole session's turn is completed in the log. A proof is \
remembered in <data dir>/probed/<host>.json if that data directory is there. Exit 1 when a host is not proven, not \
found, or Ctrl-C came first; the host is ended in every case.

--json: {ok, hosts[] {host, program, version, proven, events[] {event, hook, provoked, fired, medianMicros}, \
contextReached, turn {status, code, presumed}, cutTurn (of the session that was cut off), faults[] (Bookend's), \
problems[] (the host's), seconds, kept}}.")]
pub(super) struct ProbeRun {
    /// claude-code, codex [default: those on your PATH]
    #[arg(value_name = "HOST", value_parser = host)]
    pub(super) hosts: Vec<Host>,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Keep the scratch folder, and say where it is
    #[arg(long)]
    pub(super) keep: bool,
    /// How long one host may take: 30s, 2m
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    pub(super) timeout: Duration,
}

/// `prune`.
#[derive(Debug, Args)]
#[command(after_help = "\
A session's live state goes when none of its files changed for that long. Its turn, if it is still open in the log, \
gets its end first (session_abandoned); the log itself stays. Unknown files and foreign directories are never \
touched. Every hook root in use is looked at.

--json: {removed[], left[] {name, why}, foreign[], settled, dryRun, roots[]}, names as <root>/<session key>.")]
pub(super) struct Prune {
    /// Only say what would be removed
    #[arg(long, short = 'n')]
    pub(super) dry_run: bool,
    /// How long nothing must have changed: 30m, 2h, 1d
    #[arg(long, value_name = "AGE", default_value = "2h", value_parser = duration)]
    pub(super) older_than: Duration,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// `doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Looks at the hosts and at every store, and measures each hook over stores of its own. Exits 1 when something needs \
doing. Without --fix nothing is changed. --fix shows first what it will change, like a diff; it changes only what is \
Bookend's own.

--json: {ok, hosts[] {host, found, program, version, config, means, tools, installedAt, trusted, events[] {event, count, lastAt, \
lastMicros}, lastFired, lastProbed}, stores[] {path, kind, exists, safe, freeBytes, sessions, lookedAt, inUse, history {logBytes, indexBytes, \
retentionDays (0: for ever)}}, latency {hook: \
microseconds}, findings[] {level, code, subject, what, remedy, fixable}}; means: plugin, settings or null (not \
installed); tools: the log's tools are registered too; trusted: null where nobody is asked; level: problem, not-proven (alone it exits 0) or note. With \
--fix also mended[] {place, change[], done, failed}; the rest is what was found after it.")]
pub(super) struct Doctor {
    /// Mend what is safe to mend
    #[arg(long)]
    pub(super) fix: bool,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// `hook`.
#[derive(Debug, Args)]
#[command(after_help = "\
It acts on the real stores, exactly like the executable: set MAESTRO_HOOKS_DIR and BOOKEND_DATA_DIR to directories \
of your own to only try. The program that runs this command counts as the host's process.

  echo '{\"session_id\":\"try\",\"cwd\":\"/tmp\",\"prompt\":\"Hello\"}' |
    bookend hook turn-start --host claude-code --event UserPromptSubmit

--json: {read {hook, host, sessionKey, event}, changed {state[] {field, before, after}, logSession, records[]}, answered, \
micros, faults[]}; read is null for a payload that is nothing for Bookend.")]
pub(super) struct HookRun {
    /// Which: session-start, turn-start, pre-delegation, post-tool or stop
    #[arg(value_parser = hook)]
    pub(super) name: Hook,
    /// Whose payload it is
    #[arg(long, value_parser = host)]
    pub(super) host: Host,
    /// The host's name of the event, for payloads that do not say
    #[arg(long)]
    pub(super) event: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// `demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
A recorded session of Claude Code is sent, event by event, through the five executables beside this command. They \
run in a scratch directory with stores of its own; the process that stands for the host is really killed. No host, \
no model and no network are needed, and your own sessions are not touched.

--json: {steps[] {what, hook, event, about, micros, answered}, killedAfter, show, log, brief, kept}: answered is what \
the hook printed (null: nothing), micros the time from before its start to its end, killedAfter the number of steps \
before the host was killed; show and log are the objects of `bookend show` and `bookend log show` at that moment, \
brief is what the new session was told, kept the scratch directory (null: removed).")]
pub(super) struct Demo {
    /// One JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Leave the scratch directory, and say how to look into it
    #[arg(long, short)]
    pub(super) keep: bool,
}

impl Verb {
    /// Whether it is one after which the command tidies up: what removes sessions itself does what it was told, and
    /// the others are about something else, or are called by programs.
    pub(super) fn looks_at_sessions(&self) -> bool {
        match self {
            Self::Sessions(_) | Self::Show(_) | Self::Prune(_) => true,
            Self::Log(log) => !matches!(log, Log::Expire(_) | Log::Forget(_)),
            _ => false,
        }
    }
}

impl Run for Verb {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        // Doctor finds them itself.
        if !matches!(self, Self::Doctor(_)) {
            machine.warn(out);
        }
        match self {
            Self::Install(v) => v.run(machine, out),
            Self::Uninstall(v) => v.run(machine, out),
            Self::Sessions(v) => v.run(machine, out),
            Self::Show(v) => v.run(machine, out),
            Self::Events(v) => v.run(machine, out),
            Self::Resume(v) => v.run(machine, out),
            Self::Todos(v) => v.run(machine, out),
            Self::Probe(v) => v.run(machine, out),
            Self::Prune(v) => v.run(machine, out),
            Self::Log(Log::Sessions(v)) => v.run(machine, out),
            Self::Log(Log::Show(v)) => v.run(machine, out),
            Self::Log(Log::Search(v)) => v.run(machine, out),
            Self::Log(Log::Stats(v)) => v.run(machine, out),
            Self::Log(Log::Export(v)) => v.run(machine, out),
            Self::Log(Log::Reindex(v)) => v.run(machine, out),
            Self::Log(Log::Expire(v)) => v.run(machine, out),
            Self::Log(Log::Forget(v)) => v.run(machine, out),
            Self::Orchestration(v) => v.run(machine, out),
            Self::Repl(v) => v.run(machine, out),
            Self::Call(v) => v.run(machine, out),
            Self::Mcp(v) => v.run(machine, out),
            Self::Doctor(v) => v.run(machine, out),
            Self::Hook(v) => v.run(machine, out),
            Self::Demo(v) => v.run(machine, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_long_help_names_every_variable() {
        let help = Cli::command().render_long_help().to_string();
        for (name, ..) in VARIABLES {
            assert!(help.contains(name), "{name}");
        }
    }
}
