//! Whatever stands where the index should be, the history is answered; and nothing else is written.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use super::{answered, asked, found, index, listed, session};
use crate::harness::Lab;

fn lab() -> Lab {
    let lab = Lab::new();
    for (id, prompt) in [("one", "Add a price column"), ("two", "Mend the cart")] {
        session(&lab, id, prompt, "Yes.");
    }
    assert_eq!(found(&lab, "yes"), 2);
    lab
}

#[track_caller]
fn is_whole(lab: &Lab, what: &str) {
    assert_eq!(listed(lab, &[]), "two one", "{what}");
    assert_eq!((found(lab, "cart"), found(lab, "yes")), (1, 2), "{what}");
}

#[test]
fn it_comes_back_when_it_is_deleted_cut_overwritten_or_another_database() {
    let lab = lab();
    let whole = std::fs::read(index(&lab)).unwrap();
    let half = whole.len() / 2;
    let garbled = |from: usize, to: usize| {
        let mut bytes = whole.clone();
        bytes[from..to].fill(0xa5);
        bytes
    };
    for (what, bytes) in [
        ("empty", Vec::new()),
        (
            "no database",
            b"not a database, but long enough for its header: ".repeat(100),
        ),
        ("a short one", b"x".to_vec()),
        ("cut", whole[..half].to_vec()),
        ("its header overwritten", garbled(0, 100)),
        ("its schema overwritten", garbled(100, 4_096)),
        (
            "all behind its first page overwritten",
            garbled(4_096, whole.len()),
        ),
    ] {
        std::fs::write(index(&lab), bytes).unwrap();
        is_whole(&lab, what);
    }
    std::fs::remove_file(index(&lab)).unwrap();
    is_whole(&lab, "deleted");
    std::fs::remove_dir_all(lab.data_dir().join("grown")).unwrap();
    is_whole(&lab, "without its marks");
    for sql in [
        "PRAGMA user_version = 99",
        "PRAGMA application_id = 7",
        "DROP TABLE sessions",
        "DROP TABLE texts",
        "ALTER TABLE turns RENAME COLUMN print TO finger",
    ] {
        let other = rusqlite::Connection::open(index(&lab)).unwrap();
        other.execute_batch(sql).unwrap();
        drop(other);
        is_whole(&lab, sql);
    }
    std::fs::remove_file(index(&lab)).unwrap();
    let other = rusqlite::Connection::open(index(&lab)).unwrap();
    other
        .execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
        .unwrap();
    drop(other);
    is_whole(&lab, "another program's");
}

#[test]
fn a_link_in_its_place_is_not_followed() {
    let lab = lab();
    let outside = lab.path("outside");
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        std::fs::write(&outside, "precious").unwrap();
        let path = lab.data_dir().join(name);
        drop(std::fs::remove_file(&path));
        symlink(&outside, &path).unwrap();
        is_whole(&lab, name);
        assert_eq!(std::fs::read(&outside).unwrap(), b"precious", "{name}");
        assert!(!path.is_symlink(), "{name}");
    }
    symlink(lab.path("nowhere"), lab.data_dir().join("index.sqlite-wal")).unwrap();
    is_whole(&lab, "a link to nowhere");
    assert!(!lab.path("nowhere").exists());
}

#[test]
fn where_it_cannot_be_kept_the_answer_comes_from_a_temporary_one() {
    let lab = lab();
    std::fs::remove_file(index(&lab)).unwrap();
    std::fs::create_dir(index(&lab)).unwrap();
    is_whole(&lab, "an empty directory gives way");
    std::fs::remove_file(index(&lab)).unwrap();
    std::fs::create_dir(index(&lab)).unwrap();
    std::fs::write(index(&lab).join("theirs"), "precious").unwrap();
    let answer = answered(&lab, &["search", "cart"]);
    assert_eq!(answer.json()["totalCount"], 1);
    assert!(
        answer
            .stderr
            .contains("is a directory that is not empty: move it away")
            && answer.stderr.contains("temporary index")
            && answer.stderr.lines().count() == 1,
        "{answer:?}"
    );
    assert_eq!(std::fs::read(index(&lab).join("theirs")).unwrap(), b"precious");
    std::fs::remove_dir_all(index(&lab)).unwrap();
    std::fs::remove_dir_all(lab.data_dir().join("grown")).unwrap();
    std::fs::write(lab.data_dir().join("grown"), "a file").unwrap();
    let answer = answered(&lab, &["sessions"]);
    assert_eq!(answer.json()["totalCount"], 2);
    assert!(answer.stderr.contains("temporary index"), "{answer:?}");
    // Hooks do not mind.
    session(&lab, "three", "Paint it", "Yes.");
    assert_eq!(answered(&lab, &["sessions"]).json()["totalCount"], 3);
}

#[test]
fn a_database_that_somebody_holds_is_waited_for_and_then_done_without() {
    let lab = lab();
    session(&lab, "three", "Paint it", "Yes.");
    let other = rusqlite::Connection::open(index(&lab)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM meta;").unwrap();
    let answer = answered(&lab, &["search", "yes"]);
    assert_eq!(answer.json()["totalCount"], 3);
    assert!(answer.stderr.contains("temporary index"), "{answer:?}");
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    assert_eq!(found(&lab, "yes"), 3);
}

#[test]
fn a_log_that_cannot_be_read_is_left_out_with_a_word() {
    let lab = lab();
    let id = lab.log_ids().remove(0).to_string();
    let dir = lab
        .data_dir()
        .join("log")
        .join("ClaudeCode-20260101T000000Z-00000001");
    std::fs::create_dir_all(dir.join("log.jsonl")).unwrap();
    std::fs::create_dir_all(lab.data_dir().join("log/theirs")).unwrap();
    std::fs::write(lab.data_dir().join("log/file"), "x").unwrap();
    std::fs::write(lab.data_dir().join("grown/../../x"), "").unwrap();
    std::fs::write(lab.data_dir().join("grown").join("no session"), "").unwrap();
    let answer = answered(&lab, &["sessions"]);
    assert_eq!(answer.json()["totalCount"], 2, "{answer:?}");
    assert!(
        answer.stderr.contains("00000001") && answer.stderr.contains("left out"),
        "{answer:?}"
    );
    let torn = super::log_file(&lab, &id);
    let mut text = std::fs::read_to_string(&torn).unwrap();
    text.push_str("{\"v\":1,\"torn");
    std::fs::write(&torn, text).unwrap();
    assert_eq!(answered(&lab, &["sessions"]).json()["totalCount"], json!(2));
}

#[test]
fn without_a_log_it_is_not_made() {
    let lab = Lab::new();
    assert_eq!(asked(&lab, &["search", "word"])["totalCount"], 0);
    assert_eq!(asked(&lab, &["sessions"])["totalCount"], 0);
    assert!(!Path::new(&lab.data_dir()).exists());
}
