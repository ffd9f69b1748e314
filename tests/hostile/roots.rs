//! The hook root and the data directory: links, other people's, read-only, none at all.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use bookend::hook::Hook;
use serde_json::Value;

use super::{NOBODY, ends, is_root, mkdir, mkfifo, picture, prompt, state_in, stop, told};
use crate::harness::{Answer, Lab, executable};

/// A root that may not be used: what it is, and what must stay as it is.
fn refused_root(name: &str, make: impl Fn(&Lab, &Path)) {
    let lab = Lab::new();
    let root = lab.path("hostile");
    make(&lab, &root);
    let outside: Vec<PathBuf> = ["hostile", "victim"].map(|n| lab.path(n)).into();
    let before: Vec<_> = outside.iter().map(|p| picture(p)).collect();
    let set = root.to_string_lossy().into_owned();
    for event in [prompt(&lab, "s1"), stop(&lab, "s1")] {
        let hook = if event["hook_event_name"] == "Stop" {
            Hook::Stop
        } else {
            Hook::TurnStart
        };
        lab.call(hook, &event).env("MAESTRO_HOOKS_DIR", &set).run().ok();
    }
    let after: Vec<_> = outside.iter().map(|p| picture(p)).collect();
    assert_eq!(before, after, "{name}: changed");
    let fallback = lab.data_dir().join("hooks");
    let state = state_in(&fallback, "s1");
    assert_eq!((state.n, state.turns.count), (2, 1), "{name}");
    let told = told(&lab, &fallback, "s1");
    assert!(
        told.iter().any(|f| f.contains("use the hook root")),
        "{name}: {told:?}"
    );
    assert_eq!(lab.log_of("s1").turns[0].status, "completed", "{name}");
}

#[test]
fn a_root_that_is_a_link_a_file_a_fifo_or_open_to_others_is_neither_used_nor_changed() {
    let link = |lab: &Lab, root: &Path| {
        mkdir(&lab.path("victim"));
        symlink(lab.path("victim"), root).unwrap();
    };
    refused_root("a link to an own directory", link);
    refused_root("a link to nothing", |lab, root| {
        symlink(lab.path("victim"), root).unwrap()
    });
    refused_root("a file", |_, root| std::fs::write(root, "mine").unwrap());
    refused_root("a FIFO", |_, root| mkfifo(root));
    for mode in [0o777, 0o1777, 0o750, 0o701, 0o2770] {
        refused_root(&format!("mode {mode:o}"), |_, root| {
            mkdir(root);
            std::fs::set_permissions(root, Permissions::from_mode(mode)).unwrap();
        });
    }
    if is_root() {
        refused_root("another user's", |_, root| {
            mkdir(root);
            std::os::unix::fs::chown(root, Some(NOBODY), None).unwrap();
        });
    } else {
        println!("SKIPPED: only root can make a directory of another user");
    }
}

#[test]
fn a_link_with_a_slash_behind_it_is_still_a_link() {
    let lab = Lab::new();
    mkdir(&lab.path("victim"));
    symlink(lab.path("victim"), lab.path("link")).unwrap();
    let before = picture(&lab.path("victim"));
    for tail in ["/", "//", "/."] {
        let set = format!("{}{tail}", lab.path("link").display());
        lab.call(Hook::TurnStart, &prompt(&lab, "s1"))
            .env("MAESTRO_HOOKS_DIR", &set)
            .run()
            .ok();
        assert_eq!(picture(&lab.path("victim")), before, "{set}");
        let data = format!("{}{tail}", lab.path("link").display());
        lab.call(Hook::TurnStart, &prompt(&lab, "s2"))
            .env("BOOKEND_DATA_DIR", &data)
            .run()
            .ok();
        assert_eq!(picture(&lab.path("victim")), before, "{data}");
    }
}

