//! The parameters that methods share, and the shapes of what is in their lists.

use super::forms;
use crate::fields::{Field, Type};

pub(super) const SESSION: &[Field] = &[
    Field::optional(
        "sessionId",
        Type::Form(&forms::SESSION),
        "which session [default: the one that the caller is in]",
    ),
    AGENT,
];
pub(super) const TURN: &[Field] = &[
    Field::optional(
        "turnRequestId",
        Type::Form(&forms::REQUEST),
        "which turn [default: the open one]",
    )
    .or(&["requestId"]),
    SUBAGENT,
];
pub(super) const AGENT: Field = Field::optional(
    "agent",
    Type::Form(&forms::AGENT),
    "the agent, the part of the session id before the first -",
)
.or(&["sourceType"]);
pub(super) const SUBAGENT: Field =
    Field::optional("subagent", Type::Line, "the subagent whose own turn it is");

pub(super) const TITLE: Field = Field::required("title", Type::Line, "what the session is about");
pub(super) const MODEL: Field = Field::optional("model", Type::Line, "the model's id");
pub(super) const QUERY_TITLE: Field = Field::optional("queryTitle", Type::Line, "the prompt in a few words");
pub(super) const RESPONSE: Field = Field::optional("response", Type::Text, "the answer to the user");
pub(super) const INTERPRETATION: Field =
    Field::optional("interpretation", Type::Text, "what the prompt is taken to mean");
pub(super) const TOKENS: Field = Field::optional("tokenCount", Type::Integer(0, 1 << 53), "tokens used");
pub(super) const TAGS: Field = Field::optional("tags", Type::Lines, "further tags");
pub(super) const CONTEXT: Field =
    Field::optional("contextList", Type::Lines, "further files that are its context");
pub(super) const ERROR: Field =
    Field::required("errorMessage", Type::Text, "what went wrong").or(&["failureNote"]);
pub(super) const CODE: Field =
    Field::optional("errorCode", Type::Line, "its kind, in a word [default: failed]");

pub(super) const DIALOG_ITEM: &[Field] = &[
    Field::required(
        "role",
        Type::OneOf(&["model", "tool", "system", "user"]),
        "whose words they are",
    ),
    Field::required("content", Type::Text, "the text"),
    Field::required(
        "category",
        Type::OneOf(&["reasoning", "tool_call", "tool_result", "observation", "decision"]),
        "what kind of step it is",
    ),
    Field::optional("timestamp", Type::Time, "when [default: now]"),
];
const ORDER: Field = Field::required(
    "order",
    Type::Integer(0, i32::MAX as u64),
    "its place among the turn's actions",
);
const DESCRIPTION: Field = Field::required(
    "description",
    Type::Text,
    "what was done; for a web_reference with its URL",
);
const KIND: Field = Field::required(
    "type",
    Type::Line,
    "edit, create, delete, design_decision, commit, pr_comment, issue_comment, web_reference, dependency_add, or a word of your own",
);
const STATUS: Field = Field::required(
    "status",
    Type::OneOf(&["completed", "in_progress", "failed", "interrupted"]),
    "where it stands",
);
const FILE: Field = Field::optional("filePath", Type::Line, "the file, if there is one");
pub(super) const ACTION: &[Field] = &[ORDER, DESCRIPTION, KIND, STATUS, FILE];
const SESSION_STATUS: Type = Type::OneOf(&["in_progress", "completed", "failed"]);
pub(super) const FILTERS: &[Field] = &[
    Field::optional("limit", Type::Integer(1, 1000), "how many [default: 10]"),
    Field::optional(
        "offset",
        Type::Integer(0, 1 << 53),
        "how many of the newest are left out [default: 0]",
    ),
    Field::optional(
        "text",
        Type::Line,
        "only those with a turn in which all these words stand, or words that begin so; in any case of letters; \"two words\" in quotes one after the other",
    ),
    Field::optional("from", Type::Time, "only those that were updated then or later"),
    Field::optional("to", Type::Time, "only those that were begun then or earlier"),
    Field::optional("status", SESSION_STATUS, "only those that stand so"),
    Field::optional(
        "project",
        Type::Line,
        "only those of this directory or one below it; absolute",
    ),
    AGENT,
];
/// As `get` answers it: what hooks know besides is theirs.
pub(super) const SUBMITTED_ACTION: &[Field] = &[
    ORDER,
    DESCRIPTION,
    KIND,
    STATUS,
    FILE,
    Field::answered("at"),
    Field::answered("target"),
    Field::answered("tool"),
    Field::answered("call"),
    Field::answered("agent"),
    Field::answered("error"),
    Field::answered("exit"),
];
const FAILURE: &[Field] = &[
    Field::optional("code", Type::Line, "its kind, in a word"),
    Field::optional("message", Type::Text, "what went wrong"),
];
pub(super) const SUBMITTED_TURN: &[Field] = &[
    Field::required("requestId", Type::Form(&forms::REQUEST), "its id"),
    Field::optional("timestamp", Type::Time, "when it began [default: now]").or(&["startedAt"]),
    QUERY_TITLE,
    Field::optional("queryText", Type::Text, "the prompt"),
    RESPONSE,
    INTERPRETATION,
    Field::optional("status", SESSION_STATUS, "where it stands [default: in_progress]"),
    TOKENS,
    TAGS,
    CONTEXT,
    Field::optional("actions", Type::List(SUBMITTED_ACTION, 0), "what was done"),
    Field::optional(
        "processingDialog",
        Type::List(DIALOG_ITEM, 0),
        "what was written down meanwhile",
    )
    .or(&["dialog"]),
    Field::optional("errorMessage", Type::Text, "what went wrong, of a failed one").or(&["failureNote"]),
    CODE,
    Field::optional(
        "failure",
        Type::Object(FAILURE),
        "both in one, as get answers them",
    ),
    Field::optional("presumed", Type::Flag, "its end was only inferred"),
    SUBAGENT.or(&["agent"]),
    Field::answered("aliases"),
    Field::answered("origin"),
    Field::answered("completedAt"),
    Field::answered("late"),
];
pub(super) const SUBMITTED: &[Field] = &[
    Field::required("sessionId", Type::Form(&forms::SESSION), "its id"),
    Field::required(
        "agent",
        Type::Form(&forms::AGENT),
        "the agent, the part of the id before the first -",
    )
    .or(&["sourceType"]),
    Field::optional("title", Type::Line, "what it is about"),
    MODEL,
    Field::optional("status", SESSION_STATUS, "an end closes it"),
    Field::optional("turns", Type::List(SUBMITTED_TURN, 0), "its turns").or(&["entries"]),
    Field::optional("started", Type::Time, "not kept: the log says it"),
    Field::optional("lastUpdated", Type::Time, "not kept: the log says it"),
    Field::optional(
        "turnCount",
        Type::Integer(0, 1 << 53),
        "not kept: the log says it",
    ),
    Field::answered("filesModifiedCount"),
    Field::answered("host"),
    Field::answered("hostSession"),
    Field::answered("projectRoot"),
    Field::answered("notes"),
    Field::answered("problems"),
    Field::answered("todos"),
];
