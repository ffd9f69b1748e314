//! What is written, when, and into which file.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use bookend::task::agent_files::{Agent, Roots, init};
use serde_json::json;

use super::{HOSTS, PLANNER, SESSION, faults, json, planner, put, session, text, toolkit};
use crate::harness::Lab;

#[test]
fn a_prompt_sets_the_planners_task_and_its_stop_clears_it_and_all_else_stays_to_the_byte() {
    for host in HOSTS {
        let lab = Lab::new();
        let path = planner(&lab);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let talk = lab.talk(host, "x1");
        talk.prompt("p1", "Plan the checkout\nwith all its stories");
        let file = json(&path);
        let task = &file["currentTask"];
        assert_eq!(task["description"], "Plan the checkout", "{host}");
        assert_eq!(task["lastAction"], "Starting task");
        assert_eq!(task["contextAnchor"], lab.project().to_str().unwrap());
        assert_eq!(task["rateLimitDetectedAt"], json!(null));
        assert_eq!(task["startedAt"], file["updatedAt"]);
        talk.stop("p1", "Done.");
        let updated = json(&path)["updatedAt"].as_str().unwrap().to_owned();
        assert_eq!(
            text(&path),
            PLANNER
                .replace("28T10:00:00Z\"\n}", "x\"\n}")
                .replace("2026-02-x", &updated),
            "{host}"
        );
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o640, "{host}");
        assert_eq!(faults(&lab, "x1"), [""; 0], "{host}");
        let beside: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(beside.len(), 1, "{host}: {beside:?}");
    }
}

#[test]
fn no_file_is_made_where_there_is_none() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.project().join("docs/sessions")).unwrap();
    let talk = lab.claude("s1");
    talk.prompt("p1", "Plan");
    talk.tool(
        "p1",
        "c1",
        "TaskCreate",
        json!({"subject": "a"}),
        json!({"task": {"id": "1"}}),
    );
    talk.stop("p1", "Done.");
    let files: Vec<_> = walkdir::WalkDir::new(lab.project())
        .into_iter()
        .map(Result::unwrap)
        .filter(|e| e.file_type().is_file())
        .collect();
    assert!(files.is_empty(), "{files:?}");
    assert!(!lab.path("home/.config").exists());
    assert_eq!(faults(&lab, "s1"), [""; 0]);
}

