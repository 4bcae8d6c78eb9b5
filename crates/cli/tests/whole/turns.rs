//! Who was running when: a program whose threads work and sleep at a fixed period and then leave one alone, against one whose threads work all
//! the time. The program is this one, started again.

use crate::common::{Folder, skipped};
use crate::pairs::{QUIET, used_by_others};
use std::hint::black_box;
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

/// Says which of the two programs this one is to be.
const VARIANT: &str = "TWINSCOPE_TEST_TURNS";

const PERIOD: Duration = Duration::from_millis(240);
const LENGTH: Duration = Duration::from_secs(5);
const ALONE: Duration = Duration::from_secs(2);

/// Works until then.
fn work(until: Instant) {
    let mut x = 1u64;
    while Instant::now() < until {
        let mut i = 0u32;
        while i < 100_000 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            i += 1;
        }
        black_box(x);
    }
}

/// The same under another name.
#[inline(never)]
fn finish_alone(until: Instant) {
    let mut x = 3u64;
    while Instant::now() < until {
        let mut i = 0u32;
        while i < 100_000 {
            x ^= x >> 7;
            x ^= x << 13;
            x ^= x << 17;
            i += 1;
        }
        black_box(x);
    }
}

/// The program.
fn program(variant: &str) {
    let swings = variant == "swings";
    let start = Instant::now();
    let worker = move |_| {
        let run = move || {
            let mut next = start;
            while start.elapsed() < LENGTH {
                work(if swings { next + PERIOD / 2 } else { next + PERIOD });
                next += PERIOD;
                sleep(next.saturating_duration_since(Instant::now()));
            }
        };
        Builder::new().name("worker".into()).spawn(run).expect("a thread")
    };
    for worker in [0, 1].map(worker) {
        worker.join().expect("it ends");
    }
    if swings {
        let run = || finish_alone(Instant::now() + ALONE);
        Builder::new().name("last".into()).spawn(run).expect("a thread").join().expect("it ends");
    }
}

#[test]
#[ignore = "make test-all: 20 s on a machine of its own; explain has both on tables"]
fn swings_and_serial_phases_are_found() {
    if let Ok(variant) = std::env::var(VARIANT) {
        return program(&variant);
    }
    let what = "who was running when";
    let folder = Folder::alone();
    let program = std::env::current_exe().expect("this program");
    let program = program.to_str().expect("a plain path");
    let mut others = 0.0f64;
    for variant in ["steady", "swings"] {
        let file = format!("{variant}.twin");
        let mut command = folder.command([
            "record",
            "-q",
            "-o",
            &file,
            "--",
            program,
            "--exact",
            "turns::swings_and_serial_phases_are_found",
            "--test-threads",
            "1",
        ]);
        command.env(VARIANT, variant);
        let done = folder.start(command).wait();
        assert_eq!(done.status.code(), Some(0), "{done}");
        others = used_by_others(&folder, &file).max(others);
    }
    let comparison = folder.expect(0, ["compare", "steady.twin", "swings.twin", "--json"]).json();
    let text = folder.expect(0, ["compare", "steady.twin", "swings.twin"]).stdout;
    eprintln!("{text}\n{:#}", comparison["concurrency"]);
    let [steady, swings] = [0, 1].map(|run: usize| &comparison["concurrency"][run]);
    if steady.is_null() || swings.is_null() {
        return skipped(what, "the threads' states are not recorded here");
    }
    assert_eq!(steady["serial"], serde_json::json!([]), "{steady:#}");
    let found = &swings["sawtooth"];
    let number = |field: &str| found[field].as_f64().unwrap_or_else(|| panic!("{field}: {swings:#}"));
    assert!((number("period") / PERIOD.as_secs_f64() - 1.0).abs() < 0.03, "{found}");
    assert!(number("p") < 0.001 && number("share") > 0.3, "{found}");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from).min(2) as f64;
    assert!(text.contains("running threads oscillates every"), "{text}");
    // Programs that take the CPUs away swing as they like.
    if others <= QUIET {
        assert!(steady["sawtooth"].is_null(), "{steady:#}");
        assert!((0.6 * cpus..1.3 * cpus).contains(&number("swing")), "{found}");
    } else {
        skipped("size of the swing", &format!("other programs used {:.0} % of the CPUs", others * 100.0));
    }
    if cpus < 2.0 {
        return skipped("serial phases", "one CPU");
    }
    let phases = swings["serial"].as_array().expect("a list");
    let length = |p: &serde_json::Value| p["to"].as_f64().unwrap_or(0.0) - p["from"].as_f64().unwrap_or(0.0);
    let longest = phases.iter().max_by(|a, b| length(a).total_cmp(&length(b))).expect("a serial phase");
    assert!((length(longest) - ALONE.as_secs_f64()).abs() < 0.3, "{phases:#?}");
    assert_eq!(longest["thread"], "last", "{longest}");
    assert!(longest["function"].as_str().is_some_and(|f| f.contains("finish_alone")), "{longest}");
    assert!(text.contains("finish_alone"), "{text}");
}
