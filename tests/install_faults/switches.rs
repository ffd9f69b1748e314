//! Switches and variables that keep registered hooks from running, wherever they stand.

use std::path::{Path, PathBuf};

use bookend::clock;
use bookend::config::Config;
use bookend::doctor::finding::Finding;
use bookend::doctor::hosts;
use bookend::host::Host;
use bookend::install::{Lends, Place};
use serde_json::{Value, json};

use super::{Machine, text};

#[test]
fn a_switch_in_the_users_or_a_projects_settings_is_named_with_its_file() {
    let machine = Machine::installed(Host::ClaudeCode);
    let project = machine.lab.project().join(".claude");
    for file in [
        machine.hooks(),
        project.join("settings.json"),
        project.join("settings.local.json"),
    ] {
        for (setting, plant) in [
            ("disableAllHooks", json!({"disableAllHooks": true})),
            ("env.BOOKEND_DISABLE", json!({"env": {"BOOKEND_DISABLE": "1"}})),
        ] {
            machine.edit(&file, |v| with(v, &plant));
            let finding = machine.problem("hooks-off");
            machine.names(&finding, &file, setting);
            machine.edit(&file, |v| without(v, &plant));
            machine.is_content();
        }
    }
    machine.edit(&machine.hooks(), |v| {
        with(
            v,
            &json!({"disableAllHooks": false, "env": {"BOOKEND_DISABLE": "0"}}),
        );
    });
    machine.is_content();
}

#[test]
fn a_data_directory_that_only_the_host_is_told_of_is_named() {
    let machine = Machine::installed(Host::ClaudeCode);
    let env = json!({"env": {"BOOKEND_DATA_DIR": "/somewhere/else"}});
    machine.edit(&machine.hooks(), |v| with(v, &env));
    let finding = machine.problem("data-elsewhere");
    machine.names(&finding, &machine.hooks(), "env.BOOKEND_DATA_DIR");
    machine.edit(&machine.hooks(), |v| {
        v["env"]["BOOKEND_DATA_DIR"] = json!(machine.lab.data_dir());
    });
    machine.is_content();
}

#[test]
fn a_switch_of_codex_is_named_in_the_users_config_and_in_a_trusted_projects() {
    let machine = Machine::installed(Host::Codex);
    let config = machine.config().join("config.toml");
    let off = "[features]\nhooks = false\n";
    std::fs::write(&config, off).unwrap();
    machine.names(&machine.problem("hooks-off"), &config, "features.hooks");
    // Plugins are of no matter for hooks in hooks.json.
    std::fs::write(&config, "[features]\nplugins = false\n").unwrap();
    machine.is_content();
    let of_project = machine.lab.project().join(".codex/config.toml");
    std::fs::create_dir_all(of_project.parent().unwrap()).unwrap();
    std::fs::write(&of_project, off).unwrap();
    // Codex reads nothing of a project that it does not trust.
    machine.is_content();
    let trusted = format!(
        "[projects.{:?}]\ntrust_level = \"trusted\"\n",
        machine.lab.project().canonicalize().unwrap()
    );
    std::fs::write(&config, trusted).unwrap();
    machine.names(&machine.problem("hooks-off"), &of_project, "features.hooks");
    std::fs::remove_file(&of_project).unwrap();
    machine.is_content();
}

/// What is found when an administrator's file stands on the machine.
fn managed(machine: &Machine, name: &str, content: &str) -> (PathBuf, Vec<Finding>) {
    let system = machine.lab.path("system");
    let file = system.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, content).unwrap();
    let found = look(machine, &system);
    std::fs::remove_file(&file).unwrap();
    assert!(look(machine, &system).iter().all(|f| f.code == "never-fired"));
    (file, found)
}

