//! Homes, paths, links and the executables.

use std::os::unix::fs::symlink;
use std::process::Stdio;

use super::{Home, tree};

#[test]
fn the_commands_run_whatever_the_home_is_called() {
    for name in [
        "a b",
        "é 日本",
        "it's",
        "a \"quoted\" one",
        "$HOME `x` \\ !",
        "two\nlines",
        "-n; #",
    ] {
        let home = Home::named(name).with("{\"a\": 1}");
        home.done(&["install"]);
        for line in home.commands() {
            let ran = home.command("sh").args(["-c", &line]).output().unwrap();
            assert!(ran.status.success() && ran.stderr.is_empty(), "{line}: {ran:?}");
        }
        home.done(&["uninstall"]);
        assert_eq!(home.settings(), b"{\"a\": 1}", "{name}");
        assert!(!home.data("bin").exists());
    }
}

#[test]
fn the_directories_of_the_hosts_and_of_the_data_may_be_elsewhere() {
    let home = Home::new();
    let (claude, codex, data) = (home.root("c c"), home.root("x x"), home.root("d d"));
    for dir in [&claude, &codex] {
        std::fs::create_dir(dir).unwrap();
    }
    let home = home
        .env("CLAUDE_CONFIG_DIR", &claude)
        .env("CODEX_HOME", &codex)
        .env("BOOKEND_DATA_DIR", &data);
    let before = tree(&home.path(""));
    let said = home.done(&["install"]);
    assert!(said.contains("export BOOKEND_DATA_DIR="), "{said}");
    assert!(claude.join("settings.json").exists() && codex.join("hooks.json").exists());
    home.done(&["uninstall"]);
    assert_eq!(
        (tree(&claude).len(), tree(&codex).len(), data.exists()),
        (1, 1, false)
    );
    let mut after = tree(&home.path(""));
    after.retain(|path, _| !path.starts_with(home.path(".local")));
    assert_eq!(after, before);
}

#[test]
fn without_a_home_a_host_whose_directory_is_known_is_installed_into() {
    let home = Home::new();
    let run = |arguments: &[&str]| {
        let mut command = home.command(env!("CARGO_BIN_EXE_bookend"));
        command
            .env_remove("HOME")
            .env("BOOKEND_DATA_DIR", home.root("data"));
        command
            .env("CLAUDE_CONFIG_DIR", home.claude(""))
            .args(arguments)
            .output()
            .unwrap()
    };
    let installed = run(&["install"]);
    assert!(installed.status.success(), "{installed:?}");
    let named = run(&["install", "codex"]);
    let said = String::from_utf8(named.stderr).unwrap();
    assert!(
        said.contains("find the settings of Codex: HOME is not set"),
        "{said}"
    );
    assert!(run(&["uninstall", "claude-code"]).status.success());
    assert!(!home.claude("settings.json").exists());
}

#[test]
fn without_any_host_the_executables_are_placed_and_it_is_said_what_comes_next() {
    let home = Home::new();
    for dir in [home.claude(""), home.codex("")] {
        std::fs::remove_dir(dir).unwrap();
    }
    let said = home.done(&["install"]);
    assert!(said.contains("No host is found"), "{said}");
    assert!(home.data("bin/stop").exists());
    let said = home.fails(&["install", "codex"]);
    assert!(said.contains("install Codex first"), "{said}");
    home.done(&["uninstall"]);
    assert!(!home.data("").exists());
}

