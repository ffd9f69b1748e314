//! The state files of planner, toolkit and builder.

use serde_json::{Value, json};

use super::{found, one};
use crate::harness::Lab;

fn put(lab: &Lab, name: &str, text: &str) -> String {
    let path = lab.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn about(all: &Value) -> Vec<&str> {
    let findings = all["findings"].as_array().unwrap().iter();
    findings
        .filter_map(|f| f["code"].as_str())
        .filter(|c| c.starts_with("agent-file"))
        .collect()
}

#[test]
fn what_is_wrong_with_a_state_file_is_said_with_its_line_and_remedy() {
    let lab = super::used();
    let path = put(
        &lab,
        "project/docs/planner-state.json",
        "{\n  \"currentTask\": null,\n}\n",
    );
    let finding = one(&found(&lab, &[]), "agent-file-broken");
    assert_eq!(
        (&finding["level"], &finding["subject"]),
        (&json!("problem"), &json!(path))
    );
    assert!(
        finding["what"]
            .as_str()
            .unwrap()
            .contains("line 3: it is no JSON"),
        "{finding:#}"
    );
    assert!(
        finding["remedy"].as_str().unwrap().contains("Mend line 3"),
        "{finding:#}"
    );

    put(
        &lab,
        "project/docs/planner-state.json",
        "{\n  \"currentTask\": \"Plan\"\n}\n",
    );
    let finding = one(&found(&lab, &[]), "agent-file-odd");
    let what = finding["what"].as_str().unwrap();
    assert!(
        what.contains("line 2: `currentTask` is a text, not an object"),
        "{what}"
    );

    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("x", &path).unwrap();
    let finding = one(&found(&lab, &[]), "agent-file-unusable");
    assert!(
        finding["what"].as_str().unwrap().contains("it is a link"),
        "{finding:#}"
    );
}

#[test]
fn an_old_heartbeat_and_a_large_session_are_worth_knowing_and_a_sound_file_is_not() {
    let lab = super::used();
    put(&lab, "project/docs/planner-state.json", "{\"currentTask\": null}");
    put(&lab, "home/.config/opencode/.tmp/toolkit-state.json", "{}");
    assert_eq!(about(&found(&lab, &[])), [""; 0]);
    let text = format!(
        r#"{{"sessionId": "a", "status": "in_progress", "lastHeartbeat": "2026-01-01T00:00:00Z", "project": "{}"}}"#,
        "x".repeat(6_000)
    );
    put(&lab, "project/docs/sessions/a/session.json", &text);
    let all = found(&lab, &[]);
    assert_eq!(about(&all), ["agent-file-stale", "agent-file-large"]);
    for code in about(&all) {
        assert_eq!(one(&all, code)["level"], "note");
    }
    put(&lab, "home/.config/opencode/.tmp/toolkit-state.json", "[]");
    let finding = one(&found(&lab, &[]), "agent-file-broken");
    assert!(
        finding["what"]
            .as_str()
            .unwrap()
            .starts_with("The toolkit and the hooks cannot read it")
    );
}

#[test]
fn a_linked_docs_with_a_state_file_behind_it_is_told() {
    let lab = super::used();
    put(&lab, "elsewhere/planner-state.json", "{}");
    std::os::unix::fs::symlink(lab.path("elsewhere"), lab.project().join("docs")).unwrap();
    assert_eq!(one(&found(&lab, &[]), "agent-file-linked")["level"], "note");
}
