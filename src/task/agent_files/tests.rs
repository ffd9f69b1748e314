//! What is read and what is written, as texts: every case is a text before and a text after.

use super::json::Document;
use super::news::{News, TodoNews};
use super::said::Said;
use super::{Agent, Roots, builder, planner};
use crate::event::{Priority, TodoStatus};
use crate::redact::Redacted;
use crate::task::{Task, Todo, Todos};
use chrono::{DateTime, TimeDelta, Utc};

fn at() -> DateTime<Utc> {
    "2026-03-01T10:00:00.250Z".parse().unwrap()
}

fn task(description: &str) -> Task {
    Task {
        untouched: false,
        description: Redacted::new(description),
        started_at: at(),
        last_action: Redacted::new("Starting task"),
        context_anchor: Some(Redacted::new("/w/shop")),
        rate_limit_detected_at: None,
    }
}

fn news(task: Option<Task>, prompt: bool) -> News {
    News {
        at: at(),
        prompt,
        task,
        ended: None,
        done: None,
        todos: None,
    }
}

fn nobody(_: &Redacted) -> bool {
    false
}

fn planned(text: &str, news: &News) -> Option<String> {
    let doc = Document::parse(text.as_bytes()).unwrap();
    planner::write(&doc, news, &nobody).map(|new| String::from_utf8(new).unwrap())
}

fn built(text: &str, news: &News) -> Option<String> {
    let doc = Document::parse(text.as_bytes()).unwrap();
    builder::write(&doc, news, &nobody).map(|new| String::from_utf8(new).unwrap())
}

fn said(text: &str) -> Said {
    planner::read(&Document::parse(text.as_bytes()).unwrap(), at())
}

