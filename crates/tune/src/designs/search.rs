//! A search: the highest rate at which all limits are met, of each variant, in turn.
//!
//! Doubling, four halvings, and from then on up and down around the limit: up by 3 % after a trial that met all limits, down
//! by 3 % after one that did not (Dixon and Mood, "A method for obtaining and analyzing sensitivity data", JASA 43, 1948). A
//! bisection that goes on believes each of its trials for good, and stays where a noisy one has led it; this comes back.
//!
//! Each of the later trials tells a limit by itself: by the curve of latency over rate, the rate at which it would just have
//! met its limit ([`Curve`]). The estimate is made of these. Of two variants in one block both are told under the same mood of
//! the machine, so their ratio is that of pairs, as in the other designs.

use crate::Session;
use crate::blocks::Slot;
use crate::event::Outcome;
use crate::judge::{Rule, Verdict};
use crate::measure::Limit;
use crate::space::Set;
use crate::stage::{Comparison, Kind, Stage};
use query::stats::dependence::{Dependence, SHORTEST};
use query::stats::quantile::quantile;
use query::stats::special::t_critical;
use serde::{Deserialize, Serialize};

/// Halvings, as of a bisection, between a rate that met the limits and one that did not.
const HALVINGS: usize = 4;
/// Steps around the limit, as shares: the first few, and those after.
const FIRST_STEPS: (usize, f64) = (4, 0.06);
const STEP: f64 = 0.03;
/// After so many steps in one direction they are doubled, and again with each more: the halvings were misled.
const ASTRAY: usize = 3;
const MOST_STEP: f64 = 0.25;
/// The first rate is halved so often before it is said that none meets the limits.
const DOWN: i32 = 6;
/// After so many trials in a row that met the limits at the highest rate that may be asked for, it is given up.
const AT_THE_TOP: usize = 3;
/// So much of the asked rate must be done.
const REACHED: f64 = 0.99;
/// Each variant has so many trials around its limit, whatever is known by then.
const LEAST: usize = 8;

/// What is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Searched {
    /// The parameter that is the rate.
    pub parameter: String,
    /// Where it begins.
    pub from: f64,
    /// The most that is asked for.
    pub to: f64,
    /// What has to hold, all of it.
    pub limits: Vec<Bound>,
    /// The measure that tells which rate was reached: 99 % of what was asked for has to be.
    pub reached: Option<usize>,
}

/// A limit of a measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// Which measure.
    pub measure: usize,
    /// What has to hold of it.
    pub limit: Limit,
}

/// What a trial broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broke {
    /// A limit, by its place in [`Searched::limits`].
    Limit(usize),
    /// It did less than 99 % of what was asked for.
    Rate,
    /// It failed.
    Failed,
}

impl Searched {
    /// What this outcome broke at this rate; `None` where all is met.
    fn broke(&self, rate: f64, outcome: &Outcome) -> Option<Broke> {
        if !matches!(outcome, Outcome::Measured(_)) {
            return Some(Broke::Failed);
        }
        let holds = |of: &Bound| outcome.value(of.measure).is_some_and(|x| of.limit.holds(x));
        if let Some(at) = self.limits.iter().position(|of| !holds(of)) {
            return Some(Broke::Limit(at));
        }
        let reached = self.reached.is_none_or(|m| outcome.value(m).is_some_and(|x| x >= REACHED * rate));
        (!reached).then_some(Broke::Rate)
    }

    /// A rate as it is put in, with three digits at least.
    fn text(rate: f64) -> String {
        if rate >= 1000.0 {
            format!("{rate:.0}")
        } else {
            format!("{rate:.*}", 3 - rate.log10().floor().max(0.0) as usize)
        }
    }

    /// What this asks for, as a trial's values.
    fn set(&self, rate: f64) -> Set {
        Set::from([(self.parameter.clone(), Searched::text(rate))])
    }
}

