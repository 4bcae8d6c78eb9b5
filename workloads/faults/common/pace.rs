// What the Rust programs that model a service share: the command line, the time limit, `done N` ten times a second, the totals
// at the end. Unlike frame.rs, it leaves it to the program which threads it has and what they do.
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

static OVER: AtomicBool = AtomicBool::new(false);
static DONE: AtomicU64 = AtomicU64::new(0);

pub struct Pace {
    pub slow: bool,
    /// Folder for scratch files.
    #[allow(dead_code)]
    pub dir: String,
    seconds: f64,
    started: Instant,
    ticker: Option<JoinHandle<()>>,
}

/// Whether the run is to end.
pub fn over() -> bool {
    OVER.load(Relaxed)
}

/// Counts operations as done.
pub fn did(count: u64) {
    DONE.fetch_add(count, Relaxed);
}

fn say(line: &str) {
    // A reader that is gone ends nothing but the output.
    std::io::stderr().write_all(line.as_bytes()).ok();
}

/// Reads the command line; exits with 2 and the usage when it is wrong.
pub fn read() -> Pace {
    let words: Vec<String> = std::env::args().collect();
    let mut pace = Pace { slow: false, dir: "/tmp".into(), seconds: 10.0, started: Instant::now(), ticker: None };
    let mut known = words.len() >= 2 && words.len() % 2 == 0 && ["slow", "fast"].contains(&words[1].as_str());
    for pair in words.get(2..).unwrap_or(&[]).chunks_exact(2) {
        match pair[0].as_str() {
            "--seconds" => match pair[1].parse() {
                Ok(seconds) => pace.seconds = seconds,
                Err(_) => known = false,
            },
            "--dir" => pace.dir = pair[1].clone(),
            _ => known = false,
        }
    }
    if !known {
        say(&format!("usage: {} slow|fast [--seconds S] [--dir FOLDER]\n", words[0]));
        let help = words.get(1).is_some_and(|word| word == "--help" || word == "-h");
        std::process::exit(if help { 0 } else { 2 });
    }
    pace.slow = words[1] == "slow";
    pace
}

impl Pace {
    /// Starts the clock and the progress lines. What is prepared before it is no part of the measured time.
    pub fn start(&mut self) {
        self.started = Instant::now();
        let (started, seconds) = (self.started, self.seconds);
        let tick = move || {
            while !over() {
                std::thread::sleep(Duration::from_millis(100));
                println!("done {}", DONE.load(Relaxed));
                if started.elapsed().as_secs_f64() >= seconds {
                    OVER.store(true, Relaxed);
                }
            }
        };
        self.ticker = Some(std::thread::Builder::new().name("progress".into()).spawn(tick).expect("a thread"));
    }

    /// Ends the progress lines and prints the totals; to be called when all threads have ended. `share` is the part of the
    /// slow-down that the fault makes.
    pub fn finish(self, share: f64) {
        OVER.store(true, Relaxed);
        if let Some(ticker) = self.ticker {
            ticker.join().expect("the progress thread");
        }
        let done = DONE.load(Relaxed);
        println!("done {done}\noperations: {done}\ntruth: wall seconds {:.3}", self.started.elapsed().as_secs_f64());
        println!("truth: lost share {:.3}", if self.slow { share } else { 0.0 });
    }
}
