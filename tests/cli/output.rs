//! How things are printed: nothing raw, no colour where none is wanted, no complaint about a closed pipe.

use std::process::Command;

use serde_json::json;

use super::text_of;
use crate::harness::Lab;

const EVIL: &str = "Clear\u{1b}[2J\u{1b}]0;title\u{7} \u{9b}31m\u{202e}txt\u{7f}";

fn evil(lab: &Lab) {
    lab.prompt("p1", EVIL);
    lab.shell("p1", "c1", &format!("rm {EVIL}"));
    lab.send(
        "PostToolUse",
        json!({"tool_name": EVIL, "tool_use_id": "t1", "tool_response": {},
               "tool_input": {"todos": [{"content": EVIL, "status": "pending"}]}}),
    );
    lab.send("SubagentStart", json!({"agent_id": EVIL, "agent_type": EVIL}));
    lab.send(
        "StopFailure",
        json!({"error": EVIL, "last_assistant_message": EVIL}),
    );
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": EVIL, "prompt": "x", "cwd": format!("/p/{EVIL}")}),
    );
}

#[test]
fn no_stored_text_reaches_the_terminal_raw() {
    let lab = Lab::new();
    evil(&lab);
    for verb in [
        &["sessions"][..],
        &["show", "s1"],
        &["show"],
        &["events", "s1"],
        &["resume"],
        &["log", "sessions"],
        &["log", "show", "s1"],
        &["prune", "-n", "--older-than", "0s"],
    ] {
        for arguments in [verb.to_vec(), [verb, &["--json"]].concat()] {
            let text = text_of(&lab, &arguments);
            let raw = text
                .chars()
                .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(raw, None, "{arguments:?}: {text}");
        }
    }
    assert!(text_of(&lab, &["show", "s1"]).contains("Clear␛[2J␛]0;title␇ \\u{9b}31m\\u{202e}txt␡"));
    let answer = lab.bookend(&["show", "zz\u{1b}[2J"]);
    assert!(!answer.stderr.contains('\u{1b}'), "{answer:?}");
}

/// The command on a terminal; `None` where there is no script(1) to make one.
fn on_a_terminal(lab: &Lab, environment: &[(&str, &str)]) -> Option<String> {
    let command = format!(
        "stty rows 24 cols 70; '{}' sessions",
        env!("CARGO_BIN_EXE_bookend")
    );
    let mut script = lab.command("script");
    script
        .args(["-qec", &command, "/dev/null"])
        .env("TERM", "xterm")
        .envs(environment.iter().copied());
    let Ok(output) = script.output() else {
        return None;
    };
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn colour_is_for_terminals_and_never_with_no_color() {
    let lab = Lab::new();
    lab.prompt(
        "p1",
        "Work that has a long description, longer than a narrow terminal",
    );
    let Some(coloured) = on_a_terminal(&lab, &[]) else {
        return;
    };
    assert!(coloured.contains("\u{1b}[1ms1\u{1b}[0m"), "{coloured:?}");
    for quiet in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let plain = on_a_terminal(&lab, &[quiet]).unwrap();
        assert!(plain.contains("s1") && !plain.contains('\u{1b}'), "{plain:?}");
        assert!(
            plain.lines().all(|l| l.trim_end().chars().count() <= 70),
            "{plain}"
        );
    }
    assert!(!text_of(&lab, &["sessions"]).contains('\u{1b}'));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let lab = Lab::new();
    evil(&lab);
    for n in 0..300 {
        lab.data()
            .note(&bookend::log::data_dir::Fault::new("test", None, &n.to_string()));
    }
    let bookend = env!("CARGO_BIN_EXE_bookend");
    for verb in [
        "show s1",
        "sessions",
        "events s1",
        "log show s1 --json",
        "log sessions",
        "--help",
        "events --follow s1",
    ] {
        let line = format!("\"{bookend}\" {verb} | head -1; exit ${{PIPESTATUS[0]}}");
        let mut bash = lab.command("bash");
        let output = bash.args(["-c", &line]).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{verb}");
    }
}

#[test]
fn a_full_disk_is_a_failure() {
    let lab = Lab::new();
    lab.prompt("p1", "Work");
    let mut bash: Command = lab.command("bash");
    let line = format!("\"{}\" show > /dev/full", env!("CARGO_BIN_EXE_bookend"));
    let output = bash.args(["-c", &line]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("failed to write the output"), "{stderr}");
}
