//! A step put into effect: which of the host's tools is called, and with what.

use std::path::Path;

use serde_json::{Map, json};

use super::step::{Call, Delegation, What};
use super::turn::{AGENT, Action, FIND, READ, SELECT, SHELL, TODO, Turn, WAIT, WRITE};

/// How the line begins that tells a subagent its steps; the line ends in `]`.
pub(super) const SUB_MARK: &str = "[bookend-sub ";

const TODOS: [(&str, &str); 2] = [("Add the column", "in_progress"), ("Run the tests", "pending")];

/// What a step needs to know beside the request.
pub(super) struct Scene<'s> {
    /// The folder of the `write` and `read` steps.
    pub project: &'s Path,
    /// The steps of a subagent.
    pub sub: &'s str,
}

impl Scene<'_> {
    /// What the model does for a step, with the tools that this host offers.
    pub(super) fn action(&self, what: &What, turn: &Turn) -> Action {
        match what {
            What::Say(words) => say(words, turn),
            What::Hang(_) => say("done after a delay", turn),
            What::Http { status, .. } => Action::Fail(*status),
            What::Shell(command) => {
                let arguments = json!({"command": command, "cmd": command, "description": "run a command", "is_background": false});
                turn.call(SHELL, arguments)
            }
            What::Write if turn.pick(WRITE) == "apply_patch" => {
                let patch = "*** Begin Patch\n*** Add File: orders.txt\n+hello\n*** End Patch\n";
                Action::Call {
                    tool: "apply_patch".to_owned(),
                    input: json!({ "input": patch }),
                }
            }
            What::Write => {
                let file = self.file("orders.txt");
                turn.call(WRITE, json!({"file_path": file, "filePath": file, "path": file, "content": "hello\n", "file_text": "hello\n"}))
            }
            What::Read { missing } => {
                let file = self.file(if *missing {
                    "does-not-exist.txt"
                } else {
                    "orders.txt"
                });
                turn.call(READ, json!({"file_path": file, "filePath": file, "path": file}))
            }
            What::Select => turn.call(
                SELECT,
                json!({"query": "select:TaskCreate,TaskUpdate", "max_results": 5}),
            ),
            What::Wait => turn.call(WAIT, json!({"timeout_ms": 10_000})),
            What::Find(query) => turn.call(FIND, json!({"query": query, "max_results": 20, "limit": 20})),
            What::Tool(call) => called(call, turn),
            What::Tools(calls) => Action::Together(calls.iter().map(|call| called(call, turn)).collect()),
            What::BadTool => Action::Call {
                tool: "no_such_tool".to_owned(),
                input: json!({"x": 1}),
            },
            What::Todo { done } => todo(*done, turn),
            What::Delegate(how) => self.delegate(*how, turn),
        }
    }

    fn file(&self, name: &str) -> String {
        self.project.join(name).to_string_lossy().into_owned()
    }

    fn delegate(&self, how: Delegation, turn: &Turn) -> Action {
        let background = how == Delegation::Background;
        let steps = if how == Delegation::Limited {
            "http429"
        } else {
            self.sub
        };
        let prompt = format!("List the files that render the orders page.\n{SUB_MARK}{steps}]");
        let name = turn.pick(AGENT);
        let who = if matches!(name, "Agent" | "Task") {
            "general-purpose"
        } else {
            "helper"
        };
        let mut arguments = json!({
            "description": "find the orders page", "prompt": prompt, "message": prompt, "subagent_type": who, "agent_name": who,
            "name": "find-orders-page", "mode": if background { "background" } else { "sync" }, "run_in_background": background,
            "task_name": "orders_page",
        });
        if let (Some(all), true) = (arguments.as_object_mut(), name != "spawn_agent") {
            all.insert("agent_type".to_owned(), json!(who));
        }
        turn.call(AGENT, arguments)
    }
}

/// A tool by the end of its name.
fn called(call: &Call, turn: &Turn) -> Action {
    let offered = turn.tools.keys().find(|tool| tool.ends_with(call.name.as_str()));
    Action::Call {
        tool: offered.unwrap_or(&call.name).clone(),
        input: call.input.clone(),
    }
}

/// Text ends a turn, except for Gemini's subagents, which end by calling a tool.
fn say(words: &str, turn: &Turn) -> Action {
    if turn.offers(&["complete_task"]) {
        return Action::Call {
            tool: "complete_task".to_owned(),
            input: json!({ "result": words }),
        };
    }
    Action::Say(words.to_owned())
}

fn todo(done: bool, turn: &Turn) -> Action {
    let name = turn.pick(TODO);
    let [(subject, _), _] = TODOS;
    if name == "TaskCreate" && done {
        return Action::Call {
            tool: "TaskUpdate".to_owned(),
            input: json!({"taskId": "1", "status": "completed"}),
        };
    }
    let keep: &[&str] = match name {
        "write_todos" => &["description", "status"],
        "todo_write" => &["id", "content", "status"],
        "todowrite" => &["content", "status", "priority"],
        "update_plan" => &["step", "status"],
        _ => &["content", "status", "activeForm"],
    };
    let item = |(n, (content, status)): (usize, &(&str, &str))| {
        let status = if done && n == 0 { "completed" } else { status };
        let all = json!({"content": content, "description": content, "step": content, "status": status, "id": (n + 1).to_string(),
            "priority": "high", "activeForm": content});
        keep.iter()
            .filter_map(|key| Some(((*key).to_owned(), all.get(*key)?.clone())))
            .collect::<Map<_, _>>()
    };
    let items: Vec<_> = TODOS.iter().enumerate().map(item).collect();
    let query = if done {
        "UPDATE todos SET status = 'done' WHERE id = '1'".to_owned()
    } else {
        format!(
            "INSERT INTO todos (id, title, description, status) VALUES ('1', '{subject}', '', 'in_progress')"
        )
    };
    let arguments = json!({"todos": items, "plan": items, "subject": subject, "description": subject, "activeForm": subject, "query": query});
    turn.call(TODO, arguments)
}
