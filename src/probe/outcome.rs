//! How a session ended: what the host said, and what the stub model was asked.

use std::time::Duration;

use super::request::{Request, containing};

/// How a session ended.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; none when a signal ended the host.
    pub rc: Option<i32>,
    /// The signal that ended the host.
    pub signal: Option<i32>,
    /// The host did not end in time and was ended.
    pub timed_out: bool,
    /// From its start to its end.
    pub elapsed: Duration,
    /// At most 64 MB, invalid UTF-8 replaced.
    pub stdout: String,
    /// At most 64 MB, invalid UTF-8 replaced.
    pub stderr: String,
    /// Every request that the stub model got.
    pub requests: Vec<Request>,
}

impl Outcome {
    /// The numbers of the model requests in whose body a string contains `text`.
    #[must_use]
    pub fn model_requests_containing(&self, text: &str) -> Vec<usize> {
        containing(&self.requests, text)
    }

    /// How many of them were for a model.
    #[must_use]
    pub fn model_request_count(&self) -> usize {
        self.requests.iter().filter(|request| request.is_model()).count()
    }

    /// The last line that it said, on stderr or else on stdout.
    #[must_use]
    pub fn last_words(&self) -> String {
        let last = |text: &str| {
            Some(
                text.lines()
                    .rfind(|line| !line.trim().is_empty())?
                    .trim()
                    .to_owned(),
            )
        };
        let words = last(&self.stderr).or_else(|| last(&self.stdout));
        words.unwrap_or_default().chars().take(300).collect()
    }
}
