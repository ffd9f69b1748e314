//! What stands in the directories instead of our files.

use std::os::unix::fs::symlink;
use std::path::Path;

use bookend::hook::Hook;
use serde_json::json;

use super::{mkdir, mkfifo, picture, prompt};
use crate::harness::Lab;

#[test]
fn a_session_directory_that_is_no_directory_is_left_and_told() {
    let check = |name: &str, make: &dyn Fn(&Lab, &Path)| {
        let lab = Lab::new();
        lab.prompt("p0", "Another session makes the root");
        let dir = lab.hooks_dir().join("s9");
        make(&lab, &dir);
        let before = (picture(&lab.path("victim")), picture(&dir));
        lab.call(Hook::TurnStart, &prompt(&lab, "s9")).run().ok();
        assert_eq!((picture(&lab.path("victim")), picture(&dir)), before, "{name}");
        assert!(
            lab.faults()
                .iter()
                .any(|f| f.what.as_str().contains("live state")),
            "{name}"
        );
    };
    check("a link", &|lab, dir| {
        mkdir(&lab.path("victim"));
        symlink(lab.path("victim"), dir).unwrap();
    });
    check("a file", &|_, dir| std::fs::write(dir, "mine").unwrap());
    check("a FIFO", &|_, dir| mkfifo(dir));
}

#[test]
fn files_that_are_links_or_fifos_are_never_followed_and_never_wait() {
    // (name, whether the session goes on all the same)
    for (name, goes_on) in [
        ("hooks/s1/events.jsonl", false),
        ("hooks/s1/state.json", true),
        ("hooks/s1/state.json.new", true),
        ("hooks/s1/active-agent", true),
        ("hooks/s1/active-agent.new", true),
        ("hooks/s1/pending-0.json", true),
        ("hooks/.prune", true),
        ("hooks/.bookend", true),
        ("data/errors.jsonl", true),
        ("data/roots", true),
        ("data/log.jsonl", true),
        ("data/by-host/claude-code/s1", true),
        ("data/open/entry", true),
    ] {
        for kind in ["link", "fifo", "directory"] {
            let lab = Lab::new();
            lab.prompt("p1", "First");
            let log = lab.log_of("s1").session_id;
            let place = match name {
                "data/log.jsonl" => lab.data_dir().join("log").join(log.as_str()).join("log.jsonl"),
                "data/open/entry" => lab.data_dir().join("open").join(log.as_str()),
                other => lab.path(other),
            };
            let what = format!("{name} as a {kind}");
            let victim = lab.path("victim");
            std::fs::write(&victim, "{\"precious\":1}\n").unwrap();
            if place.exists() {
                std::fs::remove_file(&place).unwrap();
            }
            match kind {
                "link" => symlink(&victim, &place).unwrap(),
                "fifo" => mkfifo(&place),
                _ => mkdir(&place),
            }
            let before = picture(&victim);
            lab.send(
                "SubagentStart",
                json!({"agent_id": "a1", "agent_type": "explorer"}),
            );
            lab.write("p1", "call-1", "/p/x.rs");
            lab.send("SessionStart", json!({"source": "compact"}));
            lab.stop("p1", "Done.");
            assert_eq!(picture(&victim), before, "{what}: followed");
            if goes_on {
                let state = lab.state("s1");
                assert!(state.events.contains_key("Stop"), "{what}: {:?}", state.events);
                assert!(state.turns.open().is_none(), "{what}");
            } else {
                assert!(
                    lab.faults()
                        .iter()
                        .any(|f| f.what.as_str().contains("live state")),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn a_log_that_begins_with_a_torn_line_gets_its_opening_record() {
    let lab = Lab::new();
    lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
    let id = std::fs::read_to_string(lab.data_dir().join("by-host/claude-code/s1")).unwrap();
    let dir = lab.data_dir().join("log").join(id.trim());
    mkdir(&dir);
    std::fs::write(dir.join("log.jsonl"), "{\"v\":1,\"id\":\"to").unwrap();
    lab.prompt("p1", "First");
    let log = lab.log_of("s1");
    assert!(
        log.problems.is_empty() && log.title.as_str() == "First",
        "{log:#?}"
    );
}
