//! Roots and directories that are not what they should be, and variables that say what cannot be.

use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{chmod, codes, doctor, found, installed, mode, of_level, one, picture, used};
use crate::harness::{Answer, Lab};

/// Another user than root and than whoever runs the tests.
const NOBODY: u32 = 65_534;

fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_root_that_is_a_link_a_file_a_fifo_or_open_to_others_is_found_and_left() {
    let check = |name: &str, says: &str, make: &dyn Fn(&Lab, &Path)| {
        let lab = used();
        let root = lab.path("hostile");
        make(&lab, &root);
        let before = [
            picture(&root),
            picture(&lab.path("victim")),
            picture(&lab.data_dir()),
        ];
        let report = found(&lab, &[("MAESTRO_HOOKS_DIR", root.to_str().unwrap())]);
        let finding = one(&report, "root-unsafe");
        assert_eq!(finding["subject"], json!(root), "{name}");
        assert!(
            finding["what"].as_str().unwrap().contains(says),
            "{name}: {finding:#}"
        );
        let (wanted, fallback) = (&report["stores"][0], &report["stores"][1]);
        assert_eq!(
            json!([wanted["exists"], wanted["safe"], wanted["inUse"]]),
            json!([true, false, false])
        );
        assert_eq!(fallback["path"], json!(lab.data_dir().join("hooks")), "{name}");
        assert_eq!(fallback["inUse"], true, "{name}");
        let after = [
            picture(&root),
            picture(&lab.path("victim")),
            picture(&lab.data_dir()),
        ];
        assert_eq!(before, after, "{name}");
        finding["fixable"] == true
    };
    let mkdir = |path: &Path, mode: u32| {
        std::fs::create_dir(path).unwrap();
        chmod(path, mode);
    };
    assert!(!check("a link", "It is a link", &|lab, root| {
        mkdir(&lab.path("victim"), 0o700);
        symlink(lab.path("victim"), root).unwrap();
    }));
    assert!(!check("a dangling link", "It is a link", &|lab, root| {
        symlink(lab.path("victim"), root).unwrap();
    }));
    assert!(!check("a file", "It is a file", &|_, root| std::fs::write(
        root, "x"
    )
    .unwrap()));
    assert!(!check("a FIFO", "It is a FIFO", &|_, root| mkfifo(root)));
    assert!(check("an empty directory", "mode is 755", &|_, root| mkdir(
        root, 0o755
    )));
    assert!(check("our directory", "mode is 750", &|_, root| {
        mkdir(root, 0o750);
        std::fs::write(root.join(".bookend"), "1\n").unwrap();
    }));
    assert!(
        !check("a home directory", "mode is 755", &|_, root| {
            mkdir(root, 0o755);
            std::fs::write(root.join("letter"), "x").unwrap();
        }),
        "somebody's own directory is not closed for a typing error"
    );
    assert!(!check(
        "one where others could write",
        "mode is 1777",
        &|_, root| mkdir(root, 0o1777)
    ));
    if rustix::process::geteuid().is_root() {
        assert!(!check("another user's", "belongs to user 65534", &|_, root| {
            mkdir(root, 0o700);
            chown(root, Some(NOBODY), None).unwrap();
        }));
    } else {
        println!("SKIPPED: only root can make a directory of another user");
    }
}

#[test]
fn a_root_that_was_recorded_is_looked_at_and_one_by_two_names_once() {
    let lab = used();
    let other = lab.path("other");
    let sent = |root: &Path| {
        lab.call(
            bookend::hook::Hook::TurnStart,
            &json!({"session_id": "s2", "prompt_id": "p1", "cwd": lab.project(), "prompt": "Other",
                    "hook_event_name": "UserPromptSubmit"}),
        )
        .env("MAESTRO_HOOKS_DIR", root.to_str().unwrap())
        .run()
        .ok()
    };
    sent(&other);
    // The same by another name: a link above it is followed.
    symlink(other.parent().unwrap(), lab.path("again")).unwrap();
    std::fs::write(
        lab.data_dir().join("roots"),
        format!(
            "{}\n{}\n/nowhere/x\n",
            other.display(),
            lab.path("again/other").display()
        ),
    )
    .unwrap();
    let report = found(&lab, &[]);
    assert_eq!(report["stores"].as_array().unwrap().len(), 3, "{report:#}");
    assert_eq!(
        json!([
            report["stores"][1]["path"],
            report["stores"][1]["inUse"],
            report["stores"][1]["sessions"]
        ]),
        json!([other, false, 1])
    );
    chmod(&other, 0o755);
    let report = found(&lab, &[]);
    assert_eq!(one(&report, "root-unsafe")["subject"], json!(other));
}

#[test]
fn a_data_directory_that_cannot_be_used_is_found_and_left() {
    for (name, says) in [
        ("link", "It is a link"),
        ("file", "It is a file"),
        ("fifo", "It is a FIFO"),
    ] {
        let lab = used();
        let place = lab.path("place");
        match name {
            "link" => symlink(lab.data_dir(), &place).unwrap(),
            "file" => std::fs::write(&place, "mine").unwrap(),
            _ => mkfifo(&place),
        }
        let before = picture(&lab.path(""));
        let report = found(&lab, &[("BOOKEND_DATA_DIR", place.to_str().unwrap())]);
        let finding = one(&report, "data-dir-unsafe");
        assert!(finding["what"].as_str().unwrap().contains(says), "{finding:#}");
        assert_eq!(finding["fixable"], false);
        assert_eq!(before, picture(&lab.path("")), "{name}");
    }
    let lab = used();
    chmod(&lab.data_dir(), 0o755);
    let finding = one(&found(&lab, &[]), "data-dir-loose");
    assert_eq!(
        (&finding["subject"], &finding["fixable"]),
        (&json!(lab.data_dir()), &json!(true))
    );
    assert_eq!(mode(&lab.data_dir()), 0o755, "a look leaves it");
}

