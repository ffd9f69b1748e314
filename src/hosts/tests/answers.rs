//! Nothing is ever answered that the host would reject for that event.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::registration::rows;
use super::read;
use crate::hosts::Host;
use crate::reply::{MAX_CONTEXT, Reply, Verdict};

/// Every combination of what a handler could say, sensible or not.
fn replies() -> Vec<Reply> {
    let long = "ä".repeat(MAX_CONTEXT * 2);
    let texts = [None, Some(String::new()), Some("text".to_owned()), Some(long)];
    let reasons = ["", " ", "because"];
    let mut verdicts = vec![Verdict::Allow];
    verdicts.extend(reasons.map(|r| Verdict::Deny(r.to_owned())));
    verdicts.extend(reasons.map(|r| Verdict::Block(r.to_owned())));
    let mut all = Vec::new();
    for context in &texts {
        for notice in &texts {
            for verdict in &verdicts {
                all.push(Reply {
                    context: context.clone(),
                    notice: notice.clone(),
                    verdict: verdict.clone(),
                    log: None,
                });
            }
        }
    }
    all
}

fn events(host: Host) -> BTreeSet<&'static str> {
    let others = [
        "PreCompress",
        "PermissionRequest",
        "PostCompact",
        "Notification",
        "BeforeModel",
        "",
        "x",
    ];
    rows(host).iter().map(|row| row.event).chain(others).collect()
}

#[test]
fn an_answer_holds_what_is_accepted_and_nothing_else() {
    for host in Host::ALL {
        for event in events(host) {
            let accepts = host.accepts(event);
            for reply in replies() {
                let document = host.encode(event, &reply).unwrap_or(Value::Null);
                let said = |text: &Option<String>| text.as_deref().is_some_and(|t| !t.is_empty());
                let specific = &document["hookSpecificOutput"];
                let place = format!("{host} {event} {document}");
                assert_eq!(
                    specific.get("additionalContext").is_some(),
                    accepts.context && said(&reply.context),
                    "{place}"
                );
                assert_eq!(
                    document.get("systemMessage").is_some(),
                    accepts.notice && said(&reply.notice),
                    "{place}"
                );
                let refused =
                    document.get("decision").is_some() || specific.get("permissionDecision").is_some();
                let expected = match reply.verdict {
                    Verdict::Allow => false,
                    Verdict::Deny(_) => accepts.deny,
                    Verdict::Block(_) => accepts.block,
                };
                assert_eq!(refused, expected, "{place}");
                if let Some(named) = specific.get("hookEventName") {
                    assert_eq!(named, event);
                }
                for reason in [document.get("reason"), specific.get("permissionDecisionReason")]
                    .into_iter()
                    .flatten()
                {
                    assert!(!reason.as_str().unwrap().trim().is_empty(), "{place}");
                }
                let length = specific["additionalContext"]
                    .as_str()
                    .unwrap_or_default()
                    .chars()
                    .count();
                assert!(length <= MAX_CONTEXT, "{place}");
                assert!(document != json!({}), "an empty document is no answer");
            }
        }
    }
}

#[test]
fn a_refusal_and_a_block_are_spelled_as_the_host_reads_them() {
    let deny = Reply {
        verdict: Verdict::Deny("no".to_owned()),
        ..Reply::default()
    };
    let block = Reply {
        verdict: Verdict::Block("go on".to_owned()),
        ..Reply::default()
    };
    let denied = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": "no"}});
    let blocked = json!({"decision": "block", "reason": "go on"});
    for host in [Host::ClaudeCode, Host::Codex] {
        assert_eq!(host.encode("PreToolUse", &deny), Some(denied.clone()));
        assert_eq!(host.encode("Stop", &block), Some(blocked.clone()));
        assert_eq!(host.encode("SubagentStop", &block), Some(blocked.clone()));
        assert_eq!(host.encode("PreToolUse", &block), None);
        assert_eq!(host.encode("Stop", &deny), None);
        assert_eq!(host.encode("SessionEnd", &block), None);
    }
    let gemini = Host::GeminiCli;
    assert_eq!(
        gemini.encode("BeforeTool", &deny),
        Some(json!({"decision": "deny", "reason": "no"}))
    );
    assert_eq!(
        gemini.encode("AfterAgent", &block),
        Some(json!({"decision": "deny", "reason": "go on"}))
    );
    // It would replace the tool's result.
    assert_eq!(gemini.encode("AfterTool", &block), None);
}

