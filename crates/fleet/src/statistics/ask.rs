//! Which of many metrics divide the hosts into bands, without finding some in any fleet just because many were asked.

use super::agree::adjusted_rand;
use super::bands::Look;
use super::bands::{Found, Values, draws, spread};
use query::stats::fdr::benjamini_hochberg;

/// The least share of the variance that must be the hosts' own.
pub const OWN: f64 = 0.5;

/// The adjusted Rand index from which on two metrics divide alike.
pub const ALIKE: f64 = 0.8;

/// How to ask.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    /// All metrics are asked alike, and as many of those that are named may be wrong as `level` says (Benjamini and Hochberg). Else the first that
    /// can be asked has four fifths of `level` and the others share the rest (Holm, "A simple sequentially rejective multiple test procedure",
    /// Scandinavian Journal of Statistics 6, 1979, with weights), so that in a fleet without bands any is named with at most `level`.
    pub by_any: bool,
    /// Also metrics in which hosts differ by less than their own errors make: somebody named them.
    pub named: bool,
    /// 0.05.
    pub level: f64,
    /// Equal seeds give equal answers.
    pub seed: u64,
}

impl Default for Ask {
    fn default() -> Ask {
        Ask { by_any: false, named: false, level: 0.05, seed: 0x7769_6e73_636f_7065 }
    }
}

/// Metrics that divide the hosts alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Banding {
    /// Places of the metrics in what was asked; the first names the banding.
    pub metrics: Vec<usize>,
    /// p-value of the first.
    pub p: f64,
    /// Its p-value adjusted for all that were asked (q with [`Ask::by_any`]).
    pub adjusted: f64,
}

/// What was asked and answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// In the order asked.
    pub bandings: Vec<Banding>,
    /// What each metric says; `None` for those that were not asked, since hosts differ by no more than their own errors.
    pub found: Vec<Option<Found>>,
}

/// Asks each metric for bands.
pub fn ask(metrics: &[Values], how: &Ask) -> Answer {
    let asked: Vec<usize> = (0..metrics.len()).filter(|&i| how.named || spread(&metrics[i]) >= OWN).collect();
    let weights = weights(asked.len(), how.by_any);
    let least = weights.iter().copied().fold(1.0, f64::min);
    let work: Vec<(usize, f64)> = asked.iter().copied().zip(weights.iter().copied()).collect();
    // Holm hands weights on, so each may need to be as sure as its own weight says, and may be asked at more.
    let looks = super::parallel(&work, |&(i, w)| {
        let mut d = draws(how.level * if how.by_any { least } else { w });
        d.enough = d.enough.max(if how.by_any { 20 } else { (how.level * (d.most + 1) as f64) as usize + 1 });
        Look::new(&metrics[i], d, how.seed)
    });
    let p: Vec<f64> = looks.iter().map(Look::p).collect();
    let adjusted = if how.by_any { benjamini_hochberg(&p) } else { holm(&p, &weights) };
    let mut answer = Answer { bandings: Vec::new(), found: vec![None; metrics.len()] };
    let level = how.level;
    let judged: Vec<(usize, Look, f64)> =
        asked.iter().copied().zip(looks).zip(&adjusted).map(|((i, l), a)| (i, l, *a)).collect();
    for (place, (i, look, adjusted)) in judged.into_iter().enumerate() {
        // A metric that is believed is asked for further bands by itself; one that is not has none.
        let found = look.judge(if adjusted <= level { level.max(p[place]) } else { 0.0 });
        if found.banded() {
            let same = answer.bandings.iter_mut().find(|b| {
                answer.found[b.metrics[0]].as_ref().is_some_and(|f| adjusted_rand(&f.of, &found.of) >= ALIKE)
            });
            match same {
                Some(banding) => banding.metrics.push(i),
                None => answer.bandings.push(Banding { metrics: vec![i], p: p[place], adjusted }),
            }
        }
        answer.found[i] = Some(found);
    }
    answer
}

/// The first has four fifths, the others share a fifth; all alike with `by_any`. They add up to 1.
fn weights(n: usize, by_any: bool) -> Vec<f64> {
    (0..n)
        .map(|i| match (by_any, n, i) {
            (_, 1, _) => 1.0,
            (true, ..) => 1.0 / n as f64,
            (false, _, 0) => 0.8,
            (false, ..) => 0.2 / (n - 1) as f64,
        })
        .collect()
}

/// p-values adjusted by Holm's method with weights: each is believed at the level that its adjusted value does not exceed.
pub(super) fn holm(p: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| (p[a] / weights[a]).total_cmp(&(p[b] / weights[b])).then(a.cmp(&b)));
    let mut left: f64 = weights.iter().sum();
    let mut adjusted = vec![1.0; p.len()];
    let mut so_far = 0.0f64;
    for i in order {
        so_far = so_far.max(p[i] / weights[i] * left).min(1.0);
        adjusted[i] = so_far;
        left -= weights[i];
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_hands_on_weights() {
        // Equal weights: Holm's own 0.01 · 3, 0.02 · 2, 0.03.
        let a = holm(&[0.01, 0.03, 0.02], &[1.0 / 3.0; 3]);
        assert!((a[0] - 0.03).abs() < 1e-12 && (a[2] - 0.04).abs() < 1e-12 && (a[1] - 0.04).abs() < 1e-12, "{a:?}");
        // The first at 0.04 of 0.05 is believed, and its four fifths go to the other.
        let a = holm(&[0.04, 0.05], &[0.8, 0.2]);
        assert!((a[0] - 0.05).abs() < 1e-12 && (a[1] - 0.05).abs() < 1e-12, "{a:?}");
        assert_eq!(holm(&[], &[]), Vec::<f64>::new());
    }
}
