//! `SubmitAsync`: a whole session merged in. What is absent or empty erases nothing, list items are taken once,
//! a turn that has its end stays as it is. It takes what `GetAsync` answers: what only the log can say is not kept, and
//! named in the answer.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::Error;
use super::params::{SUBMITTED, SUBMITTED_ACTION, SUBMITTED_TURN};
use super::turn::{Begin, done, said};
use super::{Service, WAIT, append, ending, merge, place, session};
use crate::clock;
use crate::config::LogPrompts;
use crate::fields::Checked;
use crate::fields::{Field, Type};
use crate::log::id::SessionId;
use crate::log::ledger::Ledger;
use crate::log::record::{Action, Body, By, DialogItem, Update};
use crate::log::view::SessionView;
use crate::redact::Redacted;

/// What the log says itself, and takes from nobody, though it has to be what it says.
const NOT_KEPT: [&str; 3] = ["started", "lastUpdated", "turnCount"];

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    session_log: Submitted,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Submitted {
    session_id: SessionId,
    agent: String,
    #[serde(default)]
    title: Option<Redacted>,
    #[serde(default)]
    model: Option<Redacted>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    turns: Vec<Value>,
}

/// A submitted turn, besides what begins it and what updates it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rest {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    actions: Vec<Action>,
    #[serde(default)]
    processing_dialog: Vec<DialogItem>,
    #[serde(default)]
    error_message: Redacted,
    #[serde(default)]
    error_code: Option<Redacted>,
    #[serde(default)]
    failure: SubmittedFailure,
    #[serde(default)]
    presumed: bool,
}

/// Why a turn failed, as it is answered.
#[derive(Debug, Default, Deserialize)]
struct SubmittedFailure {
    #[serde(default)]
    code: Option<Redacted>,
    #[serde(default)]
    message: Redacted,
}

/// What became of the turns.
#[derive(Debug, Default)]
struct Count {
    added: usize,
    updated: usize,
    unchanged: usize,
}

pub(super) fn submit(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    let Given { session_log: given } = params.read()?;
    let id = given.session_id.clone();
    session::own(&id, &given.agent)?;
    let data = service.data()?;
    if !data.session(&id).is_ok_and(|dir| dir.is_some()) {
        service.keeps_log()?;
    }
    let busy = || Error::Storage {
        what: "open the session log".to_owned(),
    };
    let mut ledger = Ledger::open(&data, &id, By::Model, true, WAIT)?.ok_or_else(busy)?;
    let created = ledger.is_new();
    let view = if created {
        SessionView::fold(id.clone(), &[])
    } else {
        service.view(&data, &id)?
    };
    let mut merged = Merged {
        view: view.clone(),
        bodies: Vec::new(),
        now: clock::now(),
    };
    if created {
        let title = given.title.clone().unwrap_or_default();
        merged.put(vec![session::opening(&id, title, given.model, service)]);
    } else if let Some(title) = given.title.filter(|t| *t != view.title) {
        merged.put(vec![Body::SessionTitle { title }]);
    }
    let mut count = Count::default();
    for turn in given.turns {
        merged.turn(turn, service.prompts, &mut count)?;
    }
    if matches!(given.status.as_deref(), Some("completed" | "failed")) && !merged.view.ended {
        merged.put(session::closing(&merged.view));
    }
    append(&mut ledger, id.clone(), view, merged.bodies)?;
    let not_kept = params.get("sessionLog").map(not_kept).unwrap_or_default();
    Ok(json!({
        "sessionId": id, "created": created, "turnsAdded": count.added, "turnsUpdated": count.updated,
        "turnsUnchanged": count.unchanged, "notKept": not_kept,
    }))
}

