//! Trust, as the real Codex keeps it; and that what Claude Code is told in its settings reaches the hooks.

use bookend::host::Host;
use bookend::probe::{CLAUDE_CODE, Session};
use serde_json::{Value, json};

use super::{Machine, codes, text};

#[test]
fn hooks_that_codex_does_not_trust_are_named_and_trusted_by_the_command_that_doctor_names() {
    let Some(machine) = Machine::real(Host::Codex) else {
        return;
    };
    machine.install(&[]);
    let finding = machine.problem("hooks-untrusted");
    assert_eq!(finding["fixable"], false, "trust is the user's to give");
    assert_eq!(machine.of(&machine.doctor())["trusted"], false);
    machine.follow(&finding);
    machine.is_content();
    assert_eq!(machine.of(&machine.doctor())["trusted"], true);
    // One file more in Codex's copy, and it trusts nothing of it.
    let copy = machine.config().join("plugins/cache/bookend/bookend");
    std::fs::write(copy.join(env!("CARGO_PKG_VERSION")).join("new"), "x").unwrap();
    let finding = machine.problem("hooks-untrusted");
    assert!(text(&finding, "what").contains("changed since"), "{finding:#}");
    machine.follow(&finding);
    machine.is_content();
}

#[test]
fn hooks_that_codex_does_not_see_are_named_whatever_the_reason() {
    let Some(machine) = Machine::with_plugin(Host::Codex) else {
        return;
    };
    let file = machine.config().join("config.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    for setting in ["hooks", "plugins"] {
        std::fs::write(&file, format!("{config}\n[features]\n{setting} = false\n")).unwrap();
        let finding = machine.problem("hooks-off");
        machine.names(&finding, &file, &format!("features.{setting}"));
    }
    // A switch that is not looked for by name.
    std::fs::write(&file, format!("{config}\n[features]\ncodex_hooks = false\n")).unwrap();
    let report = machine.doctor();
    let problems = codes(&report, "problem");
    assert!(
        problems.is_empty() || problems == ["hooks-not-seen"],
        "{report:#}"
    );
    std::fs::write(&file, config).unwrap();
    machine.is_content();
}

#[test]
fn trust_in_hooks_of_the_settings_is_seen_where_the_program_is_on_path() {
    let Some(machine) = Machine::real(Host::Codex) else {
        return;
    };
    // Installed without the program, then trusted in it.
    let aside = machine.lab.path("aside");
    std::fs::rename(machine.program(), &aside).unwrap();
    assert_eq!(machine.install(&[])["hosts"][0]["means"], "settings");
    std::fs::rename(&aside, machine.program()).unwrap();
    machine.problem("hooks-untrusted");
    trust_all(&machine);
    machine.is_content();
    assert_eq!(machine.of(&machine.doctor())["trusted"], true);
}

/// As a user does who chooses "Trust all" in Codex.
fn trust_all(machine: &Machine) {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let mut command = machine.command(&machine.program().to_string_lossy());
    command
        .arg("app-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut codex = command.spawn().unwrap();
    let (mut stdin, stdout) = (codex.stdin.take().unwrap(), codex.stdout.take().unwrap());
    let mut lines = BufReader::new(stdout).lines();
    let mut call = |id: u64, method: &str, params: Value| -> Value {
        writeln!(stdin, "{}", json!({"id": id, "method": method, "params": params})).unwrap();
        loop {
            let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if answer["id"] == id {
                return answer["result"].clone();
            }
        }
    };
    call(
        1,
        "initialize",
        json!({"clientInfo": {"name": "test", "title": "test", "version": "1"}}),
    );
    let listed = call(2, "hooks/list", json!({"cwds": [machine.lab.project()]}));
    let hooks = listed["data"][0]["hooks"].as_array().unwrap();
    let state: serde_json::Map<String, Value> = hooks
        .iter()
        .map(|hook| {
            let key = hook["key"].as_str().unwrap().to_owned();
            (key, json!({"trusted_hash": hook["currentHash"]}))
        })
        .collect();
    let edit = json!({"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"});
    call(
        3,
        "config/batchWrite",
        json!({"edits": [edit], "reloadUserConfig": true}),
    );
    codex.kill().unwrap();
    codex.wait().unwrap();
}

#[test]
fn what_claude_codes_settings_say_in_env_reaches_the_hooks() {
    let Some(machine) = Machine::with_plugin(Host::ClaudeCode) else {
        return;
    };
    let session = || {
        let scratch = machine.lab.project().parent().unwrap().to_owned();
        Session::new(CLAUDE_CODE, &machine.program().canonicalize().unwrap(), &scratch)
            .env("BOOKEND_DATA_DIR", machine.lab.data_dir())
            .env("MAESTRO_HOOKS_DIR", machine.lab.hooks_dir())
            .script("text:done")
    };
    let last = || machine.of(&machine.doctor())["lastFired"].clone();
    machine.edit(&machine.hooks(), |v| v["env"] = json!({"BOOKEND_DISABLE": "1"}));
    let outcome = session().run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{outcome:?}");
    assert_eq!(last(), Value::Null, "no hook did anything");
    machine.edit(&machine.hooks(), |v| {
        v.as_object_mut().unwrap().remove("env");
    });
    let outcome = session().run().unwrap();
    assert_eq!(outcome.rc, Some(0), "{outcome:?}");
    let report = machine.doctor();
    assert_eq!(report["findings"], json!([]), "it is proven: {report:#}");
    assert!(last().is_string());
}
