//! Hooks of ours that somebody registered by hand in Codex's `config.toml`: as tables (`[[hooks.Stop]]`), or as
//! lists in line.

use toml_edit::{Array, ArrayOfTables, Item, TableLike, Value};

use super::place::Place;
use super::registered;

/// Takes them out of the table `hooks`, with the groups and events that are empty then; whether there were any.
pub(super) fn strip(events: &mut dyn TableLike, place: &Place) -> bool {
    let mut any = false;
    let mut emptied = Vec::new();
    for (event, groups) in events.iter_mut() {
        let (had, is_empty) = match groups {
            Item::ArrayOfTables(groups) => (from_tables(groups, place), groups.is_empty()),
            Item::Value(Value::Array(groups)) => (from_list(groups, place), groups.is_empty()),
            _ => (false, false),
        };
        any |= had;
        if had && is_empty {
            emptied.push(event.get().to_owned());
        }
    }
    for event in &emptied {
        events.remove(event);
    }
    any
}

fn from_tables(groups: &mut ArrayOfTables, place: &Place) -> bool {
    let emptied: Vec<Option<bool>> = groups
        .iter_mut()
        .map(|group| match group.get_mut("hooks") {
            Some(Item::ArrayOfTables(hooks)) => {
                let before = hooks.len();
                hooks.retain(|hook| !is_ours(hook, place));
                (hooks.len() < before).then(|| hooks.is_empty())
            }
            Some(Item::Value(Value::Array(hooks))) => from_hooks(hooks, place),
            _ => None,
        })
        .collect();
    let mut each = emptied.iter();
    groups.retain(|_| each.next() != Some(&Some(true)));
    emptied.iter().any(Option::is_some)
}

fn from_list(groups: &mut Array, place: &Place) -> bool {
    let emptied: Vec<Option<bool>> = groups
        .iter_mut()
        .map(|group| {
            let group = group.as_inline_table_mut()?;
            from_hooks(group.get_mut("hooks")?.as_array_mut()?, place)
        })
        .collect();
    let mut each = emptied.iter();
    groups.retain(|_| each.next() != Some(&Some(true)));
    emptied.iter().any(Option::is_some)
}

/// `None`: there was none of ours; else whether there is no other.
fn from_hooks(hooks: &mut Array, place: &Place) -> Option<bool> {
    let before = hooks.len();
    hooks.retain(|hook| !hook.as_inline_table().is_some_and(|hook| is_ours(hook, place)));
    (hooks.len() < before).then(|| hooks.is_empty())
}

fn is_ours(hook: &dyn TableLike, place: &Place) -> bool {
    let line = hook.get("command").and_then(Item::as_str);
    line.is_some_and(|line| registered::ours(line, place).is_some())
}

#[cfg(test)]
mod tests {
    use toml_edit::DocumentMut;

    use super::*;

    #[test]
    fn ours_go_however_they_were_written_and_foreign_ones_stay_as_they_are() {
        let place = Place::bare("/d".into());
        let ours = r#"{ type = "command", command = '"/d/bin/stop" --host codex' }"#;
        let theirs = r#"{ type = "command", command = "true" }"#;
        let table = |hook: &str| {
            let pairs = hook
                .trim_matches(['{', '}', ' '])
                .replace(", command", "\ncommand");
            format!("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n{pairs}\n")
        };
        for (text, left) in [
            (
                format!("[hooks]\nStop = [{{ hooks = [{ours}] }}]\n"),
                "[hooks]\n".to_owned(),
            ),
            (
                format!("hooks.Stop = [{{ hooks = [{theirs}] }}, {{ hooks = [{ours}] }}]\n"),
                format!("hooks.Stop = [{{ hooks = [{theirs}] }}]\n"),
            ),
            (
                format!("hooks.Stop = [{{ hooks = [{theirs}, {ours}] }}]\n"),
                format!("hooks.Stop = [{{ hooks = [{theirs}] }}]\n"),
            ),
            (table(theirs) + &table(ours), table(theirs)),
            (format!("[[hooks.Stop]]\nhooks = [{ours}]\n"), String::new()),
            (table(theirs), table(theirs)),
        ] {
            let mut document: DocumentMut = text.parse().unwrap();
            let events = document["hooks"].as_table_like_mut().unwrap();
            assert_eq!(strip(events, &place), text != left, "{text}");
            assert_eq!(document.to_string(), left);
        }
    }
}
