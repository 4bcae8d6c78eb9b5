//! What separates a band from the other hosts, and what does not: metrics, how much they vary, functions, facts, one rule. Bands are found on the
//! even blocks of time; all this is asked of the odd ones.

use crate::loaded::{Fact, Metric, Place};
use crate::statistics::alike::{self, Equal};
use crate::statistics::facts::{self, Facts};
use crate::statistics::rule::{self, Rule};
use crate::statistics::separate::{self, Difference};
use crate::summary::{DONE, WORKLOAD};

/// Work within so much is equal.
const SAME_WORK: f64 = 0.05;

/// Draws are the same each time.
const SEED: u64 = 0x6265_7477_6565_6e21;

/// Which values of a metric a line is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Its means.
    Mean,
    /// Its standard deviations within the recordings: a band can be choppy and no slower.
    Deviation,
}

/// A line of what separates.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Place of the metric among all of the fleet, and which values of it.
    pub metric: (usize, Of),
    /// How it differs.
    pub difference: Difference,
    /// Metrics that move together with it.
    pub with: Vec<(usize, Of)>,
}

/// A function that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceLine {
    /// Place of the function among all of the fleet.
    pub place: usize,
    /// How its own share differs.
    pub difference: Difference,
}

/// What separates one band from the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Separated {
    /// Which, by its place in the order of the banding.
    pub band: usize,
    /// Metrics that differ, those that tell most hosts apart first.
    pub lines: Vec<Line>,
    /// How many lines were tested.
    pub tested: usize,
    /// How many would be listed if bands were drawn at random: no more than this in 95 of 100 draws.
    pub by_chance: usize,
    /// Where too few hosts are there for anything to be listed: how many are needed.
    pub hosts_needed: Option<usize>,
    /// Facts.
    pub facts: Facts,
    /// Functions that differ.
    pub places: Vec<PlaceLine>,
    /// No function's share differs by more than this (0 to 1), and the one that leaves most open; `None` where some differ, or none were sampled.
    pub places_at_most: Option<(f64, usize)>,
    /// The rule that tells the band best.
    pub rule: Option<(Rule, Vec<(usize, Of)>)>,
    /// Whether the work is equal; `None` where that is what the bands are of, or where it is not known.
    pub work: Option<Equal>,
}

/// All that the hosts of a fleet can differ in.
pub struct Material<'a> {
    /// Metrics.
    pub metrics: &'a [Metric],
    /// Facts.
    pub facts: &'a [Fact],
    /// Functions.
    pub places: &'a [Place],
}

