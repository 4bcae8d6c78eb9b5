//! What can go wrong when something is read from the host.

use model::Unavailable;
use std::io;

/// A file that could not be read, or not understood.
#[derive(Debug)]
pub struct ReadError {
    /// The path on the host.
    pub path: String,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    Io(io::Error),
    NotUnderstood(String),
}

impl ReadError {
    /// A read that failed.
    pub fn new(path: &str, error: io::Error) -> Self {
        ReadError { path: path.to_owned(), reason: Reason::Io(error) }
    }

    /// A file whose content is not what the kernel documents: `wanted` in words, and what was found.
    pub fn not_understood(path: &str, wanted: &str, found: &str) -> Self {
        let found: String = found.chars().take(60).collect();
        ReadError {
            path: path.to_owned(),
            reason: Reason::NotUnderstood(format!("expected {wanted}, found {found:?}")),
        }
    }

    /// Whether the file is not there.
    pub fn is_absent(&self) -> bool {
        // ENODEV, ENXIO, EOPNOTSUPP and ESRCH are how the kernel says "not here" from a file that exists.
        matches!(&self.reason, Reason::Io(e) if e.kind() == io::ErrorKind::NotFound
            || e.kind() == io::ErrorKind::NotADirectory
            || matches!(e.raw_os_error(), Some(libc::ENODEV | libc::ENXIO | libc::EOPNOTSUPP | libc::ESRCH)))
    }

    /// Whether reading it was refused.
    pub fn is_denied(&self) -> bool {
        matches!(&self.reason, Reason::Io(e) if e.kind() == io::ErrorKind::PermissionDenied)
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.reason {
            Reason::Io(error) => write!(f, "{}: {error}", self.path),
            Reason::NotUnderstood(what) => write!(f, "{}: {what}", self.path),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<ReadError> for Unavailable {
    fn from(error: ReadError) -> Self {
        let why = error.to_string();
        if error.is_absent() {
            Unavailable::absent(why)
        } else if error.is_denied() {
            Unavailable::denied(why).remedy("run as root, or with CAP_DAC_READ_SEARCH")
        } else {
            Unavailable::failed(why)
        }
    }
}
