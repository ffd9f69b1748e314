//! `doctor`: what is planted in stores that real hooks made is found, with its remedy; a look changes
//! nothing; `--fix` mends what is ours and nothing else.

mod agent_files;
mod files;
mod fix;
mod places;

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Answer, Lab};

/// A lab in which a session has had a whole turn.
fn used() -> Lab {
    let lab = Lab::new();
    lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
    lab.prompt("p1", "Work");
    lab.shell("p1", "t1", "make");
    lab.stop("p1", "Done.");
    lab
}

/// Doctor on a machine without any host: what it finds in those is tested apart.
fn doctor(lab: &Lab, arguments: &[&str]) -> Command {
    let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
    command
        .arg("doctor")
        .args(arguments)
        .env("PATH", lab.path("home"));
    command
}

/// What it says, with its exit code; nothing on stderr.
#[track_caller]
fn said(lab: &Lab, arguments: &[&str]) -> (Option<i32>, String) {
    let answer = Answer::of(doctor(lab, arguments).output().unwrap());
    assert_eq!(answer.stderr, "", "{answer:?}");
    (answer.code, answer.stdout)
}

/// Its report, without what it says of the hosts.
#[track_caller]
fn report_of(text: &str) -> Value {
    let mut report: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let findings = report["findings"].as_array_mut().unwrap();
    findings.retain(|f| f["code"] != "no-host");
    report
}

/// What doctor finds: exit code 1 if and only if something needs doing, nothing on stderr.
#[track_caller]
fn found(lab: &Lab, env: &[(&str, &str)]) -> Value {
    let mut command = doctor(lab, &["--json"]);
    let answer = Answer::of(command.envs(env.iter().copied()).output().unwrap());
    let report = report_of(&answer.stdout);
    let problems = of_level(&report, "problem");
    assert_eq!(
        (answer.code, answer.stderr.as_str(), report["ok"] == true),
        (Some(i32::from(problems > 0)), "", problems == 0),
        "{answer:?}"
    );
    report
}

fn of_level(report: &Value, level: &str) -> usize {
    let all = report["findings"].as_array().unwrap();
    all.iter().filter(|f| f["level"] == level).count()
}

/// The one finding of that kind; it says what to do.
#[track_caller]
fn one(report: &Value, code: &str) -> Value {
    let all = report["findings"].as_array().unwrap();
    let of_code: Vec<&Value> = all.iter().filter(|f| f["code"] == code).collect();
    assert_eq!(of_code.len(), 1, "{code}: {report:#}");
    let finding = of_code[0].clone();
    for part in ["what", "remedy"] {
        let text = finding[part].as_str().unwrap();
        assert!(text.ends_with('.') && text.len() > 5, "{part}: {finding:#}");
    }
    finding
}

/// The codes of all findings of a level.
fn codes(report: &Value, level: &str) -> Vec<String> {
    let all = report["findings"].as_array().unwrap();
    let of_level = all.iter().filter(|f| f["level"] == level);
    of_level.map(|f| f["code"].as_str().unwrap().to_owned()).collect()
}

/// Everything below a directory: names, kinds, modes, times, contents.
fn picture(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in walkdir::WalkDir::new(dir).into_iter().filter_map(Result::ok) {
        let meta = entry.metadata().unwrap();
        let content = if meta.is_file() {
            std::fs::read(entry.path()).unwrap_or_default()
        } else {
            Vec::new()
        };
        let text = format!("{:o} {:?} {content:?}", meta.mode(), meta.modified().unwrap());
        all.insert(entry.path().to_owned(), text);
    }
    all
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().mode() & 0o7777
}

/// Changes a file's time by so many hours.
fn touch(path: &Path, hours: i64) {
    let at = std::time::SystemTime::now();
    let by = std::time::Duration::from_secs(hours.unsigned_abs() * 3_600);
    let at = if hours < 0 { at - by } else { at + by };
    std::fs::File::open(path).unwrap().set_modified(at).unwrap();
}

