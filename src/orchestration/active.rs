//! What a hook may say of the active session: two values of its front matter and the names of its agents.
//!
//! A reader of its own, without the YAML library, so that it costs a hook nothing: YAML as people, models and
//! tools write it, and JSON. Keys count only at their level: a `status:` in the task's text, in a phase or in
//! a block of text is none. It changes nothing and refuses nothing; what it does not find is absent.

use serde::Deserialize;

/// Longest value that is shown, in characters.
const MAX_VALUE: usize = 100;
/// Most agents that are named.
const MAX_AGENTS: usize = 200;

/// What is known of the active session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Active {
    /// Its id.
    pub session_id: Option<String>,
    /// The id of the current phase, as text.
    pub current_phase: Option<String>,
    /// Where the session stands.
    pub status: Option<String>,
    /// The agents of all phases, each once, as they are written.
    pub agents: Vec<String>,
}

impl Active {
    /// Reads the text of `active-session.md`; `None` when it has no front matter.
    #[must_use]
    pub fn read(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        let text = text.trim_start_matches('\u{feff}');
        let mut lines = text.lines().map(str::trim_end);
        if lines.next() != Some("---") {
            return None;
        }
        let front: Vec<&str> = lines.by_ref().take_while(|line| *line != "---").collect();
        let whole = front.join("\n");
        if whole.trim_start().starts_with('{') {
            return json(&whole);
        }
        Some(yaml(&front))
    }

    fn add(&mut self, agent: &str) {
        let new = !agent.is_empty() && !self.agents.iter().any(|known| known == agent);
        if new && self.agents.len() < MAX_AGENTS {
            self.agents.push(agent.to_owned());
        }
    }
}

fn json(text: &str) -> Option<Active> {
    #[derive(Deserialize)]
    struct Front {
        #[serde(default)]
        session_id: serde_json::Value,
        #[serde(default)]
        current_phase: serde_json::Value,
        #[serde(default)]
        status: serde_json::Value,
        #[serde(default)]
        phases: Vec<Phase>,
    }
    #[derive(Deserialize)]
    struct Phase {
        #[serde(default)]
        agents: Vec<String>,
    }
    let front: Front = serde_json::from_str(text).ok()?;
    let mut active = Active {
        session_id: front.session_id.as_str().and_then(value),
        current_phase: front
            .current_phase
            .as_str()
            .map_or_else(|| front.current_phase.as_u64().map(|n| n.to_string()), value),
        status: front.status.as_str().and_then(value),
        agents: Vec::new(),
    };
    for phase in &front.phases {
        phase.agents.iter().for_each(|agent| active.add(agent));
    }
    Some(active)
}

/// Where the lines of the phases are.
#[derive(Clone, Copy)]
enum At {
    /// Not in the phases.
    Outside,
    /// In the phases, whose keys begin in that column (unknown before the first).
    Phases(Option<usize>),
    /// In a phase's list of agents, one a line.
    Agents(usize),
}

fn yaml(lines: &[&str]) -> Active {
    let mut active = Active::default();
    let mut at = At::Outside;
    for line in lines {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let rest = line.trim_start_matches(' ');
        if rest.is_empty() || rest.starts_with('#') {
            continue;
        }
        if blanks == 0 && !rest.starts_with("- ") && rest != "-" {
            at = At::Outside;
            match key(rest) {
                Some(("session_id", text)) => active.session_id = scalar(text),
                Some(("current_phase", text)) => active.current_phase = scalar(text),
                Some(("status", text)) => active.status = scalar(text),
                Some(("phases", "")) => at = At::Phases(None),
                _ => {}
            }
            continue;
        }
        at = inside(at, blanks, rest, &mut active);
    }
    active
}

/// A line below `phases:`.
fn inside(at: At, blanks: usize, rest: &str, active: &mut Active) -> At {
    let column = match at {
        At::Outside => return at,
        At::Phases(column) => column,
        At::Agents(column) => {
            if let Some(item) = rest.strip_prefix('-').filter(|_| blanks >= column) {
                scalar(item).iter().for_each(|agent| active.add(agent));
                return at;
            }
            Some(column)
        }
    };
    // A phase begins: its first key stands behind the dash, the others below that one.
    let (begins, rest) = match rest.strip_prefix('-') {
        Some(item) if column.is_none_or(|c| blanks < c) => {
            let item_rest = item.trim_start_matches(' ');
            (Some(blanks + rest.len() - item_rest.len()), item_rest)
        }
        _ => (None, rest),
    };
    let column = begins.or(column);
    if begins.is_none() && column != Some(blanks) {
        return At::Phases(column);
    }
    match (key(rest), column) {
        (Some(("agents", "")), Some(column)) => At::Agents(column),
        (Some(("agents", list)), _) => {
            let inner = list.trim().strip_prefix('[').and_then(|l| l.split(']').next());
            match inner {
                Some(inner) => inner.split(',').filter_map(scalar).for_each(|a| active.add(&a)),
                None => scalar(list).iter().for_each(|a| active.add(a)),
            }
            At::Phases(column)
        }
        _ => At::Phases(column),
    }
}

