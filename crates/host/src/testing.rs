//! Hosts for tests, of this crate and of others. It is always built: behind a feature, Cargo would compile this crate and all
//! that use it a second time for the tests.

use crate::Host;

/// A host that consists of these files. Their folder is deleted when the first value is dropped.
///
/// # Panics
/// Where they cannot be written.
pub fn host_of(files: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
    // In memory where that is possible: some tests write thousands of files.
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder");
    for (path, text) in files {
        let path = dir.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        #[expect(clippy::disallowed_methods, reason = "only tests call this")]
        std::fs::write(path, text).expect("a file");
    }
    let host = Host::fixture(dir.path());
    (dir, host)
}
