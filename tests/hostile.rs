//! A hostile machine: roots and directories that are not what they should be, ids that are paths, streams
//! that are closed, held or endless, signals. Nothing is written outside, nothing hangs, the host goes on.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bookend::hook::Hook;
use bookend::live::key::SessionKey;
use bookend::live::root::HookRoot;
use bookend::live::session;
use bookend::live::state::State;
use serde_json::{Value, json};

use crate::harness::{Answer, Lab, executable, payload, with};

/// Nothing takes this long unless it hangs.
const HANG: Duration = Duration::from_secs(5);
/// Another user than root and than whoever runs the tests.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn prompt(lab: &Lab, session: &str) -> Value {
    json!({"session_id": session, "prompt_id": "p1", "cwd": lab.project(), "prompt": "Hello",
           "hook_event_name": "UserPromptSubmit", "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl"})
}

fn stop(lab: &Lab, session: &str) -> Value {
    json!({"session_id": session, "prompt_id": "p1", "cwd": lab.project(), "stop_hook_active": false,
           "last_assistant_message": "Done.", "hook_event_name": "Stop", "background_tasks": [],
           "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl"})
}

fn mkdir(path: &Path) {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .unwrap();
}

fn mkfifo(path: &Path) {
    let done = Command::new("mkfifo")
        .arg("-m")
        .arg("600")
        .arg(path)
        .status()
        .unwrap();
    assert!(done.success());
}

/// Everything below a directory: names, kinds, contents, times. Links are not followed.
fn picture(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in walkdir::WalkDir::new(dir).into_iter().filter_map(Result::ok) {
        let meta = entry.metadata().unwrap();
        let content = if meta.is_file() {
            std::fs::read(entry.path()).unwrap_or_default()
        } else {
            Vec::new()
        };
        let text = format!("{:o} {} {} {:?}", meta.mode(), meta.uid(), meta.mtime(), content);
        all.insert(entry.path().to_owned(), text);
    }
    all
}

/// The folded state of a session in a root that may be the fallback.
fn state_in(root: &Path, session: &str) -> State {
    let root = HookRoot::existing(root).unwrap().expect("a hook root");
    let key = SessionKey::of(session).unwrap();
    let dir = root
        .dir()
        .sub(key.as_str())
        .unwrap()
        .expect("a session directory");
    session::fold(&dir).unwrap().state
}

/// All faults that anybody could be told.
fn told(lab: &Lab, root: &Path, session: &str) -> Vec<String> {
    let live = state_in(root, session).faults.into_iter();
    let noted = if lab.data_dir().is_dir() {
        lab.faults()
    } else {
        Vec::new()
    };
    live.chain(noted).map(|f| f.what.as_str().to_owned()).collect()
}

