//! `--purge` takes what is ours, after asking, and nothing else.

use serde_json::Value;

use super::Home;

fn used() -> Home {
    let home = Home::new();
    home.done(&["install"]);
    std::fs::create_dir_all(home.data("log/2026")).unwrap();
    std::fs::write(home.data("log/2026/log.jsonl"), "").unwrap();
    home
}

#[test]
fn a_purge_needs_a_yes_and_without_a_terminal_it_has_to_be_given() {
    let home = used();
    let said = home.fails(&["uninstall", "--purge"]);
    assert!(said.contains("--yes"), "{said}");
    assert!(home.data("bin/stop").exists() && home.data("log").exists());
    home.done(&["uninstall", "--purge", "--yes"]);
    assert!(!home.data("").exists());
}

#[test]
fn what_is_not_ours_in_the_data_directory_stays_and_is_named() {
    let home = used();
    std::fs::write(home.data("notes.txt"), "mine").unwrap();
    std::fs::write(home.data("bin/my-tool"), "mine").unwrap();
    let said = home.done(&["uninstall", "--purge", "--yes"]);
    assert!(
        said.contains("since it holds what is not of Bookend: bin/my-tool, notes.txt."),
        "{said}"
    );
    assert_eq!(std::fs::read(home.data("bin/my-tool")).unwrap(), b"mine");
    assert!(home.data("notes.txt").exists() && !home.data("log").exists() && !home.data("bin/stop").exists());
}

#[test]
fn as_json_it_is_one_document_and_says_purged_only_when_it_was() {
    let home = used();
    let document = |arguments: &[&str]| -> Value {
        let answer = home.bookend(&[&["uninstall", "--json"], arguments].concat());
        serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {answer:?}"))
    };
    std::fs::write(home.codex("hooks.json"), "{ broken").unwrap();
    assert_eq!(document(&["--purge", "--yes"])["purged"], false);
    assert!(home.data("log").exists());
    std::fs::remove_file(home.codex("hooks.json")).unwrap();
    assert_eq!(document(&["--purge", "--yes"])["purged"], true);
    assert!(!home.data("").exists());
}

#[test]
fn without_a_purge_what_was_kept_stays_and_it_is_said_where() {
    let home = used();
    let said = home.done(&["uninstall"]);
    assert!(
        said.contains("~/.local/share/bookend") && said.contains("--purge"),
        "{said}"
    );
    assert!(home.data("log/2026/log.jsonl").exists() && !home.data("bin").exists());
}
