//! Hosts for tests, of this crate and of others. It is always built: a feature would make Cargo compile this crate, and all
//! that use it, a second time for the tests.

use crate::Host;
use std::path::Path;

/// Writes these files below `dir`. They are the host that is returned.
///
/// # Panics
/// Where they cannot be written.
pub fn host_in(dir: &Path, files: &[(&str, &str)]) -> Host {
    for (path, text) in files {
        let path = dir.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    Host::fixture(dir)
}

/// A host that consists of these files. Their folder is deleted when the first value is dropped.
#[cfg(test)]
pub(crate) fn host_of(files: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let host = host_in(dir.path(), files);
    (dir, host)
}
