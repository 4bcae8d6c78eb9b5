//! Two measures as one cost, and the front of those that no other beats in both.

use super::Told;
use crate::{Better, Measure};

/// How much of the sum is added to the greater of both, so that of two with the same greater the one with the lesser other is
/// better (Knowles, "ParEGO: a hybrid algorithm with on-line landscape approximation for expensive multiobjective optimization
/// problems", IEEE Transactions on Evolutionary Computation 10, 2006).
const SUM: f64 = 0.05;

/// Logarithms of the first `objectives` measures, so turned that less is better; `None` where one of them is missing.
pub(crate) fn costs(told: &Told, measures: &[Measure], objectives: usize) -> Option<Vec<f64>> {
    let cost = |(at, m): (usize, &Measure)| {
        told.value(at).map(|x| if m.better == Better::Less { x.ln() } else { -x.ln() }).filter(|x| x.is_finite())
    };
    let costs: Option<Vec<f64>> = measures.iter().enumerate().take(objectives).map(cost).collect();
    costs.filter(|costs| costs.len() == objectives)
}

/// Costs from 0, the best seen of each, to 1, the worst.
pub(crate) fn normalised(costs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let ends = |at: usize| {
        let of = costs.iter().filter_map(|c| c.get(at).copied());
        of.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    };
    let scale = |at: usize, x: f64| {
        let (low, high) = ends(at);
        if high > low { (x - low) / (high - low) } else { 0.0 }
    };
    costs.iter().map(|c| c.iter().enumerate().map(|(at, x)| scale(at, *x)).collect()).collect()
}

/// One cost of several, with weights that add up to 1.
pub(crate) fn as_one(normalised: &[f64], weights: &[f64]) -> f64 {
    let weighted = || normalised.iter().zip(weights).map(|(f, w)| f * w);
    weighted().fold(f64::NEG_INFINITY, f64::max) + SUM * weighted().sum::<f64>()
}

/// Which of these no other beats: none is as good in all and better in one.
pub(crate) fn front(costs: &[Vec<f64>]) -> Vec<usize> {
    let beats = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b);
    (0..costs.len()).filter(|at| !costs.iter().any(|other| beats(other, &costs[*at]))).collect()
}

/// The knee: of the front's points the one that is best where both count alike, from 0 for the best of each to 1 for the worst
/// on the front.
pub(crate) fn knee(costs: &[Vec<f64>], front: &[usize]) -> Option<usize> {
    let own: Vec<Vec<f64>> = front.iter().filter_map(|at| costs.get(*at).cloned()).collect();
    let sums: Vec<f64> = normalised(&own).iter().map(|f| f.iter().sum()).collect();
    let least = (0..sums.len()).min_by(|a, b| sums[*a].total_cmp(&sums[*b]))?;
    front.get(least).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_no_other_beats() {
        let costs = [[1.0, 9.0], [2.0, 4.0], [3.0, 2.5], [9.0, 1.0], [4.0, 4.0], [1.0, 9.0]].map(Vec::from);
        assert_eq!(front(&costs), [0, 1, 2, 3, 5]);
        assert_eq!(knee(&costs, &front(&costs)), Some(2));
        assert_eq!((front(&[]), knee(&[], &[])), (vec![], None));
        let scaled = normalised(&costs);
        assert_eq!((scaled[0].clone(), scaled[3].clone()), (vec![0.0, 1.0], vec![1.0, 0.0]));
        // All the weight on one is that one; the other only where these are equal.
        assert!(as_one(&scaled[0], &[1.0, 0.0]) < as_one(&scaled[1], &[1.0, 0.0]));
        assert!(as_one(&[0.5, 0.2], &[0.5, 0.5]) < as_one(&[0.5, 0.4], &[0.5, 0.5]));
        assert_eq!(normalised(&[vec![5.0]]), [vec![0.0]]);
    }
}
