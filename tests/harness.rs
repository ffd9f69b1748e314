//! A scratch machine for hooks: its own hook root, data directory, HOME and project, and a way to send
//! events through the real executables and to look at what they left.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use bookend::hook::Hook;
use bookend::live::journal;
use bookend::live::key::SessionKey;
use bookend::live::root::HookRoot;
use bookend::live::state::{Entry, State};
use bookend::log::data_dir::{DataDir, Fault};
use bookend::log::id::SessionId;
use bookend::log::open::OpenEntry;
use bookend::log::record::Record;
use bookend::log::view::SessionView;
use serde_json::{Value, json};

/// A scratch machine.
pub struct Lab {
    dir: tempfile::TempDir,
}

/// One hook call in the making.
#[must_use]
pub struct Call<'a> {
    lab: &'a Lab,
    hook: Hook,
    arguments: Vec<String>,
    payload: Vec<u8>,
    env: Vec<(String, String)>,
}

/// What a hook call gave.
#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A word to whoever reads the run.
#[expect(
    clippy::print_stdout,
    reason = "who reads the run is told what it did and left out"
)]
pub fn say(text: &str) {
    println!("{text}");
}

/// The path of a hook executable.
pub fn executable(hook: Hook) -> &'static str {
    match hook {
        Hook::SessionStart => env!("CARGO_BIN_EXE_session-start"),
        Hook::TurnStart => env!("CARGO_BIN_EXE_turn-start"),
        Hook::PreDelegation => env!("CARGO_BIN_EXE_pre-delegation"),
        Hook::PostTool => env!("CARGO_BIN_EXE_post-tool"),
        Hook::Stop => env!("CARGO_BIN_EXE_stop"),
    }
}

