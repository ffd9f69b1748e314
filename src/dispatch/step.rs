//! One event of one session, under its lock: from the state before it to what is written and said.

use std::io;

use super::{HOOK_WAIT, offer, stores::Stores};
use crate::clock::Stopwatch;
use crate::config::Config;
use crate::event::{Event, Kind, Source};
use crate::files;
use crate::handlers::{self, Context, Offer, Plan};
use crate::live::fold::brief;
use crate::live::key::SessionKey;
use crate::live::process::{HostProcess, Pulse};
use crate::live::session::Session;
use crate::live::state::{Answered, Entry, LogEnd, State};
use crate::log::data_dir::DataDir;
use crate::log::id::SessionId;
use crate::log::ledger::{Ledger, NoLedger};
use crate::log::open::OpenEntry;
use crate::log::record::{Body, By, Record};
use crate::log::turns::Mark;
use crate::log::{settle, view::SessionView};
use crate::redact::Redacted;
use crate::reply::{MAX_CONTEXT, Reply, Verdict};
use crate::task::{Todos, limit};

/// An event that was not taken in now, and why: somebody holds the log, there is no space, the journal
/// cannot be written. It is kept and tried again; what is in the log by then is not written twice.
#[derive(Debug)]
pub struct NotNow(pub String);

/// Takes one event in.
///
/// # Errors
/// [`NotNow`]; the journal is then as before.
pub(super) fn take(
    session: &mut Session,
    mut event: Event,
    stores: &mut Stores,
    config: &Config,
    watch: Stopwatch,
) -> Result<Reply, NotNow> {
    if let Some(seen) = event.key.as_ref().and_then(|k| session.state.seen(k)) {
        // A duplicate changes nothing; a denial is repeated, context and notices are not.
        let verdict = seen
            .denied
            .as_ref()
            .map_or(Verdict::Allow, |why| Verdict::Deny(why.to_string()));
        return Ok(Reply {
            verdict,
            ..Reply::nothing()
        });
    }
    if let (None, Some(why)) = (&stores.data, &stores.no_data_now) {
        return Err(NotNow(why.clone()));
    }
    let found = Found::about(session, &mut event, stores, config)?;
    let written = write(session, &event, stores, config, &found)?;
    let Written {
        plan,
        marks,
        log,
        mut entry,
        after,
    } = written;
    let reply = reply(&event, &plan, &after);
    let told = plan.context.as_deref() == Some(limit::WAIT) && reply.context.is_some();
    entry.marks = marks;
    entry.log = log.filter(|l| session.state.log.as_ref() != Some(l));
    entry.answered = answered(&reply, &after, told);
    entry.us = watch.micros();
    let problems = std::mem::take(&mut session.problems)
        .into_iter()
        .chain(stores.faults.drain(..));
    entry.faults = problems.map(|p| Redacted::truncated(&p, 300)).collect();
    let due = found.reborn || matches!(event.kind, Kind::SessionStart { .. } | Kind::Prompt { .. });
    session
        .append(entry, due)
        .map_err(|e| NotNow(format!("write the journal: {e}")))?;
    stores.faults.append(&mut session.problems);
    if let Some(offer) = found.offer.filter(|o| o.ends && plan.took_over.is_some()) {
        end_offered(stores, &offer, session.state.log.as_ref());
    }
    Ok(reply)
}

/// What is looked up before the plan is made.
struct Found {
    log: Option<SessionId>,
    process: Option<HostProcess>,
    pulse: Pulse,
    offer: Option<Offer>,
    /// The live state was begun anew.
    reborn: bool,
}

