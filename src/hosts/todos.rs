//! Todo lists and single todo changes, in every host's spelling.
//!
//! A list that we cannot read whole changes nothing (half a list would delete the other half); an empty
//! list clears. Whole lists: Claude Code's older `TodoWrite`, Gemini CLI's `write_todos`, Qwen Code's
//! `todo_write`, OpenCode's `todowrite` and its event `todo.updated`, Codex's `update_plan`. Single changes:
//! Claude Code 2.1's `TaskCreate` and `TaskUpdate`. Copilot CLI and `codex exec` have no such tool.

use serde_json::Value;

use super::payload::Payload;
use crate::event::{MAX_LINE, Priority, TodoChange, TodoItem, TodoStatus};
use crate::redact::Redacted;

/// Most items read of one list: beyond it, it is no list that a person keeps.
const MAX_ITEMS: usize = 500;
/// Where an item's text stands.
const TEXT: [&str; 6] = ["content", "description", "step", "subject", "title", "text"];

/// The change that a successful call of that tool made, or that the event of that name tells.
pub(super) fn change(tool: &str, input: &Payload<'_>, response: Option<&Payload<'_>>) -> Option<TodoChange> {
    match tool {
        "TodoWrite" | "write_todos" | "todo_write" | "todowrite" => list(input.array(&["todos"])?),
        "todo.updated" => list(input.object(&["properties"])?.array(&["todos"])?),
        "update_plan" => list(input.array(&["plan"])?),
        "TaskCreate" => created(input, response),
        "TaskUpdate" => updated(input, response),
        _ => None,
    }
}

/// The status of that name; hosts differ in case, dashes and words.
pub(super) fn status(word: &str) -> Option<TodoStatus> {
    let word = word.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    Some(match word.as_str() {
        "pending" | "todo" | "open" | "not_started" => TodoStatus::Pending,
        "in_progress" | "inprogress" | "active" | "doing" => TodoStatus::InProgress,
        "completed" | "complete" | "done" => TodoStatus::Completed,
        "cancelled" | "canceled" | "deleted" | "skipped" => TodoStatus::Cancelled,
        _ => return None,
    })
}

fn list(items: &[Value]) -> Option<TodoChange> {
    if items.len() > MAX_ITEMS {
        return None;
    }
    let items = items.iter().map(item).collect::<Option<Vec<_>>>()?;
    Some(TodoChange::List { items })
}

fn item(value: &Value) -> Option<TodoItem> {
    let item = Payload::new(value)?;
    Some(TodoItem {
        content: Redacted::truncated(item.word(&TEXT)?, MAX_LINE),
        status: item
            .word(&["status", "state"])
            .and_then(status)
            .unwrap_or(TodoStatus::Pending),
        priority: item.word(&["priority"]).and_then(priority),
    })
}

fn priority(word: &str) -> Option<Priority> {
    match word.to_ascii_lowercase().as_str() {
        "high" => Some(Priority::High),
        "medium" => Some(Priority::Medium),
        "low" => Some(Priority::Low),
        _ => None,
    }
}

fn created(input: &Payload<'_>, response: Option<&Payload<'_>>) -> Option<TodoChange> {
    let task = response.and_then(|r| r.object(&["task"]));
    let subject = input
        .word(&TEXT_OF_TASK)
        .or_else(|| task.and_then(|t| t.word(&TEXT_OF_TASK)))?;
    Some(TodoChange::Add {
        id: task.and_then(|t| t.id(&["id", "taskId", "task_id"])),
        item: TodoItem {
            content: Redacted::truncated(subject, MAX_LINE),
            status: input
                .word(&["status"])
                .and_then(status)
                .unwrap_or(TodoStatus::Pending),
            priority: None,
        },
    })
}

/// A task's `description` is a longer text; its `subject` is the item.
const TEXT_OF_TASK: [&str; 2] = ["subject", "title"];

