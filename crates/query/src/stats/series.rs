//! One series of one metric in one run: a ratio of two sums, sample by sample.
//!
//! Every number that is compared is Σ numerator ÷ Σ denominator. A rate: counts over seconds. A gauge: level × seconds
//! over seconds, its mean over time. A latency: time spent over operations. Only so do samples of unequal length and
//! unequal weight count as what they are; the mean of ratios would not.

/// A series in time order, only of samples that were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Numerators, in time order.
    pub(crate) num: Vec<f64>,
    /// Denominators, ≥ 0, of the same length.
    pub(crate) den: Vec<f64>,
    /// Samples that were given but could not be used.
    missing: usize,
}

impl Series {
    /// A ratio of sums: for each sample what was counted (`num`) over what (`den`: seconds, operations …). A sample with
    /// a number that is not finite, a negative denominator, or 0 over 0 is a gap. The shorter slice sets the length.
    pub fn ratio(num: &[f64], den: &[f64]) -> Series {
        Self::collect(num.iter().copied().zip(den.iter().copied()), num.len().min(den.len()))
    }

    /// A level that held for `seconds` in each sample; its mean over time. NaN is a gap.
    pub fn gauge(values: &[f64], seconds: &[f64]) -> Series {
        Self::collect(values.iter().zip(seconds).map(|(&v, &w)| (v * w, w)), values.len().min(seconds.len()))
    }

    /// Values of equal weight. NaN is a gap.
    pub fn even(values: &[f64]) -> Series {
        Self::collect(values.iter().map(|&v| (v, 1.0)), values.len())
    }

    fn collect(samples: impl Iterator<Item = (f64, f64)>, given: usize) -> Series {
        let (num, den): (Vec<f64>, Vec<f64>) =
            samples.filter(|&(n, d)| n.is_finite() && d.is_finite() && d >= 0.0 && (d > 0.0 || n != 0.0)).unzip();
        let missing = given - num.len();
        Series { num, den, missing }
    }

    /// Samples that count.
    pub fn len(&self) -> usize {
        self.num.len()
    }

    /// Whether no sample counts.
    pub fn is_empty(&self) -> bool {
        self.num.is_empty()
    }

    /// Samples that were given but were gaps.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// Σ num ÷ Σ den, computed so that extremes do not overflow on the way. `None` where the denominators are all 0.
    pub fn mean(&self) -> Option<f64> {
        let (sn, sd) = (scale(&self.num), scale(&self.den));
        let den: f64 = self.den.iter().map(|d| d / sd).sum();
        if den.is_nan() || den <= 0.0 {
            return None;
        }
        let num: f64 = self.num.iter().map(|n| n / sn).sum();
        let mean = num / den * sn / sd;
        mean.is_finite().then_some(mean)
    }

    /// Each sample's own ratio and its weight; samples with a denominator of 0 have none.
    pub fn points(&self) -> (Vec<f64>, Vec<f64>) {
        self.num
            .iter()
            .zip(&self.den)
            .filter(|&(_, &d)| d > 0.0)
            .map(|(n, d)| (n / d, *d))
            .filter(|p| p.0.is_finite())
            .unzip()
    }

    /// The same in other units: numerators and denominators divided.
    pub(crate) fn scaled(&self, num: f64, den: f64) -> Series {
        let by = |x: &[f64], unit: f64| x.iter().map(|v| v / unit).collect();
        Series { num: by(&self.num, num), den: by(&self.den, den), missing: self.missing }
    }

    /// Joins neighbours until no more than `most` samples are left. Sums stay the same.
    pub(crate) fn coarsened(&self, most: usize) -> Series {
        let size = self.len().div_ceil(most.max(1)).max(1);
        if size == 1 {
            return self.clone();
        }
        // A last group that is not full would weigh too much as a sample of its own: it joins the one before.
        let groups = (self.len() / size).max(1);
        let fold = |x: &[f64]| {
            (0..groups)
                .map(|g| x[g * size..if g + 1 == groups { x.len() } else { (g + 1) * size }].iter().sum())
                .collect::<Vec<f64>>()
        };
        Series { num: fold(&self.num), den: fold(&self.den), missing: self.missing }
    }

    /// What each sample adds to the error of the mean: (num − mean·den) ÷ mean den. Their average is 0 and, by the delta
    /// method, the variance of their average is that of the ratio of sums (Cochran, "Sampling Techniques", §6.4).
    pub(crate) fn influence(&self, mean: f64) -> Vec<f64> {
        let each = self.den.iter().sum::<f64>() / self.len() as f64;
        self.num.iter().zip(&self.den).map(|(n, d)| (n - mean * d) / each).collect()
    }
}

/// The largest magnitude, or 1 where all are 0: what to divide by before squares are taken.
pub(crate) fn scale(x: &[f64]) -> f64 {
    let most = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if most > 0.0 && most.is_finite() { most } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count() {
        // 10 for 1 s, 20 for 3 s.
        let near = |s: Series, mean: f64| assert!((s.mean().unwrap() - mean).abs() < 1e-12 * mean, "{s:?}");
        near(Series::gauge(&[10.0, 20.0], &[1.0, 3.0]), 17.5);
        near(Series::ratio(&[10.0, 60.0], &[1.0, 3.0]), 17.5);
        assert_eq!(Series::even(&[1.0, f64::NAN, 2.0]).mean(), Some(1.5));
        assert_eq!(Series::even(&[1.0, f64::NAN, 2.0]).missing(), 1);
        assert_eq!(Series::ratio(&[0.0], &[0.0]).mean(), None);
    }

    #[test]
    fn extremes_do_not_overflow() {
        assert_eq!(Series::even(&[f64::MAX, f64::MAX]).mean(), Some(f64::MAX));
        assert_eq!(Series::ratio(&[f64::MAX], &[f64::MIN_POSITIVE]).mean(), None);
    }

    #[test]
    fn coarser_keeps_the_sums() {
        let s = Series::even(&(0..103).map(f64::from).collect::<Vec<_>>());
        let c = s.coarsened(10);
        assert!(c.len() <= 10, "{}", c.len());
        assert!((c.mean().unwrap() - 51.0).abs() < 1e-12);
        assert_eq!(s.coarsened(200), s);
    }
}
