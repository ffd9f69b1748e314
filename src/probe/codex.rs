//! Codex CLI, headless (`codex exec`): `-c` overrides and environment only.
//!
//! Seen with 0.171.0: the only requests are `POST /v1/responses`. Hooks: those of `$HOME/.codex` (a plugin installed
//! there needs `$HOME/.codex/plugins`), run without the trust question unless [`Session::only_trusted_hooks`] says
//! otherwise. A rejected model call ends the session with exit code 1. Add `-c model_auto_compact_token_limit=30000` for a
//! session that compacts by itself (steps with `!`).
//!
//! With plugins enabled it asks for the plugin catalogue at every start, by `git ls-remote` and by HTTPS. [`QUIET`] keeps
//! that on the machine: git may use no protocol but `file`, and the proxy of everything else is a closed port of loopback.
//! Shown once with `strace -f -e trace=connect` over the whole of `tests/hosts/codex`: no address but 127.0.0.1, no DNS.

use serde_json::json;

use super::driver::{Driver, KEY, Launch};
use super::runner::Session;

/// What its own commands need too, so that nothing leaves the machine.
const QUIET: [(&str, &str); 9] = [
    ("GIT_ALLOW_PROTOCOL", "file"),
    ("HTTPS_PROXY", NOWHERE),
    ("https_proxy", NOWHERE),
    ("HTTP_PROXY", NOWHERE),
    ("http_proxy", NOWHERE),
    ("ALL_PROXY", NOWHERE),
    ("all_proxy", NOWHERE),
    ("NO_PROXY", LOOPBACK),
    ("no_proxy", LOOPBACK),
];
const NOWHERE: &str = "http://127.0.0.1:9";
const LOOPBACK: &str = "127.0.0.1,localhost";

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
    for (name, value) in QUIET {
        launch = launch.env(name, value);
    }
    if session.trust_all_hooks {
        launch = launch.args(["--dangerously-bypass-hook-trust"]);
    }
    for (name, value) in settings {
        launch = launch.args(["-c".to_owned(), format!("{name}={value}")]);
    }
    launch.args(&session.args).args([&session.prompt])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn hook_trust_is_bypassed_unless_only_trusted_hooks_are_to_run() {
        let session = Session::new(CODEX, Path::new("/bin/true"), Path::new("/s"));
        let bypassed = |session: &Session| {
            let launch = launch(session, "http://127.0.0.1:1");
            launch
                .args
                .iter()
                .any(|arg| arg == "--dangerously-bypass-hook-trust")
        };
        assert!(bypassed(&session));
        assert!(!bypassed(&session.only_trusted_hooks()));
    }

    #[test]
    fn nothing_but_loopback_is_left_to_reach() {
        let session = Session::new(CODEX, Path::new("/bin/true"), Path::new("/s"));
        let env = launch(&session, "http://127.0.0.1:1").env;
        let value = |name: &str| {
            env.iter()
                .find(|(known, _)| known == name)
                .map(|(_, v)| v.clone())
        };
        assert_eq!(value("GIT_ALLOW_PROTOCOL"), Some("file".into()));
        for scheme in ["http", "https", "all"] {
            let lower = format!("{scheme}_proxy");
            for name in [lower.to_uppercase(), lower] {
                assert_eq!(value(&name), Some("http://127.0.0.1:9".into()), "{name}");
            }
        }
    }
}
