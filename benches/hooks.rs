//! The speed and size bars of the hooks, measured on the executables that an installation builds.
//!
//! `cargo bench` builds the five hooks and an empty process alike (static musl where that target is
//! installed, else the machine's own), runs them in turn, and prints each figure beside its bar. Figures are
//! ratios and counts taken side by side in one run: the machine's speed cancels out. It ends by itself after
//! some minutes and leaves nothing behind. `cargo bench -- quick` takes a tenth of the runs, `cargo bench -- history`
//! measures the command over a long history alone.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a bench prints its table and stops at anything that it did not expect"
)]

mod history;
mod scale;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

const HOOKS: [&str; 5] = [
    "session-start",
    "turn-start",
    "pre-delegation",
    "post-tool",
    "stop",
];
/// CPU of the JavaScript hooks that do less, in microseconds (Maestro 1.6.4, measured: 65 to 74 ms).
const JAVASCRIPT_CPU: f64 = 65_000.0;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(i) = arguments.iter().position(|a| a == "peak") {
        return print_peak(Path::new(&arguments[i + 1]));
    }
    let quick = arguments.iter().any(|a| a == "quick");
    if arguments.iter().any(|a| a == "history") {
        let mut table = Table::default();
        history::rows(&mut table, quick);
        return println!("{}", table.text);
    }
    let runs = if quick { 60 } else { 600 };
    let built = Built::build();
    println!(
        "hooks built for {}, {runs} runs each, taken in turn\n",
        built.target
    );
    let lab = Lab::new();
    let mut table = Table::default();

    let times = lab.in_turn(&built, runs);
    let empty = times.p50("empty");
    let sh = times.p50("sh");
    for (hook, bar) in [
        ("post-tool", 2.2),
        ("session-start", 3.5),
        ("turn-start", 3.5),
        ("pre-delegation", 3.5),
        ("stop", 3.5),
    ] {
        table.ratio(
            &format!("{hook}: wall p50 / empty process"),
            times.p50(hook) / empty,
            bar,
        );
    }
    table.ratio("post-tool: wall p50 / sh -c :", times.p50("post-tool") / sh, 0.6);
    for hook in HOOKS {
        match lab.system_calls(&built, hook) {
            Some(calls) => table.most(&format!("{hook}: system calls"), calls, 90.0),
            None => table.note("system calls: strace is not installed"),
        }
    }
    let crowd = if quick { 160 } else { 800 };
    for hook in HOOKS {
        let name = format!("{hook}: 8 at once, 8 sessions: p99, ms");
        table.most(&name, lab.crowd(&built, hook, crowd, 8), 25.0);
    }
    table.most(
        "post-tool: 8 at once in one session: p99, ms",
        lab.crowd(&built, "post-tool", crowd, 1),
        25.0,
    );
    let cpu = HOOKS
        .map(|h| lab.cpu(&built, h, if quick { 50 } else { 300 }))
        .into_iter()
        .fold(0.0, f64::max);
    table.least(
        "JavaScript hook's CPU / the dearest hook's",
        JAVASCRIPT_CPU / cpu,
        40.0,
    );
    table.most("peak memory of any hook, MiB", lab.peak(&built), 4.0);
    let largest = HOOKS
        .map(|h| std::fs::metadata(built.path(h)).unwrap().len())
        .into_iter()
        .max()
        .unwrap();
    table.most("largest executable, MB", largest as f64 / 1e6, 1.5);
    let ordinary = lab.with_output_of(&built, 100);
    table.most(
        "1 MiB payload: ms over an ordinary one",
        (lab.with_output_of(&built, 1 << 20) - ordinary) * 1e3,
        10.0,
    );
    table.most("64 MiB payload: s", lab.with_output_of(&built, 64 << 20), 1.0);
    table.most("redaction of 64 KiB of ordinary text, ms", redaction(), 1.0);
    drop(lab);

    scale::rows(&built, &mut table, quick, runs);
    history::rows(&mut table, quick);
    println!("{}", table.text);
    println!(
        "empty process {:.0} µs, sh -c : {:.0} µs (p50); for the record, not for a bar",
        empty * 1e6,
        sh * 1e6
    );
}

fn print_peak(dir: &Path) {
    let built = Built {
        target: String::new(),
        dir: dir.to_owned(),
    };
    let lab = Lab::new();
    for hook in HOOKS {
        lab.run(&built, hook);
    }
    println!(
        "{:.2}",
        getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() as f64 / 1024.0
    );
}

