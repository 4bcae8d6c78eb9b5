//! `twinscope import`: recordings from what other profilers and monitoring systems wrote.

use crate::progress::{Progress, names};
use crate::text;
use ::import::Input;
use ::import::monitoring::{self, Asked, Monitored};
use anyhow::Result;
use clap::Args;
use recorder::Usage;
use std::path::{Path, PathBuf};

/// Make recordings of what other profilers and monitoring systems wrote.
#[derive(Args, Debug)]
pub struct Import {
    /// perf.data, the output of perf script, collapsed stacks, pprof, a JFR recording, the log of a JVM's garbage collections, the output of perf stat -I
    /// -j or -x, a recording of APerf (archive or folder), the CSV of perfspect metrics, answers of Prometheus to query_range, a table as CSV or Parquet (several
    /// files of these make one import); recognised by content. - is the standard input; pipes, as of <(perf script), are read to their end
    #[arg(value_name = "FILE", required_unless_present = "presets")]
    inputs: Vec<PathBuf>,

    /// The recording to write, or of several hosts the folder of their recordings; by default the first file's name with .twin, or without
    #[arg(short, long, value_name = "NAME.twin|DIR", value_parser = recorder::result())]
    output: Option<PathBuf>,

    /// Of monitoring systems: the label whose values are the hosts; each becomes a recording
    #[arg(long, visible_alias = "host", value_name = "LABEL")]
    host_label: Option<String>,

    /// Of monitoring systems and tables: metrics and columns whose names match count up, beyond those whose names or types say so
    #[arg(long, value_name = "REGEX", value_parser = regex)]
    counter: Option<regex_lite::Regex>,

    #[command(flatten)]
    table: Table,

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

    /// Most that is taken into memory of one file, and that compressed data may grow to, such as 4GiB; perf.data and JFR are read piece by piece
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = recorder::bytes)]
    size_limit: u64,

    /// Replace the recording if it exists
    #[arg(long)]
    force: bool,
}

/// What is asked of tables.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tables (CSV, Parquet)")]
struct Table {
    /// The column of times: seconds, milliseconds … since 1970, RFC 3339, or a date and a clock, which is taken for UTC; by default the one that looks like it
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,

    /// A column that tells rows of one time apart, such as the device; may be given several times. By default those that hold texts
    #[arg(long = "label", value_name = "COLUMN")]
    labels: Vec<String>,

    /// Each row is one value (a long table): the column of the names of metrics
    #[arg(long, value_name = "COLUMN")]
    metric: Option<String>,

    /// The column of values of a long table
    #[arg(long, value_name = "COLUMN", requires = "metric")]
    value: Option<String>,

    /// How the table is laid out: a name of --presets, or a file like theirs; by default the one that knows the header
    #[arg(long, value_name = "NAME|FILE")]
    preset: Option<String>,

    /// List what is known of tables of other tools
    #[arg(long)]
    presets: bool,

    /// What parts columns, a character or tab; by default what is in the header most often, else blanks
    #[arg(long, value_name = "CHARACTER", value_parser = separator)]
    separator: Option<u8>,

    /// Time from row to row, where the table has no times
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = recorder::duration)]
    every: std::time::Duration,
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one character, or tab".into()),
    }
}

/// A microarchitecture that the groups of counters know.
fn microarchitecture(text: &str) -> Result<String, String> {
    let known = ::import::microarchitectures();
    if known.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("they are {}", known.join(", ")))
}

fn regex(text: &str) -> Result<regex_lite::Regex, String> {
    regex_lite::Regex::new(text).map_err(|why| why.to_string())
}

/// Imports and says what came of it. Returns the exit code.
pub fn import(options: &Import) -> Result<u8> {
    if options.table.presets {
        for preset in monitoring::Preset::all() {
            println!("{:<10} {}", preset.name, preset.about);
        }
        return Ok(0);
    }
    let table = &options.table;
    let asked = Asked {
        host: options.host_label.clone(),
        counter: options.counter.clone(),
        time: table.time.clone(),
        labels: table.labels.clone(),
        metric: table.metric.clone(),
        value: table.value.clone(),
        preset: table.preset.clone(),
        separator: table.separator,
        limit: limit(options),
        every: i64::try_from(table.every.as_nanos()).unwrap_or(i64::MAX),
        ..Asked::default()
    };
    check_output(options)?;
    let progress = Progress::new(&format!("reading {}", names(&options.inputs)));
    let inputs = options.inputs.iter().map(|path| Input::of(path, limit(options))).collect::<Result<Vec<_>, _>>()?;
    let monitored = monitoring::read(&inputs, &asked);
    drop(progress);
    if let Some(monitored) = monitored? {
        return hosts(options, &inputs, monitored);
    }
    if options.inputs.len() > 1 && options.output.is_some() {
        return Err(
            Usage("of several files of profilers each becomes a recording of its own: without -o".into()).into()
        );
    }
    inputs.iter().try_for_each(|input| profile(options, input)).map(|()| 0)
}

fn limit(options: &Import) -> files::foreign::Limit {
    files::foreign::Limit { bytes: options.size_limit, option: "--size-limit" }
}

