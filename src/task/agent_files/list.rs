//! `uiTodos`: the todo list in the planner's and the toolkit's file. What the file knows of an item and the
//! host does not (flow, reference, priority, keys of its own) stays with the item of the same content.

use chrono::{DateTime, Utc};

use super::json::{Document, Edit, Object, Value, indent, splice};
use super::news::{News, TodoNews};
use super::said::{self, Said, one_in_progress, second, status, time, word};
use super::write::{Change, Node};
use crate::clock;
use crate::event::{MAX_LINE, Priority, TodoStatus};
use crate::redact::Redacted;
use crate::task::{Todo, Todos};

/// The flow of a list that nobody gave one.
const ADHOC: &str = "adhoc";

/// Reads it.
pub(super) fn read(doc: &Document<'_>, said: &mut Said) -> Option<Todos> {
    let object = said::section(doc, &doc.root, "uiTodos", said)?;
    said::texts(doc, &object, &["flow", "lastSyncedAt"], said);
    let flow = object.string(&["flow"]).map(|f| Redacted::new(&f));
    let mut todos = Todos {
        last_synced_at: time(&object, "lastSyncedAt"),
        flow,
        items: Vec::new(),
    };
    for value in said::list(doc, &object, "items", said).unwrap_or_default() {
        match value.object().and_then(|o| item(&o, todos.flow.as_ref())) {
            Some((todo, None)) => todos.items.push(todo),
            Some((todo, Some(odd))) => {
                said.odd(doc.line(value.at), format!("a todo has the status \"{odd}\""));
                todos.items.push(todo);
            }
            None => said.odd(doc.line(value.at), "a todo has no `content`".to_owned()),
        }
    }
    one_in_progress(&mut todos, None);
    Some(todos)
}

/// An item, and its status if that is no word that we know.
fn item(object: &Object<'_>, flow: Option<&Redacted>) -> Option<(Todo, Option<Redacted>)> {
    let content = Redacted::truncated(object.string(&["content"])?.trim(), MAX_LINE);
    let spelled = object.string(&["status"]);
    let known = spelled.as_deref().map_or(Some(TodoStatus::Pending), status);
    let odd = spelled.filter(|_| known.is_none());
    let priority = match object.string(&["priority"]).as_deref() {
        Some("high") => Priority::High,
        Some("low") => Priority::Low,
        _ => Priority::Medium,
    };
    let own = object.string(&["flow"]).map(|f| Redacted::new(&f));
    (!content.is_empty()).then(|| {
        let todo = Todo {
            content,
            status: known.unwrap_or(TodoStatus::Pending),
            priority,
            flow: own
                .or_else(|| flow.cloned())
                .unwrap_or_else(|| Redacted::new(ADHOC)),
            ref_id: object.string(&["refId"]).map(|r| Redacted::new(&r)),
            host_id: None,
        };
        (todo, odd.map(|o| Redacted::truncated(&o, 40)))
    })
}

/// Brings it in line with the host's list: at a change of that, or when the file is behind it.
pub(super) fn put(doc: &Document<'_>, root: &mut Change<'_, '_>, news: &News) {
    let Some(todos) = &news.todos else { return };
    let value = doc.root.get("uiTodos").filter(|v| !v.is_null());
    let synced = todos.list.last_synced_at.unwrap_or(news.at);
    let Some(value) = value else {
        if todos.told || !todos.list.items.is_empty() {
            root.set("uiTodos", node(&todos.list, news.at));
        }
        return;
    };
    let Some(object) = value.object().filter(|o| o.twice.is_none()) else {
        return;
    };
    let is_behind = |ours| time(&object, "lastSyncedAt").is_none_or(|at| at < second(ours));
    // A list without a time was read from a file, and no host has changed it.
    if !todos.told && !todos.list.last_synced_at.is_some_and(is_behind) {
        return;
    }
    let mut change = Change::of(&object, &doc.form);
    match object.get("items") {
        Some(items) => match items_edits(doc, &object, items, todos) {
            Some(edits) => change.inside(edits),
            None => return,
        },
        None => change.set(
            "items",
            Node::List(todos.list.items.iter().map(|t| new(t, None)).collect()),
        ),
    }
    if !change.is_nothing() {
        change.set("lastSyncedAt", Node::string(&clock::stamp(synced)));
        if object.get("flow").is_none() {
            change.set("flow", Node::string(ADHOC));
        }
        root.inside(change.edits(doc.root.indent()));
    }
}

/// A whole new list.
pub(super) fn node(todos: &Todos, at: DateTime<Utc>) -> Node {
    let synced = todos.last_synced_at.unwrap_or(at);
    Node::Object(vec![
        (
            "flow",
            Node::string(todos.flow.as_ref().map_or(ADHOC, Redacted::as_str)),
        ),
        ("lastSyncedAt", Node::string(&clock::stamp(synced))),
        (
            "items",
            Node::List(todos.items.iter().map(|t| new(t, None)).collect()),
        ),
    ])
}

