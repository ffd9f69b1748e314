//! What is registered in settings files: nothing, too little, too much, something else. Needs no host.

use std::path::{Path, PathBuf};

use bookend::hook::Hook;
use bookend::host::Host;
use serde_json::{Value, json};

use super::{Machine, chmod, script, text};

const HOSTS: [Host; 2] = [Host::ClaudeCode, Host::Codex];

/// An event's groups in a settings file.
fn groups<'v>(value: &'v mut Value, event: &str) -> &'v mut Vec<Value> {
    value["hooks"][event].as_array_mut().unwrap()
}

#[test]
fn a_host_without_the_hooks_is_named_and_the_command_that_doctor_names_registers_them() {
    for host in HOSTS {
        let machine = Machine::with_settings(host);
        let finding = machine.problem("not-installed");
        assert_eq!(finding["subject"], json!(host));
        assert_eq!(finding["fixable"], false, "nobody installs by --fix");
        machine.follow(&finding);
        machine.is_content();
    }
}

#[test]
fn hooks_that_the_host_dropped_later_are_said_to_be_gone() {
    for host in HOSTS {
        let machine = Machine::installed(host);
        machine.edit(&machine.hooks(), |v| *v = json!({"kept": true}));
        let finding = machine.problem("not-installed");
        assert!(
            text(&finding, "what").ends_with("ago, and the registration is gone."),
            "{finding:#}"
        );
        machine.follow(&finding);
        machine.is_content();
        let file = std::fs::read_to_string(machine.hooks()).unwrap();
        assert!(file.contains("kept"), "{file}");
    }
}

type Change = fn(&mut Value);
type Plant<'p> = &'p dyn Fn(&Path);

const CHANGES: [(&str, Change); 7] = [
    ("Stop is missing", |v| {
        v["hooks"].as_object_mut().unwrap().remove("Stop");
    }),
    // After a compaction and a clear nothing would be said any more.
    ("SessionStart: its matcher is `startup`", |v| {
        groups(v, "SessionStart")[0]["matcher"] = json!("startup");
    }),
    ("PreToolUse: its matcher is `Bash`", |v| {
        groups(v, "PreToolUse")[0]["matcher"] = json!("Bash");
    }),
    ("PreToolUse: its matcher is not set", |v| {
        groups(v, "PreToolUse")[0]
            .as_object_mut()
            .unwrap()
            .remove("matcher");
    }),
    ("PostToolUse stands there 2 times", |v| {
        let again = groups(v, "PostToolUse")[0].clone();
        groups(v, "PostToolUse").push(again);
    }),
    ("PostToolUse: it stands there again, its matcher `Bash`", |v| {
        let mut again = groups(v, "PostToolUse")[0].clone();
        again["matcher"] = json!("Bash");
        groups(v, "PostToolUse").push(again);
    }),
    ("Notification is none that Bookend asks for", |v| {
        let other = v["hooks"]["Stop"].clone();
        v["hooks"]["Notification"] = other;
    }),
];

#[test]
fn an_event_that_is_missing_changed_or_doubled_is_named_and_the_registration_made_whole() {
    for host in HOSTS {
        let machine = Machine::installed(host);
        for (says, change) in CHANGES {
            machine.edit(&machine.hooks(), change);
            let finding = machine.problem("registration-incomplete");
            assert!(text(&finding, "what").contains(says), "{says}: {finding:#}");
            assert_eq!(finding["fixable"], true);
            machine.follow(&finding);
            machine.is_content();
        }
    }
}

#[test]
fn fix_shows_the_change_of_the_users_file_as_a_diff_and_makes_it() {
    let machine = Machine::installed(Host::ClaudeCode);
    machine.edit(&machine.hooks(), |v| {
        v["model"] = json!("opus");
        groups(v, "SessionStart")[0]["matcher"] = json!("startup");
    });
    let said = machine.fixes();
    let taken = said.lines().find(|line| line.contains("\"startup\""));
    assert!(
        taken.is_some_and(|line| line.trim_start().starts_with('-')),
        "{said}"
    );
    let file = std::fs::read_to_string(machine.hooks()).unwrap();
    assert!(file.contains("opus") && !file.contains("startup"), "{file}");
}

