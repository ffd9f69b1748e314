//! `demo`: the tour, through the real executables, and nothing left of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::{Answer, Lab};
use crate::talk::copy_program;

/// What the recorded session gives away in a command line.
const SECRET: &str = "d3m0f4c91b7e2a6548c0";

/// A lab whose scratch directories are made where only it makes some.
fn lab() -> Lab {
    let lab = Lab::new();
    std::fs::create_dir(tmp(&lab)).unwrap();
    lab
}

fn tmp(lab: &Lab) -> PathBuf {
    lab.path("tmp").canonicalize().unwrap_or_else(|_| lab.path("tmp"))
}

fn command(lab: &Lab, program: &Path) -> Command {
    let mut command = lab.command(program.to_str().unwrap());
    command.arg("demo").env("TMPDIR", tmp(lab));
    command
}

fn demo(lab: &Lab, arguments: &[&str]) -> Answer {
    let mut command = command(lab, Path::new(env!("CARGO_BIN_EXE_bookend")));
    Answer::of(command.args(arguments).output().unwrap())
}

#[track_caller]
fn nothing_is_left(lab: &Lab) {
    let made = |dir: PathBuf| std::fs::read_dir(dir).map_or(0, Iterator::count);
    assert!(!lab.hooks_dir().exists() && !lab.data_dir().exists());
    assert_eq!(
        (made(lab.path("home")), made(lab.project()), made(lab.path("tmp"))),
        (0, 0, 0)
    );
    let running = processes_in(&tmp(lab));
    assert!(running.is_empty(), "{running:?}");
}

/// The processes that work in a directory or below it.
fn processes_in(dir: &Path) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let places = processes.filter_map(|p| std::fs::read_link(p.path().join("cwd")).ok());
    places.filter(|place| place.starts_with(dir)).collect()
}

