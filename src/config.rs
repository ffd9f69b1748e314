//! The only reader of the environment. Each variable is one small function with its default; the table
//! [`VARIABLES`] is what the README shows, and a test holds the two together.
//!
//! Values are never stored: a hook's environment holds keys. Relative directories are refused.

use std::path::PathBuf;

/// Name, default and meaning of every variable that Bookend itself reads.
pub const VARIABLES: &[(&str, &str, &str)] = &[
    (
        "MAESTRO_HOOKS_DIR",
        "`<temp dir>/maestro-hooks-<uid>`",
        "where the live hook state is kept; absolute",
    ),
    (
        "BOOKEND_DATA_DIR",
        "the platform's data directory, `bookend` in it",
        "where the session log is kept; absolute",
    ),
    (
        "BOOKEND_RESUME",
        "`auto`",
        "`auto`: scripts get no resume brief at startup; `always`: they do; `off`: nobody gets one",
    ),
    (
        "BOOKEND_RESUME_DAYS",
        "`3`",
        "how many days an unfinished task is offered to a new session",
    ),
    (
        "BOOKEND_LOG_PROMPTS",
        "`full`",
        "what the log keeps of a prompt: `full`, `title` or `off`",
    ),
    (
        "BOOKEND_LOG_DAYS",
        "`90`",
        "how many days a session of the log is kept after its last record; `0`: for ever",
    ),
    (
        "BOOKEND_SESSION",
        "unset",
        "the log session that `repl`, `call` and `mcp` are in, where the host does not say it",
    ),
    ("BOOKEND_DISABLE", "unset", "`1`: every hook does nothing"),
    (
        "MAESTRO_STATE_DIR",
        "`docs/maestro`",
        "where the orchestration state is kept, in the workspace; this and the next two may also stand in the project's `.env`",
    ),
    (
        "MAESTRO_AUTO_ARCHIVE",
        "`true`",
        "`false`: a finished orchestration session is archived only when somebody asks for it",
    ),
    (
        "MAESTRO_MAX_RETRIES",
        "`2`",
        "how often a failed phase may be begun again",
    ),
    (
        "MAESTRO_VALIDATION_STRICTNESS",
        "`normal`",
        "a report of an orchestration's agent without its headings: `normal`: is sent back once; `strict`: its phase is also marked; `lenient`: is only noted",
    ),
    (
        "MAESTRO_CURRENT_AGENT",
        "unset",
        "the agent that works, where neither the host nor its prompt says it",
    ),
    (
        "CLAUDE_CONFIG_DIR",
        "`~/.claude`",
        "Claude Code's own: where its settings are, for `install` and `doctor`",
    ),
    (
        "CODEX_HOME",
        "`~/.codex`",
        "Codex's own: where its settings are, for `install` and `doctor`",
    ),
    (
        "CLAUDE_CODE_SESSION_ID",
        "set by Claude Code for its tools",
        "the session that `repl`, `call` and `mcp` are in, while it goes on",
    ),
    (
        "CLAUDE_PROJECT_DIR",
        "set by Claude Code for its servers",
        "the project that `mcp` is in, where its client names none",
    ),
    (
        "CLAUDE_ENV_FILE",
        "set by Claude Code for its hooks",
        "where the hooks add `BOOKEND_SESSION` for the tools of the session",
    ),
    ("NO_COLOR", "unset", "set to anything: no colour"),
];

/// When a resume brief is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// Not to scripts at startup.
    Auto,
    /// To everyone.
    Always,
    /// To nobody.
    Off,
}

/// What the log keeps of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogPrompts {
    /// Title and text.
    Full,
    /// The title only.
    Title,
    /// Neither.
    Off,
}

