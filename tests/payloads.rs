//! Whatever a host sends, and whatever becomes of it on the way: exit 0, at most one document that is valid
//! for that host and event, no panic. `tests/payloads/<host>/` is what real hosts sent.

use std::path::Path;

use bookend::config::{Config, LogPrompts, Resume};
use bookend::dispatch::{self, Stores};
use bookend::event::Event;
use bookend::frame::{self, Arguments, payload::parse};
use bookend::hook::Hook;
use bookend::hosts::{Host, registration};
use serde_json::{Map, Value, json};

use crate::harness::{Answer, Lab, payload};

/// One captured payload and how its host ran the hook.
struct Captured {
    host: Host,
    stem: String,
    value: Value,
    hook: Hook,
    env: Vec<(String, String)>,
}

impl Captured {
    fn event(&self) -> &str {
        self.value["hook_event_name"].as_str().unwrap_or_default()
    }

    fn arguments(&self) -> Arguments {
        Arguments {
            host: Some(self.host),
            event: None,
        }
    }

    fn var(&self, name: &str) -> Option<String> {
        let found = self.env.iter().find(|(n, _)| n == name)?;
        Some(found.1.clone())
    }

    /// As the hook reads these bytes; what is no JSON is no event.
    fn read(&self, bytes: &[u8]) -> Option<frame::Read> {
        let value = parse(bytes).ok()?;
        frame::read(self.hook, &self.arguments(), &value, bytes, &|name| {
            self.var(name)
        })
    }

    /// Through the real executable.
    fn run(&self, lab: &Lab, bytes: &[u8]) -> Answer {
        let mut call = lab.call(self.hook, &Value::Null).host(self.host.id()).raw(bytes);
        for (name, value) in &self.env {
            if !["PATH", "HOME", "PWD", "TMPDIR"].contains(&name.as_str()) && !value.contains('\0') {
                call = call.env(name, value);
            }
        }
        call.run()
    }
}

pub fn stems(host: &str) -> Vec<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/payloads")
        .join(host);
    let mut stems: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .filter_map(|e| Some(e.unwrap().file_name().to_str()?.strip_suffix(".json")?.to_owned()))
        .filter(|s| s != "env")
        .collect();
    stems.sort();
    assert!(!stems.is_empty());
    stems
}

/// The variables that the host set for an event, or for its first one.
fn env_of(host: &str, event: &str) -> Vec<(String, String)> {
    let all = payload(&format!("{host}/env"));
    let all = all.as_object().unwrap();
    let table = all.get(event).or_else(|| all.values().next()).unwrap();
    let vars = table.as_object().unwrap().iter();
    vars.map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned()))
        .collect()
}

/// Every captured payload of a host that is modelled; an event that is not registered goes to `stop`.
fn captured() -> Vec<Captured> {
    let mut all = Vec::new();
    for host in Host::ALL {
        for stem in stems(host.id()) {
            let value = payload(&format!("{}/{stem}", host.id()));
            let event = value["hook_event_name"].as_str().unwrap().to_owned();
            let row = registration::rows(host).iter().find(|r| r.event == event);
            let env = env_of(host.id(), &event);
            let hook = row.map_or(Hook::Stop, |r| r.hook);
            all.push(Captured {
                host,
                stem,
                value,
                hook,
                env,
            });
        }
    }
    assert!(all.len() > 80, "{}", all.len());
    all
}

/// What each host takes, written down apart from the code (hosts.md, and Codex's schemas).
fn takes(host: Host, event: &str) -> (bool, bool) {
    let context = match host {
        Host::ClaudeCode => &[
            "SessionStart",
            "UserPromptSubmit",
            "SubagentStart",
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
        ][..],
        Host::Codex => &[
            "SessionStart",
            "UserPromptSubmit",
            "SubagentStart",
            "PreToolUse",
            "PostToolUse",
        ][..],
        Host::GeminiCli => &["SessionStart", "BeforeAgent", "AfterTool"][..],
    };
    let notice_only = match host {
        Host::ClaudeCode => &["PreCompact", "Stop", "SubagentStop"][..],
        Host::Codex => &["PreCompact", "Stop", "SubagentStop", "Interrupt"][..],
        Host::GeminiCli => &["BeforeTool", "AfterAgent"][..],
    };
    let context = context.contains(&event);
    (context, context || notice_only.contains(&event))
}

