//! Quantiles of weighted samples.

/// The weighted quantile that equals Hyndman and Fan's type 7 (the default of R and NumPy) where the weights are equal:
/// each value has a place on the axis of weights, and between places it is linear. NaN values and weights that are not positive are left out. `None` where nothing is left or `q` is not in 0..=1.
///
/// Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50, 1996. The weighted form places
/// value i (from 1) at S_i = (i−1)·w_i + (n−1)·Σ_{j<i} w_j, and asks for the place q·S_n.
pub fn quantile(values: &[f64], weights: &[f64], q: f64) -> Option<f64> {
    Sorted::new(values, weights).quantile(q)
}

/// Values sorted once, for several quantiles.
pub struct Sorted {
    /// Ascending value and its place on the weight axis.
    places: Vec<(f64, f64)>,
}

impl Sorted {
    /// Sorts `values` with their `weights`.
    pub fn new(values: &[f64], weights: &[f64]) -> Sorted {
        let mut places: Vec<(f64, f64)> = values
            .iter()
            .zip(weights)
            .map(|(&v, &w)| (v, w))
            .filter(|&(v, w)| !v.is_nan() && w > 0.0 && w.is_finite())
            .collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let most = places.iter().fold(0.0f64, |m, p| m.max(p.1));
        let (n, mut before) = (places.len() as f64, 0.0);
        for (i, place) in places.iter_mut().enumerate() {
            let w = place.1 / most;
            place.1 = i as f64 * w + (n - 1.0) * before;
            before += w;
        }
        Sorted { places }
    }

    /// The quantile `q` in 0..=1.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let (&(_, end), true) = (self.places.last()?, (0.0..=1.0).contains(&q)) else { return None };
        let target = q * end;
        let next = self.places.partition_point(|p| p.1 <= target);
        let &(low, at) = self.places.get(next.saturating_sub(1))?;
        let Some(&(high, until)) = self.places.get(next) else { return Some(low) };
        let part = if until > at { (target - at) / (until - at) } else { 0.0 };
        // Two products, not low + part·(high − low): the difference of two extremes would overflow.
        Some(if part <= 0.0 || low == high { low } else { low * (1.0 - part) + high * part })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_are_type_7() {
        let x = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        let w = [0.5; 8];
        assert_eq!(quantile(&x, &w, 0.5), Some(3.5));
        assert!((quantile(&x, &w, 0.99).unwrap() - 8.79).abs() < 1e-12);
        assert_eq!(quantile(&x, &w, 0.0), Some(1.0));
        assert_eq!(quantile(&x, &w, 1.0), Some(9.0));
    }

    #[test]
    fn weights_move_it() {
        assert!(quantile(&[1.0, 2.0, 3.0], &[1.0, 1.0, 10.0], 0.5).unwrap() > 2.4);
        assert_eq!(quantile(&[1.0, f64::NAN, 3.0], &[1.0; 3], 0.5), Some(2.0));
        assert_eq!(quantile(&[1.0, 7.0], &[1.0, 0.0], 0.9), Some(1.0));
        assert_eq!(quantile(&[], &[], 0.5), None);
        assert_eq!(quantile(&[1.0], &[1.0], 1.5), None);
        assert_eq!(quantile(&[-f64::MAX, f64::MAX], &[1.0, 1.0], 0.5), Some(0.0));
    }
}
