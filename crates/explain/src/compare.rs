//! Compares every metric of every other run with the baseline. See docs/method.md for how it decides.

use crate::window::{self, Choice};
use crate::work::Progress;
use crate::{Error, FactDifference, Headline, facts, headline};
use model::{Compare, Polarity, Status, Table, Window, intern};
use query::series::{Grid, Series};
use query::stats::separation::Separation;
use query::stats::{self, Comparer};
use query::{Metric, Run, fields};
use std::collections::{BTreeMap, BTreeSet};
use store::{Frame, Select};

/// The share of false discoveries that is accepted among the differences listed.
const FALSE_DISCOVERY: f64 = 0.05;

/// The least relative change that is listed, unless told otherwise.
const LEAST_CHANGE: f64 = 0.05;

/// Without an interval that leaves out what is practically the same, a rate is listed where the runs lie this far apart, see
/// [`stats::separation`].
const APART: f64 = 4.0 / 3.0;

/// At most so many ticks of a table are compared; beyond, every n-th is read, which keeps counters exact.
const MOST_TICKS: usize = 7200;

/// What is compared, and how strictly.
#[derive(Clone, Debug)]
pub struct Options {
    /// The window of each run.
    pub window: Choice,
    /// The least relative change that is listed: 0.05 for five per cent.
    pub least_change: f64,
    /// Metrics are listed up to this share of false discoveries.
    pub false_discovery: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { window: Choice::Auto, least_change: LEAST_CHANGE, false_discovery: FALSE_DISCOVERY }
    }
}

/// What a value is given per.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Per second, or a level or share.
    Second,
    /// Per operation of the workload.
    Operation,
}

/// A metric that differs.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Full name: "cpu.busy".
    pub metric: String,
    /// The entity, as far as it is told apart: {"device": "vda"}.
    pub labels: BTreeMap<String, String>,
    /// Unit of the values.
    pub unit: &'static str,
    /// One line: what it says.
    pub help: &'static str,
    /// Whether more of it is better.
    pub polarity: Polarity,
    /// Index of the run that differs from the baseline.
    pub run: usize,
    /// What the values are per.
    pub per: Per,
    /// Mean of the baseline over its window.
    pub baseline: f64,
    /// Mean of the other over its window.
    pub other: f64,
    /// Other − baseline.
    pub difference: f64,
    /// Change as a fraction of the baseline; `None` where that is 0.
    pub change: Option<f64>,
    /// Lower end of the 95 % interval of the change; `None` where it has no bound.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// Share of false discoveries among the differences that are at least this sure.
    pub q: f64,
    /// Medians of baseline and other.
    pub median: [Option<f64>; 2],
    /// 99th percentiles of baseline and other.
    pub p99: [Option<f64>; 2],
    /// The values in the windows, in time: baseline and other.
    pub values: [Vec<f64>; 2],
    /// The table, the metric within it, and the SQL that shows the values.
    pub table: &'static str,
    /// Name of the metric within its table.
    pub column: &'static str,
    /// SQL that gives both means.
    pub query: String,
    /// How far up the list it belongs: how surely and how much.
    pub weight: f64,
}

/// A comparison before it is known whether it is listed.
struct Candidate {
    difference: Difference,
    statistics: stats::Comparison,
    /// How far the runs lie apart; only of rates and ratios. A level may have settled elsewhere for reasons of its own.
    separation: Option<Separation>,
    /// The least difference that anyone would care about.
    floor: f64,
}

impl Candidate {
    /// The smaller of two p-values, times two because it was chosen (Bonferroni).
    fn p(&self) -> f64 {
        let p = self.statistics.p.unwrap_or(f64::NAN);
        self.separation.map_or(p, |s| (2.0 * s.p.min(p)).min(1.0))
    }
}

/// Something that could not be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCompared {
    /// A table or a metric.
    pub what: String,
    /// Why.
    pub why: String,
}

