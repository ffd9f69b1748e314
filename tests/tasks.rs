//! What is being done, what is still to be done, and what stopped it: the tables "Current task", "Todos" and
//! "Rate limits" of the design, through the real executables.

use bookend::hosts::Host;
use bookend::task::limit::WAIT;
use bookend::task::{LimitSource, Task};
use serde_json::{Value, json};

use crate::harness::{Lab, payload, with};
use crate::talk::{Talk, all, presumed};

const LIMITED: &str =
    "API Error: Request rejected (429) · This request would exceed your account's rate limit.";

fn task(lab: &Lab, session: &str) -> Option<Task> {
    lab.state(session).current_task
}

fn description(lab: &Lab, session: &str) -> String {
    task(lab, session).map_or_else(String::new, |t| t.description.into_string())
}

fn interrupted(lab: &Lab, session: &str) -> String {
    let task = lab.state(session).interrupted_task;
    task.map_or_else(String::new, |t| t.description.into_string())
}

// The current task

#[test]
fn a_prompt_sets_the_task_with_the_seeds_fields() {
    for host in Host::ALL {
        let lab = Lab::new();
        lab.talk(host, "x1")
            .prompt("p1", &format!("Fix the login {}\nand more", "x".repeat(200)));
        let task = task(&lab, "x1").unwrap();
        assert_eq!(task.description.chars().count(), 120, "{host}");
        assert!(task.description.starts_with("Fix the login x") && task.description.ends_with('…'));
        assert_eq!(task.last_action.as_str(), "Starting task");
        assert_eq!(
            task.context_anchor.as_ref().unwrap().as_str(),
            lab.project().to_str().unwrap()
        );
        assert_eq!(task.rate_limit_detected_at, None);
        let spelled = serde_json::to_value(&task).unwrap();
        let keys: Vec<_> = spelled.as_object().unwrap().keys().cloned().collect();
        assert_eq!(
            keys,
            [
                "description",
                "startedAt",
                "lastAction",
                "contextAnchor",
                "rateLimitDetectedAt"
            ]
        );
    }
}

#[test]
fn every_tool_call_moves_the_last_action_and_the_anchor() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Fix it");
    let patch = json!({"filePath": "/w/cart.rs", "structuredPatch": [{"newStart": 41}]});
    let steps: [(&str, Value, Value, &str, &str); 5] = [
        (
            "Edit",
            json!({"file_path": "/w/cart.rs"}),
            patch,
            "Edited /w/cart.rs",
            "/w/cart.rs:41",
        ),
        (
            "Read",
            json!({"file_path": "/w/b.rs", "offset": 7}),
            json!({}),
            "Read /w/b.rs",
            "/w/b.rs:7",
        ),
        (
            "Bash",
            json!({"command": "cargo test\n"}),
            json!({"stdout": ""}),
            "Ran cargo test",
            "cargo test",
        ),
        (
            "Grep",
            json!({"pattern": "fn main"}),
            json!({}),
            "Searched fn main",
            "cargo test",
        ),
        ("TaskList", json!({}), json!({}), "Used TaskList", "cargo test"),
    ];
    for (i, (name, input, response, action, anchor)) in steps.into_iter().enumerate() {
        talk.tool("p1", &format!("c{i}"), name, input, response);
        let task = task(&lab, "s1").unwrap();
        assert_eq!(
            (task.last_action.as_str(), task.context_anchor.unwrap().as_str()),
            (action, anchor)
        );
    }
    talk.fails(
        "p1",
        "c9",
        "Bash",
        json!({"command": "cargo test"}),
        "Exit code 101\nfailed",
    );
    assert_eq!(
        task(&lab, "s1").unwrap().last_action.as_str(),
        "Ran cargo test (exit 101)"
    );
    assert_eq!(description(&lab, "s1"), "Fix it");
}

#[test]
fn a_task_that_was_not_done_moves_aside_for_the_next() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "First");
    talk.create("p1", "c1", "/w/a.rs");
    talk.prompt("p2", "Second"); // after Esc, which says nothing
    assert_eq!(
        (description(&lab, "s1").as_str(), interrupted(&lab, "s1").as_str()),
        ("Second", "First")
    );
    let log = lab.log_of("s1");
    assert_eq!(log.task.unwrap().description.as_str(), "Second");
    assert_eq!(log.interrupted.unwrap().description.as_str(), "First");
}

