//! How long it takes to make a call tree of many samples.
//!
//! usage: cargo run --release -p twinscope-query --features testing --example profile_speed [SAMPLES]    default: 10000000

use clap::Parser;
use model::{Manifest, NULL, Rows, Symbols, Window};
use query::Run;
use query::profile::{Part, Request, load};
use query::testing::{FRAME, SAMPLE, STACK};
use std::time::Instant;
use store::{Recording, Writer};

/// Frames and stacks: a program of some size.
const FRAMES: i64 = 5_000;
const STACKS: i64 = 50_000;

/// How long it takes to make a call tree of many samples
#[derive(Parser)]
struct Options {
    #[arg(default_value_t = 10_000_000)]
    samples: i64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Options { samples } = Options::parse();
    let path = std::env::temp_dir().join(format!("profile-speed-{}.twin", std::process::id()));
    write(&path, samples)?;
    let run = Run { name: "x".into(), recording: Recording::open(&path)?, stretch: None };
    let window = Window { from: 0, to: i64::MAX, why: String::new() };
    for _ in 0..3 {
        let start = Instant::now();
        let tree = load(&[Part { run: &run, window: &window }], &Request::new("cpu"))?;
        println!("{samples} samples: {:.2} s, {} nodes", start.elapsed().as_secs_f64(), tree.len());
    }
    std::fs::remove_file(path)?;
    Ok(())
}

fn write(path: &std::path::Path, samples: i64) -> Result<(), Box<dyn std::error::Error>> {
    let mut writer = Writer::create(path, true, i64::MAX)?;
    let mut symbols = Symbols::default();
    let frame = writer.define("x", &FRAME);
    let stack = writer.define("x", &STACK);
    let sample = writer.define("x", &SAMPLE);
    let mut seed = 1u64;
    let mut random = |below: i64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as i64 % below
    };
    let module = symbols.cell("/usr/bin/x");
    let kind = symbols.cell("native");
    let mut rows = Rows { width: FRAME.width(), cells: Vec::new() };
    for number in 1..=FRAMES {
        let function = symbols.cell(&format!("function_{number}"));
        rows.cells.extend([number, function, module, NULL, NULL, NULL, kind]);
    }
    writer.put(frame, 0, &rows);
    rows = Rows { width: STACK.width(), cells: Vec::new() };
    for number in 1..=STACKS {
        // Twenty deep or so.
        let parent = if number <= 10 { NULL } else { number - 1 - random(number / 10 + 1) };
        rows.cells.extend([number, parent, 1 + random(FRAMES)]);
    }
    writer.put(stack, 0, &rows);
    let comm = symbols.cell("server");
    let threads: Vec<i64> = (0..16).map(|n| symbols.cell(&format!("worker-{n}"))).collect();
    let second = samples / 100;
    for t in 0..100 {
        rows = Rows { width: SAMPLE.width(), cells: Vec::with_capacity(second as usize * SAMPLE.width()) };
        for n in 0..second {
            let thread = random(16);
            let at = t * 1_000_000_000 + n * 1_000_000_000 / second / 1_000_000 * 1_000_000;
            let name = threads.get(thread as usize).copied().unwrap_or(comm);
            // Few stacks are hot, as in life.
            let most = 1 + random(STACKS);
            let stack = 1 + random(most);
            rows.cells.extend([100, 100 + thread, comm, name, at, thread, stack, 10_101_010]);
        }
        writer.put(sample, (t + 1) * 1_000_000_000, &rows);
        writer.commit(&symbols)?;
    }
    writer.finish(&Manifest { ended: Some("done".into()), ..Manifest::default() }, &symbols)?;
    Ok(())
}
