//! What there is to compare: every metric of every table, in each of its groupings, cut to the windows. A comparison walks this list with the
//! runs of its sides, the summary of a recording with that one run, so that both speak of the same metrics.

use crate::not_compared::{NotCompared, why_missing};
use crate::throughput::Pace;
use crate::work::Progress;
use crate::{Error, MOST_TICKS, counted, own, window};
use model::{Compare, Table, Window};
use query::series::{Grid, Series};
use query::{Metric, Run, fields, stats};
use std::collections::{BTreeMap, BTreeSet};
use store::{Frame, Select};

/// A metric in one of its groupings.
pub struct Measured<'a> {
    /// The table it is of.
    pub table: &'static Table,
    /// The metric.
    pub metric: &'a Metric,
    /// The labels that tell its groups apart.
    pub by: &'static [&'static str],
    /// Its groups in any of the runs, each by the values of these labels.
    pub groups: Vec<Vec<String>>,
    /// Of these, those of services that have another port in another run: the port says nothing of them, their name does.
    moved: Vec<Vec<String>>,
    /// The series of each run, in the order of the runs; `None` where its table was not recorded.
    grids: Vec<Option<Grid>>,
}

/// The series of a group of one run, cut to its window.
#[derive(Clone, Debug)]
pub struct Cut {
    num: Vec<f64>,
    den: Vec<f64>,
    times: Vec<(f64, f64)>,
    /// Whether it is a level: true at the time of a reading, not over the time between two.
    pub level: bool,
}

/// Whose a process is: names that belong to the workload, and tables that hold nothing but the workload's threads.
#[derive(Clone, Debug, Default)]
pub struct Owned {
    /// Names of processes that belong to the workloads, see [`own::names`].
    pub names: BTreeSet<String>,
    /// Names of tables with the workload's threads only, see [`own::scoped`].
    pub tables: BTreeSet<&'static str>,
}

impl Owned {
    /// Of these runs taken together.
    pub fn of(runs: &[Run]) -> Owned {
        Owned { names: own::names(runs), tables: own::scoped(runs) }
    }
}