/// A measured trial of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Its block.
    pub block: usize,
    /// Its number in the session.
    pub trial: usize,
    /// The rate that was asked for.
    pub rate: f64,
    /// What it broke; `None` where all limits were met.
    pub broke: Option<Broke>,
    /// Whether it was a step around the limit, after the halvings: of these the estimate is made.
    pub around: bool,
    outcome: Outcome,
}

/// Where a variant's search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// It asks for this rate.
    Rate(f64),
    /// It met its limits at the highest rate that may be asked for.
    AtLeast(f64),
    /// It did not meet them even here.
    Below(f64),
}

/// The search of one variant, told trial by trial.
#[derive(Clone, Debug, Default)]
struct Walk {
    /// The highest rate so far that met the limits, and the lowest that did not.
    met: Option<f64>,
    broken: Option<f64>,
    halvings: usize,
    /// The next rate around the limit, once that is known.
    around: Option<f64>,
    /// Steps around the limit, and how many of the last went in one direction.
    steps: usize,
    up: bool,
    run: usize,
    top: usize,
}

impl Walk {
    fn next(&self, of: &Searched) -> Next {
        if self.top >= AT_THE_TOP {
            return Next::AtLeast(of.to);
        }
        match (self.around, self.met, self.broken) {
            (Some(rate), ..) => Next::Rate(rate),
            (_, None, None) => Next::Rate(of.from),
            (_, Some(met), None) => Next::Rate((met * 2.0).min(of.to)),
            (_, Some(met), Some(broken)) => Next::Rate((met * broken).sqrt()),
            (_, None, Some(broken)) if broken > of.from * 0.5f64.powi(DOWN) * 1.01 => Next::Rate(broken / 2.0),
            (_, None, Some(broken)) => Next::Below(broken),
        }
    }

    /// A trial at the rate that was next.
    fn tell(&mut self, of: &Searched, met: bool) {
        let Next::Rate(rate) = self.next(of) else { return };
        self.top = if met && rate >= of.to { self.top + 1 } else { 0 };
        if self.around.is_some() {
            self.run = if self.up == met { self.run + 1 } else { 1 };
            self.up = met;
            let step = if self.steps < FIRST_STEPS.0 { FIRST_STEPS.1 } else { STEP };
            let more = 2f64.powi(self.run.saturating_sub(ASTRAY).min(8) as i32);
            let step = 1.0 + (step * more).min(MOST_STEP);
            self.steps += 1;
            self.around = Some(if met { (rate * step).min(of.to) } else { rate / step });
            return;
        }
        let halved = self.met.is_some() && self.broken.is_some();
        self.halvings += usize::from(halved);
        if met {
            self.met = Some(rate);
        } else {
            self.broken = Some(rate);
        }
        self.around = match (self.met, self.broken) {
            (Some(met), Some(broken)) if self.halvings >= HALVINGS => Some((met * broken).sqrt()),
            (Some(met), None) if met >= of.to => Some(of.to),
            _ => None,
        };
    }
}

/// What was tried of a variant, and where its search is.
fn walked(stage: &Stage, of: &Searched, variant: usize) -> (Vec<Tried>, Next) {
    let mut walk = Walk::default();
    let mut tried = Vec::new();
    for (block, all) in stage.series.blocks.iter().enumerate() {
        let mine = |(slot, _): &(&Slot, &(usize, Outcome))| slot.variant == variant && !slot.explained;
        let Some((slot, (trial, outcome))) = all.order.iter().zip(&all.trials).find(mine) else { continue };
        let rate = slot.set.get(&of.parameter).and_then(|text| text.parse::<f64>().ok());
        let Some(rate) = rate.filter(|rate| *rate > 0.0) else { continue };
        let broke = of.broke(rate, outcome);
        let around = walk.around.is_some();
        tried.push(Tried { block, trial: *trial, rate, broke, around, outcome: outcome.clone() });
        walk.tell(of, broke.is_none());
    }
    (tried, walk.next(of))
}

/// The curve of latency over rate near the limit, as of a queue: L = S ÷ (1 − r ÷ C), with S what a request takes when nobody
/// waits, and C the capacity (M/M/1; Kleinrock, "Queueing systems" 1, 1975, ch. 3.2). A server is no M/M/1, but near the limit
/// one number is all that is needed, and that is taken from the trials: S is the one with which they agree best on C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// The measure that it is of.
    pub measure: usize,
    /// Its limit.
    pub limit: f64,
    /// S, in the measure's unit.
    pub service: f64,
}

