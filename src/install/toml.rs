//! Codex's `config.toml`, changed without changing its form.
//!
//! Ours in it: `[marketplaces.bookend]`, `[plugins."bookend@bookend"]`, and the trust records
//! `[hooks.state."bookend@bookend:…"]` that Codex keeps even after it removed the plugin (seen with 0.171.0).

use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use super::assemble::{ID, NAME};
use super::error::Broken;
use super::place::Place;
use super::toml_hooks;

const MARK: &str = "\u{feff}";
/// The tables that hold something of ours, inner ones first.
const TABLES: [&[&str]; 4] = [&["marketplaces"], &["plugins"], &["hooks", "state"], &["hooks"]];

/// A parsed text.
#[derive(Debug, Clone)]
pub(super) struct Toml {
    document: DocumentMut,
    /// The text that was parsed.
    text: String,
    changed: bool,
}

impl Toml {
    /// Parses it.
    ///
    /// # Errors
    /// Where it does not parse.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Broken> {
        let text = std::str::from_utf8(bytes).map_err(|e| Broken {
            line: lines(bytes, e.valid_up_to()),
            column: 1,
            why: "a byte that is no UTF-8".to_owned(),
        })?;
        let document = text.parse::<DocumentMut>().map_err(|e| {
            let at = e.span().map_or(0, |span| span.start);
            let line_start = text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1);
            Broken {
                line: lines(bytes, at),
                column: at.saturating_sub(line_start) + 1,
                why: e.message().trim().replace('\n', "; "),
            }
        })?;
        Ok(Self {
            document,
            text: text.to_owned(),
            changed: false,
        })
    }

    /// Its text; where nothing was changed, the one that was parsed.
    #[must_use]
    pub(super) fn text(&self) -> String {
        if self.changed {
            self.reformed(&self.document.to_string())
        } else {
            self.text.clone()
        }
    }

    /// Another text of the same file with the byte-order mark and the ends of lines of this one, which TOML
    /// writers drop.
    #[must_use]
    pub(super) fn formed(&self, other: &[u8]) -> Vec<u8> {
        std::str::from_utf8(other).map_or_else(|_| other.to_owned(), |text| self.reformed(text).into_bytes())
    }

    fn reformed(&self, other: &str) -> String {
        let mut text = other.trim_start_matches(MARK).replace("\r\n", "\n");
        if self.text.contains("\r\n") && !self.text.replace("\r\n", "").contains('\n') {
            text = text.replace('\n', "\r\n");
        }
        if self.text.starts_with(MARK) {
            text.insert_str(0, MARK);
        }
        text
    }

    /// The lines with a comment in them (or with a `#` in a text).
    #[must_use]
    pub(super) fn remarks(&self) -> Vec<String> {
        let lines = self.text.lines().map(str::trim);
        lines
            .filter(|line| line.contains('#'))
            .map(str::to_owned)
            .collect()
    }

    /// What stands where the tables of ours have to go, and is no table.
    #[must_use]
    pub(super) fn clash(&self) -> Option<String> {
        let is_other = |name: &&str| self.get(&[*name]).is_some_and(|item| !item.is_table_like());
        let name = ["marketplaces", "plugins"].into_iter().find(is_other)?;
        Some(format!("`{name}` in it is no table"))
    }

    /// What it says; empty tables that only hold such things as ours say nothing.
    #[must_use]
    pub(super) fn gist(&self) -> serde_json::Value {
        let mut bare = self.document.clone();
        for path in TABLES {
            drop_if_empty(bare.as_table_mut(), path);
        }
        toml_edit::de::from_document(bare).unwrap_or_default()
    }

    /// The entry of a table of tables.
    #[must_use]
    pub(super) fn get(&self, path: &[&str]) -> Option<&Item> {
        let mut item = self.document.as_item();
        for name in path {
            item = item.as_table_like()?.get(name)?;
        }
        Some(item)
    }

    /// A switch, if it is set.
    #[must_use]
    pub(super) fn bool(&self, path: &[&str]) -> Option<bool> {
        self.get(path)?.as_bool()
    }

    /// A text, if it is set.
    #[must_use]
    pub(super) fn str(&self, path: &[&str]) -> Option<&str> {
        self.get(path)?.as_str()
    }

    /// Takes out what is ours: plugin, marketplace, the trust in them, and the trust records named in `trust`.
    /// Tables that are empty without it go too, unless they were there before.
    pub(super) fn strip(&mut self, before: Option<&Self>, trust: &[String]) {
        let table = self.document.as_table_mut();
        let mut emptied = Vec::new();
        for (parent, name) in [(&TABLES[0], NAME), (&TABLES[1], ID)] {
            if let Some(tables) = table_at(table, parent)
                && tables.remove(name).is_some()
            {
                emptied.push(*parent);
            }
        }
        if let Some(state) = table_at(table, TABLES[2]) {
            let prefix = format!("{ID}:");
            let ours: Vec<String> = state
                .iter()
                .map(|(key, _)| key.to_owned())
                .filter(|key| key.starts_with(&prefix) || trust.contains(key))
                .collect();
            for key in &ours {
                state.remove(key);
            }
            if !ours.is_empty() {
                emptied.extend(&TABLES[2..]);
            }
        }
        self.changed |= !emptied.is_empty();
        for path in TABLES {
            let was_there = before.map_or(!emptied.contains(&path), |b| b.get(path).is_some());
            if !was_there {
                self.changed |= drop_if_empty(self.document.as_table_mut(), path);
            }
        }
    }

    /// Takes out trust records.
    pub(super) fn strip_trust(&mut self, keys: &[String]) {
        if let Some(state) = table_at(self.document.as_table_mut(), TABLES[2]) {
            for key in keys {
                self.changed |= state.remove(key).is_some();
            }
        }
    }

    /// Takes out hooks of ours that somebody registered by hand.
    pub(super) fn strip_hooks(&mut self, place: &Place) {
        let Some(events) = table_at(self.document.as_table_mut(), &["hooks"]) else {
            return;
        };
        let stripped = toml_hooks::strip(events, place);
        self.changed |= stripped;
        if stripped {
            drop_if_empty(self.document.as_table_mut(), &["hooks"]);
        }
    }

    /// Puts in what Codex's own commands write (0.171.0), to show it beforehand.
    pub(super) fn add(&mut self, source: &str) {
        self.changed = true;
        let table = self.document.as_table_mut();
        let mut marketplace = Table::new();
        marketplace.insert("source_type", value("local"));
        marketplace.insert("source", value(source));
        let mut plugin = Table::new();
        plugin.insert("enabled", value(true));
        for (parent, name, entry) in [("marketplaces", NAME, marketplace), ("plugins", ID, plugin)] {
            let parent = table.entry(parent).or_insert_with(|| {
                let mut implicit = Table::new();
                implicit.set_implicit(true);
                Item::Table(implicit)
            });
            let Some(tables) = parent.as_table_like_mut() else {
                continue;
            };
            match tables.get_mut(name).and_then(Item::as_table_like_mut) {
                // Who wrote something beside it keeps that.
                Some(there) => {
                    for (key, item) in entry {
                        if there.get(&key).map(ToString::to_string) != Some(item.to_string()) {
                            there.insert(&key, item);
                        }
                    }
                }
                None => {
                    tables.insert(name, Item::Table(entry));
                }
            }
        }
    }
}

