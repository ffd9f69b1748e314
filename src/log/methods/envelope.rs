//! The wire: one request a line, one answer a line, both JSON.
//!
//! `{"type":"request","payload":{"requestId":…,"method":…,"params":{…}}}` →
//! `{"type":"result","payload":{"requestId":…,"result":{…},"deprecated":true}}` or
//! `{"type":"error","payload":{"requestId":…,"code":…,"message":…,"details":{…}}}`.

use serde_json::{Map, Value, json};

use super::error::Error;

/// Longest request, in bytes.
pub const MAX_REQUEST: usize = 4 * 1024 * 1024;
/// Longest request id that is given back, in characters.
const MAX_ID: usize = 200;
/// The id of an answer to a line in which none can be read.
const UNKNOWN: &str = "unknown";

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The caller's id for it; any text.
    pub id: String,
    /// The method's name.
    pub method: String,
    /// Its parameters, unchecked.
    pub params: Value,
}

/// A line that is no request, and the id that could be read in it.
#[derive(Debug, PartialEq)]
pub struct Bad {
    /// The id, or `unknown`.
    pub id: String,
    /// What is wrong.
    pub error: Box<Error>,
}

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    /// [`Bad`].
    pub fn parse(line: &[u8]) -> Result<Self, Bad> {
        let bad = |why: &str| Bad {
            id: scan(line),
            error: Box::new(Error::InvalidEnvelope { why: why.to_owned() }),
        };
        if line.len() > MAX_REQUEST {
            return Err(bad(&format!("it is longer than {MAX_REQUEST} bytes")));
        }
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(|_| bad("it is no UTF-8"))?;
        let value: Value = serde_json::from_str(text).map_err(|e| bad(&format!("it is no JSON ({e})")))?;
        let envelope = value.as_object().ok_or_else(|| bad("it is no object"))?;
        if envelope.get("type").and_then(Value::as_str) != Some("request") {
            return Err(bad("its type is not \"request\""));
        }
        only(envelope, &["type", "payload"]).map_err(|name| bad(&format!("{name:?} is no key of it")))?;
        let payload = envelope
            .get("payload")
            .and_then(Value::as_object)
            .ok_or_else(|| bad("its payload is no object"))?;
        only(payload, &["requestId", "method", "params"])
            .map_err(|name| bad(&format!("{name:?} is no key of its payload")))?;
        let text = |name: &str| {
            payload
                .get(name)
                .and_then(Value::as_str)
                .filter(|t| !t.trim().is_empty())
        };
        let id = text("requestId")
            .filter(|id| id.chars().count() <= MAX_ID)
            .ok_or_else(|| bad("payload.requestId is no text of 1 to 200 characters"))?;
        let method = text("method").ok_or_else(|| bad("payload.method is no text"))?;
        let params = payload.get("params").cloned().unwrap_or_default();
        if !params.is_null() && !params.is_object() {
            return Err(bad("payload.params is no object"));
        }
        Ok(Self {
            id: id.to_owned(),
            method: method.to_owned(),
            params,
        })
    }
}

fn only(object: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    match object.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(name.chars().take(60).collect()),
        None => Ok(()),
    }
}

/// The request id in a line that is no request, if it can be read.
fn scan(line: &[u8]) -> String {
    const KEY: &[u8] = b"\"requestId\"";
    // A line too long is not searched to its end.
    let line = line.get(..line.len().min(64 * 1024)).unwrap_or_default();
    let behind = line
        .windows(KEY.len())
        .position(|w| w == KEY)
        .and_then(|at| line.get(at + KEY.len()..));
    let value = behind
        .map(<[u8]>::trim_ascii_start)
        .and_then(|rest| rest.strip_prefix(b":"));
    let found = value.and_then(|rest| {
        serde_json::Deserializer::from_slice(rest)
            .into_iter::<String>()
            .next()
    });
    match found {
        Some(Ok(id)) if !id.is_empty() && id.chars().count() <= MAX_ID => id,
        _ => UNKNOWN.to_owned(),
    }
}

/// The answer to a request. `method`: the name under which it was asked, where it could be read.
#[must_use]
pub fn answer(id: &str, method: Option<&str>, outcome: &Result<Value, Error>) -> Value {
    match outcome {
        Ok(result) => {
            let mut payload = json!({"requestId": id, "result": result});
            if let Some(payload) = payload.as_object_mut().filter(|_| method.is_some_and(is_legacy)) {
                payload.insert("deprecated".to_owned(), json!(true));
            }
            json!({"type": "result", "payload": payload})
        }
        Err(e) => json!({"type": "error", "payload": {
            "requestId": id, "code": e.code(), "message": e.message(), "details": e.details(),
        }}),
    }
}

/// `workflow.*` is the older surface and says so; `client.*` is the one to go to.
fn is_legacy(method: &str) -> bool {
    method.starts_with("workflow.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_request_or_says_why_not_and_whose() {
        let good = br#"{"type":"request","payload":{"requestId":"r1","method":"m","params":{"a":1}}}"#;
        let request = Request::parse(good).unwrap();
        assert_eq!(
            (request.id.as_str(), request.method.as_str(), &request.params),
            ("r1", "m", &json!({"a": 1}))
        );
        let bom = ["\u{feff}".as_bytes(), good, b"\r"].concat();
        assert_eq!(Request::parse(&bom).unwrap().id, "r1");
        for (line, id) in [
            (&b"{"[..], "unknown"),
            (b"[]", "unknown"),
            (b"requestId", "unknown"),
            (
                br#"{"type":"request","payload":{"requestId":"r2","method":"m","params":[]}}"#,
                "r2",
            ),
            (
                br#"{"type":"request","payload":{"requestId":"r3","method":"m","more":1}}"#,
                "r3",
            ),
            (
                br#"{"type":"request","id":1,"payload":{"requestId":"r4","method":"m"}}"#,
                "r4",
            ),
            (
                br#"{"type":"result","payload":{"requestId":"r5","method":"m"}}"#,
                "r5",
            ),
            (
                br#"{"type":"request","payload":{"requestId" : "r6","method":"#,
                "r6",
            ),
            (
                b"{\"type\":\"request\",\"payload\":{\"requestId\":\"r7\",\"method\":\"\xff\"}}",
                "r7",
            ),
            (b"{\"payload\":{\"requestId\":\"r8\",\"method\":\"a\0b\"}}", "r8"),
            (
                br#"{"type":"request","payload":{"requestId":"","method":"m"}}"#,
                "unknown",
            ),
            (
                br#"{"type":"request","payload":{"requestId":7,"method":"m"}}"#,
                "unknown",
            ),
            (br#"{"type":"request","payload":{"requestId":"r9"}}"#, "r9"),
        ] {
            let bad = Request::parse(line).unwrap_err();
            assert_eq!(
                (bad.id.as_str(), bad.error.code()),
                (id, "invalid_envelope"),
                "{line:?}"
            );
        }
    }
}
