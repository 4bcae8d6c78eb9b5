//! `twinscope import`: recordings from what other profilers wrote.

use crate::text;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;

/// Make a recording of what another profiler wrote.
#[derive(Args, Debug)]
pub struct Import {
    /// perf.data, the output of perf script, collapsed stacks, pprof, a JFR recording, the log of a JVM's garbage collections, the output of perf stat -I
    /// -j or -x, a recording of APerf (archive or folder) or the CSV of perfspect metrics; recognised by content
    #[arg(value_name = "FILE")]
    input: PathBuf,

    /// The recording to write; by default the file's name with .twin
    #[arg(short, long, value_name = "NAME.twin")]
    output: Option<PathBuf>,

    /// The event (for pprof: the kind of value; for JFR: the kind of sample, such as jdk.NativeMethodSample) to take if the file has several;
    /// default: CPU time, else cycles, else the first
    #[arg(long, value_name = "NAME")]
    event: Option<String>,

    /// CPU time of one sample or count, if the file does not say
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = recorder::duration)]
    count: std::time::Duration,

    /// The microarchitecture that counted, such as neoverse-v2, sapphire-rapids or zen4; for counts of perf stat whose codes or slots differ by CPU
    #[arg(long, value_name = "NAME", value_parser = microarchitecture)]
    cpu: Option<String>,

    /// Keep addresses; by default they are looked up in the programs and the kernel of this machine, if build ids match
    #[arg(long)]
    no_symbols: bool,

    /// Replace the recording if it exists
    #[arg(long)]
    force: bool,
}

/// A microarchitecture that the groups of counters know.
fn microarchitecture(text: &str) -> Result<String, String> {
    let known = ::import::microarchitectures();
    if known.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("they are {}", known.join(", ")))
}

/// Imports and says what came of it. Returns the exit code.
pub fn import(options: &Import) -> Result<u8> {
    let output = options.output.clone().unwrap_or_else(|| {
        // perf.data becomes perf.twin, x.folded.txt becomes x.folded.twin.
        PathBuf::from(options.input.with_extension("twin").file_name().unwrap_or("import.twin".as_ref()))
    });
    let asked = ::import::Options {
        event: options.event.clone(),
        count: i64::try_from(options.count.as_nanos()).unwrap_or(i64::MAX),
        symbols: !options.no_symbols,
        cpu: options.cpu.clone(),
    };
    let (format, profile) = ::import::import(&options.input, &output, options.force, &asked)?;
    let weight: f64 = profile.samples.iter().map(|s| s.weight as f64).sum::<f64>() / 1e9;
    let mut parts = Vec::new();
    if !profile.samples.is_empty() {
        parts.push(format!("{} samples, {} of CPU time", profile.samples.len(), query::human(weight, "s")));
    }
    let events = profile.events();
    for (table, one, many) in [
        ("wait", "wait", "waits"),
        ("lock", "wait for a lock", "waits for locks"),
        ("allocation", "sample of allocations", "samples of allocations"),
        ("jvm_pause", "pause", "pauses"),
        ("jvm_cpu", "look at CPU use", "looks at CPU use"),
        ("instruction_access", "row of sampled accesses to memory", "rows of sampled accesses to memory"),
        ("sharing_line", "line that threads share", "lines that threads share"),
        ("pmu", "row of hardware counters", "rows of hardware counters"),
        ("pmu_raw", "count", "counts"),
        ("pmu_metric", "value of other metrics", "values of other metrics"),
    ] {
        if let Some((_, rows)) = events.iter().find(|(name, _)| *name == table) {
            parts.push(format!("{rows} {}", if *rows == 1 { one } else { many }));
        }
    }
    println!("{}: {}, from {}", output.display(), parts.join(", "), format.name());
    if let Some(resolved) = profile.resolved().filter(|share| *share < 0.995) {
        println!("{} of it lies in named functions", query::human(resolved, "ratio"));
    }
    for note in profile.notes() {
        eprintln!("twinscope: {}", text::clean(&note));
    }
    Ok(0)
}
