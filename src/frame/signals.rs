//! What may not end a hook in the middle: a host that gives up, a terminal that closes. A host that ends itself
//! sends its hooks SIGTERM within milliseconds, and the event that it had just sent, the failure of its turn,
//! would be lost with the hook. So the hook does what it has begun, which its own deadline bounds; SIGKILL
//! ends it as ever.

use nix::sys::signal::{SigSet, Signal};

/// Holds them back from here on; they go with the process.
pub(super) fn hold() {
    let set: SigSet = [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT]
        .into_iter()
        .collect();
    // Refused, it is as without.
    set.thread_block().unwrap_or_default();
}
