//! The integration tests: real executables, real files. One binary; each file is named by behaviour.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "a test may stop at anything that it did not expect, and it looks at the stores from outside"
)]

mod agent_files;
mod cli;
mod concurrency;
mod conformance;
mod crash;
mod delegations;
mod docs;
mod harness;
mod hostile;
mod hosts;
mod index;
mod install;
mod install_faults;
mod live_state;
mod mcp;
mod oracle;
mod orchestration;
mod payloads;
mod properties;
mod prune;
mod repl;
mod resume;
mod talk;
mod tasks;
mod turns;
