//! live_state.
