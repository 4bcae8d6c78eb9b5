//! What can go wrong with a recording file.

use std::path::PathBuf;

/// A recording that could not be written or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not there, or may not be read or written.
    #[error("{}: {why}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said. Not called `source`: it is part of the message, which a chain of errors would repeat.
        why: std::io::Error,
    },
    /// A recording that is whole lies elsewhere: its folder was renamed, or the file.
    #[error("{}: it was renamed while it was recorded, or its folder was: the recording is {}", path.display(), to.display())]
    Moved {
        /// Where it was to be.
        path: PathBuf,
        /// Where it is.
        to: PathBuf,
    },
    /// The file exists already.
    #[error("{}: exists already; choose another name, or add --force to replace it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a recording.
    #[error("{}: not a recording: {why}", path.display())]
    NotARecording {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        why: String,
    },
    /// The newest rows are in a second file that cannot be read here.
    #[error(
        "{}: the recorder did not finish it, and its last rows are in its -wal file, which cannot be read in a folder that you may not write; copy both \
         files to a folder of yours",
        path.display()
    )]
    InLog {
        /// The recording.
        path: PathBuf,
    },
    /// The file was written by a newer Twinscope.
    #[error("{}: written in format {found}; this program reads formats 1 to {known}: use a newer twinscope", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// Someone has the recording open.
    #[error("{}: it is still being recorded, or another program has it open", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The disk is full. What was committed before is safe.
    #[error("{}: disk full; what was recorded up to here is kept", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The file may not grow any more. What was committed before is safe.
    #[error("{}: a file may have {limit} bytes at most here (ulimit -f, RLIMIT_FSIZE)", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes.
        limit: u64,
    },
    /// SQLite said no.
    #[error("{}: {why}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        why: rusqlite::Error,
    },
    /// Bytes that are not what the format says.
    #[error("{what}: {why}")]
    Corrupt {
        /// Which part of which file.
        what: String,
        /// What was wrong.
        why: String,
    },
}

impl Error {
    /// The error that SQLite's error stands for.
    pub(crate) fn of(path: &std::path::Path, source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Error::DiskFull { path: path.to_owned() },
            Some(rusqlite::ErrorCode::NotADatabase) => {
                Error::NotARecording { path: path.to_owned(), why: "it is no SQLite database".into() }
            }
            Some(rusqlite::ErrorCode::OperationInterrupted) => Error::NotARecording {
                path: path.to_owned(),
                why: "to read its schema takes more work than a recording needs".into(),
            },
            _ => match size_limit().filter(|_| is_of_writing(&source)) {
                Some(limit) => Error::TooLarge { path: path.to_owned(), limit },
                None => Error::Database { path: path.to_owned(), why: source },
            },
        }
    }

    /// Whether the disk is full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Error::DiskFull { .. })
            || matches!(self, Error::Io { why, .. } if why.kind() == std::io::ErrorKind::StorageFull)
    }
}

/// Whether a file could not be written or made longer; SQLite does not say why.
fn is_of_writing(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE};
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(SQLITE_IOERR_WRITE | SQLITE_IOERR_SHMSIZE))
}

/// How long a file may be that this process writes, bytes; `None` where there is no limit (getrlimit(2), RLIMIT_FSIZE).
fn size_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the kernel fills in a structure that is alive.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}
