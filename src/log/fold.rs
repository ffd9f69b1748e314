//! The fold of a whole log. A torn last line is ignored and reported, a bad line skipped and reported,
//! unknown kinds are skipped. Any prefix of any log folds.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::FileExt;

use super::data_dir::DataDir;
use super::id::{RequestId, SessionId};
use super::ledger::FILE;
use super::record::{ActionKind, ActionStatus, Body, By, Record};
use super::turns::{End, Mark, Turns};
use super::view::{Failure, HandoffView, LateView, SessionView, TurnView};
use crate::redact::Redacted;

impl SessionView {
    /// Reads the log of a session; `None` when there is none.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read(data: &DataDir, id: &SessionId) -> io::Result<Option<Self>> {
        let Some(dir) = data.session(id)? else {
            return Ok(None);
        };
        let Some((file, len)) = dir.open_read(FILE)? else {
            return Ok(None);
        };
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(Some(Self::fold(id.clone(), &bytes)))
    }

    /// Folds the bytes of a log. Any prefix of any log folds.
    #[must_use]
    pub fn fold(id: SessionId, bytes: &[u8]) -> Self {
        let mut view = Self::empty(id);
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        view.end = whole as u64;
        if whole < bytes.len() {
            view.problems.push(format!(
                "read the last line: {} torn bytes were ignored",
                bytes.len() - whole
            ));
        }
        let lines = bytes.get(..whole).unwrap_or_default().split(|b| *b == b'\n');
        for (i, line) in lines.enumerate().filter(|(_, l)| !l.is_empty()) {
            match serde_json::from_slice::<Record>(line) {
                Ok(record) => view.take(record),
                Err(e) if is_foreign(line) => drop(e),
                Err(e) => view
                    .problems
                    .push(format!("read line {}: {e}; it was skipped", i + 1)),
            }
        }
        view.finish();
        view
    }

    fn empty(id: SessionId) -> Self {
        Self {
            agent: id.agent().to_owned(),
            session_id: id,
            host: None,
            host_session: None,
            title: Redacted::default(),
            model: None,
            project_root: None,
            started: None,
            last_updated: None,
            status: "in_progress",
            turn_count: 0,
            files_modified_count: 0,
            turns: Vec::new(),
            handoffs: Vec::new(),
            notes: Vec::new(),
            problems: Vec::new(),
            task: None,
            interrupted: None,
            todos: None,
            limit: None,
            machine: Turns::default(),
            last_sign: None,
            end: 0,
            ended: false,
        }
    }

    /// Takes in what the same writer, who holds the lock, has written or will write behind it.
    #[cfg(feature = "cli")]
    pub(super) fn follow(&mut self, bodies: &[Body], by: By, at: chrono::DateTime<chrono::Utc>) {
        for body in bodies {
            self.take(Record {
                v: super::record::VERSION,
                id: String::new(),
                seq: 0,
                at,
                by,
                body: body.clone(),
            });
        }
        self.finish();
    }

    fn take(&mut self, record: Record) {
        let at = record.at;
        self.started = self.started.or(Some(at));
        self.last_updated = self.last_updated.max(Some(at));
        if !matches!(record.body, Body::TurnPresumed { .. } | Body::Note { .. }) {
            self.last_sign = self.last_sign.max(Some(at));
        }
        let mark = record.body.mark(at);
        let last_sign = self.last_sign;
        match record.body {
            Body::SessionOpen {
                agent,
                host,
                host_session,
                title,
                model,
                project_root,
                ..
            } => {
                self.agent = agent;
                self.host = host;
                self.host_session = host_session;
                self.title = title;
                self.model = model;
                self.project_root = project_root;
            }
            #[cfg(feature = "cli")]
            Body::SessionTitle { title } => self.title = title,
            Body::SessionEnd { .. } => {
                self.ended = true;
                // Nobody but its subagent ends a subagent's turn, and that is gone now.
                for t in self.turns.iter_mut().filter(|t| t.agent.is_some()) {
                    t.presume("session_ended", at);
                }
            }
            Body::TurnBegin {
                turn,
                origin,
                agent,
                began,
                title,
                text,
                ..
            } => {
                self.ended = false;
                self.started = self.started.min(began).or(self.started);
                if self.turns.iter().all(|t| t.request_id != turn) {
                    let at = began.unwrap_or(at);
                    self.turns.push(TurnView {
                        agent,
                        ..TurnView::begun(turn, origin, title, text, at)
                    });
                }
            }
            #[cfg(feature = "cli")]
            Body::TurnUpdate { turn, update } => {
                if let Some(t) = self.turn(&turn).filter(|t| t.can_end()) {
                    t.update(*update);
                }
            }
            #[cfg(feature = "cli")]
            Body::TurnDialog { turn, items } => {
                if let Some(t) = self.turn(&turn).filter(|t| t.can_end()) {
                    t.dialog.extend(items);
                }
            }
            Body::TurnAction { turn, action } => {
                self.limit = self
                    .limit
                    .take()
                    .filter(|_| record.by != By::Hook || action.status != ActionStatus::Completed);
                if let Some(task) = &mut self.task {
                    task.last_action = action.description.clone();
                    task.context_anchor = action
                        .file_path
                        .clone()
                        .or(action.target.clone())
                        .or(task.context_anchor.take());
                }
                let root = self.project_root.clone();
                if let Some(t) = self.turn(&turn) {
                    t.act(*action, record.by, at, root.as_deref());
                }
            }
            Body::TurnComplete { turn, response } => {
                self.limit = None;
                if let Some(t) = self.turn(&turn).filter(|t| t.can_end()) {
                    t.complete(response, record.by);
                }
            }
            Body::TurnFail { turn, code, message } => {
                if let Some(t) = self.turn(&turn).filter(|t| t.can_end()) {
                    t.failure = Some(Failure { code, message });
                }
            }
            Body::TurnPresumed { turn, code } => {
                if let Some(t) = self.turn(&turn).filter(|t| t.status == "in_progress") {
                    t.failure = Some(Failure {
                        code,
                        message: Redacted::default(),
                    });
                }
            }
            Body::Late {
                turn,
                action,
                message,
            } => {
                if let Some(t) = self.turn(&turn) {
                    t.late.push(LateView {
                        at,
                        action: action.map(|a| *a),
                        message,
                    });
                }
            }
            Body::Task { task, interrupted } => {
                self.task = task;
                self.interrupted = interrupted;
            }
            Body::Todos { todos } => self.todos = Some(todos),
            Body::Limit { limit, .. } => self.limit = Some(limit),
            Body::Handoff { handoff, .. } => self.handoffs.push(HandoffView {
                at,
                handoff: *handoff,
            }),
            Body::Note { text } => self.notes.push(text),
        }
        if let Some(mark) = mark {
            self.machine.apply(&mark);
            if let Mark::End { turn, end, at } = mark
                && let Some(t) = self.turn(&turn)
            {
                // An inferred end is written when somebody looks; the turn ended with its last sign of life.
                let at = if matches!(end, End::Presume { .. }) {
                    last_sign.unwrap_or(at)
                } else {
                    at
                };
                t.end(&end, at);
            }
        }
    }

    fn turn(&mut self, id: &RequestId) -> Option<&mut TurnView> {
        self.turns.iter_mut().rev().find(|t| t.request_id == *id)
    }

    fn finish(&mut self) {
        self.turn_count = self.turns.len();
        if self.title.as_str().is_empty()
            && let Some(first) = self.turns.iter().find(|t| !t.query_title.as_str().is_empty())
        {
            self.title = first.query_title.clone();
        }
        // A model names files below the project, hosts by their whole path.
        let root = self.project_root.as_deref().unwrap_or_default();
        let whole = |path: &Redacted| match path.strip_prefix("./").unwrap_or(path) {
            below if !below.starts_with('/') => format!("{root}/{below}"),
            whole => whole.to_owned(),
        };
        let files: BTreeSet<String> = self
            .turns
            .iter()
            .flat_map(|t| &t.actions)
            .filter(|a| is_file_change(&a.action.kind) && a.action.status == ActionStatus::Completed)
            .filter_map(|a| a.action.file_path.as_ref().map(whole))
            .collect();
        self.files_modified_count = files.len();
        let last = self.last_root();
        let last_failed = last.is_some_and(|t| t.status == "failed");
        // Nobody says that a session ended whose host vanished; a later turn takes it up again.
        let gone = last
            .filter(|t| t.presumed)
            .and_then(|t| t.failure.as_ref())
            .is_some_and(|f| {
                matches!(
                    f.code.as_str(),
                    "host_gone" | "session_abandoned" | "session_ended"
                )
            });
        self.status = match (self.ended || gone, last_failed) {
            (false, _) => "in_progress",
            (true, true) => "failed",
            (true, false) => "completed",
        };
    }

    /// The last turn that is no subagent's own.
    fn last_root(&self) -> Option<&TurnView> {
        self.turns.iter().rev().find(|t| t.agent.is_none())
    }

    /// The files that the last turn changed, in order, at most ten.
    #[must_use]
    pub fn last_files(&self) -> Vec<Redacted> {
        let mut files: Vec<Redacted> = Vec::new();
        let changed = self.last_root().into_iter().flat_map(|t| &t.actions);
        for action in changed.filter(|a| matches!(a.action.kind, ActionKind::Edit | ActionKind::Create)) {
            if let Some(path) = &action.action.file_path
                && !files.contains(path)
                && files.len() < 10
            {
                files.push(path.clone());
            }
        }
        files
    }
}

fn is_file_change(kind: &ActionKind) -> bool {
    matches!(kind, ActionKind::Edit | ActionKind::Create | ActionKind::Delete)
}

/// A whole JSON object that is only not one of ours: a kind or a version that we do not know.
fn is_foreign(line: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        v: u32,
        kind: String,
    }
    serde_json::from_slice::<Head>(line)
        .is_ok_and(|h| h.v > super::record::VERSION || !is_known_kind(&h.kind))
}

fn is_known_kind(kind: &str) -> bool {
    let only_models = matches!(kind, "session.title" | "turn.update" | "turn.dialog");
    (cfg!(feature = "cli") && only_models)
        || matches!(
            kind,
            "session.open"
                | "session.end"
                | "turn.begin"
                | "turn.action"
                | "turn.complete"
                | "turn.fail"
                | "turn.presumed"
                | "task"
                | "todos"
                | "limit"
                | "late"
                | "handoff"
                | "note"
        )
}
