//! Mutations that keep JSON whole: a field goes, changes its type, moves, is nested, or its text is changed by
//! libFuzzer. One payload, or one line of many.

use serde_json::{Value, json};

/// Nothing longer is made.
const MAX: usize = 64 * 1024;

/// xorshift, from libFuzzer's seed.
pub struct Dice(u64);

impl Dice {
    #[must_use]
    pub fn new(seed: u32) -> Self {
        Self(u64::from(seed) << 1 | 1)
    }

    /// A number below `below`, which is not 0.
    pub fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

/// Mutates `data[..size]` in place; how long it is then. Half of the time as bytes.
pub fn payload(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut dice = Dice::new(seed);
    let value = serde_json::from_slice::<Value>(&data[..size]).ok();
    match value.filter(|_| dice.roll(2) == 0) {
        Some(mut value) => {
            for _ in 0..=dice.roll(3) {
                change(&mut value, &mut dice);
            }
            put(data, max_size, value.to_string().as_bytes())
                .unwrap_or_else(|| libfuzzer_sys::fuzzer_mutate(data, size, max_size))
        }
        None => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
}

/// The same for lines: one of them is mutated, doubled, moved, or taken away.
pub fn lines(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut dice = Dice::new(seed);
    if dice.roll(2) == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let mut lines: Vec<Vec<u8>> = data[..size].split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let at = dice.roll(lines.len());
    let to = dice.roll(lines.len());
    match dice.roll(6) {
        0 => lines.swap(at, to),
        1 => drop(lines.remove(at)),
        2 => lines.insert(to, lines[at].clone()),
        _ => {
            if let Ok(mut value) = serde_json::from_slice(&lines[at]) {
                change(&mut value, &mut dice);
                lines[at] = value.to_string().into_bytes();
            }
        }
    }
    put(data, max_size, &lines.join(&b'\n'))
        .unwrap_or_else(|| libfuzzer_sys::fuzzer_mutate(data, size, max_size))
}

fn put(data: &mut [u8], max_size: usize, bytes: &[u8]) -> Option<usize> {
    (bytes.len() <= max_size.min(MAX).min(data.len())).then(|| {
        data[..bytes.len()].copy_from_slice(bytes);
        bytes.len()
    })
}

/// Changes one value somewhere below `value`.
fn change(value: &mut Value, dice: &mut Dice) {
    let other = any_below(value, dice).clone();
    let target = descend(value, dice);
    *target = match dice.roll(16) {
        0 => json!(null),
        1 => json!(true),
        2 => json!(""),
        3 => json!([]),
        4 => json!({}),
        5 => json!(-1),
        6 => json!(1e300),
        7 => json!(u64::MAX),
        8 => json!([target.take()]),
        9 => json!(target.to_string()),
        10 => other,
        11 => json!({ "a": target.take() }),
        12 => json!(WORDS[dice.roll(WORDS.len())]),
        _ => mutated(target.take(), dice),
    };
    if let (0, Value::Object(map)) = (dice.roll(4), any_mut(value, dice)) {
        let names: Vec<String> = map.keys().cloned().collect();
        if !names.is_empty() {
            map.remove(&names[dice.roll(names.len())]);
        }
    }
}

/// A text is mutated as bytes; any other value stays.
fn mutated(value: Value, dice: &mut Dice) -> Value {
    let Value::String(text) = value else { return value };
    let mut bytes = text.into_bytes();
    let size = bytes.len();
    bytes.resize(size + 64, 0);
    let max = bytes.len();
    let size = if size == 0 && dice.roll(2) == 0 {
        0
    } else {
        libfuzzer_sys::fuzzer_mutate(&mut bytes, size, max)
    };
    Value::String(String::from_utf8_lossy(&bytes[..size]).into_owned())
}

fn descend<'a>(value: &'a mut Value, dice: &mut Dice) -> &'a mut Value {
    let count = match value {
        Value::Object(map) => map.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    if count == 0 {
        return value;
    }
    let n = dice.roll(count);
    let child = match value {
        Value::Object(map) => map.values_mut().nth(n),
        Value::Array(items) => items.get_mut(n),
        _ => None,
    };
    descend_or_stay(child.unwrap(), dice)
}

fn descend_or_stay<'a>(value: &'a mut Value, dice: &mut Dice) -> &'a mut Value {
    if dice.roll(4) == 0 {
        value
    } else {
        descend(value, dice)
    }
}

fn any_mut<'a>(value: &'a mut Value, dice: &mut Dice) -> &'a mut Value {
    if dice.roll(2) == 0 {
        value
    } else {
        descend(value, dice)
    }
}

fn any_below<'a>(value: &'a Value, dice: &mut Dice) -> &'a Value {
    match value {
        Value::Object(map) if !map.is_empty() => {
            any_below(map.values().nth(dice.roll(map.len())).unwrap(), dice)
        }
        Value::Array(items) if !items.is_empty() => any_below(&items[dice.roll(items.len())], dice),
        _ => value,
    }
}

const WORDS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "BeforeAgent",
    "PreToolUse",
    "BeforeTool",
    "PostToolUse",
    "AfterTool",
    "PostToolUseFailure",
    "Stop",
    "AfterAgent",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Interrupt",
    "SessionEnd",
    "Bash",
    "Agent",
    "Write",
    "Edit",
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "apply_patch",
    "update_plan",
    "spawn_agent",
    "write_todos",
    "invoke_agent",
    "run_shell_command",
    "completed",
    "in_progress",
    "429 Too Many Requests, retry after 20 s",
    "Exit code 3\nno",
    "usage limit reached|1750000000",
    "<task-notification>x</task-notification>",
    "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch",
    "continue",
];