#[test]
fn on_an_empty_machine_nothing_needs_doing_and_nothing_is_made() {
    let lab = Lab::new();
    let (code, text) = said(&lab, &[]);
    assert_eq!(code, Some(0));
    for part in [
        "hook root",
        "data directory",
        "not there yet",
        "session-start ",
        "Nothing needs doing.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let report = found(&lab, &[]);
    let members: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(members, ["ok", "hosts", "stores", "latency", "findings"]);
    assert_eq!(report["stores"][0]["kind"], "hook-root");
    let fixed = report_of(&said(&lab, &["--fix", "--json"]).1);
    assert_eq!((&fixed["mended"], &fixed["ok"]), (&json!([]), &json!(true)));
    assert!(said(&lab, &["--fix"]).1.contains("There is nothing to mend."));
    assert!(!lab.hooks_dir().exists() && !lab.data_dir().exists());
    assert_eq!(std::fs::read_dir(lab.path("home")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(lab.project()).unwrap().count(), 0);
}

#[test]
fn what_real_hooks_leave_is_found_well_and_a_look_changes_no_byte() {
    let lab = used();
    // Waits for nobody, and is not folded in by a look.
    let before = (picture(&lab.hooks_dir()), picture(&lab.data_dir()));
    let report = found(&lab, &[]);
    assert_eq!(report["findings"], json!([]), "{report:#}");
    let stores = report["stores"].as_array().unwrap();
    let short: Vec<Value> = stores
        .iter()
        .map(|s| {
            json!([
                s["kind"],
                s["exists"],
                s["safe"],
                s["inUse"],
                s["sessions"],
                s["lookedAt"]
            ])
        })
        .collect();
    assert_eq!(
        short,
        [
            json!(["hook-root", true, true, true, 1, 1]),
            json!(["data-dir", true, true, true, 1, 1])
        ]
    );
    assert!(stores.iter().all(|s| s["freeBytes"].as_u64().unwrap() > 0));
    for hook in [
        "session-start",
        "turn-start",
        "pre-delegation",
        "post-tool",
        "stop",
    ] {
        assert!(
            report["latency"][hook].as_u64().unwrap() > 0,
            "{hook}: {report:#}"
        );
    }
    said(&lab, &[]);
    assert_eq!(before, (picture(&lab.hooks_dir()), picture(&lab.data_dir())));
}

/// The command and the hooks, copied to a place of their own, by another process: a descriptor that a test's
/// fork took along would make them busy.
fn installed(lab: &Lab) -> PathBuf {
    let (from, to) = (Path::new(env!("CARGO_BIN_EXE_bookend")), lab.path("bin"));
    std::fs::create_dir(&to).unwrap();
    for name in [
        "bookend",
        "session-start",
        "turn-start",
        "pre-delegation",
        "post-tool",
        "stop",
    ] {
        let done = Command::new("cp")
            .arg(from.with_file_name(name))
            .arg(&to)
            .status();
        assert!(done.unwrap().success(), "{name}");
    }
    to
}

#[test]
fn an_executable_that_is_gone_broken_or_another_is_named_with_the_installer() {
    let lab = Lab::new();
    let bin = installed(&lab);
    std::fs::remove_file(bin.join("session-start")).unwrap();
    chmod(&bin.join("turn-start"), 0o600);
    std::fs::copy(bin.join("post-tool"), bin.join("stop")).unwrap();
    let plant = |name: &str, script: &str| {
        let sh = format!("rm -f {name}; printf '{script}' > {name}; chmod 700 {name}");
        let done = Command::new("sh").args(["-c", &sh]).current_dir(&bin).status();
        assert!(done.unwrap().success());
    };
    plant("pre-delegation", "#!/bin/sh\\necho profile loaded\\n");
    plant("post-tool", "#!/bin/sh\\nexit 3\\n");
    // Called by a link, as install.sh places it: what counts is where the command itself stands.
    std::os::unix::fs::symlink(bin.join("bookend"), lab.path("bookend")).unwrap();
    let mut command = lab.command(&lab.path("bookend").to_string_lossy());
    command.args(["doctor", "--json"]).env("PATH", lab.path("home"));
    let answer = Answer::of(command.output().unwrap());
    let report = answer.json();
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(1), ""));
    for (code, name) in [
        ("hook-missing", "session-start"),
        ("hook-not-executable", "turn-start"),
        ("hook-answers-wrong", "pre-delegation"),
        ("hook-crashes", "post-tool"),
    ] {
        let finding = one(&report, code);
        assert_eq!(finding["subject"], json!(bin.join(name)), "{finding:#}");
        assert!(finding["remedy"].as_str().unwrap().contains("./install.sh"));
        assert_eq!(report["latency"][name], Value::Null);
    }
    assert!(!lab.hooks_dir().exists() && !lab.data_dir().exists());
}

#[test]
fn for_people_each_finding_has_its_remedy_and_the_last_line_is_the_verdict() {
    let lab = used();
    let run = |env: &[(&str, &str)]| {
        let mut command = doctor(&lab, &[]);
        Answer::of(command.envs(env.iter().copied()).output().unwrap())
    };
    let answer = run(&[("BOOKEND_DISABLE", "1"), ("BOOKEND_RESUME", "foo\u{1b}[31m")]);
    assert_eq!(
        (answer.code, answer.stderr.as_str()),
        (Some(1), ""),
        "the output has said it"
    );
    let (problem, note) = (
        answer
            .stdout
            .find("hooks-disabled  BOOKEND_DISABLE")
            .expect("a problem"),
        answer
            .stdout
            .find("setting-unknown  BOOKEND_RESUME")
            .expect("a note"),
    );
    assert!(problem < note, "{answer:?}");
    assert!(answer.stdout.contains("→ Unset it") && !answer.stdout.contains('\u{1b}'));
    assert!(answer.stdout.ends_with("\n1 thing needs doing.\n"), "{answer:?}");
    let answer = run(&[("BOOKEND_DISABLE", "1"), ("MAESTRO_HOOKS_DIR", "here")]);
    assert!(answer.stdout.ends_with("\n2 things need doing.\n"), "{answer:?}");
    assert_eq!(lab.bookend(&["doctor", "--nonsense"]).code, Some(2));
}