/// The table at a path.
fn table_at<'t>(table: &'t mut Table, path: &[&str]) -> Option<&'t mut dyn TableLike> {
    let mut at: &mut dyn TableLike = table;
    for name in path {
        at = at.get_mut(name).and_then(Item::as_table_like_mut)?;
    }
    Some(at)
}

/// Removes the table at a path if nothing is in it; whether it did.
fn drop_if_empty(table: &mut Table, path: &[&str]) -> bool {
    let Some((name, parents)) = path.split_last() else {
        return false;
    };
    let Some(parent) = table_at(table, parents) else {
        return false;
    };
    let empty = parent
        .get(name)
        .and_then(Item::as_table_like)
        .is_some_and(|t| t.is_empty());
    empty && parent.remove(name).is_some()
}

fn lines(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(..at)
        .unwrap_or_default()
        .iter()
        .filter(|b| **b == b'\n')
        .count()
        + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "# mine\nmodel = \"x\"   # inline\n\n[odd]\na = 1\n";

    #[test]
    fn ours_goes_in_and_comes_out_and_the_form_stays() {
        let mut toml = Toml::parse(USERS.as_bytes()).unwrap();
        toml.add("/data dir/plugin/codex");
        let text = toml.text();
        assert!(text.starts_with(USERS), "{text}");
        assert!(
            text.contains("[marketplaces.bookend]\nsource_type = \"local\"\n"),
            "{text}"
        );
        assert!(
            text.contains("[plugins.\"bookend@bookend\"]\nenabled = true\n"),
            "{text}"
        );
        let records = "\n[hooks.state]\n\n[hooks.state.\"bookend@bookend:hooks/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:x\"\n";
        let mut toml = Toml::parse(format!("{text}{records}").as_bytes()).unwrap();
        toml.strip(None, &[]);
        assert_eq!(toml.gist(), Toml::parse(USERS.as_bytes()).unwrap().gist());
        assert_eq!(toml.text().trim_end(), USERS.trim_end());
    }

    #[test]
    fn foreign_plugins_and_their_trust_stay() {
        let text = "[plugins.\"a@b\"]\nenabled = true\n\n[hooks.state.\"a@b:hooks/hooks.json:stop:0:0\"]\ntrusted_hash = \"x\"\n";
        let mut toml = Toml::parse(text.as_bytes()).unwrap();
        toml.strip(None, &[]);
        assert_eq!(toml.text(), text);
    }

    #[test]
    fn what_does_not_parse_is_said_with_its_line() {
        let broken = Toml::parse(b"model = \"x\"\n[oops\n").unwrap_err();
        assert_eq!(broken.line, 2, "{broken}");
    }
}
