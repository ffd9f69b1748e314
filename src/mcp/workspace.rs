//! In which directory the client works: the first of its roots, where it tells them. Clients of the newest protocol
//! tell none any more; then it is where the process was started.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use rmcp::service::{Peer, RoleServer};

/// How long a client may take to say it; calls wait for it that long at most.
const PATIENCE: Duration = Duration::from_secs(2);

/// A directory on this machine in which a client works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace(pub PathBuf);

/// Asks the client, if it has said that it can be asked.
#[expect(
    deprecated,
    reason = "hosts still tell their roots; in the newest protocol the SDK refuses to ask"
)]
pub(super) async fn ask(client: &Peer<RoleServer>) -> Option<Workspace> {
    client.peer_info()?.capabilities.roots.as_ref()?;
    let asked = tokio::time::timeout(PATIENCE, client.list_roots());
    let roots = asked.await.ok()?.ok()?.roots;
    roots.iter().find_map(|root| directory(&root.uri))
}

/// The directory that a `file:` URI names, if it is there.
fn directory(uri: &str) -> Option<Workspace> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(rest).collect();
    let path = PathBuf::from(OsString::from_vec(bytes));
    (path.is_absolute() && path.is_dir()).then_some(Workspace(path))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own folders")]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_a_directory_that_is_there() {
        let scratch = tempfile::tempdir().unwrap();
        let made = scratch.path().join("my wörk %");
        std::fs::create_dir_all(&made).unwrap();
        let base = scratch.path().to_str().unwrap();
        for uri in [
            format!("file://{base}/my%20w%C3%B6rk%20%25"),
            format!("file://localhost{base}/my%20wörk%20%25"),
        ] {
            assert_eq!(directory(&uri), Some(Workspace(made.clone())), "{uri}");
        }
        for uri in [
            "file:///no/such/directory",
            "https://example.org/",
            "file://elsewhere/tmp",
            base,
            "",
            "file://",
        ] {
            assert_eq!(directory(uri), None, "{uri}");
        }
    }
}
