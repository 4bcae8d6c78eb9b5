//! Differences that say the same twice.

use crate::Difference;

/// Leaves out totals that are one entity's alone: with one disk, what all disks did is what that disk did, and its line says which it was.
pub(crate) fn without_totals(mut differences: Vec<Difference>) -> Vec<Difference> {
    let is_total = |d: &Difference| {
        differences.iter().any(|one| {
            one.metric == d.metric
                && one.per == d.per
                && one.run == d.run
                && one.baseline == d.baseline
                && one.other == d.other
                && one.labels.len() > d.labels.len()
                && d.labels.iter().all(|(k, v)| one.labels.get(k) == Some(v))
        })
    };
    let keep: Vec<bool> = differences.iter().map(|d| !is_total(d)).collect();
    let mut keep = keep.into_iter();
    differences.retain(|_| keep.next().unwrap_or(true));
    differences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Per;

    fn one(labels: &[(&str, &str)], other: f64) -> Difference {
        Difference {
            metric: "disks.writes".into(),
            labels: labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            unit: "1/s",
            help: "",
            polarity: model::Polarity::Neutral,
            run: 1,
            per: Per::Second,
            baseline: 1.0,
            other,
            difference: other - 1.0,
            change: None,
            low: None,
            high: None,
            q: 0.0,
            median: [None; 2],
            p99: [None; 2],
            values: [Vec::new(), Vec::new()],
            table: "disks",
            column: "writes",
            query: String::new(),
            weight: 0.0,
        }
    }

    #[test]
    fn a_total_of_one_is_said_once() {
        let total = one(&[("kind", "disk")], 9.0);
        let disk = one(&[("device", "vda"), ("kind", "disk")], 9.0);
        let labels = |d: Vec<Difference>| d.into_iter().map(|d| d.labels.len()).collect::<Vec<_>>();
        assert_eq!(labels(without_totals(vec![total.clone(), disk.clone()])), [2]);
        // Two disks: the total is news.
        assert_eq!(labels(without_totals(vec![one(&[("kind", "disk")], 12.0), disk])), [1, 2]);
        assert_eq!(labels(without_totals(vec![total])), [1]);
    }
}