/// The result of a comparison.
#[derive(Debug)]
pub struct Comparison {
    /// Names of the runs; the first is the baseline.
    pub runs: Vec<String>,
    /// The window of each run.
    pub windows: Vec<Window>,
    /// What differs, most sure and largest first.
    pub differences: Vec<Difference>,
    /// Properties that differ.
    pub facts: Vec<FactDifference>,
    /// What could not be compared.
    pub not_compared: Vec<NotCompared>,
    /// How many comparisons were made.
    pub compared: usize,
    /// The full names of the metrics that were compared.
    pub metrics: BTreeSet<String>,
    /// In a sentence or two.
    pub headline: Headline,
}

/// Compares the runs with the first of them.
///
/// # Errors
/// Where a window is not there.
pub fn compare(runs: &[Run], options: &Options) -> Result<Comparison, Error> {
    let windows = runs.iter().map(|run| window::choose(run, &options.window)).collect::<Result<Vec<_>, _>>()?;
    let progress: Vec<Option<Progress>> = runs.iter().map(Progress::of).collect();
    let commands: BTreeSet<String> = runs.iter().filter_map(command_name).collect();
    let mut state = State {
        runs,
        commands: &commands,
        windows: &windows,
        progress: &progress,
        comparer: Comparer::new(),
        found: Vec::new(),
        not_compared: Vec::new(),
        metrics: BTreeSet::new(),
    };
    let mut names: Vec<&'static str> = Vec::new();
    for run in runs {
        for (_, table) in run.recording.tables() {
            if !names.contains(&table.name) {
                names.push(table.name);
            }
        }
    }
    // One run alone has nothing to be compared with, and its tables can be large.
    if runs.len() > 1 {
        for name in names {
            state.table(name)?;
        }
    }
    let (found, metrics, mut not_compared) = (state.found, state.metrics, state.not_compared);
    let compared = found.len();
    // What cannot matter whatever its p-value takes no part in the multiple comparison: values that lie below the floor on both sides. The
    // choice looks at the size of both sides together, not at their difference, so it leaves the false-discovery rate as it is (Bourgon,
    // Gentleman, Huber 2010, PNAS 107:9546).
    let found: Vec<Candidate> =
        found.into_iter().filter(|c| c.difference.baseline.abs().max(c.difference.other.abs()) > c.floor).collect();
    let p: Vec<f64> = found.iter().map(Candidate::p).collect();
    let q = stats::fdr::benjamini_hochberg(&p);
    let mut differences: Vec<Difference> = found
        .into_iter()
        .zip(q)
        .filter(|(_, q)| *q <= options.false_discovery)
        .filter_map(|(mut c, q)| {
            if !stats::is_material(&c.statistics, options.least_change, c.floor) {
                // The other way to be sure enough; its interval then takes the place of one that says little.
                let apart = c.separation.filter(|s| s.gap >= APART && c.difference.difference.abs() >= c.floor)?;
                (c.difference.low, c.difference.high) = apart.change.unzip();
            }
            c.difference.q = q;
            c.difference.weight = weight(&c, &commands);
            Some(c.difference)
        })
        .collect();
    differences.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.metric.cmp(&b.metric)));
    not_compared = gathered(not_compared);
    let facts = facts::differences(runs);
    let mut comparison = Comparison {
        runs: runs.iter().map(|r| r.name.clone()).collect(),
        windows,
        differences,
        facts,
        not_compared,
        compared,
        metrics,
        headline: Headline::default(),
    };
    comparison.headline = headline::of(runs, &comparison);
    Ok(comparison)
}

/// The least difference that anyone would care about, per second: what the metric says of itself, else by its unit.
fn floor(metric: &Metric) -> f64 {
    match metric.unit {
        _ if metric.floor > 0.0 => metric.floor,
        "s/s" => 0.02,
        "B/s" => 65_536.0,
        "B" => 16_777_216.0,
        "1/s" => 50.0,
        "ratio" => 0.02,
        "%" => 2.0,
        "s" => 1e-4,
        "Hz" => 5e7,
        "°C" => 5.0,
        _ => 1.0,
    }
}

/// The name that the kernel gives to a run's command.
fn command_name(run: &Run) -> Option<String> {
    let program = run.recording.manifest().command.as_ref()?.first()?;
    // TASK_COMM_LEN, include/linux/sched.h.
    Some(program.rsplit('/').next()?.chars().take(15).collect())
}

