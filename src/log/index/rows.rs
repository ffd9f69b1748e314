//! What a log says to the index: its session, and the texts of its turns.

use std::os::unix::fs::{FileExt, MetadataExt};
use std::{fs, io};

use chrono::{DateTime, Utc};

use crate::files::Dir;
use crate::fingerprint::fnv;
use crate::log::id::SessionId;
use crate::log::ledger::FILE;
use crate::log::view::{SessionView, TurnView};
use crate::redact::Redacted;

/// The state of a log's file, by which it is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) length: i64,
    pub(super) inode: i64,
    /// Nanoseconds since 1970.
    pub(super) modified: i64,
}

impl Stamp {
    pub(super) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        Self {
            length: stat.st_size,
            inode: stat.st_ino.cast_signed(),
            modified: stat
                .st_mtime
                .saturating_mul(1_000_000_000)
                .saturating_add(i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        }
    }

    pub(super) fn of(meta: &fs::Metadata) -> Self {
        Self {
            length: meta.len().cast_signed(),
            inode: meta.ino().cast_signed(),
            modified: meta
                .mtime()
                .saturating_mul(1_000_000_000)
                .saturating_add(meta.mtime_nsec()),
        }
    }
}

/// A log as the index has it.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) view: SessionView,
    pub(super) stamp: Stamp,
    pub(super) texts: Vec<Text>,
}

/// The words of a turn, or those of a title that is no turn's.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) request: Option<String>,
    pub(super) began: Option<DateTime<Utc>>,
    /// In the order of the fields.
    pub(super) columns: [String; 8],
    /// Another one says that the text has changed.
    pub(super) print: i64,
}

/// Reads a log whole; `None` when it is gone.
pub(super) fn read(log: &Dir, id: &SessionId) -> io::Result<Option<Logged>> {
    let Some(dir) = log.sub(id.as_str())? else {
        return Ok(None);
    };
    let Some((file, _)) = dir.open_read(FILE)? else {
        return Ok(None);
    };
    let stamp = Stamp::of(&file.metadata()?);
    let mut bytes = vec![0; usize::try_from(stamp.length).unwrap_or(0)];
    // A writer that cuts off a torn line makes it shorter at this moment; it has marked it, so it is read again.
    let mut got = 0;
    while let Some(rest) = bytes.get_mut(got..).filter(|r| !r.is_empty()) {
        match file.read_at(rest, got as u64)? {
            0 => break,
            n => got += n,
        }
    }
    bytes.truncate(got);
    let view = SessionView::fold(id.clone(), &bytes);
    let texts = texts(&view);
    Ok(Some(Logged { view, stamp, texts }))
}

fn texts(view: &SessionView) -> Vec<Text> {
    let mut texts: Vec<Text> = view.turns.iter().map(of_turn).collect();
    if view.turns.first().is_none_or(|t| t.query_title != view.title) && !view.title.is_empty() {
        let columns = [view.title.to_string()]
            .into_iter()
            .chain(std::iter::repeat_n(String::new(), 7));
        texts.push(Text::new(None, view.started, columns));
    }
    texts
}

fn of_turn(turn: &TurnView) -> Text {
    let optional = |text: &Option<Redacted>| text.as_deref().unwrap_or_default().to_owned();
    let lines = |parts: &mut dyn Iterator<Item = &Redacted>| {
        let parts: Vec<&str> = parts.map(Redacted::as_str).filter(|p| !p.is_empty()).collect();
        parts.join("\n")
    };
    let late = turn.late.iter().filter_map(|l| l.action.as_ref());
    let actions = turn.actions.iter().map(|a| &a.action).chain(late);
    let failure = turn.failure.iter().flat_map(|f| [&f.message, &f.code]);
    let prompt = if turn.query_text == turn.query_title {
        String::new()
    } else {
        turn.query_text.to_string()
    };
    Text::new(
        Some(turn.request_id.to_string()),
        Some(turn.started_at),
        [
            turn.query_title.to_string(),
            prompt,
            optional(&turn.response),
            optional(&turn.interpretation),
            lines(&mut turn.dialog.iter().map(|d| &d.content)),
            lines(&mut actions.flat_map(|a| {
                [Some(&a.description), a.file_path.as_ref(), a.error.as_ref()]
                    .into_iter()
                    .flatten()
            })),
            lines(&mut turn.tags.iter().chain(&turn.context_list)),
            lines(&mut failure.chain(turn.late.iter().filter_map(|l| l.message.as_ref()))),
        ]
        .into_iter(),
    )
}

impl Text {
    fn new(
        request: Option<String>,
        began: Option<DateTime<Utc>>,
        texts: impl Iterator<Item = String>,
    ) -> Self {
        let mut columns: [String; 8] = Default::default();
        for (column, text) in columns.iter_mut().zip(texts) {
            *column = text;
        }
        let print = fnv(columns.join("\0").as_bytes()).cast_signed();
        Self {
            request,
            began,
            columns,
            print,
        }
    }
}
