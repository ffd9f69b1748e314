//! What is swept: machines in some state, and one event for each.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::strace::wipe;
use crate::harness::{Lab, hook_of};

/// What is swept: a machine in some state, and one event.
pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) prepare: fn(&Lab),
    pub(super) event: &'static str,
    pub(super) fields: fn() -> Value,
    /// The session of the event.
    pub(super) session: &'static str,
    /// The id of its turn, for the stop that follows.
    pub(super) turn: &'static str,
    /// Tool calls that were acknowledged before, and must each be in the log once at the end.
    pub(super) acknowledged: &'static [&'static str],
}

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "turn-start, a new session",
        prepare: |_| (),
        event: "UserPromptSubmit",
        fields: || json!({"prompt_id": "p1", "prompt": "First"}),
        session: "s1",
        turn: "p1",
        acknowledged: &[],
    },
    Scene {
        name: "turn-start over an open turn",
        prepare: |lab| {
            lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
        },
        event: "UserPromptSubmit",
        fields: || json!({"prompt_id": "p2", "prompt": "Second"}),
        session: "s1",
        turn: "p2",
        acknowledged: &["call-1"],
    },
    Scene {
        name: "post-tool with an action",
        prepare: |lab| {
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
        },
        event: "PostToolUse",
        fields: || tool("s1", "p1", "call-2"),
        session: "s1",
        turn: "p1",
        acknowledged: &["call-1"],
    },
    Scene {
        name: "post-tool after the history was asked for",
        prepare: |lab| {
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
            lab.bookend(&["log", "sessions"]);
        },
        event: "PostToolUse",
        fields: || tool("s1", "p1", "call-2"),
        session: "s1",
        turn: "p1",
        acknowledged: &["call-1"],
    },
    Scene {
        name: "post-tool that folds two events that waited",
        prepare: |lab| {
            lab.prompt("p1", "First");
            let dir = File::open(lab.hooks_dir().join("s1")).unwrap();
            dir.lock().unwrap();
            lab.write("p1", "call-1", "/p/one.rs");
            lab.write("p1", "call-2", "/p/two.rs");
        },
        event: "PostToolUse",
        fields: || tool("s1", "p1", "call-3"),
        session: "s1",
        turn: "p1",
        acknowledged: &["call-1", "call-2"],
    },
    Scene {
        name: "stop",
        prepare: |lab| {
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
        },
        event: "Stop",
        fields: || stop("p1"),
        session: "s1",
        turn: "p1",
        acknowledged: &["call-1"],
    },
    Scene {
        name: "stop that folds a prompt and a stop that waited",
        prepare: |lab| {
            lab.prompt("p1", "First");
            let dir = File::open(lab.hooks_dir().join("s1")).unwrap();
            dir.lock().unwrap();
            lab.stop("p1", "Done one.");
            lab.prompt("p2", "Second");
        },
        event: "Stop",
        fields: || stop("p2"),
        session: "s1",
        turn: "p2",
        acknowledged: &[],
    },
    Scene {
        name: "post-tool after the live state is gone",
        prepare: |lab| {
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
            wipe(&lab.hooks_dir());
        },
        event: "PostToolUse",
        fields: || tool("s1", "p1", "call-2"),
        session: "s1",
        turn: "p1",
        acknowledged: &["call-1"],
    },
    Scene {
        name: "session-start beside a session whose host is gone",
        prepare: |lab| {
            with_dead_host(lab, "old");
            lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
        },
        event: "SessionStart",
        fields: || json!({"session_id": "s2", "source": "startup", "prompt_id": null}),
        session: "s2",
        turn: "p1",
        acknowledged: &["old-call"],
    },
    Scene {
        name: "turn-start with a planner's file",
        prepare: with_planner,
        event: "UserPromptSubmit",
        fields: || json!({"prompt_id": "p1", "prompt": "First"}),
        session: "s1",
        turn: "p1",
        acknowledged: &[],
    },
    Scene {
        name: "stop with a planner's file",
        prepare: |lab| {
            with_planner(lab);
            lab.prompt("p1", "First");
            lab.write("p1", "call-1", "/p/one.rs");
        },
        event: "Stop",
        fields: || stop("p1"),
        session: "s1",
        turn: "p1",
        acknowledged: &["call-1"],
    },
    Scene {
        name: "pre-delegation that prunes a stale session",
        prepare: |lab| {
            lab.send(
                "UserPromptSubmit",
                json!({"session_id": "old", "prompt_id": "o1", "prompt": "Old"}),
            );
            lab.send("PostToolUse", tool("old", "o1", "old-call"));
            lab.prompt("p1", "First");
            age(&lab.hooks_dir().join("old"));
        },
        event: "PreToolUse",
        fields: || {
            json!({"tool_name": "Agent", "tool_use_id": "task-1",
                   "tool_input": {"prompt": "x", "subagent_type": "general-purpose"}})
        },
        session: "s1",
        turn: "p1",
        acknowledged: &["old-call"],
    },
];

pub(super) fn tool(session: &str, turn: &str, call: &str) -> Value {
    json!({"session_id": session, "prompt_id": turn, "tool_name": "Write", "tool_use_id": call,
           "tool_input": {"file_path": format!("/p/{call}.rs"), "content": "x"},
           "tool_response": {"type": "create", "filePath": format!("/p/{call}.rs")}})
}

pub(super) fn stop(turn: &str) -> Value {
    json!({"prompt_id": turn, "stop_hook_active": false, "last_assistant_message": "Done.", "background_tasks": []})
}

/// A session with an open turn, whose host process has ended.
pub(super) fn with_dead_host(lab: &Lab, session: &str) {
    let mut host = Command::new("sleep").arg("60").spawn().unwrap();
    let prompt = json!({"session_id": session, "prompt_id": "o1", "prompt": "Old"});
    for (event, fields) in [
        ("UserPromptSubmit", prompt),
        ("PostToolUse", tool(session, "o1", "old-call")),
    ] {
        let base = json!({"cwd": lab.project(), "hook_event_name": event});
        lab.call(hook_of(event), &crate::harness::with(base, fields))
            .env("CLAUDE_PID", &host.id().to_string())
            .env("CLAUDE_PROJECT_DIR", &lab.project().to_string_lossy())
            .run()
            .ok();
    }
    host.kill().unwrap();
    host.wait().unwrap();
}

/// What its agent has in it besides.
pub(super) const KEPT: &str = r#""lockedDecisions": [{"answer": 1.50e300}]"#;

/// A project in which a planner works.
pub(super) fn with_planner(lab: &Lab) {
    let docs = lab.project().join("docs");
    std::fs::create_dir_all(&docs).unwrap();
    let text = format!("{{\n  {KEPT},\n  \"currentTask\": null\n}}\n");
    super::strace::write(&docs.join("planner-state.json"), text.as_bytes());
}

pub(super) fn age(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let file = File::open(entry.unwrap().path()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3 * 60 * 60))
            .unwrap();
    }
}