/// Waits for a child without hanging with it.
#[track_caller]
fn ends(mut child: Child) -> (Answer, Duration) {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > HANG {
            child.kill().unwrap();
            panic!("it hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let took = began.elapsed();
    (Answer::of(child.wait_with_output().unwrap()), took)
}

/// The hook with pipes, and its stdin in our hands.
fn spawn(lab: &Lab, hook: Hook) -> (Child, std::process::ChildStdin) {
    let mut child = lab
        .command(executable(hook))
        .args(["--host", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    (child, stdin)
}

/// The hook under a shell that prepares its streams; `$0` is the executable.
fn shell(lab: &Lab, script: &str, hook: Hook, input: &Value) -> Answer {
    let file = lab.path("input.json");
    std::fs::write(&file, input.to_string()).unwrap();
    let child = lab
        .command("sh")
        .args(["-c", script, executable(hook)])
        .stdin(File::open(file).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    ends(child).0
}

// ---- roots ----

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

#[test]
fn read_only_stores_let_the_other_one_go_on() {
    if !is_root() {
        println!("SKIPPED: only root can run a hook as another user");
        return;
    }
    let lab = Lab::new();
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

// ---- what stands in the directories ----

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

// ---- ids ----

#[test]
fn an_id_is_never_a_path() {
    let long = "x".repeat(4096);
    let ids = [
        "../../etc",
        "..",
        ".",
        "/",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "..\\..\\x",
        "a\nb",
        "a\0b",
        "\0",
        " ",
        "\t",
        ".hidden",
        ".dead-s1",
        ".bookend",
        ".prune",
        "a.b",
        "state.json",
        "CON",
        "nul",
        "COM1.txt",
        "aux",
        "-rf",
        "--host",
        "$(touch x)",
        "`id`",
        "é",
        "\u{202E}gnp",
        "\u{FEFF}",
        "%2e%2e%2f",
        &long,
    ];
    let lab = Lab::new();
    // Deep inside, so that a path that climbs out of it is still within the lab.
    let (hooks, data) = (lab.path("a/b/c/hooks"), lab.path("d/e/f/data"));
    let set = |p: &Path| p.to_string_lossy().into_owned();
    for id in ids {
        for field in ["session_id", "prompt_id", "agent_id", "tool_use_id"] {
            let mut event = with(
                prompt(&lab, "plain"),
                json!({"hook_event_name": "SubagentStart", "agent_id": "a"}),
            );
            event[field] = json!(id);
            for (hook, name) in [
                (Hook::PreDelegation, "SubagentStart"),
                (Hook::Stop, "Stop"),
                (Hook::TurnStart, "UserPromptSubmit"),
            ] {
                event["hook_event_name"] = json!(name);
                lab.call(hook, &event)
                    .env("MAESTRO_HOOKS_DIR", &set(&hooks))
                    .env("BOOKEND_DATA_DIR", &set(&data))
                    .run()
                    .ok();
            }
        }
    }
    for id in [
        json!(7),
        json!(-1),
        json!(1.5),
        json!(true),
        json!(["s"]),
        json!({"s": 1}),
        json!(null),
        json!(""),
    ] {
        let answer = lab
            .call(
                Hook::TurnStart,
                &with(prompt(&lab, "x"), json!({"session_id": null})),
            )
            .raw(
                prompt(&lab, "@@")
                    .to_string()
                    .replace("\"@@\"", &id.to_string())
                    .as_bytes(),
            )
            .env("MAESTRO_HOOKS_DIR", &set(&hooks))
            .env("BOOKEND_DATA_DIR", &set(&data))
            .run()
            .ok();
        assert_eq!(answer.stdout, "", "{id}");
    }
    // Every directory is a key, every file a known name, and nothing stands anywhere else.
    for entry in std::fs::read_dir(&hooks).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if name == ".bookend" {
            continue;
        }
        assert!(SessionKey::from_name(&name).is_some(), "{name}");
        for file in std::fs::read_dir(entry.path()).unwrap().map(Result::unwrap) {
            assert!(
                session::is_known(file.file_name().to_str().unwrap()),
                "{:?}",
                file.path()
            );
        }
    }
    let mut names: Vec<_> = std::fs::read_dir(lab.path(""))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["a", "d", "home", "project"]);
    for (dir, only) in [
        ("a", "b"),
        ("a/b", "c"),
        ("a/b/c", "hooks"),
        ("d", "e"),
        ("d/e", "f"),
        ("d/e/f", "data"),
    ] {
        let inside: Vec<_> = std::fs::read_dir(lab.path(dir))
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(inside, [only]);
    }
    assert_eq!(picture(&lab.project()).len(), 1);
}

#[test]
fn long_ids_with_one_beginning_are_two_sessions_also_in_the_log() {
    let lab = Lab::new();
    let ids = ["a", "b"].map(|end| format!("{}{end}", "long/id/".repeat(60)));
    for id in &ids {
        lab.call(Hook::TurnStart, &prompt(&lab, id)).run().ok();
    }
    for id in &ids {
        assert_eq!(lab.state(id).turns.count, 1);
    }
    assert_eq!(lab.log_ids().len(), 2);
}

// ---- streams ----

#[test]
fn a_stdin_that_is_never_closed_is_not_waited_for() {
    let lab = Lab::new();
    lab.prompt("p0", "Before");
    let mut quickest = HANG;
    for _ in 0..8 {
        let (child, mut stdin) = spawn(&lab, Hook::Stop);
        stdin.write_all(stop(&lab, "s1").to_string().as_bytes()).unwrap();
        let (answer, took) = ends(child);
        drop(stdin);
        answer.ok();
        quickest = quickest.min(took);
    }
    println!("answered after {quickest:?} with stdin held open");
    assert!(
        quickest < Duration::from_millis(250),
        "a silence was waited for: {quickest:?}"
    );
    assert!(lab.state("s1").events.contains_key("Stop"));
}

#[test]
fn half_a_payload_and_then_silence_or_drops_of_it_end_soon() {
    let lab = Lab::new();
    let text = stop(&lab, "s1").to_string();
    for first in [
        text.get(..text.len() / 2).unwrap(),
        "",
        "{",
        "null",
        "\"x",
        " ",
        "\u{FEFF}",
    ] {
        let (child, mut stdin) = spawn(&lab, Hook::Stop);
        stdin.write_all(first.as_bytes()).unwrap();
        let (answer, took) = ends(child);
        assert_eq!(answer.ok().stdout, "", "{first:?}");
        assert!(took < Duration::from_secs(3), "{took:?}");
        drop(stdin);
    }
    // A host that sends a byte now and then: the hook's own deadline counts, not the pauses.
    let (child, mut stdin) = spawn(&lab, Hook::Stop);
    let began = Instant::now();
    let drops = std::thread::spawn(move || {
        for byte in text.bytes().cycle().take(400) {
            if byte != b'}' && stdin.write_all(&[byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let (answer, _) = ends(child);
    answer.ok();
    println!("drops of a payload were read for {:?}", began.elapsed());
    drops.join().unwrap();
}

#[test]
fn streams_that_are_closed_empty_or_a_terminal_do_no_harm() {
    let lab = Lab::new();
    let event = prompt(&lab, "s1");
    for hook in Hook::ALL {
        for script in [
            r#"exec "$0" --host claude-code <&-"#,
            r#"exec "$0" --host claude-code </dev/null"#,
            r#"exec "$0" --host claude-code <&- >&- 2>&-"#,
            r#"exec "$0" --host claude-code </"#,
            r#"head -c 300000 /dev/urandom | "$0" --host claude-code"#,
            r#"exec "$0" --host claude-code 0>/dev/null"#,
        ] {
            let answer = shell(&lab, script, hook, &event).ok();
            assert_eq!(answer.stdout, "", "{script}");
        }
    }
    shell(
        &lab,
        r#"exec "$0" --host claude-code </dev/zero"#,
        Hook::Stop,
        &event,
    )
    .ok();
    let live = lab.root().map_or(0, |r| r.dir().entries().unwrap().len());
    assert_eq!(live, 0, "no event came in");
    assert!(
        lab.faults()
            .iter()
            .all(|f| f.what.as_str().starts_with("read the payload"))
    );
    let start = json!({"session_id": "s1", "cwd": lab.project(), "hook_event_name": "SessionStart", "source": "startup",
                       "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl"});
    for (i, script) in [
        r#"exec "$0" --host claude-code >&-"#,
        r#"exec "$0" --host claude-code >/dev/full"#,
        r#"exec "$0" --host claude-code 2>&-"#,
        r#"exec "$0" --host claude-code </dev/stdin 1</dev/null"#,
    ]
    .iter()
    .enumerate()
    {
        let code = shell(&lab, script, Hook::SessionStart, &start).code;
        assert_eq!(code, Some(0), "{script}");
        assert_eq!(
            lab.state("s1").events["SessionStart"].count,
            i as u64 + 1,
            "{script}"
        );
    }
    let tty = lab
        .command("script")
        .args([
            "-qec",
            &format!("'{}' --host claude-code", executable(Hook::Stop)),
            "/dev/null",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    match tty {
        Ok(child) => assert_eq!(ends(child).0.ok().stdout, ""),
        Err(e) => println!("SKIPPED: no `script` for a terminal: {e}"),
    }
}

#[test]
fn a_reader_that_is_gone_is_the_hosts_affair() {
    let lab = Lab::new();
    let (mut child, mut stdin) = spawn(&lab, Hook::SessionStart);
    drop(child.stdout.take());
    let start = with(
        prompt(&lab, "s1"),
        json!({"hook_event_name": "SessionStart", "source": "startup"}),
    );
    write!(stdin, "{start}").unwrap();
    drop(stdin);
    let (answer, _) = ends(child);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    assert_eq!(lab.state("s1").n, 1);
}

#[test]
fn large_payloads_need_bounded_memory_and_break_no_pipe() {
    let lab = Lab::new();
    // (MiB, where, address space in KiB)
    for (i, (mib, field, limit)) in [
        (1, "prompt", 64 * 1024),
        (8, "junk", 128 * 1024),
        (60, "prompt", 512 * 1024),
        (63, "junk", 512 * 1024),
        (66, "prompt", 512 * 1024),
        (90, "junk", 512 * 1024),
    ]
    .into_iter()
    .enumerate()
    {
        let s = format!("s{i}");
        let mut event = prompt(&lab, &s);
        event[field] = json!("word & ".repeat(mib * 1024 * 1024 / 7));
        let bytes = event.to_string().into_bytes();
        let mut child = lab
            .command("sh")
            .args([
                "-c",
                &format!("ulimit -v {limit}; exec \"$0\" --host claude-code"),
                executable(Hook::TurnStart),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let began = Instant::now();
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let output = child.wait_with_output().unwrap();
        println!("{mib} MiB in {field}: {:?}", began.elapsed());
        let answer = Answer::of(output);
        assert_eq!(
            (answer.code, answer.stderr.as_str()),
            (Some(0), ""),
            "{mib} MiB in {field}"
        );
        writer
            .join()
            .unwrap()
            .unwrap_or_else(|e| panic!("{mib} MiB in {field}: {e}"));
        if mib < 64 {
            assert_eq!(lab.state(&s).turns.count, 1, "{mib} MiB in {field}");
        }
    }
}

#[test]
fn a_hook_that_is_told_to_end_in_the_middle_leaves_everything_whole() {
    let lab = Lab::new();
    lab.prompt("p1", "First");
    let text = stop(&lab, "s1").to_string();
    let lock = File::open(lab.hooks_dir().join("s1")).unwrap();
    for wait in 0..12 {
        let (child, mut stdin) = spawn(&lab, Hook::Stop);
        // While it reads, and while it waits for a lock.
        let held = wait % 2 == 1;
        if held {
            lock.lock().unwrap();
            stdin.write_all(text.as_bytes()).unwrap();
        } else {
            stdin.write_all(&text.as_bytes()[..40]).unwrap();
        }
        std::thread::sleep(Duration::from_millis(5 * wait));
        let pid = child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
        let (answer, _) = ends(child);
        assert!(matches!(answer.code, None | Some(0)), "{answer:?}");
        assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""));
        if held {
            lock.unlock().unwrap();
        }
    }
    lab.write("p1", "call-1", "/p/x.rs");
    lab.stop("p1", "Done.");
    let log = lab.log_of("s1");
    assert_eq!((log.turns.len(), log.turns[0].status), (1, "completed"));
    assert!(log.problems.is_empty() && lab.open_entries().is_empty());
}

// ---- the rest of the machine ----

#[test]
fn a_working_directory_that_is_gone_is_not_needed() {
    let lab = Lab::new();
    let gone = lab.path("gone");
    let event = with(prompt(&lab, "s1"), json!({"cwd": gone}));
    let script = format!(
        "mkdir '{0}' && cd '{0}' && rmdir '{0}' && exec \"$0\" --host claude-code",
        gone.display()
    );
    shell(&lab, &script, Hook::TurnStart, &event).ok();
    assert_eq!(lab.state("s1").turns.count, 1);
    assert!(!gone.exists());
    assert_eq!(lab.log_of("s1").turns.len(), 1);
}

#[test]
fn disabled_is_disabled() {
    let lab = Lab::new();
    for hook in Hook::ALL {
        for event in [prompt(&lab, "s1"), stop(&lab, "s1")] {
            let answer = lab.call(hook, &event).env("BOOKEND_DISABLE", "1").run().ok();
            assert_eq!(answer.stdout, "");
        }
        lab.call(hook, &Value::Null)
            .raw(b"{no json")
            .env("BOOKEND_DISABLE", "1")
            .run()
            .ok();
    }
    assert!(!lab.hooks_dir().exists() && !lab.data_dir().exists());
}

#[test]
fn files_are_for_their_owner_alone_under_any_umask() {
    let lab = Lab::new();
    for (hook, event) in [
        (
            Hook::SessionStart,
            with(
                prompt(&lab, "s1"),
                json!({"hook_event_name": "SessionStart", "source": "startup"}),
            ),
        ),
        (Hook::TurnStart, prompt(&lab, "s1")),
        (
            Hook::PreDelegation,
            with(
                prompt(&lab, "s1"),
                json!({"hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": "explorer"}),
            ),
        ),
        (Hook::Stop, json!({"no": "event"})),
        (Hook::Stop, stop(&lab, "s2")),
    ] {
        shell(&lab, r#"umask 0; exec "$0" --host claude-code"#, hook, &event).ok();
    }
    shell(
        &lab,
        r#"umask 0; echo '{bad' | "$0" --host claude-code"#,
        Hook::Stop,
        &json!(0),
    )
    .ok();
    let held = File::open(lab.hooks_dir().join("s1")).unwrap();
    held.lock().unwrap();
    shell(
        &lab,
        r#"umask 0; exec "$0" --host claude-code"#,
        Hook::TurnStart,
        &with(prompt(&lab, "s1"), json!({"prompt_id": "p2"})),
    )
    .ok();
    drop(held);
    let mut seen = 0;
    for root in [lab.hooks_dir(), lab.data_dir()] {
        for entry in walkdir::WalkDir::new(root).into_iter().map(Result::unwrap) {
            let expected = if entry.file_type().is_dir() { 0o700 } else { 0o600 };
            let mode = entry.metadata().unwrap().mode() & 0o7777;
            assert_eq!(mode, expected, "{}", entry.path().display());
            seen += 1;
        }
    }
    let pending = std::fs::read_dir(lab.hooks_dir().join("s1")).unwrap();
    assert!(
        pending
            .map(|e| e.unwrap().file_name())
            .any(|n| n.to_string_lossy().starts_with("pending-"))
    );
    assert!(
        seen > 15 && lab.data_dir().join("errors.jsonl").exists(),
        "{seen}"
    );
}

/// Key number `n`, of a family that every scanner knows.
fn key(n: usize) -> String {
    let tail: String = format!("{n:04}")
        .bytes()
        .chain(*b"Zk3VxQ8rT1mW6yB9cN4dF7gH2jL5pS0a")
        .map(char::from)
        .collect();
    match n % 3 {
        0 => format!("ghp_{tail}"),
        1 => format!("sk-ant-api03-{tail}{tail}{tail}"),
        _ => format!("AKIA{}", tail.to_uppercase().get(..16).unwrap()),
    }
}

/// Plants a key in every string of a value; how many.
fn plant(value: &mut Value, skip: &[&str], planted: &mut Vec<String>) {
    match value {
        Value::String(s) => {
            let key = key(planted.len());
            // Alone, and in the middle of what was there.
            *s = if planted.len().is_multiple_of(2) || s.is_empty() {
                key.clone()
            } else {
                format!("{s} {key} {s}")
            };
            planted.push(key);
        }
        Value::Array(items) => items.iter_mut().for_each(|v| plant(v, skip, planted)),
        Value::Object(map) => {
            for (_, v) in map.iter_mut().filter(|(k, _)| !skip.contains(&k.as_str())) {
                plant(v, skip, planted);
            }
        }
        _ => {}
    }
}

#[test]
fn no_planted_key_is_in_any_file_nor_in_a_files_name() {
    let mut total = 0;
    for (hook, name) in [
        (Hook::SessionStart, "claude-code/SessionStart-resume"),
        (Hook::TurnStart, "claude-code/UserPromptSubmit"),
        (Hook::PreDelegation, "claude-code/PreToolUse-agent"),
        (Hook::PreDelegation, "claude-code/SubagentStart"),
        (Hook::PostTool, "claude-code/PostToolUse-bash"),
        (Hook::PostTool, "claude-code/PostToolUse-write"),
        (Hook::PostTool, "claude-code/PostToolUse-taskcreate"),
        (Hook::PostTool, "claude-code/PostToolUseFailure-bash-429"),
        (Hook::Stop, "claude-code/Stop"),
        (Hook::Stop, "claude-code/StopFailure-rate_limit"),
        (Hook::Stop, "claude-code/SubagentStop"),
        (Hook::Stop, "claude-code/SessionEnd"),
        (Hook::TurnStart, "codex/UserPromptSubmit"),
        (Hook::PostTool, "codex/PostToolUse-apply_patch"),
        (Hook::Stop, "codex/Stop"),
        (Hook::TurnStart, "gemini-cli/BeforeAgent"),
        (Hook::PostTool, "gemini-cli/AfterTool-write_file"),
        (Hook::PostTool, "gemini-cli/AfterTool-write_todos"),
        (Hook::Stop, "gemini-cli/AfterAgent"),
    ] {
        for skip in [
            &["hook_event_name", "tool_name", "session_id"][..],
            &["hook_event_name", "tool_name"],
            &["hook_event_name"],
        ] {
            for held in [false, true] {
                let lab = Lab::new();
                let host = name.split('/').next().unwrap();
                let mut event = payload(name);
                let mut planted = Vec::new();
                plant(&mut event, skip, &mut planted);
                let session = event["session_id"].as_str().unwrap().to_owned();
                // Also through the file of an event that waits.
                let dir = lab.hooks_dir().join(SessionKey::of(&session).unwrap().as_str());
                let lock = held.then(|| {
                    mkdir(&dir);
                    std::fs::set_permissions(lab.hooks_dir(), Permissions::from_mode(0o700)).unwrap();
                    let lock = File::open(&dir).unwrap();
                    lock.lock().unwrap();
                    lock
                });
                if held && skip.len() != 3 {
                    continue;
                }
                lab.call(hook, &event).host(host).run().ok();
                drop(lock);
                total += planted.len();
                let mut files = 0;
                for root in [lab.hooks_dir(), lab.data_dir()] {
                    for entry in walkdir::WalkDir::new(root).into_iter().filter_map(Result::ok) {
                        let mut text = entry.path().to_string_lossy().into_owned();
                        if entry.file_type().is_file() {
                            files += 1;
                            let mut bytes = Vec::new();
                            File::open(entry.path()).unwrap().read_to_end(&mut bytes).unwrap();
                            text.push_str(&String::from_utf8_lossy(&bytes));
                        }
                        for key in &planted {
                            assert!(!text.contains(key.as_str()), "{name}: {key} in {text}");
                            assert!(
                                !text.contains(key.get(8..).unwrap()),
                                "{name}: a part of {key} in {text}"
                            );
                        }
                    }
                }
                assert!(files > 0 || skip.len() == 1, "{name}: nothing was written");
            }
        }
    }
    assert!(total > 500, "{total}");
}
