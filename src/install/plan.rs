//! What is to be done in one host, decided before anything is done: the plugin's files, the user's files as
//! they will be (the diff of `--dry-run`), and what the host itself is asked to do.

use std::path::PathBuf;

use similar::TextDiff;

use super::assemble::{self, Part};
use super::codex;
use super::error::InstallError;
use super::form::Form;
use super::installer::installer;
use super::json::Json;
use super::place::{FoundHost, Place, is_executable};
use super::program::Program;
use super::receipt::{self, Means};
use super::survey::Survey;
use super::toml::Toml;
use super::user_file::UserFile;
use crate::hook::Hook;
use crate::host::Host;

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The hooks are registered.
    Installed,
    /// Nothing of ours is left in the host.
    Removed,
}

/// A file of the user.
#[derive(Debug, Clone)]
pub struct Edit {
    /// As it stands.
    pub file: UserFile,
    /// As it was found.
    pub found: Option<Vec<u8>>,
    /// Its form.
    pub form: Form,
    /// Without us.
    pub base: Option<Vec<u8>>,
    /// As it will be; `None`: not there.
    pub after: Option<Vec<u8>>,
}

impl Edit {
    /// Whether the file, as it was found, is to be another.
    #[must_use]
    pub fn was_change(&self) -> bool {
        self.found != self.after
    }

    /// What changes, as a unified diff; what is not there is `/dev/null`, as `diff` names it.
    #[must_use]
    pub fn diff(&self) -> String {
        let text = |bytes: &Option<Vec<u8>>| {
            String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
        };
        let path = self.file.path.display().to_string();
        let name = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or("/dev/null", |_| path.as_str()).to_owned();
        let (old, new) = (text(&self.found), text(&self.after));
        let diff = TextDiff::from_lines(&old, &new);
        let mut unified = diff.unified_diff();
        unified
            .context_radius(3)
            .header(&name(&self.found), &name(&self.after));
        unified.to_string()
    }
}

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What for.
    pub goal: Goal,
    /// Where, and what stands there.
    pub survey: Survey,
    /// How.
    pub means: Means,
    /// The plugin's files; with [`Means::Settings`] none.
    pub parts: Vec<Part>,
    /// Those of them that are written, below the plugin's directory.
    pub differing: Vec<PathBuf>,
    /// The user's files.
    pub edits: Vec<Edit>,
    /// What the host is asked to do, argument by argument.
    pub commands: Vec<Vec<String>>,
}

impl Plan {
    /// The host.
    #[must_use]
    pub fn host(&self) -> Host {
        self.survey.found.host
    }

    /// What it changes, line by line: `+` a file of the plugin that is written, `$` what the host is asked, the diff of
    /// each file of the user.
    #[must_use]
    pub fn summary(&self, place: &Place) -> Vec<String> {
        let mut lines: Vec<String> = self
            .differing
            .iter()
            .map(|path| format!("+ {}", path.display()))
            .collect();
        let program = Program::of(&self.survey.found, place);
        for words in &self.commands {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            lines.extend(
                program
                    .as_ref()
                    .map(|program| format!("$ {}", program.line(&words))),
            );
        }
        for edit in self.edits.iter().filter(|edit| edit.was_change()) {
            lines.extend(edit.diff().lines().map(str::to_owned));
        }
        lines
    }

    /// Whether there was anything of ours to remove.
    #[must_use]
    pub fn had_any(&self) -> bool {
        !self.commands.is_empty() || self.edits.iter().any(Edit::was_change)
    }

    /// Whether it is so already.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let nothing_written = self.differing.is_empty() && !self.edits.iter().any(Edit::was_change);
        match self.goal {
            Goal::Installed => nothing_written && self.survey.is_sound(self.means),
            Goal::Removed => {
                nothing_written && self.commands.is_empty() && self.survey.registrations.is_empty()
            }
        }
    }
}

/// Decides what is to be done.
///
/// # Errors
/// The host is not here, its settings must not be touched, or the executables are missing.
pub fn plan(place: &Place, host: Host, goal: Goal) -> Result<Plan, InstallError> {
    if goal == Goal::Installed {
        executables(place)?;
    }
    plan_unplaced(place, host, goal)
}

