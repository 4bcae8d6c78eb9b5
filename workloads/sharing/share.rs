// The frame of the Rust programs whose threads share cache lines; the same as share.h. `--cfg mended` builds the mended twin.
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Operations between two looks at the clock.
pub const ROUND: u64 = 1000;

#[repr(align(256))]
#[derive(Default)]
struct Done(AtomicU64);

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    fn sched_getaffinity(pid: i32, size: usize, set: *mut u64) -> i32;
    fn sched_setaffinity(pid: i32, size: usize, set: *const u64) -> i32;
}

// CPU time of the process in nanoseconds.
fn cpu_ns() -> u64 {
    const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the kernel fills a timespec of this thread; its layout is that of 64-bit Linux.
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

// Binds this thread to one of the first 64 CPUs that it may use; the next one gets the next.
fn bind(index: usize) {
    let mut may = 0u64;
    // SAFETY: both calls get one word and its size.
    unsafe {
        if sched_getaffinity(0, 8, &mut may) < 0 || may == 0 {
            return; // more CPUs than a word has bits: where they run is left to the kernel
        }
        let cpus: Vec<u32> = (0..64).filter(|cpu| may >> cpu & 1 == 1).collect();
        let only = 1u64 << cpus[index % cpus.len()];
        sched_setaffinity(0, 8, &only);
    }
}

pub struct Run {
    seconds: f64,
    pub threads: usize,
}

/// Reads the command line: [SECONDS] [THREADS].
pub fn begin(threads: usize) -> Run {
    let words: Vec<String> = std::env::args().collect();
    let seconds = words.get(1).map_or(Some(2.0), |word| word.parse::<f64>().ok().filter(|&s| s > 0.0));
    let threads = words.get(2).map_or(Some(threads), |word| word.parse().ok().filter(|&n| n > 0));
    let (Some(seconds), Some(threads), true) = (seconds, threads, words.len() <= 3) else {
        eprintln!("usage: [SECONDS] [THREADS]");
        let help = words.get(1).is_some_and(|word| word == "--help" || word == "-h");
        std::process::exit(if help { 0 } else { 2 });
    };
    println!("truth: threads {threads}");
    Run { seconds, threads }
}

/// Says that a thread writes (and may read) a word again and again.
#[allow(dead_code)] // an innocent program may have none
pub fn writes<T>(thread: usize, of: *const T, name: &str) {
    println!("truth: writes {thread} {of:p} {name}");
}

/// Says that a thread reads a word again and again, and never writes it.
#[allow(dead_code)]
pub fn reads<T>(thread: usize, of: *const T, name: &str) {
    println!("truth: reads {thread} {of:p} {name}");
}

impl Run {
    /// Calls each body, a thread each, until the time is up; a call does ROUND operations.
    pub fn all<B: FnMut() + Send>(&self, bodies: Vec<B>) {
        let stopped = AtomicBool::new(false);
        let done: Vec<Done> = bodies.iter().map(|_| Done::default()).collect();
        let total = || done.iter().map(|one| one.0.load(Relaxed)).sum::<u64>();
        let (started, cpu) = (Instant::now(), cpu_ns());
        std::thread::scope(|scope| {
            for (index, (mut body, done)) in bodies.into_iter().zip(&done).enumerate() {
                let stopped = &stopped;
                scope.spawn(move || {
                    bind(index);
                    while !stopped.load(Relaxed) {
                        body();
                        done.0.store(done.0.load(Relaxed) + ROUND, Relaxed);
                    }
                });
            }
            while let left @ 0.0001.. = self.seconds - started.elapsed().as_secs_f64() {
                std::thread::sleep(Duration::from_secs_f64(left.min(0.25)));
                println!("done {}", total());
            }
            stopped.store(true, Relaxed);
        });
        let (cpu, done) = (cpu_ns() - cpu, total());
        println!("done {done}\noperations: {done}");
        println!(
            "truth: wall seconds {:.4}\ntruth: cpu seconds {:.4}",
            started.elapsed().as_secs_f64(),
            cpu as f64 * 1e-9
        );
        println!("truth: cpu ns per operation {:.4}", cpu as f64 / done.max(1) as f64);
    }
}

/// Work of about a nanosecond a step that shares nothing.
#[allow(dead_code)] // not every program has any
pub fn work(mut value: u64, steps: u32) -> u64 {
    for _ in 0..steps {
        value = (value ^ (value >> 29)).wrapping_mul(0xbf58476d1ce4e5b9);
    }
    value
}
