//! The forms of ids, and the arguments that tools share.

use chrono::NaiveDate;

use crate::fields::{Field, Form, Type};

/// The id that a new session gets: a day that exists, and a slug.
pub(super) const NEW_ID: Form = Form {
    name: "new session id",
    constraint: "YYYY-MM-DD-<topic-slug>: a date that exists, then [a-z0-9]+(-[a-z0-9]+)*, at most 128 characters",
    pattern: r"^\d{4}-\d{2}-\d{2}-[a-z0-9]+(-[a-z0-9]+)*$",
    fits: is_new_id,
};
/// The id of a session that somebody made, by whatever rule.
pub(super) const ID: Form = Form {
    name: "session id",
    constraint: "a session id: [A-Za-z0-9_-], 1 to 128 characters",
    pattern: "^[A-Za-z0-9_-]{1,128}$",
    fits: is_id,
};
/// The id of a phase.
pub(super) const PHASE: Form = Form {
    name: "phase id",
    constraint: "a word of letters, digits, _, . and -, at most 64 characters",
    pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
    fits: is_phase,
};

pub(super) fn is_new_id(text: &str) -> bool {
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

pub(super) fn is_phase(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

pub(super) const WORKFLOW: Type = Type::OneOf(&["standard", "express"]);
pub(super) const EXECUTION: Type = Type::OneOf(&["parallel", "sequential"]);
pub(super) const ERROR_TYPE: Type =
    Type::OneOf(&["validation", "timeout", "file_conflict", "runtime", "dependency"]);
pub(super) const MOST: u64 = 1 << 53;

pub(super) const SESSION: Field = Field::required("session_id", Type::Form(&ID), "the active session");
pub(super) const ANY_SESSION: Field = Field::optional(
    "session_id",
    Type::Form(&ID),
    "the session [default: the active one]",
);

pub(super) const PHASE_FIELDS: &[Field] = &[
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
pub(super) const CONTEXT: &[Field] = &[
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
pub(super) const FAILURE: &[Field] = &[
    Field::optional(
        "agent",
        Type::Line,
        "who was at work [default: the phase's first agent]",
    ),
    Field::required("type", ERROR_TYPE, "which kind of error"),
    Field::required("message", Type::Text, "what happened, in full"),
];
pub(super) const TOKENS: &[Field] = &[
    Field::optional("agent", Type::Line, "whose [default: the phase's first agent]"),
    Field::optional("input", Type::Count(0, MOST), "read"),
    Field::optional("output", Type::Count(0, MOST), "written"),
    Field::optional("cached", Type::Count(0, MOST), "read from a cache"),
];
pub(super) const PLAN: &[Field] = &[Field::required(
    "phases",
    Type::List(PHASE_FIELDS, 1),
    "its phases, in order",
)];
