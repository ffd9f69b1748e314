//! The payload from stdin: the first complete JSON value, never waiting for the end of the stream, since a
//! host may hold the pipe open. A terminal, a closed or empty stdin, or nothing within 300 ms is nothing.

use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use rustix::termios::isatty;

use super::payload::Scanner;

/// Most of a payload that is kept.
const MAX: usize = 64 * 1024 * 1024;
/// Most that is read of one that is larger: the host's pipe is not broken, and no stream is read for ever.
const MAX_READ: usize = 4 * MAX;
/// More than this without its end is not tried to be parsed.
const MAX_PART: usize = 64 * 1024;
/// How long a silence ends the reading, in milliseconds.
const SILENCE: i64 = 300;
/// How long all silences together are waited out: the next byte may always be near.
const PATIENCE: Duration = Duration::from_millis(800);
/// Room for an ordinary payload; it doubles when it is full.
const ROOM: usize = 8 * 1024;
/// Most that is drained behind the value, in bytes.
const MAX_DRAIN: usize = 64 * 1024 * 1024;

/// What stdin gave.
pub(super) enum Input {
    /// Nothing.
    Nothing,
    /// The bytes of the first complete value, or of what there was of it.
    Payload(Vec<u8>),
    /// Nothing that could be parsed, and too much to try: more than is kept, or much of it and not its end.
    Useless(&'static str),
}

/// Reads up to the end of the first complete value, or of what there is of it.
pub(super) fn read() -> Input {
    if isatty(stdin()) {
        return Input::Nothing;
    }
    let mut scanner = Scanner::default();
    let mut bytes = Vec::with_capacity(ROOM);
    let (mut total, mut waited) = (0, Duration::ZERO);
    while !scanner.is_complete() && total < MAX_READ && wait(&mut waited) {
        if total > MAX {
            // What is too large is only read away.
            bytes.clear();
        } else if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.capacity());
        }
        let from = bytes.len();
        match rustix::io::read(stdin(), spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(n) => total += n,
            Err(Errno::INTR) => continue,
            Err(_) => break,
        }
        if total <= MAX {
            let used = scanner.take(bytes.get(from..).unwrap_or_default());
            bytes.truncate(from + used);
        }
    }
    match total {
        0 => Input::Nothing,
        _ if total > MAX => Input::Useless("it is too large"),
        _ if total > MAX_PART && !scanner.is_complete() => Input::Useless("its end is missing"),
        _ => Input::Payload(bytes),
    }
}

/// Waits for more; `waited` is how long all waiting took, and not how long the reading: a large payload on a
/// busy machine may take its time.
fn wait(waited: &mut Duration) -> bool {
    let began = Instant::now();
    let left = PATIENCE.saturating_sub(*waited).as_millis();
    let is_ready = ready(i64::try_from(left).unwrap_or(SILENCE).min(SILENCE));
    *waited += began.elapsed();
    is_ready
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
