//! Damaged recordings: what is wrong is said, the rest is read, and nothing crashes.

use crate::common::{Done, Folder, OF_A_FIXTURE, Random};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Every table whose rows are sealed, so that any damage to them must show.
const EVERYTHING: &str = "select 'cpu' as name, count(*) as n, sum(\"user\" + system + idle) as s from cpu union all \
     select 'kernel', count(*), sum(ctxt) from kernel union all \
     select 'vmstat', count(*), sum(value) from vmstat union all select 'meminfo', count(*), sum(value) from meminfo";

fn recording(folder: &Folder, name: &str) -> Vec<u8> {
    let words = ["record", "-q", "-i", "50ms", "--only", "cpu,kernel,meminfo,vmstat,softirqs", "-o", name];
    folder.expect(0, words.iter().chain(&OF_A_FIXTURE));
    std::fs::read(folder.path(name)).expect("the recording")
}

/// Asks all there is to ask of a file that may be damaged. Returns what the rows were found to be, where no damage was said.
fn ask(folder: &Folder, file: &str, which: u64) -> Option<String> {
    let page = format!("{file}.html");
    let info = folder.run(["info", file]);
    let other = match which % 2 {
        0 => folder.run(["compare", file, file]),
        _ => folder.run(["report", file, "-o", &page]),
    };
    let sql = folder.run(["sql", "-q", "--json", file, EVERYTHING]);
    for done in [&info, &other, &sql] {
        done.has_not_crashed();
        let code = done.status.code();
        assert!(matches!(code, Some(0 | 1 | 3)), "{done}");
        if code != Some(0) && !std::ptr::eq(done, &info) {
            assert!(!done.stderr.trim().is_empty(), "it failed without a word: {done}");
        }
    }
    assert!(
        sql.status.code() != Some(3) || info.status.code() == Some(3),
        "rows are damaged, and info does not say so: {info}"
    );
    let said = |done: &Done| !done.stderr.is_empty() || done.stdout.contains("Damaged:");
    (sql.status.code() == Some(0) && !said(&sql)).then_some(sql.stdout)
}

/// Runs `check` for every number below `count`, on both CPUs.
fn each(count: usize, check: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    check(at);
                }
            });
        }
    });
}

/// Cut anywhere: it is said, whatever is left.
#[test]
fn truncated() {
    let folder = Folder::new();
    let bytes = recording(&folder, "whole.twin");
    let offsets: Vec<usize> = {
        let mut random = Random(11);
        (0..20).map(|_| random.below(bytes.len() as u64) as usize).collect()
    };
    each(offsets.len(), |at| {
        let name = format!("{at}.twin");
        std::fs::write(folder.path(&name), &bytes[..offsets[at]]).unwrap();
        assert_eq!(ask(&folder, &name, at as u64), None, "cut at {} of {}: nothing is said", offsets[at], bytes.len());
    });
}

/// Flipped bytes: rows are as they were, or damage is said.
#[test]
fn flipped_bytes() {
    let folder = Folder::new();
    let bytes = recording(&folder, "whole.twin");
    let whole = ask(&folder, "whole.twin", 0).expect("no damage");
    let silent = AtomicUsize::new(0);
    each(200, |seed| {
        let mut random = Random(seed as u64 + 1);
        let mut damaged = bytes.clone();
        for _ in 0..1 + seed % 4 {
            let at = random.below(bytes.len() as u64) as usize;
            damaged[at] ^= 1 << random.below(8);
        }
        let name = format!("{seed}.twin");
        std::fs::write(folder.path(&name), damaged).unwrap();
        if ask(&folder, &name, seed as u64).is_some_and(|found| found != whole) {
            silent.fetch_add(1, Ordering::Relaxed);
            eprintln!("seed {seed}: other rows than were written, and no damage is said");
        }
        let _ = std::fs::remove_file(folder.path(&name));
        let _ = std::fs::remove_file(folder.path(&format!("{name}.html")));
    });
    assert_eq!(silent.into_inner(), 0);
}