#[test]
fn a_whole_list_is_mirrored_and_items_keep_what_the_host_does_not_know() {
    let lab = Lab::new();
    let items = r#""items": [{ "content": "Ask", "status": "pending", "priority": "high", "flow": "new", "refId": "q.md", "note": [1,  2] }]"#;
    let path = put(
        &lab,
        "project/docs/planner-state.json",
        &PLANNER.replace("\"items\": []", items),
    );
    let talk = lab.gemini("x1");
    talk.prompt("p1", "Plan");
    let todos = json!({"todos": [
        {"description": "Draft", "status": "in_progress"}, {"description": "Ask", "status": "completed"}]});
    talk.tool("p1", "c1", "write_todos", todos, json!({"llmContent": "ok"}));
    let file = json(&path);
    let list = file["uiTodos"]["items"].as_array().unwrap();
    assert_eq!(
        list[0],
        json!({"content": "Draft", "status": "in_progress", "priority": "medium", "flow": "draft", "refId": null})
    );
    assert_eq!(list[1]["status"], "completed");
    assert!(
        text(&path).contains(r#""priority": "high", "flow": "new", "refId": "q.md", "note": [1,  2] }"#),
        "{}",
        text(&path)
    );
    assert_eq!(file["uiTodos"]["flow"], "draft");
    assert_ne!(file["uiTodos"]["lastSyncedAt"], "2026-02-28T10:00:00Z");
}

#[test]
fn single_changes_leave_what_the_file_had_before() {
    let lab = Lab::new();
    let items = r#""items": [{"content": "Earlier", "status": "in_progress", "priority": "low", "flow": "new", "refId": null}]"#;
    let path = put(
        &lab,
        "project/docs/planner-state.json",
        &PLANNER.replace("\"items\": []", items),
    );
    let talk = lab.claude("s1");
    talk.prompt("p1", "Plan");
    for (id, subject) in [("1", "a"), ("2", "b")] {
        talk.tool(
            "p1",
            &format!("c{id}"),
            "TaskCreate",
            json!({"subject": subject}),
            json!({"task": {"id": id}}),
        );
    }
    let update = |call: &str, id: &str, status: &str| {
        talk.tool(
            "p1",
            call,
            "TaskUpdate",
            json!({"taskId": id, "status": status}),
            json!({"success": true}),
        );
    };
    update("u1", "1", "in_progress");
    update("u2", "2", "deleted");
    let file = json(&path);
    let list: Vec<(&str, &str)> = file["uiTodos"]["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (t["content"].as_str().unwrap(), t["status"].as_str().unwrap()))
        .collect();
    assert_eq!(list, [("Earlier", "pending"), ("a", "in_progress")]);
}

#[test]
fn a_limit_is_marked_and_the_next_go_on_takes_the_mark_away() {
    let lab = Lab::new();
    let path = planner(&lab);
    let talk = lab.claude("s1");
    talk.prompt("p1", "Plan");
    talk.shell("p1", "c1", "ls");
    talk.model_fails("p1", "rate_limit", "API Error: 429");
    let task = json(&path)["currentTask"].clone();
    assert_eq!(
        (&task["description"], &task["lastAction"]),
        (&json!("Plan"), &json!("Ran ls"))
    );
    assert!(task["rateLimitDetectedAt"].is_string(), "{task}");
    talk.prompt("p2", "continue");
    let again = json(&path)["currentTask"].clone();
    assert_eq!(
        (&again["description"], &again["rateLimitDetectedAt"]),
        (&json!("Plan"), &json!(null))
    );
    assert_eq!(again["startedAt"], task["startedAt"]);
}

#[test]
fn a_tool_call_leaves_the_file_alone_and_a_delegation_a_compaction_and_an_end_write_the_last_action() {
    let lab = Lab::new();
    let path = planner(&lab);
    let talk = lab.claude("s1");
    talk.prompt("p1", "Plan");
    let state = |path| {
        let file = std::fs::metadata(path).unwrap();
        (file.ino(), file.mtime(), file.mtime_nsec())
    };
    let before = state(&path);
    talk.shell("p1", "c1", "ls");
    talk.create("p1", "c2", "/w/a.md");
    talk.create("p1", "c3", path.to_str().unwrap());
    assert_eq!(state(&path), before, "the model's hands");
    let action = || {
        json(&path)["currentTask"]["lastAction"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(action(), "Starting task");
    talk.delegate("p1", "d1");
    assert!(action().starts_with("Created "), "{}", action());
    talk.shell("p1", "c4", "make two");
    talk.says("PreCompact", json!({"trigger": "auto"}));
    assert_eq!(action(), "Ran make two");
    talk.shell("p1", "c5", "make three");
    talk.end("other");
    assert_eq!(
        action(),
        "Ran make three",
        "an end without a stop: there is something to resume"
    );
    assert_eq!(json(&path)["currentTask"]["description"], "Plan");
}

#[test]
fn what_the_model_writes_in_between_stays() {
    let lab = Lab::new();
    let path = planner(&lab);
    let talk = lab.claude("s1");
    talk.prompt("p1", "Plan");
    let words = text(&path)
        .replace(
            "\"description\": \"Plan\"",
            "\"description\": \"Drafting section 3\", \"prd\": \"checkout\"",
        )
        .replace("\"estimate\": 1.50e300", "\"estimate\": 2.0");
    std::fs::write(&path, &words).unwrap();
    talk.shell("p1", "c1", "ls");
    talk.delegate("p1", "d1");
    let anchor = format!("{:?}", lab.project());
    let moved = words
        .replace("Starting task", "Ran ls")
        .replace(&anchor, "\"ls\"");
    assert_eq!(text(&path), moved, "only the last action moved");
    // Cleared by the model: not set again before the next prompt.
    std::fs::write(&path, PLANNER).unwrap();
    talk.shell("p1", "c2", "make");
    talk.delegate("p1", "d2");
    assert_eq!(text(&path), PLANNER);
    talk.prompt("p2", "Plan more");
    assert_eq!(json(&path)["currentTask"]["description"], "Plan more");
}

#[test]
fn the_agents_name_decides_and_else_the_file_in_use_that_changed_last() {
    let lab = Lab::new();
    let (plan, build) = (planner(&lab), session(&lab, "2026-03-01-ab12cd", SESSION));
    let kit = toolkit(&lab, "{}");
    let set = |role: Option<&str>, id: &str| {
        for (path, text) in [(&plan, PLANNER), (&build, SESSION), (&kit, "{}")] {
            std::fs::write(path, text).unwrap();
        }
        crate::talk::set_mtime(
            &build,
            std::time::SystemTime::now() - std::time::Duration::from_secs(60),
        );
        let fields = json!({"session_id": id, "prompt": format!("Task of {id}"), "agent_type": role});
        lab.send("UserPromptSubmit", fields);
        [
            text(&plan) != PLANNER,
            text(&build) != SESSION,
            text(&kit) != "{}",
        ]
    };
    assert_eq!(set(Some("planner"), "a"), [true, false, false]);
    assert_eq!(set(Some("builder"), "b"), [false, true, false]);
    assert_eq!(set(Some("toolkit"), "c"), [false, false, true]);
    assert_eq!(set(Some("yo:builder"), "d"), [false, true, false]);
    assert_eq!(set(None, "e"), [true, false, false], "the planner's changed last");
    assert_eq!(set(Some("reviewer"), "f"), [true, false, false]);
    std::fs::remove_file(&plan).unwrap();
    std::fs::write(&build, SESSION).unwrap();
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "g", "prompt": "Build", "agent_type": "planner"}),
    );
    assert_eq!(text(&build), SESSION, "the planner has no file here");
    lab.send("UserPromptSubmit", json!({"session_id": "h", "prompt": "Build"}));
    assert_eq!(json(&build)["currentAction"]["description"], "Build");
    // The name holds for the whole session, also where an event does not say it.
    lab.send(
        "UserPromptSubmit",
        json!({"session_id": "c", "prompt_id": "p2", "prompt": "Toolkit again"}),
    );
    assert_eq!(json(&kit)["currentTask"]["description"], "Toolkit again");
}

#[test]
fn the_toolkits_file_is_in_use_in_the_toolkits_own_repository() {
    let lab = Lab::new();
    // As its installation does it: the configuration is a link to a clone.
    std::fs::create_dir_all(lab.path("clone/.tmp")).unwrap();
    std::fs::create_dir_all(lab.path("home/.config")).unwrap();
    std::os::unix::fs::symlink(lab.path("clone"), lab.path("home/.config/opencode")).unwrap();
    let path = toolkit(&lab, "{}");
    lab.claude("s1").prompt("p1", "Elsewhere");
    assert_eq!(text(&path), "{}");
    let talk = lab.claude("s2").project("clone");
    talk.prompt("p1", "Update the skills");
    assert_eq!(json(&path)["currentTask"]["description"], "Update the skills");
    talk.stop("p1", "Done.");
    assert_eq!(json(&path)["currentTask"], json!(null));
}

#[test]
fn the_builders_session_is_the_named_one_else_the_newest_in_progress() {
    let lab = Lab::new();
    let of = |id: &str, beat: &str, status: &str| {
        let text = SESSION.replace("T09:00:00Z", beat).replace(
            "in_progress\",\n  \"currentChunk",
            &format!("{status}\",\n  \"currentChunk"),
        );
        session(&lab, id, &text)
    };
    let old = of("2026-03-01-old", "T08:00:00Z", "in_progress");
    let new = of("2026-02-01-new", "T09:30:00Z", "active");
    let aborted = of("2026-03-02-aborted", "T10:00:00Z", "aborted");
    let archived = of("archive/2026-03-03-x", "T11:00:00Z", "in_progress");
    let outside = put(&lab, "elsewhere/session.json", SESSION);
    let all = [&old, &new, &aborted, &archived, &outside];
    let mut n = 0;
    let mut changed = |config: Option<&str>| {
        let before: Vec<String> = all.iter().map(|p| text(p)).collect();
        if let Some(path) = config {
            put(
                &lab,
                "project/docs/builder-config.json",
                &json!({"lastSessionPath": path}).to_string(),
            );
        }
        n += 1;
        lab.send(
            "UserPromptSubmit",
            json!({"session_id": format!("b{n}"), "prompt": format!("Build {n}")}),
        );
        let changed: Vec<usize> = (0..all.len()).filter(|i| text(all[*i]) != before[*i]).collect();
        changed
    };
    assert_eq!(changed(None), [1]);
    assert_eq!(changed(Some("docs/sessions/2026-03-01-old")), [0]);
    assert_eq!(changed(Some("./docs/sessions/2026-03-01-old/session.json")), [0]);
    // Not in progress, not there, outside: the scan decides.
    std::fs::write(
        &new,
        text(&new).replace("\"lastHeartbeat\": \"2", "\"lastHeartbeat\": \"3"),
    )
    .unwrap();
    for path in [
        "docs/sessions/2026-03-02-aborted",
        "docs/sessions/none",
        "../elsewhere",
        "docs/../../elsewhere",
        lab.path("elsewhere").to_str().unwrap(),
        "",
    ] {
        assert_eq!(changed(Some(path)), [1], "{path}");
        std::fs::write(
            &new,
            text(&new).replace("\"lastHeartbeat\": \"2", "\"lastHeartbeat\": \"3"),
        )
        .unwrap();
    }
    std::os::unix::fs::symlink(lab.path("elsewhere"), lab.project().join("docs/sessions/linked")).unwrap();
    assert_eq!(changed(Some("docs/sessions/linked")), [1]);
}

#[test]
fn the_builders_action_follows_the_turn_and_outlives_its_stop() {
    let lab = Lab::new();
    let path = session(&lab, "2026-03-01-ab12cd", SESSION);
    let talk = lab.claude("s1");
    talk.prompt("p1", "Build the cart");
    let action = json(&path)["currentAction"].clone();
    assert_eq!(
        (&action["description"], &action["lastAction"]),
        (&json!("Build the cart"), &json!("Starting task"))
    );
    assert_eq!(action["updatedAt"], json(&path)["lastHeartbeat"]);
    talk.create("p1", "c1", "/w/cart.rs");
    talk.stop("p1", "Done.");
    let action = json(&path)["currentAction"].clone();
    assert_eq!(
        (
            &action["description"],
            &action["lastAction"],
            &action["contextAnchor"]
        ),
        (
            &json!("Build the cart"),
            &json!("Created /w/cart.rs"),
            &json!("/w/cart.rs")
        )
    );
    let chunks = |text: &str| text.split_once("\"chunks\"").unwrap().1.to_owned();
    assert_eq!(chunks(&text(&path)), chunks(SESSION));
}

#[test]
fn secrets_are_redacted_and_prompts_that_are_not_to_be_kept_are_not() {
    let lab = Lab::new();
    let path = planner(&lab);
    let secret = "sk-ant-api03-R2D2c3POxyzzyABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij0123456789-AAAA";
    let talk = lab.claude("s1");
    talk.prompt("p1", &format!("Use {secret}"));
    talk.shell("p1", "c1", &format!("curl -H 'x-api-key: {secret}' https://x"));
    talk.tool(
        "p1",
        "c2",
        "TaskCreate",
        json!({"subject": format!("rotate {secret}")}),
        json!({"task": {"id": "1"}}),
    );
    talk.delegate("p1", "d1");
    assert!(
        !text(&path).contains("R2D2c3PO") && text(&path).contains("[REDACTED"),
        "{}",
        text(&path)
    );
    lab.claude("s2")
        .env("BOOKEND_LOG_PROMPTS", "off")
        .prompt("p1", "Buy the company");
    assert!(
        !text(&path).contains("company") && text(&path).contains("a task whose prompt is not kept"),
        "{}",
        text(&path)
    );
}

#[test]
fn a_session_that_grows_past_its_size_is_said_and_kept_whole() {
    let lab = Lab::new();
    let long = SESSION.replace(
        "\"Pay\"",
        &format!("\"{}\"", "p".repeat(5 * 1024 - SESSION.len() - 60)),
    );
    let path = session(&lab, "2026-03-01-ab12cd", &long);
    let talk = lab.claude("s1");
    talk.prompt("p1", "Build the cart");
    assert!(text(&path).len() > 5 * 1024 && text(&path).contains(&"p".repeat(100)));
    let said = faults(&lab, "s1");
    assert!(said.len() == 1 && said[0].contains("past 5 KB"), "{said:?}");
    talk.stop("p1", "Done.");
    assert_eq!(faults(&lab, "s1").len(), 1, "once");
}

#[test]
fn a_file_that_the_user_asks_for_is_made_once_and_is_one_that_the_hooks_keep() {
    let lab = Lab::new();
    let (project, home) = (lab.project(), lab.path("home"));
    let roots = Roots {
        project: Some(&project),
        home: Some(&home),
    };
    let now = "2026-03-01T10:00:00Z".parse().unwrap();
    let path = init(Agent::Planner, roots, None, now).unwrap();
    assert_eq!(
        text(&path),
        "{\n  \"uiTodos\": {\n    \"flow\": \"adhoc\",\n    \"lastSyncedAt\": \"2026-03-01T10:00:00Z\",\n    \"items\": []\n  },\n  \"currentTask\": null,\n  \"updatedAt\": \"2026-03-01T10:00:00Z\"\n}\n"
    );
    let again = init(Agent::Planner, roots, None, now).unwrap_err();
    assert!(
        again.starts_with("make ") && again.ends_with("it is there already"),
        "{again}"
    );
    lab.claude("s1").prompt("p1", "Plan");
    assert_eq!(json(&path)["currentTask"]["description"], "Plan");

    let no_home = init(Agent::Toolkit, roots, None, now).unwrap_err();
    assert!(no_home.contains("toolkit-state.json"), "{no_home}");
    std::fs::create_dir_all(home.join(".config/opencode")).unwrap();
    let todos = lab.state("s1").ui_todos;
    let path = init(Agent::Toolkit, roots, todos.as_ref(), now).unwrap();
    assert_eq!(path, home.join(".config/opencode/.tmp/toolkit-state.json"));
    assert!(init(Agent::Builder, roots, None, now).is_err());
    let at_home = Roots {
        project: Some(&home),
        home: Some(&home),
    };
    assert!(init(Agent::Planner, at_home, None, now).is_err() && !home.join("docs").exists());
}
