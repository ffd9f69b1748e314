//! concurrency.
