//! All methods: name, parameters, handler. There is no other list of them.

use super::Service;
use super::error::Error;
use super::forms;
use super::params::{
    ACTION, AGENT, CODE, CONTEXT, DIALOG_ITEM, ERROR, FILTERS, INTERPRETATION, MODEL, QUERY_TITLE, RESPONSE,
    SESSION, SUBAGENT, SUBMITTED, TAGS, TITLE, TOKENS, TURN,
};
use super::{ending, query, session, submit, turn};
use crate::fields::Checked;
use crate::fields::{Field, Type, schema};
use serde_json::Value;

/// A method.
#[derive(Debug)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence without a full stop.
    pub about: &'static str,
    /// What of the log it is about.
    pub place: Place,
    /// Its own parameters.
    pub params: &'static [Field],
    /// What does it.
    pub(super) handle: fn(&mut Service<'_>, &Checked) -> Result<Value, Error>,
}

/// What of the log a method is about; each may be named in its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nothing that exists already, or any number of sessions.
    Log,
    /// One session.
    Session,
    /// One turn of one session.
    Turn,
}

/// The methods.
pub const METHODS: &[Method] = &[
    Method {
        name: "workflow.sessionlog.bootstrap",
        about: "Make the log ready; any number of times",
        place: Place::Log,
        params: &[],
        handle: session::bootstrap,
    },
    Method {
        name: "workflow.sessionlog.openSession",
        about: "Begin a session",
        place: Place::Log,
        params: &[
            Field::required("agent", Type::Form(&forms::AGENT), "the agent in PascalCase")
                .or(&["sourceType"]),
            Field::required(
                "sessionId",
                Type::Form(&forms::SESSION),
                "<Agent>-<yyyyMMddTHHmmssZ>-<suffix>",
            ),
            TITLE,
            MODEL,
        ],
        handle: session::open,
    },
    Method {
        name: "workflow.sessionlog.beginTurn",
        about: "Begin a turn, once for each message of the user; the hooks' open turn is adopted",
        place: Place::Session,
        params: &[
            Field::required(
                "requestId",
                Type::Form(&forms::REQUEST),
                "req-<yyyyMMddTHHmmssZ>-<slug or ordinal>",
            )
            .or(&["turnRequestId"]),
            Field::required("queryTitle", Type::Line, "the prompt in a few words"),
            Field::required("queryText", Type::Text, "the prompt"),
            SUBAGENT,
        ],
        handle: turn::begin,
    },
    Method {
        name: "workflow.sessionlog.updateTurn",
        about: "Say more of a turn; what is absent or empty stays, lists grow",
        place: Place::Turn,
        params: &[RESPONSE, INTERPRETATION, TOKENS, TAGS, CONTEXT, QUERY_TITLE],
        handle: turn::update,
    },
    Method {
        name: "workflow.sessionlog.appendDialog",
        about: "Write down reasoning, tool calls, observations and decisions",
        place: Place::Turn,
        params: &[Field::required(
            "dialogItems",
            Type::List(DIALOG_ITEM, 1),
            "what is written down",
        )],
        handle: turn::append_dialog,
    },
    Method {
        name: "workflow.sessionlog.appendActions",
        about: "Record what was done; an edit that a hook recorded is the same action",
        place: Place::Turn,
        params: &[Field::required("actions", Type::List(ACTION, 1), "what was done")],
        handle: turn::append_actions,
    },
    Method {
        name: "workflow.sessionlog.completeTurn",
        about: "End a turn well, for good",
        place: Place::Turn,
        params: &[RESPONSE],
        handle: ending::complete,
    },
    Method {
        name: "workflow.sessionlog.failTurn",
        about: "End a turn as failed, for good",
        place: Place::Turn,
        params: &[ERROR, CODE],
        handle: ending::fail,
    },
    Method {
        name: "workflow.sessionlog.queryHistory",
        about: "The sessions of the log, newest first",
        place: Place::Log,
        params: FILTERS,
        handle: query::sessions,
    },
    Method {
        name: "workflow.sessionlog.currentSession",
        about: "The session that the caller is in, and its turn",
        place: Place::Session,
        params: &[],
        handle: session::current,
    },
    Method {
        name: "workflow.sessionlog.closeSession",
        about: "Close a session; an open turn gets a presumed end",
        place: Place::Session,
        params: &[],
        handle: session::close,
    },
    Method {
        name: "workflow.sessionlog.setSessionTitle",
        about: "Give a session another title",
        place: Place::Session,
        params: &[TITLE],
        handle: session::set_title,
    },
    Method {
        name: "client.SessionLog.SubmitAsync",
        about: "Merge a whole session in: nothing is erased, list items are taken once, ended turns stay",
        place: Place::Log,
        params: &[Field::required(
            "sessionLog",
            Type::Object(SUBMITTED),
            "the session with its turns",
        )],
        handle: submit::submit,
    },
    Method {
        name: "client.SessionLog.QueryAsync",
        about: "The sessions of the log, newest first",
        place: Place::Log,
        params: FILTERS,
        handle: query::sessions,
    },
    Method {
        name: "client.SessionLog.GetAsync",
        about: "One session with all its turns",
        place: Place::Log,
        params: &[
            Field::required("sessionId", Type::Form(&forms::SESSION), "which"),
            AGENT,
        ],
        handle: query::get,
    },
];

/// The method of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|m| m.name == name)
}

impl Method {
    /// All its parameters: its own, and those that name the place.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> {
        let (session, turn): (&[Field], &[Field]) = match self.place {
            Place::Log => (&[], &[]),
            Place::Session => (SESSION, &[]),
            Place::Turn => (SESSION, TURN),
        };
        self.params.iter().chain(turn).chain(session)
    }

    /// The JSON Schema of its parameters.
    #[must_use]
    pub fn schema(&self) -> Value {
        schema(self.fields())
    }

    /// Its parameters in a line, those that must be given first, with a star.
    #[must_use]
    pub fn signature(&self) -> String {
        let star = |f: &Field| {
            if f.required {
                format!("{}*", f.name)
            } else {
                f.name.to_owned()
            }
        };
        let names: Vec<String> = self.params.iter().map(star).collect();
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_means_one_parameter_and_every_schema_is_closed() {
        for method in METHODS {
            let mut names = BTreeSet::new();
            for field in method.fields() {
                for name in [&[field.name], field.synonyms].concat() {
                    assert!(names.insert(name), "{}: {name}", method.name);
                }
            }
            let schema = method.schema();
            assert_eq!(schema["additionalProperties"], false, "{}", method.name);
            assert_eq!(find(method.name).map(|m| m.name), Some(method.name));
        }
        let actions = &find("workflow.sessionlog.appendActions").unwrap().schema()["properties"]["actions"];
        assert_eq!(actions["items"]["properties"]["order"]["type"], "integer");
        assert_eq!(
            actions["items"]["required"],
            serde_json::json!(["order", "description", "type", "status"])
        );
    }
}
