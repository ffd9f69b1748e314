//! The user's files that hold something of ours, by their form: what they say without us, and how the text
//! that the user wrote comes back to the byte.

use std::path::Path;

use serde_json::{Value, json};

use super::assemble::{ID, NAME};
use super::codex;
use super::error::{Broken, InstallError};
use super::json::{Json, alike};
use super::place::Place;
use super::receipt::Means;
use super::registered;
use super::toml::Toml;
use super::user_file::UserFile;
use crate::host::Host;

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
    /// The text without us; `before` is what it said before we came, where that is known. What is empty
    /// without us goes too, unless it was there before. A text with nothing of ours in it stays as it is.
    ///
    /// # Errors
    /// It does not parse.
    pub fn without_us(self, bytes: &[u8], before: Option<&[u8]>, place: &Place) -> Result<Vec<u8>, Broken> {
        if self == Self::CodexConfig {
            let mut toml = Toml::parse(bytes)?;
            let before = before.and_then(|text| Toml::parse(text).ok());
            toml.strip(before.as_ref(), &codex::trust_keys(place));
            toml.strip_hooks(place);
            return Ok(toml.text().into_bytes());
        }
        let json = Json::parse(bytes)?;
        let before = before.and_then(|text| Json::parse(text).ok());
        let mut value = json.value().clone();
        self.strip(&mut value, before.as_ref().map(Json::value), place);
        json.saying(&value)
    }

    fn strip(self, value: &mut Value, before: Option<&Value>, place: &Place) {
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
        for name in LEFT_EMPTY {
            if value.get(name).is_some_and(is_blank) && before.is_some_and(|b| b.get(name).is_none()) {
                registered::remove(value, name);
            }
        }
    }

    /// What a text says, but for what is empty.
    fn gist(self, bytes: &[u8]) -> Result<Value, Broken> {
        if self == Self::CodexConfig {
            return Ok(Toml::parse(bytes)?.gist());
        }
        let mut value = Json::parse(bytes)?.value().clone();
        if let Some(events) = value.get_mut("hooks").and_then(Value::as_object_mut) {
            events.retain(|_, groups| !is_blank(groups));
        }
        for name in LEFT_EMPTY {
            if value.get(name).is_some_and(is_blank) {
                registered::remove(&mut value, name);
            }
        }
        if self == Self::ClaudePlugins && value.get("plugins") == Some(&json!({})) {
            return Ok(json!({}));
        }
        Ok(value)
    }

    /// What people wrote beside what it says. A host that writes the file anew may move it, not change it.
    fn remarks(self, bytes: &[u8]) -> Result<Vec<String>, Broken> {
        let mut remarks = match self {
            Self::CodexConfig => Toml::parse(bytes)?.remarks(),
            _ => Json::parse(bytes)?.remarks()?,
        };
        remarks.sort();
        Ok(remarks)
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
        let known = before.as_ref().map(|text| text.as_deref().unwrap_or_default());
        let bare = self.without_us(now, known, place)?;
        match before {
            Some(Some(text)) if self.is_as_before(&text, &bare) => Ok(Some(text)),
            Some(None) if self.gist(&bare)? == json!({}) && self.remarks(&bare)?.is_empty() => Ok(None),
            _ => Ok(Some(bare)),
        }
    }

    /// Whether nobody but a host, which only writes in its own form, has changed the text from before.
    fn is_as_before(self, before: &[u8], bare: &[u8]) -> bool {
        let says = matches!((self.gist(before), self.gist(bare)), (Ok(was), Ok(is)) if alike(&was, &is));
        let remarks = matches!((self.remarks(before), self.remarks(bare)), (Ok(was), Ok(is)) if was == is);
        // Who took out the comma that the host stumbled over keeps it so.
        let is_strict = |text: &[u8]| Json::parse(text).is_ok_and(|json| json.not_strict().is_none());
        let mended = self != Self::CodexConfig && is_strict(bare) && !is_strict(before);
        says && remarks && !mended
    }

    /// The base with what the host's own command has made of the file: JSON in the form that the user gave
    /// it, since Claude Code writes it anew in its own (2.1.332); TOML as it is, since Codex keeps the form.
    ///
    /// # Errors
    /// It does not parse.
    pub fn settled(self, base: Option<&[u8]>, now: &[u8]) -> Result<Vec<u8>, Broken> {
        match (self, base) {
            (_, None) => Ok(now.to_owned()),
            // Codex keeps all of the form but a byte-order mark and CRLF (0.171.0).
            (Self::CodexConfig, Some(base)) => Ok(Toml::parse(base)?.formed(now)),
            (_, Some(base)) => Json::parse(base)?.saying(Json::parse(now)?.value()),
        }
    }

    /// What stands where ours has to go, and is of another kind: nothing can be put in there.
    ///
    /// # Errors
    /// It does not parse.
    pub fn clash(self, base: Option<&[u8]>, means: Means, host: Host) -> Result<Option<String>, Broken> {
        let base = base.unwrap_or_default();
        if self == Self::CodexConfig {
            return Ok((means == Means::Plugin)
                .then(|| Toml::parse(base))
                .transpose()?
                .and_then(|t| t.clash()));
        }
        let json = Json::parse(base)?;
        let is_other = |name: &&str| json.value().get(*name).is_some_and(|v| !v.is_object());
        let objects: &[&str] = match (self, means) {
            (Self::ClaudeSettings, Means::Plugin) => &["enabledPlugins", "extraKnownMarketplaces"],
            (Self::ClaudeSettings | Self::CodexHooks, Means::Settings) => &["hooks"],
            _ => &[],
        };
        if let Some(name) = objects.iter().find(|name| is_other(name)) {
            return Ok(Some(format!("`{name}` in it is no object")));
        }
        if !objects.contains(&"hooks") {
            return Ok(None);
        }
        let hooks = json.value().get("hooks");
        let is_no_list = |event: &&str| {
            let groups = hooks.and_then(|hooks| hooks.get(*event));
            groups.is_some_and(|groups| !groups.is_array())
        };
        let event = registered::events(host)
            .into_iter()
            .find(|event| is_no_list(event));
        Ok(event.map(|event| format!("`hooks.{event}` in it is no list")))
    }
}

/// Says nothing: Claude Code drops `null` and `[]` when it writes its settings anew (2.1.332).
fn is_blank(value: &Value) -> bool {
    *value == json!({}) || *value == json!([]) || value.is_null()
}

fn strip_member(value: &mut Value, member: &str, name: &str) {
    let Some(members) = value.get_mut(member).and_then(Value::as_object_mut) else {
        return;
    };
    let had = members.shift_remove(name).is_some();
    if had && members.is_empty() && member != "plugins" {
        registered::remove(value, member);
    }
}

/// The bytes of a file that may be anybody's, or anything: of a project, of an administrator.
#[must_use]
pub(super) fn read_any(path: &Path) -> Option<Vec<u8>> {
    // A FIFO would hold us.
    path.is_file().then(|| std::fs::read(path).ok()).flatten()
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
