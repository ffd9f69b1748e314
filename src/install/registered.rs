//! The hooks object of a settings file (`{"hooks": {Event: [{matcher?, hooks: [{type, command, timeout}]}]}}`,
//! the form that Claude Code's settings, Codex's `hooks.json` and both plugins share): which entries in it
//! are ours, how ours go in, how they come out.
//!
//! Ours is a command line that has exactly the form that we write: one of the five executables in a
//! directory `bin` of a data directory (see `Place::is_data_dir`) or with the command in it, or of our plugin, and `--host <host>` behind it.
//! Everything else is somebody else's, whatever it contains.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::place::Place;
use crate::hook::Hook;
use crate::host::Host;
use crate::hosts::registration::{self, Row, command_line, hooks_json};

/// An entry of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ours {
    /// The event that it is registered with.
    pub event: String,
    /// For which tools.
    pub matcher: Option<String>,
    /// The executable.
    pub hook: Hook,
    /// The whole command line.
    pub command: String,
    /// Which group of the event, which hook of the group.
    pub at: (usize, usize),
}

/// The command line of a hook that is placed here.
#[must_use]
pub(super) fn command(place: &Place, hook: Hook, host: Host) -> String {
    command_line(&place.executable(hook).to_string_lossy(), host)
}

/// The `hooks` object of a host, with the executables that are placed here.
#[must_use]
pub(super) fn wanted(place: &Place, host: Host) -> Value {
    hooks_json(host, |hook| command(place, hook, host))
}

/// The events that a host is asked for, in the order of a session.
#[must_use]
pub fn events(host: Host) -> Vec<&'static str> {
    registration::rows(host).iter().map(|row| row.event).collect()
}

/// The executable and the host of a command line of ours; `None`: it is not ours.
#[must_use]
pub(super) fn ours(command: &str, place: &Place) -> Option<(Hook, Host)> {
    let (path, rest) = first_word(command.trim())?;
    let host = Host::from_id(rest.trim_start().strip_prefix("--host ")?.trim())?;
    let path = Path::new(&path);
    let hook = Hook::from_name(path.file_name()?.to_str()?)?;
    let bin = path.parent()?;
    let home = bin.parent()?;
    let is_bin = bin.file_name().is_some_and(|name| name == "bin");
    // An installation elsewhere, whose receipt is gone, has the command beside its hooks.
    let has_command = || bin.join("bookend").is_file();
    let is_home = home == Path::new("${CLAUDE_PLUGIN_ROOT}") || place.is_data_dir(home) || has_command();
    (is_bin && is_home).then_some((hook, host))
}

/// The first word of a shell line, quotes taken off, and what follows it.
fn first_word(line: &str) -> Option<(String, &str)> {
    if let Some(rest) = line.strip_prefix('"') {
        let (word, rest) = rest.split_once('"')?;
        return Some((word.to_owned(), rest));
    }
    if line.starts_with('\'') {
        // 'it'\''s': as command_line writes it.
        let mut word = String::new();
        let mut rest = line;
        while let Some(part) = rest.strip_prefix('\'') {
            let (quoted, behind) = part.split_once('\'')?;
            word.push_str(quoted);
            rest = match behind.strip_prefix(r"\'") {
                Some(more) => {
                    word.push('\'');
                    more
                }
                None => return Some((word, behind)),
            };
        }
        return None;
    }
    let end = line.find(char::is_whitespace)?;
    let (word, rest) = line.split_at_checked(end)?;
    Some((word.to_owned(), rest))
}

/// Our entries in a document that has a `hooks` object.
#[must_use]
pub(super) fn find(document: &Value, place: &Place) -> Vec<Ours> {
    let mut found = Vec::new();
    let Some(events) = document.get("hooks").and_then(Value::as_object) else {
        return found;
    };
    for (event, groups) in events {
        for (g, group) in groups.as_array().into_iter().flatten().enumerate() {
            let hooks = group.get("hooks").and_then(Value::as_array);
            for (h, hook) in hooks.into_iter().flatten().enumerate() {
                let Some(line) = hook.get("command").and_then(Value::as_str) else {
                    continue;
                };
                if let Some((executable, _)) = ours(line, place) {
                    found.push(Ours {
                        event: event.clone(),
                        matcher: group.get("matcher").and_then(Value::as_str).map(str::to_owned),
                        hook: executable,
                        command: line.to_owned(),
                        at: (g, h),
                    });
                }
            }
        }
    }
    found
}

