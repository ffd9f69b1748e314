//! `bookend mcp` from outside: JSON-RPC as any client sends it (`protocol`), what the tools do (`tools`), in which
//! session and project (`place`), what subagents handed over (`handoffs`), and a real client, the official Python SDK (`sdk`).

mod handoffs;
mod place;
mod protocol;
mod sdk;
mod tools;

use std::io::{BufRead, BufReader, Read as _, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::harness::Lab;

/// The session and the turn of most tests.
const S: &str = "YourAgent-20260409T120001Z-implement-auth";
const T: &str = "req-20260409T120002Z-add-jwt-001";

/// The command, on that machine.
fn command(lab: &Lab) -> Command {
    let mut command = lab.command(env!("CARGO_BIN_EXE_bookend"));
    command.arg("mcp");
    command
}

/// A running server, and a client that says line for line what it is told.
struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    /// One with which a client has agreed on a protocol.
    fn of(lab: &Lab) -> Self {
        Self::agreed(command(lab), json!({}))
    }

    fn agreed(command: Command, capabilities: Value) -> Self {
        let mut server = Self::new(command);
        server.ask("initialize", initialize("2025-06-18", capabilities));
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn new(mut command: Command) -> Self {
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

    fn raw(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(&[line, b"\n"].concat()).unwrap();
        stdin.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.raw(message.to_string().as_bytes());
    }

    /// The next message: one line of JSON, and nothing else is ever on stdout.
    #[track_caller]
    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "{line:?}");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    /// Sends a request; its id.
    fn request(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}));
        self.asked
    }

    /// The answer to a request.
    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer:#}");
        answer
    }

    /// The result of a tool's call, as content and as structure.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        assert!(result.is_object(), "{tool}: {answer:#}");
        result.clone()
    }

    /// What a tool answers when it did what it was asked.
    #[track_caller]
    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result:#}");
        told(&result)
    }

    /// Why a tool did not do what it was asked, which says what to do next.
    #[track_caller]
    fn error(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result:#}");
        let error = told(&result);
        for text in [&error["code"], &error["message"], &error["details"]["hint"]] {
            assert!(text.as_str().is_some_and(|t| !t.is_empty()), "{error:#}");
        }
        error
    }

    /// Closes stdin. What still comes, and how it ended.
    fn end(mut self) -> (Vec<Value>, ExitStatus) {
        self.stdin.take();
        let mut rest = Vec::new();
        for line in self.stdout.by_ref().lines() {
            rest.push(serde_json::from_str(&line.unwrap()).unwrap());
        }
        (rest, self.child.wait().unwrap())
    }

    #[track_caller]
    fn ends_well(self) {
        let (rest, status) = self.end();
        assert_eq!((rest, status.code()), (Vec::new(), Some(0)));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn initialize(version: &str, capabilities: Value) -> Value {
    json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"}})
}

/// The structure of a result; its text says the same.
#[track_caller]
fn told(result: &Value) -> Value {
    let [block] = result["content"].as_array().unwrap().as_slice() else {
        panic!("one block: {result:#}")
    };
    let text: Value = serde_json::from_str(block["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    text
}

/// The seed's own session, as far as its turn.
fn in_turn(server: &mut Server) {
    server.ok("sessionlog_bootstrap", json!({}));
    let open = json!({"agent": "YourAgent", "sessionId": S, "title": "Implement JWT authentication", "model": "m-1"});
    assert_eq!(server.ok("sessionlog_open", open)["sessionId"], S);
    let begin = json!({"requestId": T, "queryTitle": "Add JWT authentication", "queryText": "Implement JWT"});
    assert_eq!(server.ok("sessionlog_begin_turn", begin)["status"], "in_progress");
}
