//! One difference: what is said of it, how sure and how large it is, and which of all that were found are listed, in which order.

use crate::Options;
use model::Polarity;
use query::stats;
use query::stats::separation::Separation;
use std::collections::{BTreeMap, BTreeSet};

/// Without an interval that leaves out what is practically the same, a rate is listed where the runs lie this far apart, see
/// [`stats::separation`].
const APART: f64 = 4.0 / 3.0;

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
pub(crate) struct Candidate {
    pub(crate) difference: Difference,
    pub(crate) statistics: stats::Comparison,
    /// How far the runs lie apart; only of rates and ratios. A level may have settled elsewhere for reasons of its own.
    pub(crate) separation: Option<Separation>,
    /// The least difference that anyone would care about.
    pub(crate) floor: f64,
    /// Index of the same comparison per second, without which this one says nothing: per operation, what the system or a neighbour does by
    /// itself grows by the mere fact that the pace falls.
    pub(crate) needs: Option<usize>,
    /// Of something that one side has all the time and the other never, such as a system call: how likely that is to be chance.
    pub(crate) one_sided: Option<f64>,
}

impl Candidate {
    /// Whether it differs by enough, one way or the other.
    fn is_large(&self, least_change: f64) -> bool {
        stats::is_material(&self.statistics, least_change, self.floor) || self.apart().is_some() || self.is_one_sided()
    }

    /// Whether only one side has it, and enough of it to matter.
    fn is_one_sided(&self) -> bool {
        self.one_sided.is_some() && self.difference.difference.abs() >= self.floor
    }

    /// The other way to be sure enough.
    fn apart(&self) -> Option<Separation> {
        self.separation.filter(|s| s.gap >= APART && self.difference.difference.abs() >= self.floor)
    }

    /// The smaller of two p-values, times two because it was chosen (Bonferroni). That of the stretches counts only where they lie apart: the gap is
    /// what stands against dependence longer than a stretch, of which the ranks know nothing.
    fn p(&self) -> f64 {
        if let Some(p) = self.one_sided {
            return p;
        }
        let p = self.statistics.p.unwrap_or(f64::NAN);
        match self.separation {
            None => p,
            Some(_) => (2.0 * self.apart().map_or(p, |s| s.p.min(p))).min(1.0),
        }
    }
}

/// The candidates that are sure and large enough, of one family: the share of false discoveries is that among all of them. `own` are the names
/// of the workload's processes.
pub(crate) fn listed(
    found: Vec<Candidate>,
    options: &Options,
    own: &BTreeSet<String>,
    scoped: &BTreeSet<&'static str>,
) -> Vec<Difference> {
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
    let p: Vec<f64> = found.iter().map(|(c, _)| c.p()).collect();
    // What only one side has is a family of its own: it is not thinned out by the hundreds of metrics that both have.
    let q_of = |is_one_sided: bool| {
        let of = |(c, p): (&(Candidate, bool), &f64)| if c.0.is_one_sided() == is_one_sided { *p } else { f64::NAN };
        stats::fdr::benjamini_hochberg(&found.iter().zip(&p).map(of).collect::<Vec<_>>())
    };
    let q = q_of(false).into_iter().zip(q_of(true)).map(|(both, one)| if both.is_nan() { one } else { both });
    let q: Vec<f64> = q.collect();
    let one = |((mut c, driven), q): ((Candidate, bool), f64)| {
        if !driven || q.is_nan() || q > options.false_discovery {
            return None;
        }
        if !stats::is_material(&c.statistics, options.least_change, c.floor) && !c.is_one_sided() {
            // Its interval takes the place of one that says little, where it is of the change that is told: few and long waits, which
            // make a mean, are hardly in the typical stretch.
            let told = |(low, high): &(f64, f64)| {
                c.difference.change.is_some_and(|change| (*low..=*high).contains(&change))
                    && (*low > 0.0 || *high < 0.0)
            };
            (c.difference.low, c.difference.high) = c.apart()?.change.filter(told).unzip();
        }
        c.difference.q = q;
        c.difference.weight = weight(&c, own, scoped);
        Some(c.difference)
    };
    found.into_iter().zip(q).filter_map(one).collect()
}

/// How far up a difference belongs: the change that is sure, in powers of e and up to sixteenfold, times how many times it passes the floor.
/// What is said of the command itself comes before what is said of the system, and that before what is said of its neighbours.
fn weight(c: &Candidate, own: &BTreeSet<String>, scoped: &BTreeSet<&'static str>) -> f64 {
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
    let (whose, tier) = match d.labels.get("comm") {
        Some(name) if own.contains(name) || scoped.contains(d.table) => (1.5, 0.0),
        // However much they changed.
        Some(_) if !own.is_empty() => (1.0, -1e3),
        _ => (1.0, 0.0),
    };
    // A call that only one side makes says by itself that it does something else: it stands first, below the pace and the latency.
    let first = if c.is_one_sided() && whose > 1.0 && d.unit == "1/s" { ONE_SIDED } else { 0.0 };
    first + tier + sure.clamp(0.0, MOST) * times * polarity * whose
}

/// Weight of what only one side has.
const ONE_SIDED: f64 = 300.0;