#[test]
fn a_prompt_that_only_says_to_go_on_takes_the_interrupted_task_up_again() {
    for words in ["continue", "Continue.", " go on ", "weiter", "WEITER!", "继续"] {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", "First");
        talk.create("p1", "c1", "/w/a.rs");
        talk.prompt("p2", words);
        let now = task(&lab, "s1").unwrap();
        assert_eq!(
            (now.description.as_str(), now.last_action.as_str()),
            ("First", "Created /w/a.rs"),
            "{words}"
        );
        assert_eq!(interrupted(&lab, "s1"), "");
        assert_eq!(
            lab.log_of("s1").turns[1].query_text.trim(),
            words.trim(),
            "the turn says what was said"
        );
    }
    for words in ["continue with the tests", "go on holiday", "weitere Tests"] {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", "First");
        talk.prompt("p2", words);
        assert_eq!(
            (description(&lab, "s1").as_str(), interrupted(&lab, "s1").as_str()),
            (words, "First")
        );
    }
}

#[test]
fn a_stop_clears_the_task_and_nothing_else_does() {
    let lab = Lab::new();
    let talk = lab.claude("stopped");
    talk.prompt("p1", "Do it");
    talk.stop("p1", "Done.");
    assert_eq!(description(&lab, "stopped"), "");
    assert!(lab.log_of("stopped").task.is_none());

    type End = fn(&Talk<'_>);
    let ends: [(&str, Talk<'_>, End); 6] = [
        ("interrupted", lab.codex("c1"), |t| {
            drop(t.says("Interrupt", json!({"turn_id": "p1"})))
        }),
        ("failed", lab.claude("s2"), |t| {
            drop(t.model_fails("p1", "server_error", "500"))
        }),
        ("ended", lab.claude("s3"), |t| drop(t.end("prompt_input_exit"))),
        ("compacted", lab.claude("s4"), |t| {
            drop(t.says("PreCompact", json!({"prompt_id": "p1", "trigger": "auto"})))
        }),
        ("resumed", lab.claude("s5"), |t| drop(t.start("resume"))),
        ("a subagent stopped", lab.claude("s6"), |t| {
            drop(t.agent_stops("p1", "a1", "coder"))
        }),
    ];
    for (what, talk, end) in ends {
        talk.prompt("p1", "Do it");
        end(&talk);
        assert_eq!(description(&lab, &talk.session), "Do it", "{what}");
        let open = lab.open_entries();
        let entry = open.iter().find(|e| e.session_key == talk.session);
        assert!(
            entry.is_some_and(|e| e.task.is_some()),
            "{what}: it can be resumed"
        );
    }
}

#[test]
fn a_clear_takes_task_and_todos_away() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.tool(
        "p1",
        "c1",
        "TaskCreate",
        json!({"subject": "a"}),
        json!({"task": {"id": "1"}}),
    );
    talk.end("clear");
    let state = lab.state("s1");
    assert!(state.current_task.is_none() && state.ui_todos.is_none());
    assert_eq!(all(&lab.log_of("s1")), [presumed("session_ended")]);
    assert!(lab.open_entries().is_empty(), "nobody wants it back");
}

// Todos

fn todos(lab: &Lab, session: &str) -> Vec<(String, String)> {
    let list = lab.state(session).ui_todos.unwrap_or_default();
    let word = |t: &bookend::task::Todo| {
        serde_json::to_value(t.status)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    };
    list.items
        .iter()
        .map(|t| (t.content.as_str().to_owned(), word(t)))
        .collect()
}

fn items(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(c, s)| ((*c).to_owned(), (*s).to_owned()))
        .collect()
}

