//! Claude Code (2.1.332): a plugin from a local marketplace through `claude plugin …`, which it reads in
//! place; where the program is not on PATH, hooks in the user's settings.
//!
//! Seen: `claude plugin …` follows a link and keeps the mode of `settings.json`, but writes it anew in its own
//! order and form, so the user's form is put back afterwards. A settings file with a comment or a trailing comma
//! is refused by these commands, and read by no session: all its hooks and switches are dead.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::assemble::{self, ID, NAME};
use super::claude_switches::{managed, plugin_switch, switches};
use super::error::{Broken, InstallError};
use super::form::{Form, read_any, read_json};
use super::installer::{Installer, Listed};
use super::json::Json;
use super::place::{FoundHost, Place};
use super::receipt::Means;
use super::registered;
use super::survey::{Registration, Survey, is_project};
use crate::host::Host;

const HOST: Host = Host::ClaudeCode;

pub(super) const INSTALLER: Installer = Installer {
    files,
    cache,
    add,
    install_commands,
    removal_commands,
    survey,
    refusal,
    list,
};

/// The files of the user that hold something of ours.
fn files(found: &FoundHost) -> Vec<(PathBuf, Form)> {
    let plugins = found.config.join("plugins");
    vec![
        (found.config.join("settings.json"), Form::ClaudeSettings),
        (plugins.join("installed_plugins.json"), Form::ClaudePlugins),
        (plugins.join("known_marketplaces.json"), Form::ClaudeMarketplaces),
    ]
}

/// Copies that Claude Code keeps and leaves behind.
fn cache(found: &FoundHost) -> PathBuf {
    found.config.join("plugins/cache").join(NAME)
}

/// What the settings will say.
fn add(settings: &mut Value, means: Means, place: &Place) {
    match means {
        Means::Settings => registered::add(settings, place, HOST),
        Means::Plugin => {
            let path = place.plugin(HOST);
            if let Some(marketplaces) = registered::member(settings, "extraKnownMarketplaces") {
                let source = json!({"source": "directory", "path": path});
                marketplaces.insert(NAME.to_owned(), json!({ "source": source }));
            }
            if let Some(plugins) = registered::member(settings, "enabledPlugins") {
                plugins.insert(ID.to_owned(), json!(true));
            }
        }
    }
}

/// What Claude Code is asked to do, to install.
fn install_commands(place: &Place, found: &FoundHost) -> Vec<Vec<String>> {
    let path = place.plugin(HOST).to_string_lossy().into_owned();
    let mut commands = vec![
        words(&["plugin", "marketplace", "add", &path]),
        words(&["plugin", "install", ID]),
    ];
    if recorded_version(found).is_some_and(|v| v != env!("CARGO_PKG_VERSION")) {
        commands.push(words(&["plugin", "update", ID]));
    }
    commands
}

/// What Claude Code is asked to do, to remove what it knows of.
fn removal_commands(found: &FoundHost) -> Vec<Vec<String>> {
    let [settings, installed, known] = [
        "settings.json",
        "plugins/installed_plugins.json",
        "plugins/known_marketplaces.json",
    ]
    .map(|name| value(&found.config.join(name)));
    let mut commands = Vec::new();
    let has = |document: &Value, path: &str| document.pointer(path).is_some();
    if has(&installed, "/plugins/bookend@bookend") || has(&settings, "/enabledPlugins/bookend@bookend") {
        commands.push(words(&["plugin", "uninstall", ID]));
    }
    if has(&known, "/bookend") || has(&settings, "/extraKnownMarketplaces/bookend") {
        commands.push(words(&["plugin", "marketplace", "remove", NAME]));
    }
    commands
}

/// What is found of us.
fn survey(place: &Place, found: FoundHost, folder: Option<&Path>) -> Result<Survey, InstallError> {
    let mut survey = Survey {
        registrations: Vec::new(),
        hindrances: Vec::new(),
        broken: Vec::new(),
        found,
    };
    let path = survey.found.config.join("settings.json");
    let settings = settings(&mut survey, &path)?;
    hooks_in(&mut survey, &settings, &path, place, true);
    plugin(&mut survey, &settings, &path, place);
    switches(&mut survey, &settings, &path, place);
    let mut above = Vec::new();
    if let Some(dir) = folder.map(|f| f.join(".claude"))
        && is_project(&dir, &survey.found.config)
    {
        for name in ["settings.json", "settings.local.json"] {
            let path = dir.join(name);
            let settings = settings_of_project(&mut survey, &path);
            hooks_in(&mut survey, &settings, &path, place, false);
            switches(&mut survey, &settings, &path, place);
            above.push((path, settings));
        }
    }
    above.extend(managed(&mut survey, place));
    plugin_switch(&mut survey, above);
    Ok(survey)
}

