//! `log search`, the filters, the pages, the figures.

use serde_json::{Value, json};

use super::{asked, event, found, listed, logged, session, turn};
use crate::harness::Lab;

#[test]
fn a_turn_is_found_by_what_was_asked_said_and_done() {
    let lab = Lab::new();
    event(
        &lab,
        "one",
        "UserPromptSubmit",
        json!({"prompt": "Höhe der Spalte\nanchovy in the text"}),
    );
    event(
        &lab,
        "one",
        "PostToolUse",
        json!({"tool_name": "Write", "tool_use_id": "w1", "tool_input": {"file_path": "/p/src/basket_case.rs", "content": "x"},
               "tool_response": {"type": "create", "filePath": "/p/src/basket_case.rs"}}),
    );
    event(
        &lab,
        "one",
        "Stop",
        json!({"last_assistant_message": "The cuttlefish is there."}),
    );
    for (word, field) in [
        ("spalte", "title"),
        ("HOHE", "title"),
        ("anchovy", "prompt"),
        ("cuttlefish", "response"),
        ("basket_case", "actions"),
        ("src/basket_case.rs", "actions"),
        ("\"the cuttlefish is\"", "response"),
        ("cuttle*", "response"),
        ("anchovy cuttlefish", "prompt"),
    ] {
        let found = asked(&lab, &["search", word]);
        assert_eq!(found["totalCount"], 1, "{word}: {found:#}");
        let one = &found["matches"][0];
        assert_eq!(one["field"], field, "{word}: {found:#}");
        let names: Vec<&String> = one.as_object().unwrap().keys().collect();
        assert_eq!(names, ["sessionId", "requestId", "field", "snippet", "at"]);
    }
    for absent in ["cuttle", "\"is cuttlefish\"", "anchovy absent", "asket_case"] {
        assert_eq!(found(&lab, absent), 0, "{absent}");
    }
    let text = lab.bookend(&["log", "search", "cuttlefish"]);
    assert!(text.stdout.contains("The cuttlefish is there."), "{text:?}");
    let none = lab.bookend(&["log", "search", "absent"]);
    assert!(none.stdout.contains("No turn holds all these words"), "{none:?}");
}