#[test]
fn todos_of_gemini_come_as_a_whole_list() {
    let lab = Lab::new();
    let talk = lab.gemini("g1");
    talk.prompt("", "Do it");
    talk.says(
        "AfterTool",
        with(
            payload("gemini-cli/AfterTool-write_todos"),
            json!({"session_id": "g1", "transcript_path": null}),
        ),
    );
    assert_eq!(
        todos(&lab, "g1"),
        items(&[("first", "in_progress"), ("second", "pending")])
    );
    let list = json!({"todos": [{"description": "first", "status": "completed"}, {"description": "second", "status": "in_progress"}, {"description": "third", "status": "cancelled"}]});
    talk.tool("", "", "write_todos", list, json!({"llmContent": "ok"}));
    assert_eq!(
        todos(&lab, "g1"),
        items(&[
            ("first", "completed"),
            ("second", "in_progress"),
            ("third", "cancelled")
        ])
    );
    assert_eq!(
        lab.log_of("g1").todos.unwrap().items.len(),
        3,
        "the log holds them too"
    );
    talk.tool(
        "",
        "",
        "write_todos",
        json!({"todos": "?"}),
        json!({"llmContent": "ok"}),
    );
    assert_eq!(todos(&lab, "g1").len(), 3, "what cannot be read changes nothing");
    talk.tool(
        "",
        "",
        "write_todos",
        json!({"todos": []}),
        json!({"llmContent": "ok"}),
    );
    assert_eq!(todos(&lab, "g1").len(), 0, "an empty list clears");
    assert_eq!(lab.log_of("g1").todos.unwrap().items.len(), 0);
}

#[test]
fn todos_of_claude_come_one_by_one() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.says(
        "PostToolUse",
        with(
            payload("claude-code/PostToolUse-taskcreate"),
            json!({"session_id": "s1", "prompt_id": "p1", "transcript_path": null}),
        ),
    );
    talk.tool(
        "p1",
        "c2",
        "TaskCreate",
        json!({"subject": "Test it"}),
        json!({"task": {"id": "2"}}),
    );
    assert_eq!(
        todos(&lab, "s1"),
        items(&[("Add the price column", "pending"), ("Test it", "pending")])
    );
    let set = |id: &str, status: &str, call: &str| {
        talk.tool(
            "p1",
            call,
            "TaskUpdate",
            json!({"taskId": id, "status": status}),
            json!({"success": true}),
        );
    };
    set("1", "in_progress", "c3");
    set("2", "in_progress", "c4");
    assert_eq!(
        todos(&lab, "s1"),
        items(&[("Add the price column", "pending"), ("Test it", "in_progress")]),
        "one is in progress: the newest"
    );
    set("2", "completed", "c5");
    set("1", "deleted", "c6");
    assert_eq!(todos(&lab, "s1"), items(&[("Test it", "completed")]));
    let spelled = serde_json::to_value(lab.state("s1").ui_todos.unwrap()).unwrap();
    let item = &spelled["items"][0];
    assert_eq!(
        (&item["priority"], &item["flow"], &item["refId"]),
        (&json!("medium"), &json!("adhoc"), &json!(null))
    );
    assert!(spelled["lastSyncedAt"].is_string());
}

#[test]
fn todos_of_older_claude_and_of_codex_come_as_whole_lists() {
    let lab = Lab::new();
    let claude = lab.claude("s1");
    claude.prompt("p1", "Do it");
    let list = json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}]});
    claude.tool("p1", "c1", "TodoWrite", list, json!({}));
    assert_eq!(
        todos(&lab, "s1"),
        items(&[("a", "completed"), ("b", "in_progress")])
    );
    let codex = lab.codex("c1");
    codex.prompt("t1", "Do it");
    let plan = json!({"explanation": "x", "plan": [{"step": "a", "status": "in_progress"}, {"step": "b", "status": "pending"}]});
    codex.tool("t1", "k1", "update_plan", plan, json!("Plan updated"));
    assert_eq!(
        todos(&lab, "c1"),
        items(&[("a", "in_progress"), ("b", "pending")])
    );
}

#[test]
fn open_todos_outlive_the_stop_and_a_reboot() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.tool(
        "p1",
        "c1",
        "TaskCreate",
        json!({"subject": "Test it"}),
        json!({"task": {"id": "1"}}),
    );
    talk.stop("p1", "One is left.");
    assert_eq!(lab.open_entries().len(), 1);
    lab.reboot();
    talk.prompt("p2", "Now the rest");
    assert_eq!(todos(&lab, "s1"), items(&[("Test it", "pending")]));
    talk.tool(
        "p2",
        "c2",
        "TaskUpdate",
        json!({"taskId": "1", "status": "completed"}),
        json!({"success": true}),
    );
    assert_eq!(
        todos(&lab, "s1"),
        items(&[("Test it", "completed")]),
        "its id is known again"
    );
    talk.stop("p2", "All done.");
    assert!(lab.open_entries().is_empty());
}

