//! Delegations: whose work a subagent does, and what it reports when it is done. Pure, and part of the hooks; the
//! orchestration's own state is elsewhere (`orchestration`).

pub mod name;
pub mod report;