/// Says what separates band `band` of those that `of` tells, from all others. `left_out` are the metrics that the bands are made of.
pub fn separated(
    material: &Material<'_>,
    of: &[Option<usize>],
    band: usize,
    left_out: &[usize],
    undecided: &[usize],
) -> Separated {
    let sides = separate::sides(of, band, undecided);
    let is_of_cpu = |metric: &Metric| metric.key.metric.strip_prefix("pmu.").is_some_and(counters::is_of_one_cpu);
    let kinds = material.facts.iter().find(|f| f.name.0 == "pmu" && f.name.1 == "microarchitecture");
    let alike = kinds.is_none_or(|fact| fact.values.len() < 2);
    let mut which: Vec<(usize, Of)> = Vec::new();
    for (at, metric) in material.metrics.iter().enumerate() {
        // What CPUs of different kinds count in different ways does not separate hosts.
        if left_out.contains(&at) || !alike && is_of_cpu(metric) || is_of_host_per_operation(metric) {
            continue;
        }
        which.push((at, Of::Mean));
        which.push((at, Of::Deviation));
    }
    let wide = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
    let values = |of: &(usize, Of), even: bool| -> Vec<f64> {
        let Some(metric) = material.metrics.get(of.0) else { return Vec::new() };
        match of.1 {
            Of::Deviation => wide(&metric.deviation),
            Of::Mean => wide(if even { &metric.even } else { &metric.odd }),
        }
    };
    let odd: Vec<Vec<f64>> = which.iter().map(|of| values(of, false)).collect();
    let slices: Vec<&[f64]> = odd.iter().map(Vec::as_slice).collect();
    let found = separate::metrics(&slices, &sides, SEED);
    let place = |at: usize| which.get(at).copied().unwrap_or((0, Of::Mean));
    let mut lines: Vec<Line> = found
        .listed
        .iter()
        .map(|difference| Line {
            metric: place(difference.metric),
            with: difference.with.iter().map(|at| place(*at)).collect(),
            difference: difference.clone(),
        })
        .collect();
    // What nobody would care about is no line: below the floor of its metric on both sides.
    lines.retain(|line| {
        let floor = material
            .metrics
            .get(line.metric.0)
            .map_or(0.0, |m| if m.key.per_operation { 0.0 } else { m.declared.floor });
        let (one, rest) = line.difference.middles;
        one.abs() >= floor || rest.abs() >= floor
    });
    let means: Vec<(usize, Of)> = which.iter().copied().filter(|of| of.1 == Of::Mean).collect();
    let even: Vec<Vec<f64>> = means.iter().map(|of| values(of, true)).collect();
    // What is the same in both halves, as a deviation, cannot be tried on the other.
    let odd: Vec<&[f64]> = which.iter().zip(&slices).filter(|(of, _)| of.1 == Of::Mean).map(|(_, odd)| *odd).collect();
    let rule = rule::find(&even.iter().map(Vec::as_slice).collect::<Vec<_>>(), &odd, &sides);
    let rule = rule.map(|rule| {
        let metrics = rule.cuts.iter().filter_map(|cut| means.get(cut.metric).copied()).collect();
        (rule, metrics)
    });
    let (places, places_at_most) = places_of(material.places, &sides);
    let work = material.metrics.iter().enumerate().find(|(at, m)| &*m.key.metric == DONE && !left_out.contains(at));
    Separated {
        band,
        lines,
        tested: found.lines,
        by_chance: found.by_chance_high,
        hosts_needed: found.hosts_needed,
        facts: facts_of(material.facts, &sides),
        places,
        places_at_most,
        rule,
        work: work.and_then(|(_, metric)| alike::equal(&metric.mean, &sides, SAME_WORK)),
    }
}

/// What all of a host does per operation of the workload is what it does per second over the pace: it separates hosts wherever the pace does.
pub(crate) fn is_of_host_per_operation(metric: &Metric) -> bool {
    metric.key.per_operation && !metric.key.labels.contains("\"comm\":") && !metric.key.metric.starts_with(WORKLOAD)
}

fn places_of(places: &[Place], sides: &[Option<bool>]) -> (Vec<PlaceLine>, Option<(f64, usize)>) {
    // Own shares alone: a caller's total moves with what it calls, and would be listed for it.
    let own: Vec<Vec<f64>> = places.iter().map(|place| place.own.iter().map(|v| f64::from(*v)).collect()).collect();
    let slices: Vec<&[f64]> = own.iter().map(Vec::as_slice).collect();
    if slices.is_empty() {
        return (Vec::new(), None);
    }
    let found = separate::metrics(&slices, sides, SEED);
    let lines: Vec<PlaceLine> = found
        .listed
        .iter()
        .map(|difference| PlaceLine { place: difference.metric, difference: difference.clone() })
        .collect();
    let at_most = alike::at_most(&slices, sides, true).filter(|_| lines.is_empty());
    (lines, at_most.map(|most| (most.by, most.metric)))
}

fn facts_of(all: &[Fact], sides: &[Option<bool>]) -> Facts {
    let values: Vec<Vec<Option<&str>>> = all
        .iter()
        .map(|fact| fact.of.iter().map(|v| fact.values.get(*v as usize).map(String::as_str)).collect())
        .collect();
    let names: Vec<String> = all.iter().map(|fact| format!("{}.{}", fact.name.0, fact.name.1)).collect();
    let asked: Vec<facts::Fact<'_>> =
        names.iter().zip(&values).map(|(name, values)| facts::Fact { name, values }).collect();
    facts::facts(&asked, sides, SEED)
}
