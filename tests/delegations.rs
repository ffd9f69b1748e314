//! An orchestration's subagents: who works, where the session stands, what they hand over. Through the real
//! executables.

use bookend::live::state::AgentState;
use serde_json::{Value, json};

use crate::harness::{Answer, Lab};
use crate::talk::Talk;

const WHOLE: &str = "All done.\n\n## Task Report\n- Files Created: [src/cart.rs]\n- Files Modified: none\n\n\
                     ## Downstream Context\n- Key Interfaces Introduced: [Cart::add]\n- Warnings: [The limit is 10]\n";
const HALF: &str = "## Task Report\n- Files Created: src/cart.rs\n";

/// A project with an orchestration that is at work.
fn orchestration(lab: &Lab) {
    write(lab, "docs/maestro", &front("in_progress"));
}

fn front(status: &str) -> String {
    format!(
        "---\nsession_id: \"2026-11-30-cart\"\ntask: \"The status: of things\"\nstatus: \"{status}\"\ncurrent_phase: 2\n\
         phases:\n  - id: 1\n    status: \"completed\"\n    agents: [\"design-lead\"]\n  - id: 2\n    status: in_progress\n    \
         agents:\n      - code_reviewer\n      - coder\n---\n\n# Cart\nstatus: body\n"
    )
}

fn write(lab: &Lab, state_dir: &str, text: &str) {
    let dir = lab.project().join(state_dir).join("state");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("active-session.md"), text).unwrap();
}

fn reports(talk: &Talk<'_>, id: &str, kind: &str, message: &str, again: bool) -> Answer {
    let fields = json!({"prompt_id": "p1", "agent_id": id, "agent_type": kind, "stop_hook_active": again,
                        "last_assistant_message": message});
    talk.says("SubagentStop", fields)
}

/// What was handed over, in order, as the log prints it.
fn handoffs(lab: &Lab) -> Vec<Value> {
    let log = serde_json::to_value(lab.log_of("s1")).unwrap();
    log["handoffs"].as_array().cloned().unwrap_or_default()
}

fn reason(answer: &Answer) -> String {
    if answer.stdout.is_empty() {
        return String::new();
    }
    let answer = answer.json();
    assert_eq!(answer["decision"], "block", "{answer}");
    answer["reason"].as_str().unwrap().to_owned()
}

#[test]
fn where_the_session_stands_is_told_at_a_sessions_start_and_at_delegations() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    let line = "Active session: current_phase=2, status=in_progress";
    assert!(!talk.start("startup").context().contains("Active session"));
    orchestration(&lab);
    assert!(talk.start("resume").context().contains(line));
    talk.prompt("p1", "Go");
    assert_eq!(talk.delegate("p1", "c1").context(), line);
    assert_eq!(talk.agent_starts("p1", "a1", "coder").context(), line);
    let other = lab.codex("s2");
    assert!(other.start("startup").context().contains(line));
    let shown = lab.bookend(&["resume"]);
    assert!(shown.stdout.contains(line), "{shown:?}");
}

#[test]
fn a_session_that_is_over_broken_elsewhere_or_no_file_is_not_told() {
    for text in [
        front("completed"),
        "no front matter, status: in_progress".to_owned(),
        String::new(),
        "---\nphases:\n  - status: in_progress\n---\n".to_owned(),
        "---\nstatus: in_progress\n".repeat(100_000),
    ] {
        let lab = Lab::new();
        write(&lab, "docs/maestro", &text);
        let context = lab.claude("s1").start("startup").context();
        assert!(!context.contains("Active session"), "{context}");
    }
    // Not over a link, and nothing waits for a pipe.
    let lab = Lab::new();
    write(&lab, "elsewhere", &front("in_progress"));
    std::os::unix::fs::symlink(lab.project().join("elsewhere"), lab.project().join("docs")).unwrap();
    assert!(
        !lab.claude("s1")
            .start("startup")
            .context()
            .contains("Active session")
    );
    let lab = Lab::new();
    let dir = lab.project().join("docs/maestro/state");
    std::fs::create_dir_all(&dir).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(dir.join("active-session.md"))
        .status();
    assert!(made.unwrap().success());
    assert!(
        !lab.claude("s1")
            .start("startup")
            .context()
            .contains("Active session")
    );
}

