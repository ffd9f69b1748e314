//! The empty process that the hooks are measured against.

fn main() {}
