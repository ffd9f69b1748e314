//! The plugin, as the real hosts keep it: registered beside settings, its files gone or edited, forgotten by the host.

use std::path::Path;

use bookend::host::Host;
use bookend::hosts::registration::{command_line, hooks_json};
use serde_json::{Value, json};

use super::{Machine, codes, text};

fn claude() -> Option<Machine> {
    Machine::with_plugin(Host::ClaudeCode)
}

fn codex() -> Option<Machine> {
    Machine::with_plugin(Host::Codex)
}

/// The hooks of the executables that are placed, in a settings file.
fn register(machine: &Machine, file: &Path) {
    let line = |hook| command_line(&machine.executable(hook).to_string_lossy(), machine.host);
    let hooks = hooks_json(machine.host, line);
    machine.edit(file, |v| v["hooks"] = hooks["hooks"].clone());
}

#[test]
fn the_plugin_and_the_users_settings_are_one_too_many_and_install_leaves_one() {
    for machine in [claude(), codex()].into_iter().flatten() {
        register(&machine, &machine.hooks());
        let report = machine.doctor();
        // Codex does not trust those in the settings yet, which is said too.
        assert_eq!(codes(&report, "problem")[0], "installed-twice", "{report:#}");
        let finding = &report["findings"][0];
        assert_eq!(finding["fixable"], true);
        machine.follow(finding);
        machine.is_content();
        register(&machine, &machine.hooks());
        machine.fixes();
        assert_eq!(machine.of(&machine.doctor())["means"], "plugin");
    }
}

#[test]
fn a_plugin_that_is_off_and_hooks_in_the_settings_do_not_run_twice() {
    let Some(machine) = claude() else { return };
    register(&machine, &machine.hooks());
    machine.edit(&machine.hooks(), |v| {
        v["enabledPlugins"]["bookend@bookend"] = json!(false);
    });
    let finding = machine.problem("installed-twice");
    assert!(
        text(&finding, "what").ends_with("One of them is switched on."),
        "{finding:#}"
    );
    machine.follow(&finding);
    machine.is_content();
}

fn remove(path: &Path) {
    std::fs::remove_dir_all(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

#[test]
fn a_plugin_whose_files_are_gone_or_edited_is_written_anew() {
    for machine in [claude(), codex()].into_iter().flatten() {
        let root = machine.lab.data_dir().join("plugin").join(machine.host.id());
        for plant in [
            &|| remove(&root) as (),
            &|| std::fs::remove_file(root.join("hooks/hooks.json")).unwrap(),
            &|| {
                machine.edit(&root.join("hooks/hooks.json"), |v| {
                    v["hooks"]["SessionStart"][0]["matcher"] = json!("startup");
                });
            },
        ] as [&dyn Fn(); 3]
        {
            plant();
            let finding = machine.problem("registration-incomplete");
            assert!(
                text(&finding, "what").contains("hooks/hooks.json in it"),
                "{finding:#}"
            );
            machine.follow(&finding);
            machine.is_content();
        }
        remove(&root);
        machine.fixes();
    }
}

#[test]
fn codexs_copy_of_the_plugin_that_is_gone_or_edited_is_made_anew() {
    let Some(machine) = codex() else { return };
    let copy = machine.config().join("plugins/cache/bookend/bookend");
    let hooks = copy.join(env!("CARGO_PKG_VERSION")).join("hooks/hooks.json");
    let plants: [&dyn Fn(); 2] = [&|| remove(&copy), &|| {
        machine.edit(&hooks, |v| {
            v["hooks"].as_object_mut().unwrap().remove("Stop");
        });
    }];
    for plant in plants {
        plant();
        let report = machine.doctor();
        assert_eq!(
            codes(&report, "problem")[0],
            "registration-incomplete",
            "{report:#}"
        );
        let finding = report["findings"][0].clone();
        assert!(
            text(&finding, "what").contains("in Codex's copy of it"),
            "{finding:#}"
        );
        machine.follow(&finding);
        machine.is_content();
    }
}

#[test]
fn a_plugin_that_claude_code_forgot_is_registered_anew() {
    let Some(machine) = claude() else { return };
    let plugins = machine.config().join("plugins");
    let forget = |name: &str, member: &[&str]| {
        machine.edit(&plugins.join(name), |v| {
            let (last, path) = member.split_last().unwrap();
            let parent = path.iter().fold(v, |v, name| &mut v[*name]);
            parent.as_object_mut().unwrap().remove(*last);
        });
    };
    // What the settings say is enough for Claude Code 2.1.332 to know the marketplace.
    forget("known_marketplaces.json", &["bookend"]);
    machine.is_content();
    let plants: [(&str, &dyn Fn()); 4] = [
        ("is not known any more", &|| {
            forget("known_marketplaces.json", &["bookend"]);
            machine.edit(&machine.hooks(), |v| {
                v.as_object_mut().unwrap().remove("extraKnownMarketplaces");
            });
        }),
        ("not installed", &|| {
            forget("installed_plugins.json", &["plugins", "bookend@bookend"]);
        }),
        ("not named in the settings any more", &|| {
            machine.edit(&machine.hooks(), |v| *v = json!({"model": "opus"}));
        }),
        ("not named in the settings any more", &|| {
            std::fs::remove_file(machine.hooks()).unwrap();
        }),
    ];
    machine.install(&[]);
    for (says, plant) in plants {
        plant();
        let report = machine.doctor();
        let codes = codes(&report, "problem");
        assert!(
            codes == ["registration-incomplete"] || codes == ["registration-outdated"],
            "{report:#}"
        );
        let finding = report["findings"][0].clone();
        assert!(text(&finding, "what").contains(says), "{says}: {finding:#}");
        machine.follow(&finding);
        machine.is_content();
    }
}

#[test]
fn a_plugin_that_codex_forgot_is_registered_anew() {
    let Some(machine) = codex() else { return };
    let file = machine.config().join("config.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    let without = |name: &str| {
        let all = format!("\n{config}");
        let tables = all
            .split("\n[")
            .filter(|table| !table.trim_start_matches('[').starts_with(name));
        tables.collect::<Vec<_>>().join("\n[")
    };
    for (table, code) in [
        ("marketplaces", "registration-outdated"),
        ("plugins", "not-installed"),
    ] {
        std::fs::write(&file, without(table)).unwrap();
        let finding = machine.problem(code);
        machine.follow(&finding);
        machine.is_content();
    }
}

#[test]
fn a_program_that_is_not_on_path_any_more_is_a_note_and_uninstall_takes_the_plugin_out() {
    for machine in [claude(), codex()].into_iter().flatten() {
        let aside = machine.lab.path("aside");
        std::fs::rename(machine.program(), &aside).unwrap();
        let report = machine.doctor();
        assert_eq!(codes(&report, "problem"), [""; 0], "{report:#}");
        assert_eq!(codes(&report, "note"), ["program-missing"], "{report:#}");
        let all = report["findings"].as_array().unwrap();
        let remedy = text(
            all.iter().find(|f| f["code"] == "program-missing").unwrap(),
            "remedy",
        );
        assert!(
            remedy.contains(&format!("`bookend uninstall {}`", machine.host.id())),
            "{remedy}"
        );
        // Back on PATH, it is as it was.
        std::fs::rename(&aside, machine.program()).unwrap();
        assert_eq!(codes(&machine.doctor(), "note"), [""; 0]);
        // And gone for good, it is taken out.
        std::fs::rename(machine.program(), &aside).unwrap();
        let answer = machine.bookend(&["uninstall", machine.host.id()]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert_eq!(machine.of(&machine.doctor())["means"], Value::Null);
    }
}
