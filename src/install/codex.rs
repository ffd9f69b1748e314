//! Codex CLI (0.171.0): a plugin from a local marketplace through `codex plugin …`, which copies it; where the
//! program is not on PATH, `hooks.json` in its home.
//!
//! Seen: `codex plugin …` keeps the form of `config.toml` and follows a link, but makes the file 0600. It runs no
//! hook that the user has not trusted, and says nothing of it; the trust covers every file of the plugin.
//! Removing a plugin leaves its trust records behind.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::app_server::{self, SeenHook};
use super::assemble::{self, ID, NAME};
use super::error::InstallError;
use super::form::{Form, read_any, read_json, read_toml};
use super::installer::{Installer, Listed};
use super::json::Json;
use super::place::{FoundHost, Place};
use super::program::Program;
use super::receipt::Means;
use super::registered;
use super::survey::{Hindrance, Registration, Survey, is_project};
use super::toml::Toml;
use crate::host::Host;
use crate::hosts::registration;

const HOST: Host = Host::Codex;

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
    vec![
        (found.config.join("config.toml"), Form::CodexConfig),
        (found.config.join("hooks.json"), Form::CodexHooks),
    ]
}

/// The copy that Codex makes of the plugin.
fn cache(found: &FoundHost) -> PathBuf {
    found.config.join("plugins/cache").join(NAME)
}

/// What `hooks.json` will say.
fn add(hooks: &mut Value, _: Means, place: &Place) {
    registered::add(hooks, place, HOST);
}

/// A file that does not parse stays as it is; Codex itself does not start with it.
fn refusal(survey: &Survey) -> Option<InstallError> {
    let (path, broken) = survey.broken.first()?;
    Some(InstallError::Broken {
        path: path.clone(),
        broken: broken.clone(),
    })
}

/// What `codex plugin list --json` says of us.
fn list(list: &Value) -> Option<Listed> {
    let plugins = list.get("installed")?.as_array()?;
    let ours = plugins
        .iter()
        .find(|p| p.get("pluginId").and_then(Value::as_str) == Some(ID))?;
    Some(Listed {
        enabled: ours.get("enabled") == Some(&json!(true)),
        errors: Vec::new(),
    })
}

/// What Codex is asked to do, to install.
fn install_commands(place: &Place, found: &FoundHost) -> Vec<Vec<String>> {
    let source = place.plugin(HOST).to_string_lossy().into_owned();
    let mut commands = Vec::new();
    let known = read_toml(&found.config.join("config.toml")).ok();
    let known = known.and_then(|(_, toml)| toml.str(&["marketplaces", NAME, "source"]).map(str::to_owned));
    if known.is_some_and(|known| known != source) {
        commands.push(words(&["plugin", "marketplace", "remove", NAME]));
    }
    commands.push(words(&["plugin", "marketplace", "add", &source]));
    commands.push(words(&["plugin", "add", ID]));
    commands
}

/// What Codex is asked to do, to remove what it knows of.
fn removal_commands(found: &FoundHost) -> Vec<Vec<String>> {
    let Ok((_, config)) = read_toml(&found.config.join("config.toml")) else {
        return Vec::new();
    };
    let mut commands = Vec::new();
    if config.get(&["plugins", ID]).is_some() || cache(found).is_dir() {
        commands.push(words(&["plugin", "remove", ID]));
    }
    if config.get(&["marketplaces", NAME]).is_some() {
        commands.push(words(&["plugin", "marketplace", "remove", NAME]));
    }
    commands
}

