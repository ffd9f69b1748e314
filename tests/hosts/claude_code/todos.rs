//! Claude Code's task tools, and what a session that was killed with open todos resumes from.

use std::time::Duration;

use bookend::probe::{Kind, Outcome};
use bookend::skills::SKILLS;
use serde_json::{Value, json};

use super::super::lab::{Lab, list, told};
use super::{FIRST_LINE, PROMPT, lab};

/// The subject of both tasks of the scripted model.
const TODO: &str = "Add the column";

/// A session that made two tasks, completed the first, and was killed.
fn killed(lab: &Lab) -> Outcome {
    let running = lab
        .session()
        .prompt(PROMPT)
        .script("select todo todo tododone write hang:30")
        .spawn()
        .unwrap();
    let reached = running.wait_until(Duration::from_secs(30), |model| model.model_request_count() == 6);
    let crashed = running.kill().unwrap();
    assert!(reached && crashed.signal == Some(9), "{}", told(&crashed));
    crashed
}

fn kept(todos: &Value) -> Vec<(&str, &str)> {
    list(todos, "items")
        .iter()
        .map(|t| {
            let text = |name: &str| t[name].as_str().unwrap_or_default();
            (text("content"), text("status"))
        })
        .collect()
}

#[test]
fn a_killed_session_resumes_with_its_open_todos_in_the_first_request() {
    let Some(lab) = lab() else { return };
    let crashed = killed(&lab);
    let expected = [(TODO, "completed"), (TODO, "pending")];
    let todos = lab.bookend(&["todos", "--json"]);
    assert_eq!(kept(&todos), expected, "{todos:#}\n{}", told(&crashed));
    assert_eq!(todos["source"]["live"], false, "{todos:#}");
    let log = lab.bookend(&["log", "show", "--json"]);
    assert_eq!(kept(&log["todos"]), expected, "{log:#}");

    // The same conversation.
    let session = lab
        .session()
        .prompt("continue")
        .script("select todo text:all_done")
        .resume();
    let resumed = session.run().unwrap();
    assert_eq!(resumed.rc, Some(0), "{}", told(&resumed));
    for said in [
        format!("Resuming: {FIRST_LINE}\n"),
        format!("Open todos:\n- [pending] {TODO}\n"),
        // It still has them: a task that is created in this session has the number 3.
        "Restore these todos with TaskCreate, if they are not there any more; at most one in progress"
            .to_owned(),
    ] {
        let said_in = resumed.model_requests_containing(&said);
        assert_eq!(said_in.first(), Some(&1), "{said}\n{}", lab.kept());
    }
}

#[test]
fn the_next_session_restores_the_todos_of_a_killed_one_under_its_own_numbers() {
    let Some(lab) = lab() else { return };
    killed(&lab);
    let session = lab
        .session()
        .prompt("continue")
        .script("select todo tododone text:all_done");
    let next = session.env("BOOKEND_RESUME", "always").run().unwrap();
    assert_eq!(next.rc, Some(0), "{}", told(&next));
    let said = format!("- [pending] {TODO}\nRestore these todos with TaskCreate; at most one in progress");
    let said_in = next.model_requests_containing(&said);
    assert_eq!(said_in.first(), Some(&1), "{}", lab.kept());
    let todos = lab.bookend(&["todos", "--json"]);
    assert_eq!(
        kept(&todos),
        [(TODO, "completed"), (TODO, "completed")],
        "restored, not doubled: {todos:#}"
    );
    let show = lab.bookend(&["show", "--json"]);
    assert_eq!(
        (&show["turn"]["status"], &show["currentTask"]),
        (&json!("completed"), &Value::Null),
        "{show:#}"
    );
}

#[test]
fn the_skills_are_offered_to_the_model() {
    let Some(lab) = lab() else { return };
    let outcome = lab
        .session()
        .prompt(PROMPT)
        .script("text:all_done")
        .run()
        .unwrap();
    for skill in SKILLS {
        let name = format!("bookend:{}", skill.name);
        let begin: String = skill.description().chars().take(40).collect();
        let mut main = outcome.requests.iter().filter(|r| r.kind == Kind::Main);
        assert!(
            main.any(|r| r.contains(&name) && r.contains(&begin)),
            "{name}: {}",
            told(&outcome)
        );
    }
}