/// How far up a difference belongs: the change that is sure, in powers of e and up to sixteenfold, times how many times it passes the floor.
/// What is said of the command itself comes before what is said of the system, and that before what is said of its neighbours.
fn weight(c: &Candidate, commands: &BTreeSet<String>) -> f64 {
    const MOST: f64 = 2.77;
    let d = &c.difference;
    let sure = match (d.low, d.high) {
        (Some(low), _) if low > 0.0 => low.ln_1p(),
        (_, Some(high)) if high < 0.0 => -high.max(-0.999).ln_1p(),
        _ => MOST / 2.0,
    };
    // What the difference is at least: by its interval, else by half.
    let least = match (d.low, d.high) {
        (Some(low), _) if low > 0.0 => low * d.baseline.abs(),
        (_, Some(high)) if high < 0.0 => -high * d.baseline.abs(),
        _ => d.difference.abs() / 2.0,
    };
    let times = (least / c.floor).ln_1p();
    let polarity = if d.polarity == Polarity::Neutral { 1.0 } else { 1.25 };
    let whose = match d.labels.get("comm") {
        Some(name) if commands.contains(name) => 1.5,
        Some(_) if !commands.is_empty() => 0.3,
        _ => 1.0,
    };
    sure.clamp(0.0, MOST) * times * polarity * whose
}

struct State<'a> {
    runs: &'a [Run],
    commands: &'a BTreeSet<String>,
    windows: &'a [Window],
    progress: &'a [Option<Progress>],
    comparer: Comparer,
    found: Vec<Candidate>,
    not_compared: Vec<NotCompared>,
    metrics: BTreeSet<String>,
}

