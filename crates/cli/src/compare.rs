//! `twinscope compare`: what differs, in the terminal or as JSON.

use crate::progress::{Progress, names};
use crate::sides::AgainstWindow;
use crate::{latency, text};
use anyhow::Result;
use clap::Args;
use compare::{Choice, Comparison, Condition, Difference, Lock, Per, Waited};
use model::WorkChoice;
use query::Run;
use std::ops::{Add, Range};
use std::path::PathBuf;

/// What counts as work: shared by all that read recordings.
#[derive(Args, Clone, Debug, Default)]
pub struct WorkBy {
    /// What counts as work: auto, port:NUMBER (requests answered there), client or client:NUMBER (requests made),
    /// reads:PATH (as the recording was made with), none. auto is what the workload reported, else what the recording was
    /// made with, else requests of the server port that others ask most
    #[arg(long, value_name = "WHAT", default_value_t)]
    pub(crate) work: WorkChoice,
}

/// Which recordings, and which part of them: shared by `compare` and `report`.
#[derive(Args, Debug)]
pub struct Choose {
    /// Recordings; the first is the baseline
    #[arg(required = true, value_name = "NAME.twin")]
    pub(crate) recordings: Vec<PathBuf>,

    /// The window to compare: auto, whole, busy, or FROM..TO with times since the start (10s..50s), times of day in UTC
    /// (10:02..10:05, 2026-11-26T10:02Z..) or marks ('warm-up over..'). auto is the lifetime of the command, or else the
    /// busy stretch
    #[arg(long, value_name = "WINDOW", default_value = "auto", value_parser = window)]
    pub(crate) window: Choice,

    #[command(flatten)]
    pub(crate) against_window: AgainstWindow,

    #[command(flatten)]
    pub(crate) work: WorkBy,

    /// Smallest change to list, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    pub(crate) least: f64,
}

/// Reads the option `--window`.
pub(crate) fn window(text: &str) -> Result<Choice, String> {
    text.parse()
}

impl Choose {
    /// How two runs are compared.
    pub(crate) fn options(&self) -> compare::Options {
        let (window, least_change) = (self.window.clone(), self.least / 100.0);
        compare::Options { window, least_change, ..compare::Options::default() }
    }

    /// Opens the recordings and compares them: each with the first, or, where there are `repeats`, all of the recordings as one side with
    /// all of those as the other; two stretches of one recording, where the baseline has a window of its own.
    pub(crate) fn compare(&self, repeats: &[PathBuf]) -> Result<(Vec<Run>, Comparison)> {
        // The first is the baseline; of one recording it is a stretch of that.
        let again = match self.recordings.as_slice() {
            [_] if repeats.is_empty() => self.against_window.baseline(&self.recordings, &[], &self.window)?,
            _ => &[],
        };
        let all: Vec<&PathBuf> = again.iter().chain(&self.recordings).chain(repeats).collect();
        let mut runs = query::open_by(&all, &self.work.work)?;
        let repeats = if repeats.is_empty() { 0 } else { self.recordings.len() };
        self.against_window.narrow(&mut runs, 0..repeats.max(1), &self.window)?;
        let options = compare::Options { repeats, ..self.options() };
        let comparison = compare::compare(&runs, &options)?;
        Ok((runs, comparison))
    }
}

/// Show what differs between recordings.
#[derive(Args, Debug)]
pub struct Compare {
    #[command(flatten)]
    choose: Choose,

    /// Repeats of the candidate; the recordings before -- are then repeats of the baseline
    #[arg(last = true, value_name = "REPEAT.twin")]
    repeats: Vec<PathBuf>,

    /// Print JSON (docs/compare-json.md)
    #[arg(long)]
    json: bool,

    /// List every difference, not only the first 25
    #[arg(short, long)]
    all: bool,

    /// Exit with 4 if this holds: 'METRIC +N%', 'METRIC{label=value} -N%', 'latency.p99 +N%' (of the busiest server, or of
    /// one port: latency.p99@8080; also p50, p90, p99.9), or any; may be given several times
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    fail_on: Vec<Condition>,
}

/// Differences listed unless all are asked for.
const FIRST: usize = 25;

/// Characters of a property's value.
const LONGEST: usize = 60;