// Rate limits

fn limited(lab: &Lab) -> Talk<'_> {
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.create("p1", "c1", "/w/a.rs");
    let fields = with(
        payload("claude-code/StopFailure-rate_limit"),
        json!({"session_id": "s1", "prompt_id": "p1", "transcript_path": null}),
    );
    let answer = talk.says("StopFailure", fields);
    assert_eq!(answer.stdout, "", "nobody reads the answer to it");
    talk
}

#[test]
fn a_limit_of_the_provider_is_marked_and_told_once_in_the_seeds_words() {
    let lab = Lab::new();
    let talk = limited(&lab);
    let state = lab.state("s1");
    let limit = state.rate_limit.clone().unwrap();
    assert_eq!(
        (limit.source, limit.rule.as_str()),
        (LimitSource::Provider, "kind rate_limit")
    );
    let at = state.current_task.unwrap().rate_limit_detected_at.unwrap();
    let log = lab.log_of("s1");
    assert_eq!(all(&log), [("failed", "rate_limit", false)]);
    assert_eq!(log.limit.as_ref().unwrap().detected_at, at);
    assert_eq!(
        lab.open_entries()[0]
            .task
            .as_ref()
            .unwrap()
            .rate_limit_detected_at,
        Some(at)
    );

    let seed = format!(
        "⚠️ RATE LIMITED\n\nThe model provider has temporarily limited requests.\nCurrent task state has been saved.\n\n\
         What to do:\n• Wait a few minutes, then respond to resume\n\
         • Or close this session and start a new one later — I'll remember where we were\n\n\
         Task in progress: Do it\nLast action: Created /w/a.rs\nRate limit detected at: {}",
        at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
    );
    let shown = talk.prompt("p2", "continue");
    assert_eq!(shown.notice(), seed);
    assert_eq!(talk.shell("p2", "c2", "ls").notice(), "", "once");
    assert_eq!(talk.stop("p2", "Done.").notice(), "");
}

#[test]
fn the_notice_waits_for_the_first_event_that_can_show_it() {
    let lab = Lab::new();
    let talk = limited(&lab);
    assert_eq!(talk.end("other").stdout, "");
    assert!(talk.start("resume").notice().starts_with("⚠️ RATE LIMITED"));
    assert_eq!(talk.prompt("p2", "More").notice(), "");
}

#[test]
fn the_marker_clears_with_the_first_successful_tool_call_or_stop() {
    for clears in ["tool", "stop"] {
        let lab = Lab::new();
        let talk = limited(&lab);
        talk.prompt("p2", "continue");
        assert!(lab.state("s1").rate_limit.is_some(), "a prompt is no proof");
        assert_eq!(description(&lab, "s1"), "Do it");
        talk.fails("p2", "c2", "Bash", json!({"command": "make"}), "Exit code 2");
        assert!(lab.state("s1").rate_limit.is_some(), "nor is a call that failed");
        if clears == "tool" {
            talk.shell("p2", "c3", "ls");
        } else {
            talk.stop("p2", "Done.");
        }
        assert!(lab.state("s1").rate_limit.is_none(), "{clears}");
    }
}