impl State<'_> {
    fn not_compared(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.not_compared.push(NotCompared { what: what.into(), why: why.into() });
    }

    /// Compares all metrics of a table.
    fn table(&mut self, name: &'static str) -> Result<(), Error> {
        let Some(table) = self.runs.iter().find_map(|r| r.recording.table(name)) else { return Ok(()) };
        let is_compared = table.values().any(|c| c.compare != Compare::Never && c.compare != Compare::Equality);
        if table.groups.is_empty() || table.events || !is_compared && table.derived.is_empty() {
            return Ok(());
        }
        let mut frames: Vec<Option<Frame>> = Vec::with_capacity(self.runs.len());
        for (run, window) in self.runs.iter().zip(self.windows) {
            let select =
                Select { between: Some((window.from, window.to)), most_ticks: MOST_TICKS, ..Select::default() };
            let frame = run.recording.load(name, &select).filter(|f| !f.ticks.is_empty());
            frames.push(frame);
        }
        let runs = self.runs;
        if frames.iter().all(Option::is_none) {
            return Ok(());
        }
        for (run, _) in runs.iter().zip(&frames).filter(|(_, frame)| frame.is_none()) {
            self.not_compared(name, format!("not recorded in {}: {}", run.name, why_missing(run, name)));
        }
        let mut metrics: Vec<Metric> = Vec::new();
        for frame in frames.iter().flatten() {
            for metric in fields(frame) {
                if !metrics.iter().any(|m| m.name == metric.name) {
                    metrics.push(metric);
                }
            }
        }
        for metric in metrics {
            if matches!(metric.compare, Compare::Never | Compare::Equality) {
                continue;
            }
            for &by in table.groups {
                self.metric(table, &metric, by, &frames)?;
            }
        }
        Ok(())
    }

    /// Compares one metric at one grouping.
    fn metric(
        &mut self,
        table: &'static Table,
        metric: &Metric,
        by: &'static [&'static str],
        frames: &[Option<Frame>],
    ) -> Result<(), Error> {
        let mut grids = Vec::with_capacity(frames.len());
        for frame in frames {
            grids.push(match frame {
                Some(frame) => Some(Grid::new(frame, metric, by, None)?),
                None => None,
            });
        }
        let Some(Some(baseline)) = grids.first() else { return Ok(()) };
        let name = metric.full_name();
        let mut groups: Vec<&[String]> = Vec::new();
        for series in grids.iter().flatten().flat_map(|g| &g.series) {
            if !groups.contains(&series.labels.as_slice()) {
                groups.push(&series.labels);
            }
        }
        for (run, grid) in grids.iter().enumerate().skip(1) {
            let Some(grid) = grid else { continue };
            for labels in &groups {
                let sides = [(0, baseline), (run, grid)].map(|(run, grid)| self.side(run, grid, labels));
                let (Some(a), Some(b)) = (&sides[0], &sides[1]) else { continue };
                let compared = self.one(table, metric, by, labels, run, Per::Second, [a, b]);
                if compared {
                    self.metrics.insert(name.clone());
                }
                let work = [0, run].map(|index| self.progress.get(index).and_then(Option::as_ref));
                // What a neighbour uses is not for the workload's operations.
                let own = by.iter().zip(labels.iter()).all(|(&l, name)| l != "comm" || self.commands.contains(name));
                if let ([Some(wa), Some(wb)], Some(_), true) = (work, metric.per_operation, own) {
                    let per = [(a, wa), (b, wb)].map(|(side, work)| side.per_operation(work));
                    self.one(table, metric, by, labels, run, Per::Operation, [&per[0], &per[1]]);
                }
            }
        }
        Ok(())
    }

    /// The part of a group's series that lies in the window. An entity that was never there in a table that was read used nothing.
    fn side(&self, run: usize, grid: &Grid, labels: &[String]) -> Option<Cut> {
        let range = window::intervals(grid, self.windows.get(run)?);
        let times = range.clone().filter_map(|i| Some((*grid.from.get(i)?, *grid.to.get(i)?))).collect();
        let slice = |v: &[f64]| v.get(range.clone()).map(<[f64]>::to_vec);
        match grid.series.iter().find(|s: &&Series| s.labels == labels) {
            Some(series) => {
                Some(Cut { num: slice(&series.num)?, den: slice(&series.den)?, times, level: grid.metric.is_level() })
            }
            None if grid.metric.is_rate() => {
                let den: Vec<f64> = range.clone().filter_map(|i| Some(*grid.to.get(i)? - *grid.from.get(i)?)).collect();
                Some(Cut { num: vec![0.0; den.len()], den, times, level: false })
            }
            None => None,
        }
    }

    /// Compares one pair. Returns whether it could be compared.
    #[expect(clippy::too_many_arguments, reason = "what is compared has that many coordinates")]
    fn one(
        &mut self,
        table: &'static Table,
        metric: &Metric,
        by: &'static [&'static str],
        labels: &[String],
        run: usize,
        per: Per,
        [a, b]: [&Cut; 2],
    ) -> bool {
        let found = self.comparer.compare(&[a.series()], &[b.series()], &stats::Options::default());
        let unit = match per {
            Per::Second => metric.unit,
            Per::Operation => metric.per_operation.unwrap_or(metric.unit),
        };
        let (Some(baseline), Some(other), Some(difference), Some(_)) =
            (found.baseline.mean, found.other.mean, found.difference, found.p)
        else {
            if let Some(why) = &found.not_compared
                && per == Per::Second
            {
                self.not_compared(shown(&metric.full_name(), by, labels), why.to_string());
            }
            return false;
        };
        let pairs: BTreeMap<String, String> = by.iter().map(|&l| l.to_owned()).zip(labels.iter().cloned()).collect();
        let floor = match per {
            Per::Second => floor(metric),
            // What matters per second, at the baseline's pace.
            Per::Operation => {
                let (work, seconds) =
                    (a.den.iter().sum::<f64>(), a.times.iter().map(|(from, to)| to - from).sum::<f64>());
                if work > 0.0 { floor(metric) * seconds / work } else { 0.0 }
            }
        };
        let difference = Difference {
            metric: metric.full_name(),
            query: sql(self.runs, run, metric, &pairs),
            labels: pairs,
            unit,
            help: metric.help,
            polarity: metric.polarity,
            run,
            per,
            baseline,
            other,
            difference,
            change: found.change,
            low: found.low,
            high: found.high,
            q: 1.0,
            median: [found.baseline.median, found.other.median],
            p99: [found.baseline.p99, found.other.p99],
            values: [a.values(), b.values()],
            table: table.name,
            column: intern(metric.name),
            weight: 0.0,
        };
        let separation = if a.level { None } else { stats::separation(&a.series(), &b.series()) };
        self.found.push(Candidate { difference, statistics: found, separation, floor });
        true
    }
}

