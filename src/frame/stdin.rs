//! The payload from stdin: the first complete JSON value, never waiting for the end of the stream, since a
//! host may hold the pipe open. A terminal, a closed or empty stdin, or nothing within 300 ms is nothing.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::payload::Scanner;

/// Most of a payload that is kept.
const MAX: usize = 64 * 1024 * 1024;
/// How long a silence ends the reading, in milliseconds.
const SILENCE: i64 = 300;
/// How much is read at once.
const BLOCK: usize = 64 * 1024;
/// Most that is drained behind the value, in blocks.
const MAX_DRAIN: usize = 1024;

/// The bytes of the first complete value, or of what there was of it.
pub(super) fn read() -> Option<Vec<u8>> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return None;
    }
    let mut scanner = Scanner::default();
    let mut bytes = Vec::with_capacity(4096);
    let mut block = vec![0_u8; BLOCK];
    while !scanner.is_complete() && bytes.len() < MAX && ready(&stdin, SILENCE) {
        let n = match rustix::io::read(&stdin, block.as_mut_slice()) {
            Ok(0) => break,
            Ok(n) => n,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => break,
        };
        let part = block.get(..n).unwrap_or_default();
        let used = scanner.take(part);
        bytes.extend_from_slice(part.get(..used).unwrap_or_default());
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// Reads away what follows the value, without waiting, so that the host gets no broken pipe.
pub(super) fn drain() {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return;
    }
    let mut block = vec![0_u8; BLOCK];
    for _ in 0..MAX_DRAIN {
        if !ready(&stdin, 0) || !matches!(rustix::io::read(&stdin, block.as_mut_slice()), Ok(1..)) {
            return;
        }
    }
}

fn ready(stdin: &impl AsFd, millis: i64) -> bool {
    let mut fds = [PollFd::new(stdin, PollFlags::IN)];
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: millis * 1_000_000,
    };
    matches!(poll(&mut fds, Some(&timeout)), Ok(1..))
}