/// Only what the host takes for that event; and nothing is refused, since nobody asked for it.
#[track_caller]
fn assert_valid(host: Host, event: &str, document: &Value, place: &str) {
    let (context, notice) = takes(host, event);
    let keys = document
        .as_object()
        .unwrap_or_else(|| panic!("{place}: {document}"));
    assert!(!keys.is_empty(), "{place}: an empty document is no answer");
    for (key, value) in keys {
        match key.as_str() {
            "systemMessage" => assert!(notice && value.is_string(), "{place}: {document}"),
            "hookSpecificOutput" => {
                let said = value.as_object().unwrap();
                let names: Vec<&str> = said.keys().map(String::as_str).collect();
                assert!(
                    context && names == ["hookEventName", "additionalContext"],
                    "{place}: {document}"
                );
                assert_eq!(said["hookEventName"], event, "{place}");
                let length = said["additionalContext"].as_str().unwrap().chars().count();
                assert!((1..=2_000).contains(&length), "{place}: {length}");
            }
            _ => panic!("{place}: {document}"),
        }
    }
}

#[track_caller]
fn assert_answer(captured: &Captured, event: &str, answer: Answer, place: &str) {
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{place}");
    let answer = answer.ok();
    if !answer.stdout.is_empty() {
        assert_valid(captured.host, event, &answer.json(), place);
    }
}

/// A machine for events that are handled in this process.
struct Inside {
    lab: Lab,
    config: Config,
}

impl Inside {
    fn new() -> Self {
        let lab = Lab::new();
        let config = Config {
            hook_root: Ok(lab.hooks_dir()),
            data_dir: Ok(lab.data_dir()),
            home: Some(lab.path("home")),
            resume: Resume::Always,
            resume_days: 3,
            log_prompts: LogPrompts::Full,
            log_days: 0,
            disabled: false,
            state_dir: None,
            strictness: bookend::config::Strictness::Normal,
            current_agent: None,
        };
        Self { lab, config }
    }

    /// All that a hook does with an event, without its process.
    fn handle(&self, captured: &Captured, read: frame::Read, place: &str) {
        let (host, name) = (read.event.host, read.event.name.clone());
        let mut stores = Stores::open(&self.config, captured.hook.name());
        let watch = bookend::clock::Stopwatch::start();
        let reply = dispatch::handle(read.event, &read.key, &mut stores, &self.config, watch);
        if let Some(document) = host.encode(&name, &reply) {
            assert_valid(host, &name, &document, place);
        }
        assert!(stores.faults.is_empty(), "{place}: {:?}", stores.faults);
    }
}

/// The JSON pointers of every value below `value`.
fn paths(value: &Value, at: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            let name = |k: &String| k.replace('~', "~0").replace('/', "~1");
            map.iter().map(|(k, v)| (name(k), v)).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, v)| (i.to_string(), v))
            .collect(),
        _ => return,
    };
    for (name, child) in children {
        let path = format!("{at}/{name}");
        paths(child, &path, found);
        found.push(path);
    }
}

fn paths_of(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    paths(value, "", &mut found);
    found
}

/// The payload with the value at `path` replaced, or removed.
fn changed(payload: &Value, path: &str, value: Option<&Value>) -> Value {
    let mut copy = payload.clone();
    if let Some(value) = value {
        *copy.pointer_mut(path).unwrap() = value.clone();
        return copy;
    }
    let (parent, name) = path.rsplit_once('/').unwrap();
    match copy.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.remove(&name.replace("~1", "/").replace("~0", "~"))),
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        _ => unreachable!(),
    }
    copy
}

/// The payload's text with raw JSON text in the place of the value at `path`.
fn spliced(payload: &Value, path: &str, raw: &[u8]) -> Vec<u8> {
    const MARK: &str = "@@here@@";
    let text = changed(payload, path, Some(&json!(MARK))).to_string();
    let (before, after) = text.split_once(&format!("\"{MARK}\"")).unwrap();
    [before.as_bytes(), raw, after.as_bytes()].concat()
}

/// Every n-th of many, the same ones each time.
struct Sample {
    every: usize,
    seen: usize,
}

impl Sample {
    fn takes(&mut self) -> bool {
        self.seen += 1;
        self.seen.is_multiple_of(self.every)
    }
}

/// xorshift: the same sequence each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }
}

