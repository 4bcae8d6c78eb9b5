//! The block `counters`: what hardware counters say of each run. It is made for the compared window, and the page does not compute it anew for another one;
//! its charts do.

use crate::bundle::{
    CounterChange, CounterGroup, CounterMetric, CounterValue, Counters, CountersOfRun, FunctionCycles,
    FunctionCyclesOfRun, FunctionsCycles, NoCode, Polarity, TopDown,
};
use compare::Comparison;
use compare::counted::{self, Counted, OfRun};
use model::{NULL, Status, Window};
use query::Run;
use query::cycles::{self, Cycles, Function};
use std::collections::HashMap;
use store::Select;

/// The name of the block.
pub(crate) const BLOCK: &str = "counters";

/// Points of a sparkline.
const POINTS: usize = 60;

/// Functions whose cycles are told, and samples by cycles that one has in some run at least.
const FUNCTIONS: usize = 30;
const FEWEST: f64 = 20.0;

/// What was counted; `None` where no recording has counters, nor says why it has none.
pub(crate) fn counters(runs: &[Run], comparison: &Comparison) -> Option<Counters> {
    let metrics = counted::metrics(runs, &comparison.windows);
    let functions = functions(runs, &comparison.windows, !metrics.is_empty());
    let has = |at: usize| {
        let is_sampled = functions.as_ref().is_some_and(|of| of.missing.get(at).is_some_and(Option::is_none));
        is_sampled || metrics.iter().any(|metric| metric.runs.get(at).is_some_and(Option::is_some))
    };
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
    if metrics.is_empty() && functions.is_none() && !known {
        return None;
    }
    let alike = counted::are_alike(runs);
    let metrics = metrics.iter().map(|of| metric(of, alike, runs.len())).collect();
    Some(Counters { runs: of_runs, alike, metrics, functions })
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

/// Cycles per instruction of functions; where no run has samples by instructions, why, but only of runs with counters: of others the page says so already.
fn functions(runs: &[Run], windows: &[Window], has_counters: bool) -> Option<FunctionsCycles> {
    let found: Vec<Option<HashMap<Function, Cycles>>> =
        runs.iter().zip(windows).map(|(run, window)| cycles::functions(run, window)).collect();
    let why = |(run, found): (&Run, &Option<_>)| {
        let said = run.recording.coverage();
        let own = || said.iter().find(|c| c.source == "stacks" && c.item == "counted_sample");
        let said = || own().map(|of| NoCode { why: of.why.clone(), remedy: of.remedy.clone() });
        let no_more = || NoCode { why: "none were taken when it was recorded".into(), remedy: None };
        found.is_none().then(|| said().unwrap_or_else(no_more))
    };
    let missing: Vec<Option<NoCode>> = runs.iter().zip(&found).map(why).collect();
    if found.iter().all(Option::is_none) && !has_counters {
        return None;
    }
    let all: Vec<f64> = found.iter().map(|of| of.iter().flatten().map(|(_, cycles)| cycles.cycles.sum).sum()).collect();
    let mut names: Vec<&Function> = found.iter().flatten().flat_map(HashMap::keys).collect();
    names.sort_unstable();
    names.dedup();
    let number = names.len();
    let of = |name: &Function| {
        let baseline = found.first().and_then(|of| of.as_ref()?.get(name));
        let of_run = |run: usize| {
            let (of, all) = (found.get(run)?.as_ref()?.get(name)?, all.get(run).copied()?);
            let ratio = baseline.filter(|_| run > 0).and_then(|baseline| of.against(baseline));
            Some(FunctionCyclesOfRun {
                share: if all > 0.0 { of.cycles.sum / all } else { 0.0 },
                cycle_samples: of.cycles.number,
                instruction_samples: of.instructions.number,
                cpi: of.per_instruction(),
                change: ratio.map(|ratio| ratio.map(|part| part - 1.0)),
            })
        };
        let runs = (0..found.len()).map(of_run).collect();
        FunctionCycles { name: name.name.clone(), module: name.module.clone(), runs }
    };
    let mut functions: Vec<FunctionCycles> = names.into_iter().map(of).collect();
    functions.retain(|of| of.runs.iter().flatten().any(|run| run.cycle_samples >= FEWEST));
    let most = |of: &FunctionCycles| of.runs.iter().flatten().map(|run| run.share).fold(0.0, f64::max);
    functions.sort_by(|a, b| most(b).total_cmp(&most(a)));
    functions.truncate(FUNCTIONS);
    let left_out = (number - functions.len()) as u64;
    let query =
        "select run, comm, function, module, cycles, instructions, cpi, cpi_low, cpi_high\nfrom function_cycles";
    Some(FunctionsCycles { missing, functions, left_out, query: query.into() })
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
    use model::Table;
    use query::testing;

    /// A program in a folder: `work` and `wait`, and another function for the few samples that are left.
    fn sampled(name: &str, work: [u64; 2], wait: [u64; 2]) -> Run {
        let row = |stack: u64, [cycles, instructions]: [u64; 2]| {
            format!("\n1 7 app {stack} {} {cycles} {} {instructions}", cycles * 1000, instructions * 1000)
        };
        let counted = "t pid comm stack cycles cycle_samples instructions instruction_samples".to_owned()
            + &[row(1, work), row(2, wait), row(3, [3, 2])].concat();
        let frame = format!(
            "t number function module build_id offset source kind
            0 1 work /{name}/app - 16 - native
            0 2 wait /{name}/app - 32 - native
            0 3 - /{name}/libx.so - 48 - native"
        );
        let stack = "t number parent frame\n0 1 - 1\n0 2 - 2\n0 3 - 3";
        let tables: [(&'static Table, &str); 3] =
            [(&testing::COUNTED, &counted), (&testing::STACK, stack), (&testing::FRAME, &frame)];
        testing::run(name, &tables)
    }

    #[test]
    fn cycles_of_functions_are_compared() {
        let none = testing::run("c", &[(&testing::STACK, "t number parent frame\n0 1 - 1")]);
        let runs = [sampled("a", [400, 400], [600, 600]), sampled("b", [500, 500], [2000, 500]), none];
        let window = || Window { from: 0, to: i64::MAX, why: String::new() };
        let windows: Vec<Window> = runs.iter().map(|_| window()).collect();
        let found = functions(&runs, &windows, false).unwrap();
        let names: Vec<&str> = found.functions.iter().map(|of| of.name.as_str()).collect();
        // Where the program lies says nothing. What is told by three samples is left out.
        assert_eq!((names, found.left_out), (vec!["wait", "work"], 1));
        let [Some(a), Some(b), None] = &found.functions[0].runs[..] else { panic!("{found:?}") };
        assert!((a.share - 600.0 / 1003.0).abs() < 1e-9 && (a.cycle_samples, a.instruction_samples) == (600.0, 600.0));
        let [cpi, low, high] = b.cpi.unwrap();
        assert!((cpi - 4.0).abs() < 1e-9 && low > 3.6 && high < 4.42, "{b:?}");
        let [change, low, high] = b.change.unwrap();
        assert!((change - 3.0).abs() < 1e-9 && low > 2.4 && high < 3.7 && a.change.is_none(), "{b:?}");
        let of_work = found.functions[1].runs[1].as_ref().unwrap().change.unwrap();
        assert!(of_work[1] < 0.0 && of_work[2] > 0.0, "{of_work:?}");
        let why: Vec<bool> = found.missing.iter().map(Option::is_some).collect();
        assert_eq!(why, [false, false, true]);

        // Nobody has any: it is said where there are counters, and else by the page.
        assert_eq!(functions(&runs[2..], &windows[2..], false), None);
        let said = functions(&runs[2..], &windows[2..], true).unwrap();
        assert_eq!((said.missing.len(), said.functions.len()), (1, 0));
    }

    #[test]
    fn sparklines_have_gaps_where_nothing_was_counted() {
        let points: Vec<(f64, f64)> = (1..=120).map(|i| (f64::from(i), if i > 60 { f64::NAN } else { 2.0 })).collect();
        let spark = spark(&points);
        assert_eq!((spark.len(), spark[0], spark[29], spark[30]), (60, Some(2.0), Some(2.0), None));
        assert_eq!(super::spark(&[]), Vec::<Option<f64>>::new());
    }
}
