//! Small texts that several verbs print: ages, paths, microseconds.

use chrono::{DateTime, Utc};

use super::span::Style;
use crate::clock;
use crate::config;

/// How long ago, in one unit.
pub(super) fn age(then: Option<DateTime<Utc>>, now: DateTime<Utc>) -> String {
    then.map_or_else(|| "-".to_owned(), |at| clock::human(clock::age(at, now)))
}

/// How long ago, and when exactly.
pub(super) fn ago(then: DateTime<Utc>, now: DateTime<Utc>) -> String {
    format!(
        "{} ago ({})",
        clock::human(clock::age(then, now)),
        clock::stamp(then)
    )
}

/// A path with `~` for the home directory.
pub(super) fn home(path: &str) -> String {
    let home = config::var("HOME").filter(|h| h.len() > 1);
    match home.and_then(|h| path.strip_prefix(h.trim_end_matches('/')).map(str::to_owned)) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// A path short enough for a table: its last parts, `…` for what is left out.
pub(super) fn short(path: &str, max: usize) -> String {
    let path = home(path);
    if path.chars().count() <= max {
        return path;
    }
    let mut parts: Vec<&str> = Vec::new();
    let mut length = 2;
    for part in path.rsplit('/') {
        length += part.chars().count() + 1;
        if length > max && !parts.is_empty() {
            break;
        }
        parts.push(part);
    }
    parts.reverse();
    format!("…/{}", parts.join("/"))
}

/// How long the log is kept.
pub(super) fn retention(days: u32) -> String {
    match days {
        0 => "for ever (BOOKEND_LOG_DAYS=0)".to_owned(),
        days => format!(
            "{} after the last record",
            count(usize::try_from(days).unwrap_or(0), "day")
        ),
    }
}

/// `842 µs`, `1.9 ms`, `2.5 s`.
pub(super) fn micros(us: u32) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        _ => format!("{}.{} s", us / 1_000_000, us % 1_000_000 / 100_000),
    }
}

/// `12 KiB`, `3.4 GiB`.
pub(super) fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let (mut tenths, mut unit) = (n.saturating_mul(10) / 1024, "KiB");
    for next in UNITS {
        unit = next;
        if tenths < 10_240 || next == "TiB" {
            break;
        }
        tenths /= 1024;
    }
    if tenths < 100 {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", tenths / 10)
    }
}

/// `1 turn`, `3 turns`.
pub(super) fn count(n: usize, what: &str) -> String {
    if n == 1 {
        format!("{n} {what}")
    } else {
        format!("{n} {what}s")
    }
}

/// How a status looks.
pub(super) fn status_style(status: &str) -> Style {
    match status {
        "completed" => Style::Good,
        "in_progress" => Style::Notice,
        "failed" => Style::Bad,
        _ => Style::Plain,
    }
}

/// A word of the log for people: `in_progress` is `in progress`.
pub(super) fn word(status: &str) -> String {
    status.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_at_their_beginning_and_microseconds_have_a_unit() {
        assert_eq!(short("/a/b", 10), "/a/b");
        assert_eq!(short("/very/long/path/to/project", 16), "…/to/project");
        assert_eq!(short("/averyveryverylongname", 8), "…/averyveryverylongname");
        assert_eq!(
            (micros(842), micros(1_987), micros(2_560_000)),
            ("842 µs".into(), "1.9 ms".into(), "2.5 s".into())
        );
        assert_eq!(
            [0, 1_536, 15 * 1024 * 1024, 3 << 30, 1 << 50].map(bytes),
            ["0.0 KiB", "1.5 KiB", "15 MiB", "3.0 GiB", "1024 TiB"]
        );
    }
}
