//! `--fix`: what it will do stands there first, it is done, and the second look is clean.

use std::path::PathBuf;

use serde_json::json;

use super::{chmod, codes, doctor, found, mode, of_level, one, picture, report_of, said, touch, used};
use crate::harness::Lab;

fn open_dir(lab: &Lab) -> PathBuf {
    lab.data_dir().join("open")
}

/// Runs `doctor --fix`.
fn fix(lab: &Lab, json: bool) -> (Option<i32>, String) {
    said(lab, if json { &["--fix", "--json"] } else { &["--fix"] })
}

#[test]
fn modes_and_leftovers_are_mended_after_they_were_shown() {
    let lab = used();
    let loose = [
        (lab.hooks_dir().join("s1"), 0o755),
        (lab.hooks_dir().join("s1/events.jsonl"), 0o644),
        (lab.data_dir().join("log"), 0o750),
        (lab.data_dir().join("roots"), 0o664),
        (lab.data_dir().join("by-host"), 0o705),
        (lab.hooks_dir(), 0o755),
        (lab.data_dir(), 0o711),
    ];
    for (path, mode) in &loose[..5] {
        chmod(path, *mode);
    }
    chmod(&lab.data_dir().join("by-host/claude-code/s1"), 0o604);
    let left = lab.data_dir().join("by-host/claude-code/s9.new");
    std::fs::write(&left, "x").unwrap();
    chmod(&left, 0o600);
    touch(&left, -2);
    let report = found(&lab, &[]);
    assert_eq!(
        codes(&report, "problem"),
        ["mode-loose", "mode-loose"],
        "{report:#}"
    );
    assert_eq!(one(&report, "leftovers")["fixable"], true);
    for (path, mode) in &loose[5..] {
        chmod(path, *mode);
    }
    let before = picture(&lab.data_dir()).len() + picture(&lab.hooks_dir()).len();
    let (code, said) = fix(&lab, false);
    for part in [
        "Will be changed\n",
        "    - mode 755\n    + mode 700\n",
        "    - mode 711\n    + mode 700\n",
        "    - mode 664\n    + mode 600\n",
        "    - s9.new (left by a hook that was killed)\n",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let shown = said.find("Will be changed").unwrap();
    assert!(shown < said.find("STORE").unwrap(), "first what it will do");
    // A root that was not trusted has not been looked into until now.
    let (code, said) = if code == Some(0) {
        (code, said)
    } else {
        fix(&lab, false)
    };
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("Nothing needs doing.\n"), "{said}");
    for (path, _) in &loose {
        assert_eq!(
            mode(path),
            if path.is_dir() { 0o700 } else { 0o600 },
            "{}",
            path.display()
        );
    }
    assert!(!left.exists());
    assert_eq!(
        picture(&lab.data_dir()).len() + picture(&lab.hooks_dir()).len(),
        before - 1
    );
    assert_eq!(found(&lab, &[])["findings"], json!([]));
}

#[test]
fn entries_that_point_to_nothing_are_removed_and_no_others() {
    let lab = used();
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "s2", "prompt": "Lost work"}),
    );
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "s3", "prompt": "Open work"}),
    );
    lab.send(
        "SessionStart",
        json!({"session_id": "unused", "source": "startup", "prompt_id": null}),
    );
    lab.send(
        "SessionStart",
        json!({"session_id": "longunused", "source": "startup", "prompt_id": null}),
    );
    let of = |session: &str| lab.log_of(session).session_id;
    let (done, lost, going_on) = (of("s1"), of("s2"), of("s3"));
    std::fs::remove_dir_all(lab.data_dir().join("log").join(lost.as_str())).unwrap();
    std::fs::write(open_dir(&lab).join(done.as_str()), "").unwrap();
    chmod(&open_dir(&lab).join(done.as_str()), 0o600);
    let by_host = lab.data_dir().join("by-host/claude-code");
    std::fs::write(by_host.join("broken"), "nothing\n").unwrap();
    chmod(&by_host.join("broken"), 0o600);
    touch(&by_host.join("longunused"), -24 * 31);

    let report = found(&lab, &[]);
    assert_eq!(
        one(&report, "open-dangling")["subject"],
        json!(open_dir(&lab).join(lost.as_str()))
    );
    assert_eq!(
        one(&report, "entry-unreadable")["subject"],
        json!(open_dir(&lab).join(done.as_str()))
    );
    assert_eq!(
        one(&report, "by-host-unreadable")["subject"],
        json!(by_host.join("broken"))
    );
    assert_eq!(one(&report, "by-host-dangling")["level"], "note");
    let (code, said) = fix(&lab, true);
    let after = report_of(&said);
    assert_eq!((code, &after["findings"]), (Some(0), &json!([])), "{after:#}");
    let mended = after["mended"].as_array().unwrap();
    assert!(
        mended.len() == 4 && mended.iter().all(|m| m["done"] == true),
        "{after:#}"
    );
    let change = mended
        .iter()
        .find(|m| m["place"] == json!(open_dir(&lab).join(lost.as_str())));
    assert_eq!(
        change.unwrap()["change"],
        json!([format!("- {lost} (points to no log)")])
    );
    for gone in [&lost, &done] {
        assert!(!open_dir(&lab).join(gone.as_str()).exists());
    }
    assert!(open_dir(&lab).join(going_on.as_str()).is_file());
    let left: Vec<bool> = ["s1", "s3", "unused", "longunused", "broken"]
        .map(|n| by_host.join(n).exists())
        .into();
    assert_eq!(left, [true, true, true, false, false]);
}

#[test]
fn an_entry_that_cannot_be_read_stays_while_its_turn_is_open() {
    let lab = Lab::new();
    lab.prompt("p1", "Open work");
    let entry = open_dir(&lab).join(lab.log_ids()[0].as_str());
    std::fs::write(&entry, "{").unwrap();
    let finding = one(&found(&lab, &[]), "entry-unreadable");
    assert_eq!(finding["fixable"], false, "a person decides: {finding:#}");
    let (code, said) = fix(&lab, false);
    assert!(code == Some(1) && said.contains("1 thing needs doing."), "{said}");
    assert!(
        said.starts_with("Nothing here can be mended without you."),
        "{said}"
    );
    assert!(entry.exists());
    lab.shell("p1", "t1", "make");
    lab.prompt("p2", "Go on");
    assert_eq!(of_level(&found(&lab, &[]), "problem"), 0, "the remedy helps");
}

#[test]
fn what_is_not_ours_is_never_touched() {
    let lab = used();
    let mine = [
        lab.hooks_dir().join("mine.txt"),
        lab.data_dir().join("mine.txt"),
        lab.data_dir().join("open/mine.txt"),
        lab.data_dir().join("log/mine.txt"),
        lab.hooks_dir().join("s1/mine.txt"),
    ];
    for path in &mine {
        std::fs::write(path, "mine").unwrap();
        chmod(path, 0o666);
    }
    let hostile = lab.path("hostile");
    std::fs::create_dir(&hostile).unwrap();
    std::fs::write(hostile.join("letter"), "x").unwrap();
    chmod(&hostile, 0o755);
    let before = [
        picture(&lab.hooks_dir()),
        picture(&lab.data_dir()),
        picture(&hostile),
    ];
    let mut command = doctor(&lab, &["--fix"]);
    let output = command.env("MAESTRO_HOOKS_DIR", &hostile).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let (code, said) = fix(&lab, false);
    assert!(code == Some(0) && said.contains("mine.txt"), "{said}");
    let after = [
        picture(&lab.hooks_dir()),
        picture(&lab.data_dir()),
        picture(&hostile),
    ];
    assert_eq!(before, after);
}
