//! Values on the command line: hosts, hooks and durations, each with a word on what is allowed.

use std::time::Duration;

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

#[cfg(test)]
mod tests {
    use super::*;

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
