//! Files that are broken, foreign, or no files; others who write at the same time.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use serde_json::json;

use super::{PLANNER, SESSION, faults, json, planner, put, session, text};
use crate::harness::Lab;

/// A turn with everything that writes.
fn turn(lab: &Lab, session: &str) {
    let talk = lab.claude(session);
    talk.prompt("p1", "Plan the checkout");
    talk.tool(
        "p1",
        "c1",
        "TaskCreate",
        json!({"subject": "a"}),
        json!({"task": {"id": "1"}}),
    );
    talk.delegate("p1", "d1");
    talk.model_fails("p1", "rate_limit", "API Error: 429");
    talk.prompt("p2", "continue");
    talk.stop("p2", "Done.");
    talk.end("other");
    // Our own record has all of it.
    let log = lab.log_of(session);
    assert_eq!(log.turns.len(), 2, "{log:#?}");
    assert_eq!(lab.state(session).ui_todos.unwrap().items.len(), 1);
}

#[test]
fn a_broken_or_foreign_file_stays_to_the_byte_and_is_spoken_of() {
    let large = format!("{{\"x\": \"{}\"}}", "x".repeat(5 * 1024 * 1024));
    let bytes: [(&[u8], &str); 9] = [
        (b"", "it is empty"),
        (b"{\"currentTask\": null,", "it is no JSON"),
        (b"[{\"currentTask\": null}]", "it is no JSON object"),
        (b"{\"currentTask\": NaN}", "it is no JSON"),
        (
            b"{\"currentTask\": null, \"currentTask\": {}}",
            "a key stands there twice",
        ),
        (b"{\"currentTask\": null, \"x\": \"\xff\xfe\"}", "it is no UTF-8"),
        (
            b"{\"name\": \"planner-state\", \"version\": 2}",
            "it is not a planner's state",
        ),
        (
            b"{\"sessionId\": \"a\"}\n{\"sessionId\": \"b\"}\n",
            "it is no JSON",
        ),
        (large.as_bytes(), "it is larger than 5 MB"),
    ];
    for (content, why) in bytes {
        let lab = Lab::new();
        let path = planner(&lab);
        std::fs::write(&path, content).unwrap();
        let before = std::fs::metadata(&path).unwrap();
        turn(&lab, "s1");
        let after = std::fs::metadata(&path).unwrap();
        assert!(std::fs::read(&path).unwrap() == content, "{why}");
        assert_eq!(
            (before.ino(), before.mtime_nsec()),
            (after.ino(), after.mtime_nsec()),
            "{why}"
        );
        let said = faults(&lab, "s1");
        let expected = |f: &String| f.contains(" docs/planner-state.json: ") && f.contains(why);
        assert!(!said.is_empty() && said.iter().all(expected), "{why}: {said:?}");
        // Mended, it is kept again.
        std::fs::write(&path, PLANNER).unwrap();
        lab.claude("s1").prompt("p3", "Plan again");
        assert_eq!(json(&path)["currentTask"]["description"], "Plan again", "{why}");
    }
}

#[test]
fn a_broken_session_that_the_config_names_is_spoken_of_and_a_foreign_one_is_none() {
    let lab = Lab::new();
    let path = session(&lab, "2026-03-01-ab12cd", "{\"sessionId\": ");
    put(
        &lab,
        "project/docs/builder-config.json",
        r#"{"lastSessionPath": "docs/sessions/2026-03-01-ab12cd"}"#,
    );
    turn(&lab, "s1");
    assert_eq!(text(&path), "{\"sessionId\": ");
    assert!(
        faults(&lab, "s1")
            .iter()
            .all(|f| f.contains("session.json: line 1: it is no JSON")),
        "{:?}",
        faults(&lab, "s1")
    );
    assert!(!faults(&lab, "s1").is_empty());

    let lab = Lab::new();
    let foreign = r#"{"id": 7, "user": "x", "expires": 1}"#;
    let path = session(&lab, "web", foreign);
    turn(&lab, "s1");
    assert_eq!((text(&path).as_str(), faults(&lab, "s1").len()), (foreign, 0));
}

#[test]
fn what_is_no_file_of_the_users_own_is_not_opened() {
    type Make = fn(&Lab, &Path);
    let cases: [(&str, Make); 6] = [
        ("it is a link", |lab, path| {
            let target = put(lab, "elsewhere/planner-state.json", PLANNER);
            symlink(target, path).unwrap();
        }),
        ("it is no regular file", |_, path| {
            std::fs::create_dir(path).unwrap()
        }),
        ("it is no regular file", |_, path| {
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        }),
        ("second name", |lab, path| {
            let target = put(lab, "elsewhere/planner-state.json", PLANNER);
            std::fs::hard_link(target, path).unwrap();
        }),
        ("it is read-only", |_, path| {
            std::fs::write(path, PLANNER).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o444)).unwrap();
        }),
        ("it belongs to user 4711", |_, path| {
            std::fs::write(path, PLANNER).unwrap();
            if std::os::unix::fs::chown(path, Some(4711), None).is_err() {
                // Only root gives files away: then a link stands for it.
                std::fs::remove_file(path).unwrap();
                symlink("it belongs to user 4711", path).unwrap();
            }
        }),
    ];
    for (why, make) in cases {
        let lab = Lab::new();
        let path = lab.project().join("docs/planner-state.json");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        make(&lab, &path);
        turn(&lab, "s1");
        let said = faults(&lab, "s1");
        let linked = path.is_symlink();
        assert!(
            !said.is_empty() && said.iter().all(|f| f.contains(why) || linked),
            "{why}: {said:?}"
        );
        let target = lab.path("elsewhere/planner-state.json");
        for file in [&target, &path].into_iter().filter(|p| p.is_file()) {
            assert_eq!(text(file), PLANNER, "{why}");
        }
        let names: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(names.len(), 1, "{why}: {names:?}");
    }
}