#[test]
fn a_root_that_cannot_be_made_is_found() {
    let lab = used();
    std::fs::write(lab.path("flat"), "x").unwrap();
    let under = lab.path("flat/hooks");
    let report = found(&lab, &[("MAESTRO_HOOKS_DIR", under.to_str().unwrap())]);
    assert_eq!(of_level(&report, "problem"), 1, "{report:#}");
    assert_eq!(report["findings"][0]["subject"], json!(under));
}

#[test]
fn variables_that_cannot_be_or_are_not_known_are_named() {
    let lab = used();
    let report = found(
        &lab,
        &[
            ("BOOKEND_RESUME", "foo"),
            ("BOOKEND_RESUME_DAYS", "abc"),
            ("BOOKEND_LOG_PROMPTS", "xyz"),
        ],
    );
    assert_eq!(codes(&report, "note"), ["setting-unknown"; 3]);
    for (i, name, says) in [
        (
            0,
            "BOOKEND_RESUME",
            "foo is none that it may have; it is taken for auto",
        ),
        (
            1,
            "BOOKEND_RESUME_DAYS",
            "abc is none that it may have; it is taken for 3",
        ),
        (
            2,
            "BOOKEND_LOG_PROMPTS",
            "xyz is none that it may have; it is taken for off",
        ),
    ] {
        let finding = &report["findings"][i];
        assert_eq!(finding["subject"], name);
        assert!(finding["what"].as_str().unwrap().contains(says), "{finding:#}");
    }
    let well = [
        ("BOOKEND_RESUME", "always"),
        ("BOOKEND_RESUME_DAYS", "7"),
        ("BOOKEND_LOG_PROMPTS", "title"),
    ];
    assert_eq!(found(&lab, &well)["findings"], json!([]));
    assert_eq!(found(&lab, &[("BOOKEND_DISABLE", "0")])["findings"], json!([]));
    assert_eq!(
        one(&found(&lab, &[("BOOKEND_DISABLE", "1")]), "hooks-disabled")["level"],
        "problem"
    );
    let relative = found(&lab, &[("MAESTRO_HOOKS_DIR", "hooks")]);
    let finding = one(&relative, "hook-root-unusable");
    assert_eq!(
        (&finding["subject"], &finding["remedy"]),
        (&json!("MAESTRO_HOOKS_DIR"), &json!("Give an absolute one."))
    );
    let relative = found(&lab, &[("BOOKEND_DATA_DIR", "data")]);
    assert_eq!(one(&relative, "data-dir-unusable")["subject"], "BOOKEND_DATA_DIR");
    // Other verbs go on to warn of what they leave out.
    let mut sessions = lab.command(env!("CARGO_BIN_EXE_bookend"));
    let sessions = sessions
        .arg("sessions")
        .env("MAESTRO_HOOKS_DIR", "hooks")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&sessions.stderr).contains("warning: failed to use the hook root"));
}

#[test]
fn a_root_whose_name_is_no_text_can_be_printed() {
    use std::os::unix::ffi::OsStrExt;
    let lab = Lab::new();
    let odd = lab.path("").join(std::ffi::OsStr::from_bytes(b"h\xFFooks"));
    let mut command = doctor(&lab, &["--json"]);
    let output = command.env("MAESTRO_HOOKS_DIR", &odd).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_store_that_cannot_be_written_is_found_and_opened_again_if_it_is_ours() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can run the command as another user");
        return;
    }
    let lab = Lab::new();
    let above = lab.path("").ancestors().skip(1).all(|p| mode(p) & 0o001 != 0);
    if !above {
        println!("SKIPPED: the temp directory lies where other users may not go");
        return;
    }
    let bin = installed(&lab);
    chmod(&lab.path(""), 0o755);
    let own = |name: &str, mode: u32| {
        let dir = lab.path(name);
        std::fs::create_dir(&dir).unwrap();
        chown(&dir, Some(NOBODY), Some(NOBODY)).unwrap();
        chmod(&dir, mode);
        dir
    };
    let (hooks, data) = (own("n-hooks", 0o500), own("n-data", 0o500));
    let run = |arguments: &[&str], hooks: &Path| {
        let mut command = lab.command(bin.join("bookend").to_str().unwrap());
        let command = command
            .args(arguments)
            .env("PATH", "/nowhere")
            .uid(NOBODY)
            .gid(NOBODY);
        let command = command
            .env("MAESTRO_HOOKS_DIR", hooks)
            .env("BOOKEND_DATA_DIR", &data);
        Answer::of(command.output().unwrap())
    };
    let report = run(&["doctor", "--json"], &hooks).json();
    assert_eq!(
        codes(&report, "problem"),
        ["not-writable", "not-writable"],
        "{report:#}"
    );
    let said = run(&["doctor", "--fix"], &hooks);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("- mode 500\n    + mode 700\n"), "{said:?}");
    // Missing, and nobody but root can make it.
    let nowhere = lab.path("root's/own/hooks");
    let report = run(&["doctor", "--json"], &nowhere).json();
    let finding = one(&report, "not-writable");
    assert_eq!(
        (&finding["subject"], &finding["fixable"]),
        (&json!(nowhere), &json!(false))
    );
    assert!(
        finding["what"].as_str().unwrap().contains("cannot be made in "),
        "{finding:#}"
    );
}
