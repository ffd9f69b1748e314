//! Clocks that jump, and days that are rare. The hooks run with a clock of their own through `libfaketime`
//! (Debian's package faketime); the files keep the machine's, as after a real jump.

use std::path::PathBuf;

use chrono::{DateTime, Datelike, Utc};
use serde_json::json;

use super::{prompt, stop};
use crate::harness::{Answer, Lab, say, with};

/// The library that lies about the time, if it is here; says so where it is not.
fn liar() -> Option<String> {
    let found = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let libraries = found.map(|dir| dir.path().join("faketime/libfaketime.so.1"));
    let library = libraries.into_iter().find(|path: &PathBuf| path.exists());
    if library.is_none() {
        say("SKIPPED: without libfaketime (Debian's package faketime) no hook gets another clock");
    }
    library.map(|path| path.to_string_lossy().into_owned())
}

/// A machine whose clock says what it is told.
struct Watch {
    lab: Lab,
    env: Vec<(&'static str, String)>,
}

impl Watch {
    fn new() -> Option<Self> {
        let env = vec![
            ("LD_PRELOAD", liar()?),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("NO_FAKE_STAT", "1".to_owned()),
            ("TZ", "UTC".to_owned()),
        ];
        Some(Self { lab: Lab::new(), env })
    }

    /// An event at a time as `faketime` spells it: `+0`, `-3h`, `@2028-02-29 23:59:58`.
    fn send(&self, time: &str, session: &str, event: &str, fields: serde_json::Value) -> Answer {
        let base = json!({"session_id": session, "hook_event_name": event});
        let payload = with(with(prompt(&self.lab, session), base), fields);
        let mut call = self.lab.call(crate::harness::hook_of(event), &payload);
        for (name, value) in &self.env {
            call = call.env(name, value);
        }
        call.env("FAKETIME", time).run().ok()
    }

    fn prompt(&self, time: &str, turn: &str) -> Answer {
        let fields = json!({"prompt_id": turn, "prompt": format!("Prompt {turn}")});
        self.send(time, "s1", "UserPromptSubmit", fields)
    }

    fn write(&self, time: &str, turn: &str, call: &str) -> Answer {
        let fields = json!({"prompt_id": turn, "tool_name": "Write", "tool_use_id": call, "prompt": null,
                            "tool_input": {"file_path": format!("/p/{call}.rs"), "content": "x"}});
        self.send(time, "s1", "PostToolUse", fields)
    }

    fn stop(&self, time: &str, turn: &str) -> Answer {
        let fields = with(stop(&self.lab, "s1"), json!({"prompt_id": turn}));
        self.send(time, "s1", "Stop", fields)
    }

    /// Every look, with that clock: none fails.
    fn look(&self, time: &str) {
        for arguments in [
            &["sessions", "--all"][..],
            &["show", "s1"],
            &["events", "s1"],
            &["resume"],
            &["log", "sessions"],
            &["log", "show", "s1"],
        ] {
            let mut command = self.lab.command(env!("CARGO_BIN_EXE_bookend"));
            command.args(arguments).env("FAKETIME", time);
            command.envs(self.env.iter().map(|(name, value)| (name, value)));
            let answer = Answer::of(command.output().unwrap());
            assert_eq!(answer.code, Some(0), "{time}: {arguments:?}: {answer:?}");
        }
    }

