//! What the journal keeps of an event: all that the fold reads, and not the texts that only the log needs.

use super::fold::MAX_PATH;
use super::state::State;
use crate::event::{Event, Kind, Outcome};
use crate::redact::Redacted;
use crate::task::limit;

/// Longest text, in bytes of its JSON: a line is to stay below 4 KB.
const MAX_TEXT: usize = 1_000;
/// Files of one tool call.
const MAX_FILES: usize = 20;

/// The event as the journal keeps it: texts that only the log needs are cut short. What the fold reads
/// (a prompt's first line, an error's words) stays, so that a journal always folds to the same state.
#[must_use]
pub fn brief(event: &Event, state: &State) -> Event {
    let mut short = event.clone();
    // What the state says already is not said again: a hook reads the lines of all that came before it.
    if short.session == state.session_id {
        short.session = Redacted::default();
    }
    let news = |said: Option<Redacted>, known: &Option<Redacted>| said.filter(|s| known.as_ref() != Some(s));
    short.cwd = news(short.cwd, &state.cwd);
    short.project = news(short.project, &state.project_root);
    short.model = news(short.model, &state.model);
    short.role = news(short.role, &state.role);
    match &mut short.kind {
        Kind::Prompt { text, .. } => *text = cut(text, MAX_TEXT),
        Kind::Delegation { prompt, .. } => *prompt = cut(prompt, MAX_TEXT),
        Kind::AgentStop { message, .. } | Kind::Stop { message, .. } => {
            *message = message.as_ref().map(|m| cut(m, MAX_TEXT));
        }
        Kind::Tool(call) => {
            call.target = call.target.as_ref().map(|t| cut(t, MAX_TEXT));
            call.files.truncate(MAX_FILES);
            for file in &mut call.files {
                file.path = Redacted::first_line(file.path.as_str(), MAX_PATH);
            }
        }
        _ => {}
    }
    cut_error(short)
}

/// Cuts an error's text, and neither loses nor makes the words by which a limit is known.
fn cut_error(mut event: Event) -> Event {
    let met = limit::met(&event);
    let Some(whole) = error_of(&mut event).map(|e| e.clone()) else {
        return event;
    };
    let short = cut(&whole, MAX_TEXT);
    let said = met
        .as_ref()
        .map(|l| Redacted::new(&format!("{}: {short}", l.rule)));
    for text in [Some(short), said, Some(Redacted::default())]
        .into_iter()
        .flatten()
    {
        if let Some(error) = error_of(&mut event) {
            *error = text;
        }
        if limit::met(&event).map(|l| l.source) == met.as_ref().map(|l| l.source) {
            break;
        }
    }
    event
}

fn error_of(event: &mut Event) -> Option<&mut Redacted> {
    match &mut event.kind {
        Kind::Failure { message, .. } => Some(message),
        Kind::Tool(call) => match &mut call.outcome {
            Outcome::Failed { error, .. } => Some(error),
            Outcome::Ok | Outcome::Interrupted => None,
        },
        _ => None,
    }
}

/// The front of a text, as much as stands in so many bytes of a JSON line.
fn cut(text: &Redacted, bytes: usize) -> Redacted {
    let text = text.trim_start();
    let mut room = bytes;
    let fit = text.chars().take_while(|c| {
        let size = match c {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            c if c.is_control() => 6,
            c => c.len_utf8(),
        };
        room = room.saturating_sub(size);
        room > 0
    });
    Redacted::truncated(text, fit.count())
}