#[test]
fn what_stands_in_place_of_the_link_and_is_not_ours_stays() {
    let make: [fn(&Home); 6] = [
        |home| std::fs::write(home.path(".local/bin/bookend"), "mine").unwrap(),
        |home| std::fs::create_dir(home.path(".local/bin/bookend")).unwrap(),
        |home| symlink("../tool", home.path(".local/bin/bookend")).unwrap(),
        |home| symlink(home.path("tools/bin/bookend"), home.path(".local/bin/bookend")).unwrap(),
        |home| symlink("/not/mounted/bookend", home.path(".local/bin/bookend")).unwrap(),
        |home| {
            std::fs::remove_dir(home.path(".local/bin")).unwrap();
            std::fs::write(home.path(".local/bin"), "no directory").unwrap();
        },
    ];
    for make in make {
        let home = Home::new();
        for dir in [".local/bin", "tools/bin"] {
            std::fs::create_dir_all(home.path(dir)).unwrap();
        }
        for tool in [".local/tool", "tools/bin/bookend"] {
            std::fs::write(home.path(tool), "a tool").unwrap();
        }
        make(&home);
        let before = tree(&home.path(".local"));
        let said = home.done(&["install"]);
        assert!(
            said.contains("no link to the command was made") || said.contains("cannot be made"),
            "{said}"
        );
        assert!(said.contains("bin/bookend"), "{said}");
        home.done(&["uninstall"]);
        let mut after = tree(&home.path(".local"));
        after.retain(|path, _| !path.starts_with(home.path(".local/share")));
        assert_eq!(after, before);
    }
}

#[test]
fn a_link_of_ours_is_led_to_where_the_command_is_now() {
    let home = Home::new();
    std::fs::create_dir_all(home.path(".local/bin")).unwrap();
    let link = home.path(".local/bin/bookend");
    symlink("/old/bookend/bin/bookend", &link).unwrap();
    home.done(&["install"]);
    assert_eq!(std::fs::read_link(&link).unwrap(), home.data("bin/bookend"));
    home.done(&["uninstall"]);
    assert!(link.symlink_metadata().is_err());
}

#[test]
fn an_uninstall_of_one_host_keeps_the_executables_for_the_other() {
    let home = Home::new();
    home.done(&["install"]);
    home.done(&["uninstall", "codex"]);
    assert!(home.data("bin/stop").exists() && !home.codex("hooks.json").exists());
    assert!(!home.commands().is_empty());
    home.done(&["uninstall"]);
    assert!(!home.data("").exists());
}

#[test]
fn an_uninstall_that_fails_in_one_host_keeps_the_executables_and_says_so() {
    let home = Home::new();
    home.done(&["install"]);
    std::fs::write(home.codex("hooks.json"), "{ broken").unwrap();
    let said = home.fails(&["uninstall"]);
    assert!(
        said.contains("the executables stay, since a host may still refer to them"),
        "{said}"
    );
    assert!(home.data("bin/stop").exists() && !home.claude("settings.json").exists());
}

#[test]
fn executables_are_replaced_while_a_hook_runs() {
    let home = Home::new();
    home.done(&["install"]);
    let stop = home.data("bin/stop");
    let mut hook = home
        .command(stop.to_str().unwrap())
        .args(["--host", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // An update: the one that is placed is another.
    let other = home.root("links/old");
    std::fs::copy(&stop, &other).unwrap();
    std::fs::rename(&other, home.data("bin/turn-start")).unwrap();
    std::fs::remove_file(&stop).unwrap();
    std::fs::write(&stop, "older").unwrap();
    home.done(&["install"]);
    let bytes = |path: &str| std::fs::read(path).unwrap();
    assert!(bytes(stop.to_str().unwrap()) == bytes(env!("CARGO_BIN_EXE_stop")));
    assert!(bytes(home.data("bin/turn-start").to_str().unwrap()) == bytes(env!("CARGO_BIN_EXE_turn-start")));
    drop(hook.stdin.take());
    assert!(hook.wait().unwrap().success());
}

#[test]
fn of_installations_at_once_one_waits_for_the_other() {
    let home = Home::new().with("{\"a\": 1}");
    let before = home.hosts();
    for _ in 0..3 {
        let all: Vec<_> = (0..4)
            .map(|_| {
                let mut command = home.command(env!("CARGO_BIN_EXE_bookend"));
                command
                    .arg("install")
                    .stdout(Stdio::null())
                    .stderr(Stdio::piped());
                command.spawn().unwrap()
            })
            .collect();
        for one in all {
            let output = one.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
        assert!(home.done(&["install"]).contains("Installed already"));
        for hook in ["stop", "turn-start"] {
            let run = home
                .command(home.data("bin").join(hook).to_str().unwrap())
                .output();
            assert!(run.unwrap().status.success());
        }
        home.done(&["uninstall"]);
        assert_eq!(home.hosts(), before);
        assert!(!home.data("").join("bin").exists());
    }
}