/// Takes our entries out, and what is empty without them.
pub(super) fn strip(document: &mut Value, place: &Place) {
    let Some(events) = document.get_mut("hooks").and_then(Value::as_object_mut) else {
        return;
    };
    let is_ours = |hook: &Value| {
        let line = hook.get("command").and_then(Value::as_str);
        line.is_some_and(|line| ours(line, place).is_some())
    };
    let mut emptied = Vec::new();
    for (event, groups) in events.iter_mut() {
        let Some(groups) = groups.as_array_mut() else {
            continue;
        };
        let before = groups.len();
        groups.retain_mut(|group| {
            let Some(hooks) = group.get_mut("hooks").and_then(Value::as_array_mut) else {
                return true;
            };
            let had = hooks.iter().any(is_ours);
            hooks.retain(|hook| !is_ours(hook));
            !(had && hooks.is_empty())
        });
        if groups.is_empty() && before > 0 {
            emptied.push(event.clone());
        }
    }
    let any = !emptied.is_empty();
    events.retain(|event, _| !emptied.contains(event));
    if any && events.is_empty() {
        remove(document, "hooks");
    }
}

/// Puts our entries in, behind those that are there.
pub(super) fn add(document: &mut Value, place: &Place, host: Host) {
    let wanted = wanted(place, host);
    let Some(events) = member(document, "hooks") else {
        return;
    };
    for (event, groups) in wanted
        .get("hooks")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let there = events.entry(event.clone()).or_insert_with(|| json!([]));
        if let (Some(there), Some(groups)) = (there.as_array_mut(), groups.as_array()) {
            there.extend(groups.iter().cloned());
        }
    }
}

/// The member of that name as an object, made if missing; `None`: something else stands there.
pub(super) fn member<'v>(document: &'v mut Value, name: &str) -> Option<&'v mut Map<String, Value>> {
    let members = document.as_object_mut()?;
    members.entry(name).or_insert_with(|| json!({})).as_object_mut()
}

/// Removes a member, the order of the others kept.
pub(super) fn remove(document: &mut Value, name: &str) {
    if let Some(members) = document.as_object_mut() {
        members.shift_remove(name);
    }
}

/// What is wrong with the entries that were found, against those that belong there.
#[must_use]
pub(super) fn faults(found: &[Ours], place: &Place, host: Host) -> Vec<String> {
    let mut faults = Vec::new();
    let rows = registration::rows(host);
    for row in rows {
        let here: Vec<&Ours> = found.iter().filter(|o| is_row(o, row)).collect();
        match here.as_slice() {
            [] => faults.push(match found.iter().find(|o| o.event == row.event) {
                Some(other) if other.hook == row.hook => {
                    format!(
                        "{}: its matcher is {}",
                        row.event,
                        or_none(other.matcher.as_deref())
                    )
                }
                Some(other) => format!("{}: it runs {}", row.event, other.hook.name()),
                None => format!("{} is missing", row.event),
            }),
            [one] if one.command != command(place, row.hook, host) => {
                faults.push(format!("{}: it runs {}", row.event, one.command));
            }
            [_] => {}
            more => faults.push(format!("{} stands there {} times", row.event, more.len())),
        }
        // Beside the one that belongs there, the same hook again for other tools.
        if let [_] = here.as_slice()
            && let Some(other) = found.iter().find(|o| {
                o.event == row.event && o.hook == row.hook && !rows.iter().any(|row| is_row(o, row))
            })
        {
            let matcher = or_none(other.matcher.as_deref());
            faults.push(format!(
                "{}: it stands there again, its matcher {matcher}",
                row.event
            ));
        }
    }
    let is_asked = |event: &str| rows.iter().any(|row| row.event == event);
    for other in found.iter().filter(|o| !is_asked(&o.event)) {
        faults.push(format!("{} is none that Bookend asks for", other.event));
    }
    faults
}

fn is_row(ours: &Ours, row: &Row) -> bool {
    // Hosts take both for everything.
    let matcher = ours.matcher.as_deref().filter(|m| !["", "*"].contains(m));
    ours.event == row.event && ours.hook == row.hook && matcher == row.matcher
}

