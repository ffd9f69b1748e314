//! The todo list, kept as the host's tools change it: whole lists and single changes.

use chrono::{DateTime, Utc};

use super::{Todo, Todos};
use crate::event::{Priority, TodoChange, TodoItem, TodoStatus};
use crate::redact::Redacted;

/// The flow of an item that nobody gave one.
pub const ADHOC: &str = "adhoc";
/// Most items kept.
const MAX_ITEMS: usize = 200;

/// The list after `change`. Flow, reference and priority come from the item with the same content; at most
/// one item is in progress: the newest wins, the others go back to pending.
#[must_use]
pub fn after(before: Option<&Todos>, change: &TodoChange, at: DateTime<Utc>) -> Todos {
    let mut list = before.cloned().unwrap_or_default();
    let mut newest = None;
    match change {
        TodoChange::List { items } => {
            let flow = list.flow.clone();
            let active: Vec<&str> = in_progress(&list).collect();
            newest = items
                .iter()
                .rposition(|i| i.status == TodoStatus::InProgress && !active.contains(&i.content.as_str()))
                .or_else(|| items.iter().rposition(|i| i.status == TodoStatus::InProgress));
            let kept = items
                .iter()
                .take(MAX_ITEMS)
                .map(|i| fill(i, &list.items, flow.as_ref()))
                .collect();
            list.items = kept;
        }
        TodoChange::Add { id, item } => {
            let known = |t: &Todo| id.is_some() && t.host_id == *id;
            // What was taken over has no id of this session's yet: so it is restored, not doubled. Only what is
            // open was told.
            let taken_over =
                |t: &Todo| id.is_some() && t.host_id.is_none() && t.is_open() && t.content == item.content;
            let items = &list.items;
            let there = items
                .iter()
                .position(known)
                .or_else(|| items.iter().position(taken_over));
            let mut todo = fill(item, &list.items, list.flow.as_ref());
            todo.host_id.clone_from(id);
            let at = there.unwrap_or(list.items.len());
            match list.items.get_mut(at) {
                Some(old) => *old = todo,
                None if at < MAX_ITEMS => list.items.push(todo),
                None => return list,
            }
            if item.status == TodoStatus::InProgress {
                newest = Some(at);
            }
        }
        TodoChange::Set { id, status, content } => {
            if let Some((i, todo)) = list
                .items
                .iter_mut()
                .enumerate()
                .find(|(_, t)| t.host_id.as_ref() == Some(id))
            {
                if let Some(status) = status {
                    todo.status = *status;
                    if *status == TodoStatus::InProgress {
                        newest = Some(i);
                    }
                }
                if let Some(content) = content {
                    todo.content = content.clone();
                }
            }
        }
        TodoChange::Remove { id } => list.items.retain(|t| t.host_id.as_ref() != Some(id)),
    }
    if let Some(newest) = newest {
        for (i, todo) in list.items.iter_mut().enumerate() {
            if i != newest && todo.status == TodoStatus::InProgress {
                todo.status = TodoStatus::Pending;
            }
        }
    }
    list.last_synced_at = Some(at);
    list
}

fn in_progress(list: &Todos) -> impl Iterator<Item = &str> {
    list.items
        .iter()
        .filter(|t| t.status == TodoStatus::InProgress)
        .map(|t| t.content.as_str())
}

fn fill(item: &TodoItem, known: &[Todo], flow: Option<&Redacted>) -> Todo {
    let old = known.iter().find(|t| t.content == item.content);
    Todo {
        content: item.content.clone(),
        status: item.status,
        priority: item
            .priority
            .or(old.map(|t| t.priority))
            .unwrap_or(Priority::Medium),
        flow: old
            .map(|t| &t.flow)
            .or(flow)
            .cloned()
            .unwrap_or_else(|| Redacted::new(ADHOC)),
        ref_id: old.and_then(|t| t.ref_id.clone()),
        host_id: old.and_then(|t| t.host_id.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(content: &str, status: TodoStatus) -> TodoItem {
        TodoItem {
            content: Redacted::new(content),
            status,
            priority: None,
        }
    }

    fn at() -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap()
    }

    fn spelled(list: &Todos) -> Vec<(&str, TodoStatus)> {
        list.items
            .iter()
            .map(|t| (t.content.as_str(), t.status))
            .collect()
    }

    #[test]
    fn a_whole_list_keeps_what_the_host_does_not_know_and_one_in_progress() {
        use TodoStatus::{Completed, InProgress, Pending};
        let mut first = after(
            None,
            &TodoChange::List {
                items: vec![item("a", InProgress), item("b", Pending)],
            },
            at(),
        );
        first.items[1].ref_id = Some(Redacted::new("US-001"));
        first.items[1].priority = Priority::High;
        let second = TodoChange::List {
            items: vec![item("b", InProgress), item("a", InProgress), item("c", Completed)],
        };
        let second = after(Some(&first), &second, at());
        assert_eq!(
            spelled(&second),
            [("b", InProgress), ("a", Pending), ("c", Completed)]
        );
        assert_eq!(
            second.items[0].ref_id.as_ref().map(Redacted::as_str),
            Some("US-001")
        );
        assert_eq!(second.items[0].priority, Priority::High);
        assert_eq!(second.items[2].flow.as_str(), "adhoc");
        assert!(
            after(Some(&second), &TodoChange::List { items: vec![] }, at())
                .items
                .is_empty()
        );
    }

    #[test]
    fn single_changes_are_found_by_the_hosts_id() {
        use TodoStatus::{Completed, InProgress, Pending};
        let id = |s: &str| Redacted::new(s);
        let one = after(
            None,
            &TodoChange::Add {
                id: Some(id("1")),
                item: item("a", Pending),
            },
            at(),
        );
        let two = after(
            Some(&one),
            &TodoChange::Add {
                id: Some(id("2")),
                item: item("b", InProgress),
            },
            at(),
        );
        let set = TodoChange::Set {
            id: id("1"),
            status: Some(InProgress),
            content: None,
        };
        let three = after(Some(&two), &set, at());
        assert_eq!(spelled(&three), [("a", InProgress), ("b", Pending)]);
        let set = TodoChange::Set {
            id: id("1"),
            status: Some(Completed),
            content: Some(id("a!")),
        };
        let four = after(Some(&three), &set, at());
        assert_eq!(spelled(&four), [("a!", Completed), ("b", Pending)]);
        let gone = after(Some(&four), &TodoChange::Remove { id: id("2") }, at());
        assert_eq!(spelled(&gone), [("a!", Completed)]);
    }
}
