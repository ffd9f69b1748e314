//! Codex CLI, headless (`codex exec`): `-c` overrides and environment only.
//!
//! Seen with 0.171.0: the only requests are `POST /v1/responses`. Hooks: those of `$HOME/.codex` (a plugin installed
//! there needs `$HOME/.codex/plugins`) that are trusted there. A rejected model call ends the session with exit code 1. Add
//! `-c model_auto_compact_token_limit=30000` for a session that compacts by itself (steps with `!`).

use serde_json::json;

use super::driver::{Driver, KEY, Launch};
use super::runner::Session;

/// Codex CLI.
pub const CODEX: Driver = Driver {
    name: "codex",
    program: "codex",
    seeds: &[(".codex/config.toml", "")],
    launch,
};

fn launch(session: &Session, base_url: &str) -> Launch {
    let home = session.home.join(".codex");
    let provider = format!(
        "{{name=\"probe\",base_url=\"{base_url}/v1\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\",\
         request_max_retries=0,stream_max_retries=0}}"
    );
    let settings = [
        ("model", json!("gpt-5.5").to_string()),
        ("model_provider", json!("probe").to_string()),
        ("model_providers.probe", provider),
        ("approval_policy", json!("never").to_string()),
        ("sandbox_mode", json!("danger-full-access").to_string()),
        ("check_for_update_on_startup", "false".to_owned()),
        ("analytics.enabled", "false".to_owned()),
        // The subagent tools straight in the tool list.
        ("features.multi_agent_v2", "true".to_owned()),
        // Without plugins, no look-up of the plugin catalogue.
        ("features.plugins", home.join("plugins").is_dir().to_string()),
    ];
    let verb: &[&str] = if session.resume {
        &["exec", "resume", "--last"]
    } else {
        &["exec"]
    };
    let mut launch = Launch::default()
        .args(verb)
        .args(["--json", "--skip-git-repo-check"])
        .env("CODEX_HOME", home)
        .env("OPENAI_API_KEY", KEY);
    for (name, value) in settings {
        launch = launch.args(["-c".to_owned(), format!("{name}={value}")]);
    }
    launch.args(&session.args).args([&session.prompt])
}
