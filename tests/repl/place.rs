//! Which session a call is about when none is named.

use serde_json::{Value, json};

use super::{Repl, S, T, call};
use crate::harness::Lab;

const OTHER: &str = "Other-20260409T120000Z-b";

#[test]
fn without_a_session_the_error_says_what_to_do() {
    let lab = Lab::new();
    let mut repl = Repl::of(&lab);
    for method in ["currentSession", "closeSession", "updateTurn", "completeTurn"] {
        let error = repl.error(method, json!({}));
        assert_eq!(error["code"], "session_not_found", "{method}");
        assert!(error["details"]["hint"].as_str().unwrap().contains("openSession"));
    }
    let named = repl.error("updateTurn", json!({"sessionId": S}));
    assert_eq!(
        (&named["code"], &named["details"]["sessionId"]),
        (&json!("session_not_found"), &json!(S))
    );
    assert!(!lab.data_dir().exists(), "nothing is made");
    repl.open(S);
    assert_eq!(repl.error("completeTurn", json!({}))["code"], "turn_not_found");
    assert_eq!(
        repl.error("updateTurn", json!({"turnRequestId": T}))["details"]["turnRequestId"],
        T
    );
    repl.end();
}

#[test]
fn named_goes_before_opened_and_opened_before_the_environment() {
    let lab = Lab::new();
    lab.prompt("p1", "In the hooked one");
    let hooked = json!(lab.log_of("s1").session_id);
    let current = |repl: &mut Repl| repl.ok("currentSession", json!({}))["sessionId"].clone();
    let with = |name: &str, value: &str| {
        let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
        command.arg("repl").env(name, value);
        Repl::from(command)
    };
    let mut repl = with("CLAUDE_CODE_SESSION_ID", "s1");
    assert_eq!(current(&mut repl), hooked);
    repl.open(S);
    assert_eq!(current(&mut repl), S);
    assert_eq!(
        repl.ok("currentSession", json!({"sessionId": hooked}))["sessionId"],
        hooked
    );
    repl.end();
    let mut repl = with("BOOKEND_SESSION", S);
    assert_eq!(current(&mut repl), S);
    repl.end();
    // A session that nobody keeps, or no session at all, is no session to write to.
    for odd in ["nobody", "Nobody-20260409T120000Z-x"] {
        let mut repl = with("BOOKEND_SESSION", odd);
        assert_eq!(current(&mut repl), hooked, "the only live one of the project");
        repl.end();
    }
}

#[test]
fn the_only_live_session_of_the_project_is_meant_and_of_two_none() {
    let lab = Lab::new();
    lab.prompt("p1", "One");
    let one = json!(lab.log_of("s1").session_id);
    assert_eq!(
        call(&lab, &["workflow.sessionlog.currentSession"], None).json()["payload"]["result"]["sessionId"],
        one
    );
    // A caller in another project writes to none of them.
    let elsewhere = lab.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    // `find` runs it: of the process that ran the hooks it is none.
    let mut command = lab.command("find");
    command
        .args([
            ".",
            "-maxdepth",
            "0",
            "-exec",
            env!("CARGO_BIN_EXE_bookend"),
            "repl",
            ";",
        ])
        .current_dir(&elsewhere);
    let mut repl = Repl::from(command);
    let error = repl.error("completeTurn", json!({}));
    assert_eq!(
        (&error["code"], &error["details"]["candidates"][0]["sessionId"]),
        (&json!("session_not_found"), &one)
    );
    repl.end();
    lab.send("UserPromptSubmit", json!({"session_id": "s2", "prompt": "Two"}));
    let mut repl = Repl::of(&lab);
    let error = repl.error("updateTurn", json!({"response": "x"}));
    let candidates: Vec<&Value> = error["details"]["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["task"])
        .collect();
    assert!(
        error["code"] == "session_not_found" && candidates.len() == 2,
        "{error:#}"
    );
    assert!(
        candidates.contains(&&json!("One")) && candidates.contains(&&json!("Two")),
        "{error:#}"
    );
    repl.end();
}

#[test]
fn another_agents_session_is_refused() {
    let lab = Lab::new();
    let mut repl = Repl::in_turn(&lab);
    repl.open(OTHER);
    for params in [
        json!({"agent": "YourAgent"}),
        json!({"sourceType": "Other", "sessionId": S}),
    ] {
        let error = repl.error("completeTurn", params);
        assert_eq!(
            (&error["code"], &error["details"]["parameter"]),
            (&json!("invalid_parameter"), &json!("agent"))
        );
    }
    repl.ok("completeTurn", json!({"sourceType": "YourAgent", "sessionId": S}));
    repl.end();
}
