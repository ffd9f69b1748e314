//! What a long history costs the command: a million turns in 100,000 sessions, made for the purpose.
//!
//! `cargo bench -- history` measures this alone. It writes about two gigabytes below the temp directory and takes some
//! minutes, most of them to index.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::{Lab, Table, make_private};

/// Turns of a session.
const TURNS: usize = 10;
/// Words that the texts are made of, the first ones being the most frequent.
const WORDS: u64 = 20_000;
/// In every thousandth turn, in every tenth, in each one.
const RARE: &str = "zebrafish";
const OFTEN: &str = "migration";
const ALWAYS: &str = "everywhere";

pub(super) fn rows(table: &mut Table, quick: bool) {
    let sessions = if quick { 5_000 } else { 100_000 };
    let turns = sessions * TURNS;
    let lab = Lab::new();
    let mut chance = Chance(42);
    for i in 0..sessions {
        write(&lab, i, &mut chance);
    }
    let begun = Instant::now();
    lab.bookend(&["log", "reindex"]);
    let took = begun.elapsed().as_secs_f64();
    table.note(&format!(
        "indexing: {:.0} turns a second, {took:.0} s for {turns}; {:.0} MiB of logs, {:.0} MiB of index",
        turns as f64 / took,
        lab.size("log") / 1e6,
        lab.size("index.sqlite") / 1e6,
    ));
    let newest = ["log", "sessions", "--limit", "10"];
    table.most(
        &format!("log sessions, newest 10 of {sessions}: ms"),
        lab.median(&newest),
        20.0,
    );
    // A new session has another directory listed whole, once, or as often as it is asked within two seconds.
    write(&lab, sessions, &mut chance);
    table.note(&format!(
        "the same right after a session has begun: {:.0} ms",
        lab.median(&newest)
    ));
    std::thread::sleep(std::time::Duration::from_secs(3));
    lab.bookend(&newest);
    for (name, word) in [("rare", RARE), ("in a tenth", OFTEN), ("in all", ALWAYS)] {
        table.most(
            &format!("log search, a word {name} of {turns} turns: ms"),
            lab.median(&["log", "search", word]),
            200.0,
        );
    }
    table.most(
        "log search, a phrase and a beginning: ms",
        lab.median(&["log", "search", "\"migration w1\" zebra*"]),
        200.0,
    );
    table.note(&format!(
        "a beginning that a thousand words of the vocabulary have, most turns some of them: {:.0} ms",
        lab.median(&["log", "search", "w12*"])
    ));
}

impl Lab {
    fn bookend(&self, arguments: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
        command.env_clear().envs(self.env()).stdout(Stdio::null());
        assert!(command.args(arguments).status().unwrap().success());
    }

    /// The median wall time of the command, in ms. (It is built as `cargo bench` builds, not as it is installed.)
    pub(super) fn median(&self, arguments: &[&str]) -> f64 {
        self.bookend(arguments);
        let mut times: Vec<f64> = (0..9)
            .map(|_| {
                let begun = Instant::now();
                self.bookend(arguments);
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[4]
    }

    fn size(&self, name: &str) -> f64 {
        let path = self.dir.path().join("data").join(name);
        let Ok(entries) = std::fs::read_dir(&path) else {
            return std::fs::metadata(&path).unwrap().len() as f64;
        };
        let files = entries.map(|e| e.unwrap().path().join("log.jsonl"));
        files.map(|f| std::fs::metadata(f).unwrap().len() as f64).sum()
    }
}

/// Numbers that are the same each time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn words(&mut self, count: usize) -> String {
        let mut text = String::new();
        for _ in 0..count {
            // Few words are frequent, most are rare.
            let (a, b) = (self.next() % WORDS, self.next() % WORDS);
            let _ = write!(text, "w{} ", a * b / WORDS);
        }
        text
    }
}

/// A session of ten turns, each with a prompt, two actions and an answer.
fn write(lab: &Lab, i: usize, chance: &mut Chance) {
    let begun = 1_767_225_600 + i as i64 * 300;
    let at = |seconds: i64| chrono::DateTime::from_timestamp(begun + seconds, 0).unwrap();
    let (stamp, compact) = ("%Y-%m-%dT%H:%M:%SZ", "%Y%m%dT%H%M%SZ");
    let mut text = String::new();
    let mut record = |seconds: i64, body: &str| {
        let seq = text.len();
        let _ = writeln!(
            text,
            r#"{{"v":1,"id":"019dea72-0000-7000-8000-{i:012x}","seq":{seq},"at":"{}","by":"hook",{body}}}"#,
            at(seconds).format(stamp)
        );
    };
    let title = chance.words(6);
    record(
        0,
        &format!(
            r#""kind":"session.open","agent":"ClaudeCode","host":"claude-code","hostSession":"s{i}","title":"{title}","projectRoot":"/home/dev/project-{}""#,
            i % 40
        ),
    );
    for j in 0..TURNS {
        let (n, t) = (i * TURNS + j, j as i64 * 25);
        let turn = format!("req-{}-turn-{}", at(t).format(compact), j + 1);
        let rare = if n.is_multiple_of(1_000) { RARE } else { "" };
        let often = if n.is_multiple_of(10) { OFTEN } else { "" };
        let (title, prompt, answer) = (chance.words(6), chance.words(30), chance.words(60));
        record(
            t,
            &format!(
                r#""kind":"turn.begin","turn":"{turn}","origin":"user","title":"{title}","text":"{prompt}{often} w1 w2""#
            ),
        );
        for k in 0..2 {
            record(
                t + 5 + k,
                &format!(
                    r#""kind":"turn.action","turn":"{turn}","action":{{"type":"edit","description":"Edited {}","status":"completed","filePath":"/home/dev/project/src/w{}.rs"}}"#,
                    chance.words(3),
                    chance.next() % WORDS
                ),
            );
        }
        record(
            t + 20,
            &format!(r#""kind":"turn.complete","turn":"{turn}","response":"{answer}{rare} {ALWAYS}""#),
        );
    }
    record(TURNS as i64 * 25, r#""kind":"session.end","reason":"exit""#);
    let id = format!("ClaudeCode-{}-{i:08x}", at(0).format(compact));
    let dir = lab.dir.path().join("data/log").join(id);
    make_private(&dir);
    std::fs::write(dir.join("log.jsonl"), text).unwrap();
}
