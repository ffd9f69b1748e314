//! What is too old goes, what is open never does, and a wrong clock takes nothing.

use serde_json::{Value, json};

use super::{asked, found, log_file, logged, session};
use crate::cli::Host;
use crate::harness::{Answer, Lab};

fn removed(answer: &Value) -> Vec<&str> {
    let removed = answer["removed"].as_array().unwrap();
    removed.iter().map(|r| r["sessionId"].as_str().unwrap()).collect()
}

fn with_days(lab: &Lab, days: &str, arguments: &[&str]) -> Answer {
    let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
    Answer::of(
        command
            .args(arguments)
            .env("BOOKEND_LOG_DAYS", days)
            .output()
            .unwrap(),
    )
}

#[test]
fn what_was_last_written_so_many_days_ago_expires() {
    let lab = Lab::new();
    let ids: Vec<String> = [100, 91, 89, 1]
        .into_iter()
        .enumerate()
        .map(|(n, days)| logged(&lab, n, days, "common"))
        .collect();
    assert_eq!(found(&lab, "common"), 4);
    let dry = asked(&lab, &["expire", "--dry-run"]);
    assert_eq!(
        (removed(&dry), &dry["days"], &dry["dryRun"]),
        (vec![ids[0].as_str(), &ids[1]], &json!(90), &json!(true))
    );
    assert!(log_file(&lab, &ids[0]).exists());
    for forever in ["0", "ninety"] {
        let kept = with_days(&lab, forever, &["log", "expire", "--json"]).json();
        assert!(removed(&kept).is_empty(), "{forever}: {kept}");
    }
    assert_eq!(removed(&asked(&lab, &["expire"])), [&ids[0], &ids[1]]);
    assert_eq!(found(&lab, "common"), 2);
    assert_eq!(
        removed(&asked(&lab, &["expire", "--older-than", "30"])),
        [&ids[2]]
    );
    assert_eq!(lab.log_ids().len(), 1);
    assert_eq!(lab.bookend(&["log", "expire", "--older-than", "0"]).code, Some(2));
}

#[test]
fn a_record_or_a_file_that_is_newer_keeps_a_session() {
    let lab = Lab::new();
    let touched = logged(&lab, 1, 100, "common");
    let file = std::fs::File::open(log_file(&lab, &touched)).unwrap();
    file.set_modified(std::time::SystemTime::now()).unwrap();
    // A log that was copied with an old time, though something was written yesterday.
    let written = logged(&lab, 2, 1, "common");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(200 * 86_400);
    std::fs::File::open(log_file(&lab, &written))
        .unwrap()
        .set_modified(old)
        .unwrap();
    assert!(removed(&asked(&lab, &["expire"])).is_empty());
}

#[test]
fn what_is_open_never_expires() {
    let lab = Lab::new();
    let host = Host::new();
    // Old by its log, but its turn is open, or its todos, or its host runs.
    host.send(
        &lab,
        "busy",
        "UserPromptSubmit",
        json!({"prompt": "Mend the cart"}),
    );
    let mut gone = Host::new();
    gone.send(&lab, "task", "UserPromptSubmit", json!({"prompt": "Paint it"}));
    gone.dies();
    host.send(
        &lab,
        "idle",
        "UserPromptSubmit",
        json!({"prompt": "Add a column"}),
    );
    host.send(&lab, "idle", "Stop", json!({"last_assistant_message": "Yes."}));
    session(&lab, "over", "Add a column", "Yes.");
    lab.bookend(&["sessions"]);
    let old = (bookend::clock::now() - chrono::TimeDelta::days(100)).to_rfc3339();
    for id in lab.log_ids() {
        let path = log_file(&lab, id.as_str());
        let text: String = std::fs::read_to_string(&path)
            .unwrap()
            .lines()
            .map(|line| {
                let mut record: Value = serde_json::from_str(line).unwrap();
                record["at"] = json!(old);
                format!("{record}\n")
            })
            .collect();
        std::fs::write(&path, text).unwrap();
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(100 * 86_400);
        std::fs::File::open(&path).unwrap().set_modified(then).unwrap();
    }
    let expired = asked(&lab, &["expire"]);
    assert_eq!(removed(&expired).len(), 1, "{expired:#}");
    let whys: Vec<&str> = expired["kept"]
        .as_array()
        .unwrap()
        .iter()
        .map(|k| k["why"].as_str().unwrap())
        .collect();
    assert_eq!(whys.len(), 3, "{expired:#}");
    for why in ["its turn is open", "its task is not done", "its host runs"] {
        assert!(whys.contains(&why), "{why}: {whys:?}");
    }
    assert_eq!(lab.log_ids().len(), 3);
}

#[test]
fn the_command_removes_by_itself_once_a_day_and_never_by_a_clock_that_jumped() {
    let lab = Lab::new();
    let stamp = lab.data_dir().join("retention");
    let looked = |days: i64| {
        let at = bookend::clock::now() - chrono::TimeDelta::days(days);
        std::fs::write(&stamp, bookend::clock::stamp(at) + "\n").unwrap();
    };
    logged(&lab, 1, 100, "common");
    let still_there = |what: &str| {
        lab.bookend(&["sessions"]);
        assert_eq!(lab.log_ids().len(), 1, "{what}");
    };
    still_there("the first time, nobody knows whether the clock is right");
    assert!(stamp.exists());
    still_there("it was looked today");
    looked(4_000);
    still_there("ten years in one day");
    looked(-3);
    still_there("the clock went back");
    looked(2);
    with_days(&lab, "0", &["sessions"]);
    assert_eq!(lab.log_ids().len(), 1, "kept for ever");
    for verb in [&["resume"][..], &["log", "expire", "--dry-run"], &["doctor"]] {
        looked(2);
        lab.bookend(verb);
        assert_eq!(lab.log_ids().len(), 1, "{verb:?} changes nothing");
    }
    looked(2);
    let list = asked(&lab, &["sessions"]);
    assert_eq!(
        (list["totalCount"].as_u64(), lab.log_ids().len()),
        (Some(1), 0),
        "after the answer"
    );
    assert_eq!(asked(&lab, &["sessions"])["totalCount"], 0);
}
