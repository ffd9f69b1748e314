//! A model request as the script needs it, whatever wire format it came in.
//!
//! Every host names its tools in its own way and sends their schemas along. A step asks for "the shell" or "the write
//! tool"; [`Turn::call`] finds the first of the known names that this host offers and keeps only the arguments that the
//! tool declares, so one script drives every host.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Names of the shell tool, by host.
pub(super) const SHELL: &[&str] = &[
    "Bash",
    "run_shell_command",
    "bash",
    "exec_command",
    "shell_command",
];
/// Names of the tool that writes a file.
pub(super) const WRITE: &[&str] = &["Write", "write_file", "write", "create", "apply_patch"];
/// Names of the tool that reads a file.
pub(super) const READ: &[&str] = &["Read", "read_file", "read", "view"];
/// Names of the delegation tool.
pub(super) const AGENT: &[&str] = &["Agent", "Task", "invoke_agent", "agent", "task", "spawn_agent"];
/// Names of the todo tool.
pub(super) const TODO: &[&str] = &[
    "TodoWrite",
    "TaskCreate",
    "write_todos",
    "todo_write",
    "todowrite",
    "update_plan",
    "sql",
];
/// Claude Code's way to load a deferred tool.
pub(super) const SELECT: &[&str] = &["ToolSearch"];
/// How models find tools that are not offered from the start.
pub(super) const FIND: &[&str] = &["ToolSearch", "tool_search"];
/// Codex's way to wait for a subagent.
pub(super) const WAIT: &[&str] = &["wait_agent", "wait"];

/// One tool that the host offers.
#[derive(Debug, Default)]
pub(super) struct Tool {
    /// Names of the declared arguments; empty when the host declares none.
    pub properties: Vec<String>,
    /// Codex groups tools in namespaces and wants the name back.
    pub namespace: Option<String>,
    /// `function` or, for Codex' free-form tools, `custom`.
    pub kind: String,
}

/// One model request.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub tools: BTreeMap<String, Tool>,
    /// The user's texts, each with the number of model turns before it.
    pub users: Vec<(usize, String)>,
    /// Model turns in the conversation.
    pub model_turns: usize,
    /// The host asks for a summary of the conversation.
    pub compaction: bool,
}

/// What the model does next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Says this and ends the turn.
    Say(String),
    /// Calls a tool.
    Call { tool: String, input: Value },
    /// All of these in one answer.
    Together(Vec<Action>),
    /// The service answers with this HTTP status.
    Fail(u16),
}

impl Action {
    /// What the answer is made of.
    pub(super) fn parts(&self) -> &[Self] {
        match self {
            Self::Together(all) => all,
            one => std::slice::from_ref(one),
        }
    }
}

impl Turn {
    pub(super) fn tool(&mut self, name: &str, schema: Option<&Value>, namespace: Option<&str>, kind: &str) {
        let properties = schema
            .and_then(|schema| schema.get("properties"))
            .and_then(Value::as_object)
            .map(|properties| properties.keys().cloned().collect())
            .unwrap_or_default();
        let tool = Tool {
            properties,
            namespace: namespace.map(str::to_owned),
            kind: kind.to_owned(),
        };
        self.tools.insert(name.to_owned(), tool);
    }

    pub(super) fn user(&mut self, text: String) {
        if !text.is_empty() {
            self.users.push((self.model_turns, text));
        }
    }

    pub(super) fn offers(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.tools.contains_key(*name))
    }

    /// The first of `names` that the host offers, else the first of them: an unknown tool is an answer too.
    pub(super) fn pick<'n>(&self, names: &[&'n str]) -> &'n str {
        let offered = names.iter().find(|name| self.tools.contains_key(**name));
        offered.or(names.first()).copied().unwrap_or_default()
    }

    /// A call of the first offered tool, with only the arguments that it declares.
    pub(super) fn call(&self, names: &[&str], arguments: Value) -> Action {
        let name = self.pick(names);
        let declared = self
            .tools
            .get(name)
            .map(|tool| tool.properties.as_slice())
            .unwrap_or_default();
        let input = match arguments {
            Value::Object(all) if !declared.is_empty() => Value::Object(
                all.into_iter()
                    .filter(|(key, _)| declared.contains(key))
                    .collect::<Map<_, _>>(),
            ),
            other => other,
        };
        Action::Call {
            tool: name.to_owned(),
            input,
        }
    }
}

/// The text of a content value: a string, or the text blocks of a list. Tool calls and their results are left out.
pub(super) fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => blocks
            .iter()
            .filter_map(block_text)
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

fn block_text(block: &Value) -> Option<&str> {
    match block.get("type").and_then(Value::as_str).unwrap_or("text") {
        "text" | "input_text" | "output_text" => block.get("text").and_then(Value::as_str),
        "encrypted_content" => block.get("encrypted_content").and_then(Value::as_str),
        _ => None,
    }
}

/// The elements of an array member; none when it is absent or no array.
pub(super) fn list<'v>(value: &'v Value, member: &str) -> &'v [Value] {
    value
        .get(member)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// A string member.
pub(super) fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_takes_the_hosts_tool_and_only_its_declared_arguments() {
        let mut turn = Turn::default();
        turn.tool(
            "run_shell_command",
            Some(&json!({"properties": {"command": {}}})),
            None,
            "function",
        );
        let call = turn.call(SHELL, json!({"command": "echo hi", "cmd": "echo hi"}));
        assert_eq!(
            call,
            Action::Call {
                tool: "run_shell_command".into(),
                input: json!({"command": "echo hi"})
            }
        );
    }

    #[test]
    fn an_absent_tool_is_called_by_its_first_name() {
        assert_eq!(Turn::default().pick(READ), "Read");
    }

    #[test]
    fn tool_results_are_no_user_text() {
        let content = json!([{"type": "tool_result", "content": "no"}, {"type": "text", "text": "yes"}]);
        assert_eq!(text_of(Some(&content)), "yes");
    }
}