#[test]
fn every_captured_payload_is_answered_by_the_executable_that_it_is_registered_with() {
    let lab = Lab::new();
    let (mut answers, mut stored) = (0, 0);
    for one in captured() {
        let place = format!("{} {}", one.host, one.stem);
        let bytes = serde_json::to_vec_pretty(&one.value).unwrap();
        let answer = one.run(&lab, &bytes);
        answers += usize::from(!answer.stdout.is_empty());
        assert_answer(&one, one.event(), answer, &place);
        let key = one.value["session_id"].as_str().unwrap();
        if one.read(&bytes).is_some() {
            let seen = &lab.state(key).events;
            assert!(seen.contains_key(one.event()), "{place}: {seen:?}");
            stored += 1;
        }
    }
    assert!(answers >= 10 && stored > 60, "{answers} answers, {stored} stored");
    assert!(lab.faults().is_empty(), "{:?}", lab.faults());
}

#[test]
fn a_payload_at_a_wrong_executable_is_still_what_it_is() {
    let lab = Lab::new();
    for (i, mut one) in captured().into_iter().enumerate() {
        one.hook = Hook::ALL[i % Hook::ALL.len()];
        let place = format!("{} {} at {}", one.host, one.stem, one.hook.name());
        let answer = one.run(&lab, one.value.to_string().as_bytes());
        assert_answer(&one, one.event(), answer, &place);
    }
    assert!(lab.faults().is_empty(), "{:?}", lab.faults());
}

#[test]
fn a_field_that_is_gone_null_or_of_another_type_changes_no_answer_for_the_worse() {
    let wrong = [
        json!(null),
        json!(7),
        json!(-1),
        json!(0.5),
        json!(1e300),
        json!(u64::MAX),
        json!("x"),
        json!(""),
        json!("true"),
        json!(true),
        json!([]),
        json!([1]),
        json!([{}]),
        json!({}),
        json!({"a": [1]}),
    ];
    let (mut count, mut handled) = (0, 0);
    let outside = Lab::new();
    let mut sample = Sample { every: 211, seen: 0 };
    for one in captured() {
        let inside = Inside::new();
        for (i, path) in paths_of(&one.value).into_iter().enumerate() {
            for (n, value) in [None].into_iter().chain(wrong.iter().map(Some)).enumerate() {
                let place = format!("{} {} {path} {value:?}", one.host, one.stem);
                let text = changed(&one.value, &path, value).to_string();
                let read = one.read(text.as_bytes());
                count += 1;
                if sample.takes() {
                    let event = read.as_ref().map_or(String::new(), |r| r.event.name.clone());
                    assert_answer(&one, &event, one.run(&outside, text.as_bytes()), &place);
                }
                // All the way: without it, with null, and with another type in turn.
                if let Some(read) = read.filter(|_| n < 2 || n == 2 + i % (wrong.len() - 1)) {
                    inside.handle(&one, read, &place);
                    handled += 1;
                }
            }
        }
        assert!(inside.lab.faults().is_empty(), "{:?}", inside.lab.faults());
    }
    println!(
        "{count} payloads read, {handled} of them handled, {} by processes",
        sample.seen / sample.every
    );
    assert!(count > 15_000 && handled > 1_500, "{count} {handled}");
}

#[test]
fn a_string_may_be_huge_hold_nul_control_characters_half_a_surrogate_or_no_utf_8() {
    let huge = format!("\"{}\"", "long ü ".repeat(12_000));
    let texts: Vec<Vec<u8>> = vec![
        huge.into_bytes(),
        br#""a\u0000b""#.to_vec(),
        b"\"a\0b\x01\x1F\"".to_vec(),
        br#""\ud83d""#.to_vec(),
        br#""x\ude00y\ud83d\ud83d\ude00""#.to_vec(),
        b"\"\xFF\xFEx\xC3\"".to_vec(),
        br#""../../../etc/passwd\n/x""#.to_vec(),
        br#""\q\x41 \u12 ""#.to_vec(),
    ];
    let outside = Lab::new();
    let mut sample = Sample { every: 97, seen: 0 };
    let mut handled = 0;
    for one in captured() {
        let inside = Inside::new();
        let strings: Vec<String> = paths_of(&one.value)
            .into_iter()
            .filter(|p| one.value.pointer(p).unwrap().is_string())
            .collect();
        for (i, path) in strings.iter().enumerate() {
            for (n, text) in texts.iter().enumerate() {
                let place = format!("{} {} {path} text {n}", one.host, one.stem);
                let bytes = spliced(&one.value, path, text);
                assert!(parse(&bytes).is_ok(), "{place}: hosts have sent such");
                let read = one.read(&bytes);
                if sample.takes() {
                    let event = read.as_ref().map_or(String::new(), |r| r.event.name.clone());
                    assert_answer(&one, &event, one.run(&outside, &bytes), &place);
                }
                if let Some(read) = read.filter(|_| n == i % texts.len()) {
                    inside.handle(&one, read, &place);
                    handled += 1;
                }
            }
        }
    }
    println!("{} payloads read, {handled} handled", sample.seen);
    assert!(sample.seen > 4_000 && handled > 500, "{} {handled}", sample.seen);
}

