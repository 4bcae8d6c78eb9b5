//! What following threads costs those who are followed: nanoseconds per context switch of two threads that pass a byte to and fro on one CPU,
//! and throughput of threads that contend for a mutex. Rounds with and without the source `threads` alternate, each first by turns, so that a machine
//! that changes its mind hits both alike; of a round's switches those count that others disturbed least. Prints lines of what, metric, unit and figure,
//! separated by tabs.
//!
//! `cargo run --release -p twinscope-sources --example ledger_cost [ROUNDS]`

use clap::Parser;
use host::Host;
use model::{Out, Rows, Symbols};
use sources::Scope;
use sources::scope::Target;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const ROUND: Duration = Duration::from_millis(700);

fn pin(cpu: usize) {
    // SAFETY: a zeroed cpu_set_t is an empty one; plain system call.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

fn pipe() -> (std::fs::File, std::fs::File) {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which are then owned by the files.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0, "a pipe");
        (std::fs::File::from_raw_fd(ends[0]), std::fs::File::from_raw_fd(ends[1]))
    }
}

/// CPU time of this thread, nanoseconds.
fn used() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Trips to and fro between two looks at the clock: some milliseconds.
const TRIPS: u32 = 500;

/// Nanoseconds per switch, as the tenth of the looks at the clock has it that was the fastest: what else the machine does, and who shares it, takes no part
/// in those.
fn ping_pong() -> f64 {
    let ((mut one_in, mut one_out), (mut two_in, mut two_out)) = (pipe(), pipe());
    let other = std::thread::spawn(move || {
        pin(0);
        let mut byte = [0; 1];
        while one_in.read(&mut byte).is_ok_and(|n| n == 1) && two_out.write_all(&byte).is_ok() {}
    });
    let this = std::thread::spawn(move || {
        pin(0);
        let (begin, mut times, mut byte) = (Instant::now(), Vec::new(), [0; 1]);
        while begin.elapsed() < ROUND {
            let from = Instant::now();
            for _ in 0..TRIPS {
                one_out.write_all(&[1]).and_then(|()| two_in.read_exact(&mut byte)).expect("the other end");
            }
            times.push(from.elapsed().as_nanos() as f64 / f64::from(2 * TRIPS));
        }
        times
    });
    let mut times = this.join().expect("no panic");
    other.join().expect("no panic");
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 10).copied().unwrap_or(f64::NAN)
}

/// Nanoseconds per locking of a mutex that four threads contend for.
fn contention() -> f64 {
    let (mutex, over, done) =
        (Arc::new(Mutex::new(0u64)), Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (mutex, over, done) = (Arc::clone(&mutex), Arc::clone(&over), Arc::clone(&done));
            std::thread::spawn(move || {
                let mut count = 0;
                while !over.load(Ordering::Relaxed) {
                    if let Ok(mut held) = mutex.lock() {
                        for _ in 0..2000 {
                            *held = std::hint::black_box(held.wrapping_add(1));
                        }
                        count += 1;
                    }
                }
                done.fetch_add(count, Ordering::Relaxed);
            })
        })
        .collect();
    let begin = Instant::now();
    std::thread::sleep(ROUND);
    over.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|t| t.join().expect("no panic"));
    begin.elapsed().as_nanos() as f64 / done.load(Ordering::Relaxed).max(1) as f64
}

/// Runs `work` while all threads are followed and read five times a second. The first run, in which the reader meets the files of all programs
/// and their unwind information, does not count. Gives the result, and the share of one CPU that the reader took.
fn followed(work: fn() -> f64) -> Option<(f64, f64)> {
    let host = Host::live();
    let source = sources::by_name("threads")?;
    let scope = Scope { target: Target::Everything, start: sources::Start::at(host.now()), ..Scope::default() };
    let mut reader = match (source.open)(&host, &scope) {
        Ok(reader) => reader,
        Err(why) => {
            eprintln!("{why}");
            return None;
        }
    };
    let over = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&over);
    let ready = Arc::new(AtomicBool::new(false));
    let begun = Arc::clone(&ready);
    let spent = Arc::new(AtomicU64::new(0));
    let spends = Arc::clone(&spent);
    let reads = std::thread::spawn(move || {
        pin(1);
        let mut symbols = Symbols::default();
        while !end.load(Ordering::Relaxed) {
            let mut rows = vec![Rows::default(); source.tables.len()];
            let (mut coverage, mut facts) = (Vec::new(), Vec::new());
            let mut out = Out::new(source.name, source.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
            if let Err(why) = reader.read(&host, &mut out) {
                eprintln!("{why}");
            }
            begun.store(true, Ordering::Relaxed);
            spends.store(used(), Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    while !ready.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(1));
    }
    work();
    let (before, begin) = (spent.load(Ordering::Relaxed), Instant::now());
    let result = work();
    let reading = (spent.load(Ordering::Relaxed) - before) as f64 / begin.elapsed().as_nanos() as f64;
    over.store(true, Ordering::Relaxed);
    reads.join().expect("no panic");
    Some((result, reading))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What following threads costs those who are followed
#[derive(Parser)]
struct Options {
    #[arg(default_value_t = 9)]
    rounds: usize,
}

fn main() {
    let Options { rounds } = Options::parse();
    for (name, work) in [("pipe ping-pong", ping_pong as fn() -> f64), ("contended mutex", contention as fn() -> f64)] {
        let (mut without, mut with, mut reader) = (Vec::new(), Vec::new(), Vec::new());
        let (mut ratios, mut differences) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            let first = (round % 2 == 0).then(work);
            let Some((watched, reading)) = followed(work) else { return };
            let alone = first.unwrap_or_else(work);
            reader.push(reading);
            without.push(alone);
            with.push(watched);
            ratios.push(watched / alone);
            differences.push(watched - alone);
        }
        let (alone, watched, ratio) = (median(&mut without), median(&mut with), median(&mut ratios));
        let (least, most) = (ratios.first().copied().unwrap_or(ratio), ratios.last().copied().unwrap_or(ratio));
        println!("{name}\talone\tns\t{alone:.0}");
        println!("{name}\tfollowed\tns\t{watched:.0}");
        println!("{name}\tcost\tns\t{:.0}", median(&mut differences));
        println!("{name}\tloss\t%\t{:.1}", 100.0 * (ratio - 1.0));
        println!("{name}\treader\t% of a CPU\t{:.1}", 100.0 * median(&mut reader));
        println!("{name}\tleast loss\t%\t{:.1}", 100.0 * (least - 1.0));
        println!("{name}\tgreatest loss\t%\t{:.1}", 100.0 * (most - 1.0));
    }
}
