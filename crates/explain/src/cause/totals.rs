//! Totals that many causes ask for: how much of something there was per unit of work and per second, on both sides.

use super::Cause;
use compare::Pace;
use compare::means;
use compare::own;
use compare::{PerSide, Side};
use model::Window;
use query::Run;
use std::collections::{BTreeSet, HashSet};

/// The metrics that causes name in their questions, `table.metric` between quotes.
pub(crate) fn asked(causes: &[Cause]) -> BTreeSet<(&str, &str)> {
    let is_name = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    // Comments hold apostrophes.
    let lines =
        causes.iter().flat_map(Cause::questions).flat_map(str::lines).map(|line| line.split("--").next().unwrap_or(""));
    let named = lines.flat_map(|line| line.split('\'').skip(1).step_by(2));
    named.filter_map(|text| text.split_once('.').filter(|(table, metric)| is_name(table) && is_name(metric))).collect()
}

/// The label by which rows of the workload are told from those of others; none where a table is about all of the system. What ended soon is told by
/// who started it; processes by their number, for others may have the same name.
fn label_of_owner(run: &Run, table: &str) -> Option<&'static str> {
    let declared = run.recording.table(table)?;
    let has = |name: &&str| declared.labels().any(|column| column.name == *name);
    match table {
        "process" => Some("pid"),
        "process_exit" => Some("parent"),
        _ => ["comm"].into_iter().find(has),
    }
}

/// One total.
pub(crate) struct Total {
    /// "process.minor_faults".
    pub(crate) metric: String,
    /// Per unit of work; `None` where it was not recorded.
    pub(crate) per_unit: PerSide<Option<f64>>,
    /// Per second, or the level.
    pub(crate) per_second: PerSide<Option<f64>>,
}

/// Those of `asked` that the recordings hold. `paces`: seconds and units of each side; `own`: names of the workload's processes.
pub(crate) fn load(
    asked: &BTreeSet<(&str, &str)>,
    runs: &[Run],
    side: &[Side],
    windows: &[Window],
    paces: PerSide<Pace>,
    own: &BTreeSet<String>,
) -> Vec<Total> {
    let mut found = Vec::new();
    for (table, metric) in asked {
        let mut sums = PerSide::<(f64, usize)>::default();
        for ((run, side), window) in runs.iter().zip(side).zip(windows) {
            let Some(mean) = mean(run, table, metric, window, own) else { continue };
            let (sum, count) = &mut sums[*side];
            *sum += mean;
            *count += 1;
        }
        let per_second = sums.map(|(sum, count)| (count > 0).then(|| sum / count as f64));
        if per_second == PerSide::default() {
            continue;
        }
        let per_unit = per_second
            .zip(paces)
            .map(|(rate, pace)| rate.filter(|_| pace.work > 0.0).map(|rate| rate * pace.elapsed()));
        found.push(Total { metric: format!("{table}.{metric}"), per_unit, per_second });
    }
    found
}

fn mean(run: &Run, table: &str, metric: &str, window: &Window, own: &BTreeSet<String>) -> Option<f64> {
    let by = label_of_owner(run, table);
    let all = means::means(run, table, metric, by.as_slice(), window);
    if all.is_empty() {
        return None;
    }
    let pids = if table == "process" { own::looked_at(run) } else { HashSet::new() };
    let is_own = |labels: &[String]| match labels.first() {
        Some(pid) if !pids.is_empty() => pid.parse().is_ok_and(|pid| pids.contains(&pid)),
        Some(name) if table != "process" => own.contains(name),
        _ => true,
    };
    Some(all.iter().filter(|(labels, _)| by.is_none() || is_own(labels)).map(|(_, mean)| mean).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_what_causes_name() {
        let sql = "-- a parent's limit\nselect slow from total where metric in ('vmstat.pswpin', 'disks.flushes') and x glob '*;a.b;*' or y = 'it''s 1.5 of all'";
        let cause = Cause { claims: sql.into(), ..Cause::default() };
        assert_eq!(asked(&[cause]), BTreeSet::from([("vmstat", "pswpin"), ("disks", "flushes")]));
        // Every metric that a cause which comes with the program names is one that a table has: what it is called is tested in tests.rs.
        assert!(asked(&crate::cause::built_in()).len() > 20);
    }
}