/// The user's settings; that they cannot be used is a finding, that they cannot be read an error.
fn settings(survey: &mut Survey, path: &Path) -> Result<Value, InstallError> {
    match read_json(path) {
        Ok((_, json)) => {
            survey
                .broken
                .extend(json.not_strict().map(|b| (path.to_owned(), b)));
            Ok(json.value().clone())
        }
        Err(InstallError::Broken { path, broken }) => {
            survey.broken.push((path, broken));
            Ok(Value::Null)
        }
        Err(other) => Err(other),
    }
}

fn settings_of_project(survey: &mut Survey, path: &Path) -> Value {
    let Some(bytes) = read_any(path) else {
        return Value::Null;
    };
    match Json::parse(&bytes) {
        Ok(json) => {
            survey
                .broken
                .extend(json.not_strict().map(|b| (path.to_owned(), b)));
            json.value().clone()
        }
        Err(broken) => {
            survey.broken.push((path.to_owned(), broken));
            Value::Null
        }
    }
}

fn hooks_in(survey: &mut Survey, settings: &Value, path: &Path, place: &Place, is_users: bool) {
    let ours = registered::find(settings, place);
    if ours.is_empty() {
        return;
    }
    let is_own = ours
        .iter()
        .all(|o| o.command == registered::command(place, o.hook, HOST));
    survey.registrations.push(Registration {
        means: Means::Settings,
        file: path.to_owned(),
        what: format!("{} hooks", ours.len()),
        enabled: true,
        is_own,
        faults: registered::faults(&ours, place, HOST),
        is_users,
    });
}

fn plugin(survey: &mut Survey, settings: &Value, path: &Path, place: &Place) {
    let plugins = survey.found.config.join("plugins");
    let (installed, known) = (
        value(&plugins.join("installed_plugins.json")),
        value(&plugins.join("known_marketplaces.json")),
    );
    let enabled = settings
        .pointer("/enabledPlugins/bookend@bookend")
        .and_then(Value::as_bool);
    let is_installed = installed.pointer("/plugins/bookend@bookend").is_some();
    if enabled.is_none() && !is_installed {
        return;
    }
    let source = known
        .pointer("/bookend/source/path")
        .or_else(|| settings.pointer("/extraKnownMarketplaces/bookend/source/path"))
        .and_then(Value::as_str);
    let wanted = place.plugin(HOST);
    let is_own = source.is_some_and(|s| Path::new(s) == wanted);
    let mut faults = Vec::new();
    if enabled.is_none() {
        faults.push("it is not named in the settings any more".to_owned());
    }
    if !is_installed {
        faults.push("it is switched on in the settings, but not installed".to_owned());
    }
    match source {
        None => faults.push(format!("its marketplace {NAME} is not known any more")),
        Some(source) if !is_own => faults.push(format!("its marketplace is {source}")),
        Some(_) => {
            let differing = assemble::differing(&wanted, &assemble::parts(place, HOST));
            faults.extend(differing.iter().map(|part| match wanted.join(part).exists() {
                true => format!("{part} in it is not the one of this version"),
                false => format!("{part} in it is missing"),
            }));
        }
    }
    survey.registrations.push(Registration {
        means: Means::Plugin,
        file: path.to_owned(),
        what: format!("plugin {ID}"),
        enabled: enabled != Some(false),
        is_own,
        faults,
        is_users: true,
    });
}

/// Why the user's settings must not be touched: the host's own verdict where it can be asked, ours where not.
fn refusal(survey: &Survey) -> Option<InstallError> {
    let settings = survey.found.config.join("settings.json");
    let (path, broken) = survey.broken.iter().find(|(path, _)| *path == settings)?;
    let lenient = std::fs::read(path).is_ok_and(|bytes| Json::parse(&bytes).is_ok());
    let why = match (lenient, survey.found.program.is_some()) {
        (true, false) => return None,
        (true, true) => format!(
            "{}; Claude Code reads nothing of a settings file with that in it",
            broken.why
        ),
        (false, _) => broken.why.clone(),
    };
    Some(InstallError::Broken {
        path: path.clone(),
        broken: Broken {
            why,
            ..broken.clone()
        },
    })
}

/// What `claude plugin list --json` says of us.
fn list(list: &Value) -> Option<Listed> {
    let plugins = list.as_array()?;
    let ours = plugins
        .iter()
        .find(|p| p.get("id").and_then(Value::as_str) == Some(ID))?;
    let errors = ours.get("errors").and_then(Value::as_array).into_iter().flatten();
    Some(Listed {
        enabled: ours.get("enabled") == Some(&json!(true)),
        errors: errors
            .map(|e| e.as_str().map_or_else(|| e.to_string(), str::to_owned))
            .collect(),
    })
}

/// The version that Claude Code has recorded for our plugin.
fn recorded_version(found: &FoundHost) -> Option<String> {
    let installed = value(&found.config.join("plugins/installed_plugins.json"));
    let version = installed.pointer("/plugins/bookend@bookend/0/version")?;
    version.as_str().map(str::to_owned)
}

pub(super) fn value(path: &Path) -> Value {
    let json = read_any(path).and_then(|bytes| Json::parse(&bytes).ok());
    json.map(|json| json.value().clone()).unwrap_or_default()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}