/// Trials above this many times the limit say that it was overloaded, and no more.
const OVERLOADED: f64 = 20.0;

impl Curve {
    /// That of the limit which is broken most often, where it is an upper limit of a positive number. `None` where it is not: of
    /// failures, and of rates that are not reached, there is no curve.
    ///
    /// One for all variants, each with a capacity of its own: what is wrong with it is then the same for all, and falls out of
    /// their ratios.
    fn of(stage: &Stage, of: &Searched) -> Option<Curve> {
        let all: Vec<Vec<Tried>> = stage.variants.iter().map(|v| walked(stage, of, *v).0).collect();
        let tried = || all.iter().flatten();
        let breaks = |what: Broke| tried().filter(|t| t.broke == Some(what)).count();
        let others = breaks(Broke::Failed) + breaks(Broke::Rate);
        let most = (0..of.limits.len()).max_by_key(|at| (breaks(Broke::Limit(*at)), std::cmp::Reverse(*at)))?;
        let bound = of.limits.get(most)?;
        let limit = bound.limit.at_most().filter(|limit| *limit > 0.0)?;
        if breaks(Broke::Limit(most)) == 0 || others > breaks(Broke::Limit(most)) {
            return None;
        }
        let shares: Vec<f64> = all.iter().flat_map(|tried| Curve::shares(tried, bound.measure, limit)).collect();
        let share = quantile(&shares, &vec![1.0; shares.len()], 0.5).unwrap_or(SHARE);
        Some(Curve { measure: bound.measure, limit, service: limit * share.clamp(SHARES[0], SHARES[1]) })
    }

    /// S as a part of the limit, as each trial tells it that asked for clearly less than the limit: with y its latency by that
    /// of the limit and ρ its rate by that of the limit, S is y (1 − ρ) ÷ (1 − y ρ) of it.
    fn shares(tried: &[Tried], measure: usize, limit: f64) -> Vec<f64> {
        let around: Vec<f64> = tried.iter().filter(|t| t.around).map(|t| t.rate.ln()).collect();
        if around.is_empty() {
            return Vec::new();
        }
        let at = (around.iter().sum::<f64>() / around.len() as f64).exp();
        let of = |t: &Tried| {
            let (y, rho) = (t.outcome.value(measure)? / limit, t.rate / at);
            (LIGHT.contains(&rho) && y > 0.0 && y < 1.0).then(|| y * (1.0 - rho) / (1.0 - y * rho))
        };
        tried.iter().filter_map(of).collect()
    }

    fn value(&self, t: &Tried) -> Option<f64> {
        t.outcome.value(self.measure).filter(|x| *x > 0.0)
    }

    /// The logarithm of the rate at which this trial would just have met the limit.
    fn told(&self, t: &Tried) -> f64 {
        let free = |latency: f64| (1.0 - self.service / latency).ln();
        // Where nobody waited, how far the limit is cannot be told but by some factor.
        let least = self.service + (self.limit - self.service) / 4.0;
        let latency = self.value(t).unwrap_or(f64::INFINITY).clamp(least, OVERLOADED * self.limit);
        t.rate.ln() - free(latency) + free(self.limit)
    }

    /// The latency at a rate, where the limit is met at `limit`.
    pub fn at(&self, rate: f64, limit: f64) -> f64 {
        let capacity = limit / (1.0 - self.service / self.limit);
        if rate < capacity { self.service / (1.0 - rate / capacity) } else { f64::INFINITY }
    }
}

/// Rates by that of the limit at which S shows, and parts of the limit that it can be; which one where no trial tells.
const LIGHT: std::ops::Range<f64> = 0.2..0.75;
const SHARES: [f64; 2] = [0.02, 0.6];
const SHARE: f64 = 0.3;

