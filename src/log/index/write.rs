//! How logs get into the index: many in one transaction, and of each only what changed.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, Transaction, params};

use super::Error;
use super::filter::key_of;
use super::rows::{Logged, Stamp, Text};
use crate::log::id::SessionId;

/// The id of a turn: the milliseconds at which it began, then this many bits for those of one millisecond.
const BITS: i64 = 10;
/// A time behind this many milliseconds has no place in an id.
const LATEST: i64 = 1 << 50;

/// The first id of a turn that began then.
pub(super) fn first_id(at: DateTime<Utc>) -> i64 {
    at.timestamp_millis().clamp(0, LATEST) << BITS
}

/// Puts logs in. `gone` are those that are no more.
pub(super) fn put(tx: &Transaction<'_>, logs: &[Logged], gone: &[SessionId]) -> Result<(), Error> {
    for id in gone {
        remove(tx, id.as_str())?;
    }
    let mut changed: Vec<(i64, &Text)> = Vec::new();
    for logged in logs {
        let session = session(tx, logged)?;
        turns(tx, session, logged, &mut changed)?;
    }
    // The full text takes ids that grow many times faster than others.
    changed.sort_unstable_by_key(|(id, _)| *id);
    let mut insert = tx.prepare_cached(
        "INSERT INTO texts (rowid, title, prompt, response, interpretation, dialog, actions, tags, failure)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for (id, text) in changed {
        let [
            title,
            prompt,
            response,
            interpretation,
            dialog,
            actions,
            tags,
            failure,
        ] = &text.columns;
        insert.execute(params![
            id,
            title,
            prompt,
            response,
            interpretation,
            dialog,
            actions,
            tags,
            failure
        ])?;
    }
    Ok(())
}

/// Takes a session out.
fn remove(tx: &Transaction<'_>, session: &str) -> Result<(), Error> {
    let id: Option<i64> = tx
        .prepare_cached("SELECT id FROM sessions WHERE session = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()?;
    let Some(id) = id else { return Ok(()) };
    tx.prepare_cached("DELETE FROM texts WHERE rowid IN (SELECT id FROM turns WHERE session = ?1)")?
        .execute([id])?;
    tx.prepare_cached("DELETE FROM turns WHERE session = ?1")?
        .execute([id])?;
    tx.prepare_cached("DELETE FROM sessions WHERE id = ?1")?
        .execute([id])?;
    Ok(())
}

fn session(tx: &Transaction<'_>, logged: &Logged) -> Result<i64, Error> {
    let Logged { view, stamp, .. } = logged;
    let Stamp {
        length,
        inode,
        modified,
    } = stamp;
    let mut tags: Vec<&str> = view
        .turns
        .iter()
        .flat_map(|t| &t.tags)
        .map(|t| t.as_str())
        .collect();
    tags.sort_unstable();
    tags.dedup();
    let micros = |at: Option<DateTime<Utc>>| at.map(|at| at.timestamp_micros());
    let last = micros(view.last_updated);
    let id = tx
        .prepare_cached(
            "INSERT INTO sessions (session, agent, agent_key, host, host_session, title, model, project, started,
                 last, updated, status, turns, files, tags, length, inode, modified)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
             ON CONFLICT (session) DO UPDATE SET agent = excluded.agent, agent_key = excluded.agent_key,
                 host = excluded.host, host_session = excluded.host_session, title = excluded.title,
                 model = excluded.model, project = excluded.project, started = excluded.started,
                 last = excluded.last, updated = excluded.updated, status = excluded.status,
                 turns = excluded.turns, files = excluded.files, tags = excluded.tags,
                 length = excluded.length, inode = excluded.inode, modified = excluded.modified
             RETURNING id",
        )?
        .query_row(
            params![
                view.session_id.as_str(),
                view.agent,
                key_of(view.session_id.agent()),
                view.host.map(|h| h.id()),
                view.host_session.as_deref(),
                view.title.as_str(),
                view.model.as_deref(),
                view.project_root.as_deref(),
                micros(view.started),
                last,
                last.unwrap_or(modified / 1_000),
                view.status,
                i64::try_from(view.turn_count).unwrap_or(0),
                i64::try_from(view.files_modified_count).unwrap_or(0),
                serde_json::to_string(&tags).unwrap_or_default(),
                length,
                inode,
                modified,
            ],
            |row| row.get(0),
        )?;
    Ok(id)
}

/// Finds the ids of the turns and what changed in them; what is no more is taken out.
fn turns<'l>(
    tx: &Transaction<'_>,
    session: i64,
    logged: &'l Logged,
    changed: &mut Vec<(i64, &'l Text)>,
) -> Result<(), Error> {
    let mut known: HashMap<Option<String>, (i64, i64)> = HashMap::new();
    {
        let mut select = tx.prepare_cached("SELECT id, request, print FROM turns WHERE session = ?1")?;
        let mut rows = select.query([session])?;
        while let Some(row) = rows.next()? {
            known.insert(row.get(1)?, (row.get(0)?, row.get(2)?));
        }
    }
    for text in &logged.texts {
        match known.remove(&text.request) {
            Some((_, print)) if print == text.print => {}
            Some((id, _)) => {
                tx.prepare_cached("DELETE FROM texts WHERE rowid = ?1")?
                    .execute([id])?;
                tx.prepare_cached("UPDATE turns SET print = ?2, began = ?3 WHERE id = ?1")?
                    .execute(params![
                        id,
                        text.print,
                        text.began.map(|at| at.timestamp_micros())
                    ])?;
                changed.push((id, text));
            }
            None => {
                let id = free_id(tx, text)?;
                tx.prepare_cached(
                    "INSERT INTO turns (id, session, request, began, print) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![
                    id,
                    session,
                    text.request,
                    text.began.map(|at| at.timestamp_micros()),
                    text.print
                ])?;
                changed.push((id, text));
            }
        }
    }
    for (id, _) in known.into_values() {
        tx.prepare_cached("DELETE FROM texts WHERE rowid = ?1")?
            .execute([id])?;
        tx.prepare_cached("DELETE FROM turns WHERE id = ?1")?
            .execute([id])?;
    }
    Ok(())
}

/// An id that no turn has, as near to its time as there is one.
fn free_id(tx: &Transaction<'_>, text: &Text) -> Result<i64, Error> {
    let first = text.began.map_or(0, first_id);
    let wanted = first | (text.print & ((1 << BITS) - 1));
    let is_taken = tx
        .prepare_cached("SELECT 1 FROM turns WHERE id = ?1")?
        .exists([wanted])?;
    if !is_taken {
        return Ok(wanted);
    }
    for bits in [BITS, 20, 30, 40] {
        let end = first + (1 << bits) - 1;
        let last: Option<i64> = tx
            .prepare_cached("SELECT max(id) FROM turns WHERE id BETWEEN ?1 AND ?2")?
            .query_row([first, end], |row| row.get(0))?;
        if let Some(last) = last.filter(|last| *last < end) {
            return Ok(last + 1);
        }
    }
    let last: i64 = tx.query_row("SELECT max(id) FROM turns", [], |row| row.get(0))?;
    Ok(last + 1)
}
