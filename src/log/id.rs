//! The identifiers of the session log (second seed): parsed once, and safe as a file name by construction,
//! since neither form can hold anything but letters, digits and `-`.

use std::fmt;

use chrono::{DateTime, NaiveDateTime, Timelike, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::clock;
use crate::host::Host;

/// The form of session ids as it is told; the digits are a real date and time besides.
#[cfg(feature = "cli")]
pub const SESSION_REGEX: &str = r"^[A-Z][A-Za-z0-9]*-\d{8}T\d{6}Z-[a-z0-9]+(?:-[a-z0-9]+)*$";
/// The form of request ids as it is told; the digits are a real date and time besides.
#[cfg(feature = "cli")]
pub const REQUEST_REGEX: &str = r"^req-\d{8}T\d{6}Z-[a-z0-9]+(?:-[a-z0-9]+)*$";
/// `^[A-Z][A-Za-z0-9]*-\d{8}T\d{6}Z-[a-z0-9]+(?:-[a-z0-9]+)*$`, digits a real date and time.
pub const SESSION_FORMAT: &str = "<Agent>-<yyyyMMddTHHmmssZ>-<suffix>";
/// `^req-\d{8}T\d{6}Z-[a-z0-9]+(?:-[a-z0-9]+)*$`, digits a real date and time.
pub const REQUEST_FORMAT: &str = "req-<yyyyMMddTHHmmssZ>-<slug or ordinal>";
/// Longest identifier taken: a file name must hold it.
const MAX: usize = 200;

/// The id of a log session, e.g. `ClaudeCode-20261130T061337Z-1f2e3d4c`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

/// The id of a turn, e.g. `req-20261130T061337Z-turn-1`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RequestId(String);

/// An identifier that does not have its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadId {
    /// What was given.
    pub given: String,
    /// The form it should have.
    pub format: &'static str,
}

impl fmt::Display for BadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not of the form {}", self.given, self.format)
    }
}

impl SessionId {
    /// The hooks' id for a host session that began `at`.
    #[must_use]
    pub fn of(host: Host, host_session: &str, at: DateTime<Utc>) -> Self {
        let digest = Sha256::new()
            .chain_update(host.id())
            .chain_update([0])
            .chain_update(host_session)
            .finalize();
        let suffix: String = digest.iter().take(4).map(|b| format!("{b:02x}")).collect();
        Self(format!("{}-{}-{suffix}", host.agent(), clock::compact(at)))
    }

    /// The agent: the part before the first `-`.
    #[must_use]
    pub fn agent(&self) -> &str {
        self.0.split('-').next().unwrap_or_default()
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RequestId {
    /// The hooks' id for the `n`th turn of a session.
    #[must_use]
    pub fn turn(at: DateTime<Utc>, n: u32) -> Self {
        Self(format!("req-{}-turn-{n}", clock::compact(at)))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SessionId {
    type Error = BadId;

    fn try_from(given: String) -> Result<Self, BadId> {
        let agent = |a: &str| {
            a.starts_with(|c: char| c.is_ascii_uppercase()) && a.chars().all(|c| c.is_ascii_alphanumeric())
        };
        if well_formed(&given, agent) {
            Ok(Self(given))
        } else {
            Err(BadId {
                given,
                format: SESSION_FORMAT,
            })
        }
    }
}

impl TryFrom<String> for RequestId {
    type Error = BadId;

    fn try_from(given: String) -> Result<Self, BadId> {
        if well_formed(&given, |a| a == "req") {
            Ok(Self(given))
        } else {
            Err(BadId {
                given,
                format: REQUEST_FORMAT,
            })
        }
    }
}

fn well_formed(id: &str, head: impl Fn(&str) -> bool) -> bool {
    let mut parts = id.splitn(3, '-');
    let (Some(first), Some(time), Some(suffix)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let kebab =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    id.len() <= MAX && head(first) && is_real_time(time) && suffix.split('-').all(kebab)
}

/// Digit by digit: the date library also takes blanks and signs between them, and a 61st second.
fn is_real_time(time: &str) -> bool {
    let form = "00000000T000000Z".bytes();
    let is_spelt = time.len() == form.len()
        && form.zip(time.bytes()).all(|(f, b)| match f {
            b'0' => b.is_ascii_digit(),
            letter => b == letter,
        });
    is_spelt
        && NaiveDateTime::parse_from_str(time, "%Y%m%dT%H%M%SZ").is_ok_and(|t| t.nanosecond() < 1_000_000_000)
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl From<RequestId> for String {
    fn from(id: RequestId) -> Self {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_have_the_seeds_form_and_a_real_date() {
        for good in [
            "YourAgent-20260409T120000Z-implement-auth",
            "C-20240229T235959Z-a",
            "A1-20261130T000000Z-1-2",
        ] {
            assert!(SessionId::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in [
            "youragent-20260409T120000Z-task",
            "YourAgent-20260304-feature",
            "YourAgent-20260230T120000Z-task",
            "YourAgent-20260409T250000Z-task",
            "YourAgent-2026 4 9T120000Z-task",
            "YourAgent-2026\n4\t9T120000Z-task",
            "YourAgent- 26 4 9T 1 2 3Z-task",
            "YourAgent-20261231T235960Z-task",
            "YourAgent-20260409T120060Z-task",
            "YourAgent-20260409T120000Z-",
            "YourAgent-20260409T120000Z-a--b",
            "YourAgent-20260409T120000Z-A",
            "YourAgent-20260409T120000Z-a/b",
            "YourAgent-20260409T120000Z-a\n",
            "-20260409T120000Z-a",
            "../x",
            "",
        ] {
            assert!(SessionId::try_from(bad.to_owned()).is_err(), "{bad}");
        }
        assert!(SessionId::try_from(format!("A-20260409T120000Z-{}", "a".repeat(200))).is_err());
    }

    #[test]
    fn request_ids_have_the_seeds_form_and_a_real_date() {
        assert!(RequestId::try_from("req-20260409T120001Z-add-jwt-001".to_owned()).is_ok());
        for bad in [
            "request-20260409T120001Z-task",
            "req-20260409-task",
            "req-20261301T120001Z-task",
            "req-2026\n4 9T120001Z-task",
            "req-20260409T120001Z-T",
        ] {
            assert!(RequestId::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn made_ids_parse_and_name_their_agent() {
        let at = DateTime::parse_from_rfc3339("2026-11-30T06:13:37Z")
            .unwrap()
            .to_utc();
        for host in Host::ALL {
            let id = SessionId::of(host, "../../etc", at);
            assert_eq!(SessionId::try_from(id.as_str().to_owned()).as_ref(), Ok(&id));
            assert_eq!(id.agent(), host.agent());
        }
        let turn = RequestId::turn(at, 3);
        assert_eq!(turn.as_str(), "req-20261130T061337Z-turn-3");
        assert!(RequestId::try_from(turn.as_str().to_owned()).is_ok());
    }
}
