//! Recordings that lie far from all others, and in what: first the metrics that were asked, then all others.

use crate::ask::{AskError, Asked};
use crate::engine::Material;
use crate::loaded::Metric;
use crate::separate::is_of_host_per_operation;
use crate::statistics::separate::SOME;
use crate::statistics::stray::{MANY, far_among, middle};
use crate::statistics::{median, parallel};
use std::collections::BTreeMap;

/// Metrics that are named of each.
const NAMED: usize = 8;

/// So many others at least are what a stray is held against.
const OTHERS: usize = 5;

/// A metric that a recording strays in.
#[derive(Clone, Debug, PartialEq)]
pub struct StrayLine {
    /// The metric, with its labels and what it is per.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The recording's mean.
    pub value: f64,
    /// The median of its band.
    pub middle: f64,
    /// How many robust deviations it lies above; negative: below.
    pub deviations: f64,
}

/// A recording that strays.
#[derive(Clone, Debug, PartialEq)]
pub struct Straying {
    /// Which.
    pub recording: usize,
    /// The metrics that it strays in: those asked first, then the farthest.
    pub lines: Vec<StrayLine>,
    /// How many more there are.
    pub more: usize,
}

/// Whether any recording strays by what was asked.
pub fn any(asked: &[Asked]) -> bool {
    asked.iter().filter_map(|asked| asked.found.as_ref()).any(|found| !found.strays.is_empty())
}

/// Says in what the strays stray. `material` has the metrics that are looked through besides those asked, on at most [`SOME`] others of a band.
///
/// # Errors
/// Where the summaries cannot be had.
pub fn straying(asked: &[Asked], material: &mut dyn Material) -> Result<Vec<Straying>, AskError> {
    let mut found: BTreeMap<usize, Straying> = BTreeMap::new();
    // Those that are held against the same others.
    let mut beside: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (at, asked) in asked.iter().enumerate() {
        let Some(of) = &asked.found else { continue };
        for stray in &of.strays {
            let into = found.entry(stray.host).or_insert_with(|| {
                beside.entry((at, stray.band)).or_default().push(stray.host);
                Straying { recording: stray.host, lines: Vec::new(), more: 0 }
            });
            into.lines.push(StrayLine {
                metric: asked.metric.key.to_string(),
                unit: asked.metric.unit().to_owned(),
                value: asked.metric.mean.get(stray.host).copied().unwrap_or(f64::NAN),
                middle: of.bands.get(stray.band).map_or(f64::NAN, |band| band.middle),
                deviations: stray.deviations,
            });
        }
    }
    for ((at, band), strays) in beside {
        let Some(of) = asked.get(at) else { continue };
        let members = of.found.as_ref().and_then(|found| found.bands.get(band)).map_or(&[][..], |band| &band.members);
        let members = some(members, &of.metric.mean);
        let hosts: Vec<usize> = members.iter().chain(&strays).copied().collect();
        let all = material.metrics_on(&hosts)?;
        let is_other = |metric: &&Metric| {
            !is_of_host_per_operation(metric) && asked.iter().all(|asked| asked.metric.key != metric.key)
        };
        let others: Vec<&Metric> = all.iter().filter(is_other).collect();
        let (members, strays): (Vec<usize>, Vec<usize>) = (0..hosts.len()).partition(|place| *place < members.len());
        let lines = parallel(&others, |metric| far(metric, &members, &strays));
        for (place, line) in lines.into_iter().flatten() {
            if let Some(into) = hosts.get(place).and_then(|recording| found.get_mut(recording)) {
                into.lines.push(line);
            }
        }
    }
    let mut found: Vec<Straying> = found.into_values().collect();
    for of in &mut found {
        let of_asked = |line: &StrayLine| asked.iter().position(|asked| asked.metric.key.to_string() == line.metric);
        of.lines.sort_by_cached_key(|line| (of_asked(line).unwrap_or(usize::MAX), Far(-line.deviations.abs())));
        of.more = of.lines.len().saturating_sub(NAMED);
        of.lines.truncate(NAMED);
    }
    Ok(found)
}

