//! What reading groups of counters costs on a machine of 192 CPUs: as many groups of six events as there would be, opened on the CPUs of this machine, the
//! kernel's software events standing for those of hardware. Needs root or CAP_PERFMON, and 1,200 open files.
//!
//! `cargo run --release -p twinscope-host --example counting_cost`

use clap::Parser;
use host::Host;
use host::counting::{Counting, Event, Reading, Whom};
use std::time::{Duration, Instant};

/// CPUs of the machine that is simulated.
const CPUS: usize = 192;

/// PERF_TYPE_SOFTWARE, and six of its events.
const SOFTWARE: u32 = 1;
const EVENTS: [u64; 6] = [0, 3, 4, 2, 1, 5];

/// What reading groups of counters costs on a machine of 192 CPUs
#[derive(Parser)]
struct Options {}

fn main() {
    Options::parse();
    let host = Host::live();
    host::raise_open_files();
    let online = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    // Reading from this CPU alone tells a group of the own CPU from one of another, which has to be interrupted.
    let mut set = rustix::thread::CpuSet::new();
    set.set(0);
    if let Err(why) = rustix::thread::sched_setaffinity(None, &set) {
        println!("this thread cannot stay on CPU 0: {why}");
    }
    let events = EVENTS.map(|config| Event { kind: SOFTWARE, config, ..Event::default() });
    let last = online.saturating_sub(1);
    for (what, cpus) in [("the own CPU", 0..=0), ("another CPU", last..=last), ("all CPUs in turn", 0..=last)] {
        let cpus: Vec<u32> = cpus.collect();
        let open = |at: usize| Counting::open(&host, &events, Whom::Cpu(*cpus.get(at % cpus.len())?)).ok();
        let Some(mut groups) = (0..CPUS).map(open).collect::<Option<Vec<Counting>>>() else {
            println!("{what}: refused: needs root or CAP_PERFMON");
            continue;
        };
        let mut reading = Reading::default();
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..30 {
            let began = Instant::now();
            for group in &mut groups {
                if group.read(&host, &mut reading).is_err() {
                    println!("{what}: a group could not be read");
                    return;
                }
            }
            times.push(began.elapsed());
            std::thread::sleep(Duration::from_millis(20));
        }
        times.sort_unstable();
        let [least, median] = [0, times.len() / 2].map(|at| times.get(at).map_or(0.0, Duration::as_secs_f64));
        let each = |time: f64| 1e6 * time / CPUS as f64;
        println!(
            "{CPUS} groups of {what}: {:.1} ms, {:.1} µs a group (median {:.1} µs)",
            1e3 * least,
            each(least),
            each(median)
        );
    }
}
