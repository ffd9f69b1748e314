//! What a machine with a past costs: many live sessions, a long history, a prune that has much to do.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Built, HOOKS, Lab, Table, make_private};

/// As many sessions as one run of a hook looks at whole, beside its own.
const STALE: usize = 60;

pub(super) fn rows(built: &Built, table: &mut Table, quick: bool, runs: usize) {
    let (roots, sessions) = if quick { (1_000, 2_000) } else { (10_000, 100_000) };
    let big = Lab::new();
    fill(&big, built, roots, sessions);
    let small = Lab::new();
    let (alone, crowded) = Lab::pair(&small, &big, built, runs / 2);
    for hook in HOOKS {
        let name = format!("{hook}: {roots} live, {sessions} logged / none");
        table.ratio(&name, crowded.p50(hook) / alone.p50(hook), 1.2);
    }
    let newest = big.median(&["log", "sessions", "--limit", "10"]);
    table.note(&format!(
        "log sessions with {roots} live sessions, which it looks through for what waits: {newest:.0} ms"
    ));
    table.most(
        &format!("prune of {STALE} stale sessions: ms over a start"),
        prune(built),
        25.0,
    );
}

/// Live sessions that are not stale, and a history of copies of one real session.
fn fill(lab: &Lab, built: &Built, live: usize, logged: usize) {
    let count = lab.count.get();
    for hook in ["turn-start", "post-tool", "stop"] {
        lab.count.set(count);
        lab.run(built, hook);
    }
    let (hooks, log) = (lab.dir.path().join("hooks"), lab.dir.path().join("data/log"));
    let real: PathBuf = std::fs::read_dir(&log).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read(real.join("log.jsonl")).unwrap();
    for i in 0..live {
        let dir = hooks.join(format!("session-{i:06}"));
        make_private(&dir);
        std::fs::write(dir.join("events.jsonl"), "{}\n").unwrap();
    }
    for i in 0..logged {
        let dir = log.join(format!("ClaudeCode-20260101T000000Z-{i:08x}"));
        make_private(&dir);
        std::fs::write(dir.join("log.jsonl"), &text).unwrap();
    }
}

/// What a session's start takes longer when it finds that many stale sessions, each with an open turn.
fn prune(built: &Built) -> f64 {
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let lab = Lab::new();
            lab.run(built, "session-start");
            let alone = lab.run(built, "session-start");
            for i in 0..STALE {
                let payload = lab.payload("turn-start", 0);
                let payload = payload.replace("4ce16ae1-8612-4c32-a512-22d960fc7555", &format!("old-{i}"));
                lab.timed(&built.path("turn-start"), &payload);
                age(&lab.dir.path().join("hooks").join(format!("old-{i}")));
            }
            let took = lab.run(built, "session-start");
            let left = std::fs::read_dir(lab.dir.path().join("hooks")).unwrap().count();
            assert!(left < STALE / 2, "it pruned nothing: {left}");
            (took - alone) * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[2]
}

fn age(dir: &Path) {
    let then = SystemTime::now() - Duration::from_secs(3 * 60 * 60);
    for entry in std::fs::read_dir(dir).unwrap() {
        let file = std::fs::File::open(entry.unwrap().path()).unwrap();
        file.set_modified(then).unwrap();
    }
}