/// Hands each metric in each grouping to `visit`, table by table. What cannot be compared between these runs comes back, with why.
///
/// # Errors
/// That of `visit`, and where a table does not hold what its own declaration says.
pub fn walk(
    runs: &[Run],
    windows: &[Window],
    mut visit: impl FnMut(&Measured<'_>) -> Result<(), Error>,
) -> Result<Vec<NotCompared>, Error> {
    let mut left_out = Vec::new();
    let mut names: Vec<&'static str> = Vec::new();
    for (_, table) in runs.iter().flat_map(|run| run.recording.tables()) {
        if !names.contains(&table.name) {
            names.push(table.name);
        }
    }
    for name in names {
        let Some(table) = runs.iter().find_map(|r| r.recording.table(name)) else { continue };
        let frames = frames(runs, windows, table, &mut left_out);
        let mut metrics: Vec<Metric> = Vec::new();
        for metric in frames.iter().flatten().flat_map(fields) {
            if !metrics.iter().any(|m| m.name == metric.name) {
                metrics.push(metric);
            }
        }
        metrics.retain(|metric| !matches!(metric.compare, Compare::Never | Compare::Equality));
        for metric in &metrics {
            if table.name == "pmu" && counters::is_of_one_cpu(metric.name) && !counted::are_alike(runs) {
                let why = "other CPUs count it in another way: look at both sides by themselves (query, or the page)";
                left_out.push(NotCompared { what: metric.full_name(), why: why.into() });
                continue;
            }
            for &by in table.groups {
                visit(&Measured::new(table, metric, by, &frames)?)?;
            }
        }
    }
    Ok(left_out)
}

/// What each run has of a table in its window; nothing of tables that are not compared.
fn frames(runs: &[Run], windows: &[Window], table: &Table, left_out: &mut Vec<NotCompared>) -> Vec<Option<Frame>> {
    let is_compared = table.values().any(|c| c.compare != Compare::Never && c.compare != Compare::Equality);
    // The pace has a family of its own, see `throughput`.
    if table.name == "work" || table.groups.is_empty() || table.events || !is_compared && table.derived.is_empty() {
        return Vec::new();
    }
    let load = |(run, window): (&Run, &Window)| {
        let between = Some((window.from, window.to));
        let select = Select { between, most_ticks: MOST_TICKS, ..Select::default() };
        run.recording.load(table.name, &select).filter(|f| !f.ticks.is_empty())
    };
    let frames: Vec<Option<Frame>> = runs.iter().zip(windows).map(load).collect();
    if frames.iter().any(Option::is_some) {
        for (run, _) in runs.iter().zip(&frames).filter(|(_, frame)| frame.is_none()) {
            let why = format!("not recorded in {}: {}", run.name, why_missing(run, table.name));
            left_out.push(NotCompared { what: table.name.into(), why });
        }
    }
    frames
}

/// The label by which a service of one run is found in another, unless it is there under its name alone.
const PORT: &str = "port";

/// Gives what one run has on a port the port that it has in the first run, where it is the only one of its name that is on another, as the
/// latency of services is matched ([`crate::latency`]). Returns the labels of those.
fn match_ports(by: &[&str], grids: &mut [Option<Grid>]) -> Vec<Vec<String>> {
    let mut moved: Vec<Vec<String>> = Vec::new();
    let Some(at) = by.iter().position(|name| *name == PORT).filter(|_| by.contains(&"comm")) else { return moved };
    let mut all = grids.iter_mut().flatten();
    let Some(first) = all.next() else { return moved };
    let known: Vec<Vec<String>> = first.series.iter().map(|series| series.labels.clone()).collect();
    let name = |labels: &[String]| {
        labels.iter().enumerate().filter(|(label, _)| *label != at).map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    for grid in all {
        let here: Vec<Vec<String>> = grid.series.iter().map(|series| series.labels.clone()).collect();
        let gone: Vec<&Vec<String>> = known.iter().filter(|labels| !here.contains(labels)).collect();
        let new: Vec<&Vec<String>> = here.iter().filter(|labels| !known.contains(labels)).collect();
        for series in &mut grid.series {
            let wanted = name(&series.labels);
            let of_name = |of: &[&Vec<String>]| {
                let mut those = of.iter().filter(|labels| name(labels) == wanted).map(|labels| (*labels).clone());
                those.next().filter(|_| those.next().is_none())
            };
            if new.contains(&&series.labels)
                && let (Some(before), Some(_)) = (of_name(&gone), of_name(&new))
            {
                series.labels.clone_from(&before);
                if !moved.contains(&before) {
                    moved.push(before);
                }
            }
        }
    }
    moved
}

impl<'a> Measured<'a> {
    fn new(
        table: &'static Table,
        metric: &'a Metric,
        by: &'static [&'static str],
        frames: &[Option<Frame>],
    ) -> Result<Self, Error> {
        let grid = |frame: &Frame| Grid::new(frame, metric, by, None);
        let mut grids: Vec<Option<Grid>> =
            frames.iter().map(|frame| frame.as_ref().map(grid).transpose()).collect::<Result<_, _>>()?;
        let moved = match_ports(by, &mut grids);
        let mut groups: Vec<Vec<String>> = Vec::new();
        for series in grids.iter().flatten().flat_map(|g| &g.series) {
            if !groups.contains(&series.labels) {
                groups.push(series.labels.clone());
            }
        }
        Ok(Measured { table, metric, by, groups, moved, grids })
    }

    /// The labels of a group by name, without a port that is another in another run.
    pub fn named(&self, labels: &[String]) -> BTreeMap<String, String> {
        let is_moved = self.moved.iter().any(|moved| moved == labels);
        let pairs = self.by.iter().zip(labels).filter(|(name, _)| !(is_moved && **name == PORT));
        pairs.map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    /// The part of a group's series that lies in the window of a run. An entity that was never there in a table that was read used nothing.
    pub fn cut(&self, run: usize, labels: &[String], window: &Window) -> Option<Cut> {
        let grid = self.grids.get(run)?.as_ref()?;
        let range = window::steady(grid, window);
        let times = range.clone().filter_map(|i| Some((*grid.from.get(i)?, *grid.to.get(i)?))).collect();
        match grid.series.iter().find(|s: &&Series| s.labels == labels) {
            Some(series) => {
                let (num, den) = range.clone().map(|i| (series.num(i), series.den(i))).unzip();
                Some(Cut { num, den, times, level: grid.metric.is_level() })
            }
            None if grid.metric.is_rate() => {
                let den: Vec<f64> = range.clone().filter_map(|i| Some(*grid.to.get(i)? - *grid.from.get(i)?)).collect();
                Some(Cut { num: vec![0.0; den.len()], den, times, level: false })
            }
            None => None,
        }
    }

    /// The name of the process that a group is of, where its grouping tells.
    pub fn process<'g>(&self, labels: &'g [String]) -> Option<&'g String> {
        self.by.iter().position(|&l| l == "comm").and_then(|at| labels.get(at))
    }

    /// Whether a group can be given per operation of the workload: what a neighbour uses is not for its operations.
    pub fn is_per_operation(&self, labels: &[String], owned: &Owned) -> bool {
        let is_own = |name: &String| owned.names.contains(name) || owned.tables.contains(self.table.name);
        self.metric.per_operation.is_some() && self.process(labels).is_none_or(is_own)
    }
}

