//! Ending a turn for good. The same end again answers the same and writes nothing; another one is refused.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Service;
use super::error::Error;
use super::place::{self, Named};
use crate::clock;
use crate::fields::Checked;
use crate::log::record::Body;
use crate::log::view::{SessionView, TurnView};
use crate::redact::Redacted;

/// The code of a failure of which none is told.
pub(super) const NO_CODE: &str = "failed";

pub(super) fn complete(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    struct Given {
        #[serde(default)]
        response: Option<Redacted>,
    }
    let named: Named = params.read()?;
    let Given { response } = params.read()?;
    let same = |turn: &TurnView| turn.status == "completed" && turn.end_response == response;
    let end = |turn: &TurnView| Body::TurnComplete {
        turn: turn.request_id.clone(),
        response: response.clone(),
    };
    let ended = service.end(&named, same, end)?;
    Ok(json!({"turnRequestId": ended.id, "status": "completed", "completedAt": ended.at}))
}

pub(super) fn fail(service: &mut Service<'_>, params: &Checked) -> Result<Value, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Given {
        error_message: Redacted,
        #[serde(default)]
        error_code: Option<Redacted>,
    }
    let named: Named = params.read()?;
    let Given {
        error_message: message,
        error_code,
    } = params.read()?;
    let code = error_code.unwrap_or_else(|| Redacted::new(NO_CODE));
    let known = |turn: &TurnView| {
        turn.failure
            .as_ref()
            .is_some_and(|f| f.code == code && f.message == message)
    };
    let same = |turn: &TurnView| turn.status == "failed" && known(turn);
    let end = |turn: &TurnView| failure(turn, &code, &message);
    let ended = service.end(&named, same, end)?;
    Ok(json!({"turnRequestId": ended.id, "status": "failed", "failedAt": ended.at, "errorCode": code}))
}

/// The record of a failure.
pub(super) fn failure(turn: &TurnView, code: &Redacted, message: &Redacted) -> Body {
    Body::TurnFail {
        turn: turn.request_id.clone(),
        code: code.clone(),
        message: message.clone(),
    }
}

/// A turn's end as it is answered.
struct Ended {
    id: String,
    at: Option<String>,
}

impl Service<'_> {
    fn end(
        &self,
        named: &Named,
        same: impl Fn(&TurnView) -> bool,
        end: impl Fn(&TurnView) -> Body,
    ) -> Result<Ended, Error> {
        let mut id = None;
        let written = self.write(named, |view: &SessionView| {
            let turn = place::turn(view, named)?;
            id = Some(turn.request_id.clone());
            match (turn.can_end(), same(turn)) {
                (true, _) => Ok(vec![end(turn)]),
                (false, true) => Ok(Vec::new()),
                (false, false) => Err(place::immutable(turn, named)),
            }
        })?;
        let turn = id.and_then(|id| place::known(&written.view, &id));
        Ok(Ended {
            id: turn.map_or_else(String::new, |t| place::id_for(t, named).to_string()),
            at: turn.and_then(|t| t.completed_at).map(clock::stamp),
        })
    }
}