/// Compares and prints. Returns the exit code.
pub fn compare(options: &Compare) -> Result<u8> {
    if options.choose.recordings.len() + options.repeats.len() < 2 && !options.choose.against_window.is_given() {
        let why = "compare needs two recordings or more, the baseline first; or --window and --against-window, for two stretches of one";
        return Err(recorder::Usage(why.into()).into());
    }
    let begin = || Progress::new(&format!("comparing {}", names(&options.choose.recordings)));
    let progress = begin();
    let (runs, mut comparison) = options.choose.compare(&options.repeats)?;
    drop(progress);
    let mut damaged = text::say_damage(&runs);
    let unfinished: Vec<String> =
        runs.iter().filter(|r| r.recording.is_unfinished()).map(|r| text::clean(&r.name)).collect();
    let of_run = |run: &Run| run.recording.damage().into_iter().map(|d| (run.name.clone(), d)).collect::<Vec<_>>();
    let said: Vec<_> = runs.iter().flat_map(of_run).collect();
    let progress = begin();
    let unread = comparison.find_locks(runs)?;
    drop(progress);
    for (run, damage) in unread.iter().filter(|damage| !said.contains(damage)) {
        damaged = true;
        eprintln!("twinscope: {}: {}", text::clean(run), text::clean(&damage.to_string()));
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&comparison.to_json())?);
    } else {
        print(&unfinished, &comparison, options.all);
    }
    let mut unknown = false;
    for condition in &options.fail_on {
        if let Some(d) = condition.holds(&comparison) {
            eprintln!(
                "twinscope: --fail-on: {} {} in {}",
                name(d),
                change(d),
                text::clean(comparison.runs.get(d.run).map_or("", String::as_str))
            );
            return Ok(4);
        }
        if !condition.is_known(&comparison) {
            unknown = true;
            eprintln!("twinscope: --fail-on: {} was not compared", text::clean(&condition.what()));
        }
    }
    Ok(if damaged || unknown { 3 } else { 0 })
}

fn name(d: &Difference) -> String {
    let labels: Vec<String> = d.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let per = if d.per == Per::Operation { " per operation" } else { "" };
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    text::clean(&format!("{}{labels}{per}", d.metric))
}

fn change(d: &Difference) -> String {
    match d.change {
        Some(change) => query::ratio(1.0 + change),
        None if d.difference > 0.0 => "new".into(),
        None => "gone".into(),
    }
}

fn interval(d: &Difference) -> String {
    match (d.low, d.high) {
        (Some(low), Some(high)) => query::times_interval(1.0 + low, 1.0 + high),
        _ => String::new(),
    }
}

fn print(unfinished: &[String], comparison: &Comparison, all: bool) {
    let (first, last): (Vec<_>, Vec<_>) = comparison.cautions.iter().partition(|caution| caution.kind.is_said_first());
    for caution in &first {
        println!("{}", text::clean(&caution.text));
    }
    if !first.is_empty() {
        println!();
    }
    println!("{}\n{}", text::clean(&comparison.headline.headline), text::clean(&comparison.headline.detail));
    for turns in &comparison.turns {
        println!("{}", text::clean(&turns.text));
    }
    println!();
    let width = comparison.runs.iter().map(|r| r.chars().count()).max().unwrap_or(0);
    for (run, w) in comparison.runs.iter().zip(&comparison.windows) {
        println!(
            "{:width$}  {:.1} s to {:.1} s ({})",
            text::clean(run),
            w.from as f64 / 1e9,
            w.to as f64 / 1e9,
            text::clean(&w.why)
        );
    }
    if !last.is_empty() {
        println!();
    }
    for caution in last {
        println!("{}", text::clean(&caution.text));
    }
    // Of repeated runs the first stands for its side.
    let repeated = |first: usize, count: usize| match (comparison.repeats, count) {
        (0, _) | (_, 0 | 1) => text::clean(comparison.runs.get(first).map_or("", String::as_str)),
        _ => format!("{} and {} more", text::clean(comparison.runs.get(first).map_or("", String::as_str)), count - 1),
    };
    for index in 1..comparison.runs.len() {
        // What is said of latency has a table of its own, where a server served.
        let apart = |d: &Difference| latency::is_shown(comparison, index) && d.metric.starts_with("latency.");
        let found: Vec<&Difference> = comparison.differences.iter().filter(|d| d.run == index && !apart(d)).collect();
        let found = if all { found } else { once(found) };
        let baseline = repeated(0, comparison.repeats);
        let other = repeated(index, comparison.runs.len() - comparison.repeats);
        latency::print(comparison, index, [&baseline, &other], all);
        if found.is_empty() {
            continue;
        }
        let mut table = text::table(
            &["differs", &baseline, &other, "change", "95 % CI", "what it is"],
            &[false, true, true, true, false, false],
        );
        let shown = if all { found.len() } else { FIRST };
        for d in found.iter().take(shown) {
            let help = text::clean(d.help.split([';', ',']).next().unwrap_or(""));
            table.add_row([
                name(d),
                text::clean(&query::human(d.baseline, d.unit)),
                text::clean(&query::human(d.other, d.unit)),
                change(d),
                interval(d),
                help,
            ]);
        }
        println!("\n{}", text::trimmed(&table));
        if found.len() > shown {
            println!("and {} more; --all lists them", found.len() - shown);
        }
    }
    let names: Vec<String> = match comparison.repeats {
        0 => comparison.runs.iter().map(|run| text::clean(run)).collect(),
        repeats => vec![repeated(0, repeats), repeated(repeats, comparison.runs.len() - repeats)],
    };
    print_locks(comparison, &names, all);
    if !comparison.facts.is_empty() {
        println!("\nConfiguration that differs:");
        let known = comparison.facts.iter().filter(|f| f.why.is_some()).count();
        let shown = if all { comparison.facts.len() } else { known.max(10).min(comparison.facts.len()) };
        for fact in comparison.facts.iter().take(shown) {
            let values: Vec<String> = fact
                .values
                .iter()
                .map(|v| v.as_deref().map_or("not read".into(), |v| text::cut(&text::clean(v), LONGEST)))
                .collect();
            println!("  {}: {}", text::clean(&fact.full_name()), values.join(" → "));
            if let Some(why) = fact.why {
                println!("      {why}");
            }
        }
        if comparison.facts.len() > shown {
            println!("  and {} more; --all lists them", comparison.facts.len() - shown);
        }
    }
    let missing: Vec<_> = comparison.not_compared.iter().filter(|n| all || n.why.starts_with("not recorded")).collect();
    if !missing.is_empty() {
        println!("\nNot compared:");
        for n in missing {
            println!("  {}: {}", text::clean(&n.what), text::clean(&n.why));
        }
    }
    for run in unfinished {
        println!("\n{run} was cut off, or is still being recorded.");
    }
}