#[test]
fn nothing_behind_a_linked_docs_is_touched_and_neither_home_nor_the_root_is_a_project() {
    let lab = Lab::new();
    let path = put(&lab, "elsewhere/planner-state.json", PLANNER);
    symlink(lab.path("elsewhere"), lab.project().join("docs")).unwrap();
    turn(&lab, "s1");
    assert_eq!((text(&path).as_str(), faults(&lab, "s1").len()), (PLANNER, 0));

    let path = put(&lab, "home/docs/planner-state.json", PLANNER);
    lab.claude("s2").project("home").prompt("p1", "Plan");
    symlink(lab.path("home"), lab.path("also-home")).unwrap();
    lab.claude("s3").project("also-home").prompt("p1", "Plan");
    assert_eq!(text(&path), PLANNER);
    lab.claude("s4")
        .env("CLAUDE_PROJECT_DIR", "/")
        .prompt("p1", "Plan");
    // A linked project is one.
    let path = put(&lab, "real/docs/planner-state.json", PLANNER);
    symlink(lab.path("real"), lab.path("linked")).unwrap();
    lab.claude("s5").project("linked").prompt("p1", "Plan");
    assert_eq!(json(&path)["currentTask"]["description"], "Plan");
}

#[test]
fn a_read_only_directory_is_spoken_of() {
    let lab = Lab::new();
    let path = planner(&lab);
    // (For root there is none: a directory in the temporary's place does the same.)
    std::fs::create_dir(path.with_file_name(".planner-state.json.bookend")).unwrap();
    turn(&lab, "s1");
    assert_eq!(text(&path), PLANNER);
    assert!(
        faults(&lab, "s1")
            .iter()
            .any(|f| f.starts_with("update docs/planner-state.json: "))
    );
}

#[test]
fn two_sessions_at_once_never_tear_the_file_and_leave_nothing_behind() {
    let lab = Lab::new();
    let path = planner(&lab);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watched = scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let file = json(&path);
                assert_eq!(file["lockedDecisions"][0]["answer"], "Both");
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
        });
        let sessions = ["s1", "s2"].map(|id| {
            let lab = &lab;
            scope.spawn(move || {
                let talk = lab.claude(id);
                for n in 0..8 {
                    let turn = format!("p{n}");
                    talk.prompt(&turn, &format!("Plan {n} of {id}"));
                    let task = json!({"task": {"id": format!("{id}-{n}")}});
                    talk.tool(
                        &turn,
                        &format!("c{n}"),
                        "TaskCreate",
                        json!({"subject": format!("{n} of {id}")}),
                        task,
                    );
                    talk.stop(&turn, "Done.");
                }
            })
        });
        sessions.into_iter().for_each(|s| s.join().unwrap());
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        watched.join().unwrap();
    });
    let file = json(&path);
    assert_eq!(file["currentTask"], json!(null), "{file:#}");
    let items = file["uiTodos"]["items"].as_array().unwrap();
    for id in ["s1", "s2"] {
        for n in 0..8 {
            let content = format!("{n} of {id}");
            assert_eq!(
                items.iter().filter(|t| t["content"] == content).count(),
                1,
                "{content}: {file:#}"
            );
        }
    }
    assert!(text(&path).contains("\"estimate\": 1.50e300,"));
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    for id in ["s1", "s2"] {
        assert_eq!(faults(&lab, id), [""; 0]);
    }
}

#[test]
fn a_lock_that_is_held_delays_a_hook_a_moment_and_the_next_one_writes() {
    let lab = Lab::new();
    let path = planner(&lab);
    let docs = std::fs::File::open(path.parent().unwrap()).unwrap();
    docs.lock().unwrap();
    let talk = lab.claude("s1");
    let began = std::time::Instant::now();
    talk.prompt("p1", "Plan");
    assert!(began.elapsed() < std::time::Duration::from_secs(10));
    assert_eq!(text(&path), PLANNER);
    assert!(faults(&lab, "s1").iter().any(|f| f.contains("holds its lock")));
    drop(docs);
    talk.prompt("p2", "Plan more");
    assert_eq!(json(&path)["currentTask"]["description"], "Plan more");
}

#[test]
fn a_stop_that_found_the_lock_held_is_made_good_at_the_sessions_end() {
    let lab = Lab::new();
    let path = planner(&lab);
    let talk = lab.claude("s1");
    talk.prompt("p1", "Plan");
    let docs = std::fs::File::open(path.parent().unwrap()).unwrap();
    docs.lock().unwrap();
    talk.stop("p1", "Done.");
    drop(docs);
    assert_eq!(json(&path)["currentTask"]["description"], "Plan");
    talk.end("other");
    assert_eq!(json(&path)["currentTask"], json!(null));
}

#[test]
fn the_builders_session_is_only_kept_while_it_goes_on() {
    let lab = Lab::new();
    let over = SESSION.replace(
        "\"status\": \"in_progress\",\n  \"currentChunk",
        "\"status\": \"completed\",\n  \"currentChunk",
    );
    let path = session(&lab, "2026-03-01-ab12cd", &over);
    turn(&lab, "s1");
    assert_eq!(text(&path), over);
}
