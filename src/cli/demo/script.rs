//! The recorded session: what the host sent, event by event, and where it was killed. `session.jsonl` holds
//! it, one step a line; the payloads have the shapes that Claude Code 2.1.332 sends, `{project}` and `{home}`
//! stand for the directories of the replay.

use serde::Deserialize;
use serde_json::Value;

use super::super::Failed;
use crate::hook::Hook;
use crate::redact::Redacted;

const SESSION: &str = include_str!("session.jsonl");
/// Longest text of an event, in characters.
const MAX: usize = 160;

/// One step of the recording.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Step {
    /// The host sends an event.
    Sent(Sent),
    /// The host is killed; whoever sends after it is another one.
    Killed {
        /// What happens, in a sentence.
        killed: String,
    },
}

/// An event.
#[derive(Debug, Deserialize)]
pub(super) struct Sent {
    /// What happens, in a sentence.
    pub(super) what: String,
    /// The executable that is registered for it.
    pub(super) hook: Hook,
    /// What the host writes to its stdin.
    pub(super) payload: Value,
}

/// The steps, in order.
pub(super) fn read(project: &str, home: &str) -> Result<Vec<Step>, Failed> {
    let steps = SESSION.lines().map(|line| {
        let mut step = serde_json::from_str(line)?;
        if let Step::Sent(sent) = &mut step {
            place(&mut sent.payload, project, home);
        }
        Ok(step)
    });
    steps
        .collect::<serde_json::Result<_>>()
        .map_err(|e| Failed::to(format!("read the recorded session: {e}; please report this")))
}

/// Puts the directories where their placeholders stand.
fn place(value: &mut Value, project: &str, home: &str) {
    match value {
        Value::String(text) => *text = text.replace("{project}", project).replace("{home}", home),
        Value::Array(items) => items.iter_mut().for_each(|v| place(v, project, home)),
        Value::Object(members) => members.values_mut().for_each(|v| place(v, project, home)),
        _ => {}
    }
}

impl Sent {
    /// The host's name of the event.
    pub(super) fn event(&self) -> &str {
        self.text("/hook_event_name").unwrap_or_default()
    }

    /// What the event is about, for people. The payload is as the host sent it, so what it says is redacted
    /// here as the hooks redact it.
    pub(super) fn about(&self, project: &str) -> Redacted {
        let of_tool = ["command", "file_path", "subject", "description", "taskId"];
        let input = of_tool
            .iter()
            .find_map(|field| self.text(&format!("/tool_input/{field}")));
        let plain = ["prompt", "last_assistant_message", "agent_type", "source"];
        let about = match (self.text("/tool_name"), input) {
            (Some(tool), Some(input)) => {
                let status = self.text("/tool_input/status").map(|s| format!(" is {s}"));
                let error = self
                    .text("/error")
                    .and_then(|e| e.lines().next())
                    .map(|e| format!(" ({e})"));
                let more = status.or(error).unwrap_or_default();
                format!("{tool}: {input}{more}")
            }
            (Some(tool), None) => tool.to_owned(),
            (None, _) => plain
                .iter()
                .find_map(|field| self.text(&format!("/{field}")))
                .unwrap_or_default()
                .to_owned(),
        };
        Redacted::first_line(&about.replace(&format!("{project}/"), ""), MAX)
    }

    fn text(&self, pointer: &str) -> Option<&str> {
        self.payload.pointer(pointer).and_then(Value::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;
    use crate::host::Host;
    use crate::hosts::registration;

    fn sent() -> Vec<Sent> {
        let steps = read("/w/shop", "/w/home").unwrap();
        let events = steps.into_iter().filter_map(|step| match step {
            Step::Sent(sent) => Some(sent),
            Step::Killed { .. } => None,
        });
        events.collect()
    }

    #[test]
    fn one_host_is_killed_and_the_last_event_is_anothers_session_start() {
        let steps = read("/w/shop", "/w/home").unwrap();
        let killed = |s: &Step| matches!(s, Step::Killed { .. });
        assert_eq!(steps.iter().filter(|s| killed(s)).count(), 1);
        assert!(killed(&steps[steps.len() - 2]));
        let sent = sent();
        let (first, last) = (&sent[0], sent.last().unwrap());
        assert_eq!((first.event(), last.event()), ("SessionStart", "SessionStart"));
        assert_ne!(first.payload["session_id"], last.payload["session_id"]);
        assert!(!format!("{steps:?}").contains("{project}"));
    }

    #[test]
    fn each_event_goes_to_the_executable_that_is_registered_for_it() {
        for one in sent() {
            let rows = registration::rows(Host::ClaudeCode).iter();
            let hooks: Vec<Hook> = rows.filter(|r| r.event == one.event()).map(|r| r.hook).collect();
            assert_eq!(hooks, [one.hook], "{}", one.event());
        }
    }

    /// The captured payload that has the shape of this event.
    fn captured(one: &Sent) -> Value {
        let stem = match (one.event(), one.text("/tool_name")) {
            ("SessionStart", _) => "SessionStart-tui-startup",
            ("PostToolUse", Some("TaskCreate")) => "PostToolUse-taskcreate",
            ("PostToolUse", Some("Bash")) => "PostToolUse-bash",
            // The host says the same of every tool; only what a tool is given and gives differs.
            ("PostToolUse", _) => "PostToolUse-write",
            ("PostToolUseFailure", _) => "PostToolUseFailure-bash-exit3",
            ("PreToolUse", _) => "PreToolUse-agent",
            (event, _) => event,
        };
        let path =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/payloads/claude-code/{stem}.json"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn each_payload_has_the_fields_of_a_captured_one_and_fits_into_any_pipe() {
        let fields = |value: &Value| -> BTreeSet<String> {
            let members = value.as_object().into_iter().flatten();
            members.map(|(name, _)| name.clone()).collect()
        };
        for one in sent() {
            let real = captured(&one);
            assert_eq!(fields(&one.payload), fields(&real), "{}", one.event());
            if one.payload["tool_name"] == real["tool_name"] {
                for part in ["tool_input", "tool_response"] {
                    assert_eq!(fields(&one.payload[part]), fields(&real[part]), "{part}");
                }
            }
            assert!(one.payload.to_string().len() < 2_048, "{}", one.event());
        }
    }

    #[test]
    fn what_an_event_is_about_holds_no_secret_and_no_long_path() {
        let about: Vec<String> = sent().iter().map(|s| s.about("/w/shop").into_string()).collect();
        for part in [
            "startup",
            "Bash: npm test (Exit code 1)",
            "Write: src/orders.html",
            "TaskUpdate: 1 is completed",
            "Agent: find the column test",
            "general-purpose",
        ] {
            assert!(about.iter().any(|a| a == part), "{part}: {about:#?}");
        }
        assert!(about.iter().any(|a| a.contains("[REDACTED:")), "{about:#?}");
        assert!(!about.concat().contains("d3m0f4c9"), "{about:#?}");
    }
}
