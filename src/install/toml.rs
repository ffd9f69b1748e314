//! Codex's `config.toml`, changed without changing its form.
//!
//! Ours in it: `[marketplaces.bookend]`, `[plugins."bookend@bookend"]`, and the trust records
//! `[hooks.state."bookend@bookend:…"]` that Codex keeps even after it removed the plugin (seen with 0.171.0).

use serde_json::Value;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, value};

use super::assemble::{ID, NAME};
use super::error::Broken;
use super::place::Place;
use super::registered;

/// A parsed text.
#[derive(Debug, Clone)]
pub(super) struct Toml {
    document: DocumentMut,
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
        Ok(Self { document })
    }

    /// Its text.
    #[must_use]
    pub(super) fn text(&self) -> String {
        self.document.to_string()
    }

    /// What it says; empty tables that only hold such things as ours say nothing.
    #[must_use]
    pub(super) fn gist(&self) -> Value {
        let mut bare = self.document.clone();
        for path in [
            &["marketplaces"][..],
            &["plugins"],
            &["hooks", "state"],
            &["hooks"],
        ] {
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

    /// Takes out what is ours.
    pub(super) fn strip(&mut self) {
        let table = self.document.as_table_mut();
        for (parent, name) in [("marketplaces", NAME), ("plugins", ID)] {
            if let Some(tables) = table.get_mut(parent).and_then(Item::as_table_like_mut) {
                tables.remove(name);
            }
        }
        if let Some(state) = table
            .get_mut("hooks")
            .and_then(Item::as_table_like_mut)
            .and_then(|hooks| hooks.get_mut("state"))
            .and_then(Item::as_table_like_mut)
        {
            let prefix = format!("{ID}:");
            let ours: Vec<String> = state
                .iter()
                .map(|(key, _)| key.to_owned())
                .filter(|key| key.starts_with(&prefix))
                .collect();
            for key in ours {
                state.remove(&key);
            }
        }
        for path in [
            &["marketplaces"][..],
            &["plugins"],
            &["hooks", "state"],
            &["hooks"],
        ] {
            drop_if_empty(table, path);
        }
    }

    /// Takes out hooks of ours that somebody registered by hand (`[[hooks.Stop]]`).
    pub(super) fn strip_hooks(&mut self, place: &Place) {
        let hooks = self.document.get_mut("hooks").and_then(Item::as_table_like_mut);
        let Some(events) = hooks else { return };
        let mut emptied = Vec::new();
        for (event, groups) in events.iter_mut() {
            let Some(groups) = groups.as_array_of_tables_mut() else {
                continue;
            };
            groups.retain(|group| !is_ours_alone(group, place));
            for group in groups.iter_mut() {
                if let Some(hooks) = group.get_mut("hooks").and_then(Item::as_array_of_tables_mut) {
                    hooks.retain(|hook| !is_ours(hook, place));
                }
            }
            if groups.is_empty() {
                emptied.push(event.get().to_owned());
            }
        }
        for event in emptied {
            events.remove(&event);
        }
    }

    /// Puts in what Codex's own commands write (0.171.0), to show it beforehand.
    pub(super) fn add(&mut self, source: &str) {
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

fn is_ours(hook: &Table, place: &Place) -> bool {
    let line = hook.get("command").and_then(Item::as_str);
    line.is_some_and(|line| registered::ours(line, place).is_some())
}

fn is_ours_alone(group: &Table, place: &Place) -> bool {
    let hooks = group.get("hooks").and_then(Item::as_array_of_tables);
    let all = |hooks: &ArrayOfTables| !hooks.is_empty() && hooks.iter().all(|hook| is_ours(hook, place));
    hooks.is_some_and(all)
}

/// Removes the table at a path if nothing is in it.
fn drop_if_empty(table: &mut Table, path: &[&str]) {
    let mut at: &mut dyn TableLike = table;
    let Some((name, parents)) = path.split_last() else {
        return;
    };
    for parent in parents {
        match at.get_mut(parent).and_then(Item::as_table_like_mut) {
            Some(next) => at = next,
            None => return,
        }
    }
    let empty = at
        .get(name)
        .and_then(Item::as_table_like)
        .is_some_and(|t| t.is_empty());
    if empty {
        at.remove(name);
    }
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
        toml.strip();
        assert_eq!(toml.gist(), Toml::parse(USERS.as_bytes()).unwrap().gist());
        assert_eq!(toml.text().trim_end(), USERS.trim_end());
    }

    #[test]
    fn foreign_plugins_and_their_trust_stay() {
        let text = "[plugins.\"a@b\"]\nenabled = true\n\n[hooks.state.\"a@b:hooks/hooks.json:stop:0:0\"]\ntrusted_hash = \"x\"\n";
        let mut toml = Toml::parse(text.as_bytes()).unwrap();
        toml.strip();
        assert_eq!(toml.text(), text);
    }

    #[test]
    fn what_does_not_parse_is_said_with_its_line() {
        let broken = Toml::parse(b"model = \"x\"\n[oops\n").unwrap_err();
        assert_eq!(broken.line, 2, "{broken}");
    }
}
