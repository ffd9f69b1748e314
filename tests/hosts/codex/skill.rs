//! The plugin's skill, as Codex offers it to the model.

use bookend::probe::Kind;

use super::super::lab::told;
use super::{PROMPT, lab};

#[test]
fn the_skill_is_offered_to_the_model() {
    let Some(lab) = lab() else { return };
    let outcome = lab
        .session()
        .prompt(PROMPT)
        .script("text:all_done")
        .run()
        .unwrap();
    let mut main = outcome.requests.iter().filter(|r| r.kind == Kind::Main);
    let offered = main.any(|r| r.contains("task-state") && r.contains("How work resumes after a crash"));
    assert!(offered, "{}", told(&outcome));
}
