//! Compares every metric of every other run with the baseline. See docs/method.md for how it decides.

use crate::cautions::{self, Caution};
use crate::concurrency::{self, Turns};
use crate::not_compared::{NotCompared, gathered, why_missing};
use crate::phases::{self, Phase, Use};
use crate::throughput::{self, Pace};
use crate::window::{self, Choice};
use crate::work::Progress;
use crate::{Error, FactDifference, Headline, facts, headline, own};
use model::{Compare, Polarity, Table, Window, intern};
use query::concurrency::Concurrency;
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

/// The metric of the pace.
pub(crate) const DONE: &str = "work.done";

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
    /// How many of the runs, from the first on, are repeats of the baseline; all others are then repeats of one other side. 0: each run is
    /// a side of its own, and all are compared with the first.
    pub repeats: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { window: Choice::Auto, least_change: LEAST_CHANGE, false_discovery: FALSE_DISCOVERY, repeats: 0 }
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
    /// Index of the run that differs from the baseline; of repeated runs the first.
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
    /// Index of the same comparison per second, without which this one says nothing: per operation, what the system or a neighbour does by
    /// itself grows by the mere fact that the pace falls.
    needs: Option<usize>,
}

impl Candidate {
    /// Whether it differs by enough, one way or the other.
    fn is_large(&self, least_change: f64) -> bool {
        stats::is_material(&self.statistics, least_change, self.floor) || self.apart().is_some()
    }

    /// The other way to be sure enough.
    fn apart(&self) -> Option<Separation> {
        self.separation.filter(|s| s.gap >= APART && self.difference.difference.abs() >= self.floor)
    }

    /// The smaller of two p-values, times two because it was chosen (Bonferroni). That of the stretches counts only where they lie apart: the gap is
    /// what stands against dependence longer than a stretch, of which the ranks know nothing.
    fn p(&self) -> f64 {
        let p = self.statistics.p.unwrap_or(f64::NAN);
        match self.separation {
            None => p,
            Some(_) => (2.0 * self.apart().map_or(p, |s| s.p.min(p))).min(1.0),
        }
    }
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
    /// Parts of a run in which its command uses more or fewer CPUs than the same part of the other.
    pub phases: Vec<Phase>,
    /// How many threads of each run were running at once; `None` where that was not recorded.
    pub concurrency: Vec<Option<Concurrency>>,
    /// Runs whose threads take turns in a way that those of the other do not: serial phases, regular swings.
    pub turns: Vec<Turns>,
    /// What stands against believing all this too readily.
    pub cautions: Vec<Caution>,
    /// How many of the runs are repeats of the baseline, see [`Options::repeats`].
    pub repeats: usize,
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
    let own = own::names(runs);
    let repeats = if options.repeats < runs.len() { options.repeats } else { 0 };
    // The sides that are compared, each a list of runs.
    let sides: Vec<[Vec<usize>; 2]> = match repeats {
        0 => (1..runs.len()).map(|run| [vec![0], vec![run]]).collect(),
        repeats => vec![[(0..repeats).collect(), (repeats..runs.len()).collect()]],
    };
    let mut state = State {
        runs,
        sides: &sides,
        own: &own,
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
    let paces: Vec<Option<Pace>> =
        progress.iter().zip(&windows).map(|(p, w)| p.as_ref().map(|p| Pace::of(p, w))).collect();
    let throughput = state.throughput(&paces);
    let (found, mut metrics, mut not_compared) = (state.found, state.metrics, state.not_compared);
    if !throughput.is_empty() {
        metrics.insert(DONE.to_owned());
    }
    let compared = found.len() + throughput.len();
    // Whether the same per second went the same way, by as much as matters.
    let is_driven = |c: &Candidate| {
        let same = |p: &Candidate| p.difference.difference.signum() == c.difference.difference.signum();
        c.needs
            .is_none_or(|i| found.get(i).is_some_and(|p| same(p) && p.p() <= 0.05 && p.is_large(options.least_change)))
    };
    let driven: Vec<bool> = found.iter().map(is_driven).collect();
    // What cannot matter whatever its p-value takes no part in the multiple comparison: values that lie below the floor on both sides. The
    // choice looks at the size of both sides together, not at their difference, so it leaves the false-discovery rate as it is (Bourgon,
    // Gentleman, Huber 2010, PNAS 107:9546).
    let found: Vec<(Candidate, bool)> = found
        .into_iter()
        .zip(driven)
        .filter(|(c, _)| c.difference.baseline.abs().max(c.difference.other.abs()) > c.floor)
        .collect();
    let listed = |found: Vec<(Candidate, bool)>| {
        let p: Vec<f64> = found.iter().map(|(c, _)| c.p()).collect();
        let q = stats::fdr::benjamini_hochberg(&p);
        let one = |((mut c, driven), q): ((Candidate, bool), f64)| {
            if !driven || q.is_nan() || q > options.false_discovery {
                return None;
            }
            if !stats::is_material(&c.statistics, options.least_change, c.floor) {
                // Its interval takes the place of one that says little.
                (c.difference.low, c.difference.high) = c.apart()?.change.unzip();
            }
            c.difference.q = q;
            c.difference.weight = weight(&c, &own);
            Some(c.difference)
        };
        found.into_iter().zip(q).filter_map(one).collect::<Vec<Difference>>()
    };
    let mut differences = listed(found);
    // The pace is a family of its own, and what all others explain: it stands first.
    differences.extend(listed(throughput.into_iter().map(|c| (c, true)).collect()).into_iter().map(|mut d| {
        d.weight += 1e3;
        d
    }));
    differences.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.metric.cmp(&b.metric)));
    not_compared = gathered(not_compared);
    let facts = facts::differences(runs);
    let used: Vec<Option<Use>> = runs.iter().zip(&windows).map(|(run, w)| Use::of(run, w, &own)).collect();
    let (mut phases, mut cautions) = (Vec::new(), Vec::new());
    for [a, b] in &sides {
        let first = |side: &[usize]| {
            let run = *side.first()?;
            Some((run, used.get(run)?.as_ref()?))
        };
        if let (Some(a), Some(b)) = (first(a), first(b)) {
            phases.extend(phases::differences([a, b]));
        }
        for caution in cautions::of(runs, &windows, &paces, &own, [a, b], options.least_change) {
            if !cautions.contains(&caution) {
                cautions.push(caution);
            }
        }
    }
    let concurrency: Vec<Option<Concurrency>> =
        runs.iter().zip(&windows).map(|(run, w)| Concurrency::load(run, w)).collect();
    concurrency::name(&mut phases, &concurrency, &windows);
    let turns = concurrency::differences(runs, &concurrency, &windows, &sides, &phases);
    let mut comparison = Comparison {
        runs: runs.iter().map(|r| r.name.clone()).collect(),
        windows,
        differences,
        facts,
        not_compared,
        phases,
        concurrency,
        turns,
        cautions,
        repeats,
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

/// How far up a difference belongs: the change that is sure, in powers of e and up to sixteenfold, times how many times it passes the floor.
/// What is said of the command itself comes before what is said of the system, and that before what is said of its neighbours.
fn weight(c: &Candidate, own: &BTreeSet<String>) -> f64 {
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
        Some(name) if own.contains(name) => 1.5,
        Some(_) if !own.is_empty() => 0.3,
        _ => 1.0,
    };
    sure.clamp(0.0, MOST) * times * polarity * whose
}

