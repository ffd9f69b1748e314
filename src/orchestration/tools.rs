//! All tools: name, arguments, what they touch. There is no other list of them.

use serde_json::Value;

use super::arguments::{
    ANY_SESSION, CONTEXT, EXECUTION, FAILURE, MOST, NEW_ID, PHASE, PHASE_FIELDS, PLAN, SESSION, TOKENS,
    WORKFLOW,
};
use super::error::Error;
use super::{Service, archive, create, look, update};
use crate::fields::{Checked, Field, Type, schema};

/// A tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence without a full stop.
    pub about: &'static str,
    /// It changes nothing.
    pub read_only: bool,
    /// It takes something away, so that it cannot be taken back by the next call.
    pub destructive: bool,
    /// The same call again changes nothing more.
    pub idempotent: bool,
    /// Its arguments.
    pub fields: &'static [Field],
    /// What does it.
    pub(super) handle: fn(&mut Service, &Checked) -> Result<Value, Error>,
}

impl Tool {
    /// The JSON Schema of its arguments.
    #[must_use]
    pub fn schema(&self) -> Value {
        schema(self.fields.iter())
    }
}

/// The tool of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The tools.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "initialize_workspace",
        about: "Make the state directories ready, any number of times; no other tool needs it first",
        read_only: false,
        destructive: false,
        idempotent: true,
        fields: &[
            Field::optional(
                "workspace_path",
                Type::Line,
                "the project, absolute [default: where this runs]",
            ),
            Field::optional(
                "state_dir",
                Type::Line,
                "the state directory in it [default: MAESTRO_STATE_DIR, else docs/maestro]",
            ),
        ],
        handle: create::initialize,
    },
    Tool {
        name: "create_session",
        about: "Begin a session, every phase pending; refused while another one is not archived",
        read_only: false,
        destructive: false,
        idempotent: false,
        fields: &[
            Field::required("session_id", Type::Form(&NEW_ID), "YYYY-MM-DD-<topic-slug>"),
            Field::required("task", Type::Text, "what the user asked for"),
            Field::required(
                "phases",
                Type::List(PHASE_FIELDS, 1),
                "the phases of the implementation plan, in order",
            ),
            Field::optional("workflow_mode", WORKFLOW, "which workflow [default: standard]"),
            Field::optional("design_document", Type::Line, "its path in the workspace"),
            Field::optional("implementation_plan", Type::Line, "its path in the workspace"),
            Field::optional("execution_mode", EXECUTION, "how the phases run"),
            Field::optional("execution_backend", Type::Line, "what runs the agents"),
            Field::optional(
                "task_complexity",
                Type::Line,
                "how complex [default: as the design document says]",
            ),
        ],
        handle: create::create,
    },
    Tool {
        name: "update_session",
        about: "Change how the active session is executed; at least one of the optional arguments",
        read_only: false,
        destructive: false,
        idempotent: true,
        fields: &[
            SESSION,
            Field::optional("execution_mode", EXECUTION, "how the phases run"),
            Field::optional("execution_backend", Type::Line, "what runs the agents"),
            Field::optional("current_batch", Type::Line, "the batch that is at work"),
            Field::optional("task_complexity", Type::Line, "how complex the task is"),
        ],
        handle: update::update,
    },
    Tool {
        name: "transition_phase",
        about: "Take a phase to its next status with what was reported of it, and begin the next ones; all of it or nothing",
        read_only: false,
        destructive: false,
        idempotent: false,
        fields: &[
            ANY_SESSION,
            Field::optional("phase_id", Type::Label(&PHASE), "the phase"),
            Field::optional(
                "to",
                Type::OneOf(&["in_progress", "completed", "failed", "skipped"]),
                "where it goes",
            ),
            Field::optional(
                "completed_phase_id",
                Type::Label(&PHASE),
                "in place of the two: the phase that is completed",
            ),
            Field::optional(
                "next_phase_ids",
                Type::Labels(&PHASE),
                "pending phases that begin then",
            )
            .or(&["next_phase_id"]),
            Field::optional(
                "user_decided",
                Type::Flag,
                "the user decided it: needed to skip a phase",
            ),
            Field::optional(
                "error",
                Type::Object(FAILURE),
                "what went wrong: needed for failed",
            ),
            Field::optional(
                "resolution",
                Type::Text,
                "what was done about the error [default: pending]",
            ),
            Field::optional("files_created", Type::Lines, "further files that it made"),
            Field::optional("files_modified", Type::Lines, "further files that it changed"),
            Field::optional("files_deleted", Type::Lines, "further files that it removed"),
            Field::optional(
                "downstream_context",
                Type::Object(CONTEXT),
                "what later phases have to know; added to what is there",
            ),
            Field::optional(
                "token_usage",
                Type::Object(TOKENS),
                "tokens used since the last report",
            ),
            Field::optional(
                "agent_output",
                Type::Text,
                "what the agent said, or a summary, for the log in the body",
            ),
            Field::optional(
                "validation_result",
                Type::Text,
                "pass or fail with details, for the log in the body",
            ),
            Field::optional("batch_id", Type::Line, "the batch that is at work from now on"),
        ],
        handle: update::transition,
    },
    Tool {
        name: "get_session_status",
        about: "Where the active session stands, and what comes next",
        read_only: true,
        destructive: false,
        idempotent: true,
        fields: &[ANY_SESSION],
        handle: look::status,
    },
    Tool {
        name: "archive_session",
        about: "Move a finished session with its documents into the archive; with force, because the user asks for it, also an unfinished one",
        read_only: false,
        destructive: true,
        idempotent: true,
        fields: &[
            SESSION,
            Field::optional(
                "force",
                Type::Flag,
                "although not all phases have ended [default: false]",
            ),
            Field::optional("reason", Type::Line, "why: needed with force"),
        ],
        handle: archive::archive,
    },
    Tool {
        name: "list_sessions",
        about: "The active session and the archived ones, newest first",
        read_only: true,
        destructive: false,
        idempotent: true,
        fields: &[
            Field::optional("limit", Type::Integer(1, 200), "how many [default: 20]"),
            Field::optional(
                "offset",
                Type::Integer(0, MOST),
                "how many of the newest are left out [default: 0]",
            ),
        ],
        handle: look::list,
    },
    Tool {
        name: "validate_plan",
        about: "Whether the phases of a plan can be worked through, what speaks against it, and which can run beside each other",
        read_only: true,
        destructive: false,
        idempotent: true,
        fields: &[
            Field::required("plan", Type::Object(PLAN), "the plan"),
            Field::optional("task_complexity", Type::Line, "simple, medium or complex"),
        ],
        handle: look::validate,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::arguments::{is_id, is_new_id, is_phase};
    use super::*;

    #[test]
    fn every_name_means_one_argument_and_every_schema_is_closed() {
        for tool in TOOLS {
            let mut names = BTreeSet::new();
            for field in tool.fields {
                for name in [&[field.name], field.synonyms].concat() {
                    assert!(names.insert(name), "{}: {name}", tool.name);
                }
            }
            assert_eq!(tool.schema()["additionalProperties"], false, "{}", tool.name);
            assert_eq!(find(tool.name).map(|t| t.name), Some(tool.name));
            assert!(!(tool.read_only && tool.destructive), "{}", tool.name);
        }
    }

    #[test]
    fn ids_have_their_form() {
        for (text, new, any) in [
            ("2026-02-28-add-jwt", true, true),
            ("2026-02-30-add-jwt", false, true),
            ("2026-02-28-", false, true),
            ("2026-02-28-A", false, true),
            ("2026-02-28-a--b", false, true),
            ("2026-2-8-a", false, true),
            ("+026-02-28-a", false, false),
            ("a", false, true),
            ("", false, false),
            ("../x", false, false),
            ("a.b", false, false),
            ("é", false, false),
        ] {
            assert_eq!((is_new_id(text), is_id(text)), (new, any), "{text:?}");
        }
        assert!(!is_id(&"a".repeat(129)) && is_id(&"a".repeat(128)));
        assert!(
            is_phase("1.2") && is_phase("design") && !is_phase("../x") && !is_phase(".x") && !is_phase("a/b")
        );
    }
}