impl Found {
    fn about(
        session: &mut Session,
        event: &mut Event,
        stores: &mut Stores,
        config: &Config,
    ) -> Result<Self, NotNow> {
        let reborn = session.is_new;
        if reborn
            && let Some(root) = &stores.root
            && let Err(e) = root.claim(stores.data.as_ref())
        {
            let what = format!("mark the hook root: {e}");
            stores.fault(&what);
        }
        if event.project.is_none() && session.state.project_root.is_none() {
            event.project = event.cwd.as_ref().map(project_of);
        }
        let mut log = session.state.log.as_ref().map(|l| l.session.clone());
        if log.is_none() {
            log = known_log(session, event, stores)?;
        }
        session.is_new = false;
        // By the key, not by the id as it is stored, of which the end or a secret may be gone.
        let log = log.or_else(|| Some(SessionId::of(event.host, session.key.as_str(), event.at)));
        let starts = matches!(event.kind, Kind::SessionStart { .. });
        let process = (starts || session.state.host_process.is_none())
            .then(|| HostProcess::find(event.host_pid))
            .flatten();
        let mut found = Self {
            log,
            process,
            pulse: Pulse::Unknown,
            offer: None,
            reborn,
        };
        if let (Kind::SessionStart { source }, Some(data)) = (&event.kind, &stores.data) {
            found.pulse = session
                .state
                .host_process
                .as_ref()
                .map_or(Pulse::Unknown, HostProcess::pulse);
            let root = stores.root.as_ref();
            let own = found.log.as_ref();
            if let Err(e) = settle::settle(data, root, own, settle::MAX_ENTRIES, event.at) {
                let what = format!("settle unfinished sessions: {e}");
                stores.faults.push(what);
            }
            if *source == Source::Clear {
                clear(data, &found, session, event);
            }
            // The first to hold the lock speaks: a session that has its turn already is not given another's task.
            if session.state.turns.count == 0 {
                let mut asked = event.clone();
                asked.project = asked.project.or_else(|| session.state.project_root.clone());
                found.offer = offer::find(data, root, &asked, *source, own, config);
            }
        }
        Ok(found)
    }

    fn context<'a>(&'a self, event: &'a Event, state: &'a State, config: &'a Config) -> Context<'a> {
        let moved = self.process.is_some() && self.process != state.host_process;
        Context {
            event,
            state,
            config,
            log: self.log.as_ref(),
            pulse: self.pulse,
            moved,
            offer: self.offer.as_ref(),
        }
    }
}

/// The nearest ancestor of a working directory that holds `.git`, else the directory itself.
fn project_of(cwd: &Redacted) -> Redacted {
    let path = std::path::Path::new(cwd.as_str());
    let root = path
        .ancestors()
        .take(32)
        .find(|p| p.is_absolute() && p.join(".git").exists());
    root.map_or_else(|| cwd.clone(), |p| Redacted::new(&p.to_string_lossy()))
}

/// The log session that this host session wrote to before its live state was gone; the state is begun
/// again from it. One that cannot be looked up now is not taken for none: its turn would never end.
fn known_log(session: &mut Session, event: &Event, stores: &mut Stores) -> Result<Option<SessionId>, NotNow> {
    let Some(data) = &stores.data else { return Ok(None) };
    let known = data.by_host(event.host, session.key.as_str()).and_then(|id| {
        if let Some(id) = &id {
            restore(&mut session.state, data, id)?;
            // What comes from the log is in no journal: kept before the first entry is.
            session.checkpoint()?;
        }
        Ok(id)
    });
    match known {
        Ok(id) => Ok(id),
        Err(e) => {
            later_or_note(stores, "begin again from the session log", &e)?;
            Ok(session.state.log.as_ref().map(|l| l.session.clone()))
        }
    }
}

fn restore(state: &mut State, data: &DataDir, id: &SessionId) -> io::Result<()> {
    // Its turns are read from its beginning, if not here, then before the next record.
    state.log = Some(LogEnd {
        session: id.clone(),
        end: 0,
    });
    if let Some(view) = SessionView::read(data, id)? {
        state.turns = view.machine;
        state.work.current_task = view.task;
        state.work.interrupted_task = view.interrupted;
        state.ui_todos = view.todos;
        state.project_root = view.project_root;
        state.log = Some(LogEnd {
            session: id.clone(),
            end: view.end,
        });
    }
    Ok(())
}

