// What the Rust programs share: the command line, threads that count operations, progress on stdout, truths.
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

pub struct Frame {
    pub slow: bool,
    seconds: f64,
    stopped: AtomicBool,
    done: AtomicU64,
}

/// Reads the command line.
pub fn begin() -> Frame {
    let words: Vec<String> = std::env::args().collect();
    let seconds = match words.get(2).map(String::as_str) {
        None => Some(10.0),
        Some("--seconds") => words.get(3).and_then(|word| word.parse().ok()),
        Some(_) => None,
    };
    match (words.get(1).map(String::as_str), seconds) {
        (Some(variant @ ("slow" | "fast")), Some(seconds)) => {
            Frame { slow: variant == "slow", seconds, stopped: AtomicBool::new(false), done: AtomicU64::new(0) }
        }
        _ => {
            eprintln!("usage: {} slow|fast [--seconds S]", words[0]);
            let help = words.get(1).is_some_and(|word| word == "--help" || word == "-h");
            std::process::exit(if help { 0 } else { 2 });
        }
    }
}

impl Frame {
    /// Runs `operation` again and again in `count` threads until the time is up, and prints the progress.
    pub fn run(&self, name: &str, count: usize, operation: impl Fn(usize) + Sync) {
        let started = Instant::now();
        std::thread::scope(|scope| {
            for index in 0..count {
                let operation = &operation;
                let body = move || {
                    while !self.stopped.load(Relaxed) {
                        operation(index);
                        self.done.fetch_add(1, Relaxed);
                    }
                };
                std::thread::Builder::new().name(name.into()).spawn_scoped(scope, body).expect("a thread");
            }
            let (mut next, end) = (1.0, self.seconds);
            loop {
                let now = started.elapsed().as_secs_f64();
                if now >= end {
                    break;
                }
                if now >= next {
                    println!("done {}", self.done.load(Relaxed));
                    std::io::stdout().flush().ok();
                    next += 1.0;
                }
                std::thread::sleep(Duration::from_secs_f64((next.min(end) - now).max(0.001)));
            }
            self.stopped.store(true, Relaxed);
        });
        let done = self.done.load(Relaxed);
        println!("done {done}\noperations: {done}\ntruth: wall seconds {:.3}", started.elapsed().as_secs_f64());
    }

    /// The part of the slow-down that the fault itself makes; 0 in the fast variant.
    pub fn lost_share(&self, share: f64) {
        println!("truth: lost share {:.3}", if self.slow { share } else { 0.0 });
    }
}