#[test]
fn keys_may_come_twice_and_values_may_be_nested_without_end() {
    let nested = |depth: usize, open: &str, close: &str| {
        format!("{}1{}", open.repeat(depth), close.repeat(depth)).into_bytes()
    };
    let deep = [
        nested(120, "[", "]"),
        nested(4_000, "[", "]"),
        nested(4_000, "{\"a\":", "}"),
        nested(4_000, "[{\"a\":", "}]"),
    ];
    let outside = Lab::new();
    let mut sample = Sample { every: 101, seen: 0 };
    for one in captured() {
        let inside = Inside::new();
        let mut variants: Vec<Vec<u8>> = Vec::new();
        let body = one.value.to_string();
        let inner = body.strip_prefix('{').unwrap().strip_suffix('}').unwrap();
        for key in one.value.as_object().unwrap().keys() {
            for other in ["null", "7", "\"x\"", "[]", "{}"] {
                variants.push(format!("{{\"{key}\":{other},{inner}}}").into_bytes());
                variants.push(format!("{{{inner},\"{key}\":{other}}}").into_bytes());
            }
        }
        variants.push(format!("{{{inner},{inner}}}").into_bytes());
        for path in paths_of(&one.value) {
            variants.extend(deep.iter().map(|d| spliced(&one.value, &path, d)));
        }
        for (n, bytes) in variants.iter().enumerate() {
            let place = format!("{} {} variant {n}", one.host, one.stem);
            assert!(parse(bytes).is_ok(), "{place}");
            let read = one.read(bytes);
            if sample.takes() {
                let event = read.as_ref().map_or(String::new(), |r| r.event.name.clone());
                assert_answer(&one, &event, one.run(&outside, bytes), &place);
            }
            if let Some(read) = read.filter(|_| n % 23 == 0) {
                inside.handle(&one, read, &place);
            }
        }
    }
    println!("{} payloads read", sample.seen);
}

#[test]
fn a_payload_that_was_cut_is_no_event_at_any_byte() {
    let outside = Lab::new();
    let mut sample = Sample {
        every: 1_009,
        seen: 0,
    };
    for one in captured() {
        let bytes = one.value.to_string().into_bytes();
        for end in 0..bytes.len() {
            let place = format!("{} {} cut at {end}", one.host, one.stem);
            let error = parse(&bytes[..end]).expect_err(&place);
            assert!(
                !error.contains("session"),
                "{place}: an error quotes no payload: {error}"
            );
            if sample.takes() {
                assert_answer(&one, "", one.run(&outside, &bytes[..end]), &place);
            }
        }
    }
    assert!(
        outside
            .root()
            .is_none_or(|r| r.dir().entries().unwrap().iter().all(|e| !e.is_dir))
    );
    println!("{} cuts", sample.seen);
}

#[test]
fn random_bytes_and_flipped_bits_do_no_harm() {
    let mut dice = Dice(0x5DEE_CE66_D1CE_4E5B);
    let all = captured();
    let outside = Lab::new();
    let inside = Inside::new();
    for round in 0..6_000 {
        let one = &all[dice.roll(all.len())];
        let mut bytes = one.value.to_string().into_bytes();
        for _ in 0..=dice.roll(6) {
            let at = dice.roll(bytes.len());
            match dice.roll(4) {
                0 => bytes[at] ^= 1 << dice.roll(8),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"\"{}[],:\\\0\xFF"[dice.roll(10)]),
                _ => bytes[at] = u8::try_from(dice.roll(256)).unwrap(),
            }
        }
        let place = format!(
            "{} {} round {round}: {}",
            one.host,
            one.stem,
            String::from_utf8_lossy(&bytes)
        );
        let read = one.read(&bytes);
        if round % 60 == 0 {
            let event = read.as_ref().map_or(String::new(), |r| r.event.name.clone());
            assert_answer(one, &event, one.run(&outside, &bytes), &place);
        }
        if let Some(read) = read.filter(|_| round % 4 == 0) {
            inside.handle(one, read, &place);
        }
    }
    for round in 0..3_000 {
        let bytes: Vec<u8> = (0..dice.roll(200))
            .map(|_| u8::try_from(dice.roll(256)).unwrap())
            .collect();
        let one = &all[dice.roll(all.len())];
        assert!(one.read(&bytes).is_none());
        if round % 100 == 0 {
            assert_answer(one, "", one.run(&outside, &bytes), &format!("{bytes:?}"));
        }
    }
}

