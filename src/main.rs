//! The `bookend` command: parse, run, map errors to exit codes.

use std::process::ExitCode;

fn main() -> ExitCode {
    bookend::cli::main()
}
