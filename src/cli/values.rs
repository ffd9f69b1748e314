//! Values on the command line: hosts, hooks and durations, each with a word on what is allowed.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};

use crate::clock;
use crate::hook::Hook;
use crate::host::Host;
use crate::task::agent_files::Agent;

/// A host by its id.
pub(super) fn host(text: &str) -> Result<Host, String> {
    Host::from_id(text).ok_or_else(|| {
        let ids: Vec<&str> = Host::ALL.iter().map(|h| h.id()).collect();
        format!("the hosts are {}", ids.join(", "))
    })
}

/// An agent whose state file can be made.
pub(super) fn agent(text: &str) -> Result<Agent, String> {
    match text {
        "planner" => Ok(Agent::Planner),
        "toolkit" => Ok(Agent::Toolkit),
        _ => Err("the agents are planner and toolkit; a builder begins its sessions itself".to_owned()),
    }
}

/// A hook by its executable's name.
pub(super) fn hook(text: &str) -> Result<Hook, String> {
    Hook::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Hook::ALL.iter().map(|h| h.name()).collect();
        format!("the hooks are {}", names.join(", "))
    })
}

/// `30m`, `2h`, `1d`, `1h30m`, `0s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "give a number and a unit, like 30m, 2h or 1d".to_owned();
    let mut rest = text.trim();
    let mut seconds = 0_u64;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, behind) = rest.split_at_checked(digits).ok_or_else(wrong)?;
        let units = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, next) = behind.split_at_checked(units).ok_or_else(wrong)?;
        let each = match unit.trim() {
            "s" => 1,
            "m" | "min" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "w" => 604_800,
            _ => return Err(wrong()),
        };
        let number: u64 = number.parse().map_err(|_| wrong())?;
        seconds = number
            .checked_mul(each)
            .and_then(|n| n.checked_add(seconds))
            .ok_or_else(wrong)?;
        rest = next;
    }
    Ok(Duration::from_secs(seconds))
}

/// `2026-04-09` (its beginning, UTC), `2026-04-09T12:00:04Z`, or how long ago: `7d`.
pub(super) fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    let midnight = || {
        NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .ok()?
            .and_hms_opt(0, 0, 0)
    };
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Ok(at.to_utc());
    }
    if let Some(at) = midnight() {
        return Ok(at.and_utc());
    }
    duration(text)
        .ok()
        .and_then(|ago| clock::now().checked_sub_signed(chrono::TimeDelta::from_std(ago).ok()?))
        .ok_or_else(|| {
            "give a date like 2026-04-09, a time like 2026-04-09T12:00:04Z, or how long ago it was, like 7d"
                .to_owned()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates_times_or_ages() {
        let at = |text: &str| moment(text).map(|at| at.to_rfc3339());
        assert_eq!(at("2026-04-09"), Ok("2026-04-09T00:00:00+00:00".to_owned()));
        assert_eq!(
            at("2026-04-09T12:00:04+02:00"),
            Ok("2026-04-09T10:00:04+00:00".to_owned())
        );
        assert!(moment("7d").unwrap() < clock::now() && moment("0s").is_ok());
        for bad in ["", "yesterday", "2026-02-30", "2026-04-09 12:00", "99999999999d"] {
            assert!(moment(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_are_numbers_with_units() {
        for (text, seconds) in [
            ("30m", 1_800),
            ("2h", 7_200),
            ("1d", 86_400),
            ("1h30m", 5_400),
            ("0s", 0),
            (" 1w ", 604_800),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in [
            "",
            "2",
            "h",
            "-1h",
            "2 fortnights",
            "1.5h",
            "99999999999999999999d",
            "é",
        ] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
