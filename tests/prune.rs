//! prune.
