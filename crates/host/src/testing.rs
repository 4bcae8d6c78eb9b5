//! Hosts for tests.

use crate::Host;

/// A host that holds these files. The folder is gone when the first is dropped.
///
/// # Panics
/// Where they cannot be written.
pub fn host_of(files: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in files {
        let path = dir.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let host = Host::fixture(dir.path());
    (dir, host)
}