#[test]
fn claude_code_is_not_told_what_it_ignores_or_takes_amiss() {
    let host = Host::ClaudeCode;
    for reply in replies() {
        assert_eq!(host.encode("StopFailure", &reply), None);
        assert_eq!(host.encode("SessionEnd", &reply), None);
        for event in ["Stop", "SubagentStop"] {
            let document = host.encode(event, &reply).unwrap_or(Value::Null);
            assert!(
                document.get("hookSpecificOutput").is_none(),
                "it would go on with the conversation"
            );
        }
    }
}

#[test]
fn every_answer_to_codex_validates_against_its_schema() {
    let mut validated = 0;
    for row in rows(Host::Codex) {
        let schema = match row.event {
            // Codex has none, so it takes nothing.
            "SessionEnd" => json!({"type": "object", "additionalProperties": false}),
            event => read(&format!(
                "codex/schema/{}.command.output.schema.json",
                kebab(event)
            )),
        };
        for reply in replies() {
            let Some(document) = Host::Codex.encode(row.event, &reply) else {
                continue;
            };
            if let Err(fault) = validate(&schema, &schema, &document) {
                panic!("{} {document}: {fault}", row.event);
            }
            validated += 1;
        }
    }
    assert!(validated > 300, "{validated}");
}

#[test]
fn the_schema_check_finds_faults() {
    let schema = read("codex/schema/stop.command.output.schema.json");
    assert_eq!(
        validate(&schema, &schema, &json!({"decision": "block", "reason": "x"})),
        Ok(())
    );
    for wrong in [
        json!({"decision": "deny"}),
        json!({"odd": 1}),
        json!({"hookSpecificOutput": {}}),
        json!({"reason": 1}),
        json!([]),
    ] {
        assert!(validate(&schema, &schema, &wrong).is_err(), "{wrong}");
    }
    let schema = read("codex/schema/pre-tool-use.command.output.schema.json");
    for wrong in [
        json!({"hookSpecificOutput": {}}),
        json!({"hookSpecificOutput": {"hookEventName": "Stop"}}),
    ] {
        assert!(validate(&schema, &schema, &wrong).is_err(), "{wrong}");
    }
}

/// `PreToolUse` → `pre-tool-use`.
fn kebab(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// As much of JSON schema draft 7 as Codex's schemas use; a word that is not known here is a fault.
fn validate(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    for (word, rule) in schema.as_object().unwrap() {
        let holds = match word.as_str() {
            "$schema" | "title" | "description" | "default" | "definitions" => true,
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                validate(root, root.pointer(pointer).unwrap(), value)?;
                true
            }
            "allOf" => {
                for part in rule.as_array().unwrap() {
                    validate(root, part, value)?;
                }
                true
            }
            "type" => match rule.as_str().unwrap() {
                "object" => value.is_object(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                other => return Err(format!("unknown type {other}")),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "const" => rule == value,
            "required" => rule
                .as_array()
                .unwrap()
                .iter()
                .all(|name| value.get(name.as_str().unwrap()).is_some()),
            "properties" => {
                for (name, part) in rule.as_object().unwrap() {
                    if let Some(field) = value.get(name) {
                        validate(root, part, field)?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = schema["properties"].as_object();
                let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
                value.as_object().is_none_or(|map| map.keys().all(is_known))
            }
            other => return Err(format!("unknown word {other}")),
        };
        if !holds {
            return Err(format!("{word}: {rule} does not allow {value}"));
        }
    }
    Ok(())
}