/// The names under which Codex keeps its trust in hooks of ours that stand in the user's own files (0.171.0):
/// `<file>:<event>:<group>:<hook>`.
pub(super) fn trust_keys(place: &Place) -> Vec<String> {
    let Ok(found) = place.find(HOST) else {
        return Vec::new();
    };
    let (hooks, config) = (found.config.join("hooks.json"), found.config.join("config.toml"));
    let documents = [
        (read_json(&hooks).map(|(_, json)| json.value().clone()), hooks),
        (read_toml(&config).map(|(_, toml)| toml.gist()), config),
    ];
    let mut keys = Vec::new();
    for (document, path) in documents {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        for ours in document
            .iter()
            .flat_map(|document| registered::find(document, place))
        {
            for path in [&path, &real] {
                let (group, hook) = ours.at;
                let key = format!("{}:{}:{group}:{hook}", path.display(), snake_case(&ours.event));
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
    }
    keys
}

fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for (at, letter) in event.char_indices() {
        if letter.is_uppercase() && at > 0 {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

/// What is found of us; `folder` is the project to look at too.
fn survey(place: &Place, found: FoundHost, folder: Option<&Path>) -> Result<Survey, InstallError> {
    let mut survey = Survey {
        registrations: Vec::new(),
        hindrances: Vec::new(),
        broken: Vec::new(),
        found,
    };
    let path = survey.found.config.join("config.toml");
    let mut trusts_project = false;
    match read_toml(&path) {
        Ok((_, config)) => {
            trusts_project = folder.is_some_and(|folder| is_trusted(&config, folder));
            hooks_in(&mut survey, &config.gist(), &path, place, true);
            plugin(&mut survey, &config, &path, place);
            switches(&mut survey, &config, &path);
        }
        Err(InstallError::Broken { path, broken }) => survey.broken.push((path, broken)),
        Err(other) => return Err(other),
    }
    let path = survey.found.config.join("hooks.json");
    match read_json(&path) {
        Ok((_, json)) => {
            survey.broken.extend(json.not_strict().map(|b| (path.clone(), b)));
            hooks_in(&mut survey, json.value(), &path, place, true);
        }
        Err(InstallError::Broken { path, broken }) => survey.broken.push((path, broken)),
        Err(other) => return Err(other),
    }
    if let Some(dir) = folder.map(|f| f.join(".codex"))
        && is_project(&dir, &survey.found.config)
    {
        let (hooks, config) = (dir.join("hooks.json"), dir.join("config.toml"));
        if let Some(json) = read_any(&hooks).and_then(|b| Json::parse(&b).ok()) {
            hooks_in(&mut survey, json.value(), &hooks, place, false);
        }
        if let Some(toml) = read_any(&config).and_then(|b| Toml::parse(&b).ok()) {
            hooks_in(&mut survey, &toml.gist(), &config, place, false);
            // Codex reads nothing of a project that it does not trust.
            if trusts_project {
                switches(&mut survey, &toml, &config);
            }
        }
    }
    managed(&mut survey, place);
    Ok(survey)
}

fn is_trusted(config: &Toml, folder: &Path) -> bool {
    let is = |folder: &Path| {
        let level = config.str(&["projects", folder.to_str()?, "trust_level"])?;
        Some(level == "trusted")
    };
    folder.ancestors().any(|folder| is(folder) == Some(true))
}

fn hooks_in(survey: &mut Survey, document: &Value, path: &Path, place: &Place, is_users: bool) {
    let ours = registered::find(document, place);
    if ours.is_empty() {
        return;
    }
    survey.registrations.push(Registration {
        means: Means::Settings,
        file: path.to_owned(),
        what: format!("{} hooks", ours.len()),
        enabled: true,
        is_own: ours
            .iter()
            .all(|o| o.command == registered::command(place, o.hook, HOST)),
        faults: registered::faults(&ours, place, HOST),
        is_users,
    });
}

fn plugin(survey: &mut Survey, config: &Toml, path: &Path, place: &Place) {
    let Some(enabled) = config
        .get(&["plugins", ID])
        .map(|_| config.bool(&["plugins", ID, "enabled"]))
    else {
        return;
    };
    let parts = assemble::parts(place, HOST);
    let wanted = place.plugin(HOST);
    let source = config.str(&["marketplaces", NAME, "source"]);
    let mut faults = Vec::new();
    match source {
        None => faults.push(format!("its marketplace {NAME} is not known any more")),
        Some(source) if Path::new(source) != wanted => faults.push(format!("its marketplace is {source}")),
        Some(_) => {}
    }
    let copy = cache(&survey.found).join(NAME).join(env!("CARGO_PKG_VERSION"));
    for (root, whose) in [(wanted.clone(), "it"), (copy, "Codex's copy of it")] {
        faults.extend(
            assemble::differing(&root, &parts)
                .iter()
                .map(|part| match root.join(part).exists() {
                    true => format!("{part} in {whose} is not the one of this version"),
                    false => format!("{part} in {whose} is missing"),
                }),
        );
    }
    survey.registrations.push(Registration {
        means: Means::Plugin,
        file: path.to_owned(),
        what: format!("plugin {ID}"),
        enabled: enabled != Some(false),
        is_own: source.is_some_and(|s| Path::new(s) == wanted),
        faults,
        is_users: true,
    });
}

fn switches(survey: &mut Survey, config: &Toml, path: &Path) {
    for feature in ["hooks", "plugins"] {
        let needed = feature == "hooks" || survey.registrations.iter().any(|r| r.means == Means::Plugin);
        if needed && config.bool(&["features", feature]) == Some(false) {
            survey.hindrances.push(Hindrance::SwitchedOff {
                file: path.to_owned(),
                setting: format!("features.{feature}"),
            });
        }
    }
}

/// What an administrator set (read from the program of 0.171.0, not tried on a managed machine).
fn managed(survey: &mut Survey, place: &Place) {
    let file = place.system.join("etc/codex/requirements.toml");
    let Some(toml) = read_any(&file).and_then(|b| Toml::parse(&b).ok()) else {
        return;
    };
    switches(survey, &toml, &file);
    if toml.bool(&["allow_managed_hooks_only"]) == Some(true) {
        survey.hindrances.push(Hindrance::ManagedOnly {
            file,
            setting: "allow_managed_hooks_only".to_owned(),
        });
    }
}

/// Asks Codex whether it will run our hooks; nothing to ask where its program is not on PATH.
#[must_use]
pub fn trust_state(place: &Place, found: &FoundHost, folder: &Path) -> Vec<Hindrance> {
    let Some(program) = Program::of(found, place) else {
        return Vec::new();
    };
    let seen = match app_server::look(&program, &found.config, folder) {
        Ok(seen) => seen,
        Err(error) => {
            let why = error.to_string();
            return vec![Hindrance::TrustUnknown { why }];
        }
    };
    let ours: Vec<&SeenHook> = seen.iter().filter(|hook| is_ours(hook, place)).collect();
    let count = |status: &str| ours.iter().filter(|hook| hook.trust_status == status).count();
    let (untrusted, modified) = (count("untrusted"), count("modified"));
    let off = ours.iter().filter(|hook| !hook.enabled).count();
    let mut hindrances = Vec::new();
    if ours.len() < registration::rows(HOST).len() {
        hindrances.push(Hindrance::NotSeen { seen: ours.len() });
    }
    if untrusted + modified > 0 {
        hindrances.push(Hindrance::NotTrusted { untrusted, modified });
    }
    if off > 0 {
        hindrances.push(Hindrance::SomeOff { count: off });
    }
    hindrances
}

/// Trusts our hooks, because the user asked for it; how many were not trusted before.
///
/// # Errors
/// Codex is not on PATH, does not answer, or refuses.
pub fn trust(place: &Place, found: &FoundHost, folder: &Path) -> Result<usize, InstallError> {
    let Some(program) = Program::of(found, place) else {
        return Err(InstallError::Missing(
            "trust the hooks: codex is not on PATH; start Codex and choose \"Trust all\"".to_owned(),
        ));
    };
    app_server::trust(&program, &found.config, folder, |hook| is_ours(hook, place))
}

/// Of our plugin, or one of our command lines with the executables of this data directory: nobody else's
/// hook is ever trusted on the way.
fn is_ours(hook: &SeenHook, place: &Place) -> bool {
    let command = hook.command.as_deref().and_then(|line| {
        let (executable, host) = registered::ours(line, place)?;
        Some(line == registered::command(place, executable, host))
    });
    command == Some(true) && hook.plugin_id.as_deref().is_none_or(|id| id == ID)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}
