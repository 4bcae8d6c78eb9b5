//! JVMs for tests: those that are installed here, programs of ours for them, and their memory to be damaged.

use crate::memory::{Memory, Process, Trouble};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
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
