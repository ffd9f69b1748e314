//! Which agent works: the host's own field first, else an `Agent:` line at the head of the delegated prompt, else
//! what the environment says (`MAESTRO_CURRENT_AGENT`). An address or a mention in the text of a prompt is none.

/// The longest name.
const MAX: usize = 64;
/// Header lines that are looked at.
const HEADER: usize = 16;

/// The bare name: no plugin prefix, `_` for `-`, in small letters, so that all spellings of one agent are alike.
#[must_use]
pub fn bare(name: &str) -> String {
    let own = name.rsplit(':').next().unwrap_or_default().trim();
    own.to_ascii_lowercase().replace('-', "_")
}

/// The agent that a prompt's head names: lines of the form `Name: value`, from the first line that is not blank.
#[must_use]
pub fn of_header(prompt: &str) -> Option<String> {
    let lines = prompt.trim_start_matches('\u{feff}').lines();
    let head = lines.skip_while(|line| line.trim().is_empty());
    head.take(HEADER)
        .map_while(field)
        .find(|(name, _)| name.eq_ignore_ascii_case("agent"))
        .and_then(|(_, value)| valid(value))
}

/// A line of a header: a short name of words, a colon, a value.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().split_once(':')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-');
    let is_name =
        !name.is_empty() && name.len() <= MAX && name.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_name && name.chars().all(is_word)).then_some((name, value.trim()))
}

/// A name as agents have them, with a plugin's prefix or without.
#[must_use]
pub fn valid(value: &str) -> Option<String> {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    let value = value.trim();
    (value.len() <= MAX && value.split(':').count() <= 2 && value.split(':').all(is_part))
        .then(|| bare(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_names_the_agent_and_prose_does_not() {
        for (prompt, agent) in [
            ("Agent: coder\nPhase: 1/3\nDo it", Some("coder")),
            ("agent: coder\nDo it", Some("coder")),
            ("\n\n  AGENT:   Code-Reviewer  \n", Some("code_reviewer")),
            (
                "Phase: 1/3\r\nBatch: single\r\nAgent: coder\r\n\r\nDo it",
                Some("coder"),
            ),
            ("\u{feff}Agent: maestro:coder", Some("coder")),
            ("Agent: coder", Some("coder")),
            ("my agent: coder", None),
            ("Fix the cart.\nAgent: coder", None),
            ("Phase: 1/3\n\nAgent: coder", None),
            ("- Agent: coder", None),
            ("Agent:", None),
            ("Agent: the one who codes", None),
            ("Agent: coder, please", None),
            ("Agent: ../../etc/passwd", None),
            ("Agent: a:b:c", None),
            ("@coder fix it", None),
            ("delegate to coder", None),
            ("hand off to debugger", None),
            ("```\nAgent: coder\n```", None),
            ("https://agent: coder", None),
            ("", None),
        ] {
            assert_eq!(of_header(prompt).as_deref(), agent, "{prompt:?}");
        }
        assert_eq!(of_header(&format!("Agent: {}", "a".repeat(65))), None);
    }

    #[test]
    fn all_spellings_of_an_agent_are_one_name() {
        for name in [
            "code-reviewer",
            "code_reviewer",
            "maestro:code-reviewer",
            "Code-Reviewer",
        ] {
            assert_eq!(bare(name), "code_reviewer");
        }
    }
}
