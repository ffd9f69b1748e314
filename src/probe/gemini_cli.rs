//! Gemini CLI, headless: arguments and environment; what has no variable goes through `~/.gemini/settings.json`.
//!
//! Seen with 0.61.0: the requests are `…:streamGenerateContent` and `…:generateContent`. Hooks: those of extensions and
//! settings in its HOME. A rejected model call ends the session with exit code 1 after about five seconds of retries. Delegation needs
//! an agent of the user's: `helper` is there for that.

use super::driver::{Driver, KEY, Launch};
use super::runner::Session;

/// Gemini CLI.
pub const GEMINI_CLI: Driver = Driver {
    name: "gemini-cli",
    program: "gemini",
    seeds: &[
        (".gemini/settings.json", SETTINGS),
        (".gemini/agents/helper.md", HELPER),
    ],
    launch,
};

/// What Gemini CLI has no variable for: two attempts a request, no folder trust, nothing sent home.
const SETTINGS: &str = r#"{
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 2},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}
}
"#;

const HELPER: &str = "---
name: helper
description: helper agent for sub tasks
kind: local
tools:
  - run_shell_command
---
You are a helper. Do the task.
";

fn launch(session: &Session, base_url: &str) -> Launch {
    let mut launch = Launch::default()
        .args([
            "--model",
            "gemini-2.5-flash",
            "--yolo",
            "-p",
            session.prompt.as_str(),
        ])
        .env("GOOGLE_GEMINI_BASE_URL", base_url)
        .env("GEMINI_API_KEY", KEY)
        .env("GEMINI_TELEMETRY_ENABLED", "false")
        .env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    if session.resume {
        launch = launch.args(["--resume", "latest"]);
    }
    launch.args(&session.args)
}
