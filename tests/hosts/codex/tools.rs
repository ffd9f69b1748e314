//! The log's tools, called by Codex's model in a session that the hooks keep.

use serde_json::json;

use super::super::lab::{only_turn, told};
use super::{PROMPT, lab};

const ID: &str = "req-20260409T120002Z-price-column";

#[test]
fn a_model_writes_with_the_tools_into_the_turn_that_the_hooks_opened() {
    let Some(lab) = lab() else { return };
    let script = [
        // Not offered from the start: that there is something to be found is.
        "find:begin-turn-append-dialog-session-log".to_owned(),
        format!(r#"tool:sessionlog_begin_turn={{"requestId":"{ID}","queryTitle":"Price","queryText":"Add\u0020it"}}"#),
        r#"tool:sessionlog_append_dialog={"dialogItems":[{"role":"model","content":"Decided","category":"decision"}]}"#.to_owned(),
        "text:all_done".to_owned(),
    ];
    let outcome = lab
        .session()
        .prompt(PROMPT)
        .script(&script.join(" "))
        .run()
        .unwrap();
    assert_eq!(outcome.rc, Some(0), "{}", told(&outcome));
    let log = lab.bookend(&["log", "show", "--json"]);
    let turn = only_turn(&log);
    // Codex names its session to nobody: the server knows it by the process.
    assert_eq!(turn["aliases"], json!([ID]), "{log:#}\n{}", told(&outcome));
    assert_eq!(turn["dialog"][0]["content"], "Decided", "{log:#}");
    assert_eq!(
        (&turn["status"], &turn["response"]),
        (&json!("completed"), &json!("all done")),
        "{log:#}"
    );
}