/// The same before the executables are placed, to show it.
///
/// # Errors
/// The host is not here, or its settings must not be touched.
pub fn plan_unplaced(place: &Place, host: Host, goal: Goal) -> Result<Plan, InstallError> {
    let installer = installer(host)?;
    let found = place.find(host)?;
    if goal == Goal::Installed {
        check(place, &found)?;
    }
    let survey = (installer.survey)(place, found, None)?;
    if let Some(refusal) = (installer.refusal)(&survey) {
        return Err(refusal);
    }
    // A sound plugin stays one, also where its host is not on this PATH.
    let means = if survey.found.program.is_some() || survey.is_sound(Means::Plugin) {
        Means::Plugin
    } else {
        Means::Settings
    };
    let mut edits = Vec::new();
    for (path, form) in (installer.files)(&survey.found) {
        let file = UserFile::read(&path)?;
        let base = form.base(&file, receipt::before(place, host, &path)?, place)?;
        let after = match goal {
            Goal::Removed => base.clone(),
            Goal::Installed => wanted(&file, base.as_deref(), form, means, place, host)?,
        };
        edits.push(Edit {
            found: file.content.clone(),
            file,
            form,
            base,
            after,
        });
    }
    let (parts, commands) = match (goal, means) {
        (Goal::Installed, Means::Plugin) => (
            assemble::parts(place, host),
            (installer.install_commands)(place, &survey.found),
        ),
        (Goal::Removed, Means::Plugin) => (Vec::new(), (installer.removal_commands)(&survey.found)),
        (_, Means::Settings) => (Vec::new(), Vec::new()),
    };
    let root = place.plugin(host);
    let differing = assemble::differing(&root, &parts)
        .into_iter()
        .map(|part| root.join(part))
        .collect();
    let mut plan = Plan {
        goal,
        survey,
        means,
        parts,
        differing,
        edits,
        commands,
    };
    if goal == Goal::Installed && plan.is_done() {
        plan.commands.clear();
    }
    Ok(plan)
}

/// What has to be there before anything is registered.
fn check(place: &Place, found: &FoundHost) -> Result<(), InstallError> {
    let title = found.host.title();
    if !found.is_here() {
        return Err(InstallError::Missing(format!(
            "find {title}: there is no such program on PATH and no {}; install {title} first",
            found.config.display()
        )));
    }
    if place.data.to_str().is_none() {
        return Err(InstallError::Refused {
            path: place.data.clone(),
            why: "its name is no UTF-8, and hosts take no other command: set BOOKEND_DATA_DIR".to_owned(),
        });
    }
    Ok(())
}

/// Whether all executables are placed.
fn executables(place: &Place) -> Result<(), InstallError> {
    let hooks = Hook::ALL.iter().map(|hook| place.executable(*hook));
    let missing = hooks.chain([place.command()]).find(|file| !is_executable(file));
    match missing {
        Some(file) => Err(InstallError::Missing(format!(
            "find the executable {}: run ./install.sh, which builds and places it",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// The user's file as it will be. The host's own command may write more; this is what is shown beforehand.
fn wanted(
    file: &UserFile,
    base: Option<&[u8]>,
    form: Form,
    means: Means,
    place: &Place,
    host: Host,
) -> Result<Option<Vec<u8>>, InstallError> {
    let broken = |broken| InstallError::Broken {
        path: file.path.clone(),
        broken,
    };
    let text = base.unwrap_or_default();
    if let Some(clash) = form.clash(base, means, host).map_err(broken)? {
        return Err(InstallError::Refused {
            path: file.path.clone(),
            why: format!("{clash}: mend it, then run this again (nothing was changed)"),
        });
    }
    match (form, means) {
        (Form::ClaudeSettings, _) | (Form::CodexHooks, Means::Settings) => {
            let json = Json::parse(text).map_err(broken)?;
            let mut value = json.value().clone();
            (installer(host)?.add)(&mut value, means, place);
            Ok(Some(json.saying(&value).map_err(broken)?))
        }
        (Form::CodexConfig, Means::Plugin) => {
            let mut toml = match &file.content {
                // The trust that the user gave stays.
                Some(now) => Toml::parse(now),
                None => Toml::parse(text),
            }
            .map_err(broken)?;
            toml.strip_trust(&codex::trust_keys(place));
            toml.strip_hooks(place);
            toml.add(&place.plugin(Host::Codex).to_string_lossy());
            Ok(Some(toml.text().into_bytes()))
        }
        // Written by the host itself.
        (Form::ClaudePlugins | Form::ClaudeMarketplaces, Means::Plugin) => Ok(file.content.clone()),
        (Form::ClaudePlugins | Form::ClaudeMarketplaces, Means::Settings)
        | (Form::CodexHooks, Means::Plugin) => Ok(base.map(<[u8]>::to_owned)),
        (Form::CodexConfig, Means::Settings) => {
            let Some(now) = &file.content else { return Ok(None) };
            // The trust that the user gave the hooks stays, until they go.
            let mut toml = Toml::parse(now).map_err(broken)?;
            toml.strip(Toml::parse(text).ok().as_ref(), &[]);
            toml.strip_hooks(place);
            Ok(Some(toml.text().into_bytes()))
        }
    }
}