impl Cut {
    /// The work that a run reported within its window, over the seconds between two reports. The stretches that hold the start and the end of a
    /// command are left out where enough others are there: they are no part of its steady state, by which the interval of a change is judged.
    pub fn of_work(progress: &Progress, window: &Window) -> Cut {
        let ns = |seconds: f64| (seconds * 1e9).round() as i64;
        let mut steps: Vec<_> = progress.steps().filter(|s| window.part(ns(s.from), ns(s.to)) >= 0.5).collect();
        if window::is_life(window) && steps.len() >= 8 {
            steps.pop();
            steps.remove(0);
        }
        Cut {
            num: steps.iter().map(|s| s.done).collect(),
            den: steps.iter().map(|s| s.to - s.from).collect(),
            times: steps.iter().map(|s| (s.from, s.to)).collect(),
            level: false,
        }
    }

    /// The groups of a rate that are wanted, added up: over the steady part of the window as all metrics are. One that was not there used nothing.
    pub fn sum(grid: &Grid, window: &Window, wanted: impl Fn(&[String]) -> bool) -> Cut {
        let range = window::steady(grid, window);
        let times: Vec<(f64, f64)> =
            range.clone().filter_map(|i| Some((*grid.from.get(i)?, *grid.to.get(i)?))).collect();
        let mut num = vec![0.0; times.len()];
        for series in grid.series.iter().filter(|series| wanted(&series.labels)) {
            for (sum, i) in num.iter_mut().zip(range.clone()) {
                let one = series.num(i);
                *sum += if one.is_finite() { one } else { 0.0 };
            }
        }
        Cut { num, den: times.iter().map(|(from, to)| to - from).collect(), times, level: false }
    }

    /// The whole of a window, of which too little was reported to say how its pace varied.
    pub fn of_pace(pace: Pace, window: &Window) -> Cut {
        let times = vec![(window.from as f64 / 1e9, window.to as f64 / 1e9)];
        Cut { num: vec![pace.work], den: vec![pace.seconds], times, level: false }
    }

    /// What two rates over the same intervals come to together.
    #[must_use]
    pub fn plus(mut self, other: &Cut) -> Cut {
        self.num.iter_mut().zip(&other.num).for_each(|(sum, more)| *sum += more);
        self
    }

    /// How many intervals there are.
    pub fn len(&self) -> usize {
        self.num.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.num.is_empty()
    }

    /// What its statistics are of.
    pub fn series(&self) -> stats::Series {
        stats::Series::ratio(&self.num, &self.den)
    }

    /// The value of each interval; NaN where there is none.
    pub fn values(&self) -> Vec<f64> {
        self.num.iter().zip(&self.den).map(|(n, d)| if *d > 0.0 { n / d } else { f64::NAN }).collect()
    }

    /// Numerators, by interval.
    pub fn num(&self) -> &[f64] {
        &self.num
    }

    /// What they are divided by: seconds, readings, or operations.
    pub fn den(&self) -> &[f64] {
        &self.den
    }

    /// From when to when each interval lasted, seconds since the start of the recording.
    pub fn times(&self) -> &[(f64, f64)] {
        &self.times
    }

    /// The same numerators over the work done in each interval.
    pub fn per_operation(&self, work: &Progress) -> Cut {
        let done = |(&(from, to), n): (&(f64, f64), &f64)| if n.is_finite() { work.between(from, to) } else { 0.0 };
        let den = self.times.iter().zip(&self.num).map(done).collect();
        Cut { num: self.num.clone(), den, times: self.times.clone(), level: self.level }
    }
}

/// The least difference that anyone would care about, per second: what the metric says of itself, else by its unit.
pub fn floor(metric: &Metric) -> f64 {
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
