//! Compares every metric of every other run with the baseline. See docs/method.md for how it decides.

use crate::cautions::{self, Caution};
use crate::concurrency::{self, Turns};
use crate::difference::listed;
use crate::latency::{self, LATENCY, Latency};
use crate::locks::Lock;
use crate::measured::{Cut, Owned};
use crate::metrics::Metrics;
use crate::not_compared::{NotCompared, gathered};
use crate::phases::{self, Phase, Use};
use crate::throughput::Pace;
use crate::window::{self, Choice};
use crate::work::Progress;
use crate::{Difference, Error, FactDifference, Headline, facts, headline, redundant};
use model::Window;
use query::Run;
use query::concurrency::Concurrency;
use std::collections::BTreeSet;

/// The share of false discoveries that is accepted among the differences listed.
const FALSE_DISCOVERY: f64 = 0.05;

/// The least relative change that is listed, unless told otherwise.
pub const LEAST_CHANGE: f64 = 0.05;

/// The metric of the pace.
pub(crate) const DONE: &str = "work.done";

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
    /// How long requests took, where both sides have it: the busiest services first, those that answered before those that asked.
    pub latency: Vec<Latency>,
    /// Contended locks of the runs, once [`Comparison::find_locks`] has looked for them.
    pub locks: Vec<Lock>,
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
    let owned = Owned::of(runs);
    let Owned { names: own, tables: scoped } = &owned;
    let repeats = if options.repeats < runs.len() { options.repeats } else { 0 };
    // The sides that are compared, each a list of runs.
    let sides: Vec<[Vec<usize>; 2]> = match repeats {
        0 => (1..runs.len()).map(|run| [vec![0], vec![run]]).collect(),
        repeats => vec![[(0..repeats).collect(), (repeats..runs.len()).collect()]],
    };
    let mut metrics = Metrics::new(runs, &sides, &owned, &windows, &progress);
    // One run alone has nothing to be compared with, and its tables can be large.
    if runs.len() > 1 {
        metrics.tables()?;
    }
    let steps: Vec<Option<Cut>> =
        progress.iter().zip(&windows).map(|(p, w)| p.as_ref().map(|p| Cut::of_work(p, w))).collect();
    let paces: Vec<Option<Pace>> =
        runs.iter().zip(&windows).zip(&progress).map(|((run, w), p)| Pace::with(run, w, p.as_ref())).collect();
    let throughput = metrics.throughput(&steps, &paces);
    let Metrics { found, not_compared, names: mut metrics, .. } = metrics;
    if !throughput.is_empty() {
        metrics.insert(DONE.to_owned());
    }
    let latency = latency::of(runs, &windows, &sides, options);
    if !latency.is_empty() {
        metrics.extend(latency::QUANTILES.map(|(name, _)| format!("{LATENCY}{name}")));
    }
    let compared = found.len() + throughput.len() + latency::compared(&latency);
    let mut differences = listed(found, options, own, scoped);
    // The pace is a family of its own, and what all others explain: it stands first.
    differences.extend(listed(throughput, options, own, scoped).into_iter().map(|mut d| {
        d.weight += 1e3;
        d
    }));
    differences.extend(latency::differences(&latency));
    differences.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.metric.cmp(&b.metric)));
    let differences = redundant::without_totals(differences);
    let facts = facts::differences(runs);
    let used: Vec<Option<Use>> = runs.iter().zip(&windows).map(|(run, w)| Use::of(run, w, own)).collect();
    let (mut phases, mut cautions) = (Vec::new(), cautions::failed(runs));
    cautions.extend(self::cautions::fixed_length(runs));
    cautions.extend(self::cautions::servers(runs));
    cautions.extend(self::cautions::recorders(runs, &windows));
    for [a, b] in &sides {
        let first = |side: &[usize]| {
            let run = *side.first()?;
            Some((run, used.get(run)?.as_ref()?))
        };
        if let (Some(a), Some(b)) = (first(a), first(b)) {
            phases.extend(phases::differences([a, b]));
        }
        for caution in cautions::of(runs, &windows, own, [a, b], options.least_change) {
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
        not_compared: gathered(not_compared),
        phases,
        concurrency,
        turns,
        latency,
        locks: Vec::new(),
        cautions,
        repeats,
        compared,
        metrics,
        headline: Headline::default(),
    };
    comparison.headline = headline::of(runs, &comparison, &paces);
    Ok(comparison)
}
