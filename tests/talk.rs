//! A conversation with a host, as its hooks see it: the same few things said in Claude Code's, Codex's and
//! Gemini CLI's words, so that a promise can be held against each of them. And the two things that happen
//! to a host besides: it is killed, and time goes by.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bookend::hook::Hook;
use bookend::hosts::Host;
use bookend::log::view::{SessionView, TurnView};
use serde_json::{Value, json};

use crate::harness::{Answer, Lab, executable, hook_of, with};

/// One session of one host.
#[derive(Clone)]
pub struct Talk<'a> {
    lab: &'a Lab,
    pub host: Host,
    pub session: String,
    env: Vec<(String, String)>,
    project: String,
}

/// Gemini CLI stamps its payloads; two of them are never alike.
static MILLIS: AtomicU64 = AtomicU64::new(1);

impl Lab {
    pub fn talk(&self, host: Host, session: &str) -> Talk<'_> {
        Talk {
            lab: self,
            host,
            session: session.to_owned(),
            env: Vec::new(),
            project: self.project().to_string_lossy().into_owned(),
        }
    }

    pub fn claude(&self, session: &str) -> Talk<'_> {
        self.talk(Host::ClaudeCode, session)
    }

    pub fn codex(&self, session: &str) -> Talk<'_> {
        self.talk(Host::Codex, session)
    }

    pub fn gemini(&self, session: &str) -> Talk<'_> {
        self.talk(Host::GeminiCli, session)
    }

    /// Makes every file in a session's live directory as old as that.
    pub fn age(&self, session: &str, by: Duration) {
        let dir = self.hooks_dir().join(session);
        for entry in std::fs::read_dir(&dir).unwrap() {
            set_mtime(&entry.unwrap().path(), SystemTime::now() - by);
        }
    }

    /// What a reboot leaves: nothing below the temp directory.
    pub fn reboot(&self) {
        std::fs::remove_dir_all(self.hooks_dir()).unwrap();
    }

    pub fn prune_by(&self, session: &str) {
        self.claude(session).delegate("p0", "toolu_prune");
    }

    /// Prunes until that session is gone. Once is not always enough: a hook on a loaded machine leaves it to
    /// the next, and so does one that meets a lock which a parallel test's fork still holds.
    pub fn prune_away(&self, session: &str) {
        for n in 0..40 {
            self.claude(&format!("pruner-{session}-{n}"))
                .delegate("p0", "toolu_prune");
            if !self.is_live(session) {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        panic!("{session} is still there: {:?}", self.faults());
    }

    pub fn is_live(&self, session: &str) -> bool {
        self.hooks_dir().join(session).is_dir()
    }

    /// The raw lines of the log of a host session.
    pub fn log_text(&self, session: &str) -> String {
        let id = self.log_of(session).session_id;
        std::fs::read_to_string(self.data_dir().join("log").join(id.as_str()).join("log.jsonl")).unwrap()
    }

    /// The kinds of the records of a host session, in order.
    pub fn kinds(&self, session: &str) -> Vec<String> {
        let lines: Vec<Value> = self
            .log_text(session)
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        lines
            .iter()
            .map(|l| l["kind"].as_str().unwrap().to_owned())
            .collect()
    }
}

pub fn set_mtime(path: &Path, to: SystemTime) {
    std::fs::File::open(path)
        .and_then(|f| f.set_times(std::fs::FileTimes::new().set_modified(to)))
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// How a turn stands: its status, why it failed, whether that is only presumed.
pub fn stands(turn: &TurnView) -> (&str, &str, bool) {
    let code = turn.failure.as_ref().map_or("", |f| f.code.as_str());
    (turn.status, code, turn.presumed)
}

/// How every turn of a log stands.
pub fn all(log: &SessionView) -> Vec<(&str, &str, bool)> {
    log.turns.iter().map(stands).collect()
}

pub const OPEN: (&str, &str, bool) = ("in_progress", "", false);
pub const DONE: (&str, &str, bool) = ("completed", "", false);

pub fn presumed(code: &str) -> (&str, &str, bool) {
    ("failed", code, true)
}

impl Talk<'_> {
    /// The same session, its hooks run with one more variable.
    pub fn env(&self, name: &str, value: &str) -> Self {
        let mut talk = self.clone();
        talk.env.push((name.to_owned(), value.to_owned()));
        talk
    }

    /// The same session, run by that process (Claude Code names it; the others are looked up).
    pub fn run_by(&self, process: &Process) -> Self {
        self.env("CLAUDE_PID", &process.0.id().to_string())
    }

    /// The same session in another project.
    pub fn project(&self, path: &str) -> Self {
        let path = self.lab.path(path);
        std::fs::create_dir_all(&path).unwrap();
        let mut talk = self.clone();
        talk.project = path.to_string_lossy().into_owned();
        talk
    }

    fn payload(&self, event: &str, fields: Value) -> Value {
        let id = &self.session;
        let own = match self.host {
            Host::ClaudeCode => {
                json!({"transcript_path": format!("/home/dev/.claude/projects/p/{id}.jsonl")})
            }
            Host::Codex => {
                let path =
                    format!("/home/dev/.codex/sessions/2026/11/30/rollout-2026-11-30T04-09-43-{id}.jsonl");
                json!({"transcript_path": path, "model": "gpt-5.5", "permission_mode": "default"})
            }
            Host::GeminiCli => {
                let now = MILLIS.fetch_add(1, Ordering::Relaxed);
                let at = format!(
                    "2026-11-30T04:{:02}:{:02}.{:03}Z",
                    now / 60_000 % 60,
                    now / 1000 % 60,
                    now % 1000
                );
                json!({"transcript_path": "/home/dev/.gemini/tmp/p/chats/session-2026-11-30T04-06-x.jsonl", "timestamp": at})
            }
        };
        let base = json!({"session_id": id, "cwd": self.project, "hook_event_name": event});
        with(with(base, own), fields)
    }

    /// Any event, to the hook that it is registered with.
    pub fn says(&self, event: &str, fields: Value) -> Answer {
        self.raw(hook_of(event), self.payload(event, fields).to_string().as_bytes())
    }

    /// Those bytes, to that hook.
    pub fn raw(&self, hook: Hook, bytes: &[u8]) -> Answer {
        let mut call = self.lab.call(hook, &Value::Null).host(self.host.id()).raw(bytes);
        match self.host {
            Host::ClaudeCode => call = call.env("CLAUDE_PROJECT_DIR", &self.project),
            Host::GeminiCli => call = call.env("GEMINI_PROJECT_DIR", &self.project),
            Host::Codex => {}
        }
        for (name, value) in &self.env {
            call = call.env(name, value);
        }
        call.run().ok()
    }

    /// The payload of an event as bytes, to be sent more than once.
    pub fn bytes(&self, event: &str, fields: Value) -> Vec<u8> {
        self.payload(event, fields).to_string().into_bytes()
    }

    fn turn(&self, id: &str, fields: Value) -> Value {
        let turn = match self.host {
            Host::ClaudeCode => json!({"prompt_id": id}),
            Host::Codex => json!({"turn_id": id}),
            Host::GeminiCli => json!({}),
        };
        with(turn, fields)
    }

    pub fn start(&self, source: &str) -> Answer {
        self.says("SessionStart", json!({"source": source}))
    }

    pub fn prompt(&self, turn: &str, text: &str) -> Answer {
        let event = if self.host == Host::GeminiCli {
            "BeforeAgent"
        } else {
            "UserPromptSubmit"
        };
        self.says(event, self.turn(turn, json!({"prompt": text})))
    }

    pub fn stop(&self, turn: &str, message: &str) -> Answer {
        if self.host == Host::GeminiCli {
            return self.says(
                "AfterAgent",
                json!({"prompt": "x", "prompt_response": message, "stop_hook_active": false}),
            );
        }
        let fields = json!({"stop_hook_active": false, "last_assistant_message": message});
        self.says("Stop", self.turn(turn, fields))
    }

    /// A stop while that many subagents go on in the background (only Claude Code says so).
    pub fn stop_with(&self, turn: &str, background: usize) -> Answer {
        let tasks = vec![json!({"id": "a", "type": "subagent", "status": "running"}); background];
        let fields = json!({"stop_hook_active": false, "last_assistant_message": "Waiting", "background_tasks": tasks});
        self.says("Stop", self.turn(turn, fields))
    }

    pub fn end(&self, reason: &str) -> Answer {
        self.says("SessionEnd", json!({"reason": reason}))
    }

    /// A tool that went well; `input` and `response` in the host's own words.
    pub fn tool(&self, turn: &str, call: &str, name: &str, input: Value, response: Value) -> Answer {
        let event = if self.host == Host::GeminiCli {
            "AfterTool"
        } else {
            "PostToolUse"
        };
        let id = if self.host == Host::GeminiCli {
            json!({})
        } else {
            json!({"tool_use_id": call})
        };
        let fields = json!({"tool_name": name, "tool_input": input, "tool_response": response});
        self.says(event, self.turn(turn, with(fields, id)))
    }

    /// A new file.
    pub fn create(&self, turn: &str, call: &str, path: &str) -> Answer {
        match self.host {
            Host::ClaudeCode => self.tool(
                turn,
                call,
                "Write",
                json!({"file_path": path, "content": "x"}),
                json!({"type": "create", "filePath": path}),
            ),
            Host::Codex => self.tool(
                turn,
                call,
                "apply_patch",
                json!({"command": format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n")}),
                json!("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n"),
            ),
            Host::GeminiCli => self.tool(
                turn,
                call,
                "write_file",
                json!({"file_path": path, "content": "x"}),
                json!({"llmContent": "ok", "returnDisplay": {"filePath": path, "isNewFile": true}}),
            ),
        }
    }

    /// A shell command that went well.
    pub fn shell(&self, turn: &str, call: &str, command: &str) -> Answer {
        let (name, response) = match self.host {
            Host::ClaudeCode => ("Bash", json!({"stdout": "", "stderr": "", "interrupted": false})),
            Host::Codex => ("Bash", json!("")),
            Host::GeminiCli => (
                "run_shell_command",
                json!({"llmContent": "Output: (empty)", "returnDisplay": ""}),
            ),
        };
        self.tool(turn, call, name, json!({"command": command}), response)
    }

    /// A tool that failed, as Claude Code says it.
    pub fn fails(&self, turn: &str, call: &str, name: &str, input: Value, error: &str) -> Answer {
        let fields = json!({"tool_name": name, "tool_input": input, "tool_use_id": call, "error": error, "is_interrupt": false});
        self.says("PostToolUseFailure", self.turn(turn, fields))
    }

    /// The model failed, as Claude Code says it.
    pub fn model_fails(&self, turn: &str, kind: &str, text: &str) -> Answer {
        self.says(
            "StopFailure",
            self.turn(turn, json!({"error": kind, "last_assistant_message": text})),
        )
    }

    /// The model asks for a subagent.
    pub fn delegate(&self, turn: &str, call: &str) -> Answer {
        match self.host {
            Host::GeminiCli => self.says(
                "BeforeTool",
                json!({"tool_name": "invoke_agent", "tool_input": {"agent_name": "helper", "prompt": "Look"}}),
            ),
            _ => {
                let name = if self.host == Host::Codex { "spawn_agent" } else { "Agent" };
                let fields = json!({"tool_name": name, "tool_use_id": call,
                    "tool_input": {"prompt": "Look", "message": "Look", "subagent_type": "general-purpose"}});
                self.says("PreToolUse", self.turn(turn, fields))
            }
        }
    }

    pub fn agent_starts(&self, turn: &str, id: &str, kind: &str) -> Answer {
        self.says(
            "SubagentStart",
            self.turn(turn, json!({"agent_id": id, "agent_type": kind})),
        )
    }

    pub fn agent_stops(&self, turn: &str, id: &str, kind: &str) -> Answer {
        let fields = json!({"agent_id": id, "agent_type": kind, "stop_hook_active": false, "last_assistant_message": "Found."});
        self.says("SubagentStop", self.turn(turn, fields))
    }
}

/// A process that stands for a host.
pub struct Process(Child);

impl Process {
    pub fn begin() -> Self {
        let child = Command::new("sleep")
            .arg("1000")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// As a crash or `kill -9` ends it.
    pub fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Copies a program by another process: a file that this one has open for writing cannot be run while a
/// child of another test, forked at that moment, still holds it ("text file busy").
pub fn copy_program(from: &str, to: &Path) {
    let copied = Command::new("cp").args([Path::new(from), to]).status().unwrap();
    assert!(copied.success());
}

/// Sends events through a program of that name, which is gone afterwards: for hosts that name no process,
/// whose nearest ancestor that is no shell is looked up.
pub fn through_a_host_that_dies(lab: &Lab, name: &str, events: &[(Hook, Vec<u8>)]) {
    let program = lab.path(name);
    copy_program("/bin/sh", &program);
    let mut script = String::new();
    for (i, (hook, bytes)) in events.iter().enumerate() {
        let file = lab.path(&format!("payload-{i}"));
        std::fs::write(&file, bytes).unwrap();
        script.push_str(&format!(
            "'{}' --host {name} < '{}'\n",
            executable(*hook),
            file.display()
        ));
    }
    script.push_str(":\n");
    let output = lab
        .command(program.to_str().unwrap())
        .args(["-c", &script])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}
