//! What `active-session.md` says, as types. What they do not know is kept, at every level, behind what they do.
//!
//! Files that others wrote are read leniently: numbers in text, one text for a list of one, null for nothing.
//! Words (status, modes) are kept as they are; whoever acts on one asks [`PhaseStatus::from_word`].

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::lenient::{flag, ids, list, maybe, number, object_or_default, text};
pub use super::phase::{PhaseId, PhaseStatus};

/// A list of texts; what else stands in one is kept.
pub type List = Vec<Value>;

/// An orchestration session, its fields in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// `YYYY-MM-DD-<topic-slug>`.
    #[serde(deserialize_with = "text")]
    pub session_id: String,
    /// What the user asked for.
    #[serde(default, deserialize_with = "text")]
    pub task: String,
    /// ISO 8601.
    #[serde(default, deserialize_with = "text")]
    pub created: String,
    /// When anything last changed.
    #[serde(default, deserialize_with = "text")]
    pub updated: String,
    /// `in_progress`, `completed`, `archived`.
    #[serde(default, deserialize_with = "text")]
    pub status: String,
    /// `standard` or `express`.
    #[serde(default, deserialize_with = "maybe")]
    pub workflow_mode: Option<String>,
    /// Where it is, from the workspace's root on.
    #[serde(default, deserialize_with = "maybe")]
    pub design_document: Option<String>,
    /// Where it is, from the workspace's root on.
    #[serde(default, deserialize_with = "maybe")]
    pub implementation_plan: Option<String>,
    /// The earliest phase in progress, else the last that ended.
    #[serde(default)]
    pub current_phase: Option<PhaseId>,
    /// How many there are.
    #[serde(default, deserialize_with = "number")]
    pub total_phases: u64,
    /// `parallel` or `sequential`.
    #[serde(default, deserialize_with = "maybe")]
    pub execution_mode: Option<String>,
    /// What runs the agents.
    #[serde(default, deserialize_with = "maybe")]
    pub execution_backend: Option<String>,
    /// The batch that is at work.
    #[serde(default, deserialize_with = "maybe", skip_serializing_if = "Option::is_none")]
    pub current_batch: Option<String>,
    /// As the design document says.
    #[serde(default, deserialize_with = "maybe")]
    pub task_complexity: Option<String>,
    /// That it is being archived, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<Archive>,
    /// What was used.
    #[serde(default, deserialize_with = "object_or_default")]
    pub token_usage: TokenUsage,
    /// The phases.
    #[serde(default, deserialize_with = "object_or_default")]
    pub phases: Vec<Phase>,
    /// What else there is.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How a session is archived; written before the first file is moved, so that anybody can finish it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Archive {
    /// When it was begun.
    pub at: String,
    /// Why, where not all phases had ended.
    pub reason: Option<String>,
    /// Documents that are moved.
    #[serde(default)]
    pub files: Vec<Move>,
}

/// A document that is moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Where it was, from the workspace's root on.
    pub from: String,
    /// Where it goes.
    pub to: String,
}

