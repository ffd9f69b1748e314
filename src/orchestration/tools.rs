//! All tools: name, arguments, what they touch. There is no other list of them.

use chrono::NaiveDate;
use serde_json::Value;

use super::error::Error;
use super::{Service, archive, create, look, update};
use crate::fields::{Checked, Field, Form, Type, schema};

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

/// The id that a new session gets: a day that exists, and a slug.
const NEW_ID: Form = Form {
    name: "new session id",
    constraint: "YYYY-MM-DD-<topic-slug>: a date that exists, then [a-z0-9]+(-[a-z0-9]+)*, at most 128 characters",
    pattern: r"^\d{4}-\d{2}-\d{2}-[a-z0-9]+(-[a-z0-9]+)*$",
    fits: is_new_id,
};
/// The id of a session that somebody made, by whatever rule.
const ID: Form = Form {
    name: "session id",
    constraint: "a session id: [A-Za-z0-9_-], 1 to 128 characters",
    pattern: "^[A-Za-z0-9_-]{1,128}$",
    fits: is_id,
};
/// The id of a phase.
const PHASE: Form = Form {
    name: "phase id",
    constraint: "a word of letters, digits, _, . and -, at most 64 characters",
    pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
    fits: is_phase,
};

fn is_new_id(text: &str) -> bool {
    let Some((day, slug)) = text.split_at_checked(10) else {
        return false;
    };
    let digits = day.bytes().enumerate().all(|(i, b)| {
        if matches!(i, 4 | 7) {
            b == b'-'
        } else {
            b.is_ascii_digit()
        }
    });
    let part =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let slug = slug
        .strip_prefix('-')
        .is_some_and(|slug| slug.split('-').all(part));
    digits && slug && text.len() <= 128 && NaiveDate::parse_from_str(day, "%Y-%m-%d").is_ok()
}

/// Whether it is an id that may be a file's name.
pub(super) fn is_id(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

fn is_phase(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

const WORKFLOW: Type = Type::OneOf(&["standard", "express"]);
const EXECUTION: Type = Type::OneOf(&["parallel", "sequential"]);
const ERROR_TYPE: Type = Type::OneOf(&["validation", "timeout", "file_conflict", "runtime", "dependency"]);
const MOST: u64 = 1 << 53;

const SESSION: Field = Field::required("session_id", Type::Form(&ID), "the active session");
const ANY_SESSION: Field = Field::optional(
    "session_id",
    Type::Form(&ID),
    "the session [default: the active one]",
);

const PHASE_FIELDS: &[Field] = &[
    Field::required("id", Type::Label(&PHASE), "its id; 1 and \"1\" are the same"),
    Field::required("name", Type::Line, "its name"),
    Field::optional("agent", Type::Line, "who is to do it"),
    Field::optional("agents", Type::Lines, "the same, of several"),
    Field::optional(
        "parallel",
        Type::Flag,
        "it may run beside others [default: false]",
    ),
    Field::optional(
        "blocked_by",
        Type::Labels(&PHASE),
        "ids of the phases that come before it",
    ),
    Field::optional("files", Type::Lines, "the files that it is to touch"),
];
const CONTEXT: &[Field] = &[
    Field::optional(
        "key_interfaces_introduced",
        Type::Texts,
        "interfaces that others call",
    ),
    Field::optional("patterns_established", Type::Texts, "ways of doing things"),
    Field::optional("integration_points", Type::Texts, "where others connect"),
    Field::optional("assumptions", Type::Texts, "what was taken for granted"),
    Field::optional("warnings", Type::Texts, "what to look out for"),
];
const FAILURE: &[Field] = &[
    Field::optional(
        "agent",
        Type::Line,
        "who was at work [default: the phase's first agent]",
    ),
    Field::required("type", ERROR_TYPE, "which kind of error"),
    Field::required("message", Type::Text, "what happened, in full"),
];
const TOKENS: &[Field] = &[
    Field::optional("agent", Type::Line, "whose [default: the phase's first agent]"),
    Field::optional("input", Type::Count(0, MOST), "read"),
    Field::optional("output", Type::Count(0, MOST), "written"),
    Field::optional("cached", Type::Count(0, MOST), "read from a cache"),
];
const PLAN: &[Field] = &[Field::required(
    "phases",
    Type::List(PHASE_FIELDS, 1),
    "its phases, in order",
)];

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