/// What the environment says of orchestration; the project's `.env` may say what it does not.
#[cfg(feature = "cli")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Maestro {
    /// `MAESTRO_STATE_DIR`.
    pub state_dir: Option<String>,
    /// `MAESTRO_AUTO_ARCHIVE`.
    pub auto_archive: Option<String>,
    /// `MAESTRO_MAX_RETRIES`.
    pub max_retries: Option<String>,
}

#[cfg(feature = "cli")]
impl Maestro {
    /// Reads the environment.
    #[must_use]
    pub fn from_env() -> Self {
        Self {
            state_dir: var("MAESTRO_STATE_DIR"),
            auto_archive: var("MAESTRO_AUTO_ARCHIVE"),
            max_retries: var("MAESTRO_MAX_RETRIES"),
        }
    }
}

/// How a subagent's report that is not whole is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Sent back once; then its phase is to be looked through.
    Strict,
    /// Sent back once.
    Normal,
    /// Only noted.
    Lenient,
}

/// Everything that the environment decides, read once.
#[derive(Debug, Clone)]
pub struct Config {
    /// The hook root that is wanted; `Err` says why it cannot be used.
    pub hook_root: Result<PathBuf, String>,
    /// The data directory; `Err` says why there is none.
    pub data_dir: Result<PathBuf, String>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// `BOOKEND_RESUME`.
    pub resume: Resume,
    /// `BOOKEND_RESUME_DAYS`.
    pub resume_days: u32,
    /// `BOOKEND_LOG_PROMPTS`.
    pub log_prompts: LogPrompts,
    /// `BOOKEND_LOG_DAYS`; 0: for ever.
    #[cfg(feature = "cli")]
    pub log_days: u32,
    /// `BOOKEND_DISABLE`.
    pub disabled: bool,
    /// `MAESTRO_STATE_DIR`.
    pub state_dir: Option<String>,
    /// `MAESTRO_VALIDATION_STRICTNESS`.
    pub strictness: Strictness,
    /// `MAESTRO_CURRENT_AGENT`.
    pub current_agent: Option<String>,
}

impl Config {
    /// Reads the environment.
    #[must_use]
    pub fn from_env() -> Self {
        Self {
            hook_root: hook_root(),
            data_dir: data_dir(),
            home: dirs::home_dir(),
            resume: match var("BOOKEND_RESUME").as_deref() {
                Some("always") => Resume::Always,
                Some("off") => Resume::Off,
                _ => Resume::Auto,
            },
            resume_days: var("BOOKEND_RESUME_DAYS")
                .and_then(|v| v.parse().ok())
                .unwrap_or(3),
            log_prompts: match var("BOOKEND_LOG_PROMPTS").as_deref() {
                None | Some("full") => LogPrompts::Full,
                Some("title") => LogPrompts::Title,
                // A word that we do not know keeps the least.
                Some(_) => LogPrompts::Off,
            },
            #[cfg(feature = "cli")]
            // What cannot be read removes nothing.
            log_days: var("BOOKEND_LOG_DAYS").map_or(90, |v| v.parse().unwrap_or(0)),
            disabled: var("BOOKEND_DISABLE").is_some_and(|v| disables(&v)),
            state_dir: var("MAESTRO_STATE_DIR"),
            strictness: match var("MAESTRO_VALIDATION_STRICTNESS").as_deref() {
                Some("strict") => Strictness::Strict,
                Some("lenient") => Strictness::Lenient,
                _ => Strictness::Normal,
            },
            current_agent: var("MAESTRO_CURRENT_AGENT"),
        }
    }
}

/// Whether that value of `BOOKEND_DISABLE` disables.
#[must_use]
pub fn disables(value: &str) -> bool {
    !value.is_empty() && value != "0"
}

/// A variable whose value is none that we know.
#[cfg(feature = "cli")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Odd {
    /// Its name.
    pub name: &'static str,
    /// Its value, as it can be shown.
    pub value: crate::redact::Redacted,
    /// What it may be.
    pub may_be: &'static str,
    /// What it is taken for.
    pub taken_for: &'static str,
}

