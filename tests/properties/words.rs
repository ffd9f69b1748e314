//! The steps of a story in each host's own words.

use bookend::hosts::Host;
use serde_json::{Value, json};

use super::story::{Machine, SESSION, Step, prompt};
use crate::harness::with;

impl Machine {
    /// The step in the host's words; none when this host does not say it.
    pub fn payload(&self, step: &Step) -> Option<Value> {
        let gemini = self.host == Host::GeminiCli;
        let one_of = |claude: &str, theirs: &str| {
            if gemini {
                theirs.to_owned()
            } else {
                claude.to_owned()
            }
        };
        let (event, turn, fields) = match step {
            Step::Prompt { turn, text } => (
                one_of("UserPromptSubmit", "BeforeAgent"),
                turn,
                json!({"prompt": prompt(*text)}),
            ),
            Step::HostPrompt { turn } if self.host == Host::ClaudeCode => {
                let prompt = "<task-notification>done</task-notification>";
                ("UserPromptSubmit".to_owned(), turn, json!({"prompt": prompt}))
            }
            Step::Tool {
                turn,
                call,
                agent,
                fails,
            } => self.tool(*call, *agent, *fails, turn),
            Step::Stop { turn, message } => {
                let said = if *message == 0 {
                    String::new()
                } else {
                    format!("Done {message}.")
                };
                let field = one_of("last_assistant_message", "prompt_response");
                let fields = json!({"stop_hook_active": false, field: said});
                (one_of("Stop", "AfterAgent"), turn, fields)
            }
            Step::Fail { turn } if self.host == Host::ClaudeCode => {
                let fields = json!({"error": "server_error", "last_assistant_message": "It broke"});
                ("StopFailure".to_owned(), turn, fields)
            }
            Step::Interrupt { turn } if self.host == Host::Codex => ("Interrupt".to_owned(), turn, json!({})),
            Step::Agent { turn, stops } if !gemini => {
                let event = if *stops { "SubagentStop" } else { "SubagentStart" };
                (
                    event.to_owned(),
                    turn,
                    json!({"agent_id": "a1", "agent_type": "helper"}),
                )
            }
            Step::Compact => (
                one_of("PreCompact", "PreCompress"),
                &None,
                json!({"trigger": "manual"}),
            ),
            Step::Start { source } => ("SessionStart".to_owned(), &None, json!({"source": source})),
            Step::End => ("SessionEnd".to_owned(), &None, json!({"reason": "exit"})),
            _ => return None,
        };
        let turn = turn.map(|t| format!("t{t}"));
        let own = match self.host {
            Host::ClaudeCode => {
                json!({"prompt_id": turn, "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl"})
            }
            Host::Codex => json!({"turn_id": turn, "model": "gpt-5.5",
                "transcript_path": "/home/dev/.codex/sessions/2026/11/30/rollout-2026-11-30T04-09-43-s1.jsonl"}),
            Host::GeminiCli => json!({"timestamp": format!("2026-11-30T04:00:00.{:03}Z", self.steps),
                "transcript_path": "/home/dev/.gemini/tmp/p/chats/session-2026-11-30T04-06-x.jsonl"}),
        };
        let base = json!({"session_id": SESSION, "cwd": self.lab.project(), "hook_event_name": event});
        Some(with(with(base, own), fields))
    }

    fn tool<'a>(
        &self,
        call: u8,
        agent: bool,
        fails: bool,
        turn: &'a Option<u8>,
    ) -> (String, &'a Option<u8>, Value) {
        let path = format!("/w/{call}.rs");
        let id = json!({"tool_use_id": format!("c{call}")});
        let agent = if agent {
            json!({"agent_id": "a1", "agent_type": "helper"})
        } else {
            json!({})
        };
        let (event, fields) = match self.host {
            Host::ClaudeCode if fails => {
                let fields = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "Exit code 1\nno"});
                ("PostToolUseFailure", with(with(fields, id), agent))
            }
            Host::ClaudeCode => {
                let fields = json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": "x"},
                    "tool_response": {"type": "create", "filePath": path}});
                ("PostToolUse", with(with(fields, id), agent))
            }
            Host::Codex => {
                let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
                let fields = json!({"tool_name": "apply_patch", "tool_input": {"command": patch},
                    "tool_response": "Exit code: 0\nOutput:\nSuccess.\n"});
                ("PostToolUse", with(with(fields, id), agent))
            }
            Host::GeminiCli => {
                let fields = json!({"tool_name": "write_file", "tool_input": {"file_path": path, "content": "x"},
                    "tool_response": {"llmContent": "ok", "returnDisplay": {"filePath": path, "isNewFile": true}}});
                ("AfterTool", fields)
            }
        };
        (event.to_owned(), turn, fields)
    }
}