#[test]
fn a_prompt_writes_the_task_in_the_form_of_the_file() {
    let object = |nl: &str, unit: &str| {
        [
            "\"description\": \"Plan\"",
            "\"startedAt\": \"2026-03-01T10:00:00Z\"",
            "\"lastAction\": \"Starting task\"",
            "\"contextAnchor\": \"/w/shop\"",
            "\"rateLimitDetectedAt\": null",
        ]
        .map(|m| format!("{nl}{unit}{unit}{m}"))
        .join(",")
    };
    let updated = "\"updatedAt\": \"2026-03-01T10:00:00Z\"";
    let one_line = r#"{"description":"Plan","startedAt":"2026-03-01T10:00:00Z","lastAction":"Starting task","contextAnchor":"/w/shop","rateLimitDetectedAt":null}"#;
    let cases = [
        // Four blanks, keys of its own, a number that no float holds, an escape that need not be.
        (
            "{\n    \"x\": 1.50e400,\n    \"currentTask\": null,\n    \"y\": \"\\u0041\"\n}\n".to_owned(),
            format!(
                "{{\n    \"x\": 1.50e400,\n    \"currentTask\": {{{}\n    }},\n    \"y\": \"\\u0041\",\n    {updated}\n}}\n",
                object("\n", "    ")
            ),
        ),
        // Tabs, no newline at the end.
        (
            "{\n\t\"currentTask\": null\n}".to_owned(),
            format!(
                "{{\n\t\"currentTask\": {{{}\n\t}},\n\t{updated}\n}}",
                object("\n", "\t")
            ),
        ),
        // CRLF and a byte-order mark.
        (
            "\u{feff}{\r\n  \"currentTask\": null\r\n}\r\n".to_owned(),
            format!(
                "\u{feff}{{\r\n  \"currentTask\": {{{}\r\n  }},\r\n  {updated}\r\n}}\r\n",
                object("\r\n", "  ")
            ),
        ),
        // On one line, without blanks.
        (
            r#"{"currentTask":null,"z":[1, 2]}"#.to_owned(),
            format!(r#"{{"currentTask":{one_line},"z":[1, 2],"updatedAt":"2026-03-01T10:00:00Z"}}"#),
        ),
        // Nothing in it yet.
        (
            "{}".to_owned(),
            format!(
                "{{\n  \"currentTask\": {{{}\n  }},\n  {updated}\n}}",
                object("\n", "  ")
            ),
        ),
        // No such key yet.
        (
            "{\n  \"uiTodos\": {}\n}\n".to_owned(),
            format!(
                "{{\n  \"uiTodos\": {{}},\n  \"currentTask\": {{{}\n  }},\n  {updated}\n}}\n",
                object("\n", "  ")
            ),
        ),
    ];
    for (before, after) in cases {
        let new = planned(&before, &news(Some(task("Plan")), true));
        assert_eq!(new.as_deref(), Some(after.as_str()), "{before}");
        // A second time there is nothing to write.
        assert_eq!(planned(&after, &news(Some(task("Plan")), true)), None, "{before}");
    }
}

#[test]
fn what_is_in_the_task_besides_stays_and_what_its_agent_says_better_too() {
    let before = r#"{"currentTask": {"prd": "p1", "description": "Drafting 3", "startedAt": "2026-03-01T10:00:30Z", "lastAction": "x"}}"#;
    let later = news(Some(task("Plan")), false);
    let expected = r#"{"currentTask": {"prd": "p1", "description": "Drafting 3", "startedAt": "2026-03-01T10:00:30Z", "lastAction": "Starting task", "contextAnchor": "/w/shop", "rateLimitDetectedAt": null}, "updatedAt": "2026-03-01T10:00:00Z"}"#;
    assert_eq!(planned(before, &later).as_deref(), Some(expected));
    // At a prompt that begins a task, it is ours.
    let begun = planned(before, &news(Some(task("Plan")), true)).unwrap();
    assert!(
        begun.contains(r#""prd": "p1", "description": "Plan", "startedAt": "2026-03-01T10:00:00Z""#),
        "{begun}"
    );
    // One that is behind is replaced also later.
    let behind = before.replace("10:00:30", "09:00:00");
    assert!(planned(&behind, &later).unwrap().contains("\"Plan\""));
    // What its agent has cleared stays so.
    assert_eq!(planned(r#"{"currentTask": null}"#, &later), None);
    // Another session's is left alone.
    let doc = Document::parse(before.as_bytes()).unwrap();
    assert_eq!(
        planner::write(&doc, &later, &|d: &Redacted| d.as_str() == "Drafting 3"),
        None
    );
}

#[test]
fn a_task_ends_with_its_own_stop_and_not_with_another_sessions() {
    let file = |started: &str, description: &str| {
        format!(r#"{{"currentTask": {{"description": "{description}", "startedAt": "{started}"}}}}"#)
    };
    let ended = News {
        ended: Some(task("Plan")),
        ..news(None, false)
    };
    let theirs = |d: &Redacted| d.as_str() == "Theirs";
    let clears = |text: &str, news: &News| {
        let doc = Document::parse(text.as_bytes()).unwrap();
        planner::write(&doc, news, &theirs)
            .is_some_and(|n| String::from_utf8(n).unwrap().contains("\"currentTask\": null"))
    };
    for (started, description, cleared) in [
        ("2026-03-01T10:00:00Z", "Plan", true),
        ("2026-03-01T10:00:00Z", "Drafting 3", true),
        ("2026-03-01T10:05:00Z", "Drafting 3", true),
        ("2026-03-01T10:05:00Z", "Theirs", false),
        ("2026-03-01T09:00:00Z", "Left behind", true),
    ] {
        assert_eq!(
            clears(&file(started, description), &ended),
            cleared,
            "{started} {description}"
        );
    }
    let done = News {
        done: Some(at()),
        ..news(None, false)
    };
    assert!(
        clears(&file("2026-03-01T10:00:00Z", "Plan"), &done),
        "its stop could not say so"
    );
    assert!(!clears(&file("2026-03-01T09:00:00Z", "Plan"), &done));
    assert!(!clears(&file("2026-03-01T10:00:00Z", "Plan"), &news(None, false)));
}

#[test]
fn wrong_types_are_odd_with_their_line_and_are_not_written_over() {
    let text = "{\n  \"uiTodos\": [],\n  \"currentTask\": \"Plan it\",\n  \"updatedAt\": 5\n}";
    let odd: Vec<String> = said(text).odd.iter().map(ToString::to_string).collect();
    assert_eq!(
        odd,
        [
            "line 4: `updatedAt` is a number, not a text",
            "line 3: `currentTask` is a text, not an object",
            "line 2: `uiTodos` is a list, not an object"
        ]
    );
    let mut news = news(Some(task("Plan")), true);
    news.todos = Some(todo_news(&[("a", TodoStatus::Pending)], true));
    assert_eq!(planned(text, &news), None);
    let items = r#"{"uiTodos": {"items": {"a": 1}}}"#;
    assert!(
        planned(items, &news)
            .unwrap()
            .starts_with(r#"{"uiTodos": {"items": {"a": 1}}, "currentTask""#)
    );
}

#[test]
fn what_is_no_object_or_names_a_key_twice_is_broken_at_its_line() {
    for (text, broken) in [
        ("", "line 1: it is empty"),
        ("[1]", "line 1: it is no JSON object"),
        ("{\"a\": 1,\n\"b\": NaN}", "line 2: it is no JSON: expected value"),
        ("{\"a\": 1,\n\n\"a\": 2}", "line 3: a key stands there twice"),
        (
            "\n\n{\"a\": 1\n\"b\"}",
            "line 4: it is no JSON: expected `,` or `}`",
        ),
        ("{\"a\": 1} x", "line 1: it is no JSON: trailing characters"),
    ] {
        let found = Document::parse(text.as_bytes())
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert_eq!(found, broken, "{text}");
    }
    assert_eq!(
        Document::parse(b"{\n\"a\": \"\xff\"}").unwrap_err().to_string(),
        "line 2: it is no UTF-8"
    );
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(200), "]".repeat(200));
    assert!(Document::parse(deep.as_bytes()).is_err() || planned(&deep, &news(None, false)).is_none());
}

fn todo(content: &str, status: TodoStatus) -> Todo {
    Todo {
        content: Redacted::new(content),
        status,
        priority: Priority::Medium,
        flow: Redacted::new("adhoc"),
        ref_id: None,
        host_id: None,
    }
}

fn todo_news(items: &[(&str, TodoStatus)], whole: bool) -> TodoNews {
    TodoNews {
        list: Todos {
            flow: None,
            last_synced_at: Some(at()),
            items: items.iter().map(|(c, s)| todo(c, *s)).collect(),
        },
        told: true,
        whole,
        removed: vec![Redacted::new("gone")],
    }
}

fn listed(items: &str, todos: TodoNews) -> Option<String> {
    let text = format!(
        r#"{{"uiTodos": {{"flow": "draft", "lastSyncedAt": "2026-02-01T00:00:00Z", "items": {items}}}}}"#
    );
    let new = planned(
        &text,
        &News {
            todos: Some(todos),
            ..news(None, false)
        },
    )?;
    let (_, items) = new.split_once("\"items\": ").unwrap();
    Some(items.rsplit_once("}, \"updatedAt\"").unwrap().0.to_owned())
}

#[test]
fn the_list_follows_the_hosts_and_keeps_what_only_the_file_knows() {
    use TodoStatus::{Completed, InProgress, Pending};
    let a = r#"{"content": "a", "status": "pending", "priority": "high", "flow": "new", "refId": "US-1", "own": 1.0}"#;
    let gone = r#"{"content": "gone", "status": "pending", "priority": "low", "flow": "new", "refId": null}"#;
    let busy =
        r#"{"content": "c", "status": "in_progress", "priority": "low", "flow": "new", "refId": null}"#;
    let b =
        r#"{"content": "b", "status": "in_progress", "priority": "medium", "flow": "draft", "refId": null}"#;
    let a_done = a.replace("pending", "completed");
    let cases = [
        // Only a status moves.
        (
            format!("[{a}]"),
            todo_news(&[("a", Completed)], true),
            format!("[{a_done}]"),
        ),
        // A whole list: new items, another order, one gone.
        (
            format!("[{a}, {gone}]"),
            todo_news(&[("b", InProgress), ("a", Completed)], true),
            format!("[{b}, {a_done}]"),
        ),
        // One change: what the host does not know stays, what it took out goes, one is in progress.
        (
            format!("[{gone}, {busy}, {a}]"),
            todo_news(&[("a", Completed), ("b", InProgress)], false),
            format!("[{}, {a_done}, {b}]", busy.replace("in_progress", "pending")),
        ),
        (format!("[{a}]"), todo_news(&[], true), "[]".to_owned()),
        (
            "[]".to_owned(),
            todo_news(&[("b", InProgress)], true),
            format!("[{b}]"),
        ),
        // An item without its flow gets that of its list.
        (
            r#"[{"content": "a", "status": "pending", "priority": "high", "refId": "x"}]"#.to_owned(),
            todo_news(&[("a", Pending)], true),
            r#"[{"content": "a", "status": "pending", "priority": "high", "refId": "x", "flow": "draft"}]"#
                .to_owned(),
        ),
    ];
    for (before, todos, after) in cases {
        assert_eq!(
            listed(&before, todos).as_deref(),
            Some(after.as_str()),
            "{before}"
        );
    }
    assert_eq!(
        listed(&format!("[{a}]"), todo_news(&[("a", Pending)], true)),
        None,
        "only a time"
    );
    // Between its changes the host's list is not written over a newer one.
    let mut old = todo_news(&[("b", Pending)], true);
    old.told = false;
    old.list.last_synced_at = Some("2026-01-01T00:00:00Z".parse().unwrap());
    assert_eq!(listed(&format!("[{a}]"), old), None);
}

#[test]
fn items_on_lines_stay_on_lines() {
    let before = "{\n  \"uiTodos\": {\n    \"flow\": \"new\",\n    \"items\": [\n      {\n        \"content\": \"a\"\n      }\n    ]\n  }\n}\n";
    let todos = Some(todo_news(
        &[("a", TodoStatus::Pending), ("b", TodoStatus::Pending)],
        true,
    ));
    let new = planned(
        before,
        &News {
            todos,
            ..news(None, false)
        },
    )
    .unwrap();
    let expected = "    \"items\": [\n      {\n        \"content\": \"a\",\n        \"status\": \"pending\",\n        \"priority\": \"medium\",\n        \"flow\": \"new\",\n        \"refId\": null\n      },\n      {\n        \"content\": \"b\",\n        \"status\": \"pending\",\n        \"priority\": \"medium\",\n        \"flow\": \"new\",\n        \"refId\": null\n      }\n    ],\n    \"lastSyncedAt\": \"2026-03-01T10:00:00Z\"\n  },\n";
    assert!(new.contains(expected), "{new}");
}

#[test]
fn the_builders_action_and_heartbeat_move_and_its_end_is_its_own() {
    let before = "{\n  \"sessionId\": \"2026-03-01-ab12\",\n  \"lastHeartbeat\": \"2026-03-01T00:00:00Z\",\n  \"currentAction\": null,\n  \"chunks\": []\n}\n";
    let begun = built(before, &news(Some(task("Build")), true)).unwrap();
    let expected = "{\n  \"sessionId\": \"2026-03-01-ab12\",\n  \"lastHeartbeat\": \"2026-03-01T10:00:00Z\",\n  \"currentAction\": {\n    \"description\": \"Build\",\n    \"contextAnchor\": \"/w/shop\",\n    \"lastAction\": \"Starting task\",\n    \"updatedAt\": \"2026-03-01T10:00:00Z\"\n  },\n  \"chunks\": []\n}\n";
    assert_eq!(begun, expected);
    let mut ended = task("Build");
    ended.last_action = Redacted::new("Ran cargo test");
    let mut stop = News {
        ended: Some(ended),
        ..news(None, false)
    };
    stop.at = at() + TimeDelta::seconds(60);
    let stopped = built(&begun, &stop).unwrap();
    let expected = begun
        .replace("Starting task", "Ran cargo test")
        .replace("10:00:00", "10:01:00");
    assert_eq!(stopped, expected);
}

#[test]
fn the_builders_todos_are_its_chunks() {
    let text = r#"{"id": "adhoc-7", "status": "active", "mode": "prd", "currentChunk": "US-2-01-b", "lastHeartbeat": "2026-03-01T00:00:00Z", "chunks": [
        {"id": "US-1-01-a", "storyId": "US-1", "title": "A", "status": "completed"},
        {"id": "US-2-01-b", "storyId": "US-2", "title": "B", "status": "in_progress"},
        {"id": "US-3-01-c", "storyId": "US-3", "title": "C", "status": "failed"},
        {"id": "US-4-01-d", "storyId": "US-4", "title": "D", "status": "skipped"},
        {"id": "TSK-5", "title": "E", "status": "in_progress"},
        {"id": "TSK-6", "title": "F", "status": "cancelled"},
        {"title": "G", "status": "odd"}]}"#;
    let doc = Document::parse(text.as_bytes()).unwrap();
    assert!(builder::is_one(&doc) && builder::is_in_progress(&doc));
    let said = builder::read(&doc, at());
    let todos = said.todos.unwrap();
    let items: Vec<(&str, TodoStatus, Priority)> = todos
        .items
        .iter()
        .map(|t| (t.content.as_str(), t.status, t.priority))
        .collect();
    use Priority::{High, Medium};
    use TodoStatus::{Cancelled, Completed, InProgress, Pending};
    assert_eq!(
        items,
        [
            ("US-1: A", Completed, Medium),
            ("US-2: B", InProgress, High),
            ("US-3: C", Pending, High),
            ("US-4: D", Cancelled, Medium),
            ("TSK-5: E", Pending, High),
            ("TSK-6: F", Cancelled, Medium),
            ("G", Pending, Medium),
        ]
    );
    assert_eq!(said.chunk.unwrap().as_str(), "B");
    assert_eq!(said.odd.len(), 1, "{:?}", said.odd);
    for (status, goes_on) in [
        ("in_progress", true),
        ("active", true),
        ("aborted", false),
        ("cancelled", false),
        ("abandoned", false),
        ("completed", false),
        ("failed", false),
        ("odd", false),
    ] {
        let text = format!(r#"{{"sessionId": "x", "status": "{status}"}}"#);
        assert_eq!(
            builder::is_in_progress(&Document::parse(text.as_bytes()).unwrap()),
            goes_on,
            "{status}"
        );
    }
}

#[test]
fn a_resume_takes_the_newer_of_ours_and_the_files() {
    let file = |started: &str, updated: &str| {
        said(&format!(
            r#"{{"updatedAt": "{updated}", "currentTask": {{"description": "Drafting", "startedAt": "{started}", "lastAction": "Asked"}}}}"#
        ))
    };
    let ours = task("Plan");
    let is = |said: &Said, ours_at: DateTime<Utc>| {
        let task = said.newer(Some(&ours), Some(ours_at)).unwrap();
        (task.description.into_string(), task.last_action.into_string())
    };
    let (drafting, plan) = ("Drafting".to_owned(), "Plan".to_owned());
    let (asked, starting) = ("Asked".to_owned(), "Starting task".to_owned());
    let late = at() + TimeDelta::minutes(30);
    assert_eq!(
        is(&file("2026-03-01T10:10:00Z", "2026-03-01T10:20:00Z"), at()),
        (drafting.clone(), asked)
    );
    assert_eq!(
        is(&file("2026-03-01T10:10:00Z", "2026-03-01T10:20:00Z"), late),
        (drafting, starting.clone())
    );
    assert_eq!(
        is(&file("2026-03-01T09:00:00Z", "2026-03-01T10:20:00Z"), late),
        (plan, starting)
    );
    assert_eq!(
        said(r#"{"currentTask": null}"#).newer(Some(&ours), None),
        Some(ours.clone())
    );
    assert_eq!(
        file("2026-03-01T10:10:00Z", "x")
            .newer(None, None)
            .unwrap()
            .description
            .as_str(),
        "Drafting"
    );
}

#[test]
fn what_somebody_writes_while_we_think_is_not_written_over() {
    let temp = tempfile::tempdir().unwrap();
    let docs = temp.path().join("docs");
    let dir = crate::files::Dir::open(temp.path())
        .unwrap()
        .shared_sub("docs")
        .unwrap();
    let text = r#"{"currentTask": {"description": "Drafting", "startedAt": "2026-03-01T10:30:00Z"}, "n": 0}"#;
    dir.create_shared("planner-state.json", text.as_bytes()).unwrap();
    let roots = Roots {
        project: Some(temp.path()),
        home: None,
    };
    let place = roots.find(Some(Agent::Planner)).unwrap();
    let writes = std::cell::Cell::new(0);
    let puts = |upto: u32| {
        // A model's tool replaces the file after we have read it.
        writes.set(writes.get() + 1);
        if writes.get() <= upto {
            let theirs = text.replace("\"n\": 0", &format!("\"n\": {}", writes.get()));
            dir.replace(
                "planner-state.json",
                ".theirs",
                theirs.as_bytes(),
                crate::files::Durability::Process,
            )
            .unwrap();
        }
        false
    };
    let news = news(Some(task("Plan")), false);
    assert!(place.write(&news, &|_| puts(1)).unwrap().is_none());
    let now = std::fs::read_to_string(docs.join("planner-state.json")).unwrap();
    assert!(now.contains("\"n\": 1") && now.contains("Starting task"), "{now}");
    writes.set(0);
    let mut later = news.clone();
    later.task.as_mut().unwrap().last_action = Redacted::new("Ran ls");
    let refused = place.write(&later, &|_| puts(9)).unwrap_err().to_string();
    assert_eq!(refused, "somebody else keeps changing it");
    let now = std::fs::read_to_string(docs.join("planner-state.json")).unwrap();
    assert!(now.contains("\"n\": 3") && !now.contains("Ran ls"), "{now}");
}
