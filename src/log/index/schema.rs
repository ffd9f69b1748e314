//! The tables. A file of another version is made anew: everything in it comes from the logs.

use rusqlite::Connection;

use super::Error;

/// `BKND`: says that a database is this index.
const APPLICATION: i32 = 0x424b_4e44;
/// The version of the tables.
const VERSION: i32 = 1;

/// Times are microseconds since 1970. The id of a turn begins with the milliseconds at which it began, so that the
/// newest matches of a search are found without looking at all of them.
const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    agent_key TEXT NOT NULL,
    host TEXT,
    host_session TEXT,
    title TEXT NOT NULL,
    model TEXT,
    project TEXT,
    started INTEGER,
    last INTEGER,
    updated INTEGER NOT NULL,
    status TEXT NOT NULL,
    turns INTEGER NOT NULL,
    files INTEGER NOT NULL,
    tags TEXT NOT NULL,
    length INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    modified INTEGER NOT NULL
);
CREATE INDEX sessions_by_time ON sessions (updated, session);
CREATE INDEX sessions_by_agent ON sessions (agent_key, updated, session);
CREATE INDEX sessions_by_project ON sessions (project, updated, session);
CREATE INDEX sessions_by_status ON sessions (status, updated, session);
CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    request TEXT,
    began INTEGER,
    print INTEGER NOT NULL
);
CREATE INDEX turns_by_session ON turns (session);
CREATE VIRTUAL TABLE texts USING fts5 (
    title, prompt, response, interpretation, dialog, actions, tags, failure,
    tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO texts (texts, rank) VALUES ('secure-delete', 1);
INSERT INTO texts (texts, rank) VALUES ('hashsize', 16777216);
";

/// The columns of the full text, in order; the first one that holds a word is the field of a match.
pub(super) const FIELDS: [&str; 8] = [
    "title",
    "prompt",
    "response",
    "interpretation",
    "dialog",
    "actions",
    "tags",
    "failure",
];

/// Makes a new database ours, and leaves one of ours as it is; any other is corrupt.
pub(super) fn prepare(conn: &Connection) -> Result<(), Error> {
    // What is deleted is wiped; what is not synced at each commit is at worst made anew.
    conn.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;
         PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000; PRAGMA wal_autocheckpoint = 8000;",
    )?;
    if is_ours(conn)? {
        return Ok(());
    }
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    if tables > 0 {
        return Err(foreign());
    }
    // Readers are not held up by a writer. Where a file system has no shared memory, they are.
    let _: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    conn.execute_batch(&format!(
        "BEGIN IMMEDIATE; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
    ))?;
    Ok(())
}

/// Whether it is the index, of this version.
pub(super) fn is_ours(conn: &Connection) -> Result<bool, Error> {
    let number = |name: &str| conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i32>(0));
    Ok(number("application_id")? == APPLICATION && number("user_version")? == VERSION)
}

fn foreign() -> Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
    Error::Database(rusqlite::Error::SqliteFailure(code, None))
}