/// The variables whose value is none that we know, and what [`Config::from_env`] makes of them.
#[cfg(feature = "cli")]
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the environment's home")]
pub fn odd_values() -> Vec<Odd> {
    let one_of = |name, may_be, known: fn(&str) -> bool, taken_for, unreadable| {
        let value = std::env::var_os(name).filter(|v| !v.is_empty())?;
        let text = value.to_str();
        (!text.is_some_and(known)).then(|| Odd {
            name,
            value: crate::redact::Redacted::truncated(&value.to_string_lossy(), 40),
            may_be,
            taken_for: if text.is_some() { taken_for } else { unreadable },
        })
    };
    let resume: fn(&str) -> bool = |v| matches!(v, "auto" | "always" | "off");
    let days: fn(&str) -> bool = |v| v.parse::<u32>().is_ok();
    let archive: fn(&str) -> bool = |v| matches!(v.trim(), "true" | "false");
    let retries: fn(&str) -> bool = |v| v.trim().parse::<u64>().is_ok();
    let prompts: fn(&str) -> bool = |v| matches!(v, "full" | "title" | "off");
    [
        one_of("BOOKEND_RESUME", "auto, always or off", resume, "auto", "auto"),
        one_of("BOOKEND_RESUME_DAYS", "a number of days", days, "3", "3"),
        one_of(
            "BOOKEND_LOG_PROMPTS",
            "full, title or off",
            prompts,
            "off",
            "full",
        ),
        one_of("MAESTRO_AUTO_ARCHIVE", "true or false", archive, "true", "true"),
        one_of("MAESTRO_MAX_RETRIES", "a number", retries, "2", "2"),
        one_of(
            "BOOKEND_LOG_DAYS",
            "a number of days, or 0 for ever",
            days,
            "0",
            "90",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The temp directory, if it has an absolute path.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the temp directory's home")]
pub fn temp_dir() -> Option<PathBuf> {
    Some(std::env::temp_dir()).filter(|temp| temp.is_absolute())
}

/// A variable's value; empty and non-Unicode ones are absent. Host files read theirs through this too.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the environment's home")]
pub fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

/// A directory that a variable names; relative ones are absent.
#[must_use]
pub fn directory(name: &str) -> Option<PathBuf> {
    path(name).and_then(Result::ok)
}

/// `PATH`, as it is.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the environment's home")]
pub fn search_path() -> Option<std::ffi::OsString> {
    std::env::var_os("PATH").filter(|v| !v.is_empty())
}

#[expect(clippy::disallowed_methods, reason = "this is the environment's home")]
fn path(name: &str) -> Option<Result<PathBuf, String>> {
    let value = PathBuf::from(std::env::var_os(name).filter(|v| !v.is_empty())?);
    Some(if value.is_absolute() {
        Ok(value)
    } else {
        Err(format!(
            "{name} is a relative path ({}): give an absolute one",
            value.display()
        ))
    })
}

#[expect(clippy::disallowed_methods, reason = "this is the temp directory's home")]
fn hook_root() -> Result<PathBuf, String> {
    path("MAESTRO_HOOKS_DIR").unwrap_or_else(|| {
        let uid = rustix::process::geteuid().as_raw();
        let temp = std::env::temp_dir();
        if !temp.is_absolute() {
            let temp = temp.display();
            return Err(format!(
                "the temp directory is a relative path ({temp}): give TMPDIR an absolute one"
            ));
        }
        Ok(temp.join(format!("maestro-hooks-{uid}")))
    })
}

fn data_dir() -> Result<PathBuf, String> {
    path("BOOKEND_DATA_DIR").unwrap_or_else(|| {
        dirs::data_dir()
            .filter(|p| p.is_absolute())
            .map(|p| p.join("bookend"))
            .ok_or_else(|| "no home directory: set HOME or BOOKEND_DATA_DIR".to_owned())
    })
}
