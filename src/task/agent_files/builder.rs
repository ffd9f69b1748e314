//! The builder's `session.json`: `currentAction` and `lastHeartbeat` are kept, the todos are its chunks.

use chrono::{DateTime, Utc};

use super::json::{Document, Object};
use super::news::News;
use super::planner::{is_behind, is_others};
use super::said::{self, Said, one_in_progress, status, time};
use super::write::{Change, Node};
use crate::clock;
use crate::event::{MAX_LINE, Priority, TodoStatus};
use crate::redact::Redacted;
use crate::task::{Task, Todo, Todos};

/// Longest title of a chunk in the brief's first line.
const MAX_TITLE: usize = 120;

/// Whether it is a builder's session at all.
pub(super) fn is_one(doc: &Document<'_>) -> bool {
    let has = |key: &str| doc.root.get(key).is_some();
    doc.root.string(&["sessionId", "id"]).is_some()
        && ["chunks", "currentAction", "lastHeartbeat", "mode", "status"]
            .into_iter()
            .any(has)
}

/// Whether its session goes on, by any of the words that are in use; one that says nothing does.
pub(super) fn is_in_progress(doc: &Document<'_>) -> bool {
    let word = doc.root.string(&["status"]);
    word.is_none_or(|w| matches!(w.trim(), "in_progress" | "active"))
}

/// Words for a session that is over, and those of a session that goes on.
pub(super) const STATUSES: [&str; 7] = [
    "in_progress",
    "active",
    "completed",
    "failed",
    "abandoned",
    "aborted",
    "cancelled",
];

/// Reads it; `modified` is when the file was last written.
pub(super) fn read(doc: &Document<'_>, modified: DateTime<Utc>) -> Said {
    let root = &doc.root;
    let mut said = Said {
        heartbeat: time(root, "lastHeartbeat"),
        ..Said::default()
    };
    said::texts(
        doc,
        root,
        &["lastHeartbeat", "status", "mode", "currentChunk"],
        &mut said,
    );
    if let (Some(word), Some(value)) = (root.string(&["status"]), root.get("status"))
        && !STATUSES.contains(&word.trim())
    {
        let word = Redacted::truncated(&word, 40);
        said.odd(
            doc.line(value.at),
            format!("the session has the status \"{word}\""),
        );
    }
    said.at = said.heartbeat.or(Some(modified));
    if let Some(object) = said::section(doc, root, "currentAction", &mut said) {
        let keys = ["description", "contextAnchor", "lastAction", "updatedAt"];
        said::texts(doc, &object, &keys, &mut said);
        said.at = time(&object, "updatedAt").or(said.at);
        said.task = said::task(&object, said.at.unwrap_or(modified));
    }
    chunks(doc, &mut said);
    said
}

fn chunks(doc: &Document<'_>, said: &mut Said) {
    let Some(values) = said::list(doc, &doc.root, "chunks", said) else {
        return;
    };
    let current = doc.root.string(&["currentChunk"]);
    let flow = doc.root.string(&["mode"]).unwrap_or_else(|| "adhoc".to_owned());
    let mut todos = Todos {
        flow: Some(Redacted::new(&flow)),
        ..Todos::default()
    };
    let mut chosen = None;
    for value in values {
        let Some(object) = value.object() else {
            said.odd(
                doc.line(value.at),
                format!("a chunk is {}, not an object", value.kind()),
            );
            continue;
        };
        let (id, title) = (object.string(&["id"]), object.string(&["title"]));
        let is_current = current.is_some() && id == current;
        if is_current {
            said.chunk = title
                .as_deref()
                .or(id.as_deref())
                .map(|t| Redacted::first_line(t, MAX_TITLE));
        }
        let Some(todo) = todo(doc, &object, &flow, said) else {
            said.odd(
                doc.line(value.at),
                "a chunk has neither a title nor an id".to_owned(),
            );
            continue;
        };
        if is_current {
            chosen = Some(todos.items.len());
        }
        todos.items.push(todo);
    }
    one_in_progress(&mut todos, chosen);
    said.todos = Some(todos);
}

fn todo(doc: &Document<'_>, object: &Object<'_>, flow: &str, said: &mut Said) -> Option<Todo> {
    let story = object.string(&["storyId"]).or_else(|| object.string(&["id"]));
    let content = match (&story, object.string(&["title"])) {
        (Some(story), Some(title)) => format!("{story}: {title}"),
        (story, title) => title.or_else(|| story.clone())?,
    };
    let word = object.string(&["status"]);
    let known = word.as_deref().map_or(Some(TodoStatus::Pending), status);
    if let (None, Some(value), Some(word)) = (known, object.get("status"), &word) {
        let word = Redacted::truncated(word, 40);
        said.odd(doc.line(value.at), format!("a chunk has the status \"{word}\""));
    }
    let status = known.unwrap_or(TodoStatus::Pending);
    let urgent = status == TodoStatus::InProgress || word.as_deref() == Some("failed");
    Some(Todo {
        content: Redacted::truncated(content.trim(), MAX_LINE),
        status,
        priority: if urgent { Priority::High } else { Priority::Medium },
        flow: Redacted::new(flow),
        ref_id: story.map(|s| Redacted::new(&s)),
        host_id: None,
    })
}

/// Its new text; `None`: nothing would change.
pub(super) fn write(doc: &Document<'_>, news: &News, others: &dyn Fn(&Redacted) -> bool) -> Option<Vec<u8>> {
    let mut root = Change::of(&doc.root, &doc.form);
    put_action(doc, &mut root, news, others);
    root.set("lastHeartbeat", Node::string(&clock::stamp(news.at)));
    doc.with(root.edits(Some("")))
}

fn put_action(
    doc: &Document<'_>,
    root: &mut Change<'_, '_>,
    news: &News,
    others: &dyn Fn(&Redacted) -> bool,
) {
    let now = || ("updatedAt", Node::string(&clock::stamp(news.at)));
    let value = doc.root.get("currentAction").filter(|v| !v.is_null());
    let Some(value) = value else {
        if let Some(task) = news.task.as_ref().filter(|_| news.prompt) {
            let mut members = whole(task);
            members.push(now());
            root.set("currentAction", Node::Object(members));
        }
        return;
    };
    let Some(object) = value.object().filter(|o| o.twice.is_none()) else {
        return;
    };
    // A chunk is not done with the turn: only its agent clears the action.
    let Some(task) = news.task.as_ref().or(news.ended.as_ref()) else {
        return;
    };
    let mut change = Change::of(&object, &doc.form);
    let members = if news.begun() || is_behind(&object, "updatedAt", task) {
        whole(task)
    } else if is_others(&object, task, others) {
        return;
    } else {
        steps(task)
    };
    for (key, node) in members {
        change.set(key, node);
    }
    if !change.is_nothing() {
        let (key, node) = now();
        change.set(key, node);
        root.inside(change.edits(doc.root.indent()));
    }
}

fn whole(task: &Task) -> Vec<(&'static str, Node)> {
    let mut members = vec![("description", Node::string(task.description.as_str()))];
    members.extend(steps(task));
    members
}

fn steps(task: &Task) -> Vec<(&'static str, Node)> {
    let anchor = task.context_anchor.as_ref();
    let anchor = anchor.map(|a| ("contextAnchor", Node::string(a.as_str())));
    let mut members: Vec<_> = anchor.into_iter().collect();
    members.push(("lastAction", Node::string(task.last_action.as_str())));
    members
}