/// The key of a line and what stands behind it, without a comment that is all of it.
fn key(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let key = key.trim().trim_matches(['"', '\'']);
    if !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim();
    Some((key, if rest.starts_with('#') { "" } else { rest }))
}

/// A scalar without its quotes and comment.
fn scalar(text: &str) -> Option<String> {
    let text = text.trim();
    let quoted = |quote: char| text.strip_prefix(quote).and_then(|t| t.split(quote).next());
    let bare = || text.split(" #").next().unwrap_or_default();
    value(quoted('"').or_else(|| quoted('\'')).unwrap_or_else(bare))
}

/// A value that is one: short, on one line, and neither null nor the beginning of something longer.
fn value(text: &str) -> Option<String> {
    let text = text.trim();
    let is_one = !matches!(text, "" | "null" | "~" | "|" | ">" | "|-" | ">-")
        && text.chars().count() <= MAX_VALUE
        && !text.starts_with(['#', '{', '[', '&', '*'])
        && !text.contains(char::is_control);
    is_one.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(front: &str) -> Active {
        Active::read(format!("---\n{front}\n---\nstatus: body\n").as_bytes()).unwrap()
    }

    #[test]
    fn only_keys_of_the_top_level_count() {
        for (front, phase, status) in [
            (
                "current_phase: 2\nstatus: in_progress",
                Some("2"),
                Some("in_progress"),
            ),
            (
                "status: \"in_progress\" # now\ncurrent_phase: 'design'",
                Some("design"),
                Some("in_progress"),
            ),
            (
                "task: \"the status: broken\"\nphases:\n  - id: 1\n    status: pending",
                None,
                None,
            ),
            (
                "task: |\n  status: no\n  current_phase: 9\nstatus: completed",
                None,
                Some("completed"),
            ),
            (
                "phases:\n- id: 1\n  status: pending\nstatus: failed",
                None,
                Some("failed"),
            ),
            ("current_phase:\nstatus:", None, None),
            ("current_phase: null\nstatus: ~", None, None),
            ("\"status\": ok\nmy status: no\nstatus:no", None, Some("ok")),
            (
                "{\"status\": \"ok\", \"current_phase\": 3, \"task\": {\"status\": \"no\"}}",
                Some("3"),
                Some("ok"),
            ),
            (
                "{\"a\": {\"status\": \"no\"}, \"current_phase\": \"x\"}",
                Some("x"),
                None,
            ),
            ("status: [a\n", None, None),
        ] {
            let found = read(front);
            assert_eq!(
                (found.current_phase.as_deref(), found.status.as_deref()),
                (phase, status),
                "{front}"
            );
        }
    }

    #[test]
    fn the_agents_of_the_phases_and_no_others() {
        let wanted = ["coder", "tester"];
        for front in [
            "phases:\n  - id: 1\n    agents: [\"coder\", tester]",
            "phases:\n  - id: 1\n    agents:\n      - coder\n      - \"tester\" # last\n    parallel: false",
            "phases:\n- id: 1\n  agents:\n  - coder\n- id: 2\n  agents: [tester, coder]",
            "agents: [x]\nphases:\n  - agents: [coder]\n    more:\n      agents: [y]\n  - id: 2\n    note: |\n      agents: [z]\n    agents: tester",
            "{\"agents\": [\"x\"], \"phases\": [{\"agents\": [\"coder\", \"tester\"], \"more\": {\"agents\": [\"y\"]}}]}",
        ] {
            assert_eq!(read(front).agents, wanted, "{front}");
        }
    }

    #[test]
    fn line_ends_and_marks_make_no_difference_and_what_has_no_front_matter_is_none() {
        let plain = "---\nstatus: ok\ncurrent_phase: 1\n---\nbody";
        let wanted = Active::read(plain.as_bytes());
        assert!(wanted.is_some());
        for text in [
            plain.replace('\n', "\r\n"),
            format!("\u{feff}{plain}"),
            plain.replace("---", "--- "),
        ] {
            assert_eq!(Active::read(text.as_bytes()), wanted, "{text:?}");
        }
        for text in ["", "status: ok", "# x\n---\nstatus: ok\n---\n", "---\n{\n---\n"] {
            assert_eq!(Active::read(text.as_bytes()), None, "{text:?}");
        }
        assert!(Active::read(b"---\nstatus: \xff\n---\n").is_some());
    }
}
