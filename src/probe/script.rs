//! Which step answers which request, and what the model does for it.
//!
//! The main conversation has a position in the script, so a blocked stop, a retry or a background notification goes on
//! with the next step; past the end the model says "nothing left to do". A subagent is told apart by a line
//! `[bookend-sub STEPS]` in its prompt and carries its own steps there. A request without tools is none of the
//! conversation (a title, a topic) and gets a fixed answer; a compaction request gets a summary.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::act::{SUB_MARK, Scene};
use super::request::Kind;
use super::step::{Step, UnknownStep, What};
use super::turn::{Action, SELECT, Turn, WAIT};

const SUMMARY: &str =
    "<analysis>short</analysis><summary>The user asked for a price column. It is in place.</summary>";

/// A model's turns, and how far they have come.
#[derive(Debug)]
pub struct Script {
    steps: Vec<Step>,
    sub: String,
    project: PathBuf,
    position: usize,
    failures: u32,
    compacted: bool,
    big_tokens: u64,
    retry_after: Option<u64>,
}

/// The answer to one request, before it is put into a wire format.
#[derive(Debug)]
pub(super) struct Planned {
    pub kind: Kind,
    pub step: String,
    pub delay: Duration,
    pub action: Action,
    /// Input tokens that the model claims to have read.
    pub tokens: u64,
    /// Seconds for the `retry-after` header of a 429.
    pub retry_after: Option<u64>,
}

impl Script {
    /// The steps that `step.rs` lists, separated by blanks; `project` is the folder of the `write` and `read` steps.
    ///
    /// # Errors
    /// The first word that is no step.
    pub fn new(steps: &str, project: &Path) -> Result<Self, UnknownStep> {
        Ok(Self {
            steps: Step::parse_all(steps)?,
            sub: "bash text:sub_done".to_owned(),
            project: project.to_owned(),
            position: 0,
            failures: 0,
            compacted: false,
            big_tokens: 120_000,
            retry_after: Some(1),
        })
    }

    /// What a subagent does (`bash text:sub_done`).
    ///
    /// # Errors
    /// The first word that is no step.
    pub fn subagent(mut self, steps: &str) -> Result<Self, UnknownStep> {
        Step::parse_all(steps)?;
        steps.clone_into(&mut self.sub);
        Ok(self)
    }

    /// Input tokens that a step with a trailing `!` reports (120,000).
    #[must_use]
    pub fn big_tokens(mut self, tokens: u64) -> Self {
        self.big_tokens = tokens;
        self
    }

    /// Seconds in the `retry-after` header of a 429 (1), or no such header: then some hosts try for a minute.
    #[must_use]
    pub fn retry_after(mut self, seconds: Option<u64>) -> Self {
        self.retry_after = seconds;
        self
    }

    /// Answers a request and moves on.
    pub(super) fn plan(&mut self, turn: &Turn) -> Planned {
        let (kind, step) = self.next(turn);
        let big = step.big && !self.compacted;
        let delay = if let What::Hang(time) = step.what {
            time
        } else {
            Duration::ZERO
        };
        Planned {
            kind,
            delay,
            action: Scene {
                project: &self.project,
                sub: &self.sub,
            }
            .action(&step.what, turn),
            step: step.source,
            tokens: if big { self.big_tokens } else { 100 },
            retry_after: self.retry_after,
        }
    }

    fn next(&mut self, turn: &Turn) -> (Kind, Step) {
        if turn.compaction {
            self.compacted = true;
            return (
                Kind::Compaction,
                Step {
                    source: "summary".to_owned(),
                    ..Step::say(SUMMARY)
                },
            );
        }
        if turn.tools.is_empty() {
            return (Kind::Aux, Step::say("Orders page"));
        }
        if let Some(step) = sub_step(turn) {
            return (Kind::Sub, step);
        }
        (Kind::Main, self.main_step(turn))
    }

