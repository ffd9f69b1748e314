//! Bytes from a host to an event, to the state and the records that it makes, and to every answer.

use bookend::config::{Config, LogPrompts, Resume};
use bookend::event::Event;
use bookend::frame::payload;
use bookend::handlers::{self, Context};
use bookend::hook::Hook;
use bookend::hosts::{self, Host, Surroundings};
use bookend::live::brief::brief;
use bookend::live::duplicate;
use bookend::live::key::SessionKey;
use bookend::live::state::{Answered, Entry, State};
use bookend::orchestration::active::Active;
use bookend::process::Pulse;
use bookend::reply::{MAX_CONTEXT, Reply, Verdict};
use chrono::DateTime;
use serde_json::Value;

/// Longest line of the journal that a hook writes, in bytes; the design says 4 KB for an ordinary event, and
/// one that changed twenty files with long names has a line for each.
const MAX_LINE: usize = 64 * 1024;

/// All that a hook process does with these bytes, without its files.
pub fn run(host: Host, bytes: &[u8]) {
    let Ok(value) = payload::parse(bytes) else { return };
    let mut state = State::default();
    // As it is registered, and at another executable by a host that gives no name.
    for (registered, hook, named) in [
        (Some(host), Hook::Stop, None),
        (None, Hook::PostTool, Some("PostToolUse")),
    ] {
        if let Some(event) = decode(registered, hook, named, &value, bytes) {
            follow(&mut state, &event);
            answer(&event);
        }
    }
}

fn decode(
    registered: Option<Host>,
    hook: Hook,
    named: Option<&str>,
    value: &Value,
    bytes: &[u8],
) -> Option<Event> {
    let env = |name: &str| match name {
        "CLAUDE_PROJECT_DIR" | "GEMINI_PROJECT_DIR" => Some("/home/dev/project".to_owned()),
        "CLAUDE_PID" => Some("4242".to_owned()),
        "CLAUDE_CODE_ENTRYPOINT" => Some("cli".to_owned()),
        _ => None,
    };
    let around = Surroundings {
        hook,
        event: named,
        env: &env,
        host_args: &|| ["codex", "exec", "x"].map(str::to_owned).to_vec(),
        at: DateTime::from_timestamp(1_796_011_200, 0).unwrap(),
    };
    let mut event = hosts::decode(registered, value, &around)?;
    let id = hosts::session_id(value)?;
    let key = SessionKey::of(id);
    assert_eq!(key.is_none(), id.is_empty());
    if let Some(key) = key {
        assert_eq!(SessionKey::from_name(key.as_str()).as_ref(), Some(&key));
    }
    event.key = duplicate::key(&event, bytes);
    Some(event)
}

/// The journal reads back what it wrote, and the state survives its checkpoint.
fn follow(state: &mut State, event: &Event) {
    let config = Config {
        hook_root: Err(String::new()),
        data_dir: Err(String::new()),
        home: None,
        resume: Resume::Always,
        resume_days: 3,
        log_prompts: LogPrompts::Full,
        disabled: false,
        state_dir: None,
        strictness: bookend::config::Strictness::Normal,
        current_agent: None,
    };
    // An orchestration whose agents the payloads may name.
    let active = Active {
        status: Some("in_progress".to_owned()),
        current_phase: Some("1".to_owned()),
        agents: ["general-purpose", "coder", "helper"].map(str::to_owned).to_vec(),
        ..Active::default()
    };
    let plan = handlers::plan(&Context {
        event,
        state,
        config: &config,
        log: None,
        pulse: Pulse::Unknown,
        moved: false,
        offer: None,
        kept: None,
        active: Some(&active),
        can_block: true,
    });
    let mut marks: Vec<_> = plan.records.iter().filter_map(|r| r.mark(event.at)).collect();
    marks.extend(plan.aliases);
    let entry = Entry {
        n: state.n + 1,
        event: brief(event, state),
        marks,
        caught: Vec::new(),
        logged: Vec::new(),
        log: None,
        process: None,
        resend: plan.resend,
        took_over: None,
        adopted: None,
        sent_back: matches!(plan.verdict, Verdict::Block(_)),
        answered: Answered::default(),
        us: 0,
        faults: Vec::new(),
    };
    let line = serde_json::to_vec(&entry).unwrap();
    assert!(line.len() < MAX_LINE && !line.contains(&b'\n'), "{}", line.len());
    let mut back: Entry = serde_json::from_slice(&line).unwrap();
    (back.event.stamped, back.event.host_pid) = (entry.event.stamped, entry.event.host_pid);
    assert_eq!(back, entry);
    state.apply(&entry);
    let bytes = serde_json::to_vec(state).unwrap();
    assert_eq!(serde_json::from_slice::<State>(&bytes).unwrap(), *state);
}

/// Whatever is to be said is said in one object, or not at all.
fn answer(event: &Event) {
    let verdicts = [
        Verdict::Allow,
        Verdict::Deny("no".to_owned()),
        Verdict::Block(String::new()),
    ];
    for verdict in verdicts {
        let reply = Reply {
            context: Some("c".repeat(MAX_CONTEXT + 1)),
            notice: Some("n".to_owned()),
            verdict,
            log: None,
        };
        let accepts = event.host.accepts(&event.name);
        let document = event.host.encode(&event.name, &reply);
        assert!(document.as_ref().is_none_or(Value::is_object));
        let text = document.map(|d| d.to_string()).unwrap_or_default();
        assert_eq!(text.contains("additionalContext"), accepts.context);
        assert_eq!(text.contains("systemMessage"), accepts.notice);
    }
    assert_eq!(event.host.encode(&event.name, &Reply::nothing()), None);
}
