//! What separates a band from the other hosts, and what does not: metrics, how much they vary, functions, facts, one rule. Bands are found on the
//! even blocks of time; all this is asked of the odd ones.

use crate::ask::AskError;
use crate::engine::Material;
use crate::loaded::{Metric, Part};
use crate::statistics::alike::{self, Equal};
use crate::statistics::facts::{self, Facts};
use crate::statistics::rule::{self, Rule};
use crate::statistics::separate::{self, Columns, Difference, Sums};
use crate::summary::{DONE, WORKLOAD};
use std::collections::BTreeMap;

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

/// How many recordings of each band have each value of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactSplit {
    /// Category and name.
    pub name: (String, String),
    /// Value, band (none: it strays, or lacks what the bands are of), whether that is decided, and how many; values in order.
    pub rows: Vec<(String, Option<usize>, bool, u64)>,
}

impl FactSplit {
    /// By value, hosts of the band, and of the others.
    fn sides(&self, band: usize) -> Vec<(&str, [u64; 2])> {
        let mut found: Vec<(&str, [u64; 2])> = Vec::new();
        for (value, of, decided, count) in &self.rows {
            let (Some(of), true) = (of, decided) else { continue };
            if found.last().is_none_or(|last| last.0 != value) {
                found.push((value, [0, 0]));
            }
            if let Some((_, counts)) = found.last_mut() {
                counts[usize::from(*of != band)] += count;
            }
        }
        found
    }

    /// How well its values divide as the bands do ([`facts::divides`]).
    pub fn divides(&self) -> f64 {
        self.divides_by(|band| band)
    }

    /// The same of the bands up to this one against those after it.
    pub(crate) fn divides_after(&self, band: usize) -> f64 {
        self.divides_by(|of| usize::from(of > band))
    }

    fn divides_by(&self, side: impl Fn(usize) -> usize) -> f64 {
        let hosts = || self.rows.iter().flat_map(|row| std::iter::repeat_n(row, row.3 as usize));
        let values: Vec<Option<&str>> = hosts().map(|row| Some(row.0.as_str())).collect();
        let bands: Vec<Option<usize>> = hosts().map(|row| row.1.map(&side)).collect();
        facts::divides(&facts::Fact { name: &self.name.1, values: &values }, &bands)
    }
}

/// Says of options of JVMs that recordings do not have what that means ([`compare::option_absent`]): an option that only one band has is at its default
/// in the others. How many had their options read, those tell that most have.
pub(crate) fn say_defaults(facts: &mut [FactSplit]) {
    type Sides = BTreeMap<(Option<usize>, bool), u64>;
    fn sides(fact: &FactSplit) -> Sides {
        let mut sides = Sides::new();
        fact.rows.iter().for_each(|(_, band, decided, count)| *sides.entry((*band, *decided)).or_default() += count);
        sides
    }
    let mut read: BTreeMap<(String, compare::JvmOptions), Sides> = BTreeMap::new();
    for fact in facts.iter() {
        let Some((main, options)) = compare::options_read(&fact.name.0, &fact.name.1) else { continue };
        let most = read.entry((main.to_owned(), options)).or_default();
        for (side, count) in sides(fact) {
            let most = most.entry(side).or_default();
            *most = (*most).max(count);
        }
    }
    for fact in facts {
        let Some((main, options, word)) = compare::option_absent(&fact.name.0, &fact.name.1) else { continue };
        let (own, word) = (sides(fact), word.to_owned());
        let all = read.get(&(main.to_owned(), options)).into_iter().flatten();
        let lack = |(side, count): (&(Option<usize>, bool), &u64)| {
            let lack = count.saturating_sub(own.get(side).copied().unwrap_or(0));
            (lack > 0).then(|| (word.clone(), side.0, side.1, lack))
        };
        fact.rows.extend(all.filter_map(lack));
        fact.rows.sort();
    }
}

/// Some values of the metrics of a fleet, as columns.
struct OfMetrics<'a> {
    material: &'a mut dyn Material,
    which: &'a [(usize, Part)],
}

impl Columns for OfMetrics<'_> {
    type Error = AskError;

    fn sums(&mut self, sides: &[Option<bool>]) -> Result<Vec<Sums>, AskError> {
        self.material.metric_sums(self.which, sides)
    }

    fn whole(&mut self, which: &[usize]) -> Result<Vec<Vec<f64>>, AskError> {
        let which: Vec<(usize, Part)> = which.iter().filter_map(|at| self.which.get(*at).copied()).collect();
        self.material.metric_whole(&which)
    }

    fn some(&mut self, hosts: &[usize]) -> Result<Vec<Vec<f64>>, AskError> {
        self.material.metric_some(self.which, hosts)
    }
}

/// The own shares of functions, as columns. Own shares alone: a caller's total moves with what it calls, and would be listed for it.
struct OfPlaces<'a>(&'a mut dyn Material);

impl Columns for OfPlaces<'_> {
    type Error = AskError;

    fn sums(&mut self, sides: &[Option<bool>]) -> Result<Vec<Sums>, AskError> {
        self.0.place_sums(sides)
    }

    fn whole(&mut self, which: &[usize]) -> Result<Vec<Vec<f64>>, AskError> {
        self.0.place_whole(which)
    }

    fn some(&mut self, hosts: &[usize]) -> Result<Vec<Vec<f64>>, AskError> {
        self.0.place_some(hosts)
    }
}

/// Which values a line is of, found on the odd blocks.
fn part(of: Of) -> Part {
    match of {
        Of::Mean => Part::Odd,
        Of::Deviation => Part::Deviation,
    }
}