/// Tokens, in all and by agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Read.
    #[serde(default, deserialize_with = "number")]
    pub total_input: u64,
    /// Written.
    #[serde(default, deserialize_with = "number")]
    pub total_output: u64,
    /// Read from a cache.
    #[serde(default, deserialize_with = "number")]
    pub total_cached: u64,
    /// The same by agent: `input`, `output`, `cached`.
    #[serde(default, deserialize_with = "object_or_default")]
    pub by_agent: Map<String, Value>,
    /// What else there is.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its id; `1` and `"1"` are the same.
    pub id: PhaseId,
    /// Its name.
    #[serde(default, deserialize_with = "text")]
    pub name: String,
    /// Where it stands, a word of [`PhaseStatus`].
    #[serde(default = "pending", deserialize_with = "text")]
    pub status: String,
    /// Who works on it.
    #[serde(default, deserialize_with = "list")]
    pub agents: List,
    /// Whether it may run beside others.
    #[serde(default, deserialize_with = "flag")]
    pub parallel: bool,
    /// When it was first begun.
    #[serde(default, deserialize_with = "maybe")]
    pub started: Option<String>,
    /// When it was completed.
    #[serde(default, deserialize_with = "maybe")]
    pub completed: Option<String>,
    /// The phases that come before it.
    #[serde(default, deserialize_with = "ids")]
    pub blocked_by: Vec<PhaseId>,
    /// Files that it made.
    #[serde(default, deserialize_with = "list")]
    pub files_created: List,
    /// Files that it changed.
    #[serde(default, deserialize_with = "list")]
    pub files_modified: List,
    /// Files that it removed.
    #[serde(default, deserialize_with = "list")]
    pub files_deleted: List,
    /// Files that the plan names.
    #[serde(default, deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub planned_files: List,
    /// What later phases have to know.
    #[serde(default, deserialize_with = "object_or_default")]
    pub downstream_context: Context,
    /// What went wrong.
    #[serde(default, deserialize_with = "object_or_default")]
    pub errors: Vec<Fault>,
    /// How often it was begun again.
    #[serde(default, deserialize_with = "number")]
    pub retry_count: u64,
    /// Somebody has to look at what it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_reconciliation: Option<bool>,
    /// What else there is.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What later phases have to know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Interfaces that others call.
    #[serde(default, deserialize_with = "list")]
    pub key_interfaces_introduced: List,
    /// Ways of doing things.
    #[serde(default, deserialize_with = "list")]
    pub patterns_established: List,
    /// Where others connect.
    #[serde(default, deserialize_with = "list")]
    pub integration_points: List,
    /// What was taken for granted.
    #[serde(default, deserialize_with = "list")]
    pub assumptions: List,
    /// What to look out for.
    #[serde(default, deserialize_with = "list")]
    pub warnings: List,
    /// What else there is.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Something that went wrong in a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Who was at work.
    #[serde(default, deserialize_with = "text")]
    pub agent: String,
    /// ISO 8601.
    #[serde(default, deserialize_with = "text")]
    pub timestamp: String,
    /// `validation`, `timeout`, `file_conflict`, `runtime` or `dependency`.
    #[serde(default, rename = "type", deserialize_with = "text")]
    pub kind: String,
    /// What happened.
    #[serde(default, deserialize_with = "text")]
    pub message: String,
    /// What was done about it, or `pending`.
    #[serde(default, deserialize_with = "text")]
    pub resolution: String,
    /// Whether that helped.
    #[serde(default, deserialize_with = "flag")]
    pub resolved: bool,
    /// What else there is.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Phase {
    /// Where it stands, if the word is known.
    #[must_use]
    pub fn standing(&self) -> Option<PhaseStatus> {
        PhaseStatus::from_word(&self.status)
    }

    /// Whether what it blocked may begin.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.standing().is_some_and(PhaseStatus::is_done)
    }
}

impl Session {
    /// The phase of that id.
    #[must_use]
    pub fn phase(&self, id: &PhaseId) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.id == *id)
    }

    /// Whether there is nothing left to do.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.phases.iter().all(Phase::is_done)
    }

    /// The ids of the phases that stand so.
    pub fn standing(&self, status: PhaseStatus) -> impl Iterator<Item = &PhaseId> {
        let stands = move |phase: &&Phase| phase.standing() == Some(status);
        self.phases.iter().filter(stands).map(|phase| &phase.id)
    }
}

fn pending() -> String {
    PhaseStatus::Pending.word().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_wrote_is_read_leniently_and_what_is_unknown_stays() {
        let written = json!({
            "session_id": "2026-01-02-x", "task": 7, "mine": {"a": [1]}, "total_phases": "2",
            "token_usage": {"total_input": "07", "more": true, "by_agent": null},
            "phases": [
                {"id": "1", "agents": "coder", "status": "done", "blocked_by": null, "x": null,
                 "downstream_context": {"warnings": "hot", "y": 1}, "errors": [{"type": "runtime", "z": 2}]},
                {"id": "design", "blocked_by": "1", "parallel": "true"},
            ],
        });
        let session: Session = serde_json::from_value(written).unwrap();
        let again = json!(session);
        assert_eq!(serde_json::from_value::<Session>(again.clone()).unwrap(), session);
        assert_eq!(again["mine"], json!({"a": [1]}));
        assert_eq!(
            (
                &again["token_usage"]["total_input"],
                &again["token_usage"]["more"]
            ),
            (&json!(7), &json!(true))
        );
        let first = &again["phases"][0];
        assert_eq!(
            (&first["id"], &first["agents"], &first["status"]),
            (&json!(1), &json!(["coder"]), &json!("done"))
        );
        assert_eq!(first["x"], Value::Null);
        assert_eq!(
            (&first["downstream_context"]["y"], &first["errors"][0]["z"]),
            (&json!(1), &json!(2))
        );
        assert_eq!(again["phases"][1]["blocked_by"], json!([1]));
        let keys: Vec<&String> = again.as_object().unwrap().keys().collect();
        assert_eq!(keys[..2], ["session_id", "task"]);
        assert_eq!(*keys.last().unwrap(), "mine");
    }

    #[test]
    fn an_id_is_a_number_however_it_is_written() {
        let id = |value: Value| serde_json::from_value::<PhaseId>(value).ok();
        assert_eq!(id(json!("1")), id(json!(1)));
        assert_ne!(id(json!("01")), id(json!(1)));
        assert_eq!(id(json!(null)), None);
        assert_eq!(id(json!(" ")), None);
        for status in PhaseStatus::ALL {
            assert_eq!(PhaseStatus::from_word(status.word()), Some(status));
        }
    }
}
