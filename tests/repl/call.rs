//! `bookend call`: one method a process.

use serde_json::{Value, json};

use super::{S, T, call, shown};
use crate::harness::Lab;

#[track_caller]
fn result(lab: &Lab, arguments: &[&str], params: Option<&str>) -> Value {
    let answer = call(lab, arguments, params);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    assert_eq!(answer.stdout.lines().count(), 1);
    let mut value = answer.json();
    assert_eq!(value["type"], "result");
    value["payload"]["result"].take()
}

/// The seed's blocks of parameters, as they stand there.
#[test]
fn the_seeds_yaml_goes_through_call_one_process_at_a_time() {
    let lab = Lab::new();
    result(&lab, &["workflow.sessionlog.bootstrap"], None);
    let open =
        format!("agent: YourAgent\nsessionId: {S}\ntitle: Implement JWT authentication\nmodel: model-1\n");
    assert_eq!(
        result(&lab, &["workflow.sessionlog.openSession"], Some(&open))["sessionId"],
        S
    );
    let begin = format!(
        "requestId: {T}\nqueryTitle: Add JWT authentication\nqueryText: Implement JWT token generation and validation for the API\n"
    );
    assert_eq!(
        result(&lab, &["workflow.sessionlog.beginTurn"], Some(&begin))["status"],
        "in_progress"
    );
    let dialog = "dialogItems:\n  - timestamp: 2026-04-09T12:00:04Z\n    role: model\n    content: Analyzing authentication requirements and existing patterns...\n    category: reasoning\n  - timestamp: 2026-04-09T12:00:05Z\n    role: model\n    content: |\n      Decision: Use HS256 for JWT signing.\n      Rationale: Symmetric key simplifies key management for this internal service.\n    category: decision\n";
    assert_eq!(
        result(&lab, &["workflow.sessionlog.appendDialog"], Some(dialog)),
        json!({"appended": 2, "totalDialogItems": 2})
    );
    let actions = "actions:\n  - order: 1\n    description: Created TokenService with JWT generation\n    type: create\n    status: completed\n    filePath: src/Services/TokenService.cs\n  - order: 3\n    description: Chose HS256 for JWT signing (internal service, symmetric key)\n    type: design_decision\n    status: completed\n    filePath: \"\"\n";
    assert_eq!(
        result(&lab, &["workflow.sessionlog.appendActions"], Some(actions))["totalActions"],
        2
    );
    let path = lab.path("done.yaml");
    std::fs::write(
        &path,
        "response: |\n  JWT authentication implemented:\n  - All unit tests passing\n",
    )
    .unwrap();
    let done = result(
        &lab,
        &[
            "workflow.sessionlog.completeTurn",
            "--params",
            &path.to_string_lossy(),
        ],
        None,
    );
    assert_eq!(
        (&done["turnRequestId"], &done["status"]),
        (&json!(T), &json!("completed"))
    );
    assert_eq!(
        shown(&lab, S)["turns"][0]["response"],
        "JWT authentication implemented:\n- All unit tests passing\n"
    );

    // After the close, the next call in the project is in no session.
    assert_eq!(
        result(&lab, &["workflow.sessionlog.closeSession"], None)["status"],
        "completed"
    );
    let after = call(&lab, &["workflow.sessionlog.currentSession"], None);
    assert_eq!(
        (after.code, &after.json()["payload"]["code"]),
        (Some(1), &json!("session_not_found"))
    );
}