fn look(machine: &Machine, system: &Path) -> Vec<Finding> {
    let place = Place {
        home: Some(machine.lab.path("home")),
        path: Some(machine.lab.path("links").into_os_string()),
        data: machine.lab.data_dir(),
        claude: None,
        codex: None,
        system: system.to_owned(),
        lends: Lends::PathAndHome,
        patience: std::time::Duration::from_secs(10),
    };
    let config = Config {
        hook_root: Ok(machine.lab.hooks_dir()),
        data_dir: Ok(machine.lab.data_dir()),
        ..Config::from_env()
    };
    let mut findings = Vec::new();
    drop(hosts::look(
        &place,
        &machine.lab.project(),
        &config,
        clock::now(),
        &mut findings,
    ));
    findings
}

#[test]
fn what_an_administrator_set_is_named_with_whom_to_ask_or_where_it_stands() {
    let (claude, codex) = (
        Machine::installed(Host::ClaudeCode),
        Machine::installed(Host::Codex),
    );
    for (machine, name, content, code, setting) in [
        (
            &claude,
            "etc/claude-code/managed-settings.json",
            r#"{"disableAllHooks": true}"#,
            "hooks-off",
            "disableAllHooks",
        ),
        (
            &claude,
            "etc/claude-code/managed-settings.d/10-hooks.json",
            r#"{"allowManagedHooksOnly": true}"#,
            "managed-hooks-only",
            "allowManagedHooksOnly",
        ),
        (
            &codex,
            "etc/codex/requirements.toml",
            "allow_managed_hooks_only = true\n",
            "managed-hooks-only",
            "allow_managed_hooks_only",
        ),
        (
            &codex,
            "etc/codex/requirements.toml",
            "[features]\nhooks = false\n",
            "hooks-off",
            "features.hooks",
        ),
    ] {
        let (file, found) = managed(machine, name, content);
        let codes: Vec<&str> = found.iter().map(|f| f.code).collect();
        assert_eq!(codes, [code], "{found:#?}");
        let what = &found[0].what;
        assert!(
            what.contains(&file.display().to_string()) && what.contains(setting),
            "{what}"
        );
        assert!(!found[0].remedy.is_empty() && found[0].fix.is_none());
    }
}

#[test]
fn a_plugin_that_a_project_switches_off_is_off() {
    let Some(machine) = Machine::with_plugin(Host::ClaudeCode) else {
        return;
    };
    let off = json!({"enabledPlugins": {"bookend@bookend": false}});
    let project = machine.lab.project().join(".claude");
    let file = project.join("settings.json");
    machine.edit(&file, |v| with(v, &off));
    let finding = machine.problem("hooks-off");
    machine.names(&finding, &file, "enabledPlugins.bookend@bookend");
    // What is nearer decides.
    let local = project.join("settings.local.json");
    machine.edit(&local, |v| {
        with(v, &json!({"enabledPlugins": {"bookend@bookend": true}}))
    });
    machine.is_content();
    std::fs::remove_file(&local).unwrap();
    machine.edit(&file, |v| without(v, &off));
    machine.is_content();
}

#[test]
fn a_plugin_that_is_switched_off_is_switched_on_by_the_command_that_doctor_names() {
    for host in [Host::ClaudeCode, Host::Codex] {
        let Some(machine) = Machine::with_plugin(host) else {
            continue;
        };
        if host == Host::Codex {
            let file = machine.config().join("config.toml");
            let config = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, config.replace("enabled = true", "enabled = false")).unwrap();
        } else {
            machine.edit(&machine.hooks(), |v| {
                v["enabledPlugins"]["bookend@bookend"] = json!(false);
            });
        }
        let finding = machine.problem("switched-off");
        assert_eq!(finding["fixable"], false, "who switched it off meant it");
        assert!(text(&finding, "what").contains("bookend@bookend"), "{finding:#}");
        machine.follow(&finding);
        machine.is_content();
    }
}

fn with(value: &mut Value, members: &Value) {
    for (name, member) in members.as_object().unwrap() {
        value[name] = member.clone();
    }
}

fn without(value: &mut Value, members: &Value) {
    for name in members.as_object().unwrap().keys() {
        value.as_object_mut().unwrap().remove(name);
    }
}
