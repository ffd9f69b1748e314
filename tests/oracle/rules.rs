//! The oracle: a public rule set in a Python environment, asked through `ask.py`.
//!
//! `BOOKEND_TEST_ORACLE` names the environment. The rules stay there: the tests read their patterns at run time and
//! keep none.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The variable that names the environment.
const VARIABLE: &str = "BOOKEND_TEST_ORACLE";

/// Compiling the rules takes the oracle 20 seconds, judging a hundred thousand texts as long.
const LONGEST: Duration = Duration::from_mins(10);

pub struct Oracle {
    python: PathBuf,
    folder: tempfile::TempDir,
}

/// A rule of the oracle.
pub struct Rule {
    pub id: String,
    pub pattern: String,
}

/// What the oracle found in a text.
pub struct Finding {
    pub rule: String,
    pub secret: String,
    /// Not just one half of a pair, as an account's name is.
    shown: bool,
}

impl Finding {
    /// A secret key without its id is not shown, for it opens nothing; the name of an account never does.
    pub fn is_secret(&self) -> bool {
        (self.shown || self.rule.contains("secret")) && !names_somebody(&self.rule)
    }
}

impl Oracle {
    /// The oracle, or `None` and a word on stdout.
    pub fn installed() -> Option<Self> {
        let Some(environment) = std::env::var_os(VARIABLE) else {
            println!("skipped: no rule set to measure against (name its environment in {VARIABLE})");
            return None;
        };
        let python = PathBuf::from(environment).join("bin/python");
        assert!(python.is_file(), "{VARIABLE}: {} is no file", python.display());
        let folder = tempfile::tempdir().unwrap();
        Some(Self { python, folder })
    }

    pub fn rules(&self) -> Vec<Rule> {
        let read = |line: &str| serde_json::from_str::<(String, String)>(line).unwrap();
        let rules = self.ask("rules", &[]).lines().map(read).collect::<Vec<_>>();
        assert!(rules.len() > 300, "the rule set has {} rules only", rules.len());
        rules
            .into_iter()
            .map(|(id, pattern)| Rule { id, pattern })
            .collect()
    }

    /// What it finds in each text.
    pub fn scan<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Vec<Vec<Finding>> {
        let texts: Vec<_> = texts.into_iter().collect();
        let answers: Vec<_> = self.ask("scan", &texts).lines().map(findings).collect();
        assert_eq!(answers.len(), texts.len());
        answers
    }

    fn ask(&self, task: &str, texts: &[&str]) -> String {
        let file = |name: &str| self.folder.path().join(name);
        let lines: Vec<_> = texts
            .iter()
            .map(|text| serde_json::to_string(text).unwrap())
            .collect();
        fs::write(file("in"), lines.join("\n")).unwrap();
        let cache = file("compiled");
        fs::create_dir_all(&cache).unwrap();
        let mut child = Command::new(&self.python)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/ask.py"))
            .args([task.as_ref(), cache.as_os_str()])
            .stdin(File::open(file("in")).unwrap())
            .stdout(Stdio::from(File::create(file("out")).unwrap()))
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > LONGEST {
                child.kill().unwrap();
                panic!("the oracle took longer than {LONGEST:?}");
            }
            thread::sleep(Duration::from_millis(50));
        };
        assert!(status.success(), "the oracle: {status}");
        fs::read_to_string(file("out")).unwrap()
    }
}

fn findings(line: &str) -> Vec<Finding> {
    let found: Vec<(String, String, bool)> = serde_json::from_str(line).unwrap();
    let finding = |(rule, secret, shown)| Finding { rule, secret, shown };
    found.into_iter().map(finding).collect()
}

/// Rules for what stands beside a secret and is none.
pub fn names_somebody(rule: &str) -> bool {
    let id = rule.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
    let public = [
        "-pub-",
        "-public-",
        "-publishable-",
        "-client-sdk-",
        "-mobile-sdk-",
    ];
    id.ends_with("-id") || id.ends_with("-repository") || public.iter().any(|part| id.contains(part))
}