/// Checks that the recording can be written, before anything is read.
fn check_output(options: &Import) -> Result<()> {
    let Some(output) = options.output.as_deref().filter(|output| !is_folder(output)) else { return Ok(()) };
    let rules = files::Rules { replace: options.force, recording: true, inputs: &options.inputs, ..Default::default() };
    match files::check(output, &rules) {
        // A name without a folder yet, and files that are there, are for who writes.
        Err(why) if why.kind() == std::io::ErrorKind::InvalidInput => {
            Err(Usage(text::clean(&format!("{}: {why}", output.display()))).into())
        }
        _ => Ok(()),
    }
}

fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// The recording that a file becomes where nobody says: perf.data becomes perf.twin, x.folded.txt becomes x.folded.twin.
fn twin_of(input: &Input) -> PathBuf {
    let name = input.stem().and_then(|_| Some(PathBuf::from(input.path().with_extension("twin").file_name()?)));
    name.unwrap_or_else(|| PathBuf::from("import.twin"))
}

/// Writes the recordings of hosts.
fn hosts(options: &Import, inputs: &[Input], monitored: Monitored) -> Result<u8> {
    let (format, notes) = (monitored.format, monitored.notes.clone());
    let count = monitored.hosts().count();
    let output = options.output.clone();
    let first = inputs.first().map_or_else(|| PathBuf::from("import.twin"), twin_of);
    let progress = Progress::new(&format!("importing {}", names(&options.inputs)));
    let written = match output {
        Some(output) if count == 1 && !is_folder(&output) => monitored.write_one(&output, options.force)?,
        None if count == 1 => monitored.write_one(&first, options.force)?,
        Some(output) if output.is_file() || output.extension().is_some_and(|end| end == "twin") => {
            let why = format!(
                "{}: there are {count} hosts, each of which becomes a recording: -o names a folder",
                output.display()
            );
            return Err(Usage(why).into());
        }
        Some(output) => monitored.write_all(&output, options.force)?,
        None => monitored.write_all(&first.with_extension(""), options.force)?,
    };
    drop(progress);
    let (tables, rows) = written.iter().fold((0, 0), |(tables, rows), one| (tables.max(one.tables), rows + one.rows));
    let tables = format!("{tables} {}", if tables == 1 { "table" } else { "tables" });
    match written.as_slice() {
        [one] => println!("{}: {tables}, {rows} rows, from {}", text::path(&one.path), format.name()),
        several => {
            let folder = several.first().and_then(|one| one.path.parent()).unwrap_or(Path::new("."));
            println!(
                "{}: {} recordings, {tables}, {rows} rows, from {}",
                text::path(folder),
                several.len(),
                format.name()
            );
        }
    }
    // What is said of all hosts is said once.
    let own = written.iter().flat_map(|one| {
        let name = one.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let notes = &notes;
        one.notes.iter().filter(move |note| !notes.contains(note)).map(move |note| format!("{name}: {note}"))
    });
    let own: Vec<String> = own.collect();
    for note in notes.iter().chain(own.iter().take(MOST_NOTES)) {
        text::note(note);
    }
    if own.len() > MOST_NOTES {
        text::note(&format!("{} more such lines: they are in the recordings (table coverage)", own.len() - MOST_NOTES));
    }
    Ok(0)
}

/// Lines about single hosts that are printed.
const MOST_NOTES: usize = 10;

/// Writes the recording of a profile.
fn profile(options: &Import, input: &Input) -> Result<()> {
    let output = options.output.clone().unwrap_or_else(|| twin_of(input));
    let asked = ::import::Options {
        event: options.event.clone(),
        count: i64::try_from(options.count.as_nanos()).unwrap_or(i64::MAX),
        symbols: !options.no_symbols,
        cpu: options.cpu.clone(),
        limit: limit(options),
    };
    let progress = Progress::new(&format!("importing {}", names(&[input.path()])));
    let imported = ::import::import(input, &output, options.force, &asked);
    drop(progress);
    let (format, profile) = imported?;
    let weight: f64 = profile.samples.iter().map(|s| s.weight as f64).sum::<f64>() / 1e9;
    let mut parts = Vec::new();
    if !profile.samples.is_empty() {
        parts.push(format!("{} samples, {} of CPU time", profile.samples.len(), query::human(weight, "s")));
    }
    let events = profile.events();
    let known = [
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
    ];
    for (table, one, many) in known {
        if let Some((_, rows)) = events.iter().find(|(name, _)| *name == table) {
            parts.push(format!("{rows} {}", if *rows == 1 { one } else { many }));
        }
    }
    // Those of the system, of which there are many.
    let others = events.iter().filter(|(name, _)| !known.iter().any(|(table, _, _)| table == name));
    let (tables, rows) = others.fold((0, 0), |(tables, all), (_, rows)| (tables + 1, all + rows));
    if tables > 0 {
        parts.push(format!("{tables} other {} with {rows} rows", if tables == 1 { "table" } else { "tables" }));
    }
    println!("{}: {}, from {}", text::path(&output), parts.join(", "), format.name());
    if let Some(resolved) = profile.resolved().filter(|share| *share < 0.995) {
        println!("{} of it lies in named functions", query::human(resolved, "ratio"));
    }
    for note in profile.notes() {
        text::note(&note);
    }
    Ok(())
}
