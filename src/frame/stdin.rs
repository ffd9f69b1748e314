//! The payload from stdin: the first complete JSON value, never waiting for the end of the stream, since a
//! host may hold the pipe open. A terminal, a closed or empty stdin, or nothing within 300 ms is nothing.

use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::payload::Scanner;

/// Most of a payload that is kept.
const MAX: usize = 64 * 1024 * 1024;
/// Most that is read of one that is larger: the host's pipe is not broken, and no stream is read for ever.
const MAX_READ: usize = 4 * MAX;
/// How long a silence ends the reading, in milliseconds.
const SILENCE: i64 = 300;
/// How long all silences together are waited out: the next byte may always be near.
const PATIENCE: Duration = Duration::from_millis(800);
/// How much is read at once.
const BLOCK: usize = 64 * 1024;
/// Most that is drained behind the value, in blocks.
const MAX_DRAIN: usize = 1024;

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
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Input::Nothing;
    }
    let mut scanner = Scanner::default();
    let mut bytes = Vec::with_capacity(4096);
    let (mut total, mut waited) = (0, Duration::ZERO);
    let mut block = vec![0_u8; BLOCK];
    while !scanner.is_complete() && total < MAX_READ && wait(&stdin, &mut waited) {
        let n = match rustix::io::read(&stdin, block.as_mut_slice()) {
            Ok(0) => break,
            Ok(n) => n,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => break,
        };
        total += n;
        if total > MAX {
            bytes = Vec::new();
            continue;
        }
        let part = block.get(..n).unwrap_or_default();
        let used = scanner.take(part);
        bytes.extend_from_slice(part.get(..used).unwrap_or_default());
    }
    match total {
        0 => Input::Nothing,
        _ if total > MAX => Input::Useless("it is too large"),
        _ if total > BLOCK && !scanner.is_complete() => Input::Useless("its end is missing"),
        _ => Input::Payload(bytes),
    }
}

/// Waits for more; `waited` is how long all waiting took, and not how long the reading: a large payload on a
/// busy machine may take its time.
fn wait(stdin: &impl AsFd, waited: &mut Duration) -> bool {
    let began = Instant::now();
    let left = PATIENCE.saturating_sub(*waited).as_millis();
    let is_ready = ready(stdin, i64::try_from(left).unwrap_or(SILENCE).min(SILENCE));
    *waited += began.elapsed();
    is_ready
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
