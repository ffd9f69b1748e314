//! What was there before is there again afterwards, to the byte; what the user did meanwhile stays.

use std::os::unix::fs::{MetadataExt, symlink};

use serde_json::{Value, json};

use super::{Home, hook, set_mode, tree};

/// Settings as people and editors write them.
const SETTINGS: [&[u8]; 17] = [
    b"",
    b" \n",
    b"{}",
    b"{\n  \"model\": \"sonnet\"\n}",
    b"\xef\xbb\xbf{\n  \"a\": 1\n}\n",
    b"{\r\n  \"a\": 1,\r\n  \"b\": [1,2]\r\n}\r\n",
    b"{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}\n",
    b"{\"hooks\": {}}\n",
    b"{\"hooks\": {\"Stop\": []}, \"x\": 1}\n",
    b"{\"hooks\": {\"Stop\": [7, \"x\", {\"hooks\": 3}, {\"hooks\": []}, null]}}\n",
    b"{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}], \"Foo\": []}}\n",
    b"{\"x\": 1, \"hooks\": {\"Stop\": [1]}, \"x\": 2, \"hooks\": {\"Stop\": [2]}}\n",
    b"{\"enabledPlugins\": {}, \"extraKnownMarketplaces\": {}}",
    b"{\"enabledPlugins\": [], \"unknown\": null}",
    b"{\"a\": 1.0, \"b\": 1e3, \"c\": 12345678901234567890123, \"d\": -0, \"e\": 0.1000}\n",
    b"{\"\\u0061\": \"\\u00e9\\/\", \"s\": \"\\ud83d\\ude00\", \"\\u0068ooks\": {\"Stop\": []}}\n",
    b"{\n  // mine\n  \"a\": 1, /* why */\n}\n",
];

/// Codex's configuration, of which nothing is ours where its program is not on PATH.
const CONFIGS: [&[u8]; 6] = [
    b"",
    b"model = \"x\"",
    b"# mine\r\nmodel = \"x\"   # why\r\n\r\n[odd]\r\na = 1\r\n",
    b"\xef\xbb\xbfmodel = \"x\"\n",
    b"[plugins]\n\n[marketplaces]\n\n[hooks.state]\n",
    b"plugins.\"a@b\".enabled = true\n\n\n# end\n",
];

fn deep() -> Vec<u8> {
    [b"{\"a\": ".as_slice(), &[b'['; 300], &[b']'; 300], b"}"].concat()
}

