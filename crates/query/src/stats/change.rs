//! Change points: where the level of a series shifts for good, so that a run falls into phases.

/// More samples than these are joined to blocks first.
const LONGEST: usize = 2000;

/// The indices at which a new level begins, ascending, without 0. `least` is the fewest samples in a phase (at least 2).
///
/// Optimal partitioning with pruning (PELT; Killick, Fearnhead and Eckley, JASA 107, 2012) for squared error around a level.
/// Two things make it fit recordings: single spikes are pulled in beforehand (Hampel's filter), and the penalty is
/// 3·ln n long-run variances, which are estimated from differences of neighbours, so that neither the changes themselves nor drift
/// within a phase look like many phases (the robust autocorrelation of Chakar, Lebarbier, Lévy-Leduc and Robin, "A robust
/// approach for estimating change-points in the mean of an AR(1) process", Bernoulli 23, 2017).
/// NaN samples belong to the phase around them.
pub fn change_points(values: &[f64], least: usize) -> Vec<usize> {
    change_points_up_to(values, least, 0.95)
}

/// The same for a caller who knows that the noise within a phase has an autocorrelation of at most `phi`: from some tens of samples it cannot be
/// told well, and what might be a slow drift hides a plain step. Who sets it lower must ask for more than a step to believe one.
pub fn change_points_up_to(values: &[f64], least: usize, phi: f64) -> Vec<usize> {
    let kept: Vec<(usize, f64)> = values.iter().copied().enumerate().filter(|v| v.1.is_finite()).collect();
    let least = least.max(2);
    let size = kept.len().div_ceil(LONGEST).max(1);
    let scale = super::series::scale(&kept.iter().map(|k| k.1).collect::<Vec<_>>());
    // The median of a block that holds a change is one of the two levels; its mean would be a third.
    let x: Vec<f64> =
        kept.chunks(size).map(|c| median(&mut c.iter().map(|k| k.1 / scale).collect::<Vec<_>>())).collect();
    let least = least.div_ceil(size).max(2);
    if x.len() < 2 * least {
        return Vec::new();
    }
    let x = hampel(&x, least);
    let variance = long_run_variance(&x, phi);
    let spread = x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |b, v| (b.0.min(*v), b.1.max(*v)));
    // Rounding is not noise: a series of exact steps has none, and still needs a penalty.
    let floor = (1e-3 * (spread.1 - spread.0)).powi(2);
    if floor <= 0.0 {
        return Vec::new();
    }
    let penalty = 3.0 * (x.len() as f64).ln() * variance.max(floor);
    pelt(&x, least, penalty).into_iter().filter_map(|i| kept.get(i * size).map(|k| k.0)).collect()
}

/// Replaces what lies more than 4 robust deviations from the median of its neighbourhood by that median. A stretch of `least`
/// samples is a phase and stays: the window is just wide enough to outvote shorter ones.
fn hampel(x: &[f64], least: usize) -> Vec<f64> {
    let half = least - 1;
    let mut noise: Vec<f64> = x.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    let limit = 4.0 * 1.4826 * median(&mut noise) / std::f64::consts::SQRT_2;
    (0..x.len())
        .map(|i| {
            let mut near: Vec<f64> = x[i.saturating_sub(half)..(i + half + 1).min(x.len())].to_vec();
            let middle = median(&mut near);
            if (x[i] - middle).abs() > limit { middle } else { x[i] }
        })
        .collect()
}

fn median(x: &mut [f64]) -> f64 {
    x.sort_by(f64::total_cmp);
    let (a, b) = (x.get(x.len().saturating_sub(1) / 2), x.get(x.len() / 2));
    0.5 * (a.copied().unwrap_or(0.0) + b.copied().unwrap_or(0.0))
}

