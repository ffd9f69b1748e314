//! The planner's and the toolkit's file: `uiTodos`, `currentTask`, `updatedAt`, and keys of their own.

use chrono::{DateTime, Utc};

use super::json::{Document, Object};
use super::list;
use super::news::News;
use super::said::{self, Said, second, time};
use super::write::{Change, Node};
use crate::clock;
use crate::redact::Redacted;
use crate::task::Task;

/// Keys of which the file of such an agent has at least one, unless it is empty.
const KEYS: &[&str] = &[
    "uiTodos",
    "currentTask",
    "updatedAt",
    "lockedDecisions",
    "resumePrompt",
    "lastUserMessage",
    "currentIntent",
    "recentDecisions",
    "nextAction",
    "processState",
    "activeConstraints",
];

/// Whether it is such a file at all.
pub(super) fn is_one(doc: &Document<'_>) -> bool {
    let mut keys = doc.root.keys().peekable();
    keys.peek().is_none() || keys.any(|k| KEYS.contains(&k))
}

/// Reads it; `modified` is when the file was last written.
pub(super) fn read(doc: &Document<'_>, modified: DateTime<Utc>) -> Said {
    let mut said = Said {
        at: time(&doc.root, "updatedAt").or(Some(modified)),
        ..Said::default()
    };
    said::texts(doc, &doc.root, &["updatedAt"], &mut said);
    if let Some(object) = said::section(doc, &doc.root, "currentTask", &mut said) {
        let keys = [
            "description",
            "startedAt",
            "lastAction",
            "contextAnchor",
            "rateLimitDetectedAt",
        ];
        said::texts(doc, &object, &keys, &mut said);
        let started = time(&object, "startedAt").or(said.at).unwrap_or(modified);
        said.task = said::task(&object, started);
    }
    said.todos = list::read(doc, &mut said);
    said
}

/// Its new text; `None`: nothing but times would change. `others` says whether another session is at the
/// task of that description.
pub(super) fn write(doc: &Document<'_>, news: &News, others: &dyn Fn(&Redacted) -> bool) -> Option<Vec<u8>> {
    let mut root = Change::of(&doc.root, &doc.form);
    put_task(doc, &mut root, news, others);
    list::put(doc, &mut root, news);
    if root.is_nothing() {
        return None;
    }
    root.set("updatedAt", Node::string(&clock::stamp(news.at)));
    doc.with(root.edits(Some("")))
}

fn put_task(doc: &Document<'_>, root: &mut Change<'_, '_>, news: &News, others: &dyn Fn(&Redacted) -> bool) {
    let value = doc.root.get("currentTask").filter(|v| !v.is_null());
    let Some(value) = value else {
        // What its agent has cleared stays so until the next prompt.
        if let Some(task) = news.task.as_ref().filter(|_| news.prompt) {
            root.set("currentTask", Node::Object(whole(task)));
        }
        return;
    };
    let Some(object) = value.object().filter(|o| o.twice.is_none()) else {
        return;
    };
    let Some(task) = &news.task else {
        if is_over(&object, news, others) {
            root.set("currentTask", Node::null());
        }
        return;
    };
    let mut change = Change::of(&object, &doc.form);
    let members = if news.begun() || is_behind(&object, "startedAt", task) {
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
        root.inside(change.edits(doc.root.indent()));
    }
}

fn steps(task: &Task) -> Vec<(&'static str, Node)> {
    let limit = task.rate_limit_detected_at.map(clock::stamp);
    vec![
        ("lastAction", Node::string(task.last_action.as_str())),
        (
            "contextAnchor",
            Node::maybe(task.context_anchor.as_ref().map(Redacted::as_str)),
        ),
        ("rateLimitDetectedAt", Node::maybe(limit.as_deref())),
    ]
}

fn whole(task: &Task) -> Vec<(&'static str, Node)> {
    let mut members = vec![
        ("description", Node::string(task.description.as_str())),
        ("startedAt", Node::string(&clock::stamp(task.started_at))),
    ];
    members.extend(steps(task));
    members
}

/// The file has an older task than ours: a write has failed, or it was left behind.
pub(super) fn is_behind(object: &Object<'_>, key: &str, task: &Task) -> bool {
    time(object, key).is_some_and(|at| at < second(task.started_at)) && !says(object, task)
}

/// The file has a task that is another session's.
pub(super) fn is_others(object: &Object<'_>, task: &Task, others: &dyn Fn(&Redacted) -> bool) -> bool {
    !says(object, task) && description(object).is_some_and(|d| others(&d))
}

fn says(object: &Object<'_>, task: &Task) -> bool {
    description(object).is_some_and(|d| d == task.description)
}

fn description(object: &Object<'_>) -> Option<Redacted> {
    said::task(object, DateTime::UNIX_EPOCH).map(|t| t.description)
}

/// Whether the file's task is done with this event, or was with an earlier one that could not say so.
fn is_over(object: &Object<'_>, news: &News, others: &dyn Fn(&Redacted) -> bool) -> bool {
    let started = time(object, "startedAt");
    match &news.ended {
        // One that began later may be its agent's own words for the same, or another session's.
        Some(task) => {
            started.is_some_and(|at| at <= second(task.started_at)) || !is_others(object, task, others)
        }
        None => started.is_some() && started == news.done.map(second),
    }
}