#[test]
fn the_tour_shows_what_was_kept_and_what_a_resume_says_and_leaves_nothing() {
    let lab = lab();
    let answer = demo(&lab, &[]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    let said = &answer.stdout;
    let mut rest = said.as_str();
    for part in [
        "SessionStart  startup",
        "session-start, ",
        "tells the model:",
        "UserPromptSubmit  Add a price column to the orders page",
        "PostToolUseFailure  Bash: npm test (Exit code 1)",
        "SubagentStop",
        "RATES_API_KEY=[REDACTED:api-key] node",
        "is killed (SIGKILL)",
        "$ bookend show",
        "no, its host is gone",
        "Todos: 1 of 2 open",
        "in progress  medium    Convert the prices with the day's rates",
        "$ bookend log show",
        "Ran npm test (exit 1)  failed",
        "Ran RATES_API_KEY=[REDACTED:api-key] node",
        "            Resuming: Show the prices in the customer's currency\n            Last action: Edited ",
        "            - [in progress] Convert the prices with the day's rates",
        "            Session log: ClaudeCode-",
        "Next\n  ./install.sh",
    ] {
        let found = rest.split_once(part);
        rest = found
            .unwrap_or_else(|| panic!("{part} comes not, or not in its place: {said}"))
            .1;
    }
    assert!(!said.contains(SECRET), "{said}");
    nothing_is_left(&lab);
}

#[test]
fn as_json_it_is_one_document() {
    let lab = lab();
    let answer = demo(&lab, &["--json"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    assert!(!answer.stdout.contains(SECRET), "{answer:?}");
    let tour = answer.json();
    let steps = tour["steps"].as_array().unwrap();
    for step in steps {
        let times = step["micros"].as_u64().unwrap();
        assert!(times > 0 && step["hook"].is_string() && step["event"].is_string());
    }
    assert_eq!(tour["killedAfter"], steps.len() - 1);
    let brief = tour["brief"].as_str().unwrap();
    assert_eq!(
        brief.lines().next(),
        Some("Resuming: Show the prices in the customer's currency")
    );
    let answered = &steps.last().unwrap()["answered"];
    assert_eq!(answered["hookSpecificOutput"]["additionalContext"], brief);
    assert_eq!(
        (&tour["show"]["live"], &tour["show"]["turn"]["code"]),
        (&Value::from(false), &Value::from("host_gone")),
        "{tour:#}"
    );
    assert_eq!(tour["show"]["uiTodos"]["items"].as_array().unwrap().len(), 2);
    assert_eq!(tour["show"]["faults"], Value::Array(Vec::new()), "{tour:#}");
    let turns = tour["log"]["turns"].as_array().unwrap();
    let stands: Vec<&Value> = turns.iter().map(|t| &t["status"]).collect();
    assert_eq!(stands, ["completed", "failed"], "{tour:#}");
    assert_eq!(tour["kept"], Value::Null);
    nothing_is_left(&lab);
}

#[test]
fn the_users_own_settings_do_not_reach_it() {
    let lab = lab();
    let mut command = command(&lab, Path::new(env!("CARGO_BIN_EXE_bookend")));
    command
        .env("BOOKEND_DISABLE", "1")
        .env("BOOKEND_RESUME", "off")
        .env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let answer = Answer::of(command.output().unwrap());
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    assert!(answer.stdout.contains("            Resuming: "), "{answer:?}");
    nothing_is_left(&lab);
}

#[test]
fn kept_it_can_be_looked_into_with_the_printed_commands() {
    use std::os::unix::fs::PermissionsExt;

    let lab = lab();
    let answer = demo(&lab, &["--keep"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    let kept = std::fs::read_dir(tmp(&lab)).unwrap().next().unwrap().unwrap();
    let mode = kept.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(processes_in(&tmp(&lab)), [] as [PathBuf; 0]);

    let bin = Path::new(env!("CARGO_BIN_EXE_bookend")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let run = |line: &str| {
        let mut shell = lab.command("sh");
        shell.args(["-c", line]).env("PATH", &path);
        let ran = Answer::of(shell.output().unwrap());
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        ran.stdout
    };
    let printed: Vec<&str> = answer
        .stdout
        .lines()
        .map(str::trim)
        .filter(|l| l.starts_with("MAESTRO_HOOKS_DIR="))
        .collect();
    assert_eq!(printed.len(), 4, "{answer:?}");
    for (line, part) in
        printed
            .into_iter()
            .zip(["b84e2d17", "Todos: 1 of 2 open", "SubagentStop", "npm test"])
    {
        let said = run(line);
        assert!(said.contains(part) && !said.contains(SECRET), "{line}: {said}");
    }
    let remove = answer.stdout.lines().find(|l| l.trim().starts_with("rm -r "));
    run(remove.unwrap());
    nothing_is_left(&lab);
}

#[test]
fn without_the_hooks_beside_it_says_what_to_do() {
    let lab = lab();
    let alone = lab.path("alone");
    std::fs::create_dir(&alone).unwrap();
    let own = alone.join("bookend");
    copy_program(env!("CARGO_BIN_EXE_bookend"), &own);
    let run = || Answer::of(command(&lab, &own).output().unwrap());
    let complaint = |answer: &Answer| {
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(1), ""), "{answer:?}");
        assert_eq!(answer.stderr.lines().count(), 1, "{answer:?}");
        nothing_is_left(&lab);
    };
    let answer = run();
    complaint(&answer);
    for part in [
        "session-start, turn-start, pre-delegation, post-tool, stop",
        "./install.sh",
    ] {
        assert!(answer.stderr.contains(part), "{part}: {answer:?}");
    }

    // Programs of these names that are no hooks.
    for (program, says) in [
        ("false", "it ended with exit status: 1"),
        ("true", "kept nothing of it"),
    ] {
        for hook in [
            "session-start",
            "turn-start",
            "pre-delegation",
            "post-tool",
            "stop",
        ] {
            copy_program(&format!("/bin/{program}"), &alone.join(hook));
        }
        let answer = run();
        complaint(&answer);
        assert!(
            answer.stderr.contains(says) && answer.stderr.contains("./install.sh"),
            "{answer:?}"
        );
    }
    let answer = Answer::of(command(&lab, &own).arg("--keep").output().unwrap());
    let warning = format!("so far is kept in {}/bookend-demo-", tmp(&lab).display());
    assert_eq!(answer.code, Some(1));
    assert!(answer.stderr.contains(&warning), "{answer:?}");
}

#[test]
fn a_closed_pipe_leaves_neither_a_process_nor_a_directory() {
    let lab = lab();
    let bookend = env!("CARGO_BIN_EXE_bookend");
    for pipe in [
        "demo | head -1",
        "demo --json | head -1",
        "demo | true",
        "demo --json | true",
    ] {
        let line = format!("\"{bookend}\" {pipe}; exit ${{PIPESTATUS[0]}}");
        let mut bash = lab.command("bash");
        bash.args(["-c", &line]).env("TMPDIR", tmp(&lab));
        let answer = Answer::of(bash.output().unwrap());
        assert_eq!(
            (answer.code, answer.stderr.as_str()),
            (Some(0), ""),
            "{pipe}: {answer:?}"
        );
        nothing_is_left(&lab);
    }
}
