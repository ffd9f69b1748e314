//! `SubmitAsync`: a whole session merged in. What is absent or empty erases nothing, list items are taken once,
//! a turn that has its end stays as it is.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::Error;
use super::turn::{Begin, done, said};
use super::{Service, WAIT, append, ending, merge, place, session};
use crate::clock;
use crate::config::LogPrompts;
use crate::fields::Checked;
use crate::log::id::SessionId;
use crate::log::ledger::Ledger;
use crate::log::record::{Action, Body, By, DialogItem, Update};
use crate::log::view::SessionView;
use crate::redact::Redacted;

/// What the log says itself, and takes from nobody.
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
    let not_kept: Vec<&str> = NOT_KEPT
        .into_iter()
        .filter(|name| params.has_in("sessionLog", name))
        .collect();
    Ok(json!({
        "sessionId": id, "created": created, "turnsAdded": count.added, "turnsUpdated": count.updated,
        "turnsUnchanged": count.unchanged, "notKept": not_kept,
    }))
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
                let code = rest.error_code.unwrap_or_else(|| Redacted::new(ending::NO_CODE));
                bodies.push(ending::failure(turn, &code, &rest.error_message));
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
