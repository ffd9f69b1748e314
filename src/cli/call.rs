//! `bookend call`: one method, its parameters as YAML or JSON, its answer as a line of JSON.

use std::io::Read as _;
use std::path::Path;

use serde_json::{Value, json};

use super::args::{Call, CallStart, Calls};
use super::machine::Machine;
use super::out::Out;
use super::surroundings::Here;
use super::{Failed, Run};
use crate::clock;
use crate::log::methods::Service;
use crate::log::methods::envelope::{self, MAX_REQUEST, Request};
use crate::redact::Redacted;

impl Run for Call {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let answer = match (&self.start, &self.method) {
            (Some(Calls::Start(start)), _) => start.answer(machine)?,
            (None, Some(method)) => {
                let request = Request {
                    id: request_id(),
                    method: method.clone(),
                    params: params(self.params.as_deref())?,
                };
                let here = Here::new(&machine.config).for_one_call();
                Service::new(&machine.config, &here).serve(&request)
            }
            (None, None) => {
                return Err(Failed::new(
                    "no method is named: `bookend call --help` lists them",
                ));
            }
        };
        out.json_line(&answer)?;
        if answer.get("type").and_then(Value::as_str) == Some("result") {
            Ok(())
        } else {
            Err(Failed::Shown)
        }
    }
}

impl CallStart {
    fn answer(&self, machine: &Machine) -> Result<Value, Failed> {
        let here = Here::new(&machine.config).for_one_call();
        if let Some(dir) = &self.workspace {
            here.work_in(directory(dir)?);
        }
        let params = json!({"agent": self.agent, "title": self.title, "model": self.model});
        let outcome = Service::new(&machine.config, &here).start(&params);
        Ok(envelope::answer(&request_id(), None, &outcome))
    }
}

/// Links followed, as the process's own directory has them.
fn directory(dir: &Path) -> Result<Redacted, Failed> {
    let path = dir.canonicalize().ok().filter(|path| path.is_dir());
    let path = path.ok_or_else(|| {
        Failed::new(format!(
            "{} is no directory: give one to --workspace",
            dir.display()
        ))
    })?;
    Ok(Redacted::new(&path.to_string_lossy()))
}

/// An id for the request, of the form that the callers' own have.
fn request_id() -> String {
    let unique = uuid::Uuid::now_v7().simple().to_string();
    let digits: String = unique.chars().skip(unique.len() - 8).collect();
    format!("req-{}-call-{digits}", clock::compact(clock::now()))
}

/// The parameters of a file, or of stdin for `-`.
fn params(from: Option<&Path>) -> Result<Value, Failed> {
    let Some(path) = from else {
        return Ok(json!({}));
    };
    let most = MAX_REQUEST as u64 + 1;
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.map_err(|e| {
        Failed::to(format!(
            "read the parameters in {}: {e}; give a file or -",
            path.display()
        ))
    })?;
    if bytes.len() > MAX_REQUEST {
        return Err(Failed::new(format!(
            "the parameters are longer than {MAX_REQUEST} bytes: give less at once"
        )));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failed::new("the parameters are no UTF-8: write them as UTF-8"))?;
    parse(&text).map_err(|why| {
        Failed::new(format!(
            "the parameters are neither JSON nor YAML: {why}; mend that line"
        ))
    })
}

/// JSON, else YAML; nothing at all is no parameters.
fn parse(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    serde_saphyr::from_str(text).map_err(|e| {
        let why = e.to_string();
        // The excerpt behind the first line may show what is secret.
        why.lines().next().unwrap_or_default().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_their_types() {
        for (text, value) in [
            ("", json!({})),
            ("{\"order\": 1}", json!({"order": 1})),
            ("order: 1", json!({"order": 1})),
            ("order: \"1\"", json!({"order": "1"})),
            ("at: 2026-04-09T12:00:04Z", json!({"at": "2026-04-09T12:00:04Z"})),
            (
                "tags:\n  - feature\n  - FR-AUTH-001\n",
                json!({"tags": ["feature", "FR-AUTH-001"]}),
            ),
            (
                "content: |\n  Decision: HS256.\n  Rationale: x\n",
                json!({"content": "Decision: HS256.\nRationale: x\n"}),
            ),
            ("filePath: \"\"", json!({"filePath": ""})),
            ("title: null", json!({"title": null})),
        ] {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
        assert!(parse("a: [").is_err());
        assert!(parse("a: 1\na: 2").is_err(), "a key twice");
    }
}