#[test]
fn a_root_that_cannot_be_made_falls_back_and_one_with_missing_parents_is_made() {
    let lab = Lab::new();
    for (i, impossible) in [
        "/proc/nope/x",
        "/proc/self/fd/x",
        "/dev/null/x",
        "relative/hooks",
        ".",
        "/sys/nope",
    ]
    .iter()
    .enumerate()
    {
        let s = format!("s{i}");
        lab.call(Hook::TurnStart, &prompt(&lab, &s))
            .env("MAESTRO_HOOKS_DIR", impossible)
            .run()
            .ok();
        let fallback = lab.data_dir().join("hooks");
        assert_eq!(state_in(&fallback, &s).n, 1, "{impossible}");
        assert!(
            told(&lab, &fallback, &s).iter().any(|f| f.contains("hook root")),
            "{impossible}"
        );
    }
    assert_eq!(
        picture(&lab.project()).len(),
        1,
        "nothing in the working directory"
    );
    let deep = lab.path("a/b c/ü/hooks");
    lab.call(Hook::TurnStart, &prompt(&lab, "deep"))
        .env("MAESTRO_HOOKS_DIR", &deep.to_string_lossy())
        .run()
        .ok();
    assert_eq!(state_in(&deep, "deep").n, 1);
    assert_eq!(std::fs::metadata(lab.path("a")).unwrap().mode() & 0o777, 0o700);
    // A name that is not UTF-8 is a name.
    let odd = lab.path("").join(std::ffi::OsStr::from_bytes(b"h\xFFooks"));
    let mut child = lab
        .call(Hook::TurnStart, &prompt(&lab, "odd"))
        .command()
        .env("MAESTRO_HOOKS_DIR", &odd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    write!(child.stdin.take().unwrap(), "{}", prompt(&lab, "odd")).unwrap();
    ends(child).0.ok();
    assert_eq!(state_in(&odd, "odd").n, 1);
}

#[test]
fn a_temp_directory_that_is_relative_puts_nothing_into_the_project() {
    let lab = Lab::new();
    for (i, temp) in ["tmp", "."].iter().enumerate() {
        let s = format!("s{i}");
        let call = lab.call(Hook::TurnStart, &prompt(&lab, &s)).env("TMPDIR", temp);
        let mut command = call.command();
        let mut child = command
            .env_remove("MAESTRO_HOOKS_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        write!(child.stdin.take().unwrap(), "{}", prompt(&lab, &s)).unwrap();
        ends(child).0.ok();
        assert_eq!(state_in(&lab.data_dir().join("hooks"), &s).n, 1, "{temp:?}");
        assert_eq!(picture(&lab.project()).len(), 1, "{temp:?}");
    }
}

/// Copies the executable to where another user can run it, and runs it as that user.
fn as_nobody(lab: &Lab, hook: Hook, event: &Value, env: &[(&str, &Path)]) -> Answer {
    let copy = lab.path(hook.name());
    if !copy.exists() {
        std::fs::copy(executable(hook), &copy).unwrap();
    }
    std::fs::set_permissions(copy.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
    let mut child = lab
        .command(copy.to_str().unwrap())
        .args(["--host", "claude-code"])
        .envs(env.iter().copied())
        .uid(NOBODY)
        .gid(NOBODY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    write!(child.stdin.take().unwrap(), "{event}").unwrap();
    ends(child).0.ok()
}

fn others_may_come_here(lab: &Lab) -> bool {
    let above = lab.project().parent().unwrap().parent().unwrap().to_owned();
    above
        .ancestors()
        .all(|p| std::fs::metadata(p).unwrap().permissions().mode() & 0o001 != 0)
}

#[test]
fn read_only_stores_let_the_other_one_go_on() {
    if !is_root() {
        println!("SKIPPED: only root can run a hook as another user");
        return;
    }
    let lab = Lab::new();
    if !others_may_come_here(&lab) {
        println!("SKIPPED: the temp directory lies where other users may not go");
        return;
    }
    let own = |name: &str, mode: u32| {
        let dir = lab.path(name);
        mkdir(&dir);
        std::os::unix::fs::chown(&dir, Some(NOBODY), Some(NOBODY)).unwrap();
        std::fs::set_permissions(&dir, Permissions::from_mode(mode)).unwrap();
        dir
    };
    let (hooks, data) = (own("n-hooks", 0o700), own("n-data", 0o700));
    let (closed, closed_data) = (own("closed", 0o500), own("closed-data", 0o500));
    // A root that cannot be written: nothing there, nothing hangs. The log does not depend on it.
    as_nobody(
        &lab,
        Hook::TurnStart,
        &prompt(&lab, "s1"),
        &[("MAESTRO_HOOKS_DIR", &closed), ("BOOKEND_DATA_DIR", &data)],
    );
    assert_eq!(picture(&closed).len(), 1);
    assert!(
        std::fs::read_to_string(data.join("errors.jsonl"))
            .unwrap()
            .contains("live state")
    );
    // A data directory that cannot be written: the live state goes on.
    for event in [prompt(&lab, "s2"), stop(&lab, "s2")] {
        let hook = if event["hook_event_name"] == "Stop" {
            Hook::Stop
        } else {
            Hook::TurnStart
        };
        as_nobody(
            &lab,
            hook,
            &event,
            &[("MAESTRO_HOOKS_DIR", &hooks), ("BOOKEND_DATA_DIR", &closed_data)],
        );
    }
    assert_eq!(picture(&closed_data).len(), 1);
    let text = std::fs::read_to_string(hooks.join("s2/events.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("session log"), "the fault is noted: {text}");
    // `sudo` the other way round: root's stores are not another user's.
    lab.call(Hook::TurnStart, &prompt(&lab, "root")).run().ok();
    for dir in [lab.hooks_dir(), lab.data_dir()] {
        std::fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
    }
    let before = picture(&lab.hooks_dir());
    as_nobody(
        &lab,
        Hook::Stop,
        &stop(&lab, "root"),
        &[
            ("MAESTRO_HOOKS_DIR", &lab.hooks_dir()),
            ("BOOKEND_DATA_DIR", &lab.data_dir()),
        ],
    );
    assert_eq!(picture(&lab.hooks_dir()), before);
}

#[test]
fn a_data_directory_that_is_no_directory_or_another_users_leaves_the_live_state_working() {
    let check = |name: &str, make: &dyn Fn(&Lab)| {
        let lab = Lab::new();
        make(&lab);
        let before = (picture(&lab.data_dir()), picture(&lab.path("victim")));
        for event in [prompt(&lab, "s1"), stop(&lab, "s1")] {
            let hook = if event["hook_event_name"] == "Stop" {
                Hook::Stop
            } else {
                Hook::TurnStart
            };
            lab.call(hook, &event).run().ok();
        }
        assert_eq!(
            (picture(&lab.data_dir()), picture(&lab.path("victim"))),
            before,
            "{name}"
        );
        let state = lab.state("s1");
        assert_eq!(state.n, 2, "{name}");
        assert!(state.turns.open().is_none() && state.turns.count == 1, "{name}");
        assert!(
            state
                .faults
                .iter()
                .any(|f| f.what.as_str().contains("data directory")),
            "{name}"
        );
    };
    check("a file", &|lab| std::fs::write(lab.data_dir(), "mine").unwrap());
    check("a FIFO", &|lab| mkfifo(&lab.data_dir()));
    check("a link", &|lab| {
        mkdir(&lab.path("victim"));
        symlink(lab.path("victim"), lab.data_dir()).unwrap();
    });
    if is_root() {
        check("another user's", &|lab| {
            mkdir(&lab.data_dir());
            std::os::unix::fs::chown(lab.data_dir(), Some(NOBODY), None).unwrap();
        });
    } else {
        println!("SKIPPED: only root can make a directory of another user");
    }
}

#[test]
fn without_a_home_directory_the_live_state_goes_on() {
    for (home, data) in [
        (None, true),
        (Some("relative"), false),
        (Some("/proc/nope"), false),
    ] {
        let lab = Lab::new();
        let call = lab.call(Hook::TurnStart, &prompt(&lab, "s1"));
        let mut command = call.command();
        command.env_remove("HOME");
        if let Some(home) = home {
            command.env("HOME", home);
        }
        if !data {
            command.env_remove("BOOKEND_DATA_DIR");
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        write!(child.stdin.take().unwrap(), "{}", prompt(&lab, "s1")).unwrap();
        ends(child).0.ok();
        assert_eq!(lab.state("s1").n, 1, "{home:?}");
        assert_eq!(picture(&lab.project()).len(), 1, "{home:?}");
    }
}
