// The frame of the Rust programs with one known bottleneck; the same as bench.h.
use std::io::Write;
use std::time::{Duration, Instant};

pub struct Bench {
    pub operation: &'static str,
    pub unit: &'static str,
    pub size: u64,
    pub per_call: u64,
}

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

// CPU time of this thread in nanoseconds.
fn cpu_ns() -> u64 {
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the kernel fills a timespec of this thread; its layout is that of 64-bit Linux.
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

// A count as 4096 or 16M.
fn count(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['K', 'M', 'G']);
    let shift = match &word[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok().filter(|&n| n > 0).map(|n| n << shift)
}

// Prepares with the size, then calls what `prepare` returned until the time is up.
pub fn run<C: FnMut(u64) -> u64>(bench: &Bench, prepare: impl FnOnce(u64) -> C) {
    let words: Vec<String> = std::env::args().collect();
    let seconds = words.get(1).map_or(Some(2.0), |word| word.parse::<f64>().ok().filter(|&s| s > 0.0));
    let size = words.get(2).map_or(Some(bench.size), |word| count(word));
    let (Some(seconds), Some(size), true) = (seconds, size, words.len() <= 3) else {
        eprintln!("usage: [SECONDS] [SIZE]");
        let help = words.get(1).is_some_and(|word| word == "--help" || word == "-h");
        std::process::exit(if help { 0 } else { 2 });
    };
    let preparing = Instant::now();
    let mut call = prepare(size);
    println!("truth: operation {}\ntruth: size {size} {}", bench.operation, bench.unit);
    println!("truth: operations per call {}", bench.per_call);
    println!("truth: seconds preparing {:.4}", preparing.elapsed().as_secs_f64());
    let quarter = Duration::from_millis(250);
    let (started, cpu) = (Instant::now(), cpu_ns());
    let (end, mut next, mut calls) = (started + Duration::from_secs_f64(seconds), started + quarter, 0u64);
    loop {
        std::hint::black_box(call(bench.per_call));
        calls += 1;
        let now = Instant::now();
        if now >= end {
            break;
        }
        if now >= next {
            println!("done {}", calls * bench.per_call);
            let _ = std::io::stdout().flush();
            next += quarter;
        }
    }
    let (cpu, done) = (cpu_ns() - cpu, calls * bench.per_call);
    println!("done {done}\noperations: {done}");
    println!("truth: wall seconds {:.4}\ntruth: cpu seconds {:.4}", started.elapsed().as_secs_f64(), cpu as f64 * 1e-9);
    println!("truth: calls {calls}\ntruth: ns per call {:.3}", cpu as f64 / calls as f64);
    println!("truth: ns per operation {:.4}", cpu as f64 / done as f64);
}
