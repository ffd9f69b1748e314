//! The plugin's skills, as Codex offers them to the model.

use bookend::probe::Kind;
use bookend::skills::SKILLS;

use super::super::lab::told;
use super::{PROMPT, lab};

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
        let begin: String = skill.description().chars().take(40).collect();
        let mut main = outcome.requests.iter().filter(|r| r.kind == Kind::Main);
        assert!(
            main.any(|r| r.contains(skill.name) && r.contains(&begin)),
            "{}: {}",
            skill.name,
            told(&outcome)
        );
    }
}