fn or_none(matcher: Option<&str>) -> String {
    matcher.map_or_else(|| "not set".to_owned(), |m| format!("`{m}`"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn place(data: &str) -> Place {
        Place::bare(PathBuf::from(data))
    }

    #[test]
    fn ours_is_the_exact_form_and_nothing_that_resembles_it() {
        let place = place("/data/it's mine");
        let line = command(&place, Hook::Stop, Host::Codex);
        assert_eq!(ours(&line, &place), Some((Hook::Stop, Host::Codex)), "{line}");
        for line in [
            "\"/home/é x/.local/share/bookend/bin/stop\" --host claude-code",
            "/opt/bookend/bin/stop --host claude-code",
            "\"${CLAUDE_PLUGIN_ROOT}/bin/stop\" --host claude-code",
        ] {
            assert_eq!(ours(line, &place), Some((Hook::Stop, Host::ClaudeCode)), "{line}");
        }
        for foreign in [
            "/usr/local/bin/stop --host claude-code",
            "\"/x/bookend/bin/stop\"",
            "\"/x/bookend/bin/stop\" --host emacs",
            "\"/x/bookend/bin/start\" --host codex",
            "\"/x/bookend/stop\" --host codex",
            "sh -c '/x/bookend/bin/stop --host codex'",
            "bookend stop",
            "echo bookend/bin/stop --host codex",
            "'/x/bookend/bin/stop --host codex",
        ] {
            assert_eq!(ours(foreign, &place), None, "{foreign}");
        }
    }

    #[test]
    fn ours_go_in_behind_foreign_ones_and_come_out_again() {
        let place = place("/home/a/.local/share/bookend");
        let before = json!({"model": "x", "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}], "Odd": [], "Other": 7}});
        let mut document = before.clone();
        add(&mut document, &place, Host::ClaudeCode);
        let found = find(&document, &place);
        assert_eq!(found.len(), registration::rows(Host::ClaudeCode).len());
        assert_eq!(faults(&found, &place, Host::ClaudeCode), Vec::<String>::new());
        strip(&mut document, &place);
        assert_eq!(document, before);
    }

    #[test]
    fn a_hook_of_ours_in_a_foreign_group_comes_out_alone() {
        let place = place("/d");
        let line = command(&place, Hook::Stop, Host::ClaudeCode);
        let mut document =
            json!({"hooks": {"Stop": [{"hooks": [{"command": "theirs"}, {"command": line}]}]}});
        strip(&mut document, &place);
        assert_eq!(
            document,
            json!({"hooks": {"Stop": [{"hooks": [{"command": "theirs"}]}]}})
        );
    }

    #[test]
    fn what_is_missing_changed_or_doubled_is_named() {
        let place = place("/d");
        let mut document = wanted(&place, Host::ClaudeCode);
        let hooks = document["hooks"].as_object_mut().unwrap();
        hooks.shift_remove("Stop");
        hooks["PreToolUse"][0]["matcher"] = json!("Bash");
        hooks["SessionStart"][0]["hooks"][0]["timeout"] = json!(30);
        hooks["SessionStart"][0]["matcher"] = json!("*");
        let mut again = hooks["PostToolUse"][0].clone();
        again["matcher"] = json!("Bash");
        hooks["PostToolUse"].as_array_mut().unwrap().push(again.clone());
        hooks.insert("Notification".to_owned(), json!([again]));
        let twice = hooks["SubagentStart"][0].clone();
        hooks["SubagentStart"].as_array_mut().unwrap().push(twice);
        hooks["UserPromptSubmit"][0]["hooks"][0]["command"] =
            json!("\"/old/bookend/bin/turn-start\" --host claude-code");
        let faults = faults(&find(&document, &place), &place, Host::ClaudeCode);
        assert_eq!(
            faults,
            [
                "UserPromptSubmit: it runs \"/old/bookend/bin/turn-start\" --host claude-code",
                "PreToolUse: its matcher is `Bash`",
                "SubagentStart stands there 2 times",
                "PostToolUse: it stands there again, its matcher `Bash`",
                "Stop is missing",
                "Notification is none that Bookend asks for",
            ]
        );
    }
}
