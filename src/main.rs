//! The `bookend` command.
fn main() {}
