//! hostile.
