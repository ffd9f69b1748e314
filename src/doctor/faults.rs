//! The faults of the last day, by what went wrong. A hook notes a fault and the host goes on, so this is
//! where somebody hears of it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::finding::Finding;
use crate::clock;

/// So many different ones are told.
const MOST: usize = 20;
/// What a hook has mended by itself, when it notes it: nothing is left to do.
const MENDED: &[&str] = &[
    "torn bytes were ignored",
    "it was skipped",
    "it was moved to",
    "it was removed",
];

#[derive(Debug, Default)]
struct Group {
    count: usize,
    last: Option<DateTime<Utc>>,
    who: BTreeSet<String>,
}

/// Those that were found.
#[derive(Debug)]
pub(super) struct Faults {
    now: DateTime<Utc>,
    groups: BTreeMap<String, Group>,
    /// When a hook last had nothing to complain of.
    well: Option<DateTime<Utc>>,
}

impl Faults {
    /// None yet.
    pub(super) fn new(now: DateTime<Utc>) -> Self {
        Self {
            now,
            groups: BTreeMap::new(),
            well: None,
        }
    }

    /// Takes one in; `who` is the executable or the event.
    pub(super) fn take(&mut self, what: &str, who: &str, at: DateTime<Utc>) {
        if self.now - at <= TimeDelta::days(1) {
            let group = self.groups.entry(what.to_owned()).or_default();
            group.count += 1;
            group.last = group.last.max(Some(at));
            group.who.insert(who.to_owned());
        }
    }

    /// An event was handled without a fault.
    pub(super) fn well(&mut self, at: DateTime<Utc>) {
        self.well = self.well.max(Some(at));
    }

    /// What is to be said of them, the latest first. One after which a hook ran well has passed.
    pub(super) fn tell(self, findings: &mut Vec<Finding>) {
        let mut groups: Vec<(String, Group)> = self.groups.into_iter().collect();
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.last));
        let more = groups.len().saturating_sub(MOST);
        for (what, group) in groups.into_iter().take(MOST) {
            let who = group.who.into_iter().collect::<Vec<_>>().join(", ");
            let times = match group.count {
                1 => "once".to_owned(),
                n => format!("{n} times"),
            };
            let ago = group.last.map_or_else(String::new, |at| {
                let ago = clock::human(clock::age(at, self.now));
                format!(", {}{ago} ago", if group.count > 1 { "last " } else { "" })
            });
            let text = format!("It failed to {what} ({times} in the last day{ago}).");
            let passed = self.well > group.last || MENDED.iter().any(|mended| what.contains(mended));
            findings.push(if passed {
                Finding::note("fault", who, text)
                    .remedy("Nothing: it has passed; `bookend events` shows at which event it was.")
            } else {
                Finding::problem("fault", who, text).remedy(
                    "Mend what it names; `bookend events` shows at which event it was, and the next one that \
                     goes well ends this.",
                )
            });
        }
        if more > 0 {
            findings.push(
                Finding::note(
                    "fault",
                    "",
                    format!("{more} other faults of the last day are not listed."),
                )
                .remedy("Look into errors.jsonl in the data directory, and `bookend events`."),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    fn told(faults: Faults) -> Vec<(Level, String)> {
        let mut findings = Vec::new();
        faults.tell(&mut findings);
        findings.into_iter().map(|f| (f.level, f.what)).collect()
    }

    #[test]
    fn faults_are_counted_by_their_text_and_pass_when_a_hook_runs_well() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let ago = |min: i64| now - TimeDelta::minutes(min);
        let mut faults = Faults::new(now);
        faults.take("write the session log: no space", "stop", ago(50));
        faults.take("write the session log: no space", "post-tool", ago(30));
        faults.take("open it", "stop", ago(10));
        faults.take("forget", "stop", ago(60 * 24 + 1));
        faults.well(ago(20));
        assert_eq!(
            told(faults),
            [
                (Level::Problem, "It failed to open it (once in the last day, 10 min ago).".to_owned()),
                (
                    Level::Note,
                    "It failed to write the session log: no space (2 times in the last day, last 30 min ago)."
                        .to_owned()
                ),
            ]
        );
    }

    #[test]
    fn what_a_hook_mended_itself_is_no_problem_and_a_flood_is_cut_off() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let mut faults = Faults::new(now);
        faults.take(
            "read the journal's last line: 7 torn bytes were ignored",
            "Stop",
            now,
        );
        assert_eq!(told(faults)[0].0, Level::Note);
        let mut faults = Faults::new(now);
        for i in 0..50 {
            faults.take(&format!("do {i}"), "stop", now);
        }
        let told = told(faults);
        assert_eq!(told.len(), 21);
        assert!(told[20].1.starts_with("30 other faults"), "{told:?}");
    }
}
