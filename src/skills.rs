//! What the plugin teaches the model, one short text for each subject. Hosts find them in the plugin (`install`),
//! other clients as resources of `bookend mcp`.

/// A skill.
#[derive(Debug, Clone, Copy)]
pub struct Skill {
    /// Its name: the folder's, and the one in its front matter.
    pub name: &'static str,
    /// Where it stands in the plugin.
    pub path: &'static str,
    /// `SKILL.md`, front matter and all.
    pub text: &'static str,
}

/// All of them.
pub const SKILLS: [Skill; 3] = [
    Skill {
        name: "orchestration",
        path: "skills/orchestration/SKILL.md",
        text: include_str!("../hooks/skills/orchestration/SKILL.md"),
    },
    Skill {
        name: "session-log",
        path: "skills/session-log/SKILL.md",
        text: include_str!("../hooks/skills/session-log/SKILL.md"),
    },
    Skill {
        name: "task-state",
        path: "skills/task-state/SKILL.md",
        text: include_str!("../hooks/skills/task-state/SKILL.md"),
    },
];

impl Skill {
    /// When to use it, as its front matter says.
    #[must_use]
    pub fn description(&self) -> &'static str {
        self.field("description")
    }

    /// The text without its front matter.
    #[must_use]
    pub fn body(&self) -> &'static str {
        self.parts().map_or(self.text, |(_, body)| body)
    }

    fn field(&self, name: &str) -> &'static str {
        let of = |line: &'static str| line.strip_prefix(name)?.strip_prefix(": ");
        let front = self.parts().map_or("", |(front, _)| front);
        front.lines().find_map(of).unwrap_or_default()
    }

    fn parts(&self) -> Option<(&'static str, &'static str)> {
        self.text.strip_prefix("---\n")?.split_once("\n---\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_skill_has_the_front_matter_by_which_hosts_find_it() {
        for skill in SKILLS {
            let Skill { name, path, .. } = skill;
            assert_eq!(skill.field("name"), name);
            assert_eq!(path, format!("skills/{name}/SKILL.md"));
            let description = skill.description();
            // Codex reads at most that much of it; a colon and a space would end a plain YAML value.
            assert!((1..=1_024).contains(&description.chars().count()), "{path}");
            assert!(
                !description.contains(": ") && !description.contains(" #"),
                "{path}"
            );
            assert!(skill.body().starts_with("\n# "), "{path}");
            // A model reads it whole: a page, not a book.
            assert!(skill.text.lines().count() <= 90, "{path}");
        }
    }

    #[test]
    fn the_words_of_a_resume_are_in_no_description() {
        // A description is in every request; the brief's own words are to be in those of a resume only.
        assert!(SKILLS.iter().all(|s| !s.description().contains("Resuming:")));
        let task_state = SKILLS.iter().find(|s| s.name == "task-state").unwrap();
        assert!(task_state.body().contains("Resuming: <task>"));
    }
}
