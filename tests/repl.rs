//! The log's methods through `bookend repl` and `bookend call`: the second seed's own walk, its rules, and what must
//! never happen (a half-written turn, a lost append, a secret, a wrong session).

mod bad_input;
mod call;
mod conformance;
mod crowd;
mod hooked;
mod merge;
mod place;
mod walk;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Answer, Lab};

/// The session of most tests.
const S: &str = "YourAgent-20260409T120001Z-implement-auth";
/// Their first turn.
const T: &str = "req-20260409T120002Z-add-jwt-001";

/// A running `bookend repl`.
struct Repl {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    asked: usize,
}

impl Repl {
    fn of(lab: &Lab) -> Self {
        let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
        command.arg("repl");
        Self::from(command)
    }

    /// With a session and a turn open.
    fn in_turn(lab: &Lab) -> Self {
        let mut repl = Self::of(lab);
        repl.open(S);
        repl.begin(T);
        repl
    }

    fn from(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            stdin,
            stdout,
            asked: 0,
        }
    }

    /// Sends bytes and a newline.
    fn send(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(&[line, b"\n"].concat()).unwrap();
        stdin.flush().unwrap();
    }

    /// The next answer: one line of JSON.
    #[track_caller]
    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "{line:?}");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    /// The payload of the answer to a line, and its type.
    #[track_caller]
    fn line(&mut self, line: &[u8]) -> (String, Value) {
        self.send(line);
        let mut answer = self.receive();
        let kind = answer["type"].as_str().unwrap().to_owned();
        (kind, answer["payload"].take())
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> (String, Value) {
        self.asked += 1;
        let id = format!("req-20260409T120000Z-ask-{}", self.asked);
        let request = json!({"type": "request", "payload": {"requestId": id, "method": full(method), "params": params}});
        let (kind, payload) = self.line(request.to_string().as_bytes());
        assert_eq!(payload["requestId"], id);
        (kind, payload)
    }

    /// The result of a method.
    #[track_caller]
    fn ok(&mut self, method: &str, params: Value) -> Value {
        let (kind, mut payload) = self.ask(method, params.clone());
        assert_eq!(kind, "result", "{method} {params}: {payload:#}");
        let legacy = full(method).starts_with("workflow.");
        assert_eq!(
            payload.get("deprecated"),
            legacy.then_some(&json!(true)),
            "{method}"
        );
        payload["result"].take()
    }

    /// The error of a method, which says what to do next.
    #[track_caller]
    fn error(&mut self, method: &str, params: Value) -> Value {
        let (kind, payload) = self.ask(method, params.clone());
        assert_eq!(kind, "error", "{method} {params}: {payload:#}");
        assert!(!payload["message"].as_str().unwrap().is_empty());
        assert!(
            !payload["details"]["hint"].as_str().unwrap().is_empty(),
            "{payload:#}"
        );
        payload
    }

    #[track_caller]
    fn open(&mut self, session: &str) -> Value {
        let agent = session.split('-').next().unwrap();
        self.ok(
            "openSession",
            json!({"agent": agent, "sessionId": session, "title": "Implement JWT"}),
        )
    }

    #[track_caller]
    fn begin(&mut self, turn: &str) -> Value {
        self.ok(
            "beginTurn",
            json!({"requestId": turn, "queryTitle": "Add JWT", "queryText": "Implement it"}),
        )
    }

    /// Ends its input; exit 0 and nothing more said.
    #[track_caller]
    fn end(mut self) {
        drop(self.stdin.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.stdout, &mut rest).unwrap();
        let output = self.child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), rest.as_str()), (Some(0), ""));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

/// Names of `workflow.sessionlog` are written short.
fn full(method: &str) -> String {
    if method.contains('.') {
        method.to_owned()
    } else {
        format!("workflow.sessionlog.{method}")
    }
}

/// The answer of `bookend call`, and its exit code.
fn call(lab: &Lab, arguments: &[&str], params: Option<&str>) -> Answer {
    let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
    command.arg("call").args(arguments);
    if params.is_some() {
        command.args(["--params", "-"]);
    }
    Answer::of(with_input(command, params.unwrap_or_default().as_bytes()))
}

fn with_input(mut command: Command, input: &[u8]) -> std::process::Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take().unwrap().write_all(input));
    child.wait_with_output().unwrap()
}

/// A session of the log as `log show --json` prints it.
#[track_caller]
fn shown(lab: &Lab, session: &str) -> Value {
    let answer = lab.bookend(&["log", "show", session, "--json"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    answer.json()
}

/// The bytes of a session's log.
fn log(lab: &Lab, session: &str) -> Vec<u8> {
    std::fs::read(lab.data_dir().join("log").join(session).join("log.jsonl")).unwrap_or_default()
}