    /// The turns of the log: each with its end and its actions.
    fn turns(&self) -> Vec<(String, &'static str, usize)> {
        let log = self.lab.log_of("s1");
        assert!(log.problems.is_empty(), "{:?}", log.problems);
        let all = log.turns.iter();
        all.map(|t| (t.query_title.as_str().to_owned(), t.status, t.actions.len()))
            .collect()
    }
}

#[test]
fn a_clock_that_jumps_back_in_a_turn_loses_nothing_and_prunes_nobody() {
    let Some(watch) = Watch::new() else { return };
    watch.send("+0", "other", "SessionStart", json!({"source": "startup"}));
    watch.prompt("+0", "p1");
    watch.write("-3h", "p1", "call-1");
    watch.stop("-3h", "p1");
    watch.prompt("-400d", "p2");
    watch.write("-2d", "p2", "call-2");
    // One that prunes, with a clock that is behind all files.
    watch.send("-400d", "third", "SessionStart", json!({"source": "startup"}));
    for session in ["s1", "other", "third"] {
        assert!(
            watch.lab.hooks_dir().join(session).is_dir(),
            "{session} was pruned"
        );
    }
    watch.look("-400d");
    watch.look("+0");
    watch.stop("+0", "p2");
    let ended = |turn: &str| (format!("Prompt {turn}"), "completed", 1);
    assert_eq!(watch.turns(), [ended("p1"), ended("p2")]);
    assert!(watch.lab.open_entries().is_empty());
    assert!(watch.lab.faults().is_empty(), "{:?}", watch.lab.faults());
}

#[test]
fn a_clock_far_ahead_takes_nothing_that_does_not_come_back() {
    let Some(watch) = Watch::new() else { return };
    watch.prompt("+0", "p1");
    watch.write("+0", "p1", "call-1");
    watch.look("+14600d");
    // For this one all others are long stale: what they were doing is settled, then their live state goes.
    watch.send("+14600d", "other", "SessionStart", json!({"source": "startup"}));
    assert!(
        !watch.lab.hooks_dir().join("s1").exists(),
        "by its clock it is stale"
    );
    assert_eq!(watch.turns()[0].1, "failed", "its end is presumed");
    // The clock is right again, and the session goes on where it was.
    watch.write("+0", "p1", "call-2");
    watch.stop("+0", "p1");
    assert_eq!(watch.turns(), [("Prompt p1".to_owned(), "completed", 2)]);
    // And what was written in the future does no harm to what comes after it.
    watch.prompt("+14600d", "p2");
    watch.write("+0", "p2", "call-3");
    watch.send("+0", "third", "SessionStart", json!({"source": "startup"}));
    watch.prompt("+0", "p3");
    watch.stop("+0", "p3");
    watch.look("+0");
    let ends: Vec<_> = watch
        .turns()
        .into_iter()
        .map(|(_, status, n)| (status, n))
        .collect();
    assert_eq!(ends, [("completed", 2), ("failed", 1), ("completed", 0)]);
    assert!(watch.lab.faults().is_empty(), "{:?}", watch.lab.faults());
}

#[test]
fn on_leap_days_at_the_ends_of_years_and_of_counters_turns_have_their_ids_and_their_ends() {
    for (time, day) in [
        ("2028-02-29 23:59:58", "20280229"),
        ("2000-02-29 12:00:00", "20000229"),
        ("2027-12-31 23:59:58", "20271231"),
        ("1970-01-02 00:00:01", "19700102"),
        ("2038-01-19 03:14:06", "20380119"),
        ("2106-02-07 06:28:14", "21060207"),
    ] {
        let Some(watch) = Watch::new() else { return };
        // The clock goes on from there: what follows is a second or more later, perhaps on the next day.
        let later = DateTime::parse_from_rfc3339(&format!("{}Z", time.replace(' ', "T"))).unwrap();
        let later: DateTime<Utc> = later.with_timezone(&Utc) + chrono::TimeDelta::seconds(3);
        let (at, later) = (
            format!("@{time}"),
            format!("@{}", later.format("%Y-%m-%d %H:%M:%S")),
        );
        watch.send(&at, "s1", "SessionStart", json!({"source": "startup"}));
        watch.prompt(&at, "p1");
        watch.write(&later, "p1", "call-1");
        watch.look(&later);
        watch.stop(&later, "p1");
        assert_eq!(
            watch.turns(),
            [("Prompt p1".to_owned(), "completed", 1)],
            "{time}"
        );
        let log = watch.lab.log_of("s1");
        let ids = [log.session_id.as_str(), log.turns[0].request_id.as_str()];
        assert!(
            ids.iter().all(|id| id.contains(day)),
            "{time}: {ids:?}: was it faked at all?"
        );
        let last = watch.lab.records(&log.session_id).last().unwrap().at;
        assert!(last.year() >= 1970 && last < Utc::now() + chrono::TimeDelta::days(36_600));
        assert!(watch.lab.open_entries().is_empty(), "{time}");
        assert!(watch.lab.faults().is_empty(), "{time}: {:?}", watch.lab.faults());
    }
}
