//! The payload from stdin: the first complete JSON value, never waiting for the end of the stream, since a
//! host may hold the pipe open. A terminal, a closed or empty stdin, or nothing within 300 ms is nothing.

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use rustix::termios::isatty;

use super::payload::Scanner;

/// Most of a payload that is kept.
const MAX: usize = 64 * 1024 * 1024;
/// How long a silence ends the reading, in milliseconds.
const SILENCE: i64 = 300;
/// Room for an ordinary payload; it doubles when it is full.
const ROOM: usize = 8 * 1024;
/// Most that is drained behind the value, in bytes.
const MAX_DRAIN: usize = 64 * 1024 * 1024;

/// The bytes of the first complete value, or of what there was of it.
pub(super) fn read() -> Option<Vec<u8>> {
    if isatty(stdin()) {
        return None;
    }
    let mut scanner = Scanner::default();
    let mut bytes = Vec::with_capacity(ROOM);
    while !scanner.is_complete() && bytes.len() < MAX && ready(SILENCE) {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.capacity());
        }
        let from = bytes.len();
        match rustix::io::read(stdin(), spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => break,
        }
        let used = scanner.take(bytes.get(from..).unwrap_or_default());
        bytes.truncate(from + used);
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// Reads away what follows the value, without waiting, so that the host gets no broken pipe.
pub(super) fn drain() {
    let mut block = [0_u8; 4096];
    let mut drained = 0;
    while drained < MAX_DRAIN && ready(0) {
        match rustix::io::read(stdin(), &mut block) {
            Ok(n @ 1..) => drained += n,
            Ok(0) | Err(_) => return,
        }
    }
}

fn ready(millis: i64) -> bool {
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: millis * 1_000_000,
    };
    matches!(poll(&mut fds, Some(&timeout)), Ok(1..))
}