#[test]
fn marks_blanks_and_line_ends_change_nothing() {
    let same = |a: &Event, b: &Event| {
        let neutral = |e: &Event| {
            let mut e = e.clone();
            // (The key of an event without ids is made of its bytes.)
            (e.at, e.key) = (bookend::clock::now(), None);
            e.at = chrono::DateTime::UNIX_EPOCH;
            e
        };
        neutral(a) == neutral(b)
    };
    let lab = Lab::new();
    for (i, one) in captured().into_iter().enumerate() {
        let plain = one.value.to_string();
        let pretty = serde_json::to_string_pretty(&one.value).unwrap();
        let bom = "\u{FEFF}";
        let variants = [
            format!("{bom}{plain}"),
            format!("{bom}{bom}{bom}\r\n{plain}"),
            format!(" {bom} \t\r\n{bom}{plain}\n"),
            pretty.replace('\n', "\r\n"),
            format!("\r\n\r\n{plain}\r\n\r\n"),
            format!("{plain}{plain}"),
            format!("{plain} trailing }}]\"garbage"),
        ];
        let expected = one.read(plain.as_bytes());
        for (n, text) in variants.iter().enumerate() {
            let place = format!("{} {} variant {n}", one.host, one.stem);
            // What stands behind the value is not read by a hook: the scanner stops at its end.
            let mut scanner = frame::payload::Scanner::default();
            let used = scanner.take(text.as_bytes());
            let read = one.read(&text.as_bytes()[..used]);
            match (&expected, &read) {
                (None, None) => {}
                (Some(a), Some(b)) => assert!(same(&a.event, &b.event) && a.key == b.key, "{place}"),
                _ => panic!("{place}: {}", read.is_some()),
            }
            if i % variants.len() == n {
                assert_answer(&one, one.event(), one.run(&lab, text.as_bytes()), &place);
            }
        }
    }
    assert!(lab.faults().is_empty(), "{:?}", lab.faults());
}

#[test]
fn what_another_host_sends_is_left_alone() {
    for host in ["qwen-code", "copilot", "opencode"] {
        for stem in stems(host) {
            let value = payload(&format!("{host}/{stem}"));
            let event = value["hook_event_name"].as_str().unwrap_or_default().to_owned();
            for hook in Hook::ALL {
                let lab = Lab::new();
                let mut call = lab.call(hook, &value).arguments(&[]);
                for (name, value) in env_of(host, &event) {
                    if !["PATH", "HOME", "PWD", "TMPDIR"].contains(&name.as_str()) {
                        call = call.env(&name, &value);
                    }
                }
                let answer = call.run().ok();
                assert_eq!(answer.stdout, "", "{host} {stem} at {}", hook.name());
                for dir in [lab.hooks_dir(), lab.data_dir()] {
                    assert!(!dir.exists(), "{host} {stem}: {}", dir.display());
                }
            }
            // Registered as one of ours, by mistake: whatever it is taken for, the host is left alone.
            let lab = Lab::new();
            for ours in Host::ALL {
                let answer = lab.call(Hook::Stop, &value).host(ours.id()).run().ok();
                if !answer.stdout.is_empty() {
                    assert_valid(ours, &event, &answer.json(), &format!("{host} {stem} as {ours}"));
                }
            }
        }
    }
}

#[test]
fn what_is_no_object_or_names_no_event_or_no_session_is_nothing() {
    let lab = Lab::new();
    let mut nothing = vec![
        json!(null),
        json!(true),
        json!(0),
        json!("Stop"),
        json!([]),
        json!([{"hook_event_name": "Stop", "session_id": "s"}]),
        json!({}),
        json!({"hook_event_name": "Stop"}),
        json!({"session_id": "s"}),
        json!({"hook_event_name": "Stop", "session_id": ""}),
        json!({"hook_event_name": "Stop", "session_id": null}),
        json!({"hook_event_name": ["Stop"], "session_id": "s"}),
        json!({"hook_event_name": "NoSuchEvent", "session_id": "s"}),
    ];
    nothing.push(Value::Object(Map::from_iter([(
        "hook_event_name\0".to_owned(),
        json!("Stop"),
    )])));
    for value in nothing {
        for hook in Hook::ALL {
            let answer = lab.call(hook, &value).run().ok();
            assert_eq!(answer.stdout, "", "{value} at {}", hook.name());
        }
    }
    assert!(!lab.hooks_dir().exists() && !lab.data_dir().exists());
}