#[test]
fn what_only_looks_like_a_limit_is_none() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt(
        "p1",
        "What is HTTP 429? Explain rate limit and quota, too many requests",
    );
    let bash = json!({"command": "make"});
    for (i, error) in [
        "Exit code 1\nerror on line 429: unexpected token",
        "Exit code 1\nconnect 127.0.0.1:4290: refused",
        "Exit code 1\nsrc/main.rs:429:5: error",
        "Exit code 1\nwrite: Disk quota exceeded",
    ]
    .iter()
    .enumerate()
    {
        talk.fails("p1", &format!("c{i}"), "Bash", bash.clone(), error);
        assert!(lab.state("s1").rate_limit.is_none(), "{error}");
    }
    talk.tool(
        "p1",
        "c8",
        "Bash",
        bash,
        json!({"stdout": "HTTP/1.1 429 Too Many Requests", "stderr": "rate limit"}),
    );
    talk.model_fails(
        "p1",
        "server_error",
        "API Error: 500 upstream says: rate limit, too many requests (429)",
    );
    assert!(lab.state("s1").rate_limit.is_none());
    assert_eq!(all(&lab.log_of("s1")), [("failed", "server_error", false)]);
    talk.prompt("p2", "again");
    let said = talk.stop(
        "p2",
        "The API answered: 429 Too Many Requests, you hit the rate limit.",
    );
    assert_eq!((said.stdout.as_str(), lab.state("s1").rate_limit), ("", None));
    let codex = lab.codex("c1");
    codex.prompt("t1", "Do it");
    codex.says(
        "PostToolUse",
        with(
            payload("codex/PostToolUse-bash-429"),
            json!({"session_id": "c1", "turn_id": "t1", "transcript_path": null}),
        ),
    );
    assert!(
        lab.state("c1").rate_limit.is_none(),
        "Codex does not say that it failed"
    );
}

#[test]
fn an_error_of_no_kind_is_known_by_its_words() {
    for (kind, text, is) in [
        ("unknown", "429 Too Many Requests", true),
        ("unknown", "You have exceeded your quota", true),
        ("unknown", "Bad request", false),
        ("authentication_failed", "quota", false),
    ] {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", "Do it");
        talk.model_fails("p1", kind, text);
        assert_eq!(lab.state("s1").rate_limit.is_some(), is, "{kind} {text}");
    }
}

#[test]
fn a_tools_own_limit_stops_nothing_and_tells_nobody() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let fields = with(
        payload("claude-code/PostToolUseFailure-bash-429"),
        json!({"session_id": "s1", "prompt_id": "p1", "transcript_path": null}),
    );
    assert_eq!(talk.says("PostToolUseFailure", fields).stdout, "");
    let state = lab.state("s1");
    assert_eq!(state.rate_limit.unwrap().source, LimitSource::Tool);
    assert_eq!(state.current_task.unwrap().rate_limit_detected_at, None);
    let log = lab.log_of("s1");
    assert_eq!(log.status, "in_progress");
    assert!(
        log.turns[0].actions[0]
            .action
            .error
            .as_ref()
            .unwrap()
            .contains("429")
    );
    let answer = talk.prompt("p2", "Next");
    assert_eq!(
        (answer.notice(), answer.context()),
        (String::new(), String::new())
    );
}

#[test]
fn a_subagents_limit_tells_the_model_once_to_wait_and_the_user_once() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.agent_starts("p1", "a1", "general-purpose");
    let failure = json!({"prompt_id": "p1", "agent_id": "a1", "agent_type": "general-purpose", "error": "rate_limit", "last_assistant_message": LIMITED});
    assert_eq!(talk.says("StopFailure", failure).stdout, "");
    let fields = with(
        payload("claude-code/PostToolUseFailure-agent-429"),
        json!({"session_id": "s1", "prompt_id": "p1", "transcript_path": null}),
    );
    let answer = talk.says("PostToolUseFailure", fields.clone());
    assert!(answer.notice().starts_with("⚠️ RATE LIMITED"), "{answer:?}");
    assert_eq!(
        all(&lab.log_of("s1")),
        [crate::talk::OPEN],
        "the root's turn goes on"
    );
    let mut told = vec![answer.context()];
    let again = talk.says(
        "PostToolUseFailure",
        with(fields, json!({"tool_use_id": "toolu_2"})),
    );
    assert_eq!(again.notice(), "");
    told.push(again.context());
    told.push(talk.shell("p1", "c3", "ls").context());
    told.push(talk.shell("p1", "c4", "ls").context());
    assert_eq!(told.iter().filter(|t| *t == WAIT).count(), 1, "{told:?}");
}

#[test]
fn a_failed_delegation_of_another_kind_is_no_limit() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.fails(
        "p1",
        "c1",
        "Agent",
        json!({"prompt": "x"}),
        "Agent terminated early: max turns",
    );
    assert!(lab.state("s1").rate_limit.is_none());
}
