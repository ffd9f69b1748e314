//! Beginning a turn, and adding to one.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::Error;
use super::place::{self, Named};
use super::{Service, merge};
use crate::clock;
use crate::config::LogPrompts;
use crate::event::Origin;
use crate::fields::Checked;
use crate::log::id::RequestId;
use crate::log::record::{Action, Body, DialogItem, Update};
use crate::log::view::SessionView;
use crate::redact::Redacted;

/// A turn that a model begins.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Begin {
    pub(super) request_id: RequestId,
    #[serde(default)]
    pub(super) query_title: Redacted,
    #[serde(default)]
    pub(super) query_text: Redacted,
    #[serde(default)]
    pub(super) subagent: Option<Redacted>,
    /// When it began, if that was not now.
    #[serde(default, rename = "timestamp")]
    pub(super) began: Option<DateTime<Utc>>,
}

impl Begin {
    /// The records: the hooks' open turn is adopted; one that a model left open is presumed to be interrupted.
    pub(super) fn records(self, view: &SessionView, prompts: LogPrompts) -> Vec<Body> {
        let open = place::open(view, self.subagent.as_ref());
        let (title, text) = merge::prompt(self.query_title, self.query_text, prompts);
        if let Some(turn) = open.filter(|t| t.agent.is_none() && t.origin != Origin::Model) {
            let update = Update {
                alias: Some(self.request_id),
                query_title: Some(title).filter(|t| !t.is_empty()),
                query_text: Some(text).filter(|t| !t.is_empty()),
                ..Update::default()
            };
            return vec![Body::TurnUpdate {
                turn: turn.request_id.clone(),
                update: Box::new(update),
            }];
        }
        let left = open.map(|turn| Body::TurnPresumed {
            turn: turn.request_id.clone(),
            code: Redacted::new("interrupted"),
        });
        let begun = Body::TurnBegin {
            turn: self.request_id,
            host_turn: None,
            origin: Origin::Model,
            agent: self.subagent,
            began: self.began,
            title,
            text,
        };
        left.into_iter().chain([begun]).collect()
    }
}

pub(super) fn begin(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    let begin: Begin = params.read()?;
    let named: Named = params.read()?;
    let id = begin.request_id.clone();
    let prompts = service.prompts;
    let written = service.write(&named, |view| match place::known(view, &id) {
        Some(turn) => Err(Error::TurnAlreadyExists {
            session: view.session_id.clone(),
            turn: id.clone(),
            status: turn.status,
        }),
        None => Ok(begin.records(view, prompts)),
    })?;
    let turn = place::known(&written.view, &id).ok_or_else(gone)?;
    let mut result = json!({
        "turnRequestId": id, "status": turn.status, "timestamp": clock::stamp(turn.started_at),
    });
    if let Some(result) = result.as_object_mut().filter(|_| turn.request_id != id) {
        result.insert("adopted".to_owned(), json!(turn.request_id));
    }
    Ok(result)
}

pub(super) fn update(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    let named: Named = params.read()?;
    let mut given: Update = params.read()?;
    let prompts = service.prompts;
    let title = given.query_title.take().unwrap_or_default();
    given.query_title = Some(merge::prompt(title, Redacted::default(), prompts).0);
    let written = service.write(&named, |view| {
        let turn = place::open_turn(view, &named)?;
        let body = |update| Body::TurnUpdate {
            turn: turn.request_id.clone(),
            update: Box::new(update),
        };
        Ok(merge::update(turn, given).map(body).into_iter().collect())
    })?;
    let updated = written.view.last_updated.unwrap_or(written.at);
    Ok(json!({"updated": true, "lastUpdated": clock::stamp(updated)}))
}

pub(super) fn append_dialog(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Given {
        dialog_items: Vec<DialogItem>,
    }
    let named: Named = params.read()?;
    let Given { dialog_items } = params.read()?;
    let mut appended = 0;
    let mut id = None;
    let written = service.write(&named, |view| {
        let turn = place::open_turn(view, &named)?;
        let items = merge::dialog(turn, dialog_items, false);
        appended = items.len();
        id = Some(turn.request_id.clone());
        Ok(said(&turn.request_id, items).into_iter().collect())
    })?;
    let turn = id
        .and_then(|id| place::known(&written.view, &id))
        .ok_or_else(gone)?;
    Ok(json!({"appended": appended, "totalDialogItems": turn.dialog.len()}))
}

/// The record of dialog items; those without a time are of now.
pub(super) fn said(turn: &RequestId, mut items: Vec<DialogItem>) -> Option<Body> {
    let now = clock::now();
    for item in &mut items {
        item.timestamp = item.timestamp.or(Some(now));
    }
    (!items.is_empty()).then(|| Body::TurnDialog {
        turn: turn.clone(),
        items,
    })
}

pub(super) fn append_actions(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Given {
        actions: Vec<Action>,
    }
    let named: Named = params.read()?;
    let Given { actions } = params.read()?;
    let mut appended = 0;
    let mut id = None;
    let written = service.write(&named, |view| {
        let turn = place::open_turn(view, &named)?;
        let actions = merge::actions(turn, actions, view.project_root.as_deref());
        appended = actions.len();
        id = Some(turn.request_id.clone());
        Ok(done(&turn.request_id, actions))
    })?;
    let turn = id
        .and_then(|id| place::known(&written.view, &id))
        .ok_or_else(gone)?;
    Ok(json!({"appended": appended, "totalActions": turn.actions.len()}))
}

/// The records of actions.
pub(super) fn done(turn: &RequestId, actions: Vec<Action>) -> Vec<Body> {
    let one = |action| Body::TurnAction {
        turn: turn.clone(),
        action: Box::new(action),
    };
    actions.into_iter().map(one).collect()
}

/// What was written under the lock is there.
fn gone() -> Error {
    Error::Internal {
        what: "a turn that was just written is not there".to_owned(),
    }
}