#[test]
fn a_matcher_that_means_everything_and_another_timeout_are_no_faults() {
    let machine = Machine::installed(Host::ClaudeCode);
    machine.edit(&machine.hooks(), |v| {
        groups(v, "SessionStart")[0]["matcher"] = json!("*");
        groups(v, "Stop")[0]["matcher"] = json!("");
        groups(v, "Stop")[0]["hooks"][0]["timeout"] = json!(20);
    });
    machine.is_content();
}

fn project_files(machine: &Machine) -> Vec<PathBuf> {
    let project = machine.lab.project();
    match machine.host {
        Host::Codex => vec![project.join(".codex/hooks.json")],
        _ => vec![
            project.join(".claude/settings.json"),
            project.join(".claude/settings.local.json"),
        ],
    }
}

#[test]
fn hooks_in_the_projects_settings_too_are_named_with_the_file_and_left_to_the_user() {
    for host in HOSTS {
        let machine = Machine::installed(host);
        for file in project_files(&machine) {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::copy(machine.hooks(), &file).unwrap();
            let finding = machine.problem("installed-twice");
            machine.names(&finding, &file, "hooks of Bookend");
            assert!(
                text(&finding, "what").contains("Each event runs them 2 times."),
                "{finding:#}"
            );
            std::fs::remove_file(&file).unwrap();
            machine.is_content();
        }
    }
}

#[test]
fn hooks_in_the_project_alone_are_no_installation() {
    for host in HOSTS {
        let machine = Machine::installed(host);
        let file = project_files(&machine).remove(0);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::rename(machine.hooks(), &file).unwrap();
        let finding = machine.problem("installed-in-project");
        machine.names(&finding, &file, "hooks of Bookend");
        std::fs::remove_file(&file).unwrap();
        machine.follow(&finding);
        machine.is_content();
    }
}

#[test]
fn home_as_the_project_and_under_another_name_is_no_second_registration() {
    for host in HOSTS {
        let machine = Machine::installed(host);
        let other = machine.lab.path("other home");
        std::os::unix::fs::symlink(machine.lab.path("home"), &other).unwrap();
        for folder in [machine.lab.path("home"), other] {
            let mut command = machine.command(env!("CARGO_BIN_EXE_bookend"));
            command.args(["doctor", "--json"]).current_dir(&folder);
            // What the shell says of a folder that is a link.
            command.env("PWD", &folder).env("HOME", &folder);
            let said = command.output().unwrap();
            assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stdout));
        }
    }
}

/// Registers another installation, and makes its executables go if they are to be gone.
fn older(host: Host, name: &str, gone: bool) -> Machine {
    let machine = Machine::with_settings(host);
    let data = machine.lab.path(name);
    std::fs::create_dir_all(&data).unwrap();
    chmod(&data, 0o700);
    let copied = std::process::Command::new("cp")
        .args(["-a", "--"])
        .args([machine.bin(), data.join("bin")])
        .status();
    assert!(copied.unwrap().success());
    let mut command = machine.command(env!("CARGO_BIN_EXE_bookend"));
    command
        .args(["install", host.id()])
        .env("BOOKEND_DATA_DIR", &data);
    assert!(command.output().unwrap().status.success());
    if gone {
        std::fs::remove_dir_all(data).unwrap();
    }
    machine
}

