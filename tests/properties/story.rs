//! Stories: what may happen to a session, said in a host's own words to the real hooks' code, in this process
//! and on real files.

use bookend::clock::Stopwatch;
use bookend::config::{Config, LogPrompts, Resume};
use bookend::dispatch::{self, Stores, settle};
use bookend::frame::{self, Arguments, payload::parse};
use bookend::hosts::Host;
use bookend::live::state::State;
use bookend::log::view::SessionView;
use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;
use serde_json::Value;

use crate::harness::{Lab, hook_of};

/// The session of every story.
pub const SESSION: &str = "s1";

/// One thing that happens. A turn's number stands for the host's id of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A prompt by the user, one of few texts, so that some come again.
    Prompt { turn: Option<u8>, text: u8 },
    /// A prompt by the host itself.
    HostPrompt { turn: Option<u8> },
    /// A tool call that changed a file, or failed, perhaps in a subagent.
    Tool {
        turn: Option<u8>,
        call: u8,
        agent: bool,
        fails: bool,
    },
    /// The turn stops; a message of 0 is none.
    Stop { turn: Option<u8>, message: u8 },
    /// The model fails.
    Fail { turn: Option<u8> },
    /// The user interrupts.
    Interrupt { turn: Option<u8> },
    /// A subagent starts or stops.
    Agent { turn: Option<u8>, stops: bool },
    /// The context is compacted.
    Compact,
    /// The session starts, for that reason.
    Start { source: &'static str },
    /// The session ends.
    End,
    /// The last payload comes a second time, the same bytes.
    Again,
    /// Somebody else finds the host gone and presumes the turn's end.
    Settle,
    /// The machine is started anew: the live state is gone.
    Reboot,
    /// A writer was killed in the middle of a line, which nobody acknowledged.
    Torn,
    /// So many seconds go by, or the clock jumps back.
    Wait { seconds: i16 },
}

fn turn() -> impl Strategy<Value = Option<u8>> {
    prop_oneof![8 => (0..7_u8).prop_map(Some), 1 => Just(None)]
}

fn step() -> impl Strategy<Value = Step> {
    let tool = (turn(), 0..12_u8, any::<bool>(), any::<bool>());
    prop_oneof![
        8 => (turn(), 0..4_u8).prop_map(|(turn, text)| Step::Prompt { turn, text }),
        2 => turn().prop_map(|turn| Step::HostPrompt { turn }),
        8 => tool.prop_map(|(turn, call, agent, fails)| Step::Tool { turn, call, agent, fails }),
        5 => (turn(), 0..3_u8).prop_map(|(turn, message)| Step::Stop { turn, message }),
        2 => turn().prop_map(|turn| Step::Fail { turn }),
        2 => turn().prop_map(|turn| Step::Interrupt { turn }),
        2 => (turn(), any::<bool>()).prop_map(|(turn, stops)| Step::Agent { turn, stops }),
        1 => Just(Step::Compact),
        2 => prop::sample::select(vec!["startup", "resume", "clear", "compact", "fork"])
            .prop_map(|source| Step::Start { source }),
        1 => Just(Step::End),
        3 => Just(Step::Again),
        2 => Just(Step::Settle),
        1 => Just(Step::Reboot),
        1 => Just(Step::Torn),
        2 => (-200..400_i16).prop_map(|seconds| Step::Wait { seconds }),
    ]
}

/// A host and what happens to one of its sessions.
pub fn story(length: usize) -> impl Strategy<Value = (Host, Vec<Step>)> {
    let host = prop_oneof![3 => Just(Host::ClaudeCode), 2 => Just(Host::Codex), 1 => Just(Host::GeminiCli)];
    (host, prop::collection::vec(step(), 1..length))
}

/// A machine on which a story happens.
pub struct Machine {
    pub lab: Lab,
    pub host: Host,
    config: Config,
    now: DateTime<Utc>,
    pub steps: u32,
    last: Option<Value>,
}

