//! Appending whole lines. The caller holds the lock. A short write or an error is cut back to the old
//! end, so a line is there whole or not at all; only a kill in the middle of the system call can leave a
//! torn last line, which [`tail`] finds and the next writer cuts off.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

/// The end of a line file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tail {
    /// Where the next line begins: after the last newline.
    pub end: u64,
    /// Bytes of a torn last line after it.
    pub torn: u64,
}

/// Finds the end of the last whole line, reading backwards from `len`.
///
/// # Errors
/// When the file cannot be read.
pub fn tail(file: &File, len: u64) -> io::Result<Tail> {
    let mut end = len;
    let mut block = [0_u8; 4096];
    let mut want = 1; // almost always the last byte is the newline
    while end > 0 {
        let from = end.saturating_sub(want);
        let size = usize::try_from(end - from).unwrap_or(block.len());
        let part = block.get_mut(..size).unwrap_or_default();
        file.read_exact_at(part, from)?;
        if let Some(i) = part.iter().rposition(|b| *b == b'\n') {
            let at = from + i as u64 + 1;
            return Ok(Tail {
                end: at,
                torn: len - at,
            });
        }
        end = from;
        want = 4096;
    }
    Ok(Tail { end: 0, torn: len })
}

/// Writes `lines` after `tail` in one system call and gives the new end.
///
/// # Errors
/// When the lines are not there whole; the file is then as it was, without its torn line.
pub fn append(mut file: &File, tail: Tail, lines: &[u8]) -> io::Result<u64> {
    if tail.torn > 0 {
        file.set_len(tail.end)?;
    }
    let written = loop {
        match file.write(lines) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    match written {
        Ok(n) if n == lines.len() => Ok(tail.end + lines.len() as u64),
        short => {
            file.set_len(tail.end)?;
            Err(short
                .err()
                .unwrap_or_else(|| io::Error::from(io::ErrorKind::StorageFull)))
        }
    }
}
