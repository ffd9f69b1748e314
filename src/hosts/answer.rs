//! A reply as the hosts spell it: they share one form, with two words that differ.
//!
//! A host drops or fails a whole answer over one key that it does not take (Codex over any unknown one), so
//! this builds from [`Accepts`] alone: what is not accepted is never written. A block or a refusal always
//! carries a reason, since Codex ignores one without.

use serde_json::{Map, Value, json};

use crate::reply::{Accepts, MAX_CONTEXT, Reply, Verdict};

/// Said when a handler gave no reason.
const NO_REASON: &str = "Bookend: refused without a reason";

/// How a host spells a block and a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `decision: block` at a stop, `permissionDecision: deny` at a delegation (Claude Code, Codex).
    Permission,
    /// `decision: deny` for both (Gemini CLI).
    Deny,
}

/// The document for the event of that name; `None` when nothing is left to say.
pub(super) fn document(event: &str, reply: &Reply, accepts: Accepts, spelling: Spelling) -> Option<Value> {
    let mut document = Map::new();
    let mut specific = Map::new();
    let context = reply
        .context
        .as_deref()
        .filter(|text| accepts.context && !text.is_empty());
    if let Some(text) = context {
        specific.insert("additionalContext".to_owned(), Value::from(cut(text)));
    }
    if let Some(text) = reply
        .notice
        .as_deref()
        .filter(|text| accepts.notice && !text.is_empty())
    {
        document.insert("systemMessage".to_owned(), Value::from(text));
    }
    match (&reply.verdict, spelling) {
        (Verdict::Deny(reason), Spelling::Permission) if accepts.deny => {
            specific.insert("permissionDecision".to_owned(), json!("deny"));
            specific.insert(
                "permissionDecisionReason".to_owned(),
                json!(or_none_given(reason)),
            );
        }
        (Verdict::Deny(reason), Spelling::Deny) if accepts.deny => decide(&mut document, "deny", reason),
        (Verdict::Block(reason), Spelling::Permission) if accepts.block => {
            decide(&mut document, "block", reason)
        }
        (Verdict::Block(reason), Spelling::Deny) if accepts.block => decide(&mut document, "deny", reason),
        _ => {}
    }
    if !specific.is_empty() {
        let mut output = Map::new();
        output.insert("hookEventName".to_owned(), Value::from(event));
        output.append(&mut specific);
        document.insert("hookSpecificOutput".to_owned(), Value::Object(output));
    }
    (!document.is_empty()).then_some(Value::Object(document))
}

fn decide(document: &mut Map<String, Value>, decision: &str, reason: &str) {
    document.insert("decision".to_owned(), Value::from(decision));
    document.insert("reason".to_owned(), Value::from(or_none_given(reason)));
}

fn or_none_given(reason: &str) -> &str {
    if reason.trim().is_empty() {
        NO_REASON
    } else {
        reason
    }
}

/// Two hosts spool or cut a longer context on their own terms.
fn cut(text: &str) -> &str {
    text.char_indices()
        .nth(MAX_CONTEXT)
        .and_then(|(end, _)| text.get(..end))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Accepts = Accepts {
        context: true,
        notice: true,
        deny: true,
        block: true,
    };

    #[test]
    fn nothing_is_written_that_is_not_accepted() {
        let verdicts = [
            Verdict::Allow,
            Verdict::Deny("no".to_owned()),
            Verdict::Block("go on".to_owned()),
        ];
        for verdict in verdicts {
            let reply = Reply {
                context: Some("c".to_owned()),
                notice: Some("n".to_owned()),
                verdict,
                log: None,
            };
            for spelling in [Spelling::Permission, Spelling::Deny] {
                assert_eq!(document("Stop", &reply, Accepts::default(), spelling), None);
            }
        }
    }

    #[test]
    fn a_refusal_may_carry_context_and_a_notice() {
        let reply = Reply {
            context: Some("c".to_owned()),
            notice: Some("n".to_owned()),
            verdict: Verdict::Deny("no".to_owned()),
            log: None,
        };
        let expected = json!({"systemMessage": "n", "hookSpecificOutput": {"hookEventName": "PreToolUse",
            "additionalContext": "c", "permissionDecision": "deny", "permissionDecisionReason": "no"}});
        assert_eq!(
            document("PreToolUse", &reply, ALL, Spelling::Permission),
            Some(expected)
        );
    }

    #[test]
    fn a_block_always_has_a_reason() {
        let reply = Reply {
            verdict: Verdict::Block(" ".to_owned()),
            ..Reply::default()
        };
        let block = document("Stop", &reply, ALL, Spelling::Permission).unwrap();
        assert_eq!(block, json!({"decision": "block", "reason": NO_REASON}));
    }

    #[test]
    fn a_long_context_is_cut_between_characters() {
        let reply = Reply {
            context: Some("ä".repeat(MAX_CONTEXT + 5)),
            ..Reply::default()
        };
        let said = document("SessionStart", &reply, ALL, Spelling::Permission).unwrap();
        let text = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert_eq!(text.chars().count(), MAX_CONTEXT);
        assert!(text.chars().all(|c| c == 'ä'));
    }
}