/// Locks listed unless all are asked for: so many, and those for which some run waited this long in each second.
const LOCKS: usize = 10;
const LEAST_WAITED: f64 = 1e-3;

/// The contended locks, those waited for longest first; of repeated runs the means of each side.
fn print_locks(comparison: &Comparison, names: &[String], all: bool) {
    let runs = comparison.runs.len();
    let sides: Vec<Range<usize>> = match comparison.repeats {
        0 => (0..runs).map(|run| run..run + 1).collect(),
        repeats => vec![0..repeats, repeats..runs],
    };
    let listed: Vec<&Lock> = comparison.locks.iter().filter(|l| all || l.most() >= LEAST_WAITED).collect();
    if listed.is_empty() {
        return;
    }
    let waits = |lock: &Lock, side: &Range<usize>| -> Vec<Waited> {
        lock.of.get(side.clone()).unwrap_or_default().iter().flatten().cloned().collect()
    };
    let mut header = vec!["contended lock"];
    header.extend(names.iter().map(String::as_str));
    header.extend(["change", "waits", "longest", "at once", "held by"]);
    let right: Vec<bool> = header.iter().map(|title| !["contended lock", "held by"].contains(title)).collect();
    let mut table = text::table(&header, &right);
    let shown = if all { listed.len() } else { LOCKS };
    for lock in listed.iter().take(shown) {
        let of: Vec<Vec<Waited>> = sides.iter().map(|side| waits(lock, side)).collect();
        let mean = |get: fn(&Waited) -> f64| -> Vec<f64> {
            of.iter().zip(&sides).map(|(of, side)| of.iter().map(get).fold(0.0, f64::add) / side.len() as f64).collect()
        };
        let each = |words: &dyn Fn(&[Waited]) -> String| of.iter().map(|of| words(of)).collect::<Vec<_>>().join(" → ");
        let times = mean(|w| w.time);
        let mut row = vec![text::clean(&format!("{} ({}, {})", lock.name, lock.kind, lock.process))];
        row.extend(times.iter().map(|time| query::human(*time, "s/s")));
        row.push(match times[..] {
            [a, b] if a > 0.0 => query::ratio(b / a),
            [_, b] if b > 0.0 => "new".into(),
            _ => String::new(),
        });
        row.push(mean(|w| w.count).iter().map(|n| query::human(*n, "1/s")).collect::<Vec<_>>().join(" → "));
        let greatest = |of: &[Waited], get: fn(&Waited) -> Option<f64>| of.iter().filter_map(get).reduce(f64::max);
        let words = |value: Option<f64>, unit: &str| value.map_or_else(|| "-".into(), |v| query::human(v, unit));
        row.push(each(&|of| words(greatest(of, |w| Some(w.longest)), "s")));
        row.push(each(&|of| words(greatest(of, |w| w.waiters.map(f64::from)), "")));
        let worst = lock.of.iter().flatten().filter(|w| w.holder.is_some()).max_by(|a, b| a.time.total_cmp(&b.time));
        row.push(worst.and_then(|w| w.holder.as_deref()).map_or_else(String::new, text::clean));
        table.add_row(row);
    }
    println!("\n{}", text::trimmed(&table));
    if listed.len() > shown {
        println!("and {} more; --all lists them", listed.len() - shown);
    }
}

/// Each metric once: per second or per operation, whichever comes first.
fn once(found: Vec<&Difference>) -> Vec<&Difference> {
    let mut kept: Vec<&Difference> = Vec::new();
    for d in found {
        if !kept.iter().any(|k| k.metric == d.metric && k.labels == d.labels) {
            kept.push(d);
        }
    }
    kept
}
