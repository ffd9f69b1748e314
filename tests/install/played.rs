//! Hosts whose own commands fail, lie or talk nonsense, played by a script.

use super::{Home, set_mode, tree};

fn with_claude(script: &str) -> Home {
    let home = Home::new().with("{\n  \"model\": \"x\" }");
    let program = home.root("links/claude");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    set_mode(&program, 0o755);
    home
}

/// Registers the plugin as Claude Code does, in its own form.
const REGISTERS: &str = r#"case "$2 $3" in
"marketplace add") printf '%s' "$4" >"$HOME/where" ;;
"install bookend@bookend")
    mkdir -p "$HOME/.claude/plugins"
    where=$(cat "$HOME/where")
    echo '{"plugins":{"bookend@bookend":[{"version":"0.1.0"}]}}' >"$HOME/.claude/plugins/installed_plugins.json"
    echo "{\"bookend\":{\"source\":{\"source\":\"directory\",\"path\":\"$where\"}}}" >"$HOME/.claude/plugins/known_marketplaces.json"
    echo '{"model":"x","enabledPlugins":{"bookend@bookend":true}}' >"$HOME/.claude/settings.json" ;;
esac
"#;

#[test]
fn a_host_that_fails_lies_or_talks_nonsense_is_noticed_and_leaves_nothing_behind() {
    for (script, says) in [
        ("echo no room >&2; exit 3", "no room"),
        ("exit 1", "it failed and did not say why"),
        ("kill -9 $$", "it failed and did not say why"),
        ("exit 0", "its own commands ended well, but nothing is registered"),
        (
            "echo '}{ garbage'; head -c 300000 /dev/urandom",
            "nothing is registered",
        ),
        (
            &format!("{REGISTERS} [ \"$2\" = list ] && echo garbage; exit 0"),
            "its own list of plugins does not name Bookend",
        ),
        (
            &format!(
                "{REGISTERS} [ \"$2\" = list ] && echo '[{{\"id\":\"bookend@bookend\",\"enabled\":false}}]'; exit 0"
            ),
            "switched off",
        ),
        (
            &format!(
                "{REGISTERS} [ \"$2\" = list ] && echo '[{{\"id\":\"bookend@bookend\",\"enabled\":true,\"errors\":[\"bad hooks\"]}}]'; exit 0"
            ),
            "bad hooks",
        ),
    ] {
        let home = with_claude(script);
        let before = home.settings();
        let said = home.fails(&["install", "claude-code"]);
        assert!(said.contains(says), "{script}: {said}");
        // The host works again.
        std::fs::write(home.root("links/claude"), "#!/bin/sh\nexit 0\n").unwrap();
        home.done(&["uninstall"]);
        assert_eq!(home.settings(), before, "{script}");
        assert!(
            !home.data("").exists(),
            "{script}: {:?}",
            tree(&home.data("")).keys()
        );
    }
}

#[test]
fn a_host_that_does_not_uninstall_keeps_the_executables() {
    let home = with_claude(&format!(
        "{REGISTERS} [ \"$2\" = list ] && echo '[{{\"id\":\"bookend@bookend\",\"enabled\":true}}]'; exit 0"
    ));
    let before = home.settings();
    let said = home.done(&["install", "claude-code"]);
    assert!(said.contains("as the plugin bookend@bookend"), "{said}");
    assert!(
        home.settings().starts_with(&before[..before.len() - 2]),
        "in the user's form"
    );
    let honest = std::fs::read(home.root("links/claude")).unwrap();
    std::fs::write(home.root("links/claude"), "#!/bin/sh\necho busy >&2; exit 1\n").unwrap();
    let said = home.fails(&["uninstall"]);
    assert!(
        said.contains("busy") && said.contains("the executables stay"),
        "{said}"
    );
    assert!(home.data("bin/stop").exists());
    // One that says that it did, and did nothing, is helped out.
    std::fs::write(home.root("links/claude"), honest).unwrap();
    home.done(&["uninstall"]);
    assert_eq!(home.settings(), before);
    assert!(!home.data("").exists());
}