/// `/clear`: whatever this host process was doing is over, and nobody wants it back.
fn clear(data: &DataDir, found: &Found, session: &Session, event: &Event) {
    let process = found.process.as_ref().or(session.state.host_process.as_ref());
    let entries = data.open_entries().unwrap_or_default();
    for entry in entries
        .into_iter()
        .filter(|e| process.is_some() && e.process.as_ref() == process)
    {
        if Some(&entry.session) != found.log.as_ref() {
            drop(settle::presume(data, &entry, "session_ended", event.at));
            drop(data.remove_open(&entry.session));
        }
    }
}

struct Written {
    plan: Plan,
    marks: Vec<Mark>,
    log: Option<LogEnd>,
    entry: Entry,
    after: State,
}

/// Plans, and writes what goes into the durable store.
fn write(
    session: &mut Session,
    event: &Event,
    stores: &mut Stores,
    config: &Config,
    found: &Found,
) -> Result<Written, NotNow> {
    let mut draft = draft(event, &session.state, config, found);
    let mut caught = Vec::new();
    let mut log = session.state.log.clone();
    if let (Some(id), None) = (&found.log, &log) {
        log = Some(LogEnd {
            session: id.clone(),
            end: 0,
        });
        if let (Some(data), true) = (&stores.data, draft.records.is_empty()) {
            // The model is told this id now, so it must be found again.
            let set = data.set_by_host(event.host, session.key.as_str(), id);
            if let Err(e) = set {
                stores.fault(&format!("record the log session: {e}"));
            }
        }
    }
    if let (Some(data), Some(end)) = (&stores.data, log.as_mut())
        && (!draft.records.is_empty() || ends(event))
    {
        match Ledger::open(data, &end.session, By::Hook, !draft.records.is_empty(), HOOK_WAIT) {
            Ok(Some(mut ledger)) => {
                let tail = ledger.since(end.end).unwrap_or_default();
                let logged;
                (caught, logged) = catch_up(&tail, session, event, config, found, &mut draft);
                let written = record(
                    &mut ledger,
                    data,
                    event,
                    &session.key,
                    &draft,
                    session.state.log.is_none(),
                    logged,
                    &end.session,
                );
                match written {
                    Ok(()) => end.end = ledger.end(),
                    Err(e) => later_or_note(stores, "write the session log", &e)?,
                }
            }
            Ok(None) => {}
            Err(NoLedger::Busy) => return Err(NotNow(NoLedger::Busy.to_string())),
            Err(NoLedger::Io(e)) => later_or_note(stores, "open the session log", &e)?,
        }
    }
    let Draft {
        plan,
        mut marks,
        entry,
        after,
        ..
    } = draft;
    marks.splice(0..0, caught);
    Ok(Written {
        plan,
        marks,
        log,
        entry,
        after,
    })
}

/// Events that end a turn which only the log may know of: its hook was killed before its journal entry.
fn ends(event: &Event) -> bool {
    matches!(
        event.kind,
        Kind::SessionStart { .. } | Kind::SessionEnd { .. } | Kind::Interrupt
    )
}

/// Takes in what the log grew by and drafts anew: from a model, a settlement, or a hook that was killed
/// before its journal entry. Whether that hook's event was this one, which then comes again from its
/// pending file and is in the log already.
fn catch_up(
    tail: &[Record],
    session: &mut Session,
    event: &Event,
    config: &Config,
    found: &Found,
    draft: &mut Draft,
) -> (Vec<Mark>, bool) {
    let own = |r: &Record| r.by == By::Hook && r.at == event.at;
    let (before, from_own) = tail.split_at(tail.iter().position(own).unwrap_or(tail.len()));
    let mut caught = Vec::new();
    for part in [before, from_own] {
        let marks: Vec<Mark> = part.iter().filter_map(|r| r.body.mark(r.at)).collect();
        let is_there = |body: &Body| part.iter().any(|r| own(r) && r.body == *body);
        if !draft.records.is_empty() && draft.records.iter().all(is_there) {
            caught.extend(marks);
            return (caught, true);
        }
        if !marks.is_empty() {
            session.state.take_marks(&marks);
            *draft = self::draft(event, &session.state, config, found);
            caught.extend(marks);
        }
    }
    (caught, false)
}

