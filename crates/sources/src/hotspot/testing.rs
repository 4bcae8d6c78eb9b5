//! JVMs for tests: those that are installed here, and programs of ours for them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The JDKs of this machine that can compile, the oldest first.
pub(crate) fn jdks() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
    let mut found: Vec<PathBuf> = found.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    found.retain(|path| path.join("bin/javac").exists());
    found.sort_by_key(|path| feature(path));
    found.dedup();
    found
}

/// The version of a JDK, such as 17.
pub(crate) fn feature(jdk: &Path) -> u32 {
    let release = std::fs::read_to_string(jdk.join("release")).unwrap_or_default();
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\"")).unwrap_or_default();
    version.split(|c: char| !c.is_ascii_digit()).next().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// A source, compiled by the oldest JDK, and all JDKs; `None`, which is said, where there is none.
pub(crate) fn classes(source: &str, what: &str) -> Option<(tempfile::TempDir, Vec<PathBuf>)> {
    let jdks = jdks();
    let Some(oldest) = jdks.first() else {
        println!("SKIPPED: {what}: no JDK in /usr/lib/jvm, nor in JAVA_HOME");
        return None;
    };
    let dir = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let mut javac = Command::new(oldest.join("bin/javac"));
    let compiled = javac.arg("-XDignore.symbol.file").arg("-nowarn").arg("-d").arg(dir.path()).arg(source);
    assert!(compiled.stderr(Stdio::null()).status().unwrap().success());
    Some((dir, jdks))
}