#[test]
fn the_state_directory_is_the_environments_else_the_projects_own_else_the_usual_one() {
    let lab = Lab::new();
    let told = |talk: &Talk<'_>| talk.start("resume").context().contains("Active session");
    write(&lab, "state-here", &front("in_progress"));
    let talk = lab.claude("s1");
    assert!(!told(&talk));
    std::fs::write(
        lab.project().join(".env"),
        "KEY=1\nMAESTRO_STATE_DIR='state-here'\n",
    )
    .unwrap();
    assert!(told(&talk));
    assert!(!told(&talk.env("MAESTRO_STATE_DIR", "nowhere")));
    std::fs::remove_file(lab.project().join(".env")).unwrap();
    let whole = lab.project().join("state-here");
    for (path, found) in [
        ("state-here", true),
        ("./state-here", true),
        ("../project/state-here", false),
        (whole.to_str().unwrap(), true),
        ("/etc", false),
    ] {
        let told = told(&talk.env("MAESTRO_STATE_DIR", path));
        assert_eq!(told, found, "{path}");
    }
}

#[test]
fn a_report_without_its_headings_is_sent_back_once_and_then_taken() {
    let lab = Lab::new();
    orchestration(&lab);
    let talk = lab.claude("s1");
    talk.prompt("p1", "Go");
    talk.agent_starts("p1", "a1", "maestro:code-reviewer");
    talk.agent_starts("p1", "a2", "coder");
    let why = reason(&reports(&talk, "a1", "maestro:code-reviewer", HALF, false));
    assert!(
        why.contains("`## Downstream Context`") && why.contains("lacks the heading"),
        "{why}"
    );
    let state = lab.state("s1");
    assert_eq!(state.agents[0].state, AgentState::Running, "it goes on");
    assert!(handoffs(&lab).is_empty());
    // The same event a second time, from a second registration: the same answer.
    let second = reports(&talk, "a1", "maestro:code-reviewer", HALF, false);
    assert_eq!(reason(&second), why);
    // The other one's is whole: it is never held up.
    assert_eq!(reports(&talk, "a2", "coder", WHOLE, false).stdout, "");
    // The second stop passes, whatever the host says of the first.
    assert_eq!(
        reports(&talk, "a1", "maestro:code-reviewer", "Still not.", false).stdout,
        ""
    );
    let state = lab.state("s1");
    assert!(
        state.agents.iter().all(|a| a.state == AgentState::Ended),
        "{:?}",
        state.agents
    );
    let all = handoffs(&lab);
    assert_eq!(all.len(), 2, "{all:#?}");
    assert_eq!(all[0]["agent"], json!({"id": "a2", "type": "coder"}));
    assert_eq!(all[0]["filesCreated"], json!(["src/cart.rs"]));
    assert_eq!(
        all[0]["downstreamContext"],
        json!({"key_interfaces_introduced": ["Cart::add"], "warnings": ["The limit is 10"]})
    );
    assert_eq!(
        (&all[0]["orchestration"], &all[0]["phase"]),
        (&json!("2026-11-30-cart"), &json!("2"))
    );
    assert_eq!(all[0].get("missing"), None);
    assert_eq!(all[1]["agent"]["type"], "code_reviewer");
    assert_eq!(all[1]["missing"], json!(["Task Report", "Downstream Context"]));
    assert_eq!(all[1].get("requiresReconciliation"), None);
    let shown = lab.bookend(&["log", "show", "s1"]).stdout;
    for line in [
        "handoff     coder, phase 2, ",
        " s ago: 1 file\n",
        " s ago: 0 files, lacks \"Task Report\" and \"Downstream Context\"",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
}

#[test]
fn what_the_host_says_was_sent_back_passes() {
    let lab = Lab::new();
    orchestration(&lab);
    let talk = lab.claude("s1");
    talk.prompt("p1", "Go");
    assert_eq!(reports(&talk, "a1", "coder", HALF, true).stdout, "");
    assert_eq!(handoffs(&lab).len(), 1);
}

#[test]
fn an_agent_of_which_nobody_knows_is_never_sent_back() {
    let lab = Lab::new();
    orchestration(&lab);
    let talk = lab.claude("s1");
    talk.prompt("p1", "Go");
    for _ in 0..2 {
        assert_eq!(reports(&talk, "a1", "coder", HALF, false).stdout, "");
    }
    assert_eq!(handoffs(&lab).len(), 1, "the second is the same event");
}

#[test]
fn strict_marks_the_phase_and_lenient_only_notes() {
    for (strictness, blocks, marked) in [
        ("strict", true, true),
        ("normal", true, false),
        ("lenient", false, false),
    ] {
        let lab = Lab::new();
        orchestration(&lab);
        let talk = lab.claude("s1").env("MAESTRO_VALIDATION_STRICTNESS", strictness);
        talk.prompt("p1", "Go");
        talk.agent_starts("p1", "a1", "coder");
        let first = reports(&talk, "a1", "coder", HALF, false);
        assert_eq!(!reason(&first).is_empty(), blocks, "{strictness}");
        if blocks {
            assert_eq!(reports(&talk, "a1", "coder", HALF, true).stdout, "");
        }
        let all = handoffs(&lab);
        assert_eq!(all.len(), 1, "{strictness}: {all:#?}");
        assert_eq!(all[0]["missing"], json!(["Downstream Context"]));
        assert_eq!(all[0]["requiresReconciliation"] == true, marked, "{strictness}");
    }
}

#[test]
fn nobody_elses_agents_are_held_to_a_report() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Go");
    assert_eq!(
        reports(&talk, "a1", "coder", "Done.", false).stdout,
        "",
        "no orchestration"
    );
    orchestration(&lab);
    assert_eq!(reports(&talk, "a2", "general-purpose", "Done.", false).stdout, "");
    assert_eq!(talk.stop("p1", "Done.").stdout, "", "nor the main agent");
    write(&lab, "docs/maestro", &front("completed"));
    assert_eq!(
        reports(&talk, "a3", "coder", "Done.", false).stdout,
        "",
        "it is over"
    );
    assert!(handoffs(&lab).is_empty());
}

