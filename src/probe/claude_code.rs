//! Claude Code, headless: everything goes through arguments and environment, no file of its HOME is written beforehand.
//!
//! Seen with 2.1.332: the only requests are `POST /v1/messages?beta=true`. A rejected model call ends the session with exit
//! code 1, after one retry as set here. Add `--autocompact 100k` for a session that compacts by itself (steps with `!`).

use super::driver::{Driver, KEY, Launch};
use super::runner::Session;

/// Claude Code.
pub const CLAUDE_CODE: Driver = Driver {
    name: "claude-code",
    program: "claude",
    seeds: &[],
    launch,
};

/// The last: all tools of our plugin's server.
const TOOLS: &str =
    "Bash Write Edit Read Agent Task TaskCreate TaskUpdate ToolSearch mcp__plugin_bookend_bookend";

fn launch(session: &Session, base_url: &str) -> Launch {
    let mut launch = Launch::default()
        .args([
            "-p",
            session.prompt.as_str(),
            "--output-format",
            "json",
            "--model",
            "claude-sonnet-5",
        ])
        .args(["--permission-mode", "acceptEdits", "--allowedTools", TOOLS])
        .env("ANTHROPIC_BASE_URL", base_url)
        .env("ANTHROPIC_API_KEY", KEY)
        .env("CLAUDE_CODE_MAX_RETRIES", "1");
    for quiet in [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_AUTOUPDATER",
    ] {
        launch = launch.env(quiet, "1");
    }
    if session.resume {
        launch = launch.args(["--continue"]);
    }
    launch.args(&session.args)
}
