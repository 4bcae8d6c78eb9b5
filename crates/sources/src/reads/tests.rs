//! Tests against children that read a FIFO and a file.

use super::bpf::Reads;
use super::{ReadFrom, SOURCE};
use crate::Scope;
use crate::tally::testing::{Live, child, done, follow, is_child};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

const RECORDS: i64 = 300;
const RECORD: i64 = 100;
const BLOCK: usize = 8192;

/// The file of the child `kind`, which both it and the process `parent` know.
fn place(kind: &str, parent: u32) -> PathBuf {
    std::env::temp_dir().join(format!("twinscope-{kind}-{parent}"))
}

/// Runs the test `test` as a child that does `work`, and gives what was seen of the reads of its file; `None` in the child, and where it cannot be.
fn seen(test: &str, kind: &str, work: fn(&PathBuf)) -> Option<(Live, ReadFrom)> {
    if is_child(kind) {
        work(&place(kind, std::os::unix::process::parent_id()));
        done();
        return None;
    }
    let path = place(kind, std::process::id());
    let from = ReadFrom::new("the file", path.to_str().unwrap());
    let scope = Scope { exact: true, read_from: Some(from.clone()), ..Scope::default() };
    let mut live = Live::open_for(&SOURCE, &scope)?;
    live.read();
    follow(&mut live, child(&format!("reads::tests::{test}"), kind));
    // Its rows were told for the last time.
    live.read();
    std::fs::remove_file(path).unwrap();
    Some((live, from))
}

fn are_counted(live: &Live, comm: &str, expected: [i64; 3]) {
    let of = |column| live.reached("read_from", column, &[("comm", comm), ("path", "the file")], |_| true);
    assert_eq!(["reads", "bytes", "full"].map(of), expected);
    assert!(live.rows("read_from").is_empty(), "its process is gone: {:?}", live.rows("read_from"));
}

/// Makes a FIFO and reads a record each time that one was written. Reads much else too.
fn reads_fifo(path: &PathBuf) {
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    let (next, turn) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut fifo = File::options().write(true).open(path).unwrap();
            for _ in 0..RECORDS {
                fifo.write_all(&[b'x'; RECORD as usize]).unwrap();
                turn.recv().unwrap();
            }
        });
        let mut fifo = File::open(path).unwrap();
        let mut record = [0; BLOCK];
        while fifo.read(&mut record).unwrap() > 0 {
            next.send(()).unwrap();
            assert!(!std::fs::read("/proc/self/stat").unwrap().is_empty());
        }
    });
}

#[test]
fn records_of_a_fifo_that_is_made_later_are_counted() {
    let test = "records_of_a_fifo_that_is_made_later_are_counted";
    let Some((live, from)) = seen(test, "reads_fifo", reads_fifo) else { return };
    assert!(from.was_read());
    are_counted(&live, "reads_fifo", [RECORDS, RECORDS * RECORD, 0]);
}

/// Reads a file of a hundred blocks and a half, its first block again, and two of other calls.
fn reads_file(path: &PathBuf) {
    std::fs::write(path, vec![1; BLOCK * 100 + BLOCK / 2]).unwrap();
    let mut file = File::open(path).unwrap();
    let mut block = [0; BLOCK];
    while file.read(&mut block).unwrap() > 0 {}
    file.read_at(&mut block, 0).unwrap();
    file.read_at(&mut block, BLOCK as u64 * 1000).unwrap();
    let mut parts = [0, 0].map(|_| libc::iovec { iov_base: block.as_mut_ptr().cast(), iov_len: BLOCK / 2 });
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    // SAFETY: buffers that live during the calls.
    let read = unsafe { libc::preadv(fd, parts.as_mut_ptr(), 2, 0) + libc::preadv2(fd, parts.as_mut_ptr(), 2, 0, 0) };
    assert_eq!(read, 2 * BLOCK as isize);
    assert!(!std::fs::read("/proc/self/stat").unwrap().is_empty());
}

#[test]
fn blocks_of_a_file_are_counted() {
    let path = place("reads_file", std::process::id());
    if std::env::var_os("TWINSCOPE_TEST_CHILD").is_none() {
        std::fs::write(path, "").unwrap();
    }
    let Some((live, from)) = seen("blocks_of_a_file_are_counted", "reads_file", reads_file) else { return };
    assert!(from.was_read());
    let half = BLOCK as i64 / 2;
    are_counted(&live, "reads_file", [104, 103 * 2 * half + half, 101]);
}

#[test]
fn a_file_that_nobody_reads_has_none() {
    let from = ReadFrom::new("none", "/no/such/file");
    let scope = Scope { exact: true, read_from: Some(from.clone()), ..Scope::default() };
    let Some(mut live) = Live::open_for(&SOURCE, &scope) else { return };
    std::fs::read("/proc/self/stat").unwrap();
    live.read();
    live.read();
    assert!(live.rows("read_from").is_empty() && !from.was_read());
}

#[test]
fn without_a_file_there_is_nothing_to_count() {
    let why = (SOURCE.open)(&host::Host::live(), &Scope::default()).err().unwrap();
    assert_eq!(why.status, model::Status::NotApplicable);
    let scope = Scope { read_from: Some(ReadFrom::new("x", "/x")), ..Scope::default() };
    assert!(Reads::open(&crate::testing::fixture("vm-2cpu"), &scope, &ReadFrom::new("x", "/x")).is_err());
}
