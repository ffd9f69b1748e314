//! tasks.
