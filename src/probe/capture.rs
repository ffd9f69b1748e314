//! The output of a process, read by a thread while it runs.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::running::wait_until;

const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// What a stream has said so far.
#[derive(Debug)]
pub struct Capture {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Capture {
    /// Begins to read a stream.
    pub fn of(stream: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let reader = stream.map(|stream| {
            let bytes = Arc::clone(&bytes);
            thread::spawn(move || collect(stream, &bytes))
        });
        Self { bytes, reader }
    }

    /// What came until now; the stream's end is waited for, but not longer than `patience`.
    #[must_use]
    pub fn text(&self, patience: Duration) -> String {
        wait_until(patience, || {
            self.reader.as_ref().is_none_or(JoinHandle::is_finished)
        });
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn collect(mut stream: impl Read, bytes: &Mutex<Vec<u8>>) {
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    while let Ok(read) = stream.read(&mut buffer) {
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
            return;
        };
        total += read as u64;
        // Past the bound the stream is drained, so that the host does not block on it.
        if total <= MAX_OUTPUT {
            bytes
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend_from_slice(part);
        }
    }
}
