//! `resume`: the same text as the hook's, and nothing changed.

use serde_json::{Value, json};

use super::{Host, crashed, json_of, snapshot, text_of};
use crate::harness::Lab;

#[test]
fn resume_says_what_the_next_session_start_says_and_changes_nothing() {
    let lab = Lab::new();
    crashed(&lab, "first", "Mend the cart");
    crashed(&lab, "second", "Add a price column");
    let before = (snapshot(&lab.hooks_dir()), snapshot(&lab.data_dir()));
    let answer = json_of(&lab, &["resume", "--json"]);
    let text = text_of(&lab, &["resume"]);
    assert_eq!(before, (snapshot(&lab.hooks_dir()), snapshot(&lab.data_dir())));

    assert_eq!(
        (&answer["mode"], &answer["host"]),
        (&json!("auto"), &json!("claude-code"))
    );
    assert_eq!(answer["from"]["hostSession"], "second", "{answer:#}");
    assert_eq!(answer["why"], "the host vanished (crash, kill or reboot)");
    let verdicts: Vec<_> = answer["considered"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (&c["verdict"], &c["reason"]))
        .collect();
    assert_eq!(verdicts[0].0, "chosen");
    assert_eq!(
        verdicts[1],
        (&json!("skipped"), &json!("a newer one comes first"))
    );
    let brief = answer["brief"].as_str().unwrap();
    assert!(brief.starts_with("Resuming: Add a price column\n"), "{brief}");
    assert!(
        text.contains("  Resuming: Add a price column") && text.contains("  Session log: <its own id>"),
        "{text}"
    );
    assert!(
        text.contains("chosen") && text.contains("a newer one comes first"),
        "{text}"
    );

    let told = lab
        .send(
            "SessionStart",
            json!({"session_id": "third", "source": "startup", "prompt_id": null}),
        )
        .context();
    let (hook, log) = told.rsplit_once("\nSession log: ").expect("a brief and the log");
    assert!(!log.is_empty());
    let timeless = |text: &str| -> Vec<String> {
        text.lines()
            .map(|l| l.split(", ").next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(timeless(hook), timeless(brief), "but for the seconds");

    // It is taken over now, and the older one comes next.
    let answer = json_of(&lab, &["resume", "--json"]);
    assert_eq!(answer["from"]["hostSession"], "first", "{answer:#}");
}

#[test]
fn what_is_skipped_has_its_reason() {
    let lab = Lab::new();
    let host = Host::new();
    host.send(
        &lab,
        "alive",
        "UserPromptSubmit",
        json!({"prompt": "Work in progress"}),
    );
    let answer = json_of(&lab, &["resume", "--json"]);
    assert_eq!((&answer["brief"], &answer["from"]), (&Value::Null, &Value::Null));
    assert_eq!(answer["considered"][0]["reason"], "its host is alive");
    assert!(text_of(&lab, &["resume"]).contains("its host is alive"));
    crashed(&lab, "gone", "Mend the cart");
    let run = |name: &str, value: &str, arguments: &[&str]| -> Value {
        let output = lab
            .command(env!("CARGO_BIN_EXE_bookend"))
            .args(["resume", "--json"])
            .args(arguments)
            .env(name, value)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let off = run("BOOKEND_RESUME", "off", &[]);
    assert_eq!(
        (&off["brief"], &off["silent"]),
        (&Value::Null, &json!("BOOKEND_RESUME is off: nobody gets a brief"))
    );
    let script = run("BOOKEND_RESUME", "auto", &["--headless"]);
    assert!(
        script["silent"]
            .as_str()
            .unwrap()
            .contains("BOOKEND_RESUME=always gives it one"),
        "{script:#}"
    );
    let always = run("BOOKEND_RESUME", "always", &["--headless"]);
    assert!(
        always["brief"]
            .as_str()
            .unwrap()
            .starts_with("Resuming: Mend the cart"),
        "{always:#}"
    );
    let old = run("BOOKEND_RESUME_DAYS", "0", &[]);
    assert_eq!(
        old["considered"][0]["reason"], "it is older than 0 days (BOOKEND_RESUME_DAYS)",
        "{old:#}"
    );
    let disabled = run("BOOKEND_DISABLE", "1", &[]);
    assert!(
        disabled["silent"].as_str().unwrap().contains("BOOKEND_DISABLE"),
        "{disabled:#}"
    );
    let codex = run("BOOKEND_RESUME", "auto", &["--host", "codex"]);
    assert_eq!(codex["host"], "codex");

    let elsewhere = lab
        .command(env!("CARGO_BIN_EXE_bookend"))
        .arg("resume")
        .current_dir(lab.path("home"))
        .output();
    let text = String::from_utf8(elsewhere.unwrap().stdout).unwrap();
    assert!(
        text.contains("no session of this project is unfinished"),
        "{text}"
    );
    assert!(text.contains("2 unfinished sessions of other projects"), "{text}");
}

#[test]
fn a_brief_says_when_it_stopped_not_when_somebody_looked() {
    let lab = Lab::new();
    crashed(&lab, "gone", "Mend the cart");
    // As if an hour had passed: entry, log and journal.
    let id = lab.log_ids()[0].clone();
    for file in [
        lab.data_dir().join("log").join(id.as_str()).join("log.jsonl"),
        lab.data_dir().join("open").join(id.as_str()),
        lab.hooks_dir().join("gone/events.jsonl"),
    ] {
        super::older(&file, chrono::TimeDelta::hours(1));
    }
    std::fs::remove_file(lab.hooks_dir().join("gone/state.json")).unwrap();
    text_of(&lab, &["sessions"]);
    let told = lab
        .send(
            "SessionStart",
            json!({"session_id": "next", "source": "startup", "prompt_id": null}),
        )
        .context();
    assert!(
        told.contains("Why it stopped: the host vanished (crash, kill or reboot), 1 h ago"),
        "{told}"
    );
}
