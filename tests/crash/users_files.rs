//! What belongs to the user: settings are old or new after a kill or a refusal anywhere, never half; what is
//! registered is there; the next run completes; and their bytes are on the disk before their name is.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use bookend::hook::Hook;

use super::command::{Command, completes, kill_each, refuse_each, run, trace};
use super::strace::{Snapshot, can_trace, one_sweep};
use crate::harness::Lab;

/// The user's files below HOME, as somebody may have written them.
const USERS: [(&str, &str); 3] = [
    (
        ".claude/settings.json",
        "{\n    \"model\": \"opus\",\n    \"hooks\": {\"Stop\": [\n        {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n    ]},\n    \"env\": {}\n}\n",
    ),
    (".codex/hooks.json", "{\"hooks\": {}}"),
    (".codex/config.toml", "# mine\nmodel = \"o9\"   # the good one\n"),
];

fn make(path: &Path, text: &str, mode: u32) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Two hosts of which only the settings are here, and executables of an older version.
fn hosts_without_programs(lab: &Lab) {
    for (name, text) in USERS {
        make(&lab.path("home").join(name), text, 0o640);
    }
    let built = lab.path("built");
    for hook in Hook::ALL {
        make(&built.join(hook.name()), "#!/bin/sh\n# new\n", 0o755);
        make(
            &lab.data_dir().join("bin").join(hook.name()),
            "#!/bin/sh\n# old\n",
            0o755,
        );
    }
    std::fs::set_permissions(lab.data_dir(), std::fs::Permissions::from_mode(0o700)).unwrap();
    // The command itself is large: it is there already.
    let command = built.join("bookend");
    if std::fs::hard_link(env!("CARGO_BIN_EXE_bookend"), &command).is_err() {
        std::fs::copy(env!("CARGO_BIN_EXE_bookend"), &command).unwrap();
    }
    symlink(command, lab.data_dir().join("bin/bookend")).unwrap();
}

fn installed(lab: &Lab) {
    hosts_without_programs(lab);
    completes(lab, &INSTALL, "before");
}

const INSTALL: Command = Command {
    name: "install",
    prepare: hosts_without_programs,
    arguments: &["install"],
    holds: |lab, before, command, place| {
        let found = users_files(lab);
        assert_registered_is_there(lab, place);
        completes(lab, command, place);
        assert_old_or_new(lab, before, &found, place);
        assert_eq!(names(&lab.path("home")), names_of_users(true), "{place}");
        let bin = lab.data_dir().join("bin");
        for hook in Hook::ALL {
            let text = std::fs::read_to_string(bin.join(hook.name())).unwrap();
            assert_eq!(text, "#!/bin/sh\n# new\n", "{place}: {}", hook.name());
        }
        assert_eq!(names(&bin).len(), 6, "{place}: {:?}", names(&bin));
        completes(lab, &UNINSTALL, place);
        assert_as_the_user_left_it(lab, place);
    },
};

/// Stopped, and then the user wants none of it any more.
const GIVEN_UP: Command = Command {
    name: "install, then uninstall",
    holds: |lab, _, _, place| {
        completes(lab, &UNINSTALL, place);
        assert_as_the_user_left_it(lab, place);
    },
    ..INSTALL
};

const UNINSTALL: Command = Command {
    name: "uninstall",
    prepare: installed,
    arguments: &["uninstall"],
    holds: |lab, before, command, place| {
        let found = users_files(lab);
        assert_registered_is_there(lab, place);
        completes(lab, command, place);
        assert_old_or_new(lab, before, &found, place);
        assert_as_the_user_left_it(lab, place);
    },
};

