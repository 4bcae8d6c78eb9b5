//! Tests against children that say what they called. What cannot be tested here is said.

use super::SOURCE;
use crate::Scope;
use crate::scope::Target;
use crate::tally::testing::{Live, child, is_child};
use std::process::{Command, Stdio};

/// What the child below calls.
const CALLS: i64 = 200_000;
const READS: i64 = 5_000;
const SYNCS: i64 = 20;
const FAILURES: i64 = 300;
const THREADS: i64 = 4;
const YIELDS: i64 = 1_000;

fn calls_much() {
    let file = tempfile::tempfile().unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    // SAFETY: plain system calls on a file of our own and a byte of our own.
    unsafe {
        for _ in 0..CALLS {
            libc::syscall(libc::SYS_getppid);
        }
        for _ in 0..SYNCS {
            libc::pwrite(fd, b"12345".as_ptr().cast(), 5, 0);
            libc::fsync(fd);
        }
        let mut byte = 0u8;
        for _ in 0..READS {
            libc::pread(fd, (&raw mut byte).cast(), 1, 0);
        }
        for _ in 0..FAILURES {
            libc::flock(-1, libc::LOCK_UN);
        }
    }
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            std::thread::spawn(|| {
                for _ in 0..YIELDS {
                    std::thread::yield_now();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}

#[test]
fn every_call_of_a_child_is_counted() {
    if is_child("calls_much") {
        return calls_much();
    }
    let Some(mut live) = Live::open(&SOURCE) else { return };
    live.read();
    let mut run = child("syscalls::tests::every_call_of_a_child_is_counted", "calls_much");
    let pid = i64::from(run.id());
    while run.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
        live.read();
    }
    live.read();
    // A process that was never read goes by pid 0, under its name.
    let comm = "calls_much";
    let of = |call: &str, column: &str| {
        live.reached("syscall", column, &[("call", call)], |row| {
            row("pid") == pid.to_string() || (row("pid") == "0" && row("comm") == comm)
        })
    };
    assert_eq!(of("getppid", "count"), CALLS);
    assert_eq!((of("fsync", "count"), of("pwrite64", "bytes")), (SYNCS, SYNCS * 5));
    assert_eq!((of("pread64", "count"), of("pread64", "bytes"), of("pread64", "errors")), (READS, READS, 0));
    assert_eq!((of("flock", "count"), of("flock", "errors")), (FAILURES, FAILURES));
    assert_eq!(of("sched_yield", "count"), THREADS * YIELDS);
    let buckets: i64 = (0..32).map(|b| of("getppid", &format!("b{b}"))).sum();
    assert_eq!(buckets, CALLS);
    let (time, sync) = (of("getppid", "time"), of("fsync", "time") / SYNCS);
    assert!(time > CALLS * 20, "{time} ns");
    eprintln!("getppid {} ns a call, fsync {} us", time / CALLS, sync / 1000);
    assert!(live.coverage.is_empty(), "{:?}", live.coverage);
}

/// What the child of the next test calls: some seconds of calls, far above the budget however busy the machine is.
const MANY: i64 = 30_000_000;
/// Long enough for some stretches to lie in them, as the calls are.
const SLEEPS: i64 = 300;
const SLEEP: i64 = 20_000_000;

fn calls_too_much() {
    let sleeps = std::thread::spawn(|| {
        for _ in 0..SLEEPS {
            std::thread::sleep(std::time::Duration::from_nanos(SLEEP as u64));
        }
    });
    for _ in 0..MANY {
        // SAFETY: plain system call.
        unsafe { libc::syscall(libc::SYS_getppid) };
    }
    sleeps.join().unwrap();
}

#[test]
fn too_many_calls_are_estimated() {
    if is_child("calls_too_much") {
        return calls_too_much();
    }
    let scope = Scope { target: Target::Children, ..Scope::default() };
    let Some(mut live) = Live::open_for(&SOURCE, &scope) else { return };
    live.read();
    let mut run = child("syscalls::tests::too_many_calls_are_estimated", "calls_too_much");
    while run.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(50));
        live.read();
    }
    live.read();
    let of = |call: &str, column: &str| live.reached("syscall", column, &[("call", call)], |_| true);
    let (count, time) = (of("getppid", "count"), of("clock_nanosleep", "time"));
    let one_in = live.reached("syscalls_collector", "sampled_1_in", &[("collector", "calls")], |_| true);
    let seen = live.reached("syscalls_collector", "events", &[("collector", "calls")], |_| true);
    eprintln!("{count} of {MANY} found from {seen} seen, down to 1 in {one_in}; {time} ns asleep");
    assert!(one_in > 1);
    // What hooks take of a program that does nothing but call is known roughly.
    assert!((MANY / 3..MANY * 3).contains(&count) && seen < MANY, "{count} from {seen}");
    // Most sleeps are longer than a stretch.
    let slept = SLEEPS * SLEEP;
    assert!((slept / 4..slept * 3).contains(&time), "{time} of {slept}");
    let said = live.coverage.iter().find(|c| c.item == "syscall").unwrap();
    assert_eq!(said.status, model::Status::Estimated);
    assert!(said.remedy.as_ref().is_some_and(|remedy| remedy.contains("--exact")), "{said:?}");
}

