//! What is wrong with a plan, and in which batches its phases can run: pure.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::session::PhaseId;
use crate::redact::Redacted;

/// A phase as it is planned.
#[derive(Debug, Clone, Deserialize)]
pub struct Planned {
    /// Its id.
    pub id: PhaseId,
    /// Its name.
    pub name: Redacted,
    /// Who is to do it.
    #[serde(default)]
    pub agent: Option<Redacted>,
    /// The same, of several.
    #[serde(default)]
    pub agents: Vec<Redacted>,
    /// Whether it may run beside others.
    #[serde(default)]
    pub parallel: bool,
    /// The phases that come before it.
    #[serde(default)]
    pub blocked_by: Vec<PhaseId>,
    /// The files that it is to touch.
    #[serde(default)]
    pub files: Vec<Redacted>,
}

/// Something that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Which rule is broken.
    pub rule: &'static str,
    /// How, in words.
    pub detail: String,
    /// `error`: it cannot be worked through; `warning`: it can.
    pub severity: &'static str,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_id: Option<PhaseId>,
}

impl Violation {
    fn error(rule: &'static str, phase: &PhaseId, detail: String) -> Self {
        Self {
            rule,
            detail,
            severity: "error",
            phase_id: Some(phase.clone()),
        }
    }

    fn warning(rule: &'static str, phase: &PhaseId, detail: String) -> Self {
        Self {
            severity: "warning",
            ..Self::error(rule, phase, detail)
        }
    }

    /// Whether the plan cannot be worked through because of it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == "error"
    }
}

/// What makes it impossible to work through the phases: ids twice, dependencies on nothing, circles.
#[must_use]
pub fn errors(phases: &[Planned]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut ids = BTreeSet::new();
    for phase in phases {
        if !ids.insert(&phase.id) {
            let detail = format!("the phase id {} is there twice", phase.id);
            found.push(Violation::error("duplicate_id", &phase.id, detail));
        }
    }
    for phase in phases {
        for missing in phase.blocked_by.iter().filter(|id| !ids.contains(id)) {
            let detail = format!("phase {} waits for {missing}, which is no phase", phase.id);
            found.push(Violation::error("dangling_dependency", &phase.id, detail));
        }
    }
    if found.is_empty() {
        let (_, left) = layers(phases);
        if let Some(first) = left.first() {
            let ids: Vec<String> = left.iter().map(ToString::to_string).collect();
            let detail = format!("the phases {} wait for one another", ids.join(", "));
            found.push(Violation::error("cyclic_dependency", first, detail));
        }
    }
    found
}

/// What speaks against a plan that can be worked through.
#[must_use]
pub fn warnings(phases: &[Planned], task_complexity: Option<&str>) -> Vec<Violation> {
    let mut found = Vec::new();
    for phase in phases {
        for one in &phase.blocked_by {
            let by_another = |other: &&PhaseId| *other != one && comes_before(phases, one, other);
            if let Some(other) = phase.blocked_by.iter().find(by_another) {
                let detail = format!("phase {} need not wait for {one}: {other} does already", phase.id);
                found.push(Violation::warning("redundant_dependency", &phase.id, detail));
            }
        }
    }
    for batch in batches(phases) {
        let together: Vec<&Planned> = phases
            .iter()
            .filter(|p| p.parallel && batch.contains(&p.id))
            .collect();
        for (n, one) in together.iter().enumerate() {
            for other in together.iter().skip(n + 1) {
                for file in one.files.iter().filter(|file| other.files.contains(file)) {
                    let detail = format!(
                        "the phases {} and {} run beside each other and both touch {file}",
                        one.id, other.id
                    );
                    found.push(Violation::warning("file_overlap", &other.id, detail));
                }
            }
        }
    }
    let most = match task_complexity {
        Some("simple") => 3,
        Some("medium") => 5,
        _ => usize::MAX,
    };
    if let Some(phase) = phases.get(most.min(phases.len())..).and_then(<[_]>::first) {
        let detail = format!(
            "{} phases are many for a task like this: at most {most}",
            phases.len()
        );
        found.push(Violation::warning("phase_count", &phase.id, detail));
    }
    found
}

/// The phases in the order in which they can begin; those of a batch wait for none of the same batch.
#[must_use]
pub fn batches(phases: &[Planned]) -> Vec<Vec<PhaseId>> {
    layers(phases).0
}

fn layers(phases: &[Planned]) -> (Vec<Vec<PhaseId>>, Vec<PhaseId>) {
    let (mut done, mut layers) = (BTreeSet::new(), Vec::new());
    let mut left: Vec<&Planned> = phases.iter().collect();
    loop {
        let (ready, later): (Vec<&Planned>, Vec<&Planned>) = left
            .into_iter()
            .partition(|p| p.blocked_by.iter().all(|id| done.contains(id)));
        left = later;
        if ready.is_empty() {
            return (layers, left.into_iter().map(|p| p.id.clone()).collect());
        }
        let ids: Vec<PhaseId> = ready.iter().map(|p| p.id.clone()).collect();
        done.extend(ids.iter().cloned());
        layers.push(ids);
    }
}

/// Whether `later` waits for `first`, maybe through others.
fn comes_before(phases: &[Planned], first: &PhaseId, later: &PhaseId) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![later]);
    while let Some(id) = open.pop() {
        for phase in phases.iter().filter(|p| p.id == *id) {
            for before in &phase.blocked_by {
                if before == first {
                    return true;
                }
                if seen.insert(before) {
                    open.push(before);
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn plan(phases: Value) -> Vec<Planned> {
        serde_json::from_value(phases).unwrap()
    }

    fn rules(found: &[Violation]) -> Vec<&str> {
        found.iter().map(|v| v.rule).collect()
    }

    #[test]
    fn circles_gaps_and_doubles_are_found() {
        let phase = |id: Value, by: Value| json!({"id": id, "name": "n", "blocked_by": by});
        for (phases, wanted) in [
            (
                json!([phase(json!(1), json!([])), phase(json!(2), json!(["1"]))]),
                vec![],
            ),
            (
                json!([phase(json!(1), json!([])), phase(json!("1"), json!([]))]),
                vec!["duplicate_id"],
            ),
            (json!([phase(json!(1), json!([7]))]), vec!["dangling_dependency"]),
            (json!([phase(json!(1), json!([1]))]), vec!["cyclic_dependency"]),
            (
                json!([
                    phase(json!(1), json!([])),
                    phase(json!("a"), json!(["b"])),
                    phase(json!("b"), json!(["a", 1]))
                ]),
                vec!["cyclic_dependency"],
            ),
        ] {
            assert_eq!(rules(&errors(&plan(phases.clone()))), wanted, "{phases}");
        }
    }

    #[test]
    fn batches_and_warnings() {
        let phases = plan(json!([
            {"id": 1, "name": "a"},
            {"id": 2, "name": "b", "blocked_by": [1], "parallel": true, "files": ["x", "y"]},
            {"id": 3, "name": "c", "blocked_by": [1], "parallel": true, "files": ["y"]},
            {"id": 4, "name": "d", "blocked_by": [3, 1]},
        ]));
        let ids = |n: u64| PhaseId::Number(n);
        assert_eq!(
            batches(&phases),
            [vec![ids(1)], vec![ids(2), ids(3)], vec![ids(4)]]
        );
        let found = warnings(&phases, Some("simple"));
        assert_eq!(
            rules(&found),
            ["redundant_dependency", "file_overlap", "phase_count"]
        );
        assert!(found.iter().all(|v| !v.is_error()));
        assert!(warnings(&phases[..1], None).is_empty());
    }
}
