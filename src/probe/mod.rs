//! A stub model on loopback, and a runner that drives a real agent host against it.
//!
//! `bookend probe` and the real-host tests use it to see hooks where they really run: the host is the one that people
//! install, only the model behind it is scripted. No account, no tokens, nothing leaves the machine.
//!
//! | to change | look in |
//! | --- | --- |
//! | what a step is, and what the model does for it | `step.rs`, `act.rs` |
//! | which step answers which request | `script.rs` |
//! | what a request means, how tools are named | `turn.rs` |
//! | a wire format | `anthropic.rs`, `openai_responses.rs`, `gemini.rs`, behind the trait in `wire.rs` |
//! | how bytes travel, what is recorded | `http.rs` (one request, one reply), `server.rs`, `request.rs` |
//! | what keeps a host on this machine | `offline.rs` |
//! | how a host is started | `claude_code.rs`, `codex.rs`, `gemini_cli.rs`: one constant each, of the type in `driver.rs` |
//! | what `bookend probe` proves, and how it is seen | `proof.rs`, `sessions.rs` (which sessions), `register.rs` (the installation), `seen.rs` (what the hooks left), `record.rs` (what is remembered) |
//! | how a session runs and ends | `runner.rs` (what to run), `running.rs` (its process), `capture.rs` (its output), `outcome.rs` (its end) |

mod act;
mod anthropic;
mod capture;
mod claude_code;
mod codex;
mod driver;
mod error;
mod gemini;
mod gemini_cli;
mod http;
mod offline;
mod openai_responses;
mod outcome;
mod proof;
pub mod record;
mod register;
mod request;
mod runner;
mod running;
mod script;
mod seen;
mod server;
mod sessions;
mod step;
mod turn;
mod wire;

pub use capture::Capture;
pub use claude_code::CLAUDE_CODE;
pub use codex::CODEX;
pub use driver::{Driver, Launch};
pub use error::ProbeError;
pub use gemini_cli::GEMINI_CLI;
pub use offline::OFFLINE;
pub use outcome::Outcome;
pub use proof::{EventProof, PROBED, Probe, Proof, driver};
pub use request::{Kind, Request};
pub use runner::Session;
pub use running::{Running, wait_until};
pub use script::Script;
pub use seen::TurnEnd;
pub use server::Server;
pub use step::UnknownStep;