#[test]
fn a_storm_of_short_processes_is_counted() {
    let Some(mut live) = Live::open(&SOURCE) else { return };
    live.read();
    let storm = 300;
    let script = format!("i=0; while [ $i -lt {storm} ]; do /bin/uname; i=$((i+1)); done");
    let mut run = Command::new("sh").args(["-c", &script]).stdout(Stdio::null()).spawn().unwrap();
    while run.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(50));
        live.read();
    }
    live.read();
    let of = |call: &str| live.reached("syscall", "count", &[("call", call), ("comm", "uname")], |_| true);
    assert_eq!((of("execve"), of("uname")), (storm, storm));
    let rows = live.rows("syscall").iter().filter(|row| row[1] == "uname").count();
    assert!(rows < 100, "{rows} rows");
}

#[test]
fn counts_are_those_of_strace() {
    // Only what this test program starts: other programs may be called alike.
    let scope = Scope { target: Target::Children, exact: true, ..Scope::default() };
    let Some(mut live) = Live::open_for(&SOURCE, &scope) else { return };
    let output = tempfile::NamedTempFile::new().unwrap();
    live.read();
    // Both look at the same run.
    let work = "for i in 1 2 3 4 5; do read x </proc/self/stat; done; cd /; ls /proc/self/fdinfo /nowhere; exec 3<&-";
    let ran = Command::new("strace")
        .args(["-f", "-c", "-o"])
        .arg(output.path())
        .args(["bash", "-c", work])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !ran.is_ok_and(|s| s.code().is_some()) {
        eprintln!("SKIPPED: the counts of strace: strace or bash is not here");
        return;
    }
    live.read();
    let text = std::fs::read_to_string(output.path()).unwrap();
    let mut compared = 0;
    for line in text.lines().skip(2) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (Some(&call), Some(Ok(count))) = (words.last(), words.get(3).map(|w| w.parse::<i64>())) else { continue };
        if call == "total" {
            continue;
        }
        let errors: i64 = if words.len() > 5 { words[4].parse().unwrap() } else { 0 };
        let ours = |comm: &str| comm == "bash" || comm == "ls";
        let of = |column: &str| live.reached("syscall", column, &[("call", call)], |row| ours(&row("comm")));
        assert_eq!((of("count"), of("errors")), (count, errors), "{call}\n{text}");
        compared += 1;
    }
    assert!(compared > 10, "{text}");
}

#[test]
fn a_recorded_host_has_none() {
    let why = crate::testing::play(&SOURCE, &crate::testing::fixture("vm-2cpu"), 1).err().unwrap();
    assert_eq!(why.status, model::Status::NotApplicable);
}