#[test]
fn what_a_model_adds_is_found_too() {
    let lab = Lab::new();
    let call = |method: &str, params: Value| {
        let file = lab.path("params.json");
        std::fs::write(&file, params.to_string()).unwrap();
        let method = format!("workflow.sessionlog.{method}");
        let answer = lab.bookend(&["call", &method, "--params", &file.to_string_lossy()]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
    };
    lab.bookend(&["call", "start", "--agent", "Tester", "--title", "Halibut session"]);
    assert_eq!(
        asked(&lab, &["search", "halibut"])["matches"][0]["requestId"],
        Value::Null
    );
    call(
        "beginTurn",
        json!({"requestId": "req-20260409T120002Z-x", "queryTitle": "First", "queryText": "First"}),
    );
    call(
        "updateTurn",
        json!({"interpretation": "mackerel", "tags": ["herring"]}),
    );
    call(
        "appendDialog",
        json!({"dialogItems": [{"role": "model", "content": "sardine", "category": "reasoning"}]}),
    );
    call("failTurn", json!({"errorMessage": "sturgeon"}));
    for (word, field) in [
        ("mackerel", "interpretation"),
        ("herring", "tags"),
        ("sardine", "dialog"),
        ("sturgeon", "failure"),
    ] {
        let found = asked(&lab, &["search", word]);
        assert_eq!(found["matches"][0]["field"], field, "{word}: {found:#}");
    }
    assert_eq!(
        asked(&lab, &["sessions"])["sessions"][0]["tags"],
        json!(["herring"])
    );
}

#[test]
fn nothing_that_is_typed_is_an_error_of_syntax() {
    let lab = Lab::new();
    session(&lab, "one", "Add a \"price\" column AND more", "Yes.");
    for typed in [
        "\"",
        "\"\"\"price",
        "price\"",
        "AND",
        "price AND",
        "NOT price",
        "price OR",
        "(",
        "price)",
        "NEAR(price",
        "NEAR(a b, 5)",
        "title:price",
        "title : price",
        "{title}: price",
        "^price",
        "- price",
        "-price",
        "price*",
        "*price",
        "p*ce",
        "price + column",
        "'; DROP TABLE sessions; --",
        "%",
        "price\\",
        "\u{0}x",
        "ünïcode 日本",
        "a^b",
        "col:umn*\"",
        "\"price column\"*",
    ] {
        if typed.contains('\u{0}') {
            continue;
        }
        let answer = lab.bookend(&["log", "search", "--json", "--", typed]);
        let is_none = !typed.chars().any(char::is_alphanumeric);
        assert_eq!(answer.code, Some(i32::from(is_none)), "{typed}: {answer:?}");
        assert_eq!(
            answer.stderr.contains("there is no word"),
            is_none,
            "{typed}: {answer:?}"
        );
    }
    assert_eq!(found(&lab, "AND"), 1, "it is a word like others");
    assert_eq!(lab.bookend(&["log", "search"]).code, Some(2));
    let bad = lab.bookend(&["log", "sessions", "--text", "!!"]);
    assert_eq!(bad.code, Some(1), "{bad:?}");
}

#[test]
fn sessions_and_turns_are_filtered_and_paged() {
    let lab = Lab::new();
    for (n, days) in [(0, 40), (1, 30), (2, 20), (3, 10)] {
        logged(&lab, n, days, &format!("common word{n}"));
    }
    session(&lab, "new", "common thing", "Yes.");
    let call = lab.bookend(&["call", "start", "--agent", "Tester", "--title", "common model"]);
    assert_eq!(call.code, Some(0));
    let hosted = ["--agent", "claude-code"];
    assert_eq!(listed(&lab, &hosted), "new old-3 old-2 old-1 old-0");
    let with = |more: &[&str]| listed(&lab, &[&hosted[..], more].concat());
    assert_eq!(with(&["--from", "25d"]), "new old-3 old-2");
    assert_eq!(with(&["--to", "15d"]), "old-2 old-1 old-0");
    assert_eq!(with(&["--from", "35d", "--to", "15d"]), "old-2 old-1");
    assert_eq!(with(&["--text", "word*", "--limit", "2"]), "old-3 old-2");
    assert_eq!(
        with(&["--text", "common", "--limit", "2", "--offset", "1"]),
        "old-3 old-2"
    );
    assert_eq!(with(&["--status", "failed"]), "");
    assert_eq!(with(&["--project", "/"]), "new old-3 old-2 old-1 old-0");
    assert_eq!(with(&["--project", "/nowhere"]), "");
    let project = lab.project();
    assert_eq!(
        with(&[
            "--project",
            &project.to_string_lossy(),
            "--status",
            "completed",
            "--to",
            "35d"
        ]),
        "old-0"
    );
    let beside = format!("{}x", project.display());
    assert_eq!(with(&["--project", &beside]), "");

    let search = |more: &[&str]| asked(&lab, &[&["search", "common"], more].concat());
    assert_eq!(search(&[])["totalCount"], 6);
    assert_eq!(search(&["--agent", "Tester"])["totalCount"], 1);
    assert_eq!(search(&["--from", "25d", "--to", "15d"])["totalCount"], 1);
    assert_eq!(search(&["--status", "in_progress"])["totalCount"], 1);
    let page = search(&["--limit", "2", "--offset", "4"]);
    assert_eq!(
        (&page["totalCount"], &page["offset"], &page["limit"]),
        (&json!(6), &json!(4), &json!(2))
    );
    let snippets: Vec<&str> = page["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["snippet"].as_str().unwrap())
        .collect();
    assert_eq!(snippets, ["common word1", "common word0"], "newest first");
    assert_eq!(
        lab.bookend(&["log", "sessions", "--from", "yesterday"]).code,
        Some(2)
    );
}

#[test]
fn the_figures_are_those_of_the_logs() {
    let lab = Lab::new();
    for n in 0..3 {
        logged(&lab, n, 10, "common");
    }
    turn(&lab, "new", "p1", "one", "Yes.");
    turn(&lab, "new", "p2", "two", "Yes.");
    let stats = asked(&lab, &["stats"]);
    assert_eq!((&stats["sessions"], &stats["turns"]), (&json!(4), &json!(5)));
    let bytes: u64 = lab
        .log_ids()
        .iter()
        .map(|id| super::log_file(&lab, id.as_str()).metadata().unwrap().len())
        .sum();
    assert_eq!(stats["logBytes"], bytes);
    assert_eq!(
        stats["agents"],
        json!([{"name": "ClaudeCode", "sessions": 4, "turns": 5}])
    );
    assert_eq!(stats["statuses"].as_array().unwrap().len(), 2);
    assert_eq!(
        (
            stats["days"].as_array().unwrap().len(),
            &stats["days"][1]["sessions"]
        ),
        (2, &json!(3))
    );
    assert_eq!(
        (&stats["retentionDays"], stats["indexBytes"].as_u64().unwrap() > 0),
        (&json!(90), true)
    );
    assert_eq!(asked(&lab, &["stats", "--from", "1d"])["turns"], 2);
    let text = lab.bookend(&["log", "stats"]).stdout;
    for part in [
        "4 sessions, 5 turns",
        "AGENT",
        "PROJECT",
        "STATUS",
        "DAY",
        "90 days after the last record",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let doctor = lab.bookend(&["doctor", "--json"]).json();
    let data = doctor["stores"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["kind"] == "data-dir")
        .unwrap();
    assert_eq!(
        (&data["history"]["logBytes"], &data["history"]["retentionDays"]),
        (&json!(bytes), &json!(90))
    );
    assert_eq!(
        doctor["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|f| f["code"] == "foreign")
            .count(),
        0
    );
}
