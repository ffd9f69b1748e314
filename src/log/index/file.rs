//! The database's file: made 0600, opened without following a link, thrown away when it is none of ours.

use std::io;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use rustix::fs::{FileType, Mode, fchmod};

use super::{Error, schema};
use crate::log::data_dir::DataDir;

/// The file's name.
pub(super) const FILE: &str = "index.sqlite";
/// Everything that SQLite keeps of it.
pub(super) const FILES: [&str; 3] = [FILE, "index.sqlite-wal", "index.sqlite-shm"];
/// How long it is waited for somebody who holds the database itself.
const WAIT: Duration = Duration::from_secs(5);

/// Opens the database, made if missing. The caller holds the index's lock.
pub(super) fn open(data: &DataDir) -> Result<Connection, Error> {
    for name in FILES {
        make_way(data, name).map_err(Error::io("open the index of the history"))?;
    }
    {
        let (file, _) = data
            .dir()
            .open_append_or_make(FILE)
            .map_err(Error::io("make the index of the history"))?;
        let private = fchmod(&file, Mode::from_raw_mode(0o600)).map_err(io::Error::from);
        private.map_err(Error::io("make the index of the history private"))?;
    }
    let conn = connect(data)?;
    schema::prepare(&conn)?;
    Ok(conn)
}

/// Opens the database as it is, if it is one of ours; for readers that do not hold the index's lock.
pub(super) fn open_made(data: &DataDir) -> Result<Option<Connection>, Error> {
    let stat = data.dir().stat(FILE).map_err(Error::io("look at the index"))?;
    if !stat.is_some_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::RegularFile && s.st_size > 0) {
        return Ok(None);
    }
    let conn = connect(data)?;
    Ok(schema::is_ours(&conn)?.then_some(conn))
}

/// A database that is in no directory, and gone with its connection.
pub(super) fn temporary() -> Result<Connection, Error> {
    let conn = Connection::open("")?;
    schema::prepare(&conn)?;
    Ok(conn)
}

/// Removes the database. The caller holds the index's lock.
pub(super) fn discard(data: &DataDir) -> Result<(), Error> {
    for name in FILES {
        let gone = data.dir().remove(name);
        gone.map_err(Error::io("remove the index of the history, to make it anew"))?;
    }
    Ok(())
}

fn connect(data: &DataDir) -> Result<Connection, Error> {
    // No component of this path is a link any more, and SQLite follows none that comes after this.
    let path = data.path().canonicalize();
    let path = path.map_err(Error::io("find the data directory"))?.join(FILE);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(WAIT)?;
    Ok(conn)
}

/// Something else in the file's place is removed, as long as nothing is lost with it.
fn make_way(data: &DataDir, name: &str) -> io::Result<()> {
    let Some(stat) = data.dir().stat(name)? else {
        return Ok(());
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => data.dir().remove_sub(name).map(|_| ()).map_err(|e| {
            io::Error::new(
                e.kind(),
                format!("{name} is a directory that is not empty: move it away"),
            )
        }),
        _ => data.dir().remove(name).map(|_| ()),
    }
}
