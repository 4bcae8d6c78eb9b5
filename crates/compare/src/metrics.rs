//! Every metric of every table, in each of its groupings, compared for each pair of sides. What there is to compare, `measured` says; what of
//! it is listed, `difference` decides.

use crate::difference::{Candidate, Difference, Per};
use crate::measured::{self, Cut, Measured, Owned, floor};
use crate::not_compared::NotCompared;
use crate::throughput::Pace;
use crate::work::Progress;
use crate::{Error, own, window};
use model::{Table, Window, intern};
use query::stats::{self, Comparer};
use query::{Metric, Run};
use std::collections::{BTreeMap, BTreeSet};

/// What is compared, and what was found so far.
pub(crate) struct Metrics<'a> {
    runs: &'a [Run],
    /// Each pair of sides.
    sides: &'a [[Vec<usize>; 2]],
    owned: &'a Owned,
    windows: &'a [Window],
    progress: &'a [Option<Progress>],
    comparer: Comparer,
    pub(crate) found: Vec<Candidate>,
    pub(crate) not_compared: Vec<NotCompared>,
    /// Full names of the metrics that were compared.
    pub(crate) names: BTreeSet<String>,
}

impl<'a> Metrics<'a> {
    pub(crate) fn new(
        runs: &'a [Run],
        sides: &'a [[Vec<usize>; 2]],
        owned: &'a Owned,
        windows: &'a [Window],
        progress: &'a [Option<Progress>],
    ) -> Self {
        Metrics {
            runs,
            sides,
            owned,
            windows,
            progress,
            comparer: Comparer::new(),
            found: Vec::new(),
            not_compared: Vec::new(),
            names: BTreeSet::new(),
        }
    }

    /// Compares all metrics of all tables that any of the runs has.
    pub(crate) fn tables(&mut self) -> Result<(), Error> {
        let left_out = measured::walk(self.runs, self.windows, |of| {
            self.metric(of);
            Ok(())
        })?;
        self.not_compared.extend(left_out);
        Ok(())
    }

    /// Compares one metric at one grouping.
    fn metric(&mut self, of: &Measured<'_>) {
        let name = of.metric.full_name();
        for sides in self.sides {
            let cut = |side: &[usize], labels: &[String]| -> Vec<(usize, Cut)> {
                let one = |&run: &usize| Some((run, of.cut(run, labels, self.windows.get(run)?)?));
                side.iter().filter_map(one).collect()
            };
            let cuts: Vec<_> = of.groups.iter().map(|labels| sides.each_ref().map(|side| cut(side, labels))).collect();
            for (labels, [a, b]) in of.groups.iter().zip(&cuts) {
                let Some(run) = b.first().map(|b| b.0).filter(|_| !a.is_empty()) else { continue };
                fn plain(side: &[(usize, Cut)]) -> Vec<&Cut> {
                    side.iter().map(|s| &s.1).collect()
                }
                let named = of.named(labels);
                let one = Of { table: of.table, metric: of.metric, labels: &named, run };
                let before = self.found.len();
                let compared = self.one(&one, Per::Second, [&plain(a), &plain(b)], None);
                if compared {
                    self.names.insert(name.clone());
                }
                if !of.is_per_operation(labels, self.owned) {
                    continue;
                }
                // What the system does is for the operations only where it grows by itself.
                let process = of.process(labels);
                let waits = own::is_waiting(&name, of.by, labels);
                let needs = ((process.is_none() || waits) && compared).then_some(before);
                let per = |side: &[(usize, Cut)]| -> Option<Vec<Cut>> {
                    let work = |run: usize| self.progress.get(run).and_then(Option::as_ref);
                    side.iter().map(|(run, cut)| Some(cut.per_operation(work(*run)?))).collect()
                };
                if let (Some(a), Some(b)) = (per(a), per(b))
                    && (process.is_some() || compared)
                {
                    let sides = [&a.iter().collect::<Vec<_>>()[..], &b.iter().collect::<Vec<_>>()[..]];
                    self.one(&one, Per::Operation, sides, needs);
                }
            }
        }
    }

