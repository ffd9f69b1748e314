//! What keeps Claude Code (2.1.332) from running our hooks although they are registered: switches and variables in
//! the settings of the user, of a project and of an administrator. Looking changes nothing.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::assemble::ID;
use super::claude_code::value;
use super::place::Place;
use super::receipt::Means;
use super::survey::{Hindrance, Survey};
use crate::config;

/// Those of one file.
pub(super) fn switches(survey: &mut Survey, settings: &Value, path: &Path, place: &Place) {
    let mut off = |setting: &str| {
        survey.hindrances.push(Hindrance::SwitchedOff {
            file: path.to_owned(),
            setting: setting.to_owned(),
        });
    };
    if settings.get("disableAllHooks") == Some(&json!(true)) {
        off("disableAllHooks");
    }
    // Claude Code gives these variables to everything that it starts, the hooks too.
    let variable = |name: &str| {
        let value = settings.get("env")?.get(name)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    if variable("BOOKEND_DISABLE").is_some_and(|value| config::disables(&value)) {
        off("env.BOOKEND_DISABLE");
    }
    if let Some(dir) = variable("BOOKEND_DATA_DIR").filter(|dir| Path::new(dir) != place.data) {
        survey.hindrances.push(Hindrance::OtherData {
            file: path.to_owned(),
            dir,
        });
    }
}

/// What an administrator set (read from the bundle of 2.1.332, not tried on a managed machine).
pub(super) fn managed(survey: &mut Survey, place: &Place) -> Vec<(PathBuf, Value)> {
    let dir = place.system.join("etc/claude-code");
    let mut paths = vec![dir.join("managed-settings.json")];
    let more = std::fs::read_dir(dir.join("managed-settings.d"));
    let mut more: Vec<PathBuf> = more.into_iter().flatten().flatten().map(|e| e.path()).collect();
    more.sort();
    paths.extend(more);
    let mut all = Vec::new();
    for path in paths {
        let settings = value(&path);
        switches(survey, &settings, &path, place);
        if settings.get("allowManagedHooksOnly") == Some(&json!(true)) {
            survey.hindrances.push(Hindrance::ManagedOnly {
                file: path.clone(),
                setting: "allowManagedHooksOnly".to_owned(),
            });
        }
        all.push((path, settings));
    }
    all
}

/// Of the settings that are above the user's, weakest first, the strongest that says it decides.
pub(super) fn plugin_switch(survey: &mut Survey, above: Vec<(PathBuf, Value)>) {
    let says = |settings: &Value| settings.pointer("/enabledPlugins/bookend@bookend")?.as_bool();
    let said = above
        .into_iter()
        .rev()
        .find_map(|(path, settings)| Some((path, says(&settings)?)));
    if let Some((file, false)) = said
        && survey.registrations.iter().any(|r| r.means == Means::Plugin)
    {
        let setting = format!("enabledPlugins.{ID}");
        survey.hindrances.push(Hindrance::SwitchedOff { file, setting });
    }
}