/// The logarithms of the rates that each trial around the limit tells, by block.
fn told(stage: &Stage, of: &Searched, variant: usize) -> Vec<(usize, f64)> {
    let (tried, _) = walked(stage, of, variant);
    let curve = Curve::of(stage, of);
    // Without a curve the rates themselves lie around the limit.
    let told = |t: &Tried| (t.block, curve.map_or(t.rate.ln(), |curve| curve.told(t)));
    tried.iter().filter(|t| t.around).map(told).collect()
}

/// ln(variant ÷ against) of the blocks in which both went up and down around their limits.
pub(crate) fn pairs(stage: &Stage, of: &Searched, variant: usize, against: usize) -> Vec<(usize, f64, f64)> {
    let others = told(stage, of, against);
    let both = |(block, own): &(usize, f64)| {
        let (_, other) = others.iter().find(|(at, _)| at == block)?;
        Some((*block, own.exp(), other.exp()))
    };
    told(stage, of, variant).iter().filter_map(both).collect()
}

/// How many trials of a variant went up and down around its limit.
pub(crate) fn around(stage: &Stage, of: &Searched, variant: usize) -> usize {
    walked(stage, of, variant).0.iter().filter(|t| t.around).count()
}

/// Whether a variant's search has come to an end at one of its ends: then nothing more can be asked of it.
pub(crate) fn stuck(stage: &Stage, of: &Searched, variant: usize) -> bool {
    !matches!(walked(stage, of, variant).1, Next::Rate(_))
}

/// What two searches say without a ratio, for one of them ended at an end: that which takes a rate is better than that which takes
/// none, and that which takes the most is better than that which clearly does not.
pub(crate) fn plain(stage: &Stage, of: &Searched, variant: usize, against: usize) -> Option<Verdict> {
    if ![variant, against].into_iter().any(|v| stuck(stage, of, v)) {
        return None;
    }
    let [own, other] = [variant, against].map(|v| found(stage, of, v));
    // From 0, which takes none, over what is known to take a rate of its own, to what takes all that may be asked for.
    let place = |f: &Found| match f.next {
        Next::Below(_) => Some(0.0),
        Next::AtLeast(rate) => Some(rate),
        Next::Rate(_) => None,
    };
    let knows = |f: &Found| f.tried.iter().filter(|t| t.around).count() >= LEAST;
    let ends = |f: &Found| f.interval.filter(|_| knows(f));
    let (low, high) = match (place(&own), place(&other)) {
        (Some(a), Some(b)) => ([a, a], [b, b]),
        (Some(a), None) => ([a, a], ends(&other)?),
        (None, Some(b)) => (ends(&own)?, [b, b]),
        (None, None) => return None,
    };
    if low[0] > high[1] {
        Some(Verdict::Better)
    } else if low[1] < high[0] {
        Some(Verdict::Worse)
    } else {
        None
    }
}

/// The next block: each variant of which something is still asked, at its rate.
pub(crate) fn slots(stage: &Stage, of: &Searched) -> Vec<Slot> {
    let alone = stage.comparisons.is_empty();
    let asked = |variant: &usize| {
        let (tried, next) = walked(stage, of, *variant);
        let Next::Rate(rate) = next else { return None };
        let around = tried.iter().filter(|t| t.around).count();
        let open = stage.open(*variant) || alone && !settled(stage, of, *variant);
        let wanted = (around < LEAST || open) && around < stage.limit && !stage.series.hopeless(*variant);
        wanted.then(|| (Slot { set: of.set(rate), ..Slot::of(*variant) }, rate, around > 0))
    };
    let here: Vec<(Slot, f64, bool)> = stage.variants.iter().filter_map(asked).collect();
    let mut slots: Vec<Slot> = here.iter().map(|(slot, ..)| slot.clone()).collect();
    // For explaining all are asked for the same rate: what one has more of is then not because it does more.
    let explained = stage.series.blocks.iter().filter(|b| b.order.iter().any(|s| s.explained)).count();
    if explained < stage.explained && here.iter().all(|(.., around)| *around) {
        let least = here.iter().map(|(_, rate, _)| *rate).fold(f64::INFINITY, f64::min);
        let again = |slot: &Slot| Slot { explained: true, set: of.set(least), ..Slot::of(slot.variant) };
        slots.extend(here.iter().map(|(slot, ..)| again(slot)));
    }
    slots
}

