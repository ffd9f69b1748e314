//! One thing that doctor found: what it is, and what to do.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::fix::Fix;

/// How much a finding matters; in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Something needs doing: doctor exits 1.
    Problem,
    /// It may work, but nothing shows that it does yet.
    NotProven,
    /// Worth knowing; nothing needs doing.
    Note,
}

/// Something that was found. JSON: `level, code, subject, what, remedy, fixable`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// Its kind, stable and in kebab-case: `root-unsafe`.
    pub code: &'static str,
    /// What it is about: a path, a variable, or a host's id.
    pub subject: String,
    /// What is the matter, in one sentence.
    pub what: String,
    /// What to do, in one sentence.
    pub remedy: String,
    /// What `--fix` does about it; `None`: a person has to.
    pub fix: Option<Fix>,
}

impl Finding {
    /// Something that needs doing.
    #[must_use]
    pub fn problem(code: &'static str, subject: impl Into<String>, what: impl Into<String>) -> Self {
        Self::of(Level::Problem, code, subject, what)
    }

    /// Something that is not shown to work.
    #[must_use]
    pub fn not_proven(code: &'static str, subject: impl Into<String>, what: impl Into<String>) -> Self {
        Self::of(Level::NotProven, code, subject, what)
    }

    /// Something worth knowing.
    #[must_use]
    pub fn note(code: &'static str, subject: impl Into<String>, what: impl Into<String>) -> Self {
        Self::of(Level::Note, code, subject, what)
    }

    fn of(level: Level, code: &'static str, subject: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            level,
            code,
            subject: subject.into(),
            what: what.into(),
            remedy: String::new(),
            fix: None,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// What `--fix` does about it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<Option<Fix>>) -> Self {
        self.fix = fix.into();
        self
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Finding", 6)?;
        object.serialize_field("level", &self.level)?;
        object.serialize_field("code", self.code)?;
        object.serialize_field("subject", &self.subject)?;
        object.serialize_field("what", &self.what)?;
        object.serialize_field("remedy", &self.remedy)?;
        object.serialize_field("fixable", &self.fix.is_some())?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_finding_as_json_has_the_documented_members_and_levels_sort_as_they_are_shown() {
        let found = Finding::problem("root-unsafe", "/tmp/x", "It is a link.")
            .remedy("Remove it.")
            .fix(Fix::Chmod {
                path: PathBuf::from("/tmp/x"),
                from: 0o755,
                to: 0o700,
            });
        assert_eq!(
            serde_json::to_string(&found).unwrap(),
            r#"{"level":"problem","code":"root-unsafe","subject":"/tmp/x","what":"It is a link.","remedy":"Remove it.","fixable":true}"#
        );
        assert_eq!(
            serde_json::to_value(Level::NotProven).unwrap(),
            serde_json::json!("not-proven")
        );
        assert!(Level::Problem < Level::NotProven && Level::NotProven < Level::Note);
    }
}
