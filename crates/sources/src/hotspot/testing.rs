//! JVMs for tests: those that are installed here, programs of ours for them, and their memory to be damaged.

use crate::memory::{Memory, Process, Trouble};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The JVMs that tests look into: the oldest that is installed with its compiler. Under `make test-all` all that are installed,
/// and those that scripts/fetch-jvms.sh fetched, the oldest first.
pub(crate) fn jdks() -> Vec<PathBuf> {
    let mut found = all_jdks();
    if std::env::var_os("TWINSCOPE_TEST_ALL").is_none_or(|all| all.is_empty()) {
        found.retain(|jdk| jdk.join("bin/javac").exists());
        found.truncate(1);
    }
    found
}

fn all_jdks() -> Vec<PathBuf> {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/jvms");
    let folders = [Path::new("/usr/lib/jvm"), &fetched];
    let mut found: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| folder.read_dir().ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    found.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
    let mut found: Vec<PathBuf> = found.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    found.retain(|path| path.join("bin/java").exists() && feature(path) > 0);
    found.sort_by_key(|path| feature(path));
    found.dedup();
    found
}

/// Compiles for the oldest of these JVMs into a folder, with one of them that can; whether there is one.
pub(crate) fn compile(source: &Path, into: &Path, jdks: &[PathBuf]) -> bool {
    let Some((oldest, compiler)) = jdks.first().zip(jdks.iter().find(|jdk| jdk.join("bin/javac").exists())) else {
        return false;
    };
    let target = feature(oldest).to_string();
    let mut javac = Command::new(compiler.join("bin/javac"));
    let compiled = javac.args(["-XDignore.symbol.file", "-nowarn", "-source", &target, "-target", &target]);
    let compiled = compiled.arg("-d").arg(into).arg(source).stderr(Stdio::null());
    assert!(compiled.status().unwrap().success(), "{}", source.display());
    true
}

/// The version of a JDK, such as 17.
pub(crate) fn feature(jdk: &Path) -> u32 {
    let release = std::fs::read_to_string(jdk.join("release")).unwrap_or_default();
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\"")).unwrap_or_default();
    version.split(|c: char| !c.is_ascii_digit()).next().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// A source, compiled for all JVMs, and these; `None`, which is said, where no JDK is installed.
pub(crate) fn classes(source: &str, what: &str) -> Option<(tempfile::TempDir, Vec<PathBuf>)> {
    let jdks = jdks();
    let dir = tempfile::tempdir().unwrap();
    if !compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join(source), dir.path(), &jdks) {
        println!("SKIPPED: {what}: no JDK in /usr/lib/jvm, nor in JAVA_HOME");
        return None;
    }
    Some((dir, jdks))
}

/// Memory of a live process, page by page as it was when it was first read.
#[derive(Default)]
pub(crate) struct Kept {
    pub of: Option<Process>,
    pub pages: RefCell<BTreeMap<u64, Option<Vec<u8>>>>,
    pub reads: Cell<usize>,
    /// The words that were read.
    pub words: RefCell<BTreeSet<u64>>,
}

impl Memory for Kept {
    fn some(&self, address: u64, into: &mut [u8]) -> Result<usize, Trouble> {
        self.reads.set(self.reads.get() + 1);
        let mut done = 0;
        // Of long stretches, which are looked through for a start, few words matter.
        let short = (0..into.len().min(256) as u64).step_by(8).map(|i| address.saturating_add(i) & !7);
        self.words.borrow_mut().extend(short);
        while done < into.len() {
            let Some(at) = address.checked_add(done as u64) else { break };
            let mut pages = self.pages.borrow_mut();
            let page = pages.entry(at & !4095).or_insert_with(|| {
                let mut page = vec![0; 4096];
                let read = self.of.map(|memory| memory.some(at & !4095, &mut page));
                (read == Some(Ok(4096))).then_some(page)
            });
            let Some(page) = page else { break };
            let from = &page[(at & 4095) as usize..];
            let length = from.len().min(into.len() - done);
            into[done..done + length].copy_from_slice(&from[..length]);
            done += length;
        }
        Ok(done)
    }
}
