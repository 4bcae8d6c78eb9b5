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
            _ => Error::Database { path: path.to_owned(), why: source },
        }
    }

    /// Whether the disk is full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Error::DiskFull { .. })
            || matches!(self, Error::Io { why, .. } if why.kind() == std::io::ErrorKind::StorageFull)
    }
}