/// A series cut to its window.
struct Cut {
    num: Vec<f64>,
    den: Vec<f64>,
    times: Vec<(f64, f64)>,
    level: bool,
}

impl Cut {
    fn series(&self) -> stats::Series {
        stats::Series::ratio(&self.num, &self.den)
    }

    fn values(&self) -> Vec<f64> {
        self.num.iter().zip(&self.den).map(|(n, d)| if *d > 0.0 { n / d } else { f64::NAN }).collect()
    }

    /// The same numerators over the work done in each interval.
    fn per_operation(&self, work: &Progress) -> Cut {
        let den = self
            .times
            .iter()
            .zip(&self.num)
            .map(|(&(from, to), n)| if n.is_finite() { work.between(from, to) } else { 0.0 })
            .collect();
        Cut { num: self.num.clone(), den, times: self.times.clone(), level: self.level }
    }
}

/// One entry for each table and reason: a machine with many short-lived processes has thousands of metrics of a few samples each.
fn gathered(all: Vec<NotCompared>) -> Vec<NotCompared> {
    let mut reasons: BTreeMap<(String, String), Vec<NotCompared>> = BTreeMap::new();
    for one in all {
        let table = one.what.split('.').next().unwrap_or(&one.what).to_owned();
        let reason = one.why.chars().filter(|c| !c.is_ascii_digit()).collect();
        let list = reasons.entry((table, reason)).or_default();
        if !list.contains(&one) {
            list.push(one);
        }
    }
    let entry = |((table, _), list): ((String, String), Vec<NotCompared>)| match <[NotCompared; 1]>::try_from(list) {
        Ok([one]) => Some(one),
        Err(list) => {
            let why = list.first()?.why.clone();
            Some(NotCompared { what: format!("{table}: {} metrics", list.len()), why })
        }
    };
    reasons.into_iter().filter_map(entry).collect()
}

/// Why a run has nothing of a table.
fn why_missing(run: &Run, table: &str) -> String {
    let source = run.recording.tables().find(|(_, t)| t.name == table).map(|(source, _)| source);
    let source = source.map(str::to_owned);
    let coverage = run.recording.coverage();
    let matching = |c: &&model::Coverage| {
        c.status != Status::Read
            && (c.item == table || (c.item.is_empty() && source.as_ref().is_none_or(|s| *s == c.source)))
    };
    match coverage.iter().filter(|c| source.is_some() || c.item == table).find(matching) {
        Some(c) => format!("{}: {}", c.status.as_str(), c.why),
        None if source.is_none() => "its source was left out, or could not be read there (see `twinscope info`)".into(),
        None => "no read of it falls into the window".into(),
    }
}

fn shown(metric: &str, by: &[&str], labels: &[String]) -> String {
    if by.is_empty() {
        return metric.to_owned();
    }
    let pairs: Vec<String> = by.iter().zip(labels).map(|(k, v)| format!("{k}={v}")).collect();
    format!("{metric}{{{}}}", pairs.join(","))
}

/// SQL that shows the values behind a difference.
fn sql(runs: &[Run], run: usize, metric: &Metric, labels: &BTreeMap<String, String>) -> String {
    let quote = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let names: Vec<String> = [0, run].iter().filter_map(|&i| runs.get(i)).map(|r| quote(&r.name)).collect();
    let mut conditions = vec![format!("run in ({})", names.join(", "))];
    conditions.extend(labels.iter().map(|(k, v)| format!("\"{k}\" = {}", quote(v))));
    let value = if metric.table.is_long() {
        conditions.push(format!("field = {}", quote(metric.name)));
        "value".to_owned()
    } else {
        format!("\"{}\"", metric.name)
    };
    format!(
        "select run, t, sum({value}) as \"{}\" from {}_rate where {} group by run, t order by run, t",
        metric.name,
        metric.table.name,
        conditions.join(" and ")
    )
}