impl Machine {
    pub fn new(host: Host) -> Self {
        let lab = Lab::new();
        let config = Config {
            home: None,
            hook_root: Ok(lab.hooks_dir()),
            data_dir: Ok(lab.data_dir()),
            resume: Resume::Always,
            resume_days: 3,
            log_prompts: LogPrompts::Full,
            log_days: 0,
            disabled: false,
            state_dir: None,
            strictness: bookend::config::Strictness::Normal,
            current_agent: None,
        };
        let now = DateTime::parse_from_rfc3339("2026-11-30T06:13:37Z")
            .unwrap()
            .to_utc();
        Self {
            lab,
            host,
            config,
            now,
            steps: 0,
            last: None,
        }
    }

    /// The time of the next event; no two are alike.
    pub fn now(&self) -> DateTime<Utc> {
        self.now + TimeDelta::milliseconds(i64::from(self.steps))
    }

    pub fn wait(&mut self, seconds: i16) {
        self.now += TimeDelta::seconds(i64::from(seconds));
    }

    pub fn state(&self) -> Option<State> {
        let is_there = self.lab.hooks_dir().join(SESSION).is_dir();
        is_there.then(|| self.lab.state(SESSION))
    }

    pub fn view(&self) -> Option<SessionView> {
        let view = SessionView::read(&self.lab.data(), self.lab.log_ids().first()?).unwrap();
        assert!(self.lab.log_ids().len() <= 1, "one log per host session");
        view
    }

    /// Sends that payload through decoder, handlers and both stores; whether it was an event.
    pub fn send(&mut self, payload: &Value) -> bool {
        self.steps += 1;
        let bytes = payload.to_string().into_bytes();
        let arguments = Arguments {
            host: Some(self.host),
            event: None,
        };
        let name = payload["hook_event_name"].as_str().unwrap();
        let project = self.lab.project().to_string_lossy().into_owned();
        let env = |name: &str| match name {
            "CLAUDE_PROJECT_DIR" | "GEMINI_PROJECT_DIR" => Some(project.clone()),
            _ => None,
        };
        let read = frame::read(hook_of(name), &arguments, &parse(&bytes).unwrap(), &bytes, &env);
        self.last = Some(payload.clone());
        let Some(mut read) = read else { return false };
        read.event.at = self.now();
        // The host is this process, whoever started it.
        read.event.host_pid = Some(std::process::id());
        let mut stores = Stores::open(&self.config, "test");
        let reply = dispatch::handle(
            read.event,
            &read.key,
            &mut stores,
            &self.config,
            Stopwatch::start(),
        );
        drop(self.host.encode(name, &reply));
        assert!(stores.faults.is_empty(), "{:?}", stores.faults);
        true
    }

    pub fn send_again(&mut self) {
        if let Some(last) = self.last.clone() {
            self.send(&last);
        }
    }

    /// As another session's start does when the host is gone; whether a turn got its end.
    pub fn settle(&mut self) -> bool {
        self.steps += 1;
        let data = self.lab.data();
        let entries = self.lab.open_entries();
        let open = entries.iter().filter(|e| !e.settled);
        let ended: Vec<bool> = open
            .map(|e| settle::presume(&data, e, "host_gone", self.now()).unwrap())
            .collect();
        ended.contains(&true)
    }

    pub fn reboot(&self) {
        if self.lab.hooks_dir().is_dir() {
            self.lab.reboot();
        }
    }

    /// Half a line at the end of journal and log.
    pub fn tear(&self) {
        let journal = self.lab.hooks_dir().join(SESSION).join("events.jsonl");
        let log = self.lab.log_ids().first().map(|id| {
            let dir = self.lab.data_dir().join("log").join(id.as_str());
            dir.join("log.jsonl")
        });
        for path in [Some(journal), log].into_iter().flatten().filter(|p| p.is_file()) {
            let mut bytes = std::fs::read(&path).unwrap();
            if bytes.ends_with(b"\n") {
                bytes.extend_from_slice(b"{\"n\":1,\"v\":1,\"kind\":\"tur");
                std::fs::write(&path, bytes).unwrap();
            }
        }
    }
}

/// The text of a prompt; the last of them is empty, as one that is an image only.
pub fn prompt(text: u8) -> &'static str {
    ["Do the first thing", "  Do the second thing\n", "continue", ""][usize::from(text)]
}
