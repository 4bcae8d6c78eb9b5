//! The block `counters`: what hardware counters say of each run. It is made for the compared window, and the page does not compute it anew for another one;
//! its charts do.

use crate::bundle::{
    CounterChange, CounterGroup, CounterMetric, CounterValue, Counters, CountersOfRun, NoCode, Polarity, TopDown,
};
use compare::Comparison;
use compare::counted::{self, Counted, OfRun};
use model::{NULL, Status, Window};
use query::Run;
use store::Select;

/// The name of the block.
pub(crate) const BLOCK: &str = "counters";

/// Points of a sparkline.
const POINTS: usize = 60;

/// What was counted; `None` where no recording has counters, nor says why it has none.
pub(crate) fn counters(runs: &[Run], comparison: &Comparison) -> Option<Counters> {
    let metrics = counted::metrics(runs, &comparison.windows);
    let has = |at: usize| metrics.iter().any(|metric| metric.runs.get(at).is_some_and(Option::is_some));
    let of_runs: Vec<CountersOfRun> = runs
        .iter()
        .enumerate()
        .map(|(at, run)| CountersOfRun {
            kind: counted::kind_of(run),
            missing: if has(at) { None } else { Some(why_none(run)) },
            topdown: top_down(&metrics, at),
            groups: comparison.windows.get(at).map(|window| groups(run, window)).unwrap_or_default(),
        })
        .collect();
    let known = runs.iter().any(|run| run.recording.coverage().iter().any(|c| c.source == "pmu"));
    if metrics.is_empty() && !known {
        return None;
    }
    let alike = counted::are_alike(runs);
    let metrics = metrics.iter().map(|of| metric(of, alike, runs.len())).collect();
    Some(Counters { runs: of_runs, alike, metrics })
}

/// Why a run has no counters, and what would give them.
fn why_none(run: &Run) -> NoCode {
    let said = run.recording.coverage();
    let own: Vec<_> = said.iter().filter(|c| c.source == "pmu" && c.status != Status::Read).collect();
    let first = own.iter().find(|c| c.item.is_empty()).or(own.first());
    match first {
        Some(of) => NoCode { why: of.why.clone(), remedy: of.remedy.clone() },
        None => NoCode { why: "nothing was counted".into(), remedy: None },
    }
}

fn top_down(metrics: &[Counted], run: usize) -> Option<TopDown> {
    let of = |name: &str| {
        let found = metrics.iter().find(|metric| metric.name == name)?;
        Some(found.runs.get(run)?.as_ref()?.mean.clamp(0.0, 1.0))
    };
    Some(TopDown {
        retiring: of("retiring")?,
        bad_speculation: of("bad_speculation")?,
        frontend_bound: of("frontend_bound")?,
        backend_bound: of("backend_bound")?,
        fetch_latency: of("fetch_latency"),
        memory_bound: of("memory_bound"),
    })
}

/// The groups of a run: their share of the time, on average, and what was last said of them.
fn groups(run: &Run, window: &Window) -> Vec<CounterGroup> {
    let shares = compare::means::means(run, "pmu_group", "share", &["group"], window);
    let Some(frame) = run.recording.load("pmu_group", &Select::default()) else { return Vec::new() };
    let text = |cell: i64| frame.symbols.text(cell).unwrap_or_default().to_owned();
    let mut found: Vec<CounterGroup> = Vec::new();
    for entity in &frame.entities {
        let label = |name: &str| frame.table.labels().position(|label| label.name == name);
        let said = |name: &str| {
            let of_label = label(name).and_then(|at| entity.labels.get(at)).copied();
            let last =
                || frame.column(name)?.get(entity.rows.clone())?.iter().rev().find(|cell| **cell != NULL).copied();
            of_label.or_else(last).map(text).unwrap_or_default()
        };
        let group = said("group");
        let share = shares.iter().find(|(labels, _)| labels.first() == Some(&group)).map(|(_, share)| *share);
        if !found.iter().any(|known| known.group == group) {
            found.push(CounterGroup { share, events: said("events"), absent: said("absent"), group });
        }
    }
    found
}

fn metric(of: &Counted, alike: bool, runs: usize) -> CounterMetric {
    let given = of.runs.iter().flatten().any(|run| run.is_given) && of.runs.iter().flatten().any(|run| !run.is_given);
    let not_comparable = if runs < 2 {
        None
    } else if of.same_cpu && !alike {
        Some("not comparable: each maker counts it in another way".to_owned())
    } else if given {
        Some("not comparable: one is counted, the other as its tool computed it".to_owned())
    } else {
        None
    };
    let value = |(at, run): (usize, &Option<OfRun>)| {
        let run = run.as_ref()?;
        let change = if at == 0 || not_comparable.is_some() { None } else { change(of, at) };
        Some(CounterValue { mean: run.mean, group: run.group.clone(), spark: spark(&run.points), change })
    };
    let values = of.runs.iter().enumerate().map(value).collect();
    CounterMetric {
        name: of.name.clone(),
        unit: of.unit.into(),
        help: of.help.clone(),
        polarity: match of.polarity {
            model::Polarity::Better => Polarity::Better,
            model::Polarity::Worse => Polarity::Worse,
            model::Polarity::Neutral => Polarity::Neutral,
        },
        is_share: of.is_share,
        floor: of.floor,
        not_comparable,
        values,
    }
}

fn change(of: &Counted, run: usize) -> Option<CounterChange> {
    let found = of.against(run)?;
    let (difference, (low, high)) = (found.difference?, found.difference_interval?);
    if !(low.is_finite() && high.is_finite()) {
        return None;
    }
    let ratio = match (found.change, found.low, found.high) {
        (Some(change), Some(low), Some(high)) => Some([change, low, high]),
        _ => None,
    };
    Some(CounterChange {
        difference,
        interval: [low, high],
        ratio,
        differs: (low > 0.0 || high < 0.0) && difference.abs() >= of.floor,
    })
}

/// Means of stretches of equal length.
fn spark(points: &[(f64, f64)]) -> Vec<Option<f64>> {
    let end = points.last().map_or(0.0, |(at, _)| *at);
    let number = points.len().min(POINTS);
    let mut sums = vec![(0.0, 0u32); number];
    for (at, value) in points.iter().filter(|(_, value)| value.is_finite()) {
        let place = if end > 0.0 { (at / end * number as f64).ceil() as usize } else { 1 };
        if let Some(sum) = sums.get_mut(place.clamp(1, number.max(1)) - 1) {
            *sum = (sum.0 + value, sum.1 + 1);
        }
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparklines_have_gaps_where_nothing_was_counted() {
        let points: Vec<(f64, f64)> = (1..=120).map(|i| (f64::from(i), if i > 60 { f64::NAN } else { 2.0 })).collect();
        let spark = spark(&points);
        assert_eq!((spark.len(), spark[0], spark[29], spark[30]), (60, Some(2.0), Some(2.0), None));
        assert_eq!(super::spark(&[]), Vec::<Option<f64>>::new());
    }
}
