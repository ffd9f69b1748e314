//! docs.
