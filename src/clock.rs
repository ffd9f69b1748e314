//! The one clock. Everything else takes the time as an argument, so that tests can choose it.

use std::time::{Duration, Instant};

use chrono::{DateTime, SubsecRound, Utc};

/// Now, to the millisecond: what journal and log hold.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the clock's home")]
pub fn now() -> DateTime<Utc> {
    Utc::now().trunc_subsecs(3)
}

/// `20261130T061337Z`: the compact form in session and request ids.
#[must_use]
pub fn compact(at: DateTime<Utc>) -> String {
    at.format("%Y%m%dT%H%M%SZ").to_string()
}

/// RFC 3339 in UTC to the second, as people read it: `2026-11-30T06:13:37Z`.
#[must_use]
pub fn stamp(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}

/// How long ago `then` was, never negative: a clock that went back reads as "just now".
#[must_use]
pub fn age(then: DateTime<Utc>, now: DateTime<Utc>) -> Duration {
    (now - then).to_std().unwrap_or_default()
}

/// A duration in one unit for people: `12 s`, `4 min`, `3 h`, `5 d`.
#[must_use]
pub fn human(age: Duration) -> String {
    match age.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3_600 => format!("{} min", s / 60),
        s @ 3_600..86_400 => format!("{} h", s / 3_600),
        s => format!("{} d", s / 86_400),
    }
}

/// Measures this process, from its first line to the journal's.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// How long ago it began.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Microseconds since the start.
    #[must_use]
    pub fn micros(self) -> u32 {
        u32::try_from(self.0.elapsed().as_micros()).unwrap_or(u32::MAX)
    }
}
