//! `get_skill_content`: the skills and the template of a session, by name, for clients that read no resources.

use serde_json::{Value, json};

use super::toolset::{Effect, Failure, Tool, ToolSet};
use crate::fields::{Field, Type, check, schema};
use crate::orchestration::{Error, TEMPLATE};
use crate::redact::Redacted;
use crate::skills::SKILLS;

const NAME: &str = "get_skill_content";
/// The name of the template, in the reference's spelling.
const SESSION_STATE: &str = "session-state";
const FIELDS: &[Field] = &[Field::required(
    "resources",
    Type::Texts,
    "names: session-state (the template of active-session.md), orchestration, session-log, task-state",
)];

/// What models can read of Bookend.
pub struct Skills;

impl ToolSet for Skills {
    fn tools(&self) -> Vec<Tool> {
        vec![Tool {
            name: NAME,
            about: "Orchestration and session log. Read the template of a session and the skills, by name."
                .to_owned(),
            schema: schema(FIELDS.iter()),
            effect: Effect::Reads,
        }]
    }

    fn call(&mut self, _: &str, params: &Value) -> Result<Value, Failure> {
        let given = check(params, FIELDS.iter()).map_err(|wrong| Failure::from(&Error::from(wrong)))?;
        let wanted: Vec<&str> = given
            .get("resources")
            .and_then(Value::as_array)
            .map_or_else(Vec::new, |list| list.iter().filter_map(Value::as_str).collect());
        let (mut contents, mut errors) = (json!({}), json!({}));
        for name in wanted {
            let (into, said) = match text(name) {
                Some(text) => (&mut contents, json!(text)),
                None => (
                    &mut errors,
                    json!(format!(
                        "there is none of that name; there are {}",
                        names().join(", ")
                    )),
                ),
            };
            if let Some(into) = into.as_object_mut() {
                into.insert(Redacted::truncated(name, 100).to_string(), said);
            }
        }
        Ok(json!({"contents": contents, "errors": errors}))
    }
}

fn names() -> Vec<&'static str> {
    std::iter::once(SESSION_STATE)
        .chain(SKILLS.iter().map(|skill| skill.name))
        .collect()
}

fn text(name: &str) -> Option<&'static str> {
    if name == SESSION_STATE {
        return Some(TEMPLATE);
    }
    SKILLS
        .iter()
        .find(|skill| skill.name == name)
        .map(|skill| skill.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_text_and_another_one_is_told() {
        let all = Skills.call(NAME, &json!({"resources": names()})).unwrap();
        assert_eq!(all["contents"].as_object().unwrap().len(), names().len());
        assert!(
            all["contents"][SESSION_STATE]
                .as_str()
                .unwrap()
                .starts_with("---\nsession_id:")
        );
        assert_eq!(all["errors"], json!({}));
        let one = Skills
            .call(NAME, &json!({"resources": "../../etc/passwd"}))
            .unwrap();
        assert_eq!(
            (&one["contents"], one["errors"].as_object().unwrap().len()),
            (&json!({}), 1)
        );
        for bad in [
            json!({}),
            json!({"resources": 1}),
            json!({"resources": [[]]}),
            json!({"x": 1, "resources": []}),
        ] {
            let refused = Skills.call(NAME, &bad).unwrap_err();
            assert_eq!(refused.code, "invalid_parameter", "{bad}");
            assert!(refused.details["hint"].is_string(), "{bad}");
        }
    }

    #[test]
    fn the_parameter_names_what_there_is() {
        let about = FIELDS.first().unwrap().about;
        assert!(names().iter().all(|name| about.contains(name)), "{about}");
    }
}