struct Draft {
    plan: Plan,
    records: Vec<Body>,
    marks: Vec<Mark>,
    entry: Entry,
    after: State,
}

/// The plan, the state after it, and the records that both give.
fn draft(event: &Event, state: &State, config: &Config, found: &Found) -> Draft {
    let mut plan = handlers::plan(&found.context(event, state, config));
    let mut records = std::mem::take(&mut plan.records);
    let mut marks: Vec<Mark> = records.iter().filter_map(|r| r.mark(event.at)).collect();
    if let Kind::Prompt { text, .. } = &event.kind {
        for mark in &mut marks {
            if let Mark::Begin { turn } = mark {
                turn.prompt = Some(crate::log::record::prompt_hash(text.as_str()));
            }
        }
    }
    marks.extend(plan.aliases.iter().cloned());
    let entry = Entry {
        n: state.n + 1,
        event: brief(event),
        marks: marks.clone(),
        log: None,
        process: found.process.clone(),
        resend: plan.resend,
        took_over: plan.took_over.clone(),
        answered: Answered::default(),
        us: 0,
        faults: Vec::new(),
    };
    let mut after = state.clone();
    after.apply(&entry);
    records.extend(changes(state, &after));
    Draft {
        plan,
        records,
        marks,
        entry,
        after,
    }
}

/// What changed in the state and must outlive it: the task, the todos, a limit.
fn changes(before: &State, after: &State) -> Vec<Body> {
    let mut records = Vec::new();
    let known = |s: &State| {
        s.work
            .current_task
            .as_ref()
            .map(|t| (t.description.clone(), t.started_at))
    };
    if let Some(limit) = after.rate_limit.as_ref().filter(|l| {
        before
            .rate_limit
            .as_ref()
            .is_none_or(|b| b.detected_at != l.detected_at)
    }) {
        let turn = after.turns.last().map(|t| t.id.clone());
        records.push(Body::Limit {
            turn,
            limit: limit.clone(),
        });
    }
    let limited = |s: &State| {
        s.work
            .current_task
            .as_ref()
            .and_then(|t| t.rate_limit_detected_at)
    };
    if known(before) != known(after)
        || limited(before) != limited(after)
        || before.work.interrupted_task != after.work.interrupted_task
    {
        let task = after.work.current_task.clone();
        records.push(Body::Task {
            task,
            interrupted: after.work.interrupted_task.clone(),
        });
    }
    let items = |s: &State| s.ui_todos.as_ref().map(|t| t.items.clone()).unwrap_or_default();
    if items(before) != items(after) {
        records.push(Body::Todos {
            todos: after.ui_todos.clone().unwrap_or_default(),
        });
    }
    records
}

/// `open/` entry first, then the log; an entry that is no longer true goes last. `logged`: the log has it.
#[expect(
    clippy::too_many_arguments,
    reason = "one caller, which holds all of it in one place"
)]
fn record(
    ledger: &mut Ledger,
    data: &DataDir,
    event: &Event,
    key: &SessionKey,
    draft: &Draft,
    unknown: bool,
    logged: bool,
    id: &SessionId,
) -> io::Result<()> {
    let mut records = draft.records.clone();
    if records.is_empty() {
        return Ok(());
    }
    if ledger.is_new() {
        records.insert(0, opening(event, draft, id));
    }
    if unknown {
        data.set_by_host(event.host, key.as_str(), id)?;
    }
    let moves = |r: &Body| {
        !matches!(
            r,
            Body::TurnAction { .. } | Body::Late { .. } | Body::Limit { .. } | Body::Note { .. }
        )
    };
    let touches = records.iter().any(moves);
    if touches && draft.after.unfinished() {
        data.set_open(&open_entry(event, key, draft, id))?;
    }
    if !logged {
        ledger.append(records, event.at)?;
    } else if records.iter().any(Body::is_final) {
        ledger.sync()?;
    }
    if !draft.after.unfinished() {
        data.remove_open(id)?;
    }
    Ok(())
}

