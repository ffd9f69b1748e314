//! payloads.
