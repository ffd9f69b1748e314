//! A host that ends its hooks at once, as one does that ends itself after a failure of its model.

use std::io::Write;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use bookend::hook::Hook;
use serde_json::json;

use super::{HANG, ends, prompt, spawn, stop};
use crate::harness::{Lab, with};

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .arg(name)
        .arg(child.id().to_string())
        .status();
    assert!(sent.unwrap().success());
}

/// Waits until the hook's own first instruction has run: it holds the signal back then.
#[track_caller]
fn has_begun(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    let began = Instant::now();
    loop {
        let text = std::fs::read_to_string(&status).unwrap();
        let blocked = text
            .lines()
            .find_map(|line| line.strip_prefix("SigBlk:"))
            .unwrap();
        let blocked = u64::from_str_radix(blocked.trim(), 16).unwrap();
        if blocked >> 14 & 1 == 1 {
            return;
        }
        assert!(began.elapsed() < HANG, "it never holds SIGTERM back");
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn an_event_is_kept_though_the_host_ends_its_hook_at_once() {
    if !std::path::Path::new("/proc/self/status").exists() {
        println!("SKIPPED: only /proc says when a hook has begun");
        return;
    }
    let lab = Lab::new();
    for (n, name) in ["-TERM", "-HUP", "-INT"].iter().cycle().take(30).enumerate() {
        let turn = json!({"prompt_id": format!("p{n}")});
        lab.call(Hook::TurnStart, &with(prompt(&lab, "s1"), turn.clone()))
            .run()
            .ok();
        let failed =
            json!({"hook_event_name": "StopFailure", "error": "rate_limit", "stop_hook_active": null});
        let event = with(with(stop(&lab, "s1"), failed), turn);
        let (child, mut stdin) = spawn(&lab, Hook::Stop);
        has_begun(&child);
        if n % 2 == 0 {
            signal(&child, name);
            stdin.write_all(event.to_string().as_bytes()).unwrap();
        } else {
            stdin.write_all(event.to_string().as_bytes()).unwrap();
            signal(&child, name);
        }
        let (answer, _) = ends(child);
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{name} {n}");
    }
    let log = lab.log_of("s1");
    assert_eq!(log.turns.len(), 30);
    assert!(
        log.turns.iter().all(|t| t.status == "failed" && !t.presumed),
        "{log:#?}"
    );
}

#[test]
fn a_hook_that_holds_a_signal_back_ends_by_its_own_deadline_and_by_a_kill_at_once() {
    let lab = Lab::new();
    for (name, dies) in [("-TERM", false), ("-KILL", true)] {
        // Its host says nothing and closes nothing.
        let (child, stdin) = spawn(&lab, Hook::Stop);
        has_begun(&child);
        signal(&child, name);
        let (answer, took) = ends(child);
        println!("{name}: over after {took:?}");
        assert_eq!(answer.code, if dies { None } else { Some(0) }, "{name}");
        drop(stdin);
    }
}
