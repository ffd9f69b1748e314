//! The only way to stdout and stderr. A closed pipe is no error: what reads us has had enough. Colour only
//! on a terminal, and never with `NO_COLOR`.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use super::Failed;
use super::span::{Line, Style, is_unsafe, visible};
use crate::config;

/// Stdout, buffered.
pub(super) struct Out {
    to: BufWriter<io::Stdout>,
    colour: bool,
    columns: Option<usize>,
    /// Nobody reads any more.
    closed: bool,
    failed: Option<io::Error>,
    /// A word on what is being done stands on the terminal's line.
    progressed: bool,
}

impl Out {
    /// The process's own.
    pub(super) fn stdout() -> Self {
        let stdout = io::stdout();
        let dumb = config::var("TERM").is_some_and(|t| t == "dumb");
        let colour = stdout.is_terminal() && config::var("NO_COLOR").is_none() && !dumb;
        let size = stdout.is_terminal().then(terminal_size::terminal_size).flatten();
        Self {
            to: BufWriter::new(stdout),
            colour,
            columns: size.map(|(width, _)| usize::from(width.0)).filter(|w| *w > 0),
            closed: false,
            failed: None,
            progressed: false,
        }
    }

    /// A line for people.
    pub(super) fn line(&mut self, line: impl Into<Line>) {
        let text = line.into().render(self.colour);
        self.write(&text);
    }

    /// A name and what it says.
    pub(super) fn field(&mut self, name: &str, value: impl Into<Line>) {
        self.line(Line::of(Style::Faint, &format!("{name:<12}")).join(value.into()));
    }

    /// A fragment as a sentence of its own.
    pub(super) fn sentence(&mut self, fragment: &str) {
        let mut letters = fragment.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        let text: String = first.into_iter().chain(letters).chain(['.']).collect();
        self.line(text);
    }

    /// The columns that a line may have; `None` where nobody counts them.
    pub(super) fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// An empty line.
    pub(super) fn gap(&mut self) {
        self.write("");
    }

    /// A heading, with an empty line before it.
    pub(super) fn heading(&mut self, text: &str) {
        self.gap();
        self.line(Line::of(Style::Strong, text));
    }

    /// A longer text, indented, line by line.
    pub(super) fn block(&mut self, indent: usize, text: &str) {
        for part in text.lines() {
            let part = part.replace('\t', "    ");
            self.line(format!("{:indent$}{part}", ""));
        }
    }

    /// A JSON document over several lines.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), Failed> {
        let text = serde_json::to_string_pretty(value).map_err(|e| Failed::to(format!("print JSON: {e}")))?;
        self.write(&escaped(&text));
        Ok(())
    }

    /// A JSON document on one line, and out with it.
    pub(super) fn json_line(&mut self, value: &impl Serialize) -> Result<(), Failed> {
        let text = serde_json::to_string(value).map_err(|e| Failed::to(format!("print JSON: {e}")))?;
        self.write(&escaped(&text));
        Ok(())
    }

    /// The bytes of a file as they are; on a terminal only what is harmless there.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        if io::stdout().is_terminal() {
            self.block(0, &String::from_utf8_lossy(bytes));
        } else if !self.closed {
            let written = self.to.write_all(bytes);
            self.judge(written);
        }
    }

    /// A JSON document that is one already, on one line.
    pub(super) fn json_text(&mut self, text: &str) {
        self.write(&escaped(text));
    }

    fn write(&mut self, text: &str) {
        self.progressed_enough();
        if !self.closed {
            let written = self
                .to
                .write_all(text.as_bytes())
                .and_then(|()| self.to.write_all(b"\n"));
            self.judge(written);
        }
    }

    /// Sends what is buffered.
    pub(super) fn flush(&mut self) {
        if !self.closed {
            let flushed = self.to.flush();
            self.judge(flushed);
        }
    }

    /// Whether nobody reads any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    fn judge(&mut self, result: io::Result<()>) {
        if let Err(e) = result {
            self.closed = true;
            if e.kind() != io::ErrorKind::BrokenPipe {
                self.failed = Some(e);
            }
        }
    }

    /// Waits that long; whether meanwhile, or before, the reader has gone.
    pub(super) fn wait(&mut self, pause: Duration) -> bool {
        let stdout = io::stdout();
        let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(pause.subsec_nanos()),
        };
        if self.closed {
            return true;
        }
        // Nothing is asked for, so only a hang-up or an error ends the wait early.
        if matches!(poll(&mut fds, Some(&timeout)), Ok(1..)) {
            self.closed = true;
        }
        self.closed
    }

    /// Sends what is buffered; says if not all could be written.
    pub(super) fn finish(&mut self) -> Result<(), Failed> {
        self.flush();
        match self.failed.take() {
            Some(e) => Err(Failed::to(format!(
                "write the output: {e}; make room or choose another place for it"
            ))),
            None => Ok(()),
        }
    }

    /// A word on what is being done, on a terminal only, and gone with the next line.
    pub(super) fn progress(&mut self, text: &str) {
        self.flush();
        let mut stderr = io::stderr().lock();
        let dumb = config::var("TERM").is_none_or(|term| term == "dumb");
        if stderr.is_terminal() && !dumb {
            drop(write!(stderr, "\r\u{1b}[K{}\r", visible(text)));
            drop(stderr.flush());
            self.progressed = true;
        }
    }

    /// The long work is done: its word goes.
    pub(super) fn progressed_enough(&mut self) {
        if std::mem::take(&mut self.progressed) {
            drop(io::stderr().lock().write_all(b"\r\x1b[K"));
        }
    }

    /// A sentence on stderr, after what stands on stdout.
    pub(super) fn complain(&mut self, text: &str) {
        self.flush();
        let mut stderr = io::stderr().lock();
        drop(writeln!(stderr, "{}", visible(text)));
    }

    /// A warning on stderr: something is left out, the rest goes on.
    pub(super) fn warn(&mut self, text: &str) {
        self.complain(&format!("bookend: warning: {text}"));
    }
}

/// JSON text in which also what JSON lets pass, but a terminal acts on, is escaped. Such characters can
/// stand in strings only.
fn escaped(json: &str) -> String {
    let raw = |c: char| is_unsafe(c) && c != '\n';
    if !json.contains(raw) {
        return json.to_owned();
    }
    let mut text = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if raw(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_the_same_document_and_harmless() {
        let value = serde_json::json!({"a": "x\u{9b}31m\u{7f}\u{202e}\u{e0001}\n\u{1b}y"});
        let text = escaped(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!text.contains(|c| is_unsafe(c) && c != '\n'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