/// Variance × (1 + φ) ÷ (1 − φ), both from medians of absolute differences, which a few jumps do not move.
fn long_run_variance(x: &[f64], most: f64) -> f64 {
    let step = |lag: usize| {
        let mut d: Vec<f64> = x.iter().zip(x.iter().skip(lag)).map(|(a, b)| (b - a).abs()).collect();
        1.4826 * median(&mut d)
    };
    let (one, two) = (step(1), step(2));
    if one <= 0.0 {
        return 0.0;
    }
    // Var(x₂ − x₀) ÷ Var(x₁ − x₀) = 1 + φ. Its own error is about 1/√n, and too low is the harmful side.
    let phi = (two * two / (one * one) - 1.0 + 1.0 / (x.len() as f64).sqrt()).clamp(0.0, most);
    one * one / 2.0 / (1.0 - phi) * (1.0 + phi) / (1.0 - phi)
}

fn pelt(x: &[f64], least: usize, penalty: f64) -> Vec<usize> {
    let n = x.len();
    let mean = x.iter().sum::<f64>() / n as f64;
    let (mut sum, mut square) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    for (i, v) in x.iter().map(|v| v - mean).enumerate() {
        sum[i + 1] = sum[i] + v;
        square[i + 1] = square[i] + v * v;
    }
    let cost = |a: usize, b: usize| {
        let s: f64 = sum[b] - sum[a];
        (square[b] - square[a] - s * s / (b - a) as f64).max(0.0)
    };
    let (mut best, mut last) = (vec![f64::INFINITY; n + 1], vec![0; n + 1]);
    best[0] = -penalty;
    let mut starts = vec![0];
    for end in least..=n {
        for &s in &starts {
            let total = best[s] + cost(s, end) + penalty;
            if total < best[end] {
                (best[end], last[end]) = (total, s);
            }
        }
        let reached = best[end];
        starts.retain(|&s| best[s] + cost(s, end) <= reached);
        if end + 1 >= 2 * least {
            starts.push(end + 1 - least);
        }
    }
    let mut points = Vec::new();
    let mut at = last[n];
    while at > 0 {
        points.push(at);
        at = last[at];
    }
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    #[test]
    fn steps_are_found_and_spikes_are_not() {
        let mut rng = Rng::new(1);
        let mut x: Vec<f64> = (0..120)
            .map(|i| {
                if i < 40 {
                    1.0
                } else if i < 90 {
                    5.0
                } else {
                    3.0
                }
            })
            .map(|m: f64| m + 0.3 * rng.normal())
            .collect();
        x[20] = 50.0;
        x[60] = f64::NAN;
        assert_eq!(change_points(&x, 5), [40, 90]);
        let steps: Vec<f64> = (0..60).map(|i| f64::from(i / 20)).collect();
        assert_eq!(change_points(&steps, 3), [20, 40]);
    }

    #[test]
    fn noise_and_drift_are_one_phase() {
        let mut found = [0; 3];
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let phi = [0.0, 0.5, 0.8][seed as usize % 3];
            let mut s = 0.0;
            let x: Vec<f64> = (0..120)
                .map(|_| {
                    s = phi * s + rng.normal();
                    s
                })
                .collect();
            found[seed as usize % 3] += usize::from(!change_points(&x, 5).is_empty());
        }
        assert!(found[0] <= 3 && found[1] <= 8 && found[2] <= 20, "{found:?} of 100 each");
    }

    #[test]
    fn little_gives_nothing() {
        assert!(change_points(&[], 5).is_empty());
        assert!(change_points(&[1.0, 2.0, 3.0], 5).is_empty());
        assert!(change_points(&[4.0; 100], 5).is_empty());
        assert!(change_points(&[f64::NAN; 100], 5).is_empty());
        assert!(change_points(&[f64::MAX, f64::MIN, f64::MAX, f64::MIN, 1.0, 2.0], 2).len() < 4);
        let long: Vec<f64> = (0..86_400).map(|i| if i < 43_200 { 1.0 } else { 2.0 }).collect();
        let points = change_points(&long, 5);
        assert!(points.len() == 1 && points[0].abs_diff(43_200) < 100, "{points:?}");
    }
}