fn opening(event: &Event, draft: &Draft, id: &SessionId) -> Body {
    let title = draft.records.iter().find_map(|r| match r {
        Body::TurnBegin { title, .. } => Some(title.clone()),
        _ => None,
    });
    Body::SessionOpen {
        agent: id.agent().to_owned(),
        host: Some(event.host),
        host_session: Some(event.session.clone()),
        title: title.unwrap_or_else(|| Redacted::new("Untitled session")),
        model: draft.after.model.clone(),
        project_root: draft.after.project_root.clone(),
        cwd: event.cwd.clone(),
    }
}

fn open_entry(event: &Event, key: &SessionKey, draft: &Draft, id: &SessionId) -> OpenEntry {
    let after = &draft.after;
    OpenEntry {
        v: 1,
        session: id.clone(),
        host: event.host,
        session_key: key.to_string(),
        project_root: after.project_root.clone().or_else(|| after.cwd.clone()),
        turn: after.turns.open().map(|t| t.id.clone()),
        since: event.at,
        task: after.work.current_task.clone(),
        todos: after.ui_todos.clone().filter(Todos::any_open),
        process: after.host_process.clone(),
        settled: after.turns.open().is_none(),
        ended: after.ended.is_some(),
    }
}

/// The session whose task was taken over: its log says so, and nobody is offered it again.
fn end_offered(stores: &mut Stores, offer: &Offer, own: Option<&LogEnd>) {
    let Some(data) = &stores.data else { return };
    let from = &offer.taken.from;
    let text = own.map_or_else(String::new, |l| {
        format!("Its task was taken over by {}", l.session)
    });
    let noted = Ledger::open(data, from, By::Hook, false, HOOK_WAIT).map(|ledger| {
        if let Some(mut ledger) = ledger {
            let note = Body::Note {
                text: Redacted::new(&text),
            };
            drop(ledger.append(
                vec![
                    note,
                    Body::Task {
                        task: None,
                        interrupted: None,
                    },
                ],
                crate::clock::now(),
            ));
        }
        data.remove_open(from)
    });
    if let Err(e) = noted {
        let what = e.to_string();
        stores.fault(&what);
    }
}

fn reply(event: &Event, plan: &Plan, after: &State) -> Reply {
    let accepts = event.host.accepts(&event.name);
    let context = plan
        .context
        .clone()
        .filter(|_| accepts.context)
        .map(|c| c.chars().take(MAX_CONTEXT).collect());
    let notices: Vec<&str> = after.notices.iter().map(Redacted::as_str).collect();
    let notice = (accepts.notice && !notices.is_empty()).then(|| notices.join("\n\n"));
    Reply {
        context,
        notice,
        verdict: Verdict::Allow,
    }
}

fn answered(reply: &Reply, after: &State, told: bool) -> Answered {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Answered {
        context: reply.context.as_ref().map_or(0, |c| count(c.chars().count())),
        notices: if reply.notice.is_some() {
            count(after.notices.len())
        } else {
            0
        },
        told,
        denied: match &reply.verdict {
            Verdict::Allow => None,
            Verdict::Deny(why) | Verdict::Block(why) => Some(Redacted::new(why)),
        },
    }
}

/// What may pass is tried again with the whole event. Any other fault of the durable store: the live state
/// goes on without it.
fn later_or_note(stores: &mut Stores, what: &str, e: &io::Error) -> Result<(), NotNow> {
    let what = format!("{what}: {e}");
    if files::may_pass(e) {
        return Err(NotNow(what));
    }
    stores.fault(&what);
    Ok(())
}