fn updated(input: &Payload<'_>, response: Option<&Payload<'_>>) -> Option<TodoChange> {
    if response.and_then(|r| r.flag(&["success"])) == Some(false) {
        return None;
    }
    let id = input.id(&["taskId", "task_id", "id"])?;
    let word = input.word(&["status"]);
    if word == Some("deleted") {
        return Some(TodoChange::Remove { id });
    }
    let status = word.and_then(status);
    let content = input
        .word(&TEXT_OF_TASK)
        .map(|s| Redacted::truncated(s, MAX_LINE));
    (status.is_some() || content.is_some()).then_some(TodoChange::Set { id, status, content })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(tool: &str, input: &Value, response: &Value) -> Option<TodoChange> {
        change(
            tool,
            &Payload::new(input).unwrap(),
            Payload::new(response).as_ref(),
        )
    }

    #[test]
    fn every_spelling_of_a_status_is_one_of_four() {
        let table = [
            (
                TodoStatus::Pending,
                &["pending", "todo", "open", "not_started", "Not Started"][..],
            ),
            (
                TodoStatus::InProgress,
                &[
                    "in_progress",
                    "in-progress",
                    "inProgress",
                    "active",
                    "doing",
                    "IN_PROGRESS",
                ],
            ),
            (TodoStatus::Completed, &["completed", "done", "complete"]),
            (
                TodoStatus::Cancelled,
                &["cancelled", "canceled", "deleted", "skipped"],
            ),
        ];
        for (expected, words) in table {
            for word in words {
                assert_eq!(status(word), Some(expected), "{word}");
            }
        }
        assert_eq!(status("blocked"), None);
    }

    #[test]
    fn an_unreadable_list_changes_nothing_and_an_empty_one_clears() {
        for input in [
            json!({}),
            json!({"todos": null}),
            json!({"todos": "x"}),
            json!({"todos": {"content": "x"}}),
            json!({"todos": [{"content": "x"}, {"status": "pending"}]}),
            json!({"todos": [{"content": " "}]}),
            json!({"todos": ["x"]}),
        ] {
            assert_eq!(changed("TodoWrite", &input, &json!({})), None, "{input}");
        }
        let cleared = changed("write_todos", &json!({"todos": []}), &json!({}));
        assert_eq!(cleared, Some(TodoChange::List { items: Vec::new() }));
    }

    #[test]
    fn every_hosts_whole_list_is_the_same_list() {
        use TodoStatus::{Completed, InProgress, Pending};
        let table = [
            (
                "TodoWrite",
                json!({"todos": [{"content": "a", "status": "completed", "activeForm": "Doing a"},
                    {"content": "b", "status": "in_progress", "activeForm": "Doing b"},
                    {"content": "c", "status": "pending", "activeForm": "Doing c"}]}),
                None,
            ),
            (
                "write_todos",
                json!({"todos": [{"description": "a", "status": "completed"}, {"description": "b", "status": "in_progress"},
                    {"description": "c", "status": "pending"}]}),
                None,
            ),
            (
                "todo_write",
                json!({"todos": [{"id": "1", "content": "a", "status": "completed"},
                    {"id": "2", "content": "b", "status": "in_progress"}, {"id": "3", "content": "c", "status": "pending"}]}),
                None,
            ),
            (
                "todowrite",
                json!({"todos": [{"id": "1", "content": "a", "status": "completed", "priority": "low"},
                    {"id": "2", "content": "b", "status": "in_progress", "priority": "low"},
                    {"id": "3", "content": "c", "status": "pending", "priority": "low"}]}),
                Some(Priority::Low),
            ),
            (
                "todo.updated",
                json!({"type": "todo.updated", "properties": {"sessionID": "ses_1", "todos": [
                    {"content": "a", "status": "completed", "priority": "high"},
                    {"content": "b", "status": "in_progress", "priority": "high"},
                    {"content": "c", "status": "pending", "priority": "high"}]}}),
                Some(Priority::High),
            ),
            (
                "update_plan",
                json!({"explanation": "x", "plan": [{"step": "a", "status": "completed"},
                    {"step": "b", "status": "in_progress"}, {"step": "c", "status": "pending"}]}),
                None,
            ),
        ];
        for (tool, input, priority) in table {
            let item = |content: &str, status| TodoItem {
                content: Redacted::new(content),
                status,
                priority,
            };
            let items = vec![item("a", Completed), item("b", InProgress), item("c", Pending)];
            assert_eq!(
                changed(tool, &input, &json!({})),
                Some(TodoChange::List { items }),
                "{tool}"
            );
        }
        for other in ["TaskList", "TodoRead", "sql", "Bash", ""] {
            let input = json!({"todos": [{"content": "a"}], "plan": [{"step": "a"}]});
            assert_eq!(changed(other, &input, &json!({})), None, "{other}");
        }
    }

    #[test]
    fn items_keep_text_status_and_priority() {
        let input = json!({"plan": [{"step": "a", "status": "in_progress"}, {"step": "b", "status": "odd", "priority": "HIGH"}]});
        let Some(TodoChange::List { items }) = changed("update_plan", &input, &json!({})) else {
            panic!("no list");
        };
        assert_eq!(items[0].status, TodoStatus::InProgress);
        assert_eq!(items[1].status, TodoStatus::Pending);
        assert_eq!(items[1].content.as_str(), "b");
        assert_eq!(items[1].priority, Some(Priority::High));
    }

    #[test]
    fn a_task_update_sets_or_removes_one_item() {
        let set = changed(
            "TaskUpdate",
            &json!({"taskId": 3, "status": "completed"}),
            &json!({"success": true}),
        );
        let id = Redacted::new("3");
        assert_eq!(
            set,
            Some(TodoChange::Set {
                id: id.clone(),
                status: Some(TodoStatus::Completed),
                content: None
            })
        );
        let gone = changed(
            "TaskUpdate",
            &json!({"taskId": "3", "status": "deleted"}),
            &json!({}),
        );
        assert_eq!(gone, Some(TodoChange::Remove { id }));
        for (input, response) in [
            (
                json!({"taskId": "3", "status": "completed"}),
                json!({"success": false}),
            ),
            (
                json!({"taskId": "3", "addBlocks": ["4"]}),
                json!({"success": true}),
            ),
            (json!({"status": "completed"}), json!({})),
        ] {
            assert_eq!(changed("TaskUpdate", &input, &response), None, "{input}");
        }
    }

    #[test]
    fn a_created_task_without_an_id_is_still_an_item() {
        let added = changed(
            "TaskCreate",
            &json!({"subject": "a", "description": "long"}),
            &json!({}),
        );
        let item = TodoItem {
            content: Redacted::new("a"),
            status: TodoStatus::Pending,
            priority: None,
        };
        assert_eq!(added, Some(TodoChange::Add { id: None, item }));
        assert_eq!(
            changed("TaskCreate", &json!({"description": "long"}), &json!({})),
            None
        );
    }
}