/// What was given and is not kept, by its name and, in a turn, its place.
fn not_kept(given: &Value) -> Vec<String> {
    let dropped = |fields: &[Field], value: &Value, before: &str| -> Vec<String> {
        let is_dropped =
            |f: &&Field| matches!(f.kind, Type::NotKept) || (before.is_empty() && NOT_KEPT.contains(&f.name));
        let names = fields.iter().filter(is_dropped).map(|f| f.name);
        let given = names.filter(|name| value.get(name).is_some());
        given.map(|name| format!("{before}{name}")).collect()
    };
    let mut names = dropped(SUBMITTED, given, "");
    let list = |value: &Value, name: &str| {
        value
            .get(name)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    for turn in list(given, "turns") {
        names.extend(dropped(SUBMITTED_TURN, &turn, "turns[]."));
        for action in list(&turn, "actions") {
            names.extend(dropped(SUBMITTED_ACTION, &action, "turns[].actions[]."));
        }
    }
    let mut once = Vec::new();
    names.retain(|name| {
        let is_new = !once.contains(name);
        once.extend(is_new.then(|| name.clone()));
        is_new
    });
    names
}

/// The session as it will be, and the records that make it so.
struct Merged {
    view: SessionView,
    bodies: Vec<Body>,
    now: DateTime<Utc>,
}

impl Merged {
    fn put(&mut self, bodies: Vec<Body>) {
        self.view.follow(&bodies, By::Model, self.now);
        self.bodies.extend(bodies);
    }

    fn turn(&mut self, given: Value, prompts: LogPrompts, count: &mut Count) -> Result<(), Error> {
        let fault = |e: serde_json::Error| Error::Internal {
            what: format!("a turn does not fit its type: {e}"),
        };
        let begin: Begin = serde_json::from_value(given.clone()).map_err(fault)?;
        let mut update: Update = serde_json::from_value(given.clone()).map_err(fault)?;
        let rest: Rest = serde_json::from_value(given).map_err(fault)?;
        let (id, before) = (begin.request_id.clone(), self.bodies.len());
        let title = update.query_title.take().unwrap_or_default();
        let (title, text) = merge::prompt(title, update.query_text.take().unwrap_or_default(), prompts);
        (update.query_title, update.query_text) = (Some(title), Some(text));
        let is_new = match place::known(&self.view, &id) {
            Some(turn) if !turn.can_end() => {
                count.unchanged += 1;
                return Ok(());
            }
            Some(_) => false,
            None => {
                self.put(begin.records(&self.view, prompts));
                true
            }
        };
        let Some(turn) = place::known(&self.view, &id) else {
            return Ok(());
        };
        let own = turn.request_id.clone();
        let mut bodies: Vec<Body> = Vec::new();
        bodies.extend(merge::update(turn, update).map(|update| Body::TurnUpdate {
            turn: own.clone(),
            update: Box::new(update),
        }));
        bodies.extend(said(&own, merge::dialog(turn, rest.processing_dialog, true)));
        bodies.extend(done(
            &own,
            merge::actions(turn, rest.actions, self.view.project_root.as_deref()),
        ));
        match rest.status.as_deref() {
            Some("completed") => bodies.push(Body::TurnComplete {
                turn: own,
                response: None,
            }),
            Some("failed") => {
                let code = rest.error_code.or(rest.failure.code);
                let code = code.unwrap_or_else(|| Redacted::new(ending::NO_CODE));
                let message = [rest.error_message, rest.failure.message];
                let message = message.into_iter().find(|m| !m.is_empty()).unwrap_or_default();
                match (rest.presumed, turn.presumed) {
                    (true, true) => {}
                    (true, false) => bodies.push(Body::TurnPresumed { turn: own, code }),
                    (false, _) => bodies.push(ending::failure(turn, &code, &message)),
                }
            }
            _ => {}
        }
        self.put(bodies);
        match (is_new, self.bodies.len() > before) {
            (true, _) => count.added += 1,
            (false, true) => count.updated += 1,
            (false, false) => count.unchanged += 1,
        }
        Ok(())
    }
}