#[test]
fn a_registration_of_another_installation_is_replaced_whether_its_executables_are_there_or_not() {
    for host in HOSTS {
        for (name, gone) in [
            ("old/bookend", true),
            ("old/bookend", false),
            ("elsewhere", false),
        ] {
            let machine = older(host, name, gone);
            let finding = machine.problem("registration-outdated");
            assert!(
                text(&finding, "remedy").contains("BOOKEND_DATA_DIR"),
                "{finding:#}"
            );
            machine.follow(&finding);
            machine.is_content();
            let file = std::fs::read_to_string(machine.hooks()).unwrap();
            assert!(!file.contains(name), "{file}");
        }
    }
}

#[test]
fn executables_that_are_missing_not_executable_or_of_another_version_are_placed_anew() {
    let machine = Machine::installed(Host::ClaudeCode);
    let stop = machine.executable(Hook::Stop);
    let real = std::fs::read_link(&stop).unwrap();
    let plants: [(&str, Plant<'_>); 4] = [
        ("hook-missing", &|stop| std::fs::remove_file(stop).unwrap()),
        ("hook-not-executable", &|stop| {
            std::fs::remove_file(stop).unwrap();
            std::fs::copy(&real, stop).unwrap();
            chmod(stop, 0o644);
        }),
        // An older one takes the question for an event without a payload.
        ("hook-outdated", &|stop| {
            let run = format!("exec '{}' \"$@\"", real.display());
            script(stop, &format!("[ \"$1\" = --version ] && exit 0\n{run}"));
        }),
        ("hook-outdated", &|stop| {
            let run = format!("exec '{}' \"$@\"", real.display());
            script(
                stop,
                &format!("[ \"$1\" = --version ] && echo stop 9.9.9 && exit 0\n{run}"),
            );
        }),
    ];
    for (code, plant) in plants {
        plant(&stop);
        let finding = machine.problem(code);
        assert_eq!(finding["subject"], json!(stop), "{finding:#}");
        machine.follow(&finding);
        machine.is_content();
    }
}

#[test]
fn settings_that_do_not_parse_are_named_with_the_line_and_not_touched() {
    let broken = [
        (
            Host::ClaudeCode,
            "settings.json",
            "{\n  // mine\n  \"model\": \"x\"\n}\n",
            "{\"model\": \"x\"}\n",
        ),
        (
            Host::ClaudeCode,
            "settings.json",
            "{\n  \"model\": \"x\",\n}\n",
            "{\"model\": \"x\"}\n",
        ),
        (
            Host::ClaudeCode,
            "settings.json",
            "{\n  \"model\": \n}\n",
            "{\"model\": \"x\"}\n",
        ),
        (Host::Codex, "hooks.json", "{\n  \"hooks\": [\n}\n", "{}\n"),
        (
            Host::Codex,
            "config.toml",
            "model = \"x\"\n[features\n",
            "model = \"x\"\n",
        ),
    ];
    for (host, name, text_broken, text_mended) in broken {
        let machine = Machine::with_settings(host);
        let file = machine.config().join(name);
        std::fs::write(&file, text_broken).unwrap();
        let report = machine.doctor();
        let all = report["findings"].as_array().unwrap();
        let finding = all.iter().find(|f| f["code"] == "settings-broken");
        let finding = finding.unwrap_or_else(|| panic!("{text_broken}: {report:#}"));
        let what = text(finding, "what");
        assert!(
            what.contains(&file.display().to_string()) && what.contains("in line "),
            "{finding:#}"
        );
        machine.bookend(&["doctor", "--fix"]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text_broken);
        std::fs::write(&file, text_mended).unwrap();
        machine.follow(&machine.problem("not-installed"));
        machine.is_content();
    }
}

#[test]
fn bookend_disable_in_the_shell_is_named() {
    let machine = Machine::installed(Host::ClaudeCode);
    let mut command = machine.command(env!("CARGO_BIN_EXE_bookend"));
    let said = command
        .arg("doctor")
        .env("BOOKEND_DISABLE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        said.contains("hooks-disabled  BOOKEND_DISABLE") && said.contains("Unset it"),
        "{said}"
    );
}
