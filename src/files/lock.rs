//! A bounded lock: `flock` on a descriptor, tried with short pauses. It dies with its process, so there
//! are no stale locks and no pid files. The lock is given up when the file is closed.

use std::fs::{File, TryLockError};
use std::io;
use std::time::{Duration, Instant};

/// Why a lock was not to be had.
#[derive(Debug)]
pub enum Busy {
    /// Somebody else held it for the whole wait.
    Held,
    /// The file system refused.
    Io(io::Error),
}

/// Takes the lock of `file`, waiting at most `wait`; zero tries once.
///
/// # Errors
/// [`Busy`] when the lock is not ours after that time.
pub fn acquire(file: &File, wait: Duration) -> Result<(), Busy> {
    let mut deadline = None;
    let mut pause = Duration::from_micros(200);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(e)) => return Err(Busy::Io(e)),
            Err(TryLockError::WouldBlock) => {
                let now = Instant::now();
                let until = *deadline.get_or_insert(now + wait);
                if now >= until {
                    return Err(Busy::Held);
                }
                std::thread::sleep(pause.min(until - now));
                pause = (pause * 2).min(Duration::from_millis(4));
            }
        }
    }
}
