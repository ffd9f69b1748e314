//! What stopped it: the table "Rate limits" of the design, through the real executables.

use bookend::task::LimitSource;
use bookend::task::limit::WAIT;
use serde_json::json;

use super::description;
use crate::harness::{Lab, payload, with};
use crate::talk::{Talk, all};

const LIMITED: &str =
    "API Error: Request rejected (429) · This request would exceed your account's rate limit.";

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
        "Exit code 128\nfatal: bad object 3a429bc14290",
        "Exit code 1\ntests/rate_limit.rs: test rate_limit_is_told ... FAILED",
        "Exit code 1\nsrc/quota.rs:12:5: unused variable",
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

#[test]
fn a_host_that_says_when_it_resets_is_believed() {
    for (text, said) in [
        ("Claude AI usage limit reached|1900000000", "2030-03-17T17:46:40Z"),
        ("API Error: 429, try again in 2 hours", "in two hours"),
        ("API Error: 429", ""),
    ] {
        let lab = Lab::new();
        let talk = lab.claude("s1");
        talk.prompt("p1", "Do it");
        talk.model_fails("p1", "rate_limit", text);
        let limit = lab.state("s1").rate_limit.unwrap();
        let resets = limit.resets_at;
        match said {
            "" => assert_eq!(resets, None, "{text}"),
            "in two hours" => {
                assert_eq!(resets.map(|r| (r - limit.detected_at).num_minutes()), Some(120));
            }
            at => assert_eq!(resets, Some(at.parse().unwrap()), "{text}"),
        }
        let notice = talk.prompt("p2", "continue").notice();
        assert_eq!(notice.contains("\nIt resets at: "), resets.is_some(), "{notice}");
        let log = lab.log_of("s1").limit.unwrap();
        assert_eq!(log.resets_at, resets, "the log knows too");
    }
}

#[test]
fn limits_that_nobody_has_been_told_of_are_one_notice() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    let agent = |id: &str| json!({"prompt_id": "p1", "agent_id": id, "agent_type": "coder", "error": "rate_limit", "last_assistant_message": LIMITED});
    talk.agent_starts("p1", "a1", "coder");
    talk.agent_starts("p1", "a2", "coder");
    talk.says("StopFailure", agent("a1"));
    talk.says("StopFailure", agent("a2"));
    talk.model_fails("p1", "rate_limit", LIMITED);
    let notice = talk.prompt("p2", "continue").notice();
    assert_eq!(notice.matches("RATE LIMITED").count(), 1, "{notice}");
    // The next limit is told again.
    talk.model_fails("p2", "rate_limit", LIMITED);
    assert_eq!(
        talk.prompt("p3", "continue")
            .notice()
            .matches("RATE LIMITED")
            .count(),
        1
    );
    assert_eq!(talk.prompt("p4", "continue").notice(), "");
}

#[test]
fn a_background_subagents_limit_tells_the_model_at_its_next_call_and_a_later_turn_nothing() {
    let failure = json!({"prompt_id": "p1", "agent_id": "a1", "agent_type": "coder", "error": "rate_limit", "last_assistant_message": LIMITED});
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.agent_starts("p1", "a1", "coder");
    talk.says("StopFailure", failure.clone());
    let answer = talk.shell("p1", "c1", "ls");
    assert_eq!(answer.context(), WAIT);
    assert!(answer.notice().starts_with("⚠️ RATE LIMITED"));
    let state = lab.state("s1");
    assert!(state.rate_limit.is_none(), "a call that went well is its end");
    assert_eq!(
        state.current_task.unwrap().rate_limit_detected_at,
        None,
        "for the task too"
    );
    assert_eq!(talk.shell("p1", "c2", "ls").context(), "", "once");

    let talk = lab.claude("s2");
    talk.prompt("p1", "Do it");
    talk.agent_starts("p1", "a1", "coder");
    talk.says("StopFailure", failure);
    talk.stop("p1", "I wait.");
    talk.prompt("p2", "Go ahead with the rest");
    assert_eq!(
        talk.shell("p2", "c1", "ls").context(),
        "",
        "the user has answered"
    );

    let talk = lab.claude("s3");
    talk.prompt("p1", "Do it");
    talk.model_fails("p1", "rate_limit", LIMITED);
    talk.prompt("p2", "continue");
    assert_eq!(
        talk.shell("p2", "c1", "ls").context(),
        "",
        "the user has answered"
    );
}

#[test]
fn a_tools_limit_is_told_as_that_after_a_compaction() {
    let lab = Lab::new();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Do it");
    talk.fails("p1", "c1", "Bash", json!({"command": "curl x"}), "HTTP 429");
    let text = talk.start("compact").context();
    assert!(
        text.contains("\nRate limit of a service that a tool called: met ")
            && !text.contains("\nRate limit: met"),
        "{text}"
    );
}
