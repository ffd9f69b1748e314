//! Stdin, stdout and signals: held, closed, endless, gone.

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bookend::hook::Hook;
use serde_json::json;

use super::{HANG, ends, prompt, shell, spawn, stop};
use crate::harness::{Answer, Lab, executable, with};

/// Less than any silence that a hook waits for.
const AT_ONCE: Duration = Duration::from_millis(250);

#[test]
fn a_stdin_that_is_never_closed_is_not_waited_for() {
    let lab = Lab::new();
    lab.prompt("p0", "Before");
    let mut quickest = HANG;
    // (A busy machine makes single ones slow.)
    for _ in 0..40 {
        if quickest < AT_ONCE {
            break;
        }
        let (child, mut stdin) = spawn(&lab, Hook::Stop);
        stdin.write_all(stop(&lab, "s1").to_string().as_bytes()).unwrap();
        let (answer, took) = ends(child);
        drop(stdin);
        answer.ok();
        quickest = quickest.min(took);
    }
    println!("answered after {quickest:?} with stdin held open");
    assert!(quickest < AT_ONCE, "a silence was waited for: {quickest:?}");
    assert!(lab.state("s1").events.contains_key("Stop"));
}

#[test]
fn half_a_payload_and_then_silence_or_drops_of_it_end_soon() {
    let lab = Lab::new();
    let text = stop(&lab, "s1").to_string();
    for first in [
        text.get(..text.len() / 2).unwrap(),
        "",
        "{",
        "null",
        "\"x",
        " ",
        "\u{FEFF}",
    ] {
        let (child, mut stdin) = spawn(&lab, Hook::Stop);
        stdin.write_all(first.as_bytes()).unwrap();
        let (answer, _) = ends(child);
        assert_eq!(answer.ok().stdout, "", "{first:?}");
        drop(stdin);
    }
    // A host that sends a byte now and then: the hook's own deadline counts, not the pauses.
    let (child, mut stdin) = spawn(&lab, Hook::Stop);
    let began = Instant::now();
    let drops = std::thread::spawn(move || {
        for byte in text.bytes().cycle().take(400) {
            if byte != b'}' && stdin.write_all(&[byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let (answer, _) = ends(child);
    answer.ok();
    println!("drops of a payload were read for {:?}", began.elapsed());
    drops.join().unwrap();
}

#[test]
fn streams_that_are_closed_empty_or_a_terminal_do_no_harm() {
    let lab = Lab::new();
    let event = prompt(&lab, "s1");
    for hook in Hook::ALL {
        for script in [
            r#"exec "$0" --host claude-code <&-"#,
            r#"exec "$0" --host claude-code </dev/null"#,
            r#"exec "$0" --host claude-code <&- >&- 2>&-"#,
            r#"exec "$0" --host claude-code </"#,
            r#"head -c 300000 /dev/urandom | "$0" --host claude-code"#,
            r#"exec "$0" --host claude-code 0>/dev/null"#,
        ] {
            let answer = shell(&lab, script, hook, &event).ok();
            assert_eq!(answer.stdout, "", "{script}");
        }
    }
    shell(
        &lab,
        r#"exec "$0" --host claude-code </dev/zero"#,
        Hook::Stop,
        &event,
    )
    .ok();
    let live = lab.root().map_or(0, |r| r.dir().entries().unwrap().len());
    assert_eq!(live, 0, "no event came in");
    assert!(
        lab.faults()
            .iter()
            .all(|f| f.what.as_str().starts_with("read the payload"))
    );
    let start = json!({"session_id": "s1", "cwd": lab.project(), "hook_event_name": "SessionStart", "source": "startup",
                       "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl"});
    for (i, script) in [
        r#"exec "$0" --host claude-code >&-"#,
        r#"exec "$0" --host claude-code >/dev/full"#,
        r#"exec "$0" --host claude-code 2>&-"#,
        r#"exec "$0" --host claude-code </dev/stdin 1</dev/null"#,
    ]
    .iter()
    .enumerate()
    {
        let code = shell(&lab, script, Hook::SessionStart, &start).code;
        assert_eq!(code, Some(0), "{script}");
        assert_eq!(
            lab.state("s1").events["SessionStart"].count,
            i as u64 + 1,
            "{script}"
        );
    }
    let tty = lab
        .command("script")
        .args([
            "-qec",
            &format!("'{}' --host claude-code", executable(Hook::Stop)),
            "/dev/null",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    match tty {
        Ok(child) => assert_eq!(ends(child).0.ok().stdout, ""),
        Err(e) => println!("SKIPPED: no `script` for a terminal: {e}"),
    }
}

#[test]
fn a_reader_that_is_gone_is_the_hosts_affair() {
    let lab = Lab::new();
    let (mut child, mut stdin) = spawn(&lab, Hook::SessionStart);
    drop(child.stdout.take());
    let start = with(
        prompt(&lab, "s1"),
        json!({"hook_event_name": "SessionStart", "source": "startup"}),
    );
    write!(stdin, "{start}").unwrap();
    drop(stdin);
    let (answer, _) = ends(child);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    assert_eq!(lab.state("s1").n, 1);
}

#[test]
fn large_payloads_need_bounded_memory_and_break_no_pipe() {
    let lab = Lab::new();
    // (MiB, where, address space in KiB)
    for (i, (mib, field, limit)) in [
        (1, "prompt", 64 * 1024),
        (8, "junk", 128 * 1024),
        (60, "prompt", 512 * 1024),
        (63, "junk", 512 * 1024),
        (66, "prompt", 512 * 1024),
        (90, "junk", 512 * 1024),
    ]
    .into_iter()
    .enumerate()
    {
        let s = format!("s{i}");
        let mut event = prompt(&lab, &s);
        event[field] = json!("word & ".repeat(mib * 1024 * 1024 / 7));
        let bytes = event.to_string().into_bytes();
        let mut child = lab
            .command("sh")
            .args([
                "-c",
                &format!("ulimit -v {limit}; exec \"$0\" --host claude-code"),
                executable(Hook::TurnStart),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let began = Instant::now();
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let output = child.wait_with_output().unwrap();
        println!("{mib} MiB in {field}: {:?}", began.elapsed());
        let answer = Answer::of(output);
        assert_eq!(
            (answer.code, answer.stderr.as_str()),
            (Some(0), ""),
            "{mib} MiB in {field}"
        );
        writer
            .join()
            .unwrap()
            .unwrap_or_else(|e| panic!("{mib} MiB in {field}: {e}"));
        if mib < 64 {
            assert_eq!(lab.state(&s).turns.count, 1, "{mib} MiB in {field}");
        }
    }
}

#[test]
fn a_hook_that_is_told_to_end_in_the_middle_leaves_everything_whole() {
    let lab = Lab::new();
    lab.prompt("p1", "First");
    let text = stop(&lab, "s1").to_string();
    let lock = File::open(lab.hooks_dir().join("s1")).unwrap();
    for wait in 0..12 {
        let (child, mut stdin) = spawn(&lab, Hook::Stop);
        // While it reads, and while it waits for a lock.
        let held = wait % 2 == 1;
        if held {
            lock.lock().unwrap();
            stdin.write_all(text.as_bytes()).unwrap();
        } else {
            stdin.write_all(&text.as_bytes()[..40]).unwrap();
        }
        std::thread::sleep(Duration::from_millis(5 * wait));
        let pid = child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
        let (answer, _) = ends(child);
        assert!(matches!(answer.code, None | Some(0)), "{answer:?}");
        assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""));
        if held {
            lock.unlock().unwrap();
        }
    }
    lab.write("p1", "call-1", "/p/x.rs");
    lab.stop("p1", "Done.");
    let log = lab.log_of("s1");
    assert_eq!((log.turns.len(), log.turns[0].status), (1, "completed"));
    assert!(log.problems.is_empty() && lab.open_entries().is_empty());
}
