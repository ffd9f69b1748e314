//! Real hosts against the stub model, with Bookend's own executables as hooks.
//!
//! A host that is not on the machine is skipped with a word on stdout; `.ci/run` installs the pinned versions and names
//! them in `BOOKEND_TEST_<HOST>`.

mod claude_code;
mod codex;
mod lab;