    /// Compares the pace of the workload. How sure the change is, what the runs reported in their windows tells, report by report; where a
    /// run of several reported too little, its pace as a whole. How large it is, is the sides' [`Pace`].
    pub(crate) fn throughput(&mut self, steps: &[Option<Cut>], paces: &[Option<Pace>]) -> Vec<Candidate> {
        let Some(table) = self.runs.iter().find_map(|r| r.recording.table("work")) else { return Vec::new() };
        let Some(metric) = query::metric(table, "done") else { return Vec::new() };
        let mut found = Vec::new();
        for [a, b] in self.sides {
            let Some(&run) = b.first() else { continue };
            let single = a.len() == 1 && b.len() == 1;
            let of_run = |run: usize| paces.get(run).copied().flatten();
            let of = |&run: &usize| -> Option<Cut> {
                let (reported, window) = (steps.get(run)?.as_ref(), self.windows.get(run)?);
                let enough = |s: &&Cut| single || s.len() >= stats::dependence::SHORTEST;
                let whole = || of_run(run).filter(|_| window::is_life(window));
                reported.filter(enough).cloned().or_else(|| whole().map(|pace| Cut::of_pace(pace, window)))
            };
            let side = |side: &[usize]| Pace::sum(side.iter().map(|run| of_run(*run))).map(Pace::rate);
            let rates = side(a).zip(side(b)).filter(|(a, b)| *a > 0.0 && *b > 0.0);
            let (a, b): (Vec<_>, Vec<_>) = (a.iter().filter_map(of).collect(), b.iter().filter_map(of).collect());
            let (Some(first), Some(second)) = (a.first(), b.first()) else { continue };
            let values = [first.values(), second.values()];
            let of = Of { table, metric: &metric, labels: &BTreeMap::new(), run };
            let series = [&a, &b].map(|side| side.iter().map(Cut::series).collect::<Vec<_>>());
            // Any pace matters, and it has no unit: the least change alone decides.
            let apart = match (series[0].as_slice(), series[1].as_slice()) {
                ([a], [b]) => stats::separation::of_stretches(a, b),
                _ => None,
            };
            let mut candidate = self.candidate(&of, Per::Second, series, values, 0.0, true);
            if let (Some(c), Some((baseline, other))) = (candidate.as_mut(), rates) {
                let (d, change) = (&mut c.difference, other / baseline - 1.0);
                (d.baseline, d.other, d.difference, d.change) = (baseline, other, other - baseline, Some(change));
                // The ends of a command's life are in the change and not in the steady state that its interval is of.
                (d.low, d.high) = (d.low.map(|low| low.min(change)), d.high.map(|high| high.max(change)));
            }
            found.extend(candidate.map(|c| Candidate { separation: apart, ..c }));
        }
        found
    }

    /// Compares one pair of sides. Returns whether it could be compared.
    fn one(&mut self, of: &Of<'_>, per: Per, [a, b]: [&[&Cut]; 2], needs: Option<usize>) -> bool {
        let (Some(first), Some(second)) = (a.first(), b.first()) else { return false };
        let floor = match per {
            Per::Second => floor(of.metric),
            // What matters per second, at the baseline's pace.
            Per::Operation => {
                let work: f64 = a.iter().flat_map(|a| a.den()).sum();
                let seconds: f64 = a.iter().flat_map(|a| a.times()).map(|(from, to)| to - from).sum();
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
        let Of { table, metric, labels, run } = *of;
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
                let what = shown(&metric.full_name(), labels);
                self.not_compared.push(NotCompared { what, why: why.to_string() });
            }
            return None;
        };
        let difference = Difference {
            metric: metric.full_name(),
            query: sql(self.runs, run, metric, labels),
            labels: labels.clone(),
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
        // Neighbours come and go.
        let is_own = |comm: &String| self.owned.names.contains(comm) || self.owned.tables.contains(table.name);
        let may_be = metric.is_rate() && per == Per::Second && difference.labels.get("comm").is_none_or(is_own);
        let one_sided = if may_be { one_sided(&a, &b) } else { None };
        let separation = match (a.as_slice(), b.as_slice()) {
            ([a], [b]) if !level => stats::separation(a, b),
            _ => None,
        };
        Some(Candidate { difference, statistics: found, separation, floor, needs: None, one_sided })
    }
}

/// What one side has is there in this part of its samples.
const ALL_THE_TIME: f64 = 0.8;

/// How likely it is to be chance that one side has something all the time and the other never, where that is so: all samples of one
/// side are apart from all of the other. Unlike a level, what a side never did has no slow drift that could explain it.
fn one_sided(a: &[stats::Series], b: &[stats::Series]) -> Option<f64> {
    let counts = |side: &[stats::Series]| {
        let values = side.iter().flat_map(|series| series.points().0);
        values.fold((0u64, 0u64), |(all, there), value| (all + 1, there + u64::from(value != 0.0)))
    };
    let ((n, mine), (m, theirs)) = (counts(a), counts(b));
    let is_never = |n: u64, there: u64| n >= stats::dependence::SHORTEST as u64 && there == 0;
    let is_always = |n: u64, there: u64| n > 0 && there as f64 >= ALL_THE_TIME * n as f64;
    let is_one_sided = is_never(n, mine) && is_always(m, theirs) || is_never(m, theirs) && is_always(n, mine);
    is_one_sided.then(|| 2.0 * (-stats::special::ln_choose(n + m, n)).exp())
}

/// What is compared.
#[derive(Clone, Copy)]
struct Of<'a> {
    table: &'static Table,
    metric: &'a Metric,
    /// Which group: its labels by name.
    labels: &'a BTreeMap<String, String>,
    /// The run that the difference is given for.
    run: usize,
}

fn shown(metric: &str, labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return metric.to_owned();
    }
    let pairs: Vec<String> = labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
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
