//! OpenAI Responses (`POST …/v1/responses`), streaming and not: what Codex speaks.

use serde_json::{Value, json};

use super::turn::{Action, Turn, list, text, text_of};
use super::wire::{Answer, Event, Wire, error_text, new_id, typed};

/// The format.
pub(super) struct OpenaiResponses;

/// What Codex writes when it wants a conversation summed up.
const COMPACTION: [&str; 2] = ["CONTEXT CHECKPOINT COMPACTION", "detailed summary"];

impl Wire for OpenaiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn read(&self, body: &Value) -> Turn {
        let mut turn = Turn::default();
        collect_tools(&mut turn, list(body, "tools"), None);
        let items = list(body, "input");
        for item in items {
            let role = text(item, "role");
            match text(item, "type").unwrap_or("message") {
                "tool_search_output" | "additional_tools" => {
                    collect_tools(&mut turn, list(item, "tools"), None)
                }
                "agent_message" => turn.user(text_of(item.get("content"))),
                "message" if role == Some("user") => turn.user(text_of(item.get("content"))),
                "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => {
                    turn.model_turns += 1
                }
                _ if role == Some("assistant") => turn.model_turns += 1,
                _ => {}
            }
        }
        let last = items
            .last()
            .map(|item| text_of(item.get("content")))
            .unwrap_or_default();
        turn.compaction = COMPACTION.iter().any(|mark| last.contains(mark));
        turn
    }

    fn answer(&self, _body: &Value, turn: &Turn, action: &Action, tokens: u64) -> Answer {
        let items: Vec<Value> = action
            .parts()
            .iter()
            .map(|part| output_item(turn, part))
            .collect();
        let id = new_id("resp_");
        let usage = json!({"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 20});
        let whole =
            json!({"id": id, "object": "response", "status": "completed", "usage": usage, "output": items});
        let mut events = vec![typed("response.created", json!({"response": {"id": id}}))];
        for (index, item) in items.iter().enumerate() {
            let item_event = |name| typed(name, json!({"output_index": index, "item": item}));
            events.push(item_event("response.output_item.added"));
            events.extend(text_delta(item));
            events.push(item_event("response.output_item.done"));
        }
        events.push(typed("response.completed", json!({"response": whole})));
        Answer { whole, events }
    }

    fn error(&self, status: u16) -> Value {
        let kind = match status {
            429 => "rate_limit_exceeded",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {"message": error_text(status), "type": kind, "code": kind}})
    }
}

fn collect_tools(turn: &mut Turn, tools: &[Value], namespace: Option<&str>) {
    for tool in tools {
        let kind = text(tool, "type").unwrap_or_default();
        if kind == "namespace" {
            collect_tools(turn, list(tool, "tools"), text(tool, "name"));
        } else {
            turn.tool(
                text(tool, "name").unwrap_or(kind),
                tool.get("parameters"),
                namespace,
                kind,
            );
        }
    }
}

fn output_item(turn: &Turn, action: &Action) -> Value {
    let call_id = new_id("call_");
    let (name, input) = match action {
        Action::Call { tool, input } => (tool, input),
        Action::Say(words) => return message(&call_id, words),
        Action::Fail(status) => return message(&call_id, &error_text(*status)),
        Action::Together(_) => return message(&call_id, "calls within calls"),
    };
    let tool = turn.tools.get(name);
    if tool.is_some_and(|tool| tool.kind == "custom") {
        let patch = input.get("input");
        return json!({"type": "custom_tool_call", "id": format!("ctc_{call_id}"), "call_id": call_id, "name": name,
            "input": patch});
    }
    if tool.is_some_and(|tool| tool.kind == "tool_search") {
        return json!({"type": "tool_search_call", "id": format!("ts_{call_id}"), "call_id": call_id, "execution": "client",
            "status": "completed", "arguments": input});
    }
    let mut item = json!({"type": "function_call", "id": format!("fc_{call_id}"), "call_id": call_id, "name": name,
        "arguments": input.to_string()});
    if let (Some(members), Some(namespace)) = (
        item.as_object_mut(),
        tool.and_then(|tool| tool.namespace.as_ref()),
    ) {
        members.insert("namespace".to_owned(), json!(namespace));
    }
    item
}

fn message(id: &str, words: &str) -> Value {
    json!({"type": "message", "id": format!("msg_{id}"), "role": "assistant",
        "content": [{"type": "output_text", "text": words}]})
}

fn text_delta(item: &Value) -> Option<Event> {
    let words = text(list(item, "content").first()?, "text")?;
    let delta = json!({"item_id": item.get("id"), "output_index": 0, "content_index": 0, "delta": words});
    Some(typed("response.output_text.delta", delta))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespaced_tool_is_called_with_its_namespace_and_a_custom_one_with_its_input() {
        let turn = OpenaiResponses.read(&json!({"tools": [
            {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "spawn_agent", "parameters": {}}]},
            {"type": "custom", "name": "apply_patch"},
            {"type": "tool_search", "execution": "client"},
        ]}));
        let call = |tool: &str| {
            let action = Action::Call {
                tool: tool.into(),
                input: json!({"input": "x"}),
            };
            OpenaiResponses.answer(&json!({}), &turn, &action, 1).whole["output"][0].clone()
        };
        assert_eq!(call("spawn_agent")["namespace"], "agents");
        assert_eq!(call("apply_patch")["type"], "custom_tool_call");
        assert_eq!(call("apply_patch")["input"], "x");
        assert_eq!(call("tool_search")["type"], "tool_search_call");
    }

    #[test]
    fn tools_that_a_search_found_count_as_offered() {
        let turn = OpenaiResponses.read(&json!({"input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "function_call"},
            {"type": "tool_search_output", "tools": [{"type": "function", "name": "wait_agent"}]},
        ]}));
        assert!(turn.offers(&["wait_agent"]));
        assert_eq!((turn.users.len(), turn.model_turns), (1, 1));
    }
}
