//! Killed at any system call that changes something: the settings are whole at every moment, the next
//! installation goes on, and an uninstall gives back what was there before the first one.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Home, Tree, tree};
use crate::crash::{can_trace, changes, inject, one_sweep};

const SETTINGS: &str = "{\n  \"model\": \"x\", \"hooks\": {\"Stop\": []}\n}";
const CONFIG: &str = "model = \"x\"\r\n";

/// Settings of both hosts, the executables placed.
fn prepared() -> Home {
    let home = Home::new().with(SETTINGS);
    std::fs::write(home.codex("config.toml"), CONFIG).unwrap();
    home.done(&["install"]);
    home.done(&["uninstall", "claude-code", "codex"]);
    home
}

fn strace(home: &Home, options: &[String], arguments: &[&str]) {
    let mut command = home.command("strace");
    command
        .arg("-qq")
        .args(options)
        .arg(env!("CARGO_BIN_EXE_bookend"));
    drop(command.args(arguments).output().unwrap());
}

/// The calls of a run that change something, each with its number among those of its name.
fn points(home: &Home, arguments: &[&str]) -> Vec<(String, usize)> {
    let out = home.root("trace");
    strace(home, &["-o".into(), out.to_str().unwrap().into()], arguments);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut points = Vec::new();
    for line in std::fs::read_to_string(&out).unwrap().lines() {
        let Some((name, rest)) = line.split_once('(') else {
            continue;
        };
        let count = counts.entry(name.to_owned()).or_default();
        *count += 1;
        if changes(name) && (name != "openat" || rest.contains("O_CREAT")) && !rest.starts_with("1,") {
            points.push((name.to_owned(), *count));
        }
    }
    points
}

#[track_caller]
fn goes_on(home: &Home, before: &Tree, what: &str) {
    let settings = home.settings();
    let whole =
        settings == SETTINGS.as_bytes() || serde_json::from_slice::<serde_json::Value>(&settings).is_ok();
    assert!(whole, "{what}: {}", String::from_utf8_lossy(&settings));
    home.done(&["install"]);
    assert_eq!(home.commands().len(), 11, "{what}");
    home.done(&["uninstall", "claude-code", "codex"]);
    assert_eq!(&home.hosts(), before, "{what}");
    assert!(
        !home.data("install").exists() && !home.data("plugin").exists(),
        "{what}: {:?}",
        tree(&home.data("")).keys()
    );
}

#[test]
fn an_installation_that_is_killed_anywhere_is_gone_on_with_and_taken_back() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    let home = prepared();
    let before = home.hosts();
    let points = points(&home, &["install"]);
    home.done(&["uninstall", "claude-code", "codex"]);
    assert!(points.len() > 20, "{points:?}");
    for (name, count) in &points {
        strace(&home, &inject(name, "signal=KILL", *count), &["install"]);
        goes_on(&home, &before, &format!("killed at {name} {count}"));
    }
}

#[test]
fn an_uninstall_that_is_killed_anywhere_is_gone_on_with() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    let home = prepared();
    let before = home.hosts();
    home.done(&["install"]);
    let removal = ["uninstall", "claude-code", "codex"];
    for (name, count) in points(&home, &removal) {
        home.done(&["install"]);
        strace(&home, &inject(&name, "signal=KILL", count), &removal);
        let what = format!("killed at {name} {count}");
        home.done(&removal);
        assert_eq!(home.hosts(), before, "{what}");
        assert!(!home.data("install").exists(), "{what}");
    }
}

#[test]
fn an_installation_that_is_killed_while_it_places_executables_leaves_whole_ones_and_nothing_in_the_end() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    for count in [1, 3, 6, 7] {
        for name in ["renameat", "fdatasync"] {
            let home = Home::new().with(SETTINGS);
            let before = home.hosts();
            strace(&home, &inject(name, "signal=KILL", count), &["install"]);
            for (path, (_, content)) in tree(&home.data("bin")) {
                let hook = path.file_name().unwrap() == "stop";
                assert!(
                    !hook || content == std::fs::read(env!("CARGO_BIN_EXE_stop")).unwrap(),
                    "{path:?}"
                );
            }
            home.done(&["uninstall"]);
            assert_eq!(home.hosts(), before);
            assert!(!home.data("").exists(), "{:?}", tree(&home.data("")).keys());
        }
    }
}

#[test]
fn the_settings_are_on_the_disk_before_they_take_the_place_of_the_old_ones_and_the_backup_before_that() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    let home = prepared();
    let out = home.root("trace");
    let options = ["-y".to_owned(), "-o".into(), out.to_str().unwrap().into()];
    strace(&home, &options, &["install", "claude-code"]);
    let text = std::fs::read_to_string(&out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let place = |call: &str, of: &[&str]| {
        let is =
            |line: &&str| line.starts_with(&format!("{call}(")) && of.iter().all(|part| line.contains(part));
        let at = lines.iter().position(is);
        at.unwrap_or_else(|| panic!("{call} {of:?} in {text}"))
    };
    let receipt = place("renameat", &["receipt.json.new"]);
    let temporary = ".settings.json.bookend-";
    let write = place("write", &[temporary]);
    let sync = place("fdatasync", &[temporary]);
    let rename = place("renameat", &[temporary]);
    let behind = lines
        .iter()
        .skip(rename)
        .position(|line| line.starts_with("fsync("));
    let directory = rename + behind.unwrap();
    assert!(
        receipt < write && write < sync && sync < rename && rename < directory,
        "{text}"
    );
    let parent = Path::new(".claude").to_str().unwrap();
    assert!(
        lines[directory].contains(&format!("{parent}>")),
        "{}",
        lines[directory]
    );
}
