//! A database that is being written, and whether it still lies where it was opened. SQLite removes a log by its path: where the folder was renamed
//! meanwhile and another recording begun under the same path, that log would be the other's.

use rusqlite::{Connection, ffi};
use std::fs::{File, OpenOptions};
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

/// Where a database went that is no longer under the path where it was opened.
pub(crate) enum Moved {
    /// Under this path.
    To(PathBuf),
    /// It has no name any more.
    Removed,
}

/// A connection to a database that is being written. Dropping it never touches a file that has taken the database's path.
pub(crate) struct Database {
    db: Connection,
    path: PathBuf,
    /// A descriptor of the file that locks nothing: closing any other would let go of SQLite's locks (sqlite.org/howtocorrupt.html, 2.2).
    file: Option<File>,
}

impl From<Connection> for Database {
    fn from(db: Connection) -> Self {
        let path = PathBuf::from(db.path().unwrap_or_default());
        let file = OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW).open(&path).ok();
        Database { db, path, file }
    }
}

impl Database {
    /// Where the file is now, if it was moved or removed.
    pub(crate) fn moved(&self) -> Option<Moved> {
        let file = self.file.as_ref()?;
        let own = file.metadata().ok()?;
        let is_same = |path: &PathBuf| {
            path.symlink_metadata().is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino()))
        };
        if is_same(&self.path) {
            return None;
        }
        // A removed file has a name that ends in " (deleted)".
        let now = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok().filter(is_same);
        Some(now.map_or(Moved::Removed, Moved::To))
    }
}

impl Deref for Database {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.db
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.moved().is_some() {
            let mut keep: std::ffi::c_int = 1;
            // SAFETY: the connection is open; SQLITE_FCNTL_PERSIST_WAL reads and writes one int.
            unsafe {
                ffi::sqlite3_file_control(
                    self.db.handle(),
                    c"main".as_ptr(),
                    ffi::SQLITE_FCNTL_PERSIST_WAL,
                    (&raw mut keep).cast(),
                );
            }
        }
    }
}
