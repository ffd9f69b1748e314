//! The plugin route with the hosts' own programs, where they are.

use std::os::unix::fs::symlink;

use bookend::probe::{CLAUDE_CODE, CODEX, Driver};
use serde_json::json;

use super::{Home, hook};

/// A machine with the host on its PATH, or a word that it is not there.
fn with(driver: Driver, variable: &str) -> Option<Home> {
    let variable_of = |name: &str| std::env::var_os(name);
    match driver.find(variable_of(variable).as_deref(), variable_of("PATH").as_deref()) {
        Ok(program) => {
            let home = Home::new();
            symlink(program, home.root("links").join(driver.program)).unwrap();
            Some(home)
        }
        Err(missing) => {
            crate::crash::skipped(&format!("{missing} (name it in {variable})"));
            None
        }
    }
}

#[test]
fn claude_code_gets_the_plugin_and_the_settings_come_back_to_the_byte_after_it_rewrote_them() {
    let plugins = [
        "plugins/installed_plugins.json",
        "plugins/known_marketplaces.json",
    ];
    for settings in [
        "{\r\n\t\"model\": \"x\", \"n\": 1.0, \"big\": 1e3,\r\n\t\"hooks\": {\"Stop\": []}}",
        "\u{feff}{\"enabledPlugins\": {\"a@b\": false}, \"hooks\": null}\n",
        "",
    ] {
        let Some(home) = with(CLAUDE_CODE, "BOOKEND_TEST_CLAUDE") else {
            return;
        };
        let home = home.with(settings);
        home.done(&["install", "claude-code"]);
        let claude = |arguments: &[&str]| {
            let ran = home.command("claude").args(arguments).output().unwrap();
            assert!(ran.status.success(), "{ran:?}");
        };
        claude(&["plugin", "disable", "bookend@bookend"]);
        claude(&["plugin", "enable", "bookend@bookend"]);
        home.done(&["uninstall"]);
        assert_eq!(String::from_utf8(home.settings()).unwrap(), settings);
        assert!(plugins.iter().all(|name| !home.claude(name).exists()));
        assert!(!home.data("").exists());
    }
}

#[test]
fn claude_code_gets_one_registration_in_place_of_all_older_ones() {
    let Some(home) = with(CLAUDE_CODE, "BOOKEND_TEST_CLAUDE") else {
        return;
    };
    // A plugin from another data directory, and hooks in the settings as well.
    let other = home.root("other data");
    let home = home.env("BOOKEND_DATA_DIR", &other);
    home.done(&["install", "claude-code"]);
    let home = Home {
        env: Vec::new(),
        ..home
    };
    let mut settings = home.value();
    settings["hooks"] = json!({"Stop": [hook("/old/bookend/bin/stop --host claude-code"), hook("say done")]});
    std::fs::write(home.claude("settings.json"), settings.to_string()).unwrap();
    home.done(&["install", "claude-code"]);
    assert_eq!(home.commands(), ["say done"]);
    let known = std::fs::read_to_string(home.claude("plugins/known_marketplaces.json")).unwrap();
    assert!(
        known.contains(&*home.data("plugin/claude-code").to_string_lossy()),
        "{known}"
    );
    assert!(!known.contains("other data"), "{known}");
    assert!(
        home.done(&["install", "claude-code"])
            .contains("Installed already")
    );
    home.done(&["uninstall"]);
    assert_eq!(home.value(), json!({"hooks": {"Stop": [hook("say done")]}}));
}

#[test]
fn codex_gets_the_plugin_and_its_configuration_comes_back_to_the_byte_with_its_trust_gone() {
    for config in [
        "# mine\r\nmodel = \"x\"   # why\r\n\r\n[odd]\r\na = 1",
        "\u{feff}plugins = { \"a@b\" = { enabled = true } }\n",
        "[marketplaces]\n\n[hooks.state]\n",
    ] {
        let Some(home) = with(CODEX, "BOOKEND_TEST_CODEX") else {
            return;
        };
        std::fs::write(home.codex("config.toml"), config).unwrap();
        std::fs::write(
            home.codex("hooks.json"),
            json!({"hooks": {"Stop": [hook("/old/bookend/bin/stop --host codex"), hook("true")]}})
                .to_string(),
        )
        .unwrap();
        let said = home.done(&["install", "codex", "--trust"]);
        assert!(said.contains("Codex trusts the hooks"), "{said}");
        let now = std::fs::read_to_string(home.codex("config.toml")).unwrap();
        assert!(
            now.contains("trusted_hash") && now.contains("bookend@bookend"),
            "{now}"
        );
        assert!(home.done(&["install", "codex"]).contains("Installed already"));
        home.done(&["uninstall"]);
        assert_eq!(
            std::fs::read_to_string(home.codex("config.toml")).unwrap(),
            config
        );
        let hooks = std::fs::read_to_string(home.codex("hooks.json")).unwrap();
        assert_eq!(hooks, json!({"hooks": {"Stop": [hook("true")]}}).to_string());
        // Its backup stays, for an older hook of ours was in it.
        assert!(!home.data("bin").exists() && home.data("install/codex/found/hooks.json").exists());
    }
}