    fn main_step(&mut self, turn: &Turn) -> Step {
        while self
            .steps
            .get(self.position)
            .is_some_and(|step| not_for(&step.what, turn))
        {
            self.position += 1;
        }
        let Some(step) = self.steps.get(self.position) else {
            return Step::say("nothing left to do");
        };
        match step.what {
            What::Http { times: None, .. } => {}
            What::Http {
                times: Some(times), ..
            } if self.failures + 1 < times => self.failures += 1,
            _ => {
                self.position += 1;
                self.failures = 0;
            }
        }
        step.clone()
    }
}

/// A step for which this host has no tool is passed over.
fn not_for(what: &What, turn: &Turn) -> bool {
    match what {
        What::Wait => !turn.offers(WAIT),
        What::Select => !turn.offers(SELECT),
        _ => false,
    }
}

/// The step of the subagent whose prompt carries a marker line; none in the main conversation.
fn sub_step(turn: &Turn) -> Option<Step> {
    let mark = |line: &str| Some(line.trim().strip_prefix(SUB_MARK)?.strip_suffix(']')?.to_owned());
    let (before, steps) = turn
        .users
        .iter()
        .rev()
        .find_map(|(before, text)| Some((*before, text.lines().rev().find_map(mark)?)))?;
    let step = steps
        .split_whitespace()
        .nth(turn.model_turns.saturating_sub(before));
    Some(step.map_or_else(
        || Step::say("sub done"),
        |word| Step::parse(word).unwrap_or_else(|unknown| Step::say(&unknown.to_string())),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(tools: &[&str]) -> Turn {
        let mut turn = Turn::default();
        for name in tools {
            turn.tool(name, None, None, "function");
        }
        turn
    }

    fn script(steps: &str) -> Script {
        Script::new(steps, Path::new("/p")).unwrap()
    }

    fn sources(script: &mut Script, turn: &Turn, n: usize) -> Vec<String> {
        (0..n).map(|_| script.plan(turn).step).collect()
    }

    #[test]
    fn the_main_conversation_walks_the_script_and_passes_over_what_the_host_lacks() {
        let steps = sources(&mut script("select bash wait text:a"), &turn(&["Bash"]), 3);
        assert_eq!(steps, ["bash", "text:a", "text:nothing_left_to_do"]);
    }

    #[test]
    fn an_error_stays_or_is_overcome_after_its_count() {
        assert_eq!(
            sources(&mut script("http429 bash"), &turn(&["Bash"]), 3),
            ["http429", "http429", "http429"]
        );
        assert_eq!(
            sources(&mut script("http429x2 bash"), &turn(&["Bash"]), 3),
            ["http429x2", "http429x2", "bash"]
        );
    }

    #[test]
    fn a_subagent_follows_its_own_steps_and_leaves_the_main_script_alone() {
        let mut script = script("bash text:a");
        let mut sub = turn(&["Bash"]);
        sub.user(format!("Do it.\n{SUB_MARK}read text:b]"));
        assert_eq!(script.plan(&sub).step, "read");
        sub.model_turns += 1;
        let second = script.plan(&sub);
        assert_eq!((second.kind, second.step.as_str()), (Kind::Sub, "text:b"));
        assert_eq!(script.plan(&turn(&["Bash"])).step, "bash");
    }

    #[test]
    fn big_tokens_end_with_the_compaction() {
        let mut script = script("bash! bash! bash!");
        assert_eq!(script.plan(&turn(&["Bash"])).tokens, 120_000);
        let summary = script.plan(&Turn {
            compaction: true,
            ..Turn::default()
        });
        assert_eq!(summary.kind, Kind::Compaction);
        assert_eq!(script.plan(&turn(&["Bash"])).tokens, 100);
    }

    #[test]
    fn a_request_without_tools_is_not_the_conversation() {
        let mut script = script("bash");
        assert_eq!(script.plan(&Turn::default()).kind, Kind::Aux);
        assert_eq!(script.plan(&turn(&["Bash"])).step, "bash");
    }
}