#[test]
fn an_error_is_an_envelope_on_stdout_and_exit_1() {
    let lab = Lab::new();
    for (method, params, code) in [
        (
            "workflow.sessionlog.updateTurn",
            "response: x",
            "session_not_found",
        ),
        ("workflow.todo.query", "{}", "method_not_found"),
        ("workflow.sessionlog.openSession", "title: 1", "invalid_parameter"),
        ("workflow.sessionlog.openSession", "[1]", "invalid_parameter"),
    ] {
        let answer = call(&lab, &[method], Some(params));
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(1), ""), "{answer:?}");
        let value = answer.json();
        assert_eq!(
            (&value["type"], &value["payload"]["code"]),
            (&json!("error"), &json!(code)),
            "{method}"
        );
        assert!(
            value["payload"]["requestId"]
                .as_str()
                .unwrap()
                .starts_with("req-")
        );
    }
    for (params, why) in [
        ("a: [", "neither JSON nor YAML"),
        ("a: 1\na: 2\n", "neither JSON nor YAML"),
    ] {
        let answer = call(&lab, &["workflow.sessionlog.bootstrap"], Some(params));
        assert!(
            answer.code == Some(1) && answer.stdout.is_empty() && answer.stderr.contains(why),
            "{answer:?}"
        );
    }
    assert_eq!(call(&lab, &[], None).code, Some(1));
}

#[test]
fn start_opens_a_session_that_the_next_calls_are_in() {
    let lab = Lab::new();
    let started = result(
        &lab,
        &[
            "start",
            "--agent",
            "YourAgent",
            "--title",
            "Add the cart, please",
            "--model",
            "m1",
        ],
        None,
    );
    let id = started["sessionId"].as_str().unwrap();
    assert_eq!(started["initialized"], true);
    assert!(
        id.starts_with("YourAgent-") && id.contains("-add-the-cart-please-"),
        "{id}"
    );
    result(
        &lab,
        &["workflow.sessionlog.beginTurn"],
        Some(&format!("requestId: {T}\nqueryTitle: t\nqueryText: q\n")),
    );
    result(&lab, &["workflow.sessionlog.completeTurn"], None);
    let view = shown(&lab, id);
    assert_eq!(
        (&view["turns"][0]["status"], &view["model"]),
        (&json!("completed"), &json!("m1"))
    );
    assert_eq!(view["projectRoot"], json!(lab.project().canonicalize().unwrap()));
    // Another project has its own.
    let other = lab.path("other");
    std::fs::create_dir(&other).unwrap();
    let there = result(
        &lab,
        &[
            "start",
            "--agent",
            "B",
            "--title",
            "日本",
            "--workspace",
            &other.to_string_lossy(),
        ],
        None,
    );
    assert_eq!(
        result(&lab, &["workflow.sessionlog.currentSession"], None)["sessionId"],
        json!(id)
    );
    let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
    command
        .args(["call", "workflow.sessionlog.currentSession"])
        .current_dir(&other);
    let current = crate::harness::Answer::of(command.output().unwrap()).json();
    assert_eq!(current["payload"]["result"]["sessionId"], there["sessionId"]);
    for bad in [["--agent", "b", "--title", "x"], ["--agent", "B", "--title", " "]] {
        let answer = call(&lab, &[&["start"], bad.as_slice()].concat(), None);
        assert_eq!(
            (answer.code, &answer.json()["payload"]["code"]),
            (Some(1), &json!("invalid_parameter"))
        );
    }
}

#[test]
fn the_help_names_every_method() {
    let lab = Lab::new();
    for verb in ["repl", "call"] {
        let help = lab.bookend(&[verb, "--help"]);
        assert_eq!(help.code, Some(0));
        for method in bookend::log::methods::table::METHODS {
            assert!(help.stdout.contains(method.name), "{verb}: {}", method.name);
        }
    }
}

/// clap would make a `help` of its own, which is no method and takes no `--params`.
#[test]
fn there_is_no_subcommand_but_start() {
    let lab = Lab::new();
    let help = call(&lab, &["--help"], None);
    let after = help.stdout.split("Commands:").nth(1).unwrap();
    let commands: Vec<&str> = after
        .lines()
        .skip(1)
        .take_while(|l| l.starts_with("  "))
        .filter_map(|l| l.split_whitespace().next())
        .collect();
    assert_eq!(commands, ["start"], "{}", help.stdout);
}