/// A captured payload, e.g. `claude-code/Stop`.
pub fn payload(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/payloads")
        .join(format!("{name}.json"));
    serde_json::from_slice(&std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        .unwrap()
}

/// A payload with some fields replaced (`null` removes one).
pub fn with(mut payload: Value, fields: Value) -> Value {
    for (name, value) in fields.as_object().unwrap() {
        if value.is_null() {
            payload.as_object_mut().unwrap().remove(name);
        } else {
            payload[name] = value.clone();
        }
    }
    payload
}

/// The hook that a Claude Code event is registered with.
pub fn hook_of(event: &str) -> Hook {
    match event {
        "SessionStart" => Hook::SessionStart,
        "UserPromptSubmit" | "BeforeAgent" => Hook::TurnStart,
        "PreToolUse" | "SubagentStart" | "BeforeTool" => Hook::PreDelegation,
        "PostToolUse" | "PostToolUseFailure" | "AfterTool" => Hook::PostTool,
        _ => Hook::Stop,
    }
}

impl Lab {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let lab = Self { dir };
        std::fs::create_dir_all(lab.project()).unwrap();
        std::fs::create_dir_all(lab.path("home")).unwrap();
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn hooks_dir(&self) -> PathBuf {
        self.path("hooks")
    }

    pub fn data_dir(&self) -> PathBuf {
        self.path("data")
    }

    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// The environment of every call: nothing of ours but PATH.
    pub fn env(&self) -> Vec<(String, String)> {
        let text = |p: PathBuf| p.to_string_lossy().into_owned();
        vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME".into(), text(self.path("home"))),
            ("MAESTRO_HOOKS_DIR".into(), text(self.hooks_dir())),
            ("BOOKEND_DATA_DIR".into(), text(self.data_dir())),
        ]
    }

    /// A call of a hook as Claude Code registers it.
    pub fn call(&self, hook: Hook, payload: &Value) -> Call<'_> {
        Call {
            lab: self,
            hook,
            arguments: vec!["--host".into(), "claude-code".into()],
            payload: payload.to_string().into_bytes(),
            env: Vec::new(),
        }
    }

    /// Sends a Claude Code event to the hook that it is registered with; the session is `s1`, the turn `p1`,
    /// the project the lab's, unless `fields` says otherwise (`null` removes a field).
    pub fn send(&self, event: &str, fields: Value) -> Answer {
        let project = self.project();
        let base = json!({
            "session_id": "s1", "prompt_id": "p1", "cwd": project, "hook_event_name": event,
            "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl",
        });
        self.call(hook_of(event), &with(base, fields))
            .env("CLAUDE_PROJECT_DIR", &project.to_string_lossy())
            .run()
            .ok()
    }

    /// A prompt in turn `turn`.
    pub fn prompt(&self, turn: &str, text: &str) -> Answer {
        self.send("UserPromptSubmit", json!({"prompt_id": turn, "prompt": text}))
    }

    /// A successful shell command in turn `turn`.
    pub fn shell(&self, turn: &str, call: &str, command: &str) -> Answer {
        self.send(
            "PostToolUse",
            json!({"prompt_id": turn, "tool_name": "Bash", "tool_use_id": call,
                   "tool_input": {"command": command}, "tool_response": {"stdout": "", "stderr": ""}}),
        )
    }

    /// A created file in turn `turn`.
    pub fn write(&self, turn: &str, call: &str, path: &str) -> Answer {
        self.send(
            "PostToolUse",
            json!({"prompt_id": turn, "tool_name": "Write", "tool_use_id": call,
                   "tool_input": {"file_path": path, "content": "x"},
                   "tool_response": {"type": "create", "filePath": path}}),
        )
    }

    /// The stop of turn `turn`.
    pub fn stop(&self, turn: &str, message: &str) -> Answer {
        self.send(
            "Stop",
            json!({"prompt_id": turn, "stop_hook_active": false, "last_assistant_message": message,
                   "background_tasks": []}),
        )
    }

    /// The hook root, if it is there.
    pub fn root(&self) -> Option<HookRoot> {
        HookRoot::existing(&self.hooks_dir()).unwrap()
    }

    /// The folded live state of a session.
    pub fn state(&self, session: &str) -> State {
        let key = SessionKey::of(session).unwrap();
        let dir = self
            .root()
            .expect("a hook root")
            .dir()
            .sub(key.as_str())
            .unwrap()
            .expect("a session directory");
        journal::fold(&dir).unwrap().state
    }

    /// The journal of a session.
    pub fn entries(&self, session: &str) -> Vec<Entry> {
        let key = SessionKey::of(session).unwrap();
        let dir = self
            .root()
            .expect("a hook root")
            .dir()
            .sub(key.as_str())
            .unwrap()
            .expect("a session directory");
        journal::entries(&dir).unwrap()
    }

    pub fn data(&self) -> DataDir {
        DataDir::open(&Ok(self.data_dir())).unwrap()
    }

    /// The log sessions, by id.
    pub fn log_ids(&self) -> Vec<SessionId> {
        let mut ids = self.data().sessions().unwrap();
        ids.sort();
        ids
    }

    /// The log of a host session.
    pub fn log_of(&self, session: &str) -> SessionView {
        let views = self
            .log_ids()
            .into_iter()
            .map(|id| SessionView::read(&self.data(), &id).unwrap().unwrap());
        let mut found = views.filter(|v| v.host_session.as_ref().is_some_and(|h| h.as_str() == session));
        let view = found.next().unwrap_or_else(|| panic!("no log of {session}"));
        assert!(found.next().is_none(), "one log per host session");
        view
    }

    /// The raw records of a log session.
    pub fn records(&self, id: &SessionId) -> Vec<Record> {
        let path = self.data_dir().join("log").join(id.as_str()).join("log.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        text.lines()
            .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}")))
            .collect()
    }

    pub fn open_entries(&self) -> Vec<OpenEntry> {
        self.data().open_entries().unwrap()
    }

    pub fn faults(&self) -> Vec<Fault> {
        self.data().faults()
    }

    /// Runs the command with the lab's environment.
    pub fn bookend(&self, arguments: &[&str]) -> Answer {
        let output = self
            .command(env!("CARGO_BIN_EXE_bookend"))
            .args(arguments)
            .output()
            .unwrap();
        Answer::of(output)
    }

    /// Any program with the lab's environment, in its project.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.env())
            .current_dir(self.project())
            .stdin(Stdio::null());
        command
    }
}

impl Call<'_> {
    pub fn host(mut self, host: &str) -> Self {
        self.arguments = vec!["--host".into(), host.into()];
        self
    }

    pub fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments = arguments.iter().map(|a| (*a).to_owned()).collect();
        self
    }

    pub fn raw(mut self, payload: &[u8]) -> Self {
        self.payload = payload.to_vec();
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The command, for callers that run it in a way of their own.
    pub fn command(&self) -> Command {
        let mut command = self.lab.command(executable(self.hook));
        command.args(&self.arguments).envs(self.env.iter().cloned());
        command
    }

    pub fn run(self) -> Answer {
        let mut command = self.command();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let payload = self.payload;
        let writer = std::thread::spawn(move || stdin.write_all(&payload));
        let output = child.wait_with_output().unwrap();
        // The hook drains what it does not need, so that the host gets no broken pipe.
        writer.join().unwrap().expect("the hook read its stdin");
        Answer::of(output)
    }
}

impl Answer {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Exit 0, nothing on stderr, nothing or one JSON document on stdout.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        if !self.stdout.is_empty() {
            assert!(
                self.stdout.ends_with('\n') && self.stdout.trim().lines().count() == 1,
                "{self:?}"
            );
            self.json();
        }
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The context for the model, or nothing.
    pub fn context(&self) -> String {
        if self.stdout.is_empty() {
            return String::new();
        }
        let context = &self.json()["hookSpecificOutput"]["additionalContext"];
        context.as_str().unwrap_or_default().to_owned()
    }

    /// The notice for the user, or nothing.
    pub fn notice(&self) -> String {
        if self.stdout.is_empty() {
            return String::new();
        }
        self.json()["systemMessage"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}
