//! Registrations of ours that are older, doubled or somebody's work by hand are replaced; what only looks like
//! ours is somebody else's.

use serde_json::{Value, json};

use super::{Home, hook};

/// Look like ours and are not.
const FOREIGN: [&str; 9] = [
    "/usr/local/bin/stop --host claude-code",
    "/opt/bookend-tools/bin/stop --host claude-code",
    "/opt/bookend/bin/stop",
    "/opt/bookend/bin/stop --host emacs",
    "/opt/bookend/bin/stop --host claude-code --verbose",
    "/opt/bookend/bin/stop --host claude-code; say done",
    "sh -c '/opt/bookend/bin/stop --host claude-code'",
    "bookend stop",
    "/opt/bookend/stop --host claude-code",
];

#[test]
fn foreign_hooks_stay_also_those_that_look_like_ours() {
    let stop: Vec<Value> = FOREIGN.iter().map(|line| hook(line)).collect();
    let settings = json!({"hooks": {"Stop": stop, "Foo": []}}).to_string();
    let home = Home::new().with(&settings);
    home.done(&["install"]);
    let all = home.commands();
    for line in FOREIGN {
        assert_eq!(all.iter().filter(|l| *l == line).count(), 1, "{line}");
    }
    // The user goes on: only ours goes.
    let mut edited = home.value();
    edited["hooks"]["Stop"]
        .as_array_mut()
        .unwrap()
        .push(hook("one more"));
    std::fs::write(home.claude("settings.json"), edited.to_string()).unwrap();
    home.done(&["uninstall"]);
    let left = home.commands();
    assert_eq!(left.len(), FOREIGN.len() + 1, "{left:#?}");
}

#[test]
fn older_and_doubled_registrations_are_replaced_and_never_doubled() {
    // A data directory of another name, in which an installation left its receipt.
    let home = Home::new();
    let other = home.root("other data");
    let home = home.env("BOOKEND_DATA_DIR", &other);
    home.done(&["install", "claude-code"]);
    let elsewhere = home.value();
    let home = Home {
        env: Vec::new(),
        ..home
    };
    for (old, left) in [
        (elsewhere, json!({})),
        (
            json!({"hooks": {"Stop": [hook("\"/old/bookend/bin/stop\" --host claude-code")]}}),
            json!({}),
        ),
        (
            json!({"hooks": {"Stop": [
                {"hooks": [{"command": "theirs"}, {"command": "'/old/bookend/bin/stop' --host claude-code"}]},
                hook("/old/bookend/bin/stop --host claude-code"),
                hook("\"${CLAUDE_PLUGIN_ROOT}/bin/stop\" --host claude-code")]}}),
            json!({"hooks": {"Stop": [{"hooks": [{"command": "theirs"}]}]}}),
        ),
        (
            json!({"enabledPlugins": {"bookend@bookend": true, "a@b": true},
                   "extraKnownMarketplaces": {"bookend": {"source": {"source": "directory", "path": "/gone"}}},
                   "hooks": {"Stop": [hook("/old/bookend/bin/stop --host claude-code")]}}),
            json!({"enabledPlugins": {"a@b": true}}),
        ),
    ] {
        std::fs::write(home.claude("settings.json"), old.to_string()).unwrap();
        home.done(&["install", "claude-code"]);
        let all = home.commands();
        let stop = format!("\"{}\" --host claude-code", home.data("bin/stop").display());
        assert_eq!(all.iter().filter(|line| **line == stop).count(), 5, "{all:#?}");
        let strangers = all
            .iter()
            .filter(|line| !line.contains(&*home.data("bin").to_string_lossy()));
        assert!(strangers.clone().all(|line| line == "theirs"), "{all:#?}");
        assert!(home.value().pointer("/enabledPlugins/bookend@bookend").is_none());
        assert!(
            home.done(&["install", "claude-code"])
                .contains("Installed already")
        );
        home.done(&["uninstall"]);
        assert_eq!(home.value(), left);
    }
}

#[test]
fn hooks_of_ours_that_stand_by_hand_in_the_configuration_of_codex_are_replaced() {
    for text in [
        "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = '\"/o/bookend/bin/stop\" --host codex'\n",
        "[hooks]\nStop = [{ hooks = [{ type = \"command\", command = '/o/bookend/bin/stop --host codex' }] }]\n",
    ] {
        let home = Home::new();
        let theirs =
            "[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\ncommand = \"true\"\n";
        let theirs = if text.starts_with("[[") { theirs } else { "" };
        std::fs::write(
            home.codex("config.toml"),
            format!("model = \"x\"\n{text}{theirs}"),
        )
        .unwrap();
        home.done(&["install", "codex"]);
        let config = std::fs::read_to_string(home.codex("config.toml")).unwrap();
        assert!(!config.contains("bookend") && config.contains(theirs), "{config}");
        home.done(&["uninstall"]);
        assert!(!home.codex("hooks.json").exists());
    }
}