fn new(todo: &Todo, flow: Option<&str>) -> Node {
    let flow = flow
        .filter(|_| todo.flow.as_str() == ADHOC)
        .unwrap_or(todo.flow.as_str());
    Node::Object(vec![
        ("content", Node::string(todo.content.as_str())),
        ("status", Node::string(word(todo.status))),
        ("priority", Node::string(priority(todo.priority))),
        ("flow", Node::string(flow)),
        ("refId", Node::maybe(todo.ref_id.as_ref().map(Redacted::as_str))),
    ])
}

fn priority(priority: Priority) -> &'static str {
    match priority {
        Priority::High => "high",
        Priority::Medium => "medium",
        Priority::Low => "low",
    }
}

/// An item as it is to stand there: its text, and where it stood.
struct Placed {
    text: String,
    from: Option<usize>,
}

/// `None`: the items are no list.
fn items_edits(
    doc: &Document<'_>,
    parent: &Object<'_>,
    list: Value<'_>,
    news: &TodoNews,
) -> Option<Vec<Edit>> {
    let old = if list.is_null() { Vec::new() } else { list.items()? };
    let flow = parent.string(&["flow"]);
    let read: Vec<Option<(Object<'_>, Todo)>> = old
        .iter()
        .map(|v| {
            let object = v.object().filter(|o| o.twice.is_none())?;
            let todo = item(&object, None)?.0;
            Some((object, todo))
        })
        .collect();
    let on_lines = indent(list.text).map(str::to_owned).or_else(|| {
        // An empty list says nothing of its form: that of what holds it.
        let outer = parent.indent().filter(|_| old.is_empty())?;
        Some(format!("{outer}{}", doc.form.unit))
    });
    let mut taken = vec![false; old.len()];
    let mut ours = Vec::new();
    for todo in &news.list.items {
        let found = read.iter().zip(&taken).position(|(known, taken)| {
            !taken && known.as_ref().is_some_and(|(_, t)| t.content == todo.content)
        });
        if let Some(taken) = found.and_then(|i| taken.get_mut(i)) {
            *taken = true;
        }
        let known = found.and_then(|i| Some((read.get(i)?.as_ref()?, old.get(i)?)));
        let text = match known {
            Some(((object, said), value)) => patched(
                doc,
                object,
                said,
                *value,
                todo,
                flow.as_deref(),
                on_lines.as_deref(),
            ),
            None => new(todo, flow.as_deref()).render(&doc.form, on_lines.as_deref()),
        };
        ours.push(Placed { text, from: found });
    }
    let placed = if news.whole {
        ours
    } else {
        merged(doc, &old, &read, ours, news)
    };
    let same_places = placed.len() == old.len() && placed.iter().enumerate().all(|(i, p)| p.from == Some(i));
    if same_places {
        let pairs = old.iter().zip(placed);
        return Some(
            pairs
                .filter(|(v, p)| v.text != p.text)
                .map(|(v, p)| (v.span(), p.text))
                .collect(),
        );
    }
    let items = placed.into_iter().map(|p| Node::Raw(p.text)).collect();
    let outer = on_lines
        .as_deref()
        .map(|inner| inner.strip_suffix(&doc.form.unit).unwrap_or(inner));
    Some(vec![(list.span(), Node::List(items).render(&doc.form, outer))])
}

/// A known item with its new status, and the keys that it lacks.
fn patched(
    doc: &Document<'_>,
    object: &Object<'_>,
    said: &Todo,
    value: Value<'_>,
    todo: &Todo,
    flow: Option<&str>,
    indent: Option<&str>,
) -> String {
    let mut change = Change::of(object, &doc.form);
    if said.status != todo.status || object.get("status").is_none() {
        change.set("status", Node::string(word(todo.status)));
    }
    let missing = |key: &str| object.get(key).is_none();
    if missing("priority") {
        change.set("priority", Node::string(priority(todo.priority)));
    }
    if missing("flow") {
        change.set("flow", Node::string(flow.unwrap_or(todo.flow.as_str())));
    }
    if missing("refId") {
        change.set("refId", Node::maybe(todo.ref_id.as_ref().map(Redacted::as_str)));
    }
    splice(value.text, value.at, &change.edits(indent))
}

/// The host names one item at a time: what the file has besides stays where it is, and what is new comes
/// behind it.
fn merged(
    doc: &Document<'_>,
    old: &[Value<'_>],
    read: &[Option<(Object<'_>, Todo)>],
    mut ours: Vec<Placed>,
    news: &TodoNews,
) -> Vec<Placed> {
    let busy = news.list.items.iter().any(|t| t.status == TodoStatus::InProgress);
    let mut placed = Vec::new();
    for (i, (value, known)) in old.iter().zip(read).enumerate() {
        if let Some(at) = ours.iter().position(|p| p.from == Some(i)) {
            placed.push(ours.remove(at));
            continue;
        }
        let mut text = value.text.to_owned();
        if let Some((object, todo)) = known {
            if news.removed.contains(&todo.content) {
                continue;
            }
            if busy && todo.status == TodoStatus::InProgress {
                let mut change = Change::of(object, &doc.form);
                change.set("status", Node::string(word(TodoStatus::Pending)));
                text = splice(value.text, value.at, &change.edits(None));
            }
        }
        placed.push(Placed { text, from: Some(i) });
    }
    placed.extend(ours);
    placed
}