struct State<'a> {
    runs: &'a [Run],
    /// Each pair of sides.
    sides: &'a [[Vec<usize>; 2]],
    /// Names of processes that belong to the workloads.
    own: &'a BTreeSet<String>,
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
        // The pace has a family of its own, see `throughput`.
        if name == "work" || table.groups.is_empty() || table.events || !is_compared && table.derived.is_empty() {
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
        let name = metric.full_name();
        let mut groups: Vec<&[String]> = Vec::new();
        for series in grids.iter().flatten().flat_map(|g| &g.series) {
            if !groups.contains(&series.labels.as_slice()) {
                groups.push(&series.labels);
            }
        }
        for sides in self.sides {
            let cut = |side: &[usize], labels: &[String]| -> Vec<(usize, Cut)> {
                let one = |&run: &usize| Some((run, self.side(run, grids.get(run)?.as_ref()?, labels)?));
                side.iter().filter_map(one).collect()
            };
            let cuts: Vec<_> = groups.iter().map(|labels| sides.each_ref().map(|side| cut(side, labels))).collect();
            for (labels, [a, b]) in groups.iter().zip(&cuts) {
                let Some(run) = b.first().map(|b| b.0).filter(|_| !a.is_empty()) else { continue };
                fn plain(side: &[(usize, Cut)]) -> Vec<&Cut> {
                    side.iter().map(|s| &s.1).collect()
                }
                let of = Of { table, metric, by, labels, run };
                let before = self.found.len();
                let compared = self.one(&of, Per::Second, [&plain(a), &plain(b)], None);
                if compared {
                    self.metrics.insert(name.clone());
                }
                // What a neighbour uses is not for the workload's operations, and what the system does is only where it grows by itself.
                let process = by.iter().position(|&l| l == "comm").and_then(|at| labels.get(at));
                if metric.per_operation.is_none() || process.is_some_and(|name| !self.own.contains(name)) {
                    continue;
                }
                let needs = (process.is_none() && compared).then_some(before);
                let per = |side: &[(usize, Cut)]| -> Option<Vec<Cut>> {
                    let work = |run: usize| self.progress.get(run).and_then(Option::as_ref);
                    side.iter().map(|(run, cut)| Some(cut.per_operation(work(*run)?))).collect()
                };
                if let (Some(a), Some(b)) = (per(a), per(b))
                    && (process.is_some() || compared)
                {
                    self.one(
                        &of,
                        Per::Operation,
                        [&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>()],
                        needs,
                    );
                }
            }
        }
        Ok(())
    }

    /// Compares the pace of the workload: by what the runs reported in their windows; where a run of several reported too little, by its
    /// total over its time.
    fn throughput(&mut self, paces: &[Option<Pace>]) -> Vec<Candidate> {
        let Some(table) = self.runs.iter().find_map(|r| r.recording.table("work")) else { return Vec::new() };
        let Some(metric) = query::metric(table, "done") else { return Vec::new() };
        let mut found = Vec::new();
        for [a, b] in self.sides {
            let Some(&run) = b.first() else { continue };
            let single = a.len() == 1 && b.len() == 1;
            let pace = |&run: &usize| -> Option<Pace> {
                let reported = paces.get(run)?.as_ref();
                let enough = |p: &&Pace| single || p.len() >= stats::dependence::SHORTEST;
                let whole = || {
                    let (work, seconds) = throughput::total(self.runs.get(run)?)?;
                    window::is_life(self.windows.get(run)?).then(|| Pace { num: vec![work], den: vec![seconds] })
                };
                reported.filter(enough).cloned().or_else(whole)
            };
            let (a, b): (Vec<_>, Vec<_>) = (a.iter().filter_map(pace).collect(), b.iter().filter_map(pace).collect());
            let (Some(first), Some(second)) = (a.first(), b.first()) else { continue };
            let values = [first.values(), second.values()];
            let of = Of { table, metric: &metric, by: &[], labels: &[], run };
            let series = [&a, &b].map(|side| side.iter().map(Pace::series).collect::<Vec<_>>());
            // Any pace matters, and it has no unit: the least change alone decides.
            let apart = match (series[0].as_slice(), series[1].as_slice()) {
                ([a], [b]) => stats::separation::of_stretches(a, b),
                _ => None,
            };
            let candidate = self.candidate(&of, Per::Second, series, values, 0.0, true);
            found.extend(candidate.map(|c| Candidate { separation: apart, ..c }));
        }
        found
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

    /// Compares one pair of sides. Returns whether it could be compared.
    fn one(&mut self, of: &Of<'_>, per: Per, [a, b]: [&[&Cut]; 2], needs: Option<usize>) -> bool {
        let (Some(first), Some(second)) = (a.first(), b.first()) else { return false };
        let floor = match per {
            Per::Second => floor(of.metric),
            // What matters per second, at the baseline's pace.
            Per::Operation => {
                let work: f64 = a.iter().flat_map(|a| &a.den).sum();
                let seconds: f64 = a.iter().flat_map(|a| &a.times).map(|(from, to)| to - from).sum();
                if work > 0.0 { floor(of.metric) * seconds / work } else { 0.0 }
            }
        };
        let series = [a, b].map(|side| side.iter().map(|cut| cut.series()).collect::<Vec<_>>());
        let values = [first.values(), second.values()];
        let found = self.candidate(of, per, series, values, floor, first.level);
        let compared = found.is_some();
        self.found.extend(found.map(|c| Candidate { needs, ..c }));
        compared
    }

    /// One comparison; `None`, and why, where it cannot be made.
    fn candidate(
        &mut self,
        of: &Of<'_>,
        per: Per,
        [a, b]: [Vec<stats::Series>; 2],
        values: [Vec<f64>; 2],
        floor: f64,
        level: bool,
    ) -> Option<Candidate> {
        let Of { table, metric, by, labels, run } = *of;
        let found = self.comparer.compare(&a, &b, &stats::Options::default());
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
            return None;
        };
        let pairs: BTreeMap<String, String> = by.iter().map(|&l| l.to_owned()).zip(labels.iter().cloned()).collect();
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
            values,
            table: table.name,
            column: intern(metric.name),
            weight: 0.0,
        };
        let separation = match (a.as_slice(), b.as_slice()) {
            ([a], [b]) if !level => stats::separation(a, b),
            _ => None,
        };
        Some(Candidate { difference, statistics: found, separation, floor, needs: None })
    }
}

/// What is compared.
#[derive(Clone, Copy)]
struct Of<'a> {
    table: &'static Table,
    metric: &'a Metric,
    by: &'static [&'static str],
    labels: &'a [String],
    /// The run that the difference is given for.
    run: usize,
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