/// The executables under measurement.
struct Built {
    target: String,
    dir: PathBuf,
}

impl Built {
    fn build() -> Self {
        let musl = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target_dir = root.join("target/bench-hooks");
        let cargo = |target: Option<&str>| {
            let mut command = Command::new(env!("CARGO"));
            command.current_dir(root).args([
                "build",
                "--release",
                "--no-default-features",
                "--bins",
                "--example",
                "empty",
            ]);
            command.arg("--target-dir").arg(&target_dir);
            command.args(target.iter().flat_map(|t| ["--target", t]));
            command.stderr(Stdio::null()).status().unwrap().success()
        };
        if cargo(Some(&musl)) {
            let dir = target_dir.join(&musl).join("release");
            return Self {
                target: format!("{musl}, static"),
                dir,
            };
        }
        assert!(
            cargo(None),
            "the hooks do not build: run cargo build --release --no-default-features --bins"
        );
        Self {
            target: "this machine's own target".to_owned(),
            dir: target_dir.join("release"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        if name == "empty" {
            self.dir.join("examples/empty")
        } else {
            self.dir.join(name)
        }
    }
}

/// Stores of its own for the hooks under measurement.
struct Lab {
    dir: tempfile::TempDir,
    count: std::cell::Cell<u64>,
}

impl Lab {
    fn new() -> Self {
        let lab = Self {
            dir: tempfile::tempdir().unwrap(),
            count: std::cell::Cell::new(0),
        };
        std::fs::create_dir_all(lab.dir.path().join("project/.git")).unwrap();
        lab
    }

    /// An ordinary payload of that hook; every one is a new event.
    fn payload(&self, hook: &str, output: usize) -> String {
        let n = self.count.get();
        self.count.set(n + 1);
        let turn = n / 40;
        let head = format!(
            r#""session_id":"4ce16ae1-8612-4c32-a512-22d960fc7555","transcript_path":"/home/dev/.claude/projects/p/4ce16ae1-8612-4c32-a512-22d960fc7555.jsonl","cwd":"{}","permission_mode":"acceptEdits""#,
            self.dir.path().join("project").display()
        );
        match hook {
            "session-start" => format!(r#"{{{head},"hook_event_name":"SessionStart","source":"resume"}}"#),
            "turn-start" => format!(
                r#"{{{head},"prompt_id":"p{n}","hook_event_name":"UserPromptSubmit","prompt":"Add a price column to the orders page ({n})"}}"#
            ),
            "pre-delegation" => format!(
                r#"{{{head},"prompt_id":"p{turn}","hook_event_name":"PreToolUse","tool_name":"Agent","tool_use_id":"toolu_d{n}","tool_input":{{"description":"find the orders page","prompt":"List the files that render the orders page","subagent_type":"general-purpose"}}}}"#
            ),
            "stop" => format!(
                r#"{{{head},"prompt_id":"p{n}","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"The price column is in place.","background_tasks":[]}}"#
            ),
            _ => format!(
                r#"{{{head},"prompt_id":"p{turn}","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"toolu_{n}","tool_input":{{"command":"echo hi","description":"say hi"}},"tool_response":{{"stdout":"{}","stderr":"","interrupted":false}},"duration_ms":68}}"#,
                "All 42 tests pass. ".repeat(output / 19)
            ),
        }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.env())
            .args(["--host", "claude-code"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs a program to its end and gives its wall time in seconds: from before the spawn to the reaping.
    fn timed(&self, program: &Path, payload: &str) -> f64 {
        let file = self
            .dir
            .path()
            .join(format!("payload-{:?}", std::thread::current().id()));
        std::fs::write(&file, payload).unwrap();
        let mut command = self.command(program);
        command.stdin(std::fs::File::open(&file).unwrap());
        let begun = Instant::now();
        let status = command.spawn().unwrap().wait().unwrap();
        let took = begun.elapsed().as_secs_f64();
        assert!(status.success(), "{} ended with {status}", program.display());
        took
    }

    fn run(&self, built: &Built, hook: &str) -> f64 {
        self.timed(&built.path(hook), &self.payload(hook, 4))
    }

    fn shell(&self) -> f64 {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", ":"])
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let begun = Instant::now();
        command.spawn().unwrap().wait().unwrap();
        begun.elapsed().as_secs_f64()
    }

    /// Everything in turn, so that a slow moment of the machine meets all alike. A stop needs its turn.
    fn in_turn(&self, built: &Built, runs: usize) -> Times {
        let mut times = Times::default();
        for _ in 0..runs {
            times.add("empty", self.timed(&built.path("empty"), ""));
            times.add("sh", self.shell());
            for hook in HOOKS {
                if hook == "stop" {
                    let n = self.count.get();
                    self.run(built, "turn-start");
                    self.count.set(n);
                }
                times.add(hook, self.run(built, hook));
            }
        }
        times
    }

    /// Two machines in turn.
    fn pair(a: &Self, b: &Self, built: &Built, runs: usize) -> (Times, Times) {
        let (mut first, mut second) = (Times::default(), Times::default());
        for lab in [a, b] {
            for hook in HOOKS {
                lab.run(built, hook);
            }
        }
        for _ in 0..runs {
            for hook in HOOKS {
                first.add(hook, a.run(built, hook));
                second.add(hook, b.run(built, hook));
            }
        }
        (first, second)
    }

    /// 8 at once, each in its own session or all in one: the 99th percentile of the wall time, in ms. A stop
    /// ends a turn that was begun.
    fn crowd(&self, built: &Built, hook: &str, runs: usize, sessions: usize) -> f64 {
        let session = |i: usize| format!("crowd-{hook}-{}", i % sessions);
        let payload = |i: usize, hook: &str, n: u64| {
            self.count.set(n);
            self.payload(hook, 4)
                .replace("4ce16ae1-8612-4c32-a512-22d960fc7555", &session(i))
        };
        let jobs: Vec<(PathBuf, Vec<[String; 2]>)> = (0..8)
            .map(|i| {
                let one = |k: usize| {
                    let n = (1_000_000 * (i + 1) + k) as u64;
                    [payload(i, "turn-start", n), payload(i, hook, n)]
                };
                (
                    self.dir.path().join(format!("crowd-{i}")),
                    (0..runs / 8).map(one).collect(),
                )
            })
            .collect();
        let (begin, path) = (built.path("turn-start"), built.path(hook));
        let env = self.env();
        let mut all: Vec<f64> = std::thread::scope(|scope| {
            let run = |(file, payloads): (PathBuf, Vec<[String; 2]>)| {
                let (begin, path, env) = (&begin, &path, &env);
                scope.spawn(move || {
                    let one = |program: &Path, payload: &str| {
                        std::fs::write(&file, payload).unwrap();
                        let mut command = Command::new(program);
                        command
                            .env_clear()
                            .envs(env.iter().cloned())
                            .args(["--host", "claude-code"]);
                        command
                            .stdin(std::fs::File::open(&file).unwrap())
                            .stdout(Stdio::null());
                        let begun = Instant::now();
                        command.spawn().unwrap().wait().unwrap();
                        begun.elapsed().as_secs_f64()
                    };
                    let timed = |[first, second]: &[String; 2]| {
                        if hook == "stop" {
                            one(begin, first);
                        }
                        one(path, second)
                    };
                    payloads.iter().map(timed).collect::<Vec<_>>()
                })
            };
            let handles: Vec<_> = jobs.into_iter().map(run).collect();
            handles.into_iter().flat_map(|j| j.join().unwrap()).collect()
        });
        all.sort_by(f64::total_cmp);
        all[(all.len() * 99) / 100] * 1e3
    }

    fn env(&self) -> Vec<(String, PathBuf)> {
        let dir = self.dir.path();
        let pid = PathBuf::from(std::process::id().to_string());
        vec![
            ("HOME".into(), dir.to_owned()),
            ("MAESTRO_HOOKS_DIR".into(), dir.join("hooks")),
            ("BOOKEND_DATA_DIR".into(), dir.join("data")),
            // As Claude Code gives it.
            ("CLAUDE_PID".into(), pid),
        ]
    }

    /// User and system time of one run, in microseconds.
    fn cpu(&self, built: &Built, hook: &str, runs: usize) -> f64 {
        let before = children_cpu();
        for _ in 0..runs {
            self.run(built, hook);
        }
        (children_cpu() - before).as_secs_f64() * 1e6 / runs as f64
    }

    /// Peak memory of the largest hook in MiB. The builder was our child too and larger than any hook, so a
    /// fresh copy of this program runs the hooks and looks at its own children.
    fn peak(&self, built: &Built) -> f64 {
        let own = std::env::current_exe().unwrap();
        let output = Command::new(own).arg("peak").arg(&built.dir).output().unwrap();
        String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .unwrap_or(f64::NAN)
    }

    fn system_calls(&self, built: &Built, hook: &str) -> Option<f64> {
        let strace = which("strace")?;
        let trace = self.dir.path().join("trace");
        let file = self.dir.path().join("payload-trace");
        if hook == "stop" {
            let n = self.count.get();
            self.run(built, "turn-start");
            self.count.set(n);
        }
        std::fs::write(&file, self.payload(hook, 4)).unwrap();
        let mut command = Command::new(strace);
        command
            .arg("-f")
            .arg("-o")
            .arg(&trace)
            .arg(built.path(hook))
            .args(["--host", "claude-code"]);
        command
            .env_clear()
            .envs(self.env())
            .stdin(std::fs::File::open(&file).unwrap())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().ok()?;
        let lines = std::fs::read_to_string(&trace).ok()?;
        Some(lines.lines().filter(|l| l.contains('(')).count() as f64)
    }

    /// Wall time of a post-tool hook whose payload holds that much output, the median of some runs.
    fn with_output_of(&self, built: &Built, bytes: usize) -> f64 {
        let mut times: Vec<f64> = (0..7)
            .map(|_| self.timed(&built.path("post-tool"), &self.payload("post-tool", bytes)))
            .collect();
        times.sort_by(f64::total_cmp);
        times[3]
    }
}

fn make_private(dir: &Path) {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .unwrap();
}

fn which(program: &str) -> Option<PathBuf> {
    ["/usr/bin", "/usr/local/bin", "/bin"]
        .iter()
        .map(|d| Path::new(d).join(program))
        .find(|p| p.exists())
}

fn children_cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let of = |t: nix::sys::time::TimeVal| {
        Duration::from_micros((t.tv_sec() * 1_000_000 + t.tv_usec()).unsigned_abs())
    };
    of(usage.user_time()) + of(usage.system_time())
}

/// Ordinary text: prose, code, hashes, paths.
fn redaction() -> f64 {
    let piece = "fn total(prices: &[u64]) -> u64 { prices.iter().sum() } // see src/cart.rs:42, commit 9fceb02d0ae598e95dc970b74767f19372d61af8\n\
                 The token count was 5 and the secret to good tests is patience; max_tokens: 4096.\n";
    let text = piece.repeat(65_536 / piece.len() + 1);
    let mut times: Vec<f64> = (0..50)
        .map(|_| {
            let begun = Instant::now();
            std::hint::black_box(bookend::redact::redact(std::hint::black_box(&text[..65_536])));
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[25]
}

#[derive(Default)]
struct Times(Vec<(String, f64)>);

impl Times {
    fn add(&mut self, what: &str, seconds: f64) {
        self.0.push((what.to_owned(), seconds));
    }

    fn p50(&self, what: &str) -> f64 {
        let mut times: Vec<f64> = self
            .0
            .iter()
            .filter(|(w, _)| w == what)
            .map(|(_, t)| *t)
            .collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}

#[derive(Default)]
struct Table {
    text: String,
}

impl Table {
    fn row(&mut self, what: &str, figure: f64, sign: char, bar: f64, met: bool) {
        let word = if met { "met" } else { "MISSED" };
        let _ = writeln!(self.text, "{what:<52} {figure:>9.2}   bar {sign} {bar:<6} {word}");
        print!(".");
        let _ = std::io::stdout().flush();
        if self.text.lines().count() == 1 {
            println!();
        }
    }

    fn ratio(&mut self, what: &str, figure: f64, bar: f64) {
        self.row(what, figure, '≤', bar, figure <= bar);
    }

    fn most(&mut self, what: &str, figure: f64, bar: f64) {
        self.row(what, figure, '≤', bar, figure <= bar);
    }

    fn least(&mut self, what: &str, figure: f64, bar: f64) {
        self.row(what, figure, '≥', bar, figure >= bar);
    }

    fn note(&mut self, what: &str) {
        let _ = writeln!(self.text, "{what}");
    }
}
