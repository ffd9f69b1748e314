//! What doctor says, whole: `{ok, hosts[], stores[], latency{}, findings[]}`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::finding::{Finding, Level};
use super::fix::Fix;
use super::hosts::HostReport;
use crate::hook::Hook;

/// Everything that was found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Nothing needs doing.
    pub ok: bool,
    /// The hosts.
    pub hosts: Vec<HostReport>,
    /// The stores.
    pub stores: Vec<StoreReport>,
    /// What each hook takes.
    pub latency: Latency,
    /// What is the matter, the most important first.
    pub findings: Vec<Finding>,
}

/// Which store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Live state.
    HookRoot,
    /// The log.
    DataDir,
}

/// One store.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreReport {
    /// Where it is.
    #[serde(serialize_with = "lossily")]
    pub path: PathBuf,
    /// Which it is.
    pub kind: Kind,
    /// It is there.
    pub exists: bool,
    /// It may be used; a store that is not there yet is as safe as the place where it will be made.
    pub safe: bool,
    /// Bytes that can still be written there.
    pub free_bytes: Option<u64>,
    /// How many sessions it holds.
    pub sessions: usize,
    /// How many of them were read: the newest ones.
    pub looked_at: usize,
    /// A hook that starts here, now, would use it.
    pub in_use: bool,
    /// Of the log: what it and its index take, and how long it is kept.
    pub history: Option<History>,
}

/// How much history there is, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// Bytes of the logs.
    pub log_bytes: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// Days that a session is kept after its last record; 0: for ever.
    pub retention_days: u32,
}

/// Microseconds of wall time that each hook takes here, the median of several runs; `None`: it could not be
/// measured, and a finding says why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latency(pub BTreeMap<&'static str, Option<u32>>);

impl Latency {
    /// In the order of a session.
    pub fn rows(&self) -> impl Iterator<Item = (Hook, Option<u32>)> {
        Hook::ALL
            .into_iter()
            .filter_map(|hook| Some((hook, *self.0.get(hook.name())?)))
    }
}

impl Serialize for Latency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.rows().map(|(hook, micros)| (hook.name(), micros)))
    }
}

/// A path need not be text, and JSON is.
fn lossily<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

impl Report {
    /// Of its parts; sorts the findings.
    #[must_use]
    pub fn new(
        hosts: Vec<HostReport>,
        stores: Vec<StoreReport>,
        latency: Latency,
        mut findings: Vec<Finding>,
    ) -> Self {
        // Stable: within a level as they were found.
        findings.sort_by_key(|f| f.level);
        Self {
            ok: findings.iter().all(|f| f.level != Level::Problem),
            hosts,
            stores,
            latency,
            findings,
        }
    }

    /// How many things need doing.
    #[must_use]
    pub fn problems(&self) -> usize {
        self.findings.iter().filter(|f| f.level == Level::Problem).count()
    }

    /// What `--fix` would do, each change once.
    #[must_use]
    pub fn fixes(&self) -> Vec<Fix> {
        let mut fixes: Vec<Fix> = Vec::new();
        let wanted = self.findings.iter().filter_map(|f| f.fix.clone());
        for fix in wanted.flat_map(Fix::single) {
            if !fixes.contains(&fix) {
                fixes.push(fix);
            }
        }
        fixes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_problem_makes_a_report_not_ok_and_problems_come_first() {
        let of = |findings| Report::new(Vec::new(), Vec::new(), Latency::default(), findings);
        let fine = of(vec![
            Finding::note("n", "s", "w"),
            Finding::not_proven("p", "s", "w"),
        ]);
        assert_eq!((fine.ok, fine.problems(), fine.findings[0].code), (true, 0, "p"));
        let bad = of(vec![
            Finding::note("n", "s", "w"),
            Finding::problem("b", "s", "w"),
        ]);
        assert_eq!((bad.ok, bad.problems(), bad.findings[0].code), (false, 1, "b"));
        let json = serde_json::to_value(&bad).unwrap();
        let names: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(names, ["ok", "hosts", "stores", "latency", "findings"]);
    }
}