/// As Claude Code does it when it changes a setting.
fn rewrite(home: &Home) {
    fn as_it_counts(value: &mut Value) {
        match value {
            Value::Number(number) => {
                let float = number.as_f64().unwrap();
                if float.fract() == 0.0 && float.abs() < 1e15 {
                    *value = json!(float as i64);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(as_it_counts),
            Value::Object(members) => {
                members.values_mut().for_each(as_it_counts);
                members.sort_keys();
            }
            _ => {}
        }
    }
    let text = String::from_utf8(home.settings()).unwrap();
    let mut value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
    as_it_counts(&mut value);
    std::fs::write(home.claude("settings.json"), format!("{value:#}")).unwrap();
}

#[test]
fn an_uninstall_gives_the_settings_back_to_the_byte() {
    let deep = deep();
    for settings in SETTINGS.iter().copied().chain([deep.as_slice()]) {
        let home = Home::new().with(settings);
        let before = home.hosts();
        home.done(&["install", "--dry-run"]);
        assert_eq!(home.hosts(), before, "a dry run changes nothing");
        home.done(&["install"]);
        let once = home.hosts();
        assert_ne!(once, before);
        assert!(home.done(&["install"]).contains("Installed already"));
        assert_eq!(home.hosts(), once, "a second installation changes nothing");
        home.done(&["uninstall"]);
        assert_eq!(home.hosts(), before, "{}", String::from_utf8_lossy(settings));
        assert!(!home.data("").exists(), "{:?}", tree(&home.data("")));
    }
}

#[test]
fn an_uninstall_gives_the_settings_back_to_the_byte_even_after_the_host_rewrote_them() {
    // What has a comment in it no host rewrites.
    for settings in SETTINGS.iter().filter(|s| !s.windows(2).any(|w| w == b"//")) {
        let home = Home::new().with(settings);
        home.done(&["install"]);
        rewrite(&home);
        home.done(&["uninstall"]);
        assert_eq!(
            home.settings(),
            *settings,
            "{}",
            String::from_utf8_lossy(settings)
        );
    }
}

#[test]
fn settings_that_were_not_there_are_not_there_afterwards() {
    let home = Home::new();
    let before = home.hosts();
    home.done(&["install"]);
    rewrite(&home);
    home.done(&["uninstall"]);
    assert_eq!(home.hosts(), before);
}

#[test]
fn the_configuration_of_codex_stays_as_it_is_where_its_hooks_file_is_enough() {
    for config in CONFIGS {
        let home = Home::new();
        std::fs::write(home.codex("config.toml"), config).unwrap();
        let before = home.hosts();
        home.done(&["install", "codex"]);
        assert_eq!(std::fs::read(home.codex("config.toml")).unwrap(), config);
        home.done(&["uninstall"]);
        assert_eq!(home.hosts(), before);
    }
}

#[test]
fn trust_that_was_given_to_our_hooks_stays_as_long_as_they_do_and_goes_with_them() {
    let home = Home::new();
    let (hooks, config) = (home.codex("hooks.json"), home.codex("config.toml"));
    std::fs::write(&hooks, json!({"hooks": {"Stop": [hook("say done")]}}).to_string()).unwrap();
    let record = |at: &str| {
        format!(
            "\n[hooks.state.\"{}:stop:{at}\"]\ntrusted_hash = \"x\"\n",
            hooks.display()
        )
    };
    let theirs = format!("model = \"x\"\n{}", record("0:0"));
    std::fs::write(&config, &theirs).unwrap();
    let before = home.hosts();
    home.done(&["install", "codex"]);
    let trusted = theirs.clone() + &record("1:0");
    std::fs::write(&config, &trusted).unwrap();
    assert!(home.done(&["install", "codex"]).contains("Installed already"));
    assert_eq!(std::fs::read_to_string(&config).unwrap(), trusted);
    home.done(&["uninstall"]);
    assert_eq!(home.hosts(), before);
}

#[test]
fn what_the_user_changed_meanwhile_stays_and_only_ours_goes() {
    let text = "{\n  // mine\n  \"model\": \"sonnet\",\n  \"list\": [1, 2]\n}\n";
    for (from, to) in [
        ("\"sonnet\"", "\"opus\""),
        ("// mine", "// mine, and why"),
        ("  // mine\n", ""),
        ("[1, 2]", "[1, 2] /* here too */"),
        ("\"model\"", "\"theme\": \"dark\",\n  \"model\""),
    ] {
        let home = Home::new().with(text);
        home.done(&["install"]);
        let edited = String::from_utf8(home.settings()).unwrap().replacen(from, to, 1);
        std::fs::write(home.claude("settings.json"), &edited).unwrap();
        // A later installation, of a newer version say, keeps it as well.
        home.done(&["install"]);
        home.done(&["uninstall"]);
        assert_eq!(
            String::from_utf8(home.settings()).unwrap(),
            text.replacen(from, to, 1)
        );
    }
}

#[test]
fn who_took_out_a_comma_that_the_host_stumbles_over_keeps_it_so() {
    let home = Home::new().with("{\n  \"a\": 1,\n}\n");
    let said = home.done(&["install"]);
    assert!(said.contains("a comma before a closing bracket"), "{said}");
    let strict = home.value_of_lenient();
    std::fs::write(home.claude("settings.json"), format!("{strict:#}\n")).unwrap();
    home.done(&["uninstall"]);
    assert_eq!(home.value(), json!({"a": 1}));
}

#[test]
fn links_modes_and_groups_stay_as_they_are() {
    for mode in [0o600, 0o640, 0o644, 0o444] {
        let home = Home::new();
        let (real, link) = (home.path("dotfiles/claude.json"), home.claude("settings.json"));
        std::fs::create_dir(home.path("dotfiles")).unwrap();
        std::fs::write(&real, "{\"a\": 1}").unwrap();
        set_mode(&real, mode);
        // Any other group that we may give it; else it stays ours.
        drop(std::os::unix::fs::chown(&real, None, Some(12345)));
        let group = real.metadata().unwrap().gid();
        symlink("../dotfiles/claude.json", &link).unwrap();
        home.done(&["install"]);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert!(std::fs::read_to_string(&real).unwrap().contains("/bin/stop"));
        home.done(&["uninstall"]);
        let meta = real.metadata().unwrap();
        assert_eq!((meta.mode() & 0o7777, meta.gid()), (mode, group));
        assert_eq!(std::fs::read(&link).unwrap(), b"{\"a\": 1}");
        assert_eq!(std::fs::read_dir(home.path("dotfiles")).unwrap().count(), 1);
    }
}

#[test]
fn a_directory_that_is_a_link_and_links_that_lead_nowhere_stay_links() {
    let home = Home::new();
    std::fs::remove_dir(home.claude("")).unwrap();
    std::fs::create_dir(home.path("real")).unwrap();
    symlink("real", home.path(".claude")).unwrap();
    symlink("second", home.path("real/settings.json")).unwrap();
    symlink("third", home.path("real/second")).unwrap();
    let before = tree(&home.path("real"));
    home.done(&["install"]);
    assert!(home.path("real/third").is_file());
    home.done(&["uninstall"]);
    assert_eq!(tree(&home.path("real")), before);
}

impl Home {
    /// The settings, commas before closing brackets left out.
    fn value_of_lenient(&self) -> Value {
        let text = String::from_utf8(self.settings()).unwrap();
        let mut parts = text.split(',').peekable();
        let mut strict = String::new();
        while let Some(part) = parts.next() {
            strict.push_str(part);
            if parts
                .peek()
                .is_some_and(|next| !next.trim_start().starts_with(['}', ']']))
            {
                strict.push(',');
            }
        }
        serde_json::from_str(&strict).unwrap()
    }
}
