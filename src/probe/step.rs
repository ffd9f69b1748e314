//! One step of a script: what the scripted model does with one request.
//!
//! | step | the model |
//! | --- | --- |
//! | `text:<words_with_underscores>` | says that and ends the turn (`*` stands for a real underscore, `\n` for a new line) |
//! | `bash`, `bashfail`, `bash429` | runs `echo hi`; a command that exits 3; one that prints a 429 and exits 1 |
//! | `cmd:<words_with_underscores>` | runs that shell command |
//! | `write`, `read`, `readfail` | writes or reads `orders.txt` in the project; reads a file that is not there |
//! | `select`, `todo`, `tododone` | loads the todo tool (Claude Code; skipped elsewhere), sets two todos, completes the first |
//! | `agent`, `agentbg`, `agent429` | delegates: in the foreground, in the background, to a subagent that meets a 429 |
//! | `wait` | waits for subagents (Codex; skipped elsewhere) |
//! | `find:<query>` | searches for tools that the host does not offer from the start (no blanks in it) |
//! | `tool:<end_of_name>=<json>` | calls the offered tool whose name ends so, with that (no blanks in it: `\u0020`) |
//! | `tools:<json>` | calls several in one answer: a list of `{"name": <end of name>, "input": {…}}` |
//! | `badtool` | calls a tool that does not exist |
//! | `hang:<seconds>` | answers after that time |
//! | `http<status>`, `http<status>x<n>` | the service fails with that status, every time or n times |
//!
//! A `!` at the end makes the model report a nearly full context, until a compaction was served.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// A parsed step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// As written in the script.
    pub source: String,
    pub what: What,
    /// Written with a trailing `!`.
    pub big: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    Say(String),
    Shell(String),
    Write,
    Read { missing: bool },
    Select,
    Todo { done: bool },
    Delegate(Delegation),
    Wait,
    Find(String),
    Tool(Call),
    Tools(Vec<Call>),
    BadTool,
    Hang(Duration),
    Http { status: u16, times: Option<u32> },
}

/// A tool, by the end of its name, and what it is called with.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Call {
    pub name: String,
    pub input: Value,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Delegation {
    Foreground,
    Background,
    Limited,
}

/// A word of a script that is no step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownStep(pub String);

impl fmt::Display for UnknownStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no step of a probe script", self.0)
    }
}

impl std::error::Error for UnknownStep {}

const BASHFAIL: &str = "echo out; echo oops >&2; exit 3";
const BASH429: &str =
    "echo 'HTTP/1.1 429 Too Many Requests: rate limit exceeded, retry-after: 30' >&2; exit 1";

impl Step {
    /// A step that only says `words`.
    pub(super) fn say(words: &str) -> Self {
        Self {
            source: format!("text:{}", words.replace(' ', "_")),
            what: What::Say(words.to_owned()),
            big: false,
        }
    }

    pub(super) fn parse(source: &str) -> Result<Self, UnknownStep> {
        let word = source.strip_suffix('!').unwrap_or(source);
        let what = plain(word)
            .or_else(|| with_argument(word))
            .or_else(|| http(word))
            .ok_or_else(|| UnknownStep(source.to_owned()))?;
        Ok(Self {
            source: source.to_owned(),
            what,
            big: word.len() < source.len(),
        })
    }

    /// The steps of a script, separated by blanks.
    pub(super) fn parse_all(script: &str) -> Result<Vec<Self>, UnknownStep> {
        script.split_whitespace().map(Self::parse).collect()
    }
}

fn plain(word: &str) -> Option<What> {
    Some(match word {
        "bash" => What::Shell("echo hi".to_owned()),
        "bashfail" => What::Shell(BASHFAIL.to_owned()),
        "bash429" => What::Shell(BASH429.to_owned()),
        "write" => What::Write,
        "read" => What::Read { missing: false },
        "readfail" => What::Read { missing: true },
        "select" => What::Select,
        "todo" => What::Todo { done: false },
        "tododone" => What::Todo { done: true },
        "agent" => What::Delegate(Delegation::Foreground),
        "agentbg" => What::Delegate(Delegation::Background),
        "agent429" => What::Delegate(Delegation::Limited),
        "wait" => What::Wait,
        "badtool" => What::BadTool,
        _ => return None,
    })
}

fn with_argument(word: &str) -> Option<What> {
    let (verb, argument) = word.split_once(':')?;
    match verb {
        "text" => Some(What::Say(
            argument.replace('_', " ").replace('*', "_").replace("\\n", "\n"),
        )),
        "cmd" => Some(What::Shell(argument.replace('_', " ").replace('*', "_"))),
        "find" => Some(What::Find(argument.to_owned())),
        "tool" => {
            let (name, input) = argument.split_once('=')?;
            let input = serde_json::from_str(input).ok()?;
            let name = name.to_owned();
            Some(What::Tool(Call { name, input }))
        }
        "tools" => serde_json::from_str(argument).ok().map(What::Tools),
        "hang" => Duration::try_from_secs_f64(argument.parse().ok()?)
            .ok()
            .map(What::Hang),
        _ => None,
    }
}

fn http(word: &str) -> Option<What> {
    let rest = word.strip_prefix("http")?;
    let (status, times) = match rest.split_once('x') {
        Some((status, times)) => (status, Some(times.parse().ok()?)),
        None => (rest, None),
    };
    let status = status.parse().ok().filter(|status| (400..600).contains(status))?;
    Some(What::Http { status, times })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_read_as_documented() {
        let cases = [
            ("text:all_done", What::Say("all done".into())),
            ("text:a*b_c", What::Say("a_b c".into())),
            (r"text:#_A\nb", What::Say("# A\nb".into())),
            ("cmd:touch_x", What::Shell("touch x".into())),
            ("find:select:a_b", What::Find("select:a_b".into())),
            (
                r#"tool:log_it={"a_b":"c\u0020d"}"#,
                What::Tool(Call {
                    name: "log_it".into(),
                    input: serde_json::json!({"a_b": "c d"}),
                }),
            ),
            (
                r#"tools:[{"name":"a","input":{}},{"name":"b","input":{"c":1}}]"#,
                What::Tools(vec![
                    Call {
                        name: "a".into(),
                        input: serde_json::json!({}),
                    },
                    Call {
                        name: "b".into(),
                        input: serde_json::json!({"c": 1}),
                    },
                ]),
            ),
            ("hang:0.5", What::Hang(Duration::from_millis(500))),
            (
                "http429",
                What::Http {
                    status: 429,
                    times: None,
                },
            ),
            (
                "http500x2",
                What::Http {
                    status: 500,
                    times: Some(2),
                },
            ),
            ("agentbg", What::Delegate(Delegation::Background)),
        ];
        for (source, what) in cases {
            assert_eq!(Step::parse(source).unwrap().what, what, "{source}");
        }
    }

    #[test]
    fn a_bang_marks_a_nearly_full_context() {
        let step = Step::parse("bash!").unwrap();
        assert!(step.big);
        assert_eq!(step.what, Step::parse("bash").unwrap().what);
    }

    #[test]
    fn what_is_no_step_is_refused() {
        for source in [
            "bsah",
            "http",
            "http200",
            "http429x",
            "hang:-1",
            "hang:soon",
            "text",
            "tool:x",
            "tool:x={",
            "tools:{}",
            "!",
        ] {
            assert_eq!(Step::parse(source), Err(UnknownStep(source.into())));
        }
    }
}
