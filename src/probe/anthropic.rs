//! Anthropic Messages (`POST …/v1/messages`), streaming and not: what Claude Code speaks.

use serde_json::{Value, json};

use super::turn::{Action, Turn, list, text, text_of};
use super::wire::{Answer, Event, Wire, error_text, new_id, typed};

/// The format.
pub(super) struct Anthropic;

/// What Claude Code writes when it wants a conversation summed up.
const COMPACTION: [&str; 2] = ["summary of the conversation", "detailed summary"];

impl Wire for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with("/messages")
    }

    fn read(&self, body: &Value) -> Turn {
        let mut turn = Turn::default();
        for tool in list(body, "tools") {
            turn.tool(
                text(tool, "name").unwrap_or_default(),
                tool.get("input_schema"),
                None,
                "function",
            );
        }
        let messages = list(body, "messages");
        for message in messages {
            if text(message, "role") == Some("assistant") {
                turn.model_turns += 1;
            } else {
                turn.user(text_of(message.get("content")));
            }
        }
        turn.compaction = messages.iter().rev().take(3).any(asks_for_a_summary);
        turn
    }

    fn answer(&self, body: &Value, _turn: &Turn, action: &Action, tokens: u64) -> Answer {
        let usage = json!({"input_tokens": tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20});
        let blocks: Vec<Value> = action.parts().iter().flat_map(blocks).collect();
        let calls = blocks.iter().any(|block| text(block, "type") == Some("tool_use"));
        let stop = if calls { "tool_use" } else { "end_turn" };
        let message = |content: &[Value], stop: Option<&str>| {
            json!({"id": new_id("msg_"), "type": "message", "role": "assistant", "model": body.get("model"), "content": content,
                "stop_reason": stop, "stop_sequence": null, "usage": usage})
        };
        let mut events = vec![typed("message_start", json!({"message": message(&[], None)}))];
        events.extend(
            blocks
                .iter()
                .enumerate()
                .flat_map(|(index, block)| block_events(index, block)),
        );
        events.push(typed(
            "message_delta",
            json!({"delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}),
        ));
        events.push(typed("message_stop", json!({})));
        Answer {
            whole: message(&blocks, Some(stop)),
            events,
        }
    }

    fn error(&self, status: u16) -> Value {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": error_text(status)}, "request_id": new_id("req_")})
    }
}

fn blocks(action: &Action) -> Vec<Value> {
    let say = |words: &str| json!({"type": "text", "text": words});
    match action {
        Action::Call { tool, input } => vec![
            say(&format!("Calling {tool}.")),
            json!({"type": "tool_use", "id": new_id("toolu_"), "name": tool, "input": input}),
        ],
        Action::Say(words) => vec![say(words)],
        Action::Fail(status) => vec![say(&error_text(*status))],
        Action::Together(all) => all.iter().flat_map(blocks).collect(),
    }
}

fn asks_for_a_summary(message: &Value) -> bool {
    let words = text_of(message.get("content"));
    COMPACTION.iter().any(|mark| words.contains(mark))
}

/// A block arrives as its start, one delta with everything, and its stop.
fn block_events(index: usize, block: &Value) -> [Event; 3] {
    let (empty, delta) = if let Some(words) = text(block, "text") {
        (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": words}),
        )
    } else {
        let input = block.get("input").map(Value::to_string).unwrap_or_default();
        let start =
            json!({"type": "tool_use", "id": block.get("id"), "name": block.get("name"), "input": {}});
        (start, json!({"type": "input_json_delta", "partial_json": input}))
    };
    [
        typed(
            "content_block_start",
            json!({"index": index, "content_block": empty}),
        ),
        typed("content_block_delta", json!({"index": index, "delta": delta})),
        typed("content_block_stop", json!({"index": index})),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_call_streams_its_arguments_and_ends_with_tool_use() {
        let action = Action::Call {
            tool: "Bash".into(),
            input: json!({"command": "echo hi"}),
        };
        let answer = Anthropic.answer(&json!({"model": "m"}), &Turn::default(), &action, 7);
        let names: Vec<_> = answer.events.iter().filter_map(|(name, _)| *name).collect();
        assert_eq!(names.first(), Some(&"message_start"));
        assert_eq!(names.last(), Some(&"message_stop"));
        let json =
            serde_json::to_string(&answer.events.iter().map(|(_, data)| data).collect::<Vec<_>>()).unwrap();
        assert!(
            json.contains(r#""partial_json":"{\"command\":\"echo hi\"}""#),
            "{json}"
        );
        assert_eq!(answer.whole["stop_reason"], "tool_use");
        assert_eq!(answer.whole["usage"]["input_tokens"], 7);
    }

    #[test]
    fn a_request_reads_as_tools_user_texts_and_model_turns() {
        let turn = Anthropic.read(&json!({
            "tools": [{"name": "Bash", "input_schema": {"properties": {"command": {}}}}],
            "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": []}, {"role": "user", "content": [{"type": "text", "text": "go on"}]}],
        }));
        assert!(turn.offers(&["Bash"]));
        assert_eq!(turn.users, [(0, "hi".to_owned()), (1, "go on".to_owned())]);
        assert!(!turn.compaction);
    }
}