/// Of very many recordings some, evenly by their values.
fn some(members: &[usize], values: &[f64]) -> Vec<usize> {
    let mut order = members.to_vec();
    let each = members.len().div_ceil(SOME).max(1);
    if each > 1 {
        let value = |at: usize| values.get(at).copied().unwrap_or(f64::NAN);
        order.sort_by(|a, b| value(*a).total_cmp(&value(*b)).then(a.cmp(b)));
    }
    order.into_iter().step_by(each).collect()
}

/// A number to sort by.
#[derive(PartialEq)]
struct Far(f64);

impl Eq for Far {}

impl PartialOrd for Far {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Far {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Which of `strays` lie far from the `members` of their band by a metric, alone or with one other on their side.
fn far(metric: &Metric, members: &[usize], strays: &[usize]) -> Vec<(usize, StrayLine)> {
    let value = |at: usize| metric.mean.get(at).copied().unwrap_or(f64::NAN);
    let known = || members.iter().chain(strays).copied().filter(|at| value(*at).is_finite());
    let logs = known().all(|at| value(at) > 0.0);
    let shown = |v: f64| if logs { v.ln() } else { v };
    let mut sorted: Vec<f64> = members.iter().map(|at| shown(value(*at))).filter(|v| v.is_finite()).collect();
    if sorted.len() < OTHERS {
        return Vec::new();
    }
    sorted.sort_by(f64::total_cmp);
    // A recording lies no nearer to the others than its own error lets it.
    let error = |at: usize| {
        let error = metric.error.get(at).map_or(f64::NAN, |error| f64::from(*error));
        if logs { error / value(at) } else { error }
    };
    let errors: Vec<f64> = members.iter().map(|at| error(*at)).filter(|error| error.is_finite()).collect();
    let floor = median(&errors);
    let (at_middle, deviation) = middle(&sorted, if floor.is_finite() { floor } else { 0.0 });
    let limit = far_among(sorted.len() + 1);
    let mut lines = Vec::new();
    for stray in strays {
        let deviations = (shown(value(*stray)) - at_middle) / deviation;
        if !deviations.is_finite() || deviations.abs() <= limit {
            continue;
        }
        let with = sorted.iter().filter(|v| (*v - at_middle) * deviations.signum() > limit * deviation).count();
        if with + 1 >= MANY {
            continue;
        }
        let unshown = if logs { at_middle.exp() } else { at_middle };
        let line = StrayLine {
            metric: metric.key.to_string(),
            unit: metric.unit().to_owned(),
            value: value(*stray),
            middle: unshown,
            deviations,
        };
        lines.push((*stray, line));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loaded::{Declared, Key};
    use std::sync::Arc;

    fn metric(name: &str, values: Vec<f64>) -> Metric {
        let all = |v: f32| vec![v; values.len()];
        Metric {
            key: Key { metric: name.into(), labels: "{}".into(), per_operation: false },
            declared: Arc::new(Declared { unit: "s/s".into(), ..Declared::default() }),
            error: all(0.01),
            deviation: all(0.1),
            even: all(1.0),
            odd: all(1.0),
            mean: values,
        }
    }

    #[test]
    fn a_metric_is_named_where_the_stray_is_alone_by_it() {
        let level = |at: usize| 1.0 + 0.02 * ((at * 7 % 11) as f64 - 5.0);
        let with = |of: &[usize], by: f64| -> Vec<f64> {
            (0..30).map(|at| level(at) * if of.contains(&at) { by } else { 1.0 }).collect()
        };
        let members: Vec<usize> = (0..29).collect();
        let alone = far(&metric("alone", with(&[29], 9.0)), &members, &[29]);
        assert_eq!((alone.len(), alone[0].0), (1, 29));
        assert!(alone[0].1.deviations > 6.0 && (alone[0].1.middle - 1.0).abs() < 0.05, "{alone:?}");
        assert!(far(&metric("like others", with(&[], 1.0)), &members, &[29]).is_empty());
        assert!(far(&metric("with many", with(&[3, 9, 29], 9.0)), &members, &[29]).is_empty());
        assert!(far(&metric("below", with(&[29], -4.0)), &members, &[29])[0].1.deviations < -6.0);
        assert!(far(&metric("missing", vec![f64::NAN; 30]), &members, &[29]).is_empty());
        assert!(far(&metric("few", with(&[29], 9.0)), &members[..4], &[29]).is_empty());
    }
}
