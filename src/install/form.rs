//! The user's files that hold something of ours, by their form: what they say without us, and how the text
//! that the user wrote comes back to the byte.

use std::path::Path;

use serde_json::{Value, json};

use super::assemble::{ID, NAME};
use super::error::{Broken, InstallError};
use super::json::Json;
use super::place::Place;
use super::registered;
use super::toml::Toml;
use super::user_file::UserFile;

/// What kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Claude Code's `settings.json`.
    ClaudeSettings,
    /// Claude Code's `plugins/installed_plugins.json`, which it writes itself.
    ClaudePlugins,
    /// Claude Code's `plugins/known_marketplaces.json`, which it writes itself.
    ClaudeMarketplaces,
    /// Codex's `hooks.json`.
    CodexHooks,
    /// Codex's `config.toml`.
    CodexConfig,
}

/// Members of Claude Code's settings that it leaves behind empty (2.1.332).
const LEFT_EMPTY: [&str; 3] = ["enabledPlugins", "extraKnownMarketplaces", "hooks"];

impl Form {
    /// The text without us. What is empty without us goes too.
    ///
    /// # Errors
    /// It does not parse.
    pub fn without_us(self, bytes: &[u8], place: &Place) -> Result<Vec<u8>, Broken> {
        if self == Self::CodexConfig {
            let mut toml = Toml::parse(bytes)?;
            toml.strip();
            toml.strip_hooks(place);
            return Ok(toml.text().into_bytes());
        }
        let json = Json::parse(bytes)?;
        let mut value = json.value().clone();
        self.strip(&mut value, place);
        json.saying(&value)
    }

    fn strip(self, value: &mut Value, place: &Place) {
        match self {
            Self::ClaudeSettings => {
                registered::strip(value, place);
                for (member, name) in [("enabledPlugins", ID), ("extraKnownMarketplaces", NAME)] {
                    strip_member(value, member, name);
                }
            }
            Self::ClaudePlugins => strip_member(value, "plugins", ID),
            Self::ClaudeMarketplaces => registered::remove(value, NAME),
            Self::CodexHooks => registered::strip(value, place),
            Self::CodexConfig => {}
        }
    }

    /// What a text says, but for what is empty.
    fn gist(self, bytes: &[u8]) -> Result<Value, Broken> {
        if self == Self::CodexConfig {
            return Ok(Toml::parse(bytes)?.gist());
        }
        let mut value = Json::parse(bytes)?.value().clone();
        for name in LEFT_EMPTY {
            if value.get(name).is_some_and(|v| *v == json!({})) {
                registered::remove(&mut value, name);
            }
        }
        if self == Self::ClaudePlugins && value.get("plugins") == Some(&json!({})) {
            return Ok(json!({}));
        }
        Ok(value)
    }

    /// The text that the file has without us: the one from before, to the byte, if nothing else was changed
    /// in it since; else today's text without ours. `None`: there was no such file.
    ///
    /// # Errors
    /// It does not parse.
    pub fn base(
        self,
        file: &UserFile,
        before: Option<Option<Vec<u8>>>,
        place: &Place,
    ) -> Result<Option<Vec<u8>>, InstallError> {
        let Some(now) = &file.content else { return Ok(None) };
        self.base_of(now, before, place)
            .map_err(|broken| InstallError::Broken {
                path: file.path.clone(),
                broken,
            })
    }

    fn base_of(
        self,
        now: &[u8],
        before: Option<Option<Vec<u8>>>,
        place: &Place,
    ) -> Result<Option<Vec<u8>>, Broken> {
        let bare = self.without_us(now, place)?;
        let gist = self.gist(&bare)?;
        match before {
            Some(Some(text)) if self.gist(&text).is_ok_and(|was| was == gist) => Ok(Some(text)),
            Some(None) if gist == json!({}) => Ok(None),
            _ => Ok(Some(bare)),
        }
    }

    /// The base with what the host's own command has made of the file: JSON in the form that the user gave
    /// it, since Claude Code writes it anew in its own (2.1.332); TOML as it is, since Codex keeps the form.
    ///
    /// # Errors
    /// It does not parse.
    pub fn settled(self, base: Option<&[u8]>, now: &[u8]) -> Result<Vec<u8>, Broken> {
        match (self, base) {
            (Self::CodexConfig, _) | (_, None) => Ok(now.to_owned()),
            (_, Some(base)) => Json::parse(base)?.saying(Json::parse(now)?.value()),
        }
    }
}

fn strip_member(value: &mut Value, member: &str, name: &str) {
    let Some(members) = value.get_mut(member).and_then(Value::as_object_mut) else {
        return;
    };
    members.shift_remove(name);
    if members.is_empty() && member != "plugins" {
        registered::remove(value, member);
    }
}

/// Reads a file that may not be there, and says where it does not parse.
///
/// # Errors
/// As [`UserFile::read`], and where it does not parse.
pub(super) fn read_json(path: &Path) -> Result<(UserFile, Json), InstallError> {
    let file = UserFile::read(path)?;
    let json = Json::parse(file.content.as_deref().unwrap_or_default());
    let json = json.map_err(|broken| InstallError::Broken {
        path: path.to_owned(),
        broken,
    })?;
    Ok((file, json))
}

/// The same for TOML.
///
/// # Errors
/// As [`UserFile::read`], and where it does not parse.
pub(super) fn read_toml(path: &Path) -> Result<(UserFile, Toml), InstallError> {
    let file = UserFile::read(path)?;
    let toml = Toml::parse(file.content.as_deref().unwrap_or_default());
    let toml = toml.map_err(|broken| InstallError::Broken {
        path: path.to_owned(),
        broken,
    })?;
    Ok((file, toml))
}
