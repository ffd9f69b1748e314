//! Gemini (`POST …:generateContent`, `…:streamGenerateContent`): what Gemini CLI speaks.

use serde_json::{Value, json};

use super::turn::{Action, Turn, list, text, text_of};
use super::wire::{Answer, Wire, error_text, new_id};

/// The format.
pub(super) struct Gemini;

impl Wire for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent")
    }

    fn streams(&self, path: &str, _body: &Value) -> bool {
        path.contains(":streamGenerateContent")
    }

    fn read(&self, body: &Value) -> Turn {
        let mut turn = Turn::default();
        for tool in list(body, "tools")
            .iter()
            .flat_map(|tools| list(tools, "functionDeclarations"))
        {
            let schema = tool
                .get("parametersJsonSchema")
                .or_else(|| tool.get("parameters"));
            turn.tool(text(tool, "name").unwrap_or_default(), schema, None, "function");
        }
        for content in list(body, "contents") {
            if text(content, "role") == Some("model") {
                turn.model_turns += 1;
            } else {
                turn.user(text_of(content.get("parts")));
            }
        }
        // A summary is asked for without tools, in the system instruction or in the last text.
        turn.compaction = turn.tools.is_empty() && body.to_string().contains("state_snapshot");
        turn
    }

    fn answer(&self, _body: &Value, _turn: &Turn, action: &Action, tokens: u64) -> Answer {
        let parts: Vec<Value> = action.parts().iter().map(part).collect();
        let candidate =
            json!({"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": "STOP"});
        let usage =
            json!({"promptTokenCount": tokens, "candidatesTokenCount": 20, "totalTokenCount": tokens + 20});
        let whole = json!({"candidates": [candidate], "modelVersion": "example-model", "responseId": new_id("r"),
            "usageMetadata": usage});
        Answer {
            events: vec![(None, whole.clone())],
            whole,
        }
    }

    fn error(&self, status: u16) -> Value {
        let (message, name) = match status {
            429 => (
                "You exceeded your current quota.".to_owned(),
                "RESOURCE_EXHAUSTED",
            ),
            _ => (error_text(status), "INTERNAL"),
        };
        json!({"error": {"code": status, "message": message, "status": name}})
    }
}

fn part(action: &Action) -> Value {
    match action {
        Action::Call { tool, input } => json!({"functionCall": {"name": tool, "args": input}}),
        Action::Say(words) => json!({ "text": words }),
        Action::Fail(status) => json!({"text": error_text(*status)}),
        Action::Together(_) => json!({"text": "calls within calls"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_as_tools_user_texts_and_model_turns() {
        let turn = Gemini.read(&json!({
            "tools": [{"functionDeclarations": [{"name": "write_file", "parametersJsonSchema": {"properties": {"content": {}}}}]}],
            "contents": [{"role": "user", "parts": [{"text": "hi"}, {"functionResponse": {}}]}, {"role": "model", "parts": []}],
        }));
        assert!(turn.offers(&["write_file"]));
        assert_eq!((turn.users, turn.model_turns), (vec![(0, "hi".to_owned())], 1));
    }
}