#[test]
fn an_agent_that_the_host_does_not_name_is_named_by_its_prompts_head_or_the_environment() {
    let asks = |talk: &Talk<'_>, call: &str, prompt: &str| {
        let fields = json!({"prompt_id": "p1", "tool_name": "invoke_agent", "tool_use_id": call,
                            "tool_input": {"prompt": prompt, "agent_prompt": prompt}});
        talk.says("BeforeTool", fields)
    };
    for (prompt, env, name) in [
        (
            "Agent: maestro:Code-Reviewer\nPhase: 1/3\nLook at it",
            None,
            "code_reviewer",
        ),
        ("Please ask agent: coder, or @coder", Some("Tester"), "tester"),
        ("Please look", None, ""),
        ("Please look", Some("not a name!"), ""),
    ] {
        let lab = Lab::new();
        let mut talk = lab.gemini("s1");
        if let Some(env) = env {
            talk = talk.env("MAESTRO_CURRENT_AGENT", env);
        }
        talk.prompt("p1", "Go");
        asks(&talk, "c1", prompt);
        let state = lab.state("s1");
        let kind = state.agents[0].kind.as_ref().map_or("", |k| k.as_str());
        assert_eq!(kind, name, "{prompt}");
        let file = std::fs::read_to_string(lab.hooks_dir().join("s1/active-agent")).unwrap_or_default();
        assert_eq!(file, name, "{prompt}");
    }
}

#[test]
fn a_secret_in_a_report_is_in_no_file() {
    let lab = Lab::new();
    orchestration(&lab);
    let talk = lab.claude("s1");
    talk.prompt("p1", "Go");
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let message = format!("{WHOLE}- Assumptions: [the key is {key}]\n");
    assert_eq!(reports(&talk, "a1", "coder", &message, false).stdout, "");
    let text = handoffs(&lab)[0].to_string();
    assert!(text.contains("[REDACTED:") && !text.contains(&key), "{text}");
}