/// Says what separates band `band` of those that `of` tells, from all others. `left_out` are the metrics that the bands are made of, `split` is how
/// the facts divide.
///
/// # Errors
/// Where the summaries cannot be had.
pub fn separated(
    material: &mut dyn Material,
    split: &[FactSplit],
    of: &[Option<usize>],
    band: usize,
    left_out: &[usize],
    undecided: &[usize],
) -> Result<Separated, AskError> {
    let sides = separate::sides(of, band, undecided);
    let is_of_cpu = |metric: &Metric| metric.key.metric.strip_prefix("pmu.").is_some_and(counters::is_of_one_cpu);
    let kinds = split.iter().find(|f| f.name.0 == "pmu" && f.name.1 == "microarchitecture");
    let alike = kinds.is_none_or(|fact| fact.rows.windows(2).all(|pair| pair[0].0 == pair[1].0));
    let mut which: Vec<(usize, Of)> = Vec::new();
    for (at, metric) in material.metrics().iter().enumerate() {
        // What CPUs of different kinds count in different ways does not separate hosts.
        if left_out.contains(&at) || !alike && is_of_cpu(metric) || is_of_host_per_operation(metric) {
            continue;
        }
        which.push((at, Of::Mean));
        which.push((at, Of::Deviation));
    }
    let parts: Vec<(usize, Part)> = which.iter().map(|(at, of)| (*at, part(*of))).collect();
    let found = separate::columns(&mut OfMetrics { material: &mut *material, which: &parts }, &sides, SEED)?;
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
            .metrics()
            .get(line.metric.0)
            .map_or(0.0, |m| if m.key.per_operation { 0.0 } else { m.declared.floor });
        let (one, rest) = line.difference.middles;
        one.abs() >= floor || rest.abs() >= floor
    });
    // What is the same in both halves, as a deviation, cannot be tried on the other.
    let means: Vec<(usize, Of)> = which.iter().copied().filter(|of| of.1 == Of::Mean).collect();
    let rule = rule_of(material, &means, &found.some, &sides)?;
    let (places, places_at_most) = places_of(material, &sides)?;
    let is_work =
        |(at, metric): (usize, &Metric)| (&*metric.key.metric == DONE && !left_out.contains(&at)).then_some(at);
    let work = match material.metrics().iter().enumerate().find_map(is_work) {
        Some(at) => material.metric_whole(&[(at, Part::Mean)])?.pop(),
        None => None,
    };
    let facts: Vec<Vec<(&str, [u64; 2])>> = split.iter().map(|fact| fact.sides(band)).collect();
    Ok(Separated {
        band,
        lines,
        tested: found.lines,
        by_chance: found.by_chance_high,
        hosts_needed: found.hosts_needed,
        facts: facts::counted(&facts, SEED),
        places,
        places_at_most,
        rule,
        work: work.and_then(|values| alike::equal(&values, &sides, SAME_WORK)),
    })
}

/// A rule with the metrics of its cuts.
type Told = (Rule, Vec<(usize, Of)>);

/// The rule that tells the band best: found on the even blocks of `some` hosts, and counted on all.
fn rule_of(
    material: &mut dyn Material,
    means: &[(usize, Of)],
    some: &[usize],
    sides: &[Option<bool>],
) -> Result<Option<Told>, AskError> {
    let of = |part: Part, which: &[(usize, Of)]| which.iter().map(|(at, _)| (*at, part)).collect::<Vec<_>>();
    let even = material.metric_some(&of(Part::Even, means), some)?;
    let odd = material.metric_some(&of(Part::Odd, means), some)?;
    let their: Vec<Option<bool>> = some.iter().map(|at| sides.get(*at).copied().flatten()).collect();
    let (evens, odds): (Vec<&[f64]>, Vec<&[f64]>) =
        (even.iter().map(Vec::as_slice).collect(), odd.iter().map(Vec::as_slice).collect());
    let Some(rule) = rule::find(&evens, &odds, &their) else { return Ok(None) };
    let metrics: Vec<(usize, Of)> = rule.cuts.iter().filter_map(|cut| means.get(cut.metric).copied()).collect();
    if their.len() == sides.iter().flatten().count() {
        return Ok(Some((rule, metrics)));
    }
    let even = material.metric_whole(&of(Part::Even, &metrics))?;
    let odd = material.metric_whole(&of(Part::Odd, &metrics))?;
    let (evens, odds): (Vec<&[f64]>, Vec<&[f64]>) =
        (even.iter().map(Vec::as_slice).collect(), odd.iter().map(Vec::as_slice).collect());
    Ok(rule::count_again(rule, &evens, &odds, sides).map(|rule| (rule, metrics)))
}

/// What all of a host does per operation of the workload is what it does per second over the pace: it separates hosts wherever the pace does.
pub(crate) fn is_of_host_per_operation(metric: &Metric) -> bool {
    metric.key.per_operation && !metric.key.labels.contains("\"comm\":") && !metric.key.metric.starts_with(WORKLOAD)
}

/// Functions that differ; where none does, by how much any can at most.
type Places = (Vec<PlaceLine>, Option<(f64, usize)>);

fn places_of(material: &mut dyn Material, sides: &[Option<bool>]) -> Result<Places, AskError> {
    let mut columns = OfPlaces(material);
    let found = separate::columns(&mut columns, sides, SEED)?;
    let line = |difference: &Difference| PlaceLine { place: difference.metric, difference: difference.clone() };
    let lines: Vec<PlaceLine> = found.listed.iter().map(line).collect();
    if !lines.is_empty() {
        return Ok((lines, None));
    }
    let at_most = alike::at_most_of(&mut columns, sides, &found.some, true)?;
    Ok((lines, at_most.map(|most| (most.by, most.metric))))
}