/// Whether the rate is known as well as what matters asks for.
fn settled(stage: &Stage, of: &Searched, variant: usize) -> bool {
    let found = found(stage, of, variant);
    let narrow =
        |[low, high]: [f64; 2]| found.rate / low < stage.narrow.exp() && high / found.rate < stage.narrow.exp();
    found.interval.is_some_and(narrow)
}

pub(crate) fn stage(session: &Session, variants: usize) -> Option<Stage> {
    if !session.stages().is_empty() {
        return None;
    }
    let plan = session.plan();
    let total = plan.wrong / variants.saturating_sub(1).max(1) as f64;
    // More of a rate is better, whatever the measures are.
    let rule = Rule::planned(plan.blocks, total, plan.log_effect(), 1.0);
    let comparisons = (1..variants).map(|v| Comparison::new(v, 0, rule.clone())).collect();
    let stage = Stage::new(Kind::Search, (0..variants).collect(), comparisons, plan.blocks);
    Some(judged_by_rate(session, stage))
}

/// A stage of which each variant's rate is what is judged, where the plan seeks rates. It begins near what was found before.
pub(crate) fn judged_by_rate(session: &Session, mut stage: Stage) -> Stage {
    let plan = session.plan();
    let Some(searched) = plan.searched() else { return stage };
    let before =
        session.stages().last().map_or(Vec::new(), |s| s.variants.iter().map(|v| found(s, searched, *v)).collect());
    let before = before.iter().filter(|f| matches!(f.next, Next::Rate(_))).map(|f| f.rate);
    let from = before.filter(|rate| rate.is_finite()).reduce(f64::min).map_or(searched.from, |rate| rate / 2.0);
    stage.search = Some(Searched { from, ..searched.clone() });
    stage.narrow = plan.log_effect();
    stage
}

/// What is known of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The highest rate that meets the limits; NaN before there are four trials around it.
    pub rate: f64,
    /// Its 95 % interval, in which is how the machine went up and down meanwhile; `None` with too few trials.
    pub interval: Option<[f64; 2]>,
    /// Where the search is.
    pub next: Next,
    /// The limit that is broken most often; `None` where no trial broke any.
    pub by: Option<Broke>,
    /// The curve, where there is one.
    pub curve: Option<Curve>,
    /// All measured trials.
    pub tried: Vec<Tried>,
}

fn found(stage: &Stage, of: &Searched, variant: usize) -> Found {
    let (tried, next) = walked(stage, of, variant);
    let curve = Curve::of(stage, of);
    let told: Vec<f64> = told(stage, of, variant).into_iter().map(|(_, x)| x).collect();
    // The first few may lie on one side of the limit, and say little of it.
    let enough = told.len() >= SHORTEST;
    let mean = if enough { told.iter().sum::<f64>() / told.len() as f64 } else { f64::NAN };
    let spread = enough.then(|| Dependence::new().spread(&told)).flatten();
    let interval = spread.map(|s| t_critical(0.05, s.df) * s.se).map(|half| [(mean - half).exp(), (mean + half).exp()]);
    let kinds = (0..of.limits.len()).map(Broke::Limit).chain([Broke::Rate, Broke::Failed]);
    let broken = |what: &Broke| tried.iter().filter(|t| t.broke == Some(*what)).count();
    // Of those that are broken as often, the first.
    let by = kinds.rev().max_by_key(broken).filter(|what| broken(what) > 0);
    Found { rate: mean.exp(), interval, next, by, curve, tried }
}

/// What is known of each variant of the last stage, with its number.
pub fn all(session: &Session) -> Vec<(usize, Found)> {
    let Some(stage) = session.stages().last() else { return Vec::new() };
    let Some(searched) = &stage.search else { return Vec::new() };
    stage.variants.iter().map(|v| (*v, found(stage, searched, *v))).collect()
}