const MEND: Command = Command {
    name: "doctor --fix",
    prepare: |lab| {
        installed(lab);
        // An entry is gone from the settings, and the stores are open to others.
        let settings = lab.path("home/.claude/settings.json");
        let text = std::fs::read_to_string(&settings).unwrap();
        make(&settings, &text.replace("/bin/post-tool", "/bin/no-tool"), 0o640);
        lab.prompt("p1", "First");
        for place in ["data/log", "data/open", "hooks/s1"] {
            std::fs::set_permissions(lab.path(place), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    },
    arguments: &["doctor", "--fix"],
    holds: |lab, before, command, place| {
        let found = users_files(lab);
        assert_registered_is_there(lab, place);
        run(lab, command, &[]);
        assert_old_or_new(lab, before, &found, place);
        assert_eq!(names(&lab.path("home")), names_of_users(true), "{place}");
        for place in ["data/log", "data/open", "hooks/s1"] {
            let mode = lab.path(place).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{place}");
        }
        let text = std::fs::read_to_string(lab.path("home/.claude/settings.json")).unwrap();
        assert!(text.contains("/bin/post-tool"), "{place}: not mended: {text}");
        lab.stop("p1", "Done.");
        assert_eq!(lab.log_of("s1").turns[0].status, "completed", "{place}");
    },
};

/// What the user's files hold, with their modes.
fn users_files(lab: &Lab) -> BTreeMap<PathBuf, (String, u32)> {
    let all = USERS.iter().map(|(name, _)| lab.path("home").join(name));
    all.filter(|path| path.exists())
        .map(|path| {
            let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
            (path.clone(), (std::fs::read_to_string(&path).unwrap(), mode))
        })
        .collect()
}

/// Each file was what it had been, or what it is now.
fn assert_old_or_new(lab: &Lab, before: &Snapshot, found: &BTreeMap<PathBuf, (String, u32)>, place: &str) {
    let now = users_files(lab);
    assert_eq!(found.len(), USERS.len(), "{place}: a file is gone: {found:?}");
    for (path, (text, mode)) in found {
        let was = before.file(path).unwrap();
        assert!(
            text.as_bytes() == was || *text == now[path].0,
            "{place}: neither old nor new: {}: {text}",
            path.display()
        );
        assert_eq!(
            (*mode, now[path].1),
            (0o640, 0o640),
            "{place}: {}",
            path.display()
        );
    }
}

/// No host is told to run something that is not there.
fn assert_registered_is_there(lab: &Lab, place: &str) {
    let bin = format!("{}/", lab.data_dir().join("bin").display());
    for (path, (text, _)) in users_files(lab) {
        for named in text.split(&bin).skip(1) {
            let name: String = named
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '-')
                .collect();
            let is_there = lab.data_dir().join("bin").join(&name).exists() || name == "no-tool";
            assert!(is_there, "{place}: {} names {name}", path.display());
        }
    }
}

/// Nothing of ours is left, and the user's files are theirs to the byte.
fn assert_as_the_user_left_it(lab: &Lab, place: &str) {
    for (name, text) in USERS {
        let now = std::fs::read_to_string(lab.path("home").join(name)).unwrap();
        assert_eq!(now, text, "{place}: {name}");
    }
    assert_eq!(names(&lab.path("home")), names_of_users(false), "{place}");
    assert_eq!(names(&lab.data_dir()), Vec::<String>::new(), "{place}");
}

/// The names of all files below a directory.
fn names(dir: &Path) -> Vec<String> {
    let below = walkdir::WalkDir::new(dir).into_iter().filter_map(Result::ok);
    let files = below.filter(|entry| !entry.file_type().is_dir());
    let mut names: Vec<String> = files
        .map(|entry| entry.path().strip_prefix(dir).unwrap().display().to_string())
        .collect();
    names.sort();
    names
}

fn names_of_users(with_link: bool) -> Vec<String> {
    let link = with_link.then_some(".local/bin/bookend");
    let mut names: Vec<String> = USERS
        .iter()
        .map(|(name, _)| *name)
        .chain(link)
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

#[test]
fn an_installation_killed_at_any_system_call_leaves_settings_old_or_new_and_the_next_run_completes() {
    let _one = one_sweep();
    if can_trace() {
        assert_eq!(
            kill_each(&[INSTALL, GIVEN_UP, UNINSTALL, MEND]),
            0,
            "kill points that did harm"
        );
    }
}

#[test]
fn an_installation_that_is_refused_any_call_leaves_settings_old_or_new_and_the_next_run_completes() {
    let _one = one_sweep();
    if can_trace() {
        assert_eq!(
            refuse_each(&[INSTALL, UNINSTALL, MEND]),
            0,
            "errors that did harm"
        );
    }
}

#[test]
fn settings_are_on_the_disk_before_they_have_their_name_and_the_name_after() {
    let _one = one_sweep();
    if !can_trace() {
        return;
    }
    for command in [INSTALL, UNINSTALL] {
        let lab = Lab::new();
        (command.prepare)(&lab);
        let (lines, _) = trace(&lab, &command);
        let settings = lab.path("home/.claude/settings.json");
        let dir = settings.parent().unwrap().display().to_string();
        let place = |call: &str, on: &str| {
            let is = |line: &String| line.starts_with(&format!("{call}(")) && line.contains(on);
            lines
                .iter()
                .position(is)
                .unwrap_or_else(|| panic!("{call} on {on}: {lines:#?}"))
        };
        let temp = format!("{dir}/.settings.json.bookend");
        let written = place("write", &temp);
        let synced = place("fdatasync", &temp);
        let renamed = place("renameat", "\".settings.json.bookend");
        let named = place("fsync", &format!("<{dir}>"));
        assert!(
            written < synced && synced < renamed && renamed < named,
            "{}: {lines:#?}",
            command.name
        );
        // Nobody ever writes into the file itself.
        let into = format!("{}>", settings.display());
        let is_write = |line: &&String| line.starts_with("write") && line.contains(&into);
        assert_eq!(lines.iter().find(is_write), None, "{}", command.name);
    }
}
