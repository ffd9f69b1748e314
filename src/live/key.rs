//! The name of a session's directory. A host id of `[A-Za-z0-9_-]{1,128}` is the name itself; every other
//! one is hashed, never cleaned up by replacing characters, so that two ids cannot meet in one directory
//! and none can leave it. One that looks like a secret is hashed too: a name is written down as well.

use std::borrow::Cow;
use std::fmt;

use sha2::{Digest, Sha256};

use crate::redact::redact;

/// A session's directory name, safe by construction.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(String);

impl SessionKey {
    /// The key of a host's session id; `None` for an empty one: nothing is stored then.
    #[must_use]
    pub fn of(id: &str) -> Option<Self> {
        if id.is_empty() {
            return None;
        }
        if is_plain(id) && matches!(redact(id), Cow::Borrowed(_)) {
            return Some(Self(id.to_owned()));
        }
        let digest = Sha256::digest(id);
        let hex: String = digest.iter().take(16).map(|b| format!("{b:02x}")).collect();
        Some(Self(format!("x{hex}")))
    }

    /// The key that a directory of that name stands for, if it can be one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        is_plain(name).then(|| Self(name.to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_plain(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_ids_are_their_own_name_and_all_others_are_hashed() {
        for plain in [
            "session-1",
            "my_session",
            "ABC123",
            "a",
            "0",
            "__proto__",
            "CON",
            "-",
            &"x".repeat(128),
        ] {
            assert_eq!(SessionKey::of(plain).unwrap().as_str(), plain);
        }
        let long = "x".repeat(4096);
        for other in [
            "../../etc",
            "a.b",
            "has space",
            "path/x",
            "a\nb",
            "é",
            ".",
            "..",
            "a\0b",
            &long,
            &"x".repeat(129),
            "ghp_0000Zk3VxQ8rT1mW6yB9cN4dF7gH2jL5pS0a",
        ] {
            let key = SessionKey::of(other).unwrap();
            assert_eq!(key.as_str().len(), 33, "{other:?}");
            assert!(key.as_str().starts_with('x') && SessionKey::from_name(key.as_str()).is_some());
        }
        assert_eq!(SessionKey::of(""), None);
        assert_ne!(SessionKey::of("a.b"), SessionKey::of("a.c"));
    }
}
